"""What all commands do alike on the terminal: exit codes, messages about wrong input, colours, progress."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from holdfast.errors import InputError

EXIT_HOLDS, EXIT_VIOLATED, EXIT_WRONG_INPUT, EXIT_UNDECIDED = 0, 1, 2, 3

EXIT_CODES = """\b
Exit code: 0 the property holds, 1 it is violated (or a race or a failing
assertion was found), 2 wrong input or usage, 3 undecided within the limits.
"""


def guarded(action: Callable[[], Any]) -> Any:
    """Do what can meet wrong input, or miss something; say what is wrong and exit with 2."""
    from holdfast.errors import InputError, UnavailableError

    try:
        return action()
    except InputError as error:
        print_error(error)
    except UnavailableError as error:
        click.echo(str(error), err=True)
    sys.exit(EXIT_WRONG_INPUT)


def print_error(error: InputError) -> None:
    from holdfast.report.printable import printable

    click.echo(printable(str(error)), err=True)
    if error.source_line is not None:
        line = error.source_line.expandtabs(1)[:200]
        click.echo(f"    {printable(line)}", err=True)
        click.echo("    " + " " * (min(error.column, 200) - 1) + "^", err=True)


def progress_line(count: int, what: str = "files") -> Any:
    from holdfast.report.progress import ProgressLine

    return ProgressLine(sys.stderr, count, what) if sys.stderr.isatty() else None


def wants_color() -> bool:
    import os

    return sys.stdout.isatty() and not os.environ.get("NO_COLOR")


def terminal_width() -> int:
    import shutil

    return shutil.get_terminal_size((100, 24)).columns
