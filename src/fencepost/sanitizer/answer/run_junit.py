"""An answer to `run` as JUnit XML: the program is a test case.

It fails if something was found, with the report of the terminal as its text, and has an error if a run did
not end properly. What JUnit itself asks for is in `report.export.junit`.
"""

from __future__ import annotations

import os

from fencepost.memory_models import EXIT_VIOLATED
from fencepost.report.export.junit import Case, Mishap, document
from fencepost.sanitizer.answer.report_text import render
from fencepost.verdicts.run import AnyRunAnswer, RunsUnknown

_WIDTH = 100


def encode(answer: AnyRunAnswer) -> bytes:
    summary = render(answer, color=False, width=_WIDTH, quiet=True).strip()
    report = render(answer, color=False, width=_WIDTH)
    kinds = [*(one.kind for one in answer.findings), "deadlock"]
    failed = answer.exit_code == EXIT_VIOLATED
    undecided = isinstance(answer, RunsUnknown) and not failed
    case = Case(
        file=answer.file,
        classname=os.path.dirname(answer.file) or ".",
        name=os.path.basename(answer.file),
        seconds=answer.stats.seconds,
        failure=Mishap(kinds[0], summary, report) if failed else None,
        error=Mishap("unknown", summary, report) if undecided else None,
        findings=answer.ids,
    )
    return document("run", [case])
