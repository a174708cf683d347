"""One question about many files: asking it, printing the answers or writing reports, and the exit code.

Like everything that `start.py` needs to answer a plain question, it does not import click.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NoReturn

import msgspec
from msgspec.structs import replace

from fencepost.cli.console import (
    check_outputs,
    exit_on_input_error,
    fail,
    print_error,
    progress_line,
    say,
    terminal_width,
    wants_color,
    write_file,
)
from fencepost.memory_models import EXIT_HOLDS, EXIT_UNDECIDED, EXIT_VIOLATED, EXIT_WRONG_INPUT

if TYPE_CHECKING:
    from pathlib import Path

    from fencepost.batch.jobs import Job, Outcome, Where
    from fencepost.formats import Reading
    from fencepost.verdicts import Answer


class Printing(msgspec.Struct, frozen=True):
    """What the user wants to see."""

    as_json: bool = False
    svg: Path | None = None
    html: Path | None = None
    quiet: bool = False
    verbose: bool = False
    sarif: Path | None = None
    junit: Path | None = None
    baseline: Path | None = None

    @property
    def outputs(self) -> dict[str, Path | None]:
        """The files to write, by what they are called in messages."""
        return {"picture": self.svg, "page": self.html, "findings": self.sarif, "answers": self.junit}


def answer_files(
    files: tuple[str, ...], job: Callable[[str], Job], where: Where, printing: Printing
) -> NoReturn:
    """Do the job for each file, print the outcomes, and exit."""
    from fencepost.batch.jobs import files_in, run_jobs

    paths = exit_on_input_error(lambda: files_in(files))
    if paths.count("-") > 1:
        fail("the standard input (-) can be read only once")
    for option, file in (("--svg", printing.svg), ("--html", printing.html)):
        if file is not None and len(paths) != 1:
            from click import UsageError

            raise UsageError(f"{option} takes exactly one program")
    known = known_findings(printing.baseline)
    check_outputs(paths, **printing.outputs)
    jobs = exit_on_input_error(lambda: [_with_text(job(path)) for path in paths])
    whole = exit_on_input_error(lambda: run_jobs(jobs, where, progress_line(len(paths))))
    print_answers(whole, known, jobs[0], printing)


def _with_text(job: Job) -> Job:
    """With what the standard input says, if that is the file."""
    from fencepost.formats import given_input

    file, text = given_input(job.file, job.reading)
    return job if text is None else replace(job, file=file, text=text)


def print_answers(whole: list[Outcome], known: frozenset[str], first: Job, printing: Printing) -> NoReturn:
    """Print the outcomes without their known findings, write the files that were asked for, and exit."""
    outcomes, hidden = _without_known(whole, known)
    if printing.as_json:
        _print_json(whole)  # this is what baselines are made of
    elif len(outcomes) == 1:
        _print_answer(outcomes[0], quiet=printing.quiet, verbose=printing.verbose)
        print_known(hidden)
    else:
        _print_summary(outcomes, quiet=printing.quiet)
        print_known(hidden)
    _write_reports(outcomes, printing.sarif, printing.junit)
    if printing.svg is not None:
        _write_svg(outcomes[0], printing.svg)
    if printing.html is not None and outcomes[0].answer is not None:
        write_html(outcomes[0].answer, first.reading, printing.html, first.text)
    sys.exit(_exit_code(outcomes, hidden))


def _print_json(outcomes: list[Outcome]) -> None:
    from fencepost.report.export.as_json import encode

    for outcome in outcomes:
        if outcome.error is not None:
            print_error(outcome.error)
        else:
            sys.stdout.buffer.write(encode(outcome.required_answer) + b"\n")
            sys.stdout.buffer.flush()


def _print_answer(outcome: Outcome, *, quiet: bool, verbose: bool) -> None:
    from fencepost.report.text import answer as text

    if outcome.error is not None:
        print_error(outcome.error)
        return
    if quiet:
        _print_verdict(outcome)
    else:
        page = text.render(
            outcome.required_answer, color=wants_color(), width=terminal_width(), verbose=verbose
        )
        say(page, end="")


def _print_verdict(outcome: Outcome) -> None:
    from fencepost.report.printable import printable
    from fencepost.report.story import brief

    say(f"{printable(outcome.file)}: {brief(outcome.required_answer)}")


def _print_summary(outcomes: list[Outcome], *, quiet: bool) -> None:
    for outcome in outcomes:
        if outcome.error is not None:
            print_error(outcome.error)
        elif quiet:
            _print_verdict(outcome)
    if not quiet:
        rows = [(outcome.file, outcome.error or outcome.required_answer) for outcome in outcomes]
        if any(outcome.answer is not None and outcome.answer.question == "outcomes" for outcome in outcomes):
            from fencepost.report.text.outcomes import summary
        else:
            from fencepost.report.text.table import summary
        say(summary(rows, color=wants_color(), width=terminal_width()), end="")


def _write_svg(outcome: Outcome, path: Path) -> None:
    from fencepost.report.picture.svg import render

    if outcome.answer is None:
        return
    if outcome.answer.witness is None:
        say(f"{outcome.file}: no witness to draw, {path} was not written", err=True)
        return
    write_file(path, render(outcome.answer.witness, outcome.file), "picture")


def write_html(answer: Answer, reading: Reading, path: Path, text: str | None = None) -> None:
    """The answer as a web page; the program is read once more, for its text and its registers."""
    from fencepost.formats import load_as
    from fencepost.report.html.page import page

    program = exit_on_input_error(lambda: load_as(answer.file, reading, text))
    write_file(path, page(answer, program), "page")


def _exit_code(outcomes: list[Outcome], hidden: int) -> int:
    """Wrong input first, then a violation anywhere, then anything undecided. `hidden` findings are known."""
    code_of = _exit_code_of if hidden else lambda answer: answer.exit_code
    codes = {EXIT_WRONG_INPUT if o.answer is None else code_of(o.answer) for o in outcomes}
    for code in (EXIT_WRONG_INPUT, EXIT_VIOLATED, EXIT_UNDECIDED):
        if code in codes:
            return code
    return EXIT_HOLDS


def known_findings(baseline: Path | None) -> frozenset[str]:
    """The ids of the findings in the baseline; none without one."""
    if baseline is None:
        return frozenset()
    from fencepost.report.export.baseline import read

    known: frozenset[str] = exit_on_input_error(lambda: read(baseline))
    return known


def _without_known(outcomes: Sequence[Outcome], known: frozenset[str]) -> tuple[list[Outcome], int]:
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


def _exit_code_of(answer: Answer) -> int:
    """That of the answer, unless all that violates the property is known from the baseline."""
    from fencepost.verdicts.outcomes import OutcomesAnswer

    found = (answer.witness, answer.race, answer.assertion)
    if any(part is not None for part in found) or (isinstance(answer, OutcomesAnswer) and answer.fails):
        return answer.exit_code
    return EXIT_UNDECIDED if answer.holds is None else EXIT_HOLDS


def _write_reports(outcomes: Sequence[Outcome], sarif: Path | None, junit: Path | None) -> None:
    """The answers as SARIF and as JUnit XML, where the user wants them."""
    answers = [(outcome.file, outcome.error or outcome.required_answer) for outcome in outcomes]
    if sarif is not None:
        from fencepost.report.export import sarif as sarif_form

        write_file(sarif, sarif_form.encode(answers), "findings")
    if junit is not None:
        from fencepost.report.export import junit as junit_form

        given = [outcome.answer for outcome in outcomes if outcome.answer is not None]
        suite = f"fencepost {given[0].question} {given[0].model}" if given else "fencepost"
        write_file(junit, junit_form.encode(suite, answers), "answers")
