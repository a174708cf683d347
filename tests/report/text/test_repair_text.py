"""What is said about a repair depends on what the program was repaired for."""

import pytest

from fencepost.report.text.repair import render
from fencepost.verdicts.repair import Edit, MadePersistent, NotRepairable, Repaired, StillFragile
from tests.report.witnesses import STATS, TSO_SB

FENCE = Edit(
    kinds=("sc-fence",),
    action="insert-before",
    function="t1",
    line=6,
    column=5,
    statement="a = y.load()",
    text="fence",
    cost=10,
)


def answer(kind, criterion, **parts):
    common = {"file": "sb.tpl", "question": "fix", "model": "tso", "stats": STATS, "criterion": criterion}
    return kind(**common, **({"edits": None, "cost": None, "lower_bound": 0} | parts))


def said(about):
    return render(about, color=False, width=120).splitlines()


@pytest.mark.parametrize(
    ("kind", "criterion", "verdict", "goal"),
    [
        (Repaired, "robust", "robust", "robust"),
        (MadePersistent, "persistent", "persistent", "persistent"),
        (Repaired, "trf", "no triangular race", "free of triangular races"),
    ],
)
def test_a_repair_says_what_it_makes_of_the_program(kind, criterion, verdict, goal):
    lines = said(answer(kind, criterion, edits=(FENCE,), cost=10, lower_bound=10, checks=2))
    assert lines[0] == f"sb.tpl: {verdict} under tso after changing 1 place (cost 10)"
    assert lines[2] == f"  No cheaper set of changes makes the program {goal}; 2 sets were tried."
    unchanged = said(answer(kind, criterion, edits=(), cost=0))
    assert unchanged[0] == f"sb.tpl: {verdict} under tso as it is"


@pytest.mark.parametrize(
    ("kind", "criterion", "verdict", "goal"),
    [
        (NotRepairable, "robust", "not robust", "robust"),
        (StillFragile, "persistent", "fragile", "persistent"),
        (NotRepairable, "trf", "triangular race", "free of triangular races"),
    ],
)
def test_where_nothing_helps_what_is_left_is_shown(kind, criterion, verdict, goal):
    lines = said(answer(kind, criterion, witness=TSO_SB))
    assert lines[0] == f"sb.tpl: {verdict} under tso"
    assert lines[2] == (
        f"  No set of the allowed changes makes the program {goal}. With all of them made, this is left:"
    )
    assert lines[4].startswith(
        "  `x.store(1)` of thread `t1` (line 5) can still be in the store buffer of `t1`"
    )
