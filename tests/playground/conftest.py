from __future__ import annotations

from collections.abc import Iterator

import pytest

from .serving import Playground, playground

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")


@pytest.fixture(scope="module")
def serving() -> Iterator[Playground]:
    with playground("--timeout", "20", "--max-memory", "256", "--max-running", "3") as started:
        yield started
