"""Compare a rendering with the one kept in `snapshots/`, which has a folder for each face.

The answers of one face are kept in one file: `pages` of text, or a `page_of` pictures to open in a browser.

`FENCEPOST_UPDATE_SNAPSHOTS=1 pytest tests/report` writes the files anew; look at the diff before committing.
"""

from __future__ import annotations

import os
from difflib import unified_diff
from pathlib import Path

SNAPSHOTS = Path(__file__).parent / "snapshots"


def pages(renderings: dict[str, str]) -> str:
    return "\n".join(f"======== {name}\n\n{text}" for name, text in renderings.items())


def page_of(renderings: dict[str, str]) -> str:
    headed = (f"<h2>{name}</h2>\n{html.rstrip()}\n" for name, html in renderings.items())
    return '<!doctype html>\n<meta charset="utf-8">\n' + "".join(headed)


def assert_matches(name: str, text: str) -> None:
    file = SNAPSHOTS / name
    if os.environ.get("FENCEPOST_UPDATE_SNAPSHOTS"):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    kept = file.read_text(encoding="utf-8") if file.exists() else ""
    diff = unified_diff(kept.splitlines(), text.splitlines(), "kept", "now", lineterm="")
    assert kept == text, f"{name} has changed:\n" + "\n".join(diff)
