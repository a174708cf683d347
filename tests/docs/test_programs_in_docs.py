"""The programs that the documentation shows are programs.

A block `tpl FILE` shows that file, from its first line to its last. A block `tpl` is a program of its own,
whose assertions hold. `FENCEPOST_UPDATE_DOCS=1 pytest tests/docs` copies the files into the pages anew.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from fencepost import robust
from fencepost.formats.tpl import read
from tests.docs.pages import PAGES, ROOT, Block, blocks, name_of


def listings(page: Path) -> list[Block]:
    return [block for block in blocks(page) if block.info.split()[:1] == ["tpl"]]


@pytest.mark.parametrize("page", [page for page in PAGES if listings(page)], ids=name_of)
def test_listings_are_programs(page: Path) -> None:
    if os.environ.get("FENCEPOST_UPDATE_DOCS"):
        update(page)
    for block in listings(page):
        text = "\n".join(block.lines) + "\n"
        for file in block.info.split()[1:]:
            assert text == (ROOT / file).read_text(encoding="utf-8"), f"line {block.first_line} shows {file}"
        program = read(text, f"{name_of(page)}:{block.first_line}")
        if block.info == "tpl":
            assert robust(program).assertion is None


def update(page: Path) -> None:
    lines = page.read_text(encoding="utf-8").splitlines()
    for block in reversed(listings(page)):
        for file in block.info.split()[1:]:
            start = block.first_line - 1
            lines[start : start + len(block.lines)] = (ROOT / file).read_text(encoding="utf-8").splitlines()
    page.write_text("\n".join(lines) + "\n", encoding="utf-8")
