"""Which characters of a user's file may be shown as they are, and how much room a text takes on a terminal.

Names, statements and paths come from files that anyone may have written. Every face passes them through
`printable`, so no escape sequence, line break or direction override reaches a terminal or a page. Escaping
for XML is left to the faces that write XML.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence

_QUOTATIONS_AND_PLACES = re.compile(r"`[^`]*`|\(line \d+\)|, line \d+")
_LONGEST_UNBROKEN = 42
_BLANKS = re.compile(r"[ \t\r\n]+")
_ELLIPSIS = "…"


def printable(text: str) -> str:
    """`text` on one line, every character that is not plainly visible spelled as a C escape."""
    if not text.isprintable():
        text = "".join(c if c.isprintable() else _spelled(c) for c in _BLANKS.sub(" ", text))
    return text


def counted(number: int, what: str) -> str:
    """`1 state`, `2,000 states`."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def columns(text: str) -> int:
    """The number of terminal columns `text` takes."""
    if text.isascii():
        return len(text)
    from unicodedata import combining, east_asian_width

    return sum(0 if combining(c) else 2 if east_asian_width(c) in "WF" else 1 for c in text)


def clip(text: str, room: int) -> str:
    """`text` if it takes at most `room` columns, else its beginning and an ellipsis."""
    if columns(text) <= room:
        return text
    while text and columns(text) > room - 1:
        text = text[:-1]
    return text.rstrip() + _ELLIPSIS


def pad(text: str, room: int) -> str:
    """`text` followed by blanks up to `room` columns."""
    return text + " " * (room - columns(text))


def aligned(*parts: Sequence[str]) -> Iterator[str]:
    """Rows of the cells of each part, one part below the other; the last one is not padded."""
    widths = [max(map(columns, part)) for part in parts[:-1]]
    for *cells, last in zip(*parts, strict=True):
        yield "  ".join([*(pad(cell, wide) for cell, wide in zip(cells, widths, strict=True)), last])


def paragraph(text: str, room: int) -> list[str]:
    """Printable `text` as lines of at most `room` columns; short quotations are not broken."""
    lines = textwrap.wrap(_QUOTATIONS_AND_PLACES.sub(_unbroken, text), room, break_on_hyphens=False)
    return [line.replace("\xa0", " ") for line in lines]


def _unbroken(found: re.Match[str]) -> str:
    return found[0].replace(" ", "\xa0") if len(found[0]) <= _LONGEST_UNBROKEN else found[0]


def _spelled(c: str) -> str:
    code = ord(c)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
