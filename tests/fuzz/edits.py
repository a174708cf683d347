"""Changes to an example: a few edits, each four numbers, so that a program that wants to find mistakes can
choose them as well as Hypothesis."""

from __future__ import annotations

import re
from collections.abc import Sequence

Edit = tuple[int, int, int, int]  # what, where, how long, and with what

# Sooner or later somebody writes such things.
STRANGE = [
    b"",
    b"\x00",
    b"\xff\xfe",
    "\u2028é😀".encode(),
    b"-1",
    b"99999999999999999999999",
    b"1e999",
    b"null",
    b"[[[[",
    b"((((((((",
    b"{}",
    b'"',
    b"/*",
    b"\n",
    b"\r",
    b"*",
    b"%s",
    b"0x",
]
_TOKEN = re.compile(rb"\w+|\s+|.", re.DOTALL)


def edited(example: bytes, edits: Sequence[Edit]) -> bytes:
    """The example with parts of it taken out, doubled, put elsewhere, or replaced."""
    parts = _TOKEN.findall(example)
    for what, where, length, other in edits:
        at = where % (len(parts) + 1)
        end = min(at + 1 + length % 8, len(parts))
        match what % 8:
            case 0:
                del parts[at:end]
            case 1:
                parts[at:at] = parts[at:end]
            case 2:
                there = other % (len(parts) + 1)
                parts[at:at] = parts[there : there + 1 + length % 8]
            case 3:
                parts[at:end] = [STRANGE[other % len(STRANGE)]]
            case 4:
                parts[at:end] = [parts[other % len(parts)]] if parts else []
            case 5:  # one byte
                text = b"".join(parts)
                place = where % (len(text) + 1)
                parts = _TOKEN.findall(text[:place] + bytes([other % 256]) + text[place + 1 :])
            case 6:
                parts[at:at] = parts[at:end] * (1 + other % 50)
            case _:
                del parts[at:]
    return b"".join(parts)
