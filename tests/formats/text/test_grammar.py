"""The build makes the parser's tables; where they are missing or wrong, lark makes them in memory."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import fencepost.formats
from fencepost.formats.text.grammar import Grammar
from fencepost.formats.text.lalr import UnexpectedError

TEXT = "p0@cs && !(p1.r != 2 || p0@end)"
FORMATS = Path(fencepost.formats.__file__).parent
START = "from fencepost.cli.start import main; main()"
GRAMMARS = sorted(FORMATS.rglob("*.lark"))


def lines(grammar: Grammar, text: str) -> list[str]:
    """What the parser says about the text, in words that can be compared."""
    try:
        return [tree.data + " " + " ".join(tree.tokens()) for tree in grammar.tree(text).subtrees()]
    except UnexpectedError as error:
        return [error.token.type, str(error.token.start_pos), *sorted(error.accepts)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for file in ("formula.lark", "formula.tables.json"):
        shutil.copy(FORMATS / file, tmp_path)
    return tmp_path


@pytest.fixture
def without_lark(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "lark", None)


@pytest.mark.usefixtures("without_lark")
@pytest.mark.parametrize("grammar", GRAMMARS, ids=lambda path: path.stem)
def test_every_grammar_has_its_tables_beside_it(grammar: Path) -> None:
    lines(Grammar(str(grammar), grammar.stem), "anything")  # would import lark


@pytest.mark.parametrize("text", [TEXT, "", "p0@", "p0.r = 1", "p0@cs ?"])
@pytest.mark.parametrize("content", [None, b"", b"garbage", b'{"grammar": 1}', b"\xff" * 100])
def test_missing_and_damaged_tables_make_no_difference(
    folder: Path, content: bytes | None, text: str
) -> None:
    expected = lines(Grammar(str(folder / "formula.py"), "formula"), text)
    (folder / "formula.tables.json").unlink()
    if content is not None:
        (folder / "formula.tables.json").write_bytes(content)
    assert lines(Grammar(str(folder / "formula.py"), "formula"), text) == expected


def test_tables_of_another_grammar_are_not_used(folder: Path) -> None:
    (folder / "formula.lark").write_text('start: "never" "mind"\n%ignore " "\n')
    assert lines(Grammar(str(folder / "formula.py"), "formula"), "never mind") == ["start "]


@pytest.mark.parametrize("arguments", [["robust", "-q"], ["show"], ["show", "--to", "litmus"]])
def test_nothing_is_written_to_the_home_of_the_user(tmp_path: Path, arguments: list[str]) -> None:
    program = tmp_path / "program.tpl"
    program.write_text("global x; fn a { x.store(1); } fn b { local r; r = x.load(); }")
    home = tmp_path / "home"
    home.mkdir()
    environment = {name: value for name, value in os.environ.items() if not name.startswith("XDG_")}
    environment |= {"HOME": str(home), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-c", START, *arguments, str(program)]
    assert subprocess.run(command, env=environment, capture_output=True, check=False).returncode == 0
    assert not list(home.iterdir())


def test_reading_a_program_does_not_import_lark() -> None:
    reading = "import sys; from fencepost.formats import tpl; tpl.read('fn w { skip; }')"
    program = f"{reading}; sys.exit('lark' in sys.modules)"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    assert subprocess.run([sys.executable, "-c", program], env=environment, check=False).returncode == 0
