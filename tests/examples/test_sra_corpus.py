"""The programs of `examples/sra`: each has a property, and the answers that it states are given."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import fencepost
from fencepost.analyses.safety.portfolio import certify
from fencepost.certificates import Checked, check
from fencepost.certificates.question import bad_states, registers_asked_for
from fencepost.formats.headers import expectations
from fencepost.formats.properties import stated_property
from fencepost.program.properties import marked

FOLDER = Path(__file__).parents[2] / "examples" / "sra"
PROGRAMS = sorted(file.stem for file in FOLDER.glob("*.tpl"))

# Whether they are safe under SRA is not known.
OPEN = {"bakery-3-fences", "szymanski-3-fences"}
# More than a few seconds until the answer.
LONG = {
    *("bakery-3", "dijkstra-3-fences", "lamport-fast-3", "lamport-fast-3-rmw", "mcs-lock-3"),
    *("peterson-3-exchange", "peterson-3-fences", "rcu-spin-3", "szymanski-3"),
}
# Invariants of several thousand states, and of a million.
LARGE = {
    *("bakery-fences", "barrier-data", "barrier-spin-3", "big-reader-lock-fences", "burns-3-fences"),
    *("dekker-3-fences", "four-slot-fences", "mcs-lock-3"),
    *("mp-chain-4", "rcu-3", "rcu-spin-3", "seqlock-2-writers", "spsc-ring", "szymanski-fences"),
    "ticket-lock-3",
}
HUGE = {
    "barrier-count-3",
    "dijkstra-3-fences",
    "lamport-fast-3-rmw",
    "peterson-3-exchange",
    "peterson-3-fences",
}


def stated(name: str) -> dict[tuple[str, str], bool]:
    return expectations((FOLDER / f"{name}.tpl").read_text(encoding="utf-8"))


def asked(question: str) -> list[object]:
    """The programs and models for which an answer to `question` is stated."""
    return [
        pytest.param(
            name, model, marks=[pytest.mark.slow] if name in LONG | OPEN else [], id=f"{name}-{model}"
        )
        for name in PROGRAMS
        for about, model in stated(name)
        if about == question
    ]


@pytest.mark.parametrize(("name", "model"), asked("verify"))
def test_the_answer_is_the_one_that_the_file_states(name: str, model: str) -> None:
    program = fencepost.load(FOLDER / f"{name}.tpl")
    answer = fencepost.verify(program, model, wanted=stated_property(program))
    assert not isinstance(answer, fencepost.Unknown)
    assert answer.holds is stated(name)["verify", model]
    assert (answer.witness is not None) is not answer.holds


def certified() -> list[object]:
    return [
        pytest.param(name, marks=[pytest.mark.slow] if name in LARGE else [])
        for name in PROGRAMS
        if stated(name).get(("verify", "sra")) and name not in HUGE
    ]


@pytest.mark.parametrize("name", certified())
def test_a_safe_answer_has_a_certificate_that_checks(name: str) -> None:
    program = fencepost.load(FOLDER / f"{name}.tpl")
    wanted = stated_property(program)
    answer, certificate = certify(program, wanted=wanted)
    assert answer.holds
    assert certificate is not None
    asked = marked(program, wanted).program
    result = check(asked, certificate, bad_states(asked, wanted), registers_asked_for(asked, wanted))
    assert isinstance(result, Checked)


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_program_has_a_property_and_says_what_to_expect(name: str) -> None:
    text = (FOLDER / f"{name}.tpl").read_text(encoding="utf-8")
    assert re.search(r"^// (mutex|bad): |\bassert\(", text, re.MULTILINE)
    models = {model for question, model in stated(name) if question == "verify"}
    assert "sc" in models
    assert ("sra" in models) is (name not in OPEN)


@pytest.mark.parametrize(("name", "model"), asked("robust"))
def test_robustness_is_as_stated(name: str, model: str) -> None:
    answer = fencepost.robust(fencepost.load(FOLDER / f"{name}.tpl"), model)
    assert answer.holds is stated(name)["robust", model]


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_is_stated_fits_together(name: str) -> None:
    """SC allows less than SRA, SRA less than RA; and nothing weak happens in a robust program."""
    known = {model: answer for (question, model), answer in stated(name).items() if question == "verify"}
    chain = [known[model] for model in ("ra", "sra", "sc") if model in known]
    assert chain == sorted(chain)
    if stated(name).get(("robust", "ra")):
        assert len(set(chain)) == 1


def test_the_readme_lists_all_programs_and_no_other() -> None:
    """A name that starts with a hyphen is to be put after the first one of its row."""
    text = (FOLDER / "README.md").read_text(encoding="utf-8")
    listed = []
    for row in re.findall(r"^\| (`[^|]*`) \|", text, re.MULTILINE):
        first, *others = re.findall(r"`([^`]*)`", row)
        listed += [first, *(first + other if other.startswith("-") else other for other in others)]
    assert sorted(listed) == PROGRAMS
