"""An answer in a notebook: the verdict, the sentences, the picture and the run, as one piece of HTML.

The styles are inline, so nothing leaks into the page around it. What is said and drawn comes from `explain`,
`svg` and `text`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape

from holdfast.report import explain, svg, text
from holdfast.report.labels import outcome, source, thread_name
from holdfast.report.printable import printable
from holdfast.verdicts import Answer, Event, Run, Unknown, Witness

_BADGES = {True: "#1a7f37", False: "#cf222e", None: "#9a6700"}


def answer_html(answer: Answer) -> str:
    """The whole answer; for `_repr_html_`."""
    return f'<div style="max-width:60em;line-height:1.45">{"".join(_parts(answer))}</div>'


def witness_svg(witness: Witness) -> str:
    """The picture of a witness; for `_repr_svg_`."""
    return svg.render(witness)


def _parts(answer: Answer) -> Iterator[str]:
    badge = (
        f"background:{_BADGES[answer.holds]};color:#fff;padding:.1em .6em;border-radius:1em;font-weight:600"
    )
    verdict = escape(answer.verdict.replace("-", " "))
    file, model = escape(printable(answer.file)), escape(printable(answer.model))
    yield f'<p><span style="{badge}">{verdict}</span> <code>{file}</code> under {model}</p>'
    if isinstance(answer, Unknown):
        yield f"<p>Not decided: {escape(printable(answer.why))}</p>"
    if answer.witness is not None:
        yield f'<div style="overflow-x:auto">{svg.render(answer.witness)}</div>'
        yield _details("The circle, step by step", f"<p>{_prose(explain.explain_cycle(answer.witness))}</p>")
        run = Run(threads=answer.witness.threads, events=answer.witness.events)
        yield _details("The run", _run(run))
    if answer.race is not None:
        yield f"<p><b>Data race.</b> {_prose(explain.explain_race(answer.race))}</p>"
        yield _details("The run to it", _run(answer.race.run))
    if answer.assertion is not None:
        yield f"<p>{_prose(explain.explain_assertion(answer.assertion))}</p>"
        yield _details("The run to it", _run(answer.assertion.run))
    for warning in answer.warnings:
        yield f"<p><b>Warning:</b> {_prose(printable(warning))}</p>"
    yield f'<p style="opacity:.7"><small>{escape(text.stats_line(answer.stats))}</small></p>'


def _prose(sentence: str) -> str:
    """The sentence, what stands between backquotes set as code."""
    return re.sub("`([^`]+)`", r"<code>\1</code>", escape(sentence))


def _details(title: str, content: str) -> str:
    return f"<details><summary>{escape(title)}</summary>{content}</details>"


def _run(run: Run) -> str:
    heads = "".join(f'<th style="text-align:left">{head}</th>' for head in ("line", "thread", "access"))
    accesses = [event for event in run.events if event.thread is not None]
    return f"<table><tr>{heads}</tr>{''.join(_row(run, event) for event in accesses)}</table>"


def _row(run: Run, event: Event) -> str:
    cells = (
        str(event.line or ""),
        f"<code>{escape(thread_name(run.threads, event))}</code>",
        f"<code>{escape(source(event))}</code> {escape(outcome(event))}",
    )
    return "<tr>" + "".join(f'<td style="text-align:left">{cell}</td>' for cell in cells) + "</tr>"
