"""An answer as a web page: one file, no network, with a graph to point at and a run to step through.

`page` is the whole file, `fragment` the part about the answer, which the playground shows too. Everything but
stepping works without scripts. Sentences come from `asked`, `story`, `findings` and `explain`, the picture
from `svg`, the frames from `playback`, colours from `colours`; the scripts and the style sheets are in
`assets`. All text of the user's file is escaped.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterator, Sequence
from functools import cache
from hashlib import sha256
from html import escape
from pathlib import Path

import msgspec

from fencepost import __version__
from fencepost.memory_models import MODELS
from fencepost.program import Program
from fencepost.report import asked, cycle, explain, outcomes, repair, story
from fencepost.report.findings import Finding, findings
from fencepost.report.html.colours import coloured
from fencepost.report.labels import arrival, outcome, source, thread_name
from fencepost.report.picture import rules, svg
from fencepost.report.playback import Playback, playback
from fencepost.report.printable import counted, printable
from fencepost.report.total_order import explain_order
from fencepost.verdicts import Answer, AnyWitness, Event, ModelVerdict
from fencepost.verdicts.outcomes import OutcomesAnswer
from fencepost.verdicts.repair import FixAnswer

GRAPH = "fp-graph"  # the prefix of the picture
ASSETS = Path(__file__).parent / "assets"
# In the order in which they need each other; the page of an answer has them as one script.
SCRIPTS = ("dom.js", "tooltip.js", "view.js", "player.js", "report.js")
_SIGNS = {"good": "✓", "bad": "✗", "warn": "!", "open": "?"}


def page(answer: Answer, program: Program | None = None) -> str:
    """The whole file. With the program there are its text and the registers of its threads."""
    style, script = style_sheet(), _script()
    policy = f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; base-uri 'none'"
    under = "" if isinstance(answer, OutcomesAnswer) else f" under {printable(answer.model)}"
    title = f"{printable(answer.file)}: {story.headline(answer)}{under}"
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en">',
            "<head>",
            '<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta name="color-scheme" content="light dark">',
            f"<title>{escape(title)}</title>",
            f"<style>{style}</style>",
            "</head>",
            '<body class="fp-page">',
            "<main>",
            fragment(answer, program),
            "</main>",
            f'<footer class="fp-tool">Written by fencepost {__version__}.</footer>',
            f'<script type="module">{script}</script>',
            "</body>",
            "</html>\n",
        ]
    )


def fragment(answer: Answer, program: Program | None = None, *, with_source: bool = True) -> str:
    """The answer, to stand in a page that has `style_sheet` and calls `activate` of `report.js` on it."""
    if program is not None and answer.any_number is not msgspec.UNSET:
        program = program.with_instances(min(answer.any_number.copies.values()))
    return "\n".join(['<article class="fp-report">', *_parts(answer, program, with_source), "</article>"])


@cache
def style_sheet() -> str:
    return _asset("report.css") + _asset("graph.css") + svg.page_style(GRAPH)


@cache
def _script() -> str:
    """All scripts as one, which needs no imports."""
    texts = [re.sub(r"^import .*\n|^export ", "", _asset(name), flags=re.MULTILINE) for name in SCRIPTS]
    start = "for (const report of document.querySelectorAll('.fp-report')) activate(report);"
    return "\n".join([*texts, start, ""])


def _asset(name: str) -> str:
    return (ASSETS / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return "sha256-" + b64encode(sha256(text.encode()).digest()).decode()


def _parts(answer: Answer, program: Program | None, with_source: bool) -> Iterator[str]:
    found = findings(answer)
    yield from _card(answer, found)
    if isinstance(answer, OutcomesAnswer):
        yield from _outcomes(answer)
    if isinstance(answer, FixAnswer):
        yield from _repair(answer)
    listing = _source(program, found) if with_source and program is not None else ""
    first = found[0] if found and _is_reason(answer) else None
    told = [
        part
        for one in found
        for part in _finding(one, _shown_under(one, answer), program, told_above=one is first)
    ]
    if listing and told:  # the source stays beside the findings, however long these are
        told = [f'<div class="fp-columns">{listing}<div>', *told, "</div></div>"]
    yield from told
    if models := story.models_asked(answer):
        yield _by_model(models)
    yield from (_paragraph(f"Warning: {printable(warning)}", "fp-warning") for warning in answer.warnings)
    if not told:
        yield listing
    yield from _about(answer)


def _shown_under(found: Finding, answer: Answer) -> str:
    """The model that has the run."""
    if not isinstance(answer, OutcomesAnswer):
        return answer.model
    if found.graph is not None:
        return answer.witness_model
    return next(column.model for column in answer.models if column.race is not None)


def _card(answer: Answer, found: Sequence[Finding]) -> Iterator[str]:
    """The verdict, why it is so, and what would help."""
    mood, model = story.mood(answer), MODELS[answer.model].called if answer.model in MODELS else answer.model
    under = "" if isinstance(answer, OutcomesAnswer) else f"under {_text(model)}"
    if isinstance(answer, FixAnswer) and answer.edits and answer.holds:
        under += ", with the repair"
    yield f'<header class="fp-card fp-{mood}">'
    yield (
        f'<h2><span class="fp-sign" aria-hidden="true">{_SIGNS[mood]}</span>'
        f'<span class="fp-verdict fp-{mood}">{escape(story.headline(answer))}</span> '
        f'<span class="fp-under">{under}</span> '
        f"<code>{_text(answer.file)}</code></h2>"
    )
    if why := asked.reason(answer) if _is_reason(answer) else story.undecided(answer):
        yield _paragraph(why, "fp-claim")
    if found and _is_reason(answer):
        yield from (_paragraph(sentence, "fp-advice") for sentence in found[0].advice)
    yield "</header>"


def _is_reason(answer: Answer) -> bool:
    """Whether what was found is why the verdict is as it is; that of a repair is about another program."""
    return answer.holds is not None and not isinstance(answer, FixAnswer)


def _about(answer: Answer) -> Iterator[str]:
    """What was asked, how far the search went and what it took, and what was not asked."""
    took = outcomes.took(answer) if isinstance(answer, OutcomesAnswer) else story.stats_line(answer.stats)
    rows = (
        ("Asked", [asked.question(answer)]),
        ("Searched", [*story.extent(answer), f"It took {took}."]),
        ("Not asked", list(asked.not_asked(answer))),
    )
    terms = "".join(
        f"<dt>{term}</dt><dd>{''.join(_paragraph(sentence) for sentence in sentences)}</dd>"
        for term, sentences in rows
    )
    yield f'<section class="fp-asked"><h3>What was asked, and what was not</h3><dl>{terms}</dl></section>'


def _finding(found: Finding, model: str, program: Program | None, *, told_above: bool) -> Iterator[str]:
    """A sentence, what would help, the picture if there is a graph, and the run."""
    yield '<section class="fp-finding">'
    if not told_above:
        yield _paragraph(found.message, "fp-claim")
        yield from (_paragraph(sentence, "fp-advice") for sentence in found.advice)
    if found.graph is not None:
        yield _picture(found.graph)
    yield _run(found)
    if found.graph is not None and found.graph.cycle:
        yield _cycle(found.graph)
    yield _frames(playback(found.graph or found.run, model, program))
    yield "</section>"


def _frames(played: Playback) -> str:
    # Characters with a meaning in HTML are escaped, so no text of the program can end the element.
    data = re.sub("[<>&]", lambda sign: f"\\u{ord(sign[0]):04x}", msgspec.json.encode(played).decode())
    return f'<script type="application/json" class="fp-playback">{data}</script>'


def _picture(witness: AnyWitness) -> str:
    picture = svg.graph(witness, GRAPH, lambda arrow: rules.explain_arrow(witness, arrow))
    about = f"<figcaption>{svg.legend(witness, GRAPH)}</figcaption>"
    return f'<figure class="fp-picture"><div class="fp-sheet">{picture}</div>{about}</figure>'


def _cycle(witness: AnyWitness) -> str:
    steps = "".join(
        f'<li data-source="{edge.source}" data-target="{edge.target}">'
        f"{prose(explain.explain_edge(witness, edge))}</li>"
        for edge in cycle.condensed(witness)
    )
    end = "So the first access would have to come before itself."
    why = "<summary>Why no interleaving of the threads does this</summary>"
    order = explain_order(witness)
    last = f"<p>{end}</p>" + (_paragraph(order) if order else "")
    return f'<details class="fp-cycle">{why}<ol>{steps}</ol>{last}</details>'


def _run(found: Finding) -> str:
    """One row for each frame but the first, one column for each thread that does anything."""
    run = found.run
    accesses = [event for event in run.events if event.thread is not None]
    threads = {event.thread: thread_name(run.threads, event) for event in accesses}
    columns = sorted(threads.items(), key=lambda item: item[0] or 0)
    told = [
        (event, 0, escape(arrival(event)))
        if arrives
        else (event, event.line, _access(event, event.id in found.buffered))
        for event, arrives in cycle.happenings(run.events, found.delayed)
    ]
    marks = found.roles
    rows = []
    for step, (event, line, what) in enumerate(told, start=1):
        part = f' class="fp-{marks[event.id]}"' if event.id in marks else ""
        note = f' title="{escape(found.parts[event.id])}"' if event.id in found.parts else ""
        cells = "".join(f"<td>{what if thread == event.thread else ''}</td>" for thread, _ in columns)
        rows.append(f'<tr data-step="{step}"{part}{note}><td class="fp-line">{line or ""}</td>{cells}</tr>')
    heads = "".join(f"<th>{escape(name)}</th>" for _, name in columns)
    table = f'<table class="fp-run"><tr><th>line</th>{heads}</tr>{"".join(rows)}</table>'
    return f'<div class="fp-wide" tabindex="0" role="group" aria-label="The run">{table}</div>'


def _access(event: Event, waits: bool) -> str:
    return f"<code>{escape(source(event))}</code> {escape(outcome(event, buffered=waits))}"


def _source(program: Program, found: Sequence[Finding]) -> str:
    """The text of the program, each line that takes part in a finding with the threads that run it."""
    if program.source is None:
        return ""
    marked: dict[int, str] = {}
    runners: dict[int, dict[str, None]] = {}
    for one in reversed(found):  # what matters most comes last
        marks = one.roles
        for event in one.run.events:
            if event.line and event.thread is not None:
                runners.setdefault(event.line, {})[thread_name(one.run.threads, event)] = None
                if event.id in marks:
                    marked[event.line] = marks[event.id]
    rows = []
    for number, line in enumerate(program.source.rstrip().split("\n"), start=1):
        tags = "".join(f"<i>{escape(name)}</i>" for name in runners.get(number, ()))
        part = f' class="fp-{marked[number]}"' if number in marked else ' class="fp-runs"' if tags else ""
        text = coloured(line, program.format or "")
        rows.append(f'<tr data-line="{number}"{part}><td>{number}</td><td><pre>{text}</pre>{tags}</td></tr>')
    table = f'<table class="fp-source">{"".join(rows)}</table>'
    return f'<div class="fp-listing" tabindex="0" role="group" aria-label="The program">{table}</div>'


def _by_model(models: Sequence[ModelVerdict]) -> str:
    """The verdicts under all models; those that count are set off."""
    rows = "".join(
        f"<tr{' class=fp-latest' if one.required else ''}><td>{escape(one.model)}</td>"
        f"<td>{escape(one.verdict.replace('-', ' '))}</td><td>{_text(one.because)}</td></tr>"
        for one in models
    )
    return f'<table class="fp-run"><tr><th>model</th><th>verdict</th><th>because</th></tr>{rows}</table>'


def _outcomes(answer: OutcomesAnswer) -> Iterator[str]:
    """The table of final states and models, and the notes below it."""
    shown, _ = outcomes.split(answer)
    names = [printable(answer.names[at]) for at in shown]
    heads = "".join(f"<th>{escape(name)}</th>" for name in ["", *names, *(c.model for c in answer.models)])
    rows = []
    for row in answer.outcomes:
        numbers = "".join(f"<td>{value}</td>" for value in [row.number, *(row.values[at] for at in shown)])
        cells = "".join(f"<td>{outcomes.cell(row, column)}</td>" for column in answer.models)
        part = ' class="fp-access"' if row.sought else ""
        rows.append(f"<tr{part}>{numbers}{cells}</tr>")
    if rows:
        yield (
            '<div class="fp-wide" tabindex="0" role="group" aria-label="The outcomes">'
            f'<table class="fp-run fp-outcomes"><tr>{heads}</tr>{"".join(rows)}</table></div>'
        )
    yield from map(_paragraph, [*filter(None, [outcomes.constants(answer)]), *outcomes.notes(answer)])


def _repair(answer: FixAnswer) -> Iterator[str]:
    if answer.edits == () and answer.race is not None:
        yield _paragraph("Robustness takes no change. The data race below was not to be repaired.")
    elif answer.edits == ():
        yield _paragraph("Nothing needs to be changed.")
    elif answer.edits:
        places = counted(len(answer.edits), "place")
        yield _paragraph(f"This repair changes {places} and costs {answer.cost:g}.")
    yield from map(_paragraph, repair.said(answer))
    if answer.diff:
        lines = "".join(_diff_line(line) for line in answer.diff.splitlines())
        yield f'<pre class="fp-diff" tabindex="0" aria-label="The changes">{lines}</pre>'


def _diff_line(line: str) -> str:
    kind = {"+": "ins", "-": "del"}.get(line[:1], "span")
    return f"<{kind}>{escape(printable(line.expandtabs(4)))}</{kind}>\n"


def _text(text: str) -> str:
    return escape(printable(text))


def _paragraph(sentence: str, kind: str = "") -> str:
    of_kind = f' class="{kind}"' if kind else ""
    return f"<p{of_kind}>{prose(sentence)}</p>"


def prose(sentence: str) -> str:
    """The sentence, what stands between backquotes set as code."""
    return re.sub("`([^`]+)`", r"<code>\1</code>", escape(sentence))
