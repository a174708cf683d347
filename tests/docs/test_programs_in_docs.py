"""The programs that the documentation shows are programs.

A block `tpl FILE` shows that file, from its first line to its last; a block `tpl` is a program of its own whose
assertions hold.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from docs.pages import PAGES, ROOT, blocks, name_of
from holdfast import robust
from holdfast.formats.tpl import read

LISTINGS = {page: [block for block in blocks(page) if block.info.split()[:1] == ["tpl"]] for page in PAGES}


@pytest.mark.parametrize("page", [page for page in PAGES if LISTINGS[page]], ids=name_of)
def test_listings_are_programs(page: Path) -> None:
    for block in LISTINGS[page]:
        text = "\n".join(block.lines) + "\n"
        for file in block.info.split()[1:]:
            assert text == (ROOT / file).read_text(encoding="utf-8")
        program = read(text, f"{name_of(page)}:{block.first_line}")
        if block.info == "tpl":
            assert robust(program).assertion is None
