from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from .browsing import chromium, visit
from .serving import Playground, playground

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
pytest.importorskip("markdown_it")


@pytest.fixture(scope="module")
def serving() -> Iterator[Playground]:
    with playground("--timeout", "20", "--max-memory", "256", "--max-running", "3") as started:
        yield started


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with chromium() as started:
        yield started


@pytest.fixture
def page(browser: Browser, serving: Playground) -> Iterator[Page]:
    """The page as a new visitor sees it, with the answer about the first example."""
    with visit(browser, serving.url) as opened:
        opened.wait_for_selector("body[data-current=yes] #answer .fp-verdict")
        yield opened
