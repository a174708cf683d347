"""Ids of findings: the same for the same thing, different for different things. And what a baseline hides."""

import msgspec
import pytest

import fencepost
from fencepost.errors import InputError
from fencepost.formats.tpl import read
from fencepost.report.export import as_json, baseline, junit, sarif
from fencepost.report.findings import finding, finding_id, findings
from fencepost.report.text import answer as text
from fencepost.verdicts import BadState, Place, SafetyWitness, Unsafe
from tests.report.sarif_schema import checked_run
from tests.report.witnesses import ANSWERS, SB, STATS, not_robust

RACY = """max_value 1;
global x, y;
na d;
fn t1 { local a; d.nastore(1); x.store(1); a = y.load(); }
fn t2 { local b; d.nastore(1); y.store(1); b = x.load(); }
"""


def ids(answer):
    return [finding_id(answer, found) for found in findings(answer)]


def test_findings_come_in_order_and_every_one_has_its_own_id():
    answer = fencepost.robust(read(RACY, "racy.tpl"))
    assert [found.rule for found in findings(answer)] == ["not-robust", "race"]
    assert len(set(ids(answer))) == 2


def test_lines_elsewhere_do_not_change_an_id():
    moved = "// a comment\n\n" + RACY.replace("na d;", "\n\nna d; // more")
    assert ids(fencepost.robust(read(moved, "racy.tpl"))) == ids(fencepost.robust(read(RACY, "racy.tpl")))


def test_another_file_model_or_statement_changes_it():
    known = ids(not_robust(SB, "sb.tpl"))
    assert ids(not_robust(SB, "./sb.tpl")) == known
    assert ids(not_robust(SB, "other.tpl")) != known
    assert ids(msgspec.structs.replace(not_robust(SB, "sb.tpl"), model="rc20")) != known
    first = msgspec.structs.replace(SB.events[-1], text="b = x.load(acq)")
    changed = msgspec.structs.replace(SB, events=(*SB.events[:-1], first))
    assert ids(not_robust(changed, "sb.tpl")) != known


def test_it_does_not_matter_which_copy_of_a_thread_or_which_order_the_search_met():
    left, right = (
        msgspec.structs.replace(SB, threads=names) for names in (("w[0]", "w[1]"), ("w[1]", "w[0]"))
    )
    assert ids(not_robust(left, "sb.tpl")) == ids(not_robust(right, "sb.tpl"))
    turned = msgspec.structs.replace(SB, cycle=SB.cycle[1:] + SB.cycle[:1])
    assert ids(not_robust(turned, "sb.tpl")) == ids(not_robust(SB, "sb.tpl"))


def test_an_absolute_path_is_the_same_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert ids(not_robust(SB, str(tmp_path / "sb.tpl"))) == ids(not_robust(SB, "sb.tpl"))


def test_what_is_no_finding_is_refused():
    with pytest.raises(TypeError, match="a finding cannot be made of int"):
        finding(1, ANSWERS["sb"])


UNSAFE = Unsafe(
    file="sb.tpl",
    question="verify",
    model="sra",
    criterion="safe",
    stats=STATS,
    engine="backward",
    because="it found a run",
    witness=SafetyWitness(
        threads=SB.threads,
        events=SB.events,
        edges=SB.edges,
        cycle=SB.cycle,
        bad=BadState(
            kind="mutex",
            places=(
                Place(thread=0, line=7, column=5, text="", label="cs"),
                Place(thread=1, line=13, column=5, text="", label="cs"),
            ),
        ),
    ),
)


def test_a_run_to_a_bad_state_is_a_finding_for_every_face():
    (found,) = findings(UNSAFE)
    assert (found.rule, found.line) == ("mutex", 7)
    assert found.message.startswith("Thread `t1` is at label `cs` (line 7)")
    (result,) = checked_run(sarif.encode([(UNSAFE.file, UNSAFE)]))["results"]
    assert result["ruleId"] == "mutex"
    assert b'type="mutex"' in junit.encode("verify", [(UNSAFE.file, UNSAFE)])
    assert "at the same time" in text.render(UNSAFE, color=False, width=120)


def test_races_of_other_writes_have_other_ids():
    racy = ANSWERS["racy"]
    events = racy.witness.events
    other = msgspec.structs.replace(events[-1], text="turn.store(3)")
    witness = msgspec.structs.replace(racy.witness, events=(*events[:-1], other))
    assert ids(msgspec.structs.replace(racy, witness=witness)) != ids(racy)


def test_every_kind_of_finding_has_a_rule():
    kinds = msgspec.json.schema_components([BadState])[1]["BadState"]["properties"]["kind"]["enum"]
    others = {"not-robust", "not-shown", "fragile", "triangular-race", "race"}
    assert {*kinds, *others} - {"data-race"} == set(sarif.RULES)


def test_a_data_race_has_one_rule_whoever_found_it():
    assert [found.rule for found in findings(ANSWERS["data-racy"])] == ["race"]
    assert [found.rule for found in findings(ANSWERS["data-racy-by-robustness"])] == ["race"]


class TestBaseline:
    def test_known_findings_are_taken_out_and_new_ones_stay(self, tmp_path):
        answer = fencepost.robust(read(RACY, "racy.tpl"))
        only_race = msgspec.structs.replace(answer, witness=None)
        path = tmp_path / "old.json"
        path.write_bytes(as_json.encode(only_race) + b"\n\n" + as_json.encode(ANSWERS["robust"]) + b"\n")
        new, count = baseline.without_known(answer, baseline.read(path))
        assert count == 1
        assert new.race is None
        assert new.witness == answer.witness

    @pytest.mark.parametrize("answer", [*ANSWERS.values(), UNSAFE], ids=[*ANSWERS, "unsafe"])
    def test_an_answer_is_known_to_itself(self, answer, tmp_path):
        path = tmp_path / "old.json"
        path.write_bytes(as_json.encode(answer))
        new, count = baseline.without_known(answer, baseline.read(path))
        assert findings(new) == ()
        assert count == len(findings(answer))

    @pytest.mark.parametrize(
        ("content", "line"), [(b"{}", 1), (b'\n{"verdict":"robust"}', 2), (b"[", 1), (b"\xff", 1)]
    )
    def test_what_is_no_baseline_is_refused_with_its_line(self, tmp_path, content, line):
        path = tmp_path / "old.json"
        path.write_bytes(content)
        with pytest.raises(InputError) as caught:
            baseline.read(path)
        assert caught.value.line == line

    def test_a_missing_file_is_refused(self, tmp_path):
        with pytest.raises(InputError, match="cannot read the baseline"):
            baseline.read(tmp_path / "none.json")
