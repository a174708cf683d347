"""Why a program cannot be started, and what the user may have meant."""

from __future__ import annotations

import os
from pathlib import Path

from fencepost.errors import InputError
from fencepost.sanitizer.build.arguments import language_of


def cannot_start(program: str, error: OSError) -> InputError:
    return InputError(f"cannot start the program: {_why(program, error)}", program)


def _why(program: str, error: OSError) -> str:
    if os.path.isdir(program):
        return "this is a directory"
    if os.path.isfile(program):
        language = language_of(program)
        if language is not None:
            wrapper = "fencepost-cc" if language == "c" else "fencepost-c++"
            return f"this is a source; build it with `{wrapper}`, and name what that makes of it"
        if _is_object(program):
            return "this is an object file; link it with `fencepost-cc` or `fencepost-c++`"
        if os.sep not in program:
            return f"it is not in PATH; for the file in this directory write `./{program}`"
    return error.strerror or str(error)


def _is_object(path: str) -> bool:
    try:
        with Path(path).open("rb") as file:
            head = file.read(18)
    except OSError:
        return False
    return head[:4] == b"\x7fELF" and head[16:18] == b"\x01\x00"
