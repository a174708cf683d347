"""For build servers and code hosts: reports in files, and earlier answers to compare with."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from fencepost.cli.console import (
    EXIT_HOLDS,
    EXIT_UNDECIDED,
    EXIT_VIOLATED,
    EXIT_WRONG_INPUT,
    exit_on_input_error,
    say,
)

if TYPE_CHECKING:
    from pathlib import Path

    from fencepost.batch.jobs import Outcome
    from fencepost.verdicts import Answer


def known_findings(baseline: Path | None) -> frozenset[str]:
    """The ids of the findings in the baseline, if there is one."""
    if baseline is None:
        return frozenset()
    from fencepost.report.export.baseline import read

    known: frozenset[str] = exit_on_input_error(lambda: read(baseline))
    return known


def without_known(outcomes: Sequence[Outcome], known: frozenset[str]) -> tuple[list[Outcome], int]:
    """The outcomes without the findings that are known, and how many of those there are."""
    if not known:
        return list(outcomes), 0
    from fencepost.report.export.baseline import without_known as new_part

    new = []
    hidden = 0
    for outcome in outcomes:
        if outcome.answer is not None:
            answer, count = new_part(outcome.answer, known)
            new.append(replace(outcome, answer=answer))
            hidden += count
        else:
            new.append(outcome)
    return new, hidden


def print_known(count: int) -> None:
    """Says that something is not shown."""
    if count:
        say(f"{count} finding{' is' if count == 1 else 's are'} in the baseline and not shown")


def exit_code_of(answer: Answer) -> int:
    """That of the answer, but for a violation that was taken out as known."""
    found = (answer.witness, answer.race, answer.assertion)
    if answer.exit_code == EXIT_VIOLATED and all(part is None for part in found):
        return EXIT_UNDECIDED if answer.holds is None else EXIT_HOLDS
    return answer.exit_code


def write_reports(outcomes: Sequence[Outcome], sarif: Path | None, junit: Path | None) -> None:
    """The answers as SARIF and as JUnit XML, where the user wants them."""
    answers = [(outcome.file, outcome.error or outcome.required_answer) for outcome in outcomes]
    if sarif is not None:
        from fencepost.report.export import sarif as sarif_form

        write_report(sarif, sarif_form.encode(answers))
    if junit is not None:
        from fencepost.report.export import junit as junit_form

        given = [outcome.answer for outcome in outcomes if outcome.answer is not None]
        suite = f"fencepost {given[0].question} {given[0].model}" if given else "fencepost"
        write_report(junit, junit_form.encode(suite, answers))


def write_report(path: Path, content: bytes) -> None:
    """Writes the file; if that cannot be done, says so and exits."""
    try:
        path.write_bytes(content)
    except OSError as error:
        say(f"{path}: cannot write the findings: {error.strerror or error}", err=True)
        sys.exit(EXIT_WRONG_INPUT)
