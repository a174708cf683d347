import subprocess
import sys

import pytest

from fencepost import robust
from fencepost.errors import InputError
from fencepost.formats.tpl import read
from fencepost.report.printable import columns
from fencepost.report.text.table import counts, summary
from tests.report.witnesses import ANSWERS

ROWS = [(answer.file, answer) for answer in ANSWERS.values()]


def test_the_last_line_counts():
    error = InputError("expected `)`", "x.tpl", 3, 7)
    assert summary([*ROWS, ("x.tpl", error)]).splitlines()[-1] == (
        "45 files: 15 not robust; 1 robust; 1 observationally robust; "
        "1 not shown to be observationally robust; 1 robust, but it has a data race; "
        "1 robust, but it has a failing assertion; 2 unknown; 1 persistent; 4 fragile; 1 triangular race; "
        "1 no triangular race; 1 safe; 9 unsafe; 1 no write/write race; 1 write/write race; 1 race free; "
        "2 racy; 1 input error; 2 with a data race; 1 with a failing assertion"
    )
    assert counts([ANSWERS["robust"]]) == "1 file: 1 robust"
    assert summary([]) == "0 files\n"


def test_an_error_has_a_row_and_is_counted():
    table = summary([("x.tpl", InputError("expected `)`", "x.tpl", 3, 7))])
    assert "x.tpl" in table
    assert table.splitlines()[-1] == "1 file: 1 input error"


def test_what_was_not_searched_for_is_not_said_to_be_absent():
    table = summary([("a.tpl", ANSWERS["robust"]), ("b.tpl", ANSWERS["unknown"])]).splitlines()
    rows = {line.split()[0]: line.split()[1:4] for line in table if ".tpl" in line}
    assert rows == {"a.tpl": ["robust", "–", "–"], "b.tpl": ["unknown", "?", "?"]}
    assert "?: not searched exhaustively" in table


def test_a_proof_for_every_number_of_threads_rules_out_races_and_failing_assertions():
    counting = robust(read("max_value 1; global x; fn w[*] { FADD(x, 1); }", "a.tpl"))
    sides = "{ x.store(1); r = y.load(); } { y.store(1); r = x.load(); }"
    buffering = "global x, y; fn w[*] { local r; oneof(" + sides + "); }"
    broken = robust(read(buffering, "b.tpl"))
    table = summary([(answer.file, answer) for answer in (counting, broken, broken)]).splitlines()
    assert table[2].split()[:8] == ["a.tpl", "robust", "for", "every", "number", "of", "threads", "–"]
    assert table[-1] == "3 files: 1 robust for every number of threads, 2 not robust"


@pytest.mark.parametrize("width", [60, 80, 120])
def test_the_table_stays_within_the_width(width):
    long = [("a/" * 60 + "x.tpl", ANSWERS["robust"])]
    lines = summary([*ROWS, *long], width=width).splitlines()[:-1]
    assert [line for line in lines if columns(line) > width] == []


@pytest.mark.parametrize("width", [12, 40, 60])
def test_names_are_folded_and_not_broken(width):
    files = ["a-long-directory/and-another/spin-lock.tpl", "queue.tpl"]
    lines = summary([(file, ANSWERS["unsafe-under-sc"]) for file in files], width=width).splitlines()
    for part in ("a-long-directory/", "and-another/", "spin-lock.tpl", "queue.tpl", "verdict", "unsafe"):
        assert any(part in line for line in lines)


def test_where_there_is_room_nothing_is_folded():
    head, _, row, _ = summary([("a.tpl", ANSWERS["robust"])], width=60).splitlines()
    assert head.split() == ["file", "verdict", "race", "assertion", "states", "seconds"]
    assert row.split()[0] == "a.tpl"


@pytest.mark.parametrize("setting", ["NO_COLOR", "FORCE_COLOR"])
def test_colour_is_as_asked_whatever_the_environment_says(setting, monkeypatch):
    monkeypatch.setenv(setting, "1")
    assert "\x1b" not in summary(ROWS)
    assert "\x1b[3" in summary(ROWS, color=True)


def test_names_are_neither_markup_nor_escape_sequences():
    table = summary([("[red]a[/red]\x1b[2J.tpl", ANSWERS["robust"])], width=100)
    assert "[red]a[/red]\\x1b[2J.tpl" in table


def test_only_a_table_needs_rich():
    modules = "export.as_json, explain, html.notebook, picture.svg, text.table, text.answer"
    imports = "; ".join(f"import fencepost.report.{module}" for module in modules.split(", "))
    code = f"import sys; {imports}; sys.exit('rich' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
