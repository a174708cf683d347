"""`fix` and `relax` for programs that were built with the wrappers: what they share on the command line."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import click

from fencepost.cli.console import (
    check_outputs,
    exit_on_input_error,
    fail,
    progress_line,
    terminal_width,
    wants_color,
    write_file,
)
from fencepost.cli.watched import left_out_by

if TYPE_CHECKING:
    from fencepost.sanitizer.repair.executions import Asking
    from fencepost.sanitizer.repair.search import Wanted
    from fencepost.verdicts.patches import SourcePatch
    from fencepost.verdicts.program_changes import AnyProgramFix, AnyProgramRelax

C = TypeVar("C", bound=Callable[..., Any])
_TARGETS = ("generic", "x86-64", "aarch64")


def is_program(file: str) -> bool:
    """Is it a compiled program, and no text?"""
    try:
        with open(file, "rb") as opened:
            return opened.read(4) == b"\x7fELF"
    except OSError:
        return False


def program_options(command: C) -> C:
    """The options for programs alone. They reach the command under their names with `program_` before."""
    for option in reversed(
        [
            click.option(
                "--target",
                "program_target",
                type=click.Choice(_TARGETS),
                help="For a compiled PROGRAM: the machine that costs are for. [default: generic]",
            ),
            click.option(
                "--runs",
                "program_runs",
                type=click.IntRange(1, 1_000_000),
                metavar="N",
                help="For a compiled PROGRAM: try changes in N runs of each of two schedules, not in all "
                "executions.",
            ),
            click.option(
                "--test",
                "program_tests",
                multiple=True,
                metavar="PATTERN",
                help="For a compiled PROGRAM with tests: only the tests whose names match.",
            ),
            click.option(
                "--suppressions",
                "program_suppressions",
                metavar="FILE",
                help="For a compiled PROGRAM: findings not to repair.",
            ),
            click.option(
                "--write",
                "program_write",
                is_flag=True,
                help="For a compiled PROGRAM: change its sources, if the patched program passes the check.",
            ),
            click.option(
                "--yes", "program_yes", is_flag=True, help="For a compiled PROGRAM: do not ask before that."
            ),
            click.option(
                "-j",
                "--jobs",
                "program_jobs",
                type=click.IntRange(1, 256),
                metavar="N",
                help="For a compiled PROGRAM: executions at the same time.",
            ),
        ]
    ):
        command = option(command)
    return command


def refuse_options(given: Mapping[str, object], what: str) -> None:
    """Options that go with another kind of input."""
    for name, value in given.items():
        if value not in (None, False, ()):
            raise click.UsageError(f"{name} is for {what}")


def refuse_program_options(arguments: Sequence[str], given: Mapping[str, object]) -> None:
    if arguments:
        raise click.UsageError(f"unexpected argument `{arguments[0]}`: only a compiled program has some")
    names = {f"--{name.removeprefix('program_')}": value for name, value in given.items()}
    refuse_options(names, "a compiled program (fencepost-cc)")


def answer_program(
    ask: str,
    command: tuple[str, ...],
    options: Mapping[str, Any],
    *,
    costs: Mapping[str, float],
    without: tuple[str, ...] = (),
    races: bool = True,
    timeout: float | None,
    as_json: bool,
    quiet: bool,
    verbose: bool,
    sarif: Path | None = None,
) -> NoReturn:
    """`ask` is the function of `sanitizer.repair.search`."""
    check_outputs(findings=sarif)
    display = progress_line(2, "")

    wanted: list[Wanted] = []

    def saying(text: str) -> None:
        if display is not None:
            display.saying(text)

    def answer() -> AnyProgramFix | AnyProgramRelax:
        from fencepost.sanitizer.repair import search

        asked: dict[str, Any] = {"costs": costs, "without": without, "races": races, "seconds": timeout}
        wanted.append(_wanted(command, options, **asked, saying=saying))
        found: AnyProgramFix | AnyProgramRelax = getattr(search, ask)(wanted[0])
        return found

    try:
        told = exit_on_input_error(answer)
    finally:
        if display is not None:
            display.close()
    told, patch = _with_patch(told)
    _print(told, as_json=as_json, quiet=quiet, verbose=verbose)
    if sarif is not None:
        from fencepost.sanitizer.answer.changes_sarif import encode

        write_file(sarif, encode(told, patch), "findings")
    if options["program_write"] and told.changes:
        _write(told, patch, wanted[0].asking, yes=options["program_yes"])
    sys.exit(told.exit_code)


def _with_patch(
    answer: AnyProgramFix | AnyProgramRelax,
) -> tuple[AnyProgramFix | AnyProgramRelax, SourcePatch | str]:
    from msgspec.structs import replace

    from fencepost.sanitizer.repair.patching import patch_for

    patch = patch_for(answer)
    if isinstance(patch, str):
        return replace(answer, no_diff=patch), patch
    return replace(answer, diff=patch.diff, by_hand=patch.by_hand), patch


def _write(
    answer: AnyProgramFix | AnyProgramRelax, patch: SourcePatch | str, asking: Asking, *, yes: bool
) -> None:
    from fencepost.sanitizer.repair.patching import write_checked
    from fencepost.sanitizer.sources import CannotWritePatchError

    if isinstance(patch, str):
        fail(f"nothing was written: {patch}")
    files = ", ".join(patch.texts)
    if not answer.holds:
        fail("nothing was written: the changes are not known to be enough")
    if not yes and not click.confirm(f"Change {files}?", err=True):
        return
    try:
        checked = write_checked(patch, answer, asking)
    except CannotWritePatchError as error:
        fail(f"nothing was written: {error}")
    click.echo(f"{checked[0].upper()}{checked[1:]}. Written: {files}", err=True)


def _wanted(
    command: tuple[str, ...],
    options: Mapping[str, Any],
    *,
    costs: Mapping[str, float],
    without: tuple[str, ...],
    races: bool,
    seconds: float | None,
    saying: Callable[[str], None],
) -> Wanted:
    from fencepost.errors import InputError
    from fencepost.sanitizer.frameworks import Test, chosen, tests_of
    from fencepost.sanitizer.repair.changes import KINDS
    from fencepost.sanitizer.repair.executions import Asking
    from fencepost.sanitizer.repair.search import Wanted

    for kind in (*costs, *without):
        if kind not in KINDS:
            kinds = ", ".join(KINDS)
            raise click.UsageError(f"there is no change `{kind}` of compiled programs; there are: {kinds}")
    patterns = options["program_tests"]
    tests = tests_of(command, None)
    some = [Test("", ())] if tests is None else chosen(tests, patterns)
    if not some or (tests is None and patterns):
        raise InputError("no test was found in it", command[0])
    return Wanted(
        asking=Asking(
            command=command,
            tests=tuple(some),
            left_out=left_out_by(options["program_suppressions"]),
            races=races,
            runs=options["program_runs"],
            processes=options["program_jobs"] or 1,
        ),
        target=options["program_target"] or "generic",
        costs=costs,
        without=without,
        seconds=seconds,
        saying=saying,
    )


def _print(answer: AnyProgramFix | AnyProgramRelax, *, as_json: bool, quiet: bool, verbose: bool) -> None:
    if as_json:
        from fencepost.report.export.as_json import encode

        click.echo(encode(answer))
        return
    from fencepost.sanitizer.answer.changes_text import render

    told = render(answer, color=wants_color(), width=terminal_width(), quiet=quiet, verbose=verbose)
    click.echo(told, nl=False, color=True)
