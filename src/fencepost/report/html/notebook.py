"""An answer in a notebook: the verdict, the sentences, the picture and the run, as one piece of HTML.

The styles are inline, so nothing leaks into the page around it. What is said comes from `story`, `findings`
and `explain`, the picture from `svg`. `interactive_html` is the web page of the answer instead, in a frame of
its own; it needs scripts, but no network.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from fencepost.formats import write
from fencepost.program import Program
from fencepost.report import explain, story
from fencepost.report.cycle import happenings
from fencepost.report.findings import findings
from fencepost.report.html.page import page, prose
from fencepost.report.labels import arrival, outcome, source, thread_name
from fencepost.report.picture import svg
from fencepost.report.printable import printable
from fencepost.report.repair import edit_words
from fencepost.report.total_order import explain_order
from fencepost.verdicts import Answer, AnyWitness, Delay, Event, Run, Unknown
from fencepost.verdicts.repair import RepairAnswer

_BADGES = {"good": "#1a7f37", "bad": "#cf222e", "warn": "#9a6700", "open": "#59636e"}


def answer_html(answer: Answer) -> str:
    """The whole answer; for `_repr_html_`."""
    return f'<div style="max-width:60em;line-height:1.45">{"".join(_parts(answer))}</div>'


def program_html(program: Program) -> str:
    """The text of a program with the numbers of its lines; for `_repr_html_`."""
    lines = (program.source or write(program)).rstrip("\n").split("\n")
    wide = len(str(len(lines)))
    numbered = [
        f'<span style="opacity:.5">{number:>{wide}}  </span>{escape(printable(line.expandtabs(8)))}'
        for number, line in enumerate(lines, start=1)
    ]
    return '<pre style="line-height:1.35">' + "\n".join(numbered) + "</pre>"


def witness_svg(witness: AnyWitness) -> str:
    """The picture of a witness; for `_repr_svg_`."""
    return svg.render(witness)


def interactive_html(answer: Answer, program: Program | None, height: int) -> str:
    """The web page of the answer in a frame, which may run the page's script and reaches nothing else."""
    style = f"width:100%;height:{height}px;border:0;resize:vertical"
    return (
        f'<iframe title="{escape(story.headline(answer))}" sandbox="allow-scripts" style="{style}" '
        f'srcdoc="{escape(page(answer, program))}"></iframe>'
    )


def _parts(answer: Answer) -> Iterator[str]:
    color = _BADGES[story.mood(answer)]
    badge = f"background:{color};color:#fff;padding:.1em .6em;border-radius:1em;font-weight:600"
    verdict = escape(story.headline(answer))
    file, model = escape(printable(answer.file)), escape(printable(answer.model))
    yield f'<p><span style="{badge}">{verdict}</span> <code>{file}</code> under {model}</p>'
    if isinstance(answer, Unknown):
        yield f"<p>{escape(story.undecided(answer))}</p>"
    for found in findings(answer):
        if found.graph is None:
            yield f"<p>{prose(found.message)}</p>"
            yield _details("The run to it", _run(found.run))
            continue
        yield f'<div style="overflow-x:auto">{svg.render(found.graph)}</div>'
        yield from (f"<p>{prose(sentence)}</p>" for sentence in found.advice)
        steps = [explain.explain_cycle(found.graph), explain_order(found.graph)]
        yield _details("The cycle, step by step", "".join(f"<p>{prose(s)}</p>" for s in filter(None, steps)))
        yield _details("The run", _run(found.run, found.delayed))
    if isinstance(answer, RepairAnswer) and answer.edits:
        yield _repair(answer)
    for warning in answer.warnings:
        yield f"<p><b>Warning:</b> {prose(printable(warning))}</p>"
    yield f'<p style="opacity:.7"><small>{escape(story.stats_line(answer.stats))}</small></p>'


def _repair(answer: RepairAnswer) -> str:
    """The places to change, and the diff."""
    places = "".join(f"<li>line {edit.line}: {prose(edit_words(edit))}</li>" for edit in answer.edits or ())
    diff = escape("\n".join(printable(line.expandtabs(8)) for line in answer.diff.splitlines()))
    return f"<p>Changes that cost {answer.cost:g}:</p><ul>{places}</ul>" + _details(
        "The diff", f"<pre>{diff}</pre>"
    )


def _details(title: str, content: str) -> str:
    return f"<details><summary>{escape(title)}</summary>{content}</details>"


def _run(run: Run, delayed: Sequence[Delay] = ()) -> str:
    heads = "".join(f'<th style="text-align:left">{head}</th>' for head in ("line", "thread", "access"))
    waiting = {delay.write for delay in delayed}
    rows = [
        _row("", run, event, escape(arrival(event))) if arrives else _access(run, event, event.id in waiting)
        for event, arrives in happenings(run.events, delayed)
    ]
    return f"<table><tr>{heads}</tr>{''.join(rows)}</table>"


def _access(run: Run, event: Event, waits: bool) -> str:
    what = f"<code>{escape(source(event))}</code> {escape(outcome(event, buffered=waits))}"
    return _row(str(event.line or ""), run, event, what)


def _row(line: str, run: Run, event: Event, what: str) -> str:
    cells = (line, f"<code>{escape(thread_name(run.threads, event))}</code>", what)
    return "<tr>" + "".join(f'<td style="text-align:left">{cell}</td>' for cell in cells) + "</tr>"
