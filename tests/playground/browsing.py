"""A headless Chromium for tests; they are skipped where there is none."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
LONGEST_WAIT = 120_000  # milliseconds; only for tests that would not end otherwise


@contextmanager
def chromium() -> Iterator[Browser]:
    playwright = pytest.importorskip("playwright.sync_api")
    if CHROMIUM is None:
        pytest.skip("there is no Chromium")
    with playwright.sync_playwright() as started:
        # Its sandbox does not work for root.
        arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = started.chromium.launch(executable_path=CHROMIUM, args=arguments)
        try:
            yield browser
        finally:
            browser.close()


WIDE, TABLET, PHONE = (1440, 900), (1024, 768), (390, 844)


@contextmanager
def visit(browser: Browser, url: str, scheme: str = "light", size: tuple[int, int] = WIDE) -> Iterator[Page]:
    """A page whose scripts fail nowhere, that breaks no policy, opens no dialog, and asks nobody else."""
    page = browser.new_page(color_scheme=scheme, viewport={"width": size[0], "height": size[1]})
    page.set_default_timeout(LONGEST_WAIT)
    wrong: list[str] = []
    page.on("console", lambda message: message.type == "error" and wrong.append(message.text))
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("dialog", lambda dialog: wrong.append(f"dialog: {dialog.message}"))
    own = url.partition("#")[0]
    page.on("request", lambda asked: asked.url.startswith((own, "data:", "blob:")) or wrong.append(asked.url))
    try:
        page.goto(url)
        yield page
        assert not wrong, wrong
    finally:
        page.close()


def write(page: Page, text: str) -> None:
    """Put another program in place of the one that is there.

    Chromium would give text typed over a selection the style of that, which the policy does not let it do;
    the editor does not care, but the message would count as an error.
    """
    page.click(".cm-content")
    page.keyboard.press("Control+A")
    page.keyboard.press("Delete")
    page.keyboard.insert_text(text)


def text_of(page: Page) -> str:
    return "\n".join(line.inner_text().rstrip("\n") for line in page.query_selector_all("#editor .cm-line"))


def ask(page: Page) -> str:
    """The verdict about the program as it is now."""
    page.click("#ask")
    return wait_for_answer(page)


def wait_for_answer(page: Page) -> str:
    page.wait_for_selector("body[data-busy=no][data-current=yes] #answer .fp-verdict")
    return page.inner_text("#answer .fp-verdict >> nth=0").lower()


def wait_for_text(page: Page, selector: str, text: str) -> None:
    page.locator(selector, has_text=text).first.wait_for()


def open_example(page: Page, name: str) -> None:
    page.click("#examples")
    page.locator("#gallery-list button:has(b:text-is('" + name + "'))").first.click()
