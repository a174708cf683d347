"""The pictures of the pages: what they are to show is on the screen.

`FENCEPOST_UPDATE_DOCS=1 pytest tests/playground/test_pictures.py` takes them anew; look at them before
committing.
"""

from __future__ import annotations

import os
from pathlib import Path

import fencepost
from fencepost.formats.tpl import read
from fencepost.report.html.page import page as report_page

from .browsing import open_example, visit, wait_for_answer, wait_for_text

ROOT = Path(__file__).parents[2]


def take(page, name, tmp_path):
    page.set_viewport_size({"width": 1440, "height": 1130})
    folder = ROOT / "docs" / "pictures" if os.environ.get("FENCEPOST_UPDATE_DOCS") else tmp_path
    page.screenshot(path=folder / name)
    assert (folder / name).stat().st_size > 20_000


def test_the_playground(page, tmp_path):
    open_example(page, "peterson")
    wait_for_text(page, "#editor", "Peterson")
    wait_for_answer(page)
    page.click("[aria-label='One step back']")
    page.evaluate("document.activeElement.blur()")
    page.mouse.move(0, 0)
    assert page.locator("#answer svg").first.is_visible()
    assert page.locator("#editor .mark").count() >= 2
    take(page, "playground.png", tmp_path)


def test_the_page_of_an_answer(browser, tmp_path):
    path = ROOT / "examples" / "tutorial" / "peterson.tpl"
    program = read(path.read_text(encoding="utf-8"), path.name)
    file = tmp_path / "report.html"
    file.write_text(report_page(fencepost.persist(program), program), encoding="utf-8")
    with visit(browser, file.as_uri(), "dark") as page:
        page.set_viewport_size({"width": 1440, "height": 1130})
        page.click("[aria-label='One step back']")
        page.focus("svg .edge[data-relations=fr]")
        wait_for_text(page, ".fp-tip", "from-reads")
        take(page, "report.png", tmp_path)
