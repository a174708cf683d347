"""A repaired program as edits of the text in the editor."""

from __future__ import annotations

from difflib import SequenceMatcher
from typing import NamedTuple


class LineEdit(NamedTuple):
    """The text between two places, counted from 0, and what takes its place."""

    start: tuple[int, int]
    end: tuple[int, int]
    text: str


def line_edits(before: list[str], after: list[str]) -> list[LineEdit]:
    """The edits that make `after` of `before`, of whole lines."""
    matching = SequenceMatcher(None, before, after, autojunk=False)
    return [
        _edit(before, first, last, after[begin:end])
        for what, first, last, begin, end in matching.get_opcodes()
        if what != "equal"
    ]


def _edit(before: list[str], first: int, last: int, lines: list[str]) -> LineEdit:
    """The lines up to the last one, which has no line break, take the break before them along."""
    if last < len(before):
        return LineEdit((first, 0), (last, 0), "".join(f"{line}\n" for line in lines))
    end = (len(before) - 1, len(before[-1]))
    if first == 0:
        return LineEdit((0, 0), end, "\n".join(lines))
    return LineEdit((first - 1, len(before[first - 1])), end, "".join(f"\n{line}" for line in lines))
