"""A deadlock in every face: a warning of `robust`, what is wrong in `verify --deadlocks`."""

import json

import fencepost
from fencepost.formats.tpl import read
from fencepost.lsp.problems import found
from fencepost.program.properties import Property
from fencepost.report import story
from fencepost.report.export import as_json, baseline, junit, sarif
from fencepost.report.findings import finding_id, findings
from fencepost.report.html.page import page
from fencepost.report.text import answer as text
from fencepost.report.text.table import summary
from fencepost.verdicts.union import decode

LOCKS = """global a, b;
fn p { lock(a); lock(b); unlock(b); unlock(a); }
fn q { lock(b); lock(a); unlock(a); unlock(b); }
"""
ROBUST = fencepost.robust(read(LOCKS, "locks.tpl"))
UNSAFE = fencepost.verify(read(LOCKS, "locks.tpl"), wanted=Property(deadlocks=True))
ENDED = fencepost.robust(read("global x; fn p { x.store(2); } fn q { wait(x, 1); }", "late.tpl"))


def shown(answer):
    return " ".join(text.render(answer, color=False, width=100).split())


def results(answer):
    return json.loads(sarif.encode([("locks.tpl", answer)]))["runs"][0]["results"]


def test_it_changes_neither_the_verdict_nor_the_exit_code():
    assert (ROBUST.verdict, ROBUST.exit_code, story.mood(ROBUST)) == ("robust", 0, "warn")
    assert story.brief(ROBUST) == "robust, but it has a deadlock"


def test_text_says_who_waits_where():
    said = shown(ROBUST)
    assert said.startswith("locks.tpl: robust, but it has a deadlock, under ra")
    assert "Deadlock: `lock(b)` (line 2) of thread `p` and `lock(a)` (line 3) of thread `q` wait for" in said
    assert "with 1 in `b` and 1 in `a`." in said
    assert "no deadlock" not in said
    assert "All other threads have ended." not in said
    assert "`wait(x, 1)` (line 1) of thread `q` waits for ever, with 2 in `x`. All other" in shown(ENDED)


def test_the_table_counts_it():
    assert "1 with a deadlock" in summary([("locks.tpl", ROBUST)])


def test_json_comes_back_as_it_was():
    assert decode(as_json.encode(ROBUST)) == ROBUST
    assert decode(as_json.encode(UNSAFE)) == UNSAFE


def test_sarif_warns_where_it_was_not_asked_for():
    (warning,), (error,) = results(ROBUST), results(UNSAFE)
    assert (warning["ruleId"], warning["level"]) == ("deadlock", "warning")
    assert (error["ruleId"], error["level"]) == ("deadlock", "error")


def test_junit_does_not_fail_but_says_it():
    written = junit.encode("suite", [("locks.tpl", ROBUST)]).decode()
    assert "<failure" not in written
    assert "<system-out>Deadlock: " in written
    assert "<failure" in junit.encode("suite", [("locks.tpl", UNSAFE)]).decode()


def test_the_page_shows_it():
    written = page(ROBUST)
    assert "robust, but it has a deadlock" in written
    assert "fp-verdict fp-warn" in written
    assert "Deadlock: <code>lock(b)</code>" in written


def test_the_editor_underlines_the_first_that_waits():
    (problem,) = found(LOCKS.split("\n"), ROBUST)
    assert (problem.severity, problem.code, problem.place.line) == ("warning", "deadlock", 2)


def test_a_baseline_hides_it():
    (one,) = findings(ROBUST)
    answer, hidden = baseline.without_known(ROBUST, frozenset({finding_id(ROBUST, one)}))
    assert hidden == 1
    assert answer.deadlock is None
