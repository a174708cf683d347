"""What all commands share on the terminal: messages about wrong input, written files, colours, progress."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NoReturn

from fencepost.memory_models import EXIT_WRONG_INPUT

if TYPE_CHECKING:
    from pathlib import Path

    from fencepost.errors import InputError

_USUAL_WIDTH = 100


def exit_on_input_error(action: Callable[[], Any]) -> Any:
    """What the action returns; if its input is wrong or something it needs is missing, say so and exit."""
    from fencepost.errors import InputError, UnavailableError

    try:
        return action()
    except InputError as error:
        print_error(error)
        sys.exit(EXIT_WRONG_INPUT)
    except UnavailableError as error:
        fail(str(error))


def fail(message: str) -> NoReturn:
    """Say what is wrong and exit."""
    say(message, err=True)
    sys.exit(EXIT_WRONG_INPUT)


def check_outputs(inputs: Iterable[str] = (), **outputs: Path | str | None) -> None:
    """Exit now if one of the outputs, called by what it will hold, cannot be written after the search, or is
    one of the inputs."""
    given = [(what, path) for what, path in outputs.items() if path is not None]
    read = {os.path.realpath(path) for path in inputs} if given else set()
    for what, path in given:
        if os.path.realpath(path) in read:
            fail(f"{path}: the {what} would overwrite the program")
        if reason := _why_not_writable(os.path.realpath(path)):
            fail(f"{path}: cannot write the {what}: {os.strerror(reason)}")


def _why_not_writable(path: str) -> int:
    """The number of the error that writing would end with; 0 if none is foreseen."""
    if os.path.isdir(path):
        return errno.EISDIR
    folder = os.path.dirname(path)
    if not os.path.isdir(folder):
        return errno.ENOTDIR if os.path.exists(folder) else errno.ENOENT
    there = path if os.path.exists(path) else folder
    return 0 if os.access(there, os.W_OK) else errno.EACCES


def write_file(path: Path, content: str | bytes, what: str) -> None:
    """Write the file; if that cannot be done, say so and exit."""
    try:
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    except OSError as error:
        fail(f"{path}: cannot write the {what}: {error.strerror or error}")


def say(text: str, *, end: str = "\n", err: bool = False) -> None:
    """Print at once; to standard error with `err`."""
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
    """As `shutil.get_terminal_size` says; to import that takes longer than many an answer."""
    given = os.environ.get("COLUMNS", "")
    if given.isdecimal() and int(given) > 0:
        return int(given)
    try:
        return os.get_terminal_size(1).columns or _USUAL_WIDTH
    except OSError:  # no terminal
        return _USUAL_WIDTH
