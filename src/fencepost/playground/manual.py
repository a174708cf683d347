"""The documentation as pages of the playground, so that its links work without a network.

The texts are fencepost's own, in Markdown, and are read once. Links among them stay links, links to other
files of the repository become plain text.
"""

from __future__ import annotations

import posixpath
import re
from html import escape
from pathlib import Path

from markdown_it import MarkdownIt

_LINK = re.compile(r'<a href="([^"]*)">(.*?)</a>', re.DOTALL)
_HEADING = re.compile(r"<h([23])>(.*?)</h\1>", re.DOTALL)
_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title} · fencepost</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/assets/report.css">
<link rel="stylesheet" href="/assets/manual.css">
<script src="/assets/theme.js"></script>
</head>
<body>
<nav><a href="/">Playground</a> <a href="/docs/tutorial">Tutorial</a> <a href="/docs/commands">Commands</a>
<a href="/docs/tpl">TPL</a> <a href="/docs/litmus">Litmus tests</a></nav>
<main>
{body}
</main>
</body>
</html>
"""


def pages() -> dict[str, str]:
    """By name without an ending, every page as HTML."""
    known = {_name(path): path for path in sorted(_directory().rglob("*.md"))}
    return {name: _page(name, path.read_text(encoding="utf-8"), known) for name, path in known.items()}


def pictures() -> dict[str, bytes]:
    """By path below the documentation, its pictures."""
    found = (path for path in sorted(_directory().rglob("*")) if path.suffix in (".png", ".svg"))
    return {path.relative_to(_directory()).as_posix(): path.read_bytes() for path in found}


def _page(name: str, text: str, known: dict[str, Path]) -> str:
    body = MarkdownIt("commonmark", {"html": False}).enable("table").render(text)
    folder = posixpath.dirname(name)

    def link(found: re.Match[str]) -> str:
        target, _, place = found[1].partition("#")
        if target.startswith(("http://", "https://")):
            return f'<a href="{found[1]}" rel="noopener">{found[2]}</a>'
        page = posixpath.normpath(posixpath.join(folder, target)).removesuffix(".md") if target else name
        return f'<a href="/docs/{page}#{place}">{found[2]}</a>' if page in known else found[2]

    def heading(found: re.Match[str]) -> str:
        words = re.sub(r"<[^>]*>|&\w+;", "", found[2]).lower()
        place = re.sub(r"[^\w -]", "", words).strip().replace(" ", "-")
        return f'<h{found[1]} id="{escape(place)}">{found[2]}</h{found[1]}>'

    body = _HEADING.sub(heading, _LINK.sub(link, body))
    body = body.replace('<img src="', f'<img src="/docs/{folder}/' if folder else '<img src="/docs/')
    body = body.replace("<pre>", '<pre tabindex="0">')  # which may be wider than the window
    title = text.partition("\n")[0].lstrip("# ")
    return _PAGE.format(title=escape(title), body=body)


def _name(path: Path) -> str:
    return path.relative_to(_directory()).as_posix().removesuffix(".md")


def _directory() -> Path:
    """Beside this module in an installed package, else in the repository."""
    installed = Path(__file__).parent / "docs"
    return installed if installed.is_dir() else Path(__file__).parents[3] / "docs"
