"""Changes to a text that leave everything else in it as it is."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from fencepost.program import CellAccess, Fence


class Edit(NamedTuple):
    """What to do around one statement: fences beside it, another one instead of it, or nothing."""

    before: Fence | None = None
    instead: CellAccess | Fence | None = None
    after: Fence | None = None
    gone: bool = False


class Splice(NamedTuple):
    """Put `text` where `start` to `end` was."""

    start: int
    end: int
    text: str


class Line(NamedTuple):
    """The line around a piece of text, and whether the piece comes first and last in it but for comments."""

    start: int
    indentation: str
    is_first: bool
    is_last: bool
    end: int


def line_around(text: str, start: int, end: int) -> Line:
    """The line that the piece from `start` to `end` stands in."""
    line_start = text.rfind("\n", 0, start) + 1
    line_end = text.find("\n", end)
    line_end = len(text) if line_end < 0 else line_end
    leading, trailing = text[line_start:start], text[end:line_end].strip()
    indentation = leading[: len(leading) - len(leading.lstrip())]
    is_last = not trailing or trailing.startswith(("#", "//"))
    return Line(line_start, indentation, leading == indentation, is_last, line_end)


def spliced(text: str, splices: Iterable[Splice]) -> str:
    """The text with all of them made; those at the same place in order."""
    pieces, place = [], 0
    for start, end, new in sorted(splices):
        pieces += [text[place:start], new]
        place = end
    return "".join([*pieces, text[place:]])
