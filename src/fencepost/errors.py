"""What fencepost says when the user's input cannot be used.

Every mistake in an input file or on the command line is an `InputError`. The command line prints it in one
form and exits with 2; a library user catches it. What is wrong outside of the input, such as a cluster that
does not answer or a package that is not installed, is `UnavailableError`. Nothing else is allowed to escape
to the user.
"""

from __future__ import annotations


class InputError(Exception):
    """A mistake in an input: where it is, what is wrong, and what was expected.

    Without a line the mistake is about the file as a whole, such as a file that is not there.
    """

    def __init__(
        self,
        message: str,
        file: str = "<input>",
        line: int = 0,
        column: int = 0,
        source_line: str | None = None,
    ) -> None:
        super().__init__(message, file, line, column, source_line)
        self.message = message
        self.file = file
        self.line = line
        self.column = column
        self.source_line = source_line

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}:{self.column}" if self.line else self.file
        return f"{place}: {self.message}"


class FixedThreadsError(InputError):
    """The question needs a fixed number of threads, and the program has any number."""


class UnavailableError(Exception):
    """Something outside of the input that the user asked for is not there, such as a cluster."""


def missing_extra(extra: str, message: str) -> UnavailableError:
    """The packages of this extra are not installed; the error names the command that installs them.

    It names the packages, not `fencepost[extra]`, so it also works where fencepost comes from a clone.
    """
    import shlex

    packages = [requirement for requirement, _ in packages_of(extra)]
    return UnavailableError(f"{message}: pip install {shlex.join(packages)}")


def packages_of(extra: str) -> list[tuple[str, str]]:
    """What an extra asks for: each requirement, and the name of the package in it."""
    import re
    from importlib.metadata import requires

    of_extra = re.compile(rf"(([\w.-]+).*?)\s*;.*\bextra == [\"']{extra}[\"']")
    return [(found[1], found[2]) for found in map(of_extra.match, requires("fencepost") or ()) if found]


def read_bytes(path: str, what: str) -> bytes:
    """The content of an input file; `what` says which it is if it cannot be read."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise InputError(f"cannot read {what}: {error.strerror or error}", path) from None
