"""`fencepost check`: run every execution of a program that was built with the wrappers."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import click

from fencepost.cli.console import (
    check_outputs,
    exit_on_input_error,
    progress_line,
    terminal_width,
    wants_color,
    write_file,
)
from fencepost.cli.options import Amount, exit_codes, internals_option, library_option

if TYPE_CHECKING:
    from fencepost.sanitizer.run.events import Exploration
    from fencepost.sanitizer.run.exploration import Limits
    from fencepost.verdicts.check import AnyCheckAnswer

_EPILOG = exit_codes(
    "robust: every execution was run, and nothing was found",
    "something was found, or the program failed, or a deadlock",
    "nothing was found, but not all executions could be run",
)


@click.command(epilog=_EPILOG, context_settings={"allow_interspersed_args": False})
@click.argument(
    "command", nargs=-1, required=True, metavar="[--] PROGRAM [ARGUMENT]…", type=click.UNPROCESSED
)
@click.option("--timeout", type=Amount(min=1), metavar="SECONDS", help="Time limit for all executions.")
@click.option(
    "--max-executions", type=click.IntRange(min=1), metavar="N", help="Limit on the number of executions."
)
@click.option(
    "--max-steps", type=click.IntRange(min=1), metavar="N", help="Limit on scheduled steps per execution."
)
@click.option(
    "--rounds",
    type=click.IntRange(1, 250),
    default=20,
    show_default=True,
    metavar="K",
    help="Cut loops that are not known to wait when they have read the same location as often.",
)
@click.option(
    "--fail-allocations",
    type=click.IntRange(min=1),
    metavar="N",
    help="Let up to N allocations of an execution fail, in all ways.",
)
@click.option(
    "--bound",
    type=click.IntRange(min=0),
    metavar="PREEMPTIONS",
    help="Leave out executions with more preemptions: finds, but does not prove.",
)
@click.option("--first", is_flag=True, help="Stop at the first finding.")
@click.option(
    "-j", "--jobs", type=click.IntRange(1, 256), default=1, metavar="N", help="Processes that share the work."
)
@click.option(
    "--resume",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Keep the state there, and go on from it if it exists.",
)
@click.option("--suppressions", metavar="FILE", help="Findings not to report.")
@internals_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option("--sarif", type=click.Path(path_type=Path), help="Write the findings as SARIF too.")
@click.option("-q", "--quiet", is_flag=True, help="Print the summary only.")
def check(
    *,
    command: tuple[str, ...],
    timeout: float | None,
    max_executions: int | None,
    max_steps: int | None,
    rounds: int,
    fail_allocations: int | None,
    bound: int | None,
    first: bool,
    jobs: int,
    resume: Path | None,
    suppressions: str | None,
    internals: bool,
    as_json: bool,
    sarif: Path | None,
    quiet: bool,
) -> NoReturn:
    """Run every execution of a program built with fencepost-cc or fencepost-c++: is it robust?

    Executions that differ only in the order of independent steps are one. For small programs that end: two or
    three threads, a few operations each.
    """
    from fencepost.sanitizer.run.exploration import Limits

    check_outputs(findings=sarif)
    limits = Limits(
        seconds=timeout,
        executions=max_executions,
        rounds=rounds,
        steps=max_steps,
        failing=fail_allocations or 0,
        bound=bound,
        first=first,
        processes=jobs,
        resume=resume,
    )
    if resume is not None and ":" in str(resume.absolute()):
        raise click.UsageError("the file of --resume cannot have a colon in its name")
    unwanted = suppressions or library_option("suppressions")
    answer = exit_on_input_error(lambda: _answer(command, limits, unwanted, internals=internals))
    _print(answer, as_json=as_json, quiet=quiet)
    if sarif is not None:
        from fencepost.sanitizer.answer.sarif import encode

        write_file(sarif, encode(answer), "findings")
    sys.exit(answer.exit_code)


def _answer(
    command: tuple[str, ...], limits: Limits, unwanted: str | None, *, internals: bool
) -> AnyCheckAnswer:
    from fencepost.sanitizer.answer.checking import Checked, check_answer
    from fencepost.sanitizer.answer.suppressions import read_suppressions
    from fencepost.sanitizer.run.exploration import explore

    suppressions = read_suppressions(unwanted) if unwanted else []
    started = time.monotonic()
    display = progress_line(2, "")  # of an unknown number

    def watch(state: Exploration) -> None:
        if display is not None:
            display.saying(f"{state.executions:,} executions, perhaps {state.millionths / 1e4:.1f} % of all")

    try:
        explored = explore(command, limits, watch)
    finally:
        if display is not None:
            display.close()
    return check_answer(
        explored,
        Checked(
            command=command,
            suppressions=suppressions,
            resume=limits.resume,
            internals=internals,
            seconds=time.monotonic() - started,
        ),
    )


def _print(answer: AnyCheckAnswer, *, as_json: bool, quiet: bool) -> None:
    from fencepost.report.export.as_json import encode
    from fencepost.sanitizer.answer import check_text

    if as_json:
        click.echo(encode(answer))
        return
    page = check_text.render(answer, color=wants_color(), width=terminal_width(), quiet=quiet)
    click.echo(page, nl=False, color=True)
