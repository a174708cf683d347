import re

import msgspec
import pytest

from fencepost.report.printable import clip, columns, pad, paragraph, printable
from fencepost.report.text.answer import render
from tests.report.witnesses import (
    ANSWERS,
    HOSTILE,
    PETERSON_40,
    SB,
    TSO_HOSTILE,
    Step,
    fragile,
    not_robust,
    peterson_on_tso,
    peterson_rounds,
    witness,
)

SGR = re.compile(r"\x1b\[[0-9;]*m")


@pytest.mark.parametrize("width", [60, 80, 120])
@pytest.mark.parametrize("verbose", [False, True])
@pytest.mark.parametrize("name", ANSWERS)
def test_all_lines_but_the_first_stay_within_the_width(name, verbose, width):
    lines = render(ANSWERS[name], color=False, width=width, verbose=verbose).splitlines()
    assert [line for line in lines[1:] if columns(line) > width] == []


@pytest.mark.parametrize("name", ANSWERS)
def test_no_escape_sequence_without_colour(name):
    assert "\x1b" not in render(ANSWERS[name], color=False, width=80)


@pytest.mark.parametrize("name", ANSWERS)
def test_colour_changes_nothing_but_the_colour(name):
    coloured = render(ANSWERS[name], color=True, width=80)
    assert SGR.search(coloured)
    assert [line.rstrip() for line in SGR.sub("", coloured).splitlines()] == [
        line.rstrip() for line in render(ANSWERS[name], color=False, width=80).splitlines()
    ]


@pytest.mark.parametrize("verbose", [False, True])
def test_nothing_of_the_file_reaches_the_terminal_raw(verbose):
    file = "a\x1b[2J\n.tpl"
    for answer in (not_robust(HOSTILE, file), fragile(TSO_HOSTILE, file)):
        text = render(answer, color=True, width=80, verbose=verbose)
        assert all(line.isprintable() for line in SGR.sub("", text).split("\n"))


def test_threads_stand_side_by_side_and_the_access_is_marked():
    text = render(ANSWERS["sb"], color=False, width=80)
    assert "       6  a = y.load() → 0\n      11                     y.store(1)\n" in text
    assert "\n  ▶   12                     b = x.load() → 0\n" in text
    assert text.count("▶") == 1


def test_a_delayed_write_is_marked_where_it_is_executed_and_where_it_reaches_memory():
    lines = render(ANSWERS["tso-sb"], color=False, width=80).splitlines()
    run = lines.index("  initially x = 0, y = 0")
    assert lines[run + 2 : run + 6] == [
        "  ▷    5  x.store(1) (buffered)",
        "  ▶    6  a = y.load() → 0",
        "      11                          y.store(1)",
        "  ▷       x = 1 reaches memory",
    ]


def test_writes_behind_the_delayed_one_reach_memory_after_it():
    text = render(ANSWERS["tso-several"], color=False, width=80)
    assert "  ▷       x = 1 reaches memory\n          z = 1 reaches memory\n" in text


def test_many_threads_become_one_list():
    text = render(ANSWERS["many-threads"], color=False, width=80)
    assert re.search(r"line +thread +access", text)
    assert re.search(r"15  thread_number_1  cell1\.store\(1\)", text)


def test_the_cycle_has_one_edge_per_line_with_its_place():
    lines = render(ANSWERS["sb"], color=False, width=80).splitlines()
    places = [found[1] for line in lines if (found := re.match(r"  examples/sb\.tpl:(\d+) ", line))]
    assert places[:5] == ["5", "6", "11", "12", "5"]


def test_a_long_run_is_cut_unless_verbose():
    answer = not_robust(peterson_rounds(30))
    short = render(answer, color=False, width=80)
    long = render(answer, color=False, width=80, verbose=True)
    assert "⋯" in short
    assert len(short.splitlines()) <= 40
    assert "⋯" not in long
    assert len(long.splitlines()) > 300


def test_a_long_run_under_tso_keeps_what_happens_to_the_delayed_write():
    short = render(fragile(peterson_on_tso(30)), color=False, width=80)
    assert "⋯" in short
    assert len(short.splitlines()) <= 40
    assert "▷       turn = 1 reaches memory" in short


