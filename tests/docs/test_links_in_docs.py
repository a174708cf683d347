"""Links between pages lead somewhere, and files that the pages name are there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.docs.pages import PAGES, ROOT, anchors, code_words, links, name_of

_FOLDERS = ("src", "native", "tests", "examples", "docs", "benchmarks")
_FILE = re.compile(rf"(?:{'|'.join(_FOLDERS)})/[\w./+-]*\w")


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page: Path) -> None:
    dead = [link for link in links(page) if not leads_somewhere(page, link)]
    assert not dead


def leads_somewhere(page: Path, link: str) -> bool:
    if link.startswith(("https://", "http://")):
        return True
    path, _, anchor = link.partition("#")
    target = page.parent / path if path else page
    if not target.exists():
        return False
    return not anchor or (target.suffix == ".md" and anchor in anchors(target))


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_files_that_are_named_exist(page: Path) -> None:
    named = [word for word in code_words(page) if _FILE.fullmatch(word)]
    missing = [word for word in named if not (ROOT / word).exists()]
    assert not missing


def test_every_page_can_be_reached_from_the_readme() -> None:
    start = ROOT / "README.md"
    reached, open_pages = {start}, [start]
    while open_pages:
        page = open_pages.pop()
        for link in links(page):
            target = (page.parent / link.partition("#")[0]).resolve()
            if target in PAGES and target not in reached:
                reached.add(target)
                open_pages.append(target)
    assert {name_of(page) for page in PAGES} == {name_of(page) for page in reached}
