"""Our own table of states, as a program: it is right, and fencepost finds what makes it wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from fencepost.analyses.robustness import robust
from fencepost.formats.headers import expectations
from fencepost.formats.tpl import read
from fencepost.verdicts import NotRobust, Robust

EXAMPLES = Path(__file__).parents[2] / "examples" / "lock-free-table"
INSERT, GROW = ((EXAMPLES / name).read_text(encoding="utf-8") for name in ("insert.tpl", "grow.tpl"))


@pytest.mark.parametrize("text", [INSERT, GROW])
@pytest.mark.parametrize("model", ["rc20", "cpp20"])
def test_the_protocol_is_robust_and_nothing_fails(text: str, model: str) -> None:
    assert expectations(text, "table.tpl")[("robust", model)]
    answer = robust(read(text), model)
    assert isinstance(answer, Robust)
    assert answer.race is None
    assert answer.assertion is None
    assert answer.exhaustive


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("rlx, rel, acq)", "rlx, rlx, acq)"),
        ("rlx, rel, acq)", "rlx, rel, rlx)"),
        ("load(acq)", "load(rlx)"),
        ("next += 1;", ""),  # a number is used twice
        ("written = 0;", "written = left - 1;"),  # no record is written
    ],
)
def test_a_weaker_order_or_a_mistake_is_found_in_insert(old: str, new: str) -> None:
    assert old in INSERT
    answer = robust(read(INSERT.replace(old, new)), "rc20")
    assert answer.exit_code == 1


@pytest.mark.parametrize("meeting", ["(met, ", "(met_again, "])
def test_both_meetings_are_needed(meeting: str) -> None:
    lines = [line for line in GROW.splitlines() if meeting not in line]
    assert isinstance(robust(read("\n".join(lines)), "rc20"), NotRobust)
