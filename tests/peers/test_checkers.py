"""Whether an assertion can fail: what others say, and what fencepost says."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from fencepost.analyses.safety.portfolio import verify
from fencepost.engine.search import Limits
from fencepost.errors import InputError
from fencepost.formats import load, tpl, write
from fencepost.program import Assert, Program, jump_targets
from fencepost.program.properties import Property
from tests.peers.checkers import CHECKERS, Checker
from tests.strategies import random_program

EXAMPLES = Path(__file__).parents[2] / "examples"
FOLDERS = ("tutorial", "litmus", "rc20", "cpp20", "rocker", "sra")
ASKED = [
    pytest.param(
        checker,
        model,
        id=f"{checker.name}-{model}",
        marks=pytest.mark.skipif(bool(checker.missing), reason=f"{checker.missing} cannot be found"),
    )
    for checker in CHECKERS
    for model in checker.models
]


def is_looping(program: Program) -> bool:
    return any(
        target <= place
        for thread in program.threads
        for place, instruction in enumerate(thread.code)
        for target in jump_targets(instruction)
    )


def asserts(program: Program) -> bool:
    return any(isinstance(i, Assert) for thread in program.threads for i in thread.code)


def ours(program: Program, model: str) -> bool | None:
    """Whether an assertion can fail; None if that is open."""
    answer = verify(
        program, model, wanted=Property(ignore_races=True), limits=Limits(states=200_000, seconds=60)
    )
    return None if answer.holds is None else not answer.holds


def agree(checker: Checker, model: str, program: Program, folder: Path) -> bool | None:
    """The common answer; None if it was not asked."""
    if program.templates or not asserts(program) or (checker.name != "spin" and is_looping(program)):
        return None
    try:
        can_fail = ours(program, model)
        write(program, "promela" if checker.name == "spin" else "c")
    except InputError:  # not in this model, or not in this language
        return None
    if can_fail is not None:
        assert checker.can_fail(program, model, folder) == can_fail, tpl.write(program)
    return can_fail


def random_programs(count: int, first_seed: int) -> list[Program]:
    """Some whose assertions speak of what is read."""
    seeds = range(first_seed, first_seed + 40 * count)
    drawn = (random_program(random.Random(seed), loop_free=True) for seed in seeds)
    return [program for program in drawn if asserts(program)][:count]


@pytest.mark.parametrize(("checker", "model"), ASKED)
def test_random_programs(checker: Checker, model: str, tmp_path: Path) -> None:
    programs = random_programs(20, 0)
    for wanted in (True, False):
        some = [program for program in programs if ours(program, model) is wanted][:2]
        assert [agree(checker, model, program, tmp_path) for program in some] == [wanted] * 2


@pytest.mark.slow
@pytest.mark.parametrize(("checker", "model"), ASKED)
def test_many_random_programs(checker: Checker, model: str, tmp_path: Path) -> None:
    for program in random_programs(500, 100_000):
        agree(checker, model, program, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize(("checker", "model"), ASKED)
def test_the_examples(checker: Checker, model: str, tmp_path: Path) -> None:
    files = [path for folder in FOLDERS for path in sorted((EXAMPLES / folder).glob("*.tpl"))]
    said = [agree(checker, model, load(path), tmp_path) for path in files]
    assert said.count(None) < len(said)