def test_verbose_shows_modes_and_every_step():
    assert "x.store(1, rel) [rel]" in render(ANSWERS["iriw"], color=False, width=100, verbose=True)
    told = render(not_robust(PETERSON_40), color=False, width=80).count("  po  ")
    assert render(not_robust(PETERSON_40), color=False, width=80, verbose=True).count("  po  ") > told


def test_a_value_that_the_source_does_not_show_is_added():
    run = witness(
        ("t1", "t2"),
        {"a[0]": 0, "a[1]": 0},
        [
            Step(0, "W a[1]=7", 3, "a[i].store(v + 1)"),
            Step(0, "R a[0]=0", 4, "r = a[0].load()"),
            Step(1, "W a[0]=10", 8, "a[0].store(10)"),
            Step(1, "R a[1]=0", 9, "r = a[j].load()"),
        ],
        stale=1,
    )
    text = render(not_robust(run), color=False, width=80)
    assert "a[i].store(v + 1) := 7 (a[1])" in text
    assert "a[0].store(10)\n" in text
    assert "r = a[j].load() → 0 (a[1])" in text


def test_only_a_finished_search_says_that_there_is_nothing_else():
    answer = ANSWERS["robust"]
    assert "No data race, no failing assertion, no deadlock." in render(answer, color=False, width=80)
    unfinished = msgspec.structs.replace(answer, exhaustive=False)
    assert "failing assertion, no deadlock" not in render(unfinished, color=False, width=80)
    assert "No data race" not in render(ANSWERS["unknown"], color=False, width=80)
    proven = msgspec.structs.replace(ANSWERS["persistent"], flattened=5, exhaustive=False)
    assert "Proven by flattening with k = 5. Data races" in render(proven, color=False, width=80)


def test_the_verdict_and_its_findings_are_on_the_first_line():
    first = {name: render(answer, color=False, width=80).splitlines()[0] for name, answer in ANSWERS.items()}
    assert first["sb"] == "examples/sb.tpl: not robust under ra"
    assert first["race"] == "examples/mp.tpl: robust, but it has a data race, under rc20"
    assert first["assertion"] == "examples/array.tpl: robust, but it has a failing assertion, under ra"
    assert first["unknown"] == "examples/big.tpl: unknown under ra"
    assert first["persistent"] == "examples/barrier.tpl: persistent under tso"
    assert first["tso-sb"] == "examples/sb.tpl: fragile under tso"
    assert first["tso-triangular"] == "examples/detour.tpl: triangular race under tso"
    assert first["no-triangular"] == "examples/barrier.tpl: no triangular race under tso"


def test_a_long_path_gives_way_to_the_accesses():
    text = render(
        not_robust(SB, "/a/very/long/path/that/takes/most/of/the/line/sb.tpl"), color=False, width=80
    )
    assert "\n  sb.tpl:5   t1  x.store(1)        po  comes before\n" in text


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("x.store(1)", "x.store(1)"),
        ("a\x1b[31mb", "a\\x1b[31mb"),
        ("a\x9b1mb", "a\\x9b1mb"),
        ("a =\n\t  b", "a = b"),
        ("a\u202eb", "a\\u202eb"),
        ("a\udcffb", "a\\udcffb"),
        ("a\U000e0001b", "a\\U000e0001b"),
        ("größe → 0", "größe → 0"),
    ],
)
def test_printable(raw, shown):
    assert printable(raw) == shown


def test_columns_of_wide_and_combining_characters():
    assert [columns(text) for text in ("ab", "漢字", "e\u0301", "→")] == [2, 4, 1, 1]
    assert clip("漢字漢字", 5) == "漢字…"
    assert pad("漢", 4) == "漢  "


def test_a_paragraph_does_not_break_quotations():
    assert paragraph("see `a = b` (line 12) here", 12) == ["see `a = b`", "(line 12)", "here"]


def test_a_paragraph_breaks_long_quotations_and_what_is_between_them_at_blanks():
    code = "`r = CAS(slot[at], 0, next + 1, rlx, rel, acq)`"
    text = f"Line 2, {code} of `w`: as {code}, a race that nobody sees."
    lines = paragraph(text, 40)
    assert " ".join(lines) == text
    assert all(len(line) <= 40 for line in lines)
