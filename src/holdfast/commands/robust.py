"""`holdfast robust`: does weak memory show in the programs at all?"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import click

from holdfast.commands.console import (
    EXIT_CODES,
    EXIT_HOLDS,
    EXIT_UNDECIDED,
    EXIT_VIOLATED,
    EXIT_WRONG_INPUT,
    guarded,
    print_error,
    progress_line,
    terminal_width,
    wants_color,
)
from holdfast.commands.options import input_options, search_limits
from holdfast.memory_models import ROBUSTNESS_MODELS

if TYPE_CHECKING:
    from holdfast.batch import Outcome
    from holdfast.formats import Reading


@click.command(epilog=EXIT_CODES)
@click.argument("files", nargs=-1, required=True, metavar="FILE…")
@click.option(
    "--model",
    type=click.Choice(ROBUSTNESS_MODELS),
    default="ra",
    show_default=True,
    help="Release/acquire, or C++20 atomics.",
)
@click.option("--shortest", is_flag=True, help="Insist on a shortest witness: search breadth first.")
@click.option(
    "--search",
    type=click.Choice(["auto", "breadth-first", "depth-first", "largest-first"]),
    default="auto",
    show_default=True,
    help="Order of the search. Breadth first finds shortest witnesses, largest first decides soonest; auto "
    "begins with the one and goes over to the other.",
)
@click.option("--no-subsumption", is_flag=True, help="Keep every monitor, not only the largest ones.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per file.")
@click.option(
    "--svg", type=click.Path(path_type=Path), help="Write the witness as a picture (one file only)."
)
@click.option("-q", "--quiet", is_flag=True, help="Print the verdicts only.")
@click.option("-v", "--verbose", is_flag=True, help="Print long runs and cycles whole.")
@search_limits
@input_options
def robust(
    *,
    files: tuple[str, ...],
    model: str,
    shortest: bool,
    search: str,
    no_subsumption: bool,
    as_json: bool,
    svg: Path | None,
    quiet: bool,
    verbose: bool,
    jobs: int | None,
    max_states: int | None,
    timeout: float | None,
    max_memory: float | None,
    reading: Reading,
) -> NoReturn:
    """Does weak memory show in the programs at all?

    A program is robust if every behaviour it has under the model exists under sequential consistency too. If
    it is not, the answer is a run, the access that can leave sequential consistency, and the cycle that
    proves it. Directories stand for the programs in them.
    """
    from holdfast.batch import Job, files_in, run_jobs
    from holdfast.engine.explore import Limits

    order = "breadth-first" if shortest else search
    limits = Limits(max_states, timeout, max_memory)
    paths = guarded(lambda: files_in(files))
    if svg is not None and len(paths) != 1:
        raise click.UsageError("--svg takes exactly one program")
    work = [Job(path, model, limits, order, not no_subsumption, reading) for path in paths]
    outcomes = run_jobs(work, jobs, progress_line(len(work)))
    if as_json:
        _print_json(outcomes)
    elif len(outcomes) == 1:
        _print_answer(outcomes[0], quiet=quiet, verbose=verbose)
    else:
        _print_summary(outcomes, quiet=quiet)
    if svg is not None:
        _write_svg(outcomes[0], svg)
    sys.exit(_exit_code(outcomes))


def _print_json(outcomes: list[Outcome]) -> None:
    from holdfast.report.as_json import encode

    for outcome in outcomes:
        if outcome.error is not None:
            print_error(outcome.error)
        else:
            click.echo(encode(outcome.required_answer))


def _print_answer(outcome: Outcome, *, quiet: bool, verbose: bool) -> None:
    from holdfast.report import text

    if outcome.error is not None:
        print_error(outcome.error)
        return
    if quiet:
        _print_verdict(outcome)
    else:
        page = text.render(
            outcome.required_answer, color=wants_color(), width=terminal_width(), verbose=verbose
        )
        click.echo(page, nl=False, color=True)


def _print_verdict(outcome: Outcome) -> None:
    from holdfast.report.printable import printable

    answer = outcome.required_answer
    findings = [name for name in ("race", "assertion") if getattr(answer, name) is not None]
    click.echo(f"{printable(outcome.file)}: {', '.join([answer.verdict, *findings])}")


def _print_summary(outcomes: list[Outcome], *, quiet: bool) -> None:
    for outcome in outcomes:
        if outcome.error is not None:
            print_error(outcome.error)
        elif quiet:
            _print_verdict(outcome)
    if not quiet:
        from holdfast.report.table import summary

        rows = [(outcome.file, outcome.error or outcome.required_answer) for outcome in outcomes]
        click.echo(summary(rows, color=wants_color(), width=terminal_width()), nl=False, color=True)


def _write_svg(outcome: Outcome, path: Path) -> None:
    from holdfast.report.svg import render

    if outcome.answer is None:
        return
    if outcome.answer.witness is None:
        click.echo(f"{outcome.file}: no witness to draw, {path} was not written", err=True)
        return
    try:
        path.write_text(render(outcome.answer.witness, outcome.file), encoding="utf-8")
    except OSError as error:
        click.echo(f"{path}: cannot write the picture: {error.strerror or error}", err=True)
        sys.exit(EXIT_WRONG_INPUT)


def _exit_code(outcomes: list[Outcome]) -> int:
    """Wrong input first, then a violation anywhere, then anything undecided."""
    codes = {EXIT_WRONG_INPUT if o.answer is None else o.answer.exit_code for o in outcomes}
    for code in (EXIT_WRONG_INPUT, EXIT_VIOLATED, EXIT_UNDECIDED):
        if code in codes:
            return code
    return EXIT_HOLDS
