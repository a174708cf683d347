"""What turns these pages into a site: MkDocs calls the functions whose names start with `on_`.

The pages are written for a code host, where README.md is the start, links lead to any file of the repository,
and a fence names the file that it shows. Here README.md becomes the first page, and every file that is linked
a page of its own under `repository/`. Two pages are made: the gallery of litmus tests, with tables that
fencepost computes meanwhile, and the reference of the Python API.
"""

from __future__ import annotations

import posixpath
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

import fencepost

sys.path.insert(0, str(Path(__file__).parent))
from gallery import gallery

ROOT = Path(__file__).parents[2]
# Pages that stand outside of `docs`, by their place in the repository.
_MOVED = {"README.md": "index.md", "CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}
_PICTURES = (".svg", ".png")
# Tables of outcomes have many narrow columns.
_STYLE = ".md-typeset table:not([class]) :is(th, td) { min-width: 0; padding: 0.4em 0.8em; }\n"

_LINK = re.compile(r"(!?\[[^]]*\]\()([^)\s]+)(\))")
_CODE = re.compile(r"(`+)[^`]+\1")
_FENCE = re.compile(r"^(\s*)(```+)\s*([\w+-]*) *(.*)$")
_COLOURED_AS = {"tpl": "c", "litmus": "c", "output": "text"}


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Pages that `nav` does not name stand below the others."""
    assert config.nav is not None
    named = set(re.findall(r"[\w/-]+\.md", str(config.nav)))
    pages = {page.relative_to(ROOT / "docs").as_posix() for page in (ROOT / "docs").rglob("*.md")}
    if pages - named:
        config.nav.append({"More": sorted(pages - named)})
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds the pages that are not in `docs`."""
    texts = {f"docs/{file.src_uri}": _text(f"docs/{file.src_uri}") for file in files.documentation_pages()}
    texts |= {name: _text(name) for name in _MOVED}
    waiting = list(texts)
    while waiting:
        name = waiting.pop()
        for target in _linked(name, texts[name]):
            if _in_site(target) not in {_in_site(known) for known in texts} and not target.startswith(
                "docs/"
            ):
                texts[target] = "" if target.endswith(_PICTURES) else _page_of(target)
                waiting.append(target)
    for name, text in texts.items():
        if name.endswith(_PICTURES):
            files.append(File.generated(config, _in_site(name), content=(ROOT / name).read_bytes()))
        elif not name.startswith("docs/"):
            files.append(File.generated(config, _in_site(name), content=text))
    files.append(File.generated(config, "tables.css", content=_STYLE))
    files.append(File.generated(config, "gallery.md", content=gallery(ROOT)))
    files.append(File.generated(config, "api.md", content=_api()))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """The page with links that lead to pages of the site, and fences as MkDocs reads them."""
    here = page.file.src_uri
    if here in ("gallery.md", "api.md"):
        return markdown
    name = _in_repository(here)

    def changed(link: re.Match[str]) -> str:
        target, hash_, anchor = link[2].partition("#")
        if ":" in target or not target:
            return link[0]
        there = _in_site(posixpath.normpath(posixpath.join(posixpath.dirname(name), target)))
        return f"{link[1]}{posixpath.relpath(there, posixpath.dirname(here) or '.')}{hash_}{anchor}{link[3]}"

    lines, fence = [], ""
    for line in markdown.split("\n"):
        found = _FENCE.match(line)
        if found is not None and not fence:
            indent, fence, language, title = found.groups()
            language = _COLOURED_AS.get(language, language)
            lines.append(f"{indent}{fence}{language or 'text'}" + (f' title="{title}"' if title else ""))
            continue
        if fence and line.strip() == fence:
            fence = ""
        lines.append(line if fence else _outside_of_code(line, changed))
    return "\n".join(lines)


def _outside_of_code(line: str, changed: Callable[[re.Match[str]], str]) -> str:
    """The line with its links changed, but not those in backquotes."""
    parts, end = [], 0
    for code in _CODE.finditer(line):
        if "](" in code[0]:  # else a link may have code in its text
            parts += [_LINK.sub(changed, line[end : code.start()]), code[0]]
            end = code.end()
    return "".join([*parts, _LINK.sub(changed, line[end:])])


def _text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def _linked(name: str, text: str) -> Iterator[str]:
    """The files of the repository to which a page has links, by their place in it."""
    for link in _LINK.finditer(text) if name.endswith(".md") else ():
        target = link[2].partition("#")[0]
        place = posixpath.normpath(posixpath.join(posixpath.dirname(name), target))
        if target and ":" not in target and (ROOT / place).exists():
            yield f"{place}/README.md" if (ROOT / place / "README.md").exists() else place


def _page_of(name: str) -> str:
    """A page that shows a file, or the names of the files in a folder."""
    path = ROOT / name
    if path.is_dir():
        names = sorted(each.name for each in path.iterdir() if not each.name.startswith((".", "__")))
        return "\n".join([f"# {name}", "", *(f"- `{each}`" for each in names), ""])
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        return text
    language = {".tpl": "tpl", ".litmus": "litmus", ".c": "c", ".cpp": "cpp"}.get(path.suffix, "text")
    return f"# {path.name}\n\n````{language} {name}\n{text}````\n"


def _in_site(name: str) -> str:
    """Where a file of the repository is in the site."""
    if name in _MOVED:
        return _MOVED[name]
    if name.startswith("docs/"):
        return name.removeprefix("docs/")
    if name.endswith(_PICTURES):
        return f"repository/{name}"
    path = ROOT / name
    stem = name.removesuffix("/README.md").removesuffix(".md")
    return f"repository/{stem}.md" if path.suffix == ".md" or path.is_dir() else f"repository/{name}.md"


def _in_repository(uri: str) -> str:
    """The place of the text of a page; links in it start from there."""
    for name, moved in _MOVED.items():
        if uri == moved:
            return name
    if not uri.startswith("repository/"):
        return f"docs/{uri}"
    name = uri.removeprefix("repository/").removesuffix(".md")
    return f"{name}/README.md" if (ROOT / name).is_dir() else name


def _api() -> str:
    """The names that `import fencepost` has, with what their docstrings say."""
    lines = [
        "# Python API: reference",
        "",
        "All names that `fencepost` exports. [The Python API](python.md) shows how to use them.",
        "",
    ]
    for name in fencepost.__all__:
        value = getattr(fencepost, name)
        lines += [f"::: {value.__module__}.{value.__qualname__}", ""]
    return "\n".join(lines)
