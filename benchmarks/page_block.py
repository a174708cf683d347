"""Where a benchmark writes into a page: between two comments with its name, which the page has already."""

from __future__ import annotations

import re
from pathlib import Path


def write(page: Path, name: str, text: str) -> None:
    """Puts `text` between `<!-- name -->` and `<!-- end of name -->`."""
    first, last = f"<!-- {name} -->", f"<!-- end of {name} -->"
    block = re.compile(f"{re.escape(first)}\n.*?{re.escape(last)}", re.DOTALL)
    replaced, count = block.subn(lambda _: f"{first}\n\n{text.strip()}\n\n{last}", page.read_text("utf-8"))
    if count != 1:
        raise ValueError(f"{page} has {count} blocks `{name}`, not one")
    page.write_text(replaced, encoding="utf-8")
