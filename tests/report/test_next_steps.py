"""What a newcomer has to be told beside the finding: what was not taken as written, and what to do next."""

import pytest

import fencepost
from fencepost import fix
from fencepost.formats.tpl import read
from fencepost.report import story
from fencepost.report.repair import edit_words, said
from fencepost.report.text import answer as text
from fencepost.report.text.table import counts
from fencepost.verdicts.repair import NotRepairable, Repaired

PUBLISH = """na d; global f;
fn p { d.nastore(1); f.store(1, relaxed); }
fn q { local r; while (f.load(relaxed) == 0) { } r = d.naload(); }
"""
UNGUARDED = "na d;\nfn p { d.nastore(1); }\nfn q { local r; r = d.naload(); }\n"
COPIES = """max_value 1; global x[2];
fn t[2] { local r;
x[tid].store(1);
r = x[1 - tid].load(); }
"""
FIX_IT = "`fencepost fix --model rc20 test.tpl` finds the cheapest changes that remove it"
LOCK_IT = "It takes a lock around the two accesses, or an atomic location."


def program(source):
    return read(source, "test.tpl")


def shown(answer):
    return " ".join(text.render(answer, color=False, width=100).split())


@pytest.mark.parametrize("model", ["sra", "ra"])
def test_verify_says_that_it_does_not_take_the_modes_as_written(model):
    answer = fencepost.verify(program(PUBLISH), model)
    assert answer.verdict == "safe"
    assert f"{model} takes relaxed accesses as acquire and release, first in line 2" in answer.warnings[0]
    assert "`--model rc20` takes the modes" in answer.warnings[0]


def test_races_says_so_where_another_model_takes_them():
    assert "`--model rc20` takes the modes" in fencepost.races(program(PUBLISH), "sra").warnings[0]
    assert fencepost.races(program(PUBLISH)).warnings == ()


def test_a_race_that_modes_can_remove_names_the_command():
    assert FIX_IT in shown(fencepost.robust(program(PUBLISH), "rc20"))
    assert FIX_IT in shown(fencepost.races(program(PUBLISH)))


def test_a_race_that_takes_a_lock_says_so():
    assert LOCK_IT in shown(fencepost.robust(program(UNGUARDED)))
    assert LOCK_IT in shown(fencepost.verify(program(UNGUARDED)))
    answer = fix(program(UNGUARDED), "rc20")
    assert isinstance(answer, NotRepairable)
    assert LOCK_IT in list(said(answer))


def test_a_race_at_the_start_does_not_speak_of_a_run():
    said = shown(fencepost.verify(program(UNGUARDED)))
    assert "This needs no weak memory: both threads start there." in said
    assert "1 state, 0 transitions" in said


def test_not_robust_says_how_to_learn_whether_it_does_harm():
    assert "`fencepost verify --model ra test.tpl` asks whether" in shown(fencepost.robust(program(COPIES)))
    assert "`fencepost verify --model rc20 test.tpl` asks" in shown(fencepost.robust(program(COPIES), "rc20"))


def test_lines_of_two_copies_are_told_once():
    said = shown(fencepost.robust(program(COPIES)))
    assert "because nothing orders line 3 before line 4. If" in said


def test_racy_is_said_once():
    assert story.brief(fencepost.races(program(PUBLISH))) == "racy"


def test_a_repair_speaks_the_language_of_the_user():
    answer = fix(program(PUBLISH), "rc20")
    assert isinstance(answer, Repaired)
    assert [edit_words(edit) for edit in answer.edits or ()] == [
        "turn `f.store(1, relaxed)` into `f.store(1, rel)`",
        "turn `f.load(relaxed) == 0` into `f.load(acq) == 0`",
    ]
    assert "makes the program robust and free of data races" in " ".join(said(answer))


def test_errors_are_counted_in_the_plural():
    assert counts([fencepost.InputError("no", "a")] * 2) == "2 files: 2 input errors"
