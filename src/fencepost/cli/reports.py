"""Reports in files for build servers and code hosts, and baselines: earlier answers to compare with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from fencepost.cli.console import exit_on_input_error, say, write_file
from fencepost.memory_models import EXIT_HOLDS, EXIT_UNDECIDED, EXIT_VIOLATED

if TYPE_CHECKING:
    from pathlib import Path

    from fencepost.batch.jobs import Outcome
    from fencepost.verdicts import Answer


def known_findings(baseline: Path | None) -> frozenset[str]:
    """The ids of the findings in the baseline; none without one."""
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
    """Say how many findings are not shown."""
    if count:
        say(f"{count} finding{' is' if count == 1 else 's are'} in the baseline and not shown")


def exit_code_of(answer: Answer) -> int:
    """That of the answer, unless all that violates the property is known from the baseline."""
    found = (answer.witness, answer.race, answer.assertion)
    if answer.exit_code == EXIT_VIOLATED and all(part is None for part in found):
        return EXIT_UNDECIDED if answer.holds is None else EXIT_HOLDS
    return answer.exit_code


def write_reports(outcomes: Sequence[Outcome], sarif: Path | None, junit: Path | None) -> None:
    """The answers as SARIF and as JUnit XML, where the user wants them."""
    answers = [(outcome.file, outcome.error or outcome.required_answer) for outcome in outcomes]
    if sarif is not None:
        from fencepost.report.export import sarif as sarif_form

        write_file(sarif, sarif_form.encode(answers), "findings")
    if junit is not None:
        from fencepost.report.export import junit as junit_form

        given = [outcome.answer for outcome in outcomes if outcome.answer is not None]
        suite = f"fencepost {given[0].question} {given[0].model}" if given else "fencepost"
        write_file(junit, junit_form.encode(suite, answers), "findings")
