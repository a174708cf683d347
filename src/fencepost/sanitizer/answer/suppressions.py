"""Findings that the user has suppressed, named in a file as for ThreadSanitizer.

Each line is `KIND:PATTERN`. KIND is `robustness`, `race`, `threads` or `deadlock`. PATTERN is part of the
name of a function, a source file or a module on one of the stacks, or of the location; `*` in it stands for
any text, `^` at its start and `$` at its end for those of the name. `#` begins a comment.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from fencepost.errors import InputError, read_bytes

KINDS = ("robustness", "race", "threads", "deadlock")


@dataclass(frozen=True)
class Suppression:
    kind: str
    pattern: re.Pattern[str]


def read_suppressions(path: str) -> list[Suppression]:
    lines = read_bytes(path, "the suppressions").decode("utf-8", "replace").splitlines()
    return [
        _suppression(line.strip(), path, number)
        for number, line in enumerate(lines, start=1)
        if line.strip() and not line.lstrip().startswith("#")
    ]


def is_suppressed(kind: str, names: Iterable[str], suppressions: Iterable[Suppression]) -> bool:
    """Whether any of the names that belong to a finding of this kind is suppressed."""
    asked = [suppression.pattern for suppression in suppressions if suppression.kind == kind]
    return any(pattern.search(name) for name in names if name for pattern in asked)


def _suppression(line: str, path: str, number: int) -> Suppression:
    kind, colon, pattern = line.partition(":")
    if not colon or kind not in KINDS or not pattern:
        message = f"expected `KIND:PATTERN`, where KIND is {', '.join(KINDS[:-1])} or {KINDS[-1]}"
        raise InputError(message, path, number, 1, line)
    start, end = ("^" if pattern.startswith("^") else ""), ("$" if pattern.endswith("$") else "")
    middle = pattern[len(start) : len(pattern) - len(end)]
    text = ".*".join(re.escape(part) for part in middle.split("*"))
    return Suppression(kind, re.compile(f"{start}{text}{end}"))
