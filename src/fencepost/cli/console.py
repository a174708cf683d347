"""What all commands do alike on the terminal: exit codes, messages about wrong input, colours, progress."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fencepost.errors import InputError

EXIT_HOLDS, EXIT_VIOLATED, EXIT_WRONG_INPUT, EXIT_UNDECIDED = 0, 1, 2, 3

_USUAL_WIDTH = 100

EXIT_CODES = """\b
Exit code: 0 the property holds, 1 it is violated (or a race or a failing
assertion was found), 2 wrong input or usage, 3 undecided within the limits.
"""


def exit_on_input_error(action: Callable[[], Any]) -> Any:
    """Do what can meet wrong input, or miss something; say what is wrong and exit with 2."""
    from fencepost.errors import InputError, UnavailableError

    try:
        return action()
    except InputError as error:
        print_error(error)
    except UnavailableError as error:
        say(str(error), err=True)
    sys.exit(EXIT_WRONG_INPUT)


def say(text: str, *, end: str = "\n", err: bool = False) -> None:
    """Prints what is to be seen at once; to standard error with `err`."""
    print(text, end=end, file=sys.stderr if err else sys.stdout, flush=True)


def print_error(error: InputError) -> None:
    from fencepost.report.printable import printable

    say(printable(str(error)), err=True)
    if error.source_line is not None:
        line = error.source_line.expandtabs(1)[:200]
        say(f"    {printable(line)}", err=True)
        say("    " + " " * (min(error.column, 200) - 1) + "^", err=True)


def progress_line(count: int, what: str = "files") -> Any:
    if not sys.stderr.isatty():
        return None
    from fencepost.report.text.progress import ProgressLine

    return ProgressLine(sys.stderr, count, what)


def wants_color() -> bool:
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR")


def terminal_width() -> int:
    """As `shutil.get_terminal_size` tells it, whose import takes longer than many an answer."""
    given = os.environ.get("COLUMNS", "")
    if given.isdecimal() and int(given) > 0:
        return int(given)
    try:
        return os.get_terminal_size(1).columns or _USUAL_WIDTH
    except OSError:  # no terminal
        return _USUAL_WIDTH
