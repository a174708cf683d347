"""Mutual exclusion on TSO: the programs of `examples/tso-mutex`, and what the fences of `fix` are worth."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

import fencepost
from fencepost.analyses.safety.portfolio import certify
from fencepost.certificates import Checked, check
from fencepost.certificates.question import bad_states, registers_asked_for
from fencepost.formats import automata
from fencepost.formats.headers import expectations
from fencepost.formats.properties import stated_property
from fencepost.models.tso_witnesses import replay_tso_safety
from fencepost.program import Fence, Program, Skip
from fencepost.program.properties import Property, marked
from fencepost.verdicts import SafetyWitness

FOLDER = Path(__file__).parents[2] / "examples" / "tso-mutex"
PROGRAMS = sorted(file.stem for file in FOLDER.glob("*.aut"))
MUTEX = Property(mutex=("cs",))
# More than a second until the answer.
LONG = {"lambak-4", "lambak-4-fences", "lamfast2-4-fences", "peterson-4", "peterson-4-fences"}
# Certificates of thousands of states, and of a hundred thousand.
LARGE = {"dijkstra-3-fences", "lamfast2-3-fences", "peterson-3-fences"}
HUGE = {"lambak-3-fences", "szymanski-3-fences"}
CERTIFIED = [name for name in PROGRAMS if name.endswith(("2-fences", "3-fences")) and name not in HUGE]
UNFENCED = [name for name in PROGRAMS if not name.endswith("-fences")]


def slow(names: list[str], which: set[str]) -> list[object]:
    return [pytest.param(name, marks=[pytest.mark.slow] if name in which else []) for name in names]


def check_run(program: Program, answer: fencepost.Answer) -> None:
    assert isinstance(answer.witness, SafetyWitness)
    assert answer.witness.delayed
    replay_tso_safety(program, answer.witness)


@pytest.mark.parametrize("name", slow(PROGRAMS, LONG))
@pytest.mark.parametrize("model", ["sc", "tso"])
def test_the_answer_is_the_one_that_the_file_states(name: str, model: str) -> None:
    file = FOLDER / f"{name}.aut"
    program = fencepost.load(file)
    assert stated_property(program) == MUTEX
    answer = fencepost.verify(program, model, wanted=MUTEX)
    assert answer.holds is expectations(file.read_text(encoding="utf-8"))["verify", model]
    if answer.holds is False:
        check_run(program, answer)


@pytest.mark.parametrize("name", slow(CERTIFIED, LARGE))
def test_a_safe_answer_has_a_certificate_that_checks(name: str) -> None:
    program = fencepost.load(FOLDER / f"{name}.aut")
    _, certificate = certify(program, "tso", wanted=MUTEX)
    assert certificate is not None
    asked = marked(program, MUTEX).program
    result = check(asked, certificate, bad_states(asked, MUTEX), registers_asked_for(asked, MUTEX))
    assert isinstance(result, Checked)


@pytest.mark.parametrize(
    "name", slow([n for n in UNFENCED if not n.endswith("4")], {"lambak-3", "peterson-3"})
)
def test_the_fences_of_fix_make_it_safe_and_one_less_often_does_not(name: str) -> None:
    answer = fencepost.fix(fencepost.load(FOLDER / f"{name}.aut"), model="tso", criterion="persistent")
    assert answer.repaired is not None
    repaired = automata.read(answer.repaired, name)
    assert fencepost.verify(repaired, "tso", wanted=MUTEX).holds
    unsafe = 0
    for fewer in with_one_fence_less(repaired):
        answer = fencepost.verify(fewer, "tso", wanted=MUTEX)
        assert answer.holds is not None
        if not answer.holds:
            check_run(fewer, answer)
            unsafe += 1
    assert unsafe


def with_one_fence_less(program: Program) -> list[Program]:
    fewer = []
    for t, thread in enumerate(program.threads):
        for pc, fence in enumerate(thread.code):
            if isinstance(fence, Fence):
                code = (*thread.code[:pc], Skip(at=fence.at), *thread.code[pc + 1 :])
                threads = (*program.threads[:t], replace(thread, code=code), *program.threads[t + 1 :])
                fewer.append(replace(program, threads=threads))
    return fewer
