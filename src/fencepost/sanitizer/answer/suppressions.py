"""Findings that the user has suppressed, named in a file as for ThreadSanitizer.

Each line is `KIND:PATTERN`. KIND is `robustness`, `race`, `threads` or `deadlock`. PATTERN is part of the
name of a function, a source file or a module on one of the stacks, or of the location; `*` in it stands for
any text, `^` at its start and `$` at its end for those of the name. `#` begins a comment.

Besides, findings inside of libstdc++ are left out unless the user wants them: both accesses are in one of the
headers of `INTERNALS`, not merely called by it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from fencepost.errors import InputError, read_bytes
from fencepost.verdicts.run import Access, places

# The same as `internals` in native/sanitizer/report/suppressions.cpp.
INTERNALS = {
    "atomic_wait.h": "std::atomic::wait and notify",
    "atomic_timed_wait.h": "waits with a time limit",
    "atomic_futex.h": "std::future",
    "semaphore_base.h": "std::counting_semaphore",
    "semaphore": "std::counting_semaphore",
    "barrier": "std::barrier",
    "latch": "std::latch",
    "stop_token": "std::stop_token, std::jthread",
    "shared_ptr_base.h": "std::shared_ptr, std::weak_ptr",
    "shared_ptr_atomic.h": "std::atomic<std::shared_ptr>",
    "atomicity.h": "counts of std::shared_ptr",
}

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


def is_internal(access: Access, missed: Access | None) -> bool:
    """Whether both are made inside of libstdc++, at a location of its own."""
    return missed is not None and all(_is_internal(one) for one in (access, missed))


def listed_internals() -> str:
    """The list for a reader, in the form of a file of suppressions."""
    lines = [f"# {what}\nrobustness:/c++/*/{name}$\n" for name, what in INTERNALS.items()]
    return "".join(["# Left out by default, if both accesses are made inside of such a header.\n", *lines])


def _is_internal(access: Access) -> bool:
    """From the innermost call to the first outside of the compiler's headers."""
    files = [frame.file for frame in places(access.stack)]
    return any("/c++/" in file and file.rpartition("/")[2] in INTERNALS for file in files)


def _suppression(line: str, path: str, number: int) -> Suppression:
    kind, colon, pattern = line.partition(":")
    if not colon or kind not in KINDS or not pattern:
        message = f"expected `KIND:PATTERN`, where KIND is {', '.join(KINDS[:-1])} or {KINDS[-1]}"
        raise InputError(message, path, number, 1, line)
    start, end = ("^" if pattern.startswith("^") else ""), ("$" if pattern.endswith("$") else "")
    first, *parts = map(re.escape, pattern[len(start) : len(pattern) - len(end)].split("*"))
    # Where a part occurs first, the rest has most room: no other place is tried, or many `*` take for ever.
    last = [f".*{parts.pop()}$"] if parts and end else [end]
    text = "".join([start, first, *(f"(?>.*?{part})" for part in parts), *last])
    return Suppression(kind, re.compile(text))
