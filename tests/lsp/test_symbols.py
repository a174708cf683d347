"""Where names are declared, and what is shown about words; also in texts that are no programs."""

import sys

import pytest
from click.testing import CliRunner

from fencepost.cli.main import main
from fencepost.formats.tpl.parser import KEYWORDS
from fencepost.lsp.hover import WORDS, meaning
from fencepost.lsp.problems import Place, mistakes, word_at
from fencepost.lsp.symbols import Symbols

TEXT = """max_value 3; // global hidden;
global x = 1, a[2] = {1, 2}, y;
na d;
track x: 0, 1;
fn t[2] {
    local r, s;
    top: r = a[s].load();
    if (r == x1) goto top;
}
fn u { local r; top: d.nastore(r); goto top; x.store(
"""


def test_all_declarations_are_found():
    found = [(symbol.kind, symbol.word.text, symbol.word.line) for symbol in Symbols(TEXT).declared]
    assert found == [
        ("location", "x", 2),
        ("location", "a", 2),
        ("location", "y", 2),
        ("non-atomic location", "d", 3),
        ("thread", "t", 5),
        ("local", "r", 6),
        ("local", "s", 6),
        ("label", "top", 7),
        ("thread", "u", 10),
        ("local", "r", 10),
        ("label", "top", 10),
    ]


@pytest.mark.parametrize(
    ("line", "column", "declared"),
    [
        (4, 7, (2, 8)),  # track x
        (7, 14, (2, 15)),  # a
        (7, 16, (6, 14)),  # s
        (8, 9, (6, 11)),  # r of t
        (8, 23, (7, 5)),  # top of t
        (10, 32, (10, 14)),  # r of u
        (10, 41, (10, 17)),  # top of u
        (10, 47, (2, 8)),  # x
        (7, 7, (7, 5)),  # a label is its own declaration
    ],
)
def test_definitions(line, column, declared):
    symbols = Symbols(TEXT)
    symbol = symbols.definition(symbols.word_at(line, column))
    assert (symbol.word.line, symbol.word.column) == declared


def test_what_is_not_declared_has_no_definition():
    symbols = Symbols(TEXT)
    assert symbols.definition(symbols.word_at(8, 14)) is None
    assert symbols.word_at(1, 25) is None


@pytest.mark.parametrize("end", range(0, len(TEXT), 7))
def test_a_text_that_is_being_typed(end):
    """No text is too broken to be looked at."""
    text = TEXT[:end]
    symbols = Symbols(text)
    lines = text.split("\n")
    for number, line in enumerate(lines, start=1):
        for column in range(1, len(line) + 2):
            word = symbols.word_at(number, column)
            if word is not None:
                symbols.definition(word)
    assert all(1 <= problem.place.line <= len(lines) for problem in mistakes(lines))


@pytest.mark.parametrize(
    ("line", "column", "place"),
    [(1, 1, Place(1, 1, 4)), (1, 5, Place(1, 5, 6)), (1, 7, Place(1, 6, 7)), (3, 1, Place(3, 1, 2))],
)
def test_what_is_underlined(line, column, place):
    assert word_at(["abc +x", ""], line, column) == place


def test_every_memory_order_is_explained():
    orders = [word for word, kind in KEYWORDS.items() if kind == "MODE"]
    assert all(meaning(order, None, "") for order in orders)
    assert set(WORDS) - set(KEYWORDS) == {"load", "store", "naload", "nastore", "tid"}


def test_without_pygls_the_command_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pygls.lsp.server", None)
    monkeypatch.delitem(sys.modules, "fencepost.lsp.server", raising=False)
    result = CliRunner().invoke(main, ["lsp"])
    assert result.exit_code == 2
    assert "pip install 'pygls<3,>=2'" in result.output
