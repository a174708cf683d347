"""Answers to `check` as JUnit XML: a test case for each.

It fails if something was found, with the report of the terminal as its text, and has an error if it was not
decided. What JUnit itself asks for is in `report.export.junit`.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from fencepost.memory_models import EXIT_VIOLATED
from fencepost.report.export import junit
from fencepost.sanitizer.answer import check_text
from fencepost.verdicts.check import AnyCheckAnswer, CheckUnknown

_WIDTH = 100


def encode(answers: Sequence[AnyCheckAnswer]) -> bytes:
    return junit.document("check", [_case(answer) for answer in answers])


def _case(answer: AnyCheckAnswer) -> junit.Case:
    program = os.path.basename(answer.file)
    report = check_text.render(answer, color=False, width=_WIDTH)
    summary = check_text.render(answer, color=False, width=_WIDTH, quiet=True).strip()
    failure = error = None
    if answer.exit_code == EXIT_VIOLATED:
        kinds = [one.kind for one in answer.findings] + ["deadlock"] * bool(answer.deadlocks) + ["failure"]
        failure = junit.Mishap(kinds[0], summary, report)
    elif isinstance(answer, CheckUnknown):
        error = junit.Mishap("unknown", summary, report)
    return junit.Case(
        file=answer.file,
        classname=program if answer.test else os.path.dirname(answer.file) or ".",
        name=answer.test or program,
        seconds=answer.stats.seconds,
        failure=failure,
        error=error,
        findings=answer.ids,
    )
