"""`fencepost check`: run every execution of a program that was built with the wrappers."""

from __future__ import annotations

import sys
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import click

from fencepost.cli.console import exit_on_input_error, progress_line, wants_color
from fencepost.cli.options import Amount, exit_codes
from fencepost.cli.watched import Reporter, Reporting, reporting_options
from fencepost.errors import InputError
from fencepost.memory_models import EXIT_HOLDS, EXIT_UNDECIDED, EXIT_VIOLATED
from fencepost.sanitizer.frameworks import FRAMEWORKS, Framework, Test, chosen, tests_of

if TYPE_CHECKING:
    from fencepost.sanitizer.answer.left_out import LeftOut
    from fencepost.sanitizer.run.events import Exploration
    from fencepost.sanitizer.run.exploration import Limits
    from fencepost.verdicts.check import AnyCheckAnswer

_WEAK_RUNS = 100  # for each finding

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
@click.option(
    "--framework",
    type=click.Choice(FRAMEWORKS),
    help="Check each test of the program on its own: fp_test, GoogleTest or Catch2. [default: fp, if it has "
    "such tests and no arguments are given]",
)
@click.option(
    "--test", "patterns", multiple=True, metavar="NAME", help="Only tests that match (*, ?, [abc])."
)
@click.option("--list-tests", is_flag=True, help="Print the names of the tests and exit.")
@click.option("--harm", is_flag=True, help="Look for harm that the findings do, in weak executions.")
@click.option(
    "--weak-runs",
    type=click.IntRange(10, 1_000_000),
    metavar="N",
    help="Weak executions for each finding, with --harm. [default: 100]",
)
@reporting_options
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
    framework: Framework | None,
    patterns: tuple[str, ...],
    list_tests: bool,
    harm: bool,
    weak_runs: int | None,
    reporting: Reporting,
) -> NoReturn:
    """Run every execution of a program built with fencepost-cc or fencepost-c++: is it robust?

    Executions that differ only in the order of independent steps are one. For small programs that end: two or
    three threads, a few operations each. Of a program with tests, each test is checked on its own.
    """
    from fencepost.sanitizer.answer import check_text, junit
    from fencepost.sanitizer.run.exploration import Limits

    if weak_runs is not None and not harm:
        raise click.UsageError("--weak-runs goes with --harm")
    reporter = Reporter(reporting, check_text.render)
    tests = exit_on_input_error(lambda: _tests(command, framework, patterns))
    if list_tests:
        click.echo("".join(f"{test.name}\n" for test in tests if test.name), nl=False)
        sys.exit(EXIT_HOLDS)
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
    if resume is not None and len(tests) > 1:
        raise click.UsageError("--resume keeps the state of one test: choose it with --test")
    for test in tests:
        answer, interrupted = exit_on_input_error(partial(_answer, command, test, limits, reporter.left_out))
        if harm and not interrupted:
            answer, interrupted = _with_harm(answer, weak_runs or _WEAK_RUNS, reporter.left_out)
        reporter.show(answer)
        if interrupted:
            break
    reporter.write(junit.encode)
    if len(tests) > 1 and not reporting.as_json:
        click.echo(check_text.total(reporter.answers, color=wants_color()), nl=False, color=True)
    codes = {answer.exit_code for answer in reporter.answers}
    sys.exit(next(code for code in (EXIT_VIOLATED, EXIT_UNDECIDED, EXIT_HOLDS) if code in codes))


def _tests(command: tuple[str, ...], framework: Framework | None, patterns: tuple[str, ...]) -> list[Test]:
    """One without a name stands for the program as it is."""
    tests = tests_of(command, framework)
    if tests is None and not patterns:
        return [Test("", ())]
    some = chosen(tests or [], patterns)
    if not some:
        which = f" that matches {' or '.join(patterns)}" if tests and patterns else ""
        remedy = "" if framework or tests else "; name the framework (--framework)"
        remedy += ", or give it no arguments" if remedy and len(command) > 1 else ""
        raise InputError(f"no test was found in it{which}{remedy}", command[0])
    return some


def _answer(
    command: tuple[str, ...], test: Test, limits: Limits, left_out: LeftOut
) -> tuple[AnyCheckAnswer, bool]:
    """Also whether the user has interrupted it."""
    from fencepost.sanitizer.answer.checking import Checked, check_answer
    from fencepost.sanitizer.run.exploration import explore

    command = (*command, *test.arguments)
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
    answer = check_answer(
        explored,
        Checked(
            command=command,
            test=test.name,
            left_out=left_out,
            resume=limits.resume,
            seconds=time.monotonic() - started,
        ),
    )
    return answer, explored.interrupted


def _with_harm(answer: AnyCheckAnswer, runs: int, left_out: LeftOut) -> tuple[AnyCheckAnswer, bool]:
    from fencepost.sanitizer.answer.harm import with_harm

    display = progress_line(2, "")

    def watch(done: int) -> None:
        if display is not None:
            display.saying(f"{done:,} weak executions")

    try:
        return with_harm(answer, runs, left_out, watch)
    finally:
        if display is not None:
            display.close()
