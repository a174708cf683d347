"""Compare a rendering with the one kept in `snapshots/`, which has a folder for each face.

`FENCEPOST_UPDATE_SNAPSHOTS=1 pytest tests/report` writes the files anew; look at the diff before committing.
"""

from __future__ import annotations

import os
from difflib import unified_diff
from pathlib import Path

SNAPSHOTS = Path(__file__).parent / "snapshots"


def assert_matches(name: str, text: str) -> None:
    file = SNAPSHOTS / name
    if os.environ.get("FENCEPOST_UPDATE_SNAPSHOTS"):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    kept = file.read_text(encoding="utf-8") if file.exists() else ""
    diff = unified_diff(kept.splitlines(), text.splitlines(), "kept", "now", lineterm="")
    assert kept == text, f"{name} has changed:\n" + "\n".join(diff)
