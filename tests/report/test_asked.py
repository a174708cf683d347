"""What a page says about the question: in words for every criterion, and never more than the answer."""

import msgspec
import pytest

import fencepost
from fencepost.formats.properties import stated_property
from fencepost.formats.tpl import read
from fencepost.memory_models import CRITERIA, MODELS
from fencepost.report import asked
from fencepost.verdicts import ModelVerdict
from tests.report.witnesses import ANSWERS

SB = """global x, y;
fn left { local r; x.store(1); r = y.load(); }
fn right { local r; y.store(1); r = x.load(); }
"""


def test_every_criterion_has_words():
    assert set(asked._WORDS) == set(CRITERIA)


@pytest.mark.parametrize("name", ANSWERS)
def test_only_what_holds_has_a_meaning(name):
    answer = ANSWERS[name]
    assert asked.question(answer).rstrip().endswith("?")
    assert asked.reason(answer)
    if not answer.holds:
        assert asked.meaning(answer) == ""


def test_the_reason_is_what_was_found_or_what_holds():
    assert asked.reason(fencepost.robust(read(SB))).startswith("Thread `right` can read")
    fenced = read(SB.replace("; r =", "; fence; r ="))
    assert "one of interleaved threads too" in asked.reason(fencepost.robust(fenced))
    undecided = fencepost.robust(read(SB), limits=fencepost.Limits(states=1))
    assert asked.reason(undecided).startswith("Not decided: ")


def test_models_in_the_table_were_asked():
    verdicts = tuple(ModelVerdict(model=name, verdict="safe", because="x") for name in ("sc", "tso", "sra"))
    program = read(SB + "// assert: x == 1\n")
    answer = fencepost.verify(program, "sra", wanted=stated_property(program))
    answer = msgspec.structs.replace(answer, models=verdicts)
    assert "every model in the table" in asked.question(answer)
    others = next(asked.not_asked(answer))
    assert "ra, rc20, cpp20." in others
    assert "tso" not in others


@pytest.mark.parametrize("model", [name for name, row in MODELS.items() if "robust" in row.criteria])
def test_the_other_models_are_named(model):
    (others, correct) = asked.not_asked(fencepost.robust(read(SB), model))
    assert f" {model}," not in others
    assert all(name in others for name in MODELS if name != model)
    assert "fencepost verify" in correct
