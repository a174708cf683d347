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


@contextmanager
def visit(browser: Browser, url: str, scheme: str = "light") -> Iterator[Page]:
    """A page whose scripts fail nowhere, that breaks no policy, opens no dialog, and asks nobody else."""
    page = browser.new_page(color_scheme=scheme, viewport={"width": 1500, "height": 950})
    page.set_default_timeout(LONGEST_WAIT)
    wrong: list[str] = []
    page.on("console", lambda message: message.type == "error" and wrong.append(message.text))
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("dialog", lambda dialog: wrong.append(f"dialog: {dialog.message}"))
    own = url.partition("#")[0]
    page.on("request", lambda asked: asked.url.startswith((own, "data:")) or wrong.append(asked.url))
    try:
        page.goto(url)
        yield page
        assert not wrong, wrong
    finally:
        page.close()
