"""Tables of outcomes for a terminal, and as web pages, as they were last looked at."""

import re

import fencepost
from fencepost.errors import InputError
from fencepost.formats import load
from fencepost.formats.tpl import read
from fencepost.report.html.page import fragment, page
from fencepost.report.text import answer as text
from fencepost.report.text.outcomes import MOST_ROWS, summary
from tests.report.snapshot import assert_matches, pages

RACY = "na d; fn t1 { d.nastore(1); } fn t2 { d.nastore(2); }"
ASKED = "global x, y; fn t1 { local a; x.store(1, sc); a = y.load(sc); } fn t2 { y.store(1); }"
FAILING = "global x; fn t { local r; r = x.load(); assert(r == 1); }"
LOOP = "global x; fn t { local i; while (i < 3) { FADD(x, 1); i = i + 1; } } fn u { x.store(7); }"


def answers():
    yield "sb", fencepost.outcomes(load("examples/outcomes/SB+rlx.litmus"))
    yield "sb explained", fencepost.outcomes(load("examples/outcomes/SB+rlx.litmus"), explain=1)
    yield "2+2w explained", fencepost.outcomes(load("examples/outcomes/2+2W+rlx.litmus"), ["rc20"], explain=1)
    yield "mp", fencepost.outcomes(load("examples/outcomes/MP+ra.litmus"))
    yield "race", fencepost.outcomes(read(RACY))
    yield "refused", fencepost.outcomes(read(ASKED))
    yield "failing", fencepost.outcomes(read(FAILING), ["sc", "tso"])
    yield "loop", fencepost.outcomes(read(LOOP))


def untimed(rendered):
    return re.sub(r"\d+\.\d+ s", "0.00 s", rendered)


def test_text():
    texts = {name: untimed(text.render(one, color=False, width=80)) for name, one in answers()}
    assert_matches("text/outcomes.txt", pages(texts))


def test_summary():
    rows = [(one.file, one) for _, one in answers()]
    rows.append(("wrong.tpl", InputError("expected `)`", "wrong.tpl", 3, 7)))
    assert_matches("text/outcomes-of-files.txt", summary(rows, color=False, width=80))


def test_long_tables_are_cut_unless_all_is_asked_for():
    stores = "".join(f"fn t{n} {{ local a; x.store({n}); a = x.load(); }} " for n in range(1, 4))
    answer = fencepost.outcomes(read(f"global x, y; {stores.replace('; }', '; a = a + y.fetch_add(1); }')}"))
    assert len(answer.outcomes) > MOST_ROWS
    assert f"⋯ {len(answer.outcomes) - MOST_ROWS} more" in text.render(answer, color=False, width=80)
    assert "more; -v" not in text.render(answer, color=False, width=80, verbose=True)


def test_pages_have_the_table():
    for _, answer in answers():
        rows = fragment(answer).count("<tr")
        assert rows > len(answer.outcomes) or not answer.outcomes
        assert "<title>" in page(answer)
