"""axe-core, which looks for what shuts people out of a page: a tool of the tests, fetched from npm.

It is held against the hash below and kept by pytest. Tests that need it are skipped if npm's registry cannot
be reached.
"""

from __future__ import annotations

import importlib.util
import io
import tarfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Page

_VERSION = "4.14.0"
_INTEGRITY = "sha512-9WTZxEjsZ7b13TH8JPmbV2z8CHbl80/2hm3XPEG4JgNdQLK81IBRXmSxHfMAOkSqQeRxT/0dwNDz2GOm3zzpcQ=="
_SERIOUS = ("serious", "critical")
_BUNDLE = Path(__file__).parents[2] / "editor" / "bundle.py"


def script(cache: pytest.Cache) -> str:
    kept = cache.mkdir("axe") / f"{_VERSION}.js"
    if not kept.exists():
        kept.write_text(_fetched(), encoding="utf-8")
    return kept.read_text(encoding="utf-8")


def _fetched() -> str:
    spec = importlib.util.spec_from_file_location("bundle", _BUNDLE)
    assert spec is not None
    assert spec.loader is not None
    bundle = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(bundle)
    try:
        content = bundle.fetched(bundle.Package("axe-core", _VERSION, _INTEGRITY))
    except SystemExit as end:
        if end.code != 2:
            raise
        pytest.skip("npm's registry cannot be reached, so there is no axe-core")
    with tarfile.open(fileobj=io.BytesIO(content)) as archive:
        member = archive.extractfile("package/axe.min.js")
        assert member is not None
        return member.read().decode()


def violations(page: Page, axe: str) -> list[str]:
    """What axe finds that is serious, with the elements."""
    page.evaluate(axe)
    found: dict[str, Any] = page.evaluate("axe.run(document, { resultTypes: ['violations'] })")
    return [
        f"{one['id']}: {one['help']}: {node['target']} {node.get('failureSummary', '')}"
        for one in found["violations"]
        if one["impact"] in _SERIOUS
        for node in one["nodes"]
    ]
