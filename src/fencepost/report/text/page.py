"""The terminal page that a report is written on: its width, its colours, and how much is shown."""

from __future__ import annotations

import msgspec

from fencepost.report.printable import paragraph

NARROWEST = 60
INDENT = "  "

_COLORS = {
    "bold": "1",
    "dim": "2",
    "good": "1;32",
    "bad": "1;31",
    "warn": "1;33",
    "open": "1;33",
    "thread": "36",
    "po": "2",
    "rf": "32",
    "mo": "33",
    "fr": "31",
    "so": "35",
    "+": "32",
    "-": "31",
    "@": "36",
}


class Page(msgspec.Struct, frozen=True):
    width: int
    color: bool
    verbose: bool = False

    def paint(self, text: str, style: str) -> str:
        return f"\x1b[{_COLORS[style]}m{text}\x1b[0m" if self.color and text else text

    def wrapped(self, text: str, indent: str = INDENT) -> str:
        return "\n".join(indent + line for line in paragraph(text, self.width - len(indent)))


def page_of(*, color: bool, width: int, verbose: bool = False) -> Page:
    """A page of at least the width that reports need."""
    return Page(max(width, NARROWEST), color, verbose)
