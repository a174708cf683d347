"""The command line: options in, answers out, exit codes as `docs/commands.md` promises.

Only `click` is imported up front; everything else waits until a command needs it, since most of the time of
a small question is Python's start.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from holdfast import __version__
from holdfast.memory_models import ROBUSTNESS_MODELS

if TYPE_CHECKING:
    from holdfast.batch import Outcome
    from holdfast.errors import InputError

EXIT_HOLDS, EXIT_VIOLATED, EXIT_WRONG_INPUT, EXIT_UNDECIDED = 0, 1, 2, 3

_Command = Callable[..., Any]

_EXIT_CODES = """\b
Exit code: 0 the property holds, 1 it is violated (or a race or a failing
assertion was found), 2 wrong input or usage, 3 undecided within the limits.
"""


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(version=__version__, message="%(prog)s %(version)s")
def main() -> None:
    """Tells whether weak memory can break a lock-free program, and shows how."""


def _input_options(command: _Command) -> _Command:
    for option in (
        click.option("--strict-tpl", is_flag=True, help="Refuse holdfast's extensions of TPL."),
        click.option("--format", "format_", metavar="NAME", help="Input format; else by the file's ending."),
    ):
        command = option(command)
    return command


def _search_options(command: _Command) -> _Command:
    for option in (
        click.option("--max-memory", type=click.FloatRange(min=1), metavar="MB", help="Memory limit."),
        click.option(
            "--timeout", type=click.FloatRange(min=0), metavar="SECONDS", help="Time limit per file."
        ),
        click.option("--max-states", type=click.IntRange(min=1), metavar="N", help="Limit on stored states."),
        click.option(
            "-j",
            "--jobs",
            type=click.IntRange(min=1),
            metavar="N",
            help="Processes for several files; as many as there are cores by default.",
        ),
    ):
        command = option(command)
    return command


@main.command(epilog=_EXIT_CODES)
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
@_search_options
@_input_options
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
    format_: str | None,
    strict_tpl: bool,
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
    paths = _guarded(lambda: files_in(files))
    if svg is not None and len(paths) != 1:
        raise click.UsageError("--svg takes exactly one program")
    work = [Job(path, model, limits, order, not no_subsumption, format_, strict_tpl) for path in paths]
    outcomes = run_jobs(work, jobs, _progress_line(len(work)))
    if as_json:
        _print_json(outcomes)
    elif len(outcomes) == 1:
        _print_answer(outcomes[0], quiet=quiet, verbose=verbose)
    else:
        _print_summary(outcomes, quiet=quiet)
    if svg is not None:
        _write_svg(outcomes[0], svg)
    sys.exit(_exit_code(outcomes))


@main.command()
@click.argument("file")
@click.option(
    "--to", type=click.Choice(["tpl"]), default="tpl", show_default=True, help="The format to print."
)
@_input_options
def show(file: str, to: str, format_: str | None, strict_tpl: bool) -> None:
    """Print a program in another format."""
    from holdfast.formats import load, write

    program = _guarded(lambda: load(file, format=format_, strict_tpl=strict_tpl))
    click.echo(write(program, to), nl=False)


@main.command(
    epilog="""\b
Exit code: 0 all decided (and as expected), 1 a verdict differs from its
header (with --check-expected), 2 wrong input or usage, 3 something undecided.
"""
)
@click.argument("paths", nargs=-1, required=True, metavar="PATH…")
@click.option(
    "--check-expected", is_flag=True, help="Compare with the verdicts that the files' headers state."
)
@click.option("--output", type=click.Path(path_type=Path), help="Write the measurements as JSON too.")
@_search_options
def bench(
    *,
    paths: tuple[str, ...],
    check_expected: bool,
    output: Path | None,
    jobs: int | None,
    max_states: int | None,
    timeout: float | None,
    max_memory: float | None,
) -> NoReturn:
    """Ask all questions about many programs, and print a table of answers and measurements.

    With --check-expected each verdict is compared with what the program's header says
    (`// expect: robust ra=yes`), and any difference is a failure.
    """
    from holdfast import corpus
    from holdfast.batch import files_in
    from holdfast.engine.explore import Limits

    limits = Limits(max_states, timeout, max_memory)
    files = _guarded(lambda: files_in(paths))
    rows = _guarded(lambda: corpus.measure(files, limits, jobs, _progress_line(len(files))))
    corpus.print_table(rows, check_expected=check_expected)
    if output is not None:
        output.parent.mkdir(parents=True, exist_ok=True)
        output.write_bytes(corpus.as_json(rows))
    sys.exit(corpus.exit_code(rows, check_expected=check_expected))


def _guarded(action: Callable[[], Any]) -> Any:
    """Do what can meet wrong input; say what is wrong and exit with 2."""
    from holdfast.errors import InputError

    try:
        return action()
    except InputError as error:
        _print_error(error)
        sys.exit(EXIT_WRONG_INPUT)


def _print_error(error: InputError) -> None:
    from holdfast.report.printable import printable

    click.echo(printable(str(error)), err=True)
    if error.source_line is not None:
        line = error.source_line.expandtabs(1)[:200]
        click.echo(f"    {printable(line)}", err=True)
        click.echo("    " + " " * (min(error.column, 200) - 1) + "^", err=True)


def _progress_line(files: int) -> Any:
    from holdfast.report.progress import ProgressLine

    return ProgressLine(sys.stderr, files) if sys.stderr.isatty() else None


def _print_json(outcomes: list[Outcome]) -> None:
    from holdfast.report.as_json import encode

    for outcome in outcomes:
        if outcome.error is not None:
            _print_error(outcome.error)
        else:
            click.echo(encode(outcome.required_answer))


def _print_answer(outcome: Outcome, *, quiet: bool, verbose: bool) -> None:
    from holdfast.report import text

    if outcome.error is not None:
        _print_error(outcome.error)
        return
    if quiet:
        _print_verdict(outcome)
    else:
        page = text.render(outcome.required_answer, color=_wants_color(), width=_width(), verbose=verbose)
        click.echo(page, nl=False, color=True)


def _print_verdict(outcome: Outcome) -> None:
    from holdfast.report.printable import printable

    answer = outcome.required_answer
    findings = [name for name in ("race", "assertion") if getattr(answer, name) is not None]
    click.echo(f"{printable(outcome.file)}: {', '.join([answer.verdict, *findings])}")


def _print_summary(outcomes: list[Outcome], *, quiet: bool) -> None:
    for outcome in outcomes:
        if outcome.error is not None:
            _print_error(outcome.error)
        elif quiet:
            _print_verdict(outcome)
    if not quiet:
        from holdfast.report.table import summary

        rows = [(outcome.file, outcome.error or outcome.required_answer) for outcome in outcomes]
        click.echo(summary(rows, color=_wants_color(), width=_width()), nl=False, color=True)


def _wants_color() -> bool:
    import os

    return sys.stdout.isatty() and not os.environ.get("NO_COLOR")


def _width() -> int:
    import shutil

    return shutil.get_terminal_size((100, 24)).columns


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
