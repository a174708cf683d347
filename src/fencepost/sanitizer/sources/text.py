"""The text of a source file as bytes, and edits of it: line endings, a byte order mark and all else stay.

Offsets and columns of compilers count bytes; columns of people count characters. A patch is a set of edits
that do not overlap.
"""

from __future__ import annotations

import difflib
import os
from bisect import bisect_right
from collections.abc import Collection, Iterable
from functools import cached_property
from typing import NamedTuple

from fencepost.verdicts.patches import Replacement

_BLANK = b" \t"


class Edit(NamedTuple):
    """Bytes from `start` to `end` become `text`. Of insertions at one place, lower `rank` comes first."""

    start: int
    end: int
    text: str
    rank: int = 0


class SourceText:
    """A source file."""

    def __init__(self, path: str, content: bytes) -> None:
        self.path = path
        self.content = content

    @cached_property
    def _starts(self) -> list[int]:
        starts = [0]
        at = self.content.find(b"\n")
        while at >= 0:
            starts.append(at + 1)
            at = self.content.find(b"\n", at + 1)
        return starts

    @cached_property
    def newline(self) -> str:
        return "\r\n" if b"\r\n" in self.content else "\n"

    @cached_property
    def indentation(self) -> str:
        """One level of it: the least that a line begins with, of two blanks or more."""
        widths = set()
        for line in self.content.split(b"\n"):
            if line.startswith(b"\t"):
                return "\t"
            rest = line.lstrip(b" ")
            if rest.strip() and not rest.startswith(b"*"):
                widths.add(len(line) - len(rest))
        return " " * min((width for width in widths if width >= 2), default=4)

    def offset(self, line: int, column: int) -> int:
        """Of a line and a column in bytes, both from 1."""
        start = self._starts[line - 1] + column - 1
        return start + 3 if line == 1 and self.content.startswith(b"\xef\xbb\xbf") else start

    @property
    def lines(self) -> int:
        return len(self._starts)

    def line_of(self, offset: int) -> int:
        return bisect_right(self._starts, offset)

    def line_start(self, offset: int) -> int:
        return self._starts[self.line_of(offset) - 1]

    def line_end(self, offset: int) -> int:
        """Where the line ends, before its line break."""
        at = self.content.find(b"\n", offset)
        end = len(self.content) if at < 0 else at
        return end - 1 if end > offset and self.content[end - 1 : end] == b"\r" else end

    def indentation_at(self, offset: int) -> str:
        line = self.content[self.line_start(offset) : offset]
        return line[: len(line) - len(line.lstrip(_BLANK))].decode("ascii")

    def first_of_line(self, offset: int) -> bool:
        return not self.content[self.line_start(offset) : offset].strip(_BLANK)

    def slice(self, start: int, end: int) -> str:
        return self.content[start:end].decode("utf-8", "surrogateescape")

    def _position(self, offset: int) -> tuple[int, int]:
        """Line and column, in characters."""
        start = self.line_start(offset)
        return self.line_of(offset), len(self.slice(start, offset).removeprefix("\ufeff")) + 1

    def edited(self, edits: Iterable[Edit]) -> bytes:
        parts: list[bytes] = []
        done = 0
        for edit in in_order(edits):
            parts += [self.content[done : edit.start], edit.text.encode("utf-8", "surrogateescape")]
            done = edit.end
        return b"".join([*parts, self.content[done:]])

    def replacements(self, edits: Iterable[Edit]) -> list[Replacement]:
        """The edits, with insertions at one place put together."""
        found: list[Edit] = []
        for edit in in_order(edits):
            if found and found[-1].start == found[-1].end == edit.start:
                found[-1] = Edit(edit.start, edit.end, found[-1].text + edit.text)
            else:
                found.append(edit)
        return [
            Replacement(
                file=self.path,
                start_line=self._position(edit.start)[0],
                start_column=self._position(edit.start)[1],
                end_line=self._position(edit.end)[0],
                end_column=self._position(edit.end)[1],
                text=edit.text,
            )
            for edit in found
        ]


def in_order(edits: Iterable[Edit]) -> list[Edit]:
    """By place; insertions come before what replaces the text behind them."""
    return sorted(set(edits), key=lambda edit: (edit.start, edit.end > edit.start, edit.rank))


def overlap(edits: Collection[Edit]) -> bool:
    done = -1
    for edit in in_order(edits):
        if edit.start < done:
            return True
        done = edit.end
    return False


def unified_diff(path: str, old: bytes, new: bytes) -> str:
    """As `diff -u` prints it, with the path from the working directory where the file lies in it."""
    name = os.path.relpath(path)
    shown = path if name.startswith("..") else name
    lines = difflib.diff_bytes(
        difflib.unified_diff,
        _lines(old),
        _lines(new),
        b"a/" + os.fsencode(shown.lstrip("/")),
        b"b/" + os.fsencode(shown.lstrip("/")),
    )
    text = b"".join(
        line if line.endswith(b"\n") else line + b"\n\\ No newline at end of file\n" for line in lines
    )
    return text.decode("utf-8", "replace")


def _lines(content: bytes) -> list[bytes]:
    *whole, rest = content.split(b"\n")
    return [*(line + b"\n" for line in whole), *((rest,) if rest else ())]
