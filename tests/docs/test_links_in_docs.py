"""Links between pages lead somewhere, files that the pages name exist, and names beside a file stand in it.

A back-quoted identifier stands beside a file if the text has one of these forms, in one line:

    `name` in `file`        also `name` of `file`, and lists of names: `name`, `name` and `name` in `file`
    `file`, `name`          also `file`: `name`
    `file` (`name`, `name`)
    | `file` | … `name` … | a table row whose first cell names files: any of them may have the name

A file is a path from the root of the repository, or the name of a source file in it; a folder stands for the
files in it. Of a name with dots or `::` every part must occur.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.docs.pages import PAGES, READMES, ROOT, anchors, code_words, links, name_of, prose

_FOLDERS = ("src", "native", "tests", "examples", "docs", "benchmarks", "editor")
_PATH = rf"(?:{'|'.join(_FOLDERS)})/[\w./+-]*\w"
_SOURCE_NAME = r"\w+\.(?:py|pyi|hpp|cpp)"
_FILE = re.compile(rf"{_PATH}|{_SOURCE_NAME}")
_NAME = r"[A-Za-z_]\w*(?:(?:\.|::)\w+)*(?:\([^`]*\))?"
_NAMES = rf"`{_NAME}`(?:(?:, | and |, and )`{_NAME}`)*"
_BESIDE = [
    re.compile(rf"(?P<names>{_NAMES}) (?:in|of) `(?P<file>{_FILE.pattern})`"),
    re.compile(rf"`(?P<file>{_FILE.pattern})`[,:] (?P<names>`{_NAME}`)(?! (?:in|of) `)"),
    re.compile(rf"`(?P<file>{_FILE.pattern})` \((?P<names>{_NAMES})\)"),
]
_CODE = re.compile(r"`([^`]+)`")


@pytest.mark.parametrize("page", [*PAGES, *READMES], ids=name_of)
def test_links_lead_somewhere(page: Path) -> None:
    dead = [link for link in links(page) if not leads_somewhere(page, link)]
    assert not dead


def leads_somewhere(page: Path, link: str) -> bool:
    if link.startswith(("https://", "http://")):
        return True
    path, _, anchor = link.partition("#")
    target = page.parent / path if path else page
    if not target.exists():
        return False
    return not anchor or (target.suffix == ".md" and anchor in anchors(target))


@pytest.mark.parametrize("page", [*PAGES, *READMES], ids=name_of)
def test_files_that_are_named_exist(page: Path) -> None:
    named = [word for word in code_words(page) if _FILE.fullmatch(word)]
    missing = [word for word in named if not (ROOT / word).exists() and not files(word)]
    assert not missing


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_names_beside_a_file_are_in_it(page: Path) -> None:
    wrong = [
        f"{name} is not in {', '.join(paths)}"
        for line in prose(page).splitlines()
        for name, paths in names_beside_files(line)
        if not any(occurs(name, path) for path in paths)
    ]
    assert not wrong


def names_beside_files(line: str) -> Iterator[tuple[str, list[str]]]:
    for form in _BESIDE:
        for match in form.finditer(line):
            for name in _CODE.findall(match["names"]):
                if not _FILE.fullmatch(name):
                    yield name, [match["file"]]
    if line.startswith("| `"):
        first, _, rest = line[1:].partition(" | ")
        paths = [word for word in _CODE.findall(first) if _FILE.fullmatch(word)]
        for name in _CODE.findall(rest):
            if paths and re.fullmatch(_NAME, name) and not _FILE.fullmatch(name):
                yield name, paths


def occurs(name: str, path: str) -> bool:
    """Whether every part of the name is a word of the file, or of one file in the folder."""
    parts = re.findall(r"\w+", name.partition("(")[0])
    return any(all(re.search(rf"\b{part}\b", text) for part in parts) for text in map(text_of, files(path)))


@cache
def files(named: str) -> list[Path]:
    """The files of a folder, or those with this path or name."""
    path = ROOT / named
    if path.is_dir():
        return [child for child in path.rglob("*") if child.suffix in (".py", ".hpp", ".cpp")]
    if "/" in named:
        return [path] if path.exists() else []
    return [found for folder in _FOLDERS for found in (ROOT / folder).rglob(named)]


@cache
def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def test_what_stands_beside_a_file() -> None:
    line = "`first` and `Second.third(x)` in `src/fencepost/errors.py`; `tso.cpp`, `fourth`; `other` word"
    assert list(names_beside_files(line)) == [
        ("first", ["src/fencepost/errors.py"]),
        ("Second.third(x)", ["src/fencepost/errors.py"]),
        ("fourth", ["tso.cpp"]),
    ]
    line = "`first` in `errors.py`, `second` in `tso.cpp`"
    assert list(names_beside_files(line)) == [("first", ["errors.py"]), ("second", ["tso.cpp"])]
    assert list(names_beside_files("| `a.hpp`, `b.hpp` | the class `C` |")) == [("C", ["a.hpp", "b.hpp"])]
    assert list(names_beside_files("`unknown` stands far from `src/fencepost/errors.py`")) == []
    assert occurs("InputError", "src/fencepost/errors.py")
    assert not occurs("OutputError", "src/fencepost/errors.py")


def test_every_page_can_be_reached_from_the_readme() -> None:
    start = ROOT / "README.md"
    reached, open_pages = {start}, [start]
    while open_pages:
        page = open_pages.pop()
        for link in links(page):
            target = (page.parent / link.partition("#")[0]).resolve()
            if target in PAGES and target not in reached:
                reached.add(target)
                open_pages.append(target)
    assert {name_of(page) for page in PAGES} == {name_of(page) for page in reached}
