"""The parser's tables are kept between starts, and nothing depends on their being there."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from fencepost.formats import tpl
from fencepost.formats.text import tables as parser_tables
from fencepost.formats.tpl import parser as tpl_parser

TEXT = "global x; fn w { local r; if (r) { x.store(r + 1); } }"


@pytest.fixture(autouse=True)
def cache_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    tpl_parser._parser.cache_clear()
    yield tmp_path / "fencepost"
    tpl_parser._parser.cache_clear()


def kept(directory: Path) -> list[Path]:
    return list(directory.iterdir()) if directory.exists() else []


def test_tables_are_kept_and_used(cache_directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tpl.read(TEXT)
    assert len(kept(cache_directory)) == 1
    tpl_parser._parser.cache_clear()
    monkeypatch.setattr(parser_tables, "_save", None)  # would be called for new tables
    assert tpl.read(TEXT) == program


def test_mistakes_are_worded_alike_with_kept_tables() -> None:
    messages = []
    for _ in range(2):
        tpl_parser._parser.cache_clear()
        with pytest.raises(Exception, match="expected `;` after the statement") as caught:
            tpl.read("fn w { skip }")
        messages.append(str(caught.value))
    assert messages[0] == messages[1]


@pytest.mark.parametrize("content", [b"", b"garbage", b"x" * 100_000])
def test_damaged_tables_are_made_anew(cache_directory: Path, content: bytes) -> None:
    program = tpl.read(TEXT)
    (tables,) = kept(cache_directory)
    good = tables.read_bytes()
    for damaged in (content, good[:-10], good[:40] + bytes([good[40] ^ 1]) + good[41:]):
        tables.write_bytes(damaged)
        tpl_parser._parser.cache_clear()
        assert tpl.read(TEXT) == program
        assert tables.read_bytes() != damaged


def test_no_place_for_tables_is_no_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a directory")
    for base in (str(blocked), "relative/path"):
        monkeypatch.setenv("XDG_CACHE_HOME", base)
        tpl_parser._parser.cache_clear()
        assert tpl.read(TEXT).threads


def test_spelling_instructions_does_not_load_the_parser() -> None:
    program = "import sys, fencepost.formats.tpl; sys.exit('lark' in sys.modules)"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    assert subprocess.run([sys.executable, "-c", program], env=environment, check=False).returncode == 0
