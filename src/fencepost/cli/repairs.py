"""What the commands share that change a program: costs, limits, where the changed program is written."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from msgspec.structs import replace

from fencepost.cli.console import (
    exit_on_input_error,
    progress_line,
    terminal_width,
    wants_color,
    write_file,
)
from fencepost.cli.options import Amount
from fencepost.memory_models import EXIT_UNDECIDED

if TYPE_CHECKING:
    from fencepost.analyses.repair.checks import FixWatcher
    from fencepost.engine.search import Limits
    from fencepost.formats import Reading
    from fencepost.program import Program
    from fencepost.verdicts import Answer

C = TypeVar("C", bound=Callable[..., Any])


def _costs(_context: click.Context, _option: click.Parameter, given: tuple[str, ...]) -> dict[str, float]:
    from fencepost.analyses.repair.costs import Prices

    costs: dict[str, float] = {}
    for text in given:
        kind, equals, number = text.partition("=")
        try:
            if not equals:
                raise ValueError(f"expected a change and its cost, as in `sc-fence=10`, not `{text}`")
            costs[kind] = _number(kind, number)
            Prices(costs)
        except ValueError as error:
            raise click.BadParameter(str(error)) from None
    return costs


def _number(kind: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"the cost of {kind} is `{text}`; expected a number") from None


def cost_options(command: C) -> C:
    """`--loop-weight` and `--cost`."""
    for option in reversed(
        [
            click.option(
                "--loop-weight",
                type=click.IntRange(min=1, max=100),
                default=1,
                show_default=True,
                help="How many times more a change costs for each loop around it.",
            ),
            click.option(
                "--cost",
                "costs",
                multiple=True,
                callback=_costs,
                metavar="CHANGE=N",
                help="What a change costs.",
            ),
        ]
    ):
        command = option(command)
    return command


def limit_options(command: C) -> C:
    """The limits of a search with many checks."""
    for option in reversed(
        [
            click.option(
                "--max-states",
                type=click.IntRange(min=1),
                metavar="N",
                help="Limit on stored states per check.",
            ),
            click.option(
                "--timeout", type=Amount(min=0), metavar="SECONDS", help="Time limit for all checks together."
            ),
            click.option("--max-memory", type=Amount(min=1), metavar="MB", help="Memory limit."),
        ]
    ):
        command = option(command)
    return command


def refuse_to_overwrite(output: Path | None, file: str, *, force: bool) -> None:
    if output is not None and not force and _same_file(output, file):
        raise click.UsageError(
            f"--output would overwrite {file} itself; add --force if that is what you want"
        )


def _same_file(output: Path, file: str) -> bool:
    try:
        return os.path.samefile(output, file)
    except (OSError, ValueError):
        return False


A = TypeVar("A", bound="Answer")


def answer_with_progress(
    file: str,
    text: str | None,
    reading: Reading,
    limits: Limits,
    ask: Callable[[Program, Limits, FixWatcher | None], A],
) -> A:
    """Read the program and ask; Ctrl-C before there is an answer ends the command."""
    from fencepost.formats import load_as

    display = progress_line(1)
    watcher = None if display is None else display.repairing

    def answer() -> A:
        started = time.monotonic()
        program = load_as(file, reading, text)
        found = ask(program, limits.after(time.monotonic() - started), watcher)
        spent = replace(found.stats, seconds=round(time.monotonic() - started, 6))
        return replace(found, stats=spent)

    try:
        told: A = exit_on_input_error(answer)
        return told
    except KeyboardInterrupt:  # while reading or writing; during the search it becomes an answer
        click.echo(f"{file}: interrupted before there was an answer", err=True)
        sys.exit(EXIT_UNDECIDED)
    finally:
        if display is not None:
            display.close()


def print_changes(
    answer: Answer, printer: str, cost: str, *, as_json: bool, quiet: bool, verbose: bool
) -> None:
    """The answer as JSON, as one line with the `cost`, or as the module `printer` of `report.text` has it."""
    from fencepost.report.export import as_json as json_form
    from fencepost.report.printable import printable
    from fencepost.report.story import brief

    if as_json:
        click.echo(json_form.encode(answer))
    elif quiet:
        click.echo(f"{printable(answer.file)}: {brief(answer)}{cost}")
    else:
        render = import_module(f"fencepost.report.text.{printer}").render
        page = render(answer, color=wants_color(), width=terminal_width(), verbose=verbose)
        click.echo(page, nl=False, color=True)


def write_program(file: str, text: str | None, path: Path, missing: str) -> None:
    if text is None:
        click.echo(f"{file}: {missing}, {path} was not written", err=True)
        return
    write_file(path, text, "program")
