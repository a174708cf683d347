"""The pictures of the pages: what they are to show is on the screen.

`FENCEPOST_UPDATE_DOCS=1 pytest tests/playground/test_pictures.py` takes them anew; look at them before
committing.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import fencepost
from fencepost.formats.tpl import read
from fencepost.report.html.page import page as report_page

from .browsing import chromium, visit

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def browser():
    with chromium() as started:
        yield started


def take(page, name, tmp_path):
    page.set_viewport_size({"width": 1400, "height": 1130})
    folder = ROOT / "docs" / "pictures" if os.environ.get("FENCEPOST_UPDATE_DOCS") else tmp_path
    page.screenshot(path=folder / name)
    assert (folder / name).stat().st_size > 20_000


def test_the_playground(browser, serving, tmp_path):
    with visit(browser, serving.url) as page:
        page.wait_for_selector("body[data-ready=yes]")
        page.select_option("#example", label="peterson")
        page.locator("#editor", has_text="Peterson").wait_for()
        page.click("#ask")
        page.wait_for_selector("#answer svg")
        page.click("[aria-label='One step back']")
        page.click("[aria-label='One step on']")
        assert page.locator("#answer svg").is_visible()
        take(page, "playground.png", tmp_path)


def test_the_page_of_an_answer(browser, tmp_path):
    path = ROOT / "examples" / "tutorial" / "peterson.tpl"
    program = read(path.read_text(encoding="utf-8"), path.name)
    file = tmp_path / "report.html"
    file.write_text(report_page(fencepost.persist(program), program), encoding="utf-8")
    with visit(browser, file.as_uri(), "dark") as page:
        page.click("[aria-label='One step back']")
        page.focus("svg .edge[data-relations=fr]")
        assert "from-reads" in page.inner_text("figcaption")
        take(page, "report.png", tmp_path)
