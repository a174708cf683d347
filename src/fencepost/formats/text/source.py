"""How a mistake in a source text is told: its place, what stands there, and the name that was meant.

Readers raise `Source.error(...)` and word the message themselves; what a format expects where is its reader's
business.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import msgspec

from fencepost.errors import InputError
from fencepost.program import Position

# What `str.splitlines` takes for the end of a line and an editor does not.
_ODD_LINE_ENDS = dict.fromkeys(map(ord, "\v\f\x1c\x1d\x1e\x85\u2028\u2029"), " ")
_OPENING = {")": "(", "]": "[", "}": "{"}


class Source(msgspec.Struct, frozen=True):
    """A text that is being read, and the name of its file."""

    text: str
    file: str

    def error(self, message: str, at: Position) -> InputError:
        lines = self.text.split("\n", at.line)
        line = lines[at.line - 1] if 0 < at.line <= len(lines) else None
        return InputError(message, self.file, at.line, at.column, line)

    def position(self, offset: int) -> Position:
        line_start = self.text.rfind("\n", 0, offset) + 1
        return Position(self.text.count("\n", 0, offset) + 1, offset - line_start + 1)

    def open_bracket(self, end: int) -> tuple[str, int] | None:
        """The innermost bracket that is open before offset `end`, and its line; `//` starts a comment."""
        opened: list[tuple[str, int]] = []
        for match in re.finditer(r"//[^\n]*|[][(){}]", self.text[:end]):
            bracket = match[0]
            if bracket in "([{":
                opened.append((bracket, match.start()))
            elif bracket in _OPENING and opened and opened[-1][0] == _OPENING[bracket]:
                opened.pop()
        if not opened:
            return None
        bracket, offset = opened[-1]
        return bracket, self.position(offset).line


def normal_lines(text: str) -> str:
    """`text` with every line ended by a newline, so that all counts of lines and columns agree."""
    return text.replace("\r\n", "\n").replace("\r", "\n").translate(_ODD_LINE_ENDS)


def whole_number(digits: str, most: int, base: int = 10) -> int | None:
    """The number that the digits spell, None if it is larger than `most`."""
    digits = digits.lstrip("0") or "0"
    # The length first: Python refuses to convert very long digit strings.
    if len(digits) > len(str(most)) or int(digits, base) > most:
        return None
    return int(digits, base)


def quoted(word: str) -> str:
    """`word` as messages show it: in backticks, shortened, and with nothing unprintable in it."""
    short = word if len(word) <= 40 else f"{word[:30]}…"
    return "`" + "".join(c if c.isprintable() else f"U+{ord(c):04X}" for c in short) + "`"


def one_of(choices: Iterable[str]) -> str:
    """`a`, `a or b`, `a, b or c`."""
    *most, last = choices
    return f"{', '.join(most)} or {last}" if most else last


def suggestion(word: str, known: Iterable[str]) -> str:
    """`; did you mean …?` if one of the known words is close, else nothing."""
    if len(word) > 40:
        return ""
    from difflib import get_close_matches

    known = list(known)
    lower = [name for name in known if name.lower() == word.lower()]
    close = lower or get_close_matches(word, known, n=1)
    return f"; did you mean {quoted(close[0])}?" if close else ""
