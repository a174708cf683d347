"""The pages of the documentation as the tests see them: fenced blocks, headings, links."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "CHANGELOG.md",
    *sorted((ROOT / "docs").rglob("*.md")),
]
READMES = sorted((ROOT / "examples").rglob("README.md"))

_FENCE = re.compile(r"(```+|~~~+)\s*(.*)")
_LINK = re.compile(r"!?\[[^]]*\]\(([^)\s]+)\)")
_CODE = re.compile(r"`+([^`]+)`+")


class Block(NamedTuple):
    """A fenced block: what its first fence says, its lines, and where the first of them stands."""

    info: str
    lines: list[str]
    first_line: int

    def lines_in_page(self) -> slice:
        """Where its lines stand in the page, counted from 0."""
        return slice(self.first_line - 1, self.first_line - 1 + len(self.lines))


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def blocks(page: Path) -> Iterator[Block]:
    lines = page.read_text(encoding="utf-8").splitlines()
    number = 0
    while number < len(lines):
        opening = _FENCE.fullmatch(lines[number].strip())
        number += 1
        if opening is None:
            continue
        start = number
        while lines[number].strip() != opening[1]:
            number += 1
        yield Block(opening[2].strip(), lines[start:number], start + 1)
        number += 1


def prose(page: Path) -> str:
    """The page without its fenced blocks."""
    lines = page.read_text(encoding="utf-8").splitlines()
    for block in blocks(page):
        for number in range(block.first_line - 2, block.first_line + len(block.lines)):
            lines[number] = ""
    return "\n".join(lines)


def links(page: Path) -> list[str]:
    """Where the links and pictures of the page lead."""
    return _LINK.findall(_CODE.sub("", prose(page)))


def code_words(page: Path) -> list[str]:
    """What stands in backquotes outside fenced blocks."""
    return _CODE.findall(prose(page))


def anchors(page: Path) -> set[str]:
    """The names that a link can use for the headings of the page."""
    headings = re.findall(r"^#+ +(.*)$", prose(page), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}
