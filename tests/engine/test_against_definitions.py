"""The engine against the definitions, by the thousand.

A program on which they ever disagreed is kept in `regressions/` (as TPL, by `holdfast.formats.tpl.write`).
"""

import random
from pathlib import Path

import pytest
from hypothesis import given, settings

from engine.against_definitions import check_against_definitions
from holdfast.engine.explore import reachable_states
from holdfast.formats import load
from holdfast.formats.tpl import write
from holdfast.models import sc
from holdfast.models.explore import LimitReachedError
from holdfast.models.threads import DIVERGED
from holdfast.verdicts import NotRobust
from strategies import programs, random_program

BATCH = 250
REGRESSIONS = sorted(Path(__file__).parent.glob("regressions/*.tpl"))


def check_batch(first_seed: int) -> None:
    not_robust = 0
    for seed in range(first_seed, first_seed + BATCH):
        program = random_program(random.Random(seed))
        try:
            answer = check_against_definitions(
                program, order="depth-first" if seed % 4 == 0 else "breadth-first"
            )
        except Exception as error:
            raise AssertionError(f"seed {seed}:\n{write(program)}") from error
        not_robust += isinstance(answer, NotRobust)
    assert BATCH * 0.1 < not_robust < BATCH * 0.9  # both verdicts must be well represented


@pytest.mark.parametrize("first_seed", range(0, 2000, BATCH))
def test_random_programs(first_seed):
    check_batch(first_seed)


@pytest.mark.slow
@pytest.mark.parametrize("first_seed", range(2000, 22000, BATCH))
def test_many_random_programs(first_seed):
    check_batch(first_seed)


@given(programs())
@settings(max_examples=300, deadline=None)
def test_drawn_programs(program):
    check_against_definitions(program)


@pytest.mark.parametrize("file", REGRESSIONS, ids=lambda file: file.stem)
def test_programs_that_once_disagreed(file):
    check_against_definitions(load(file))


def states_by_definition(program, limit):
    """`sc.reachable_states` in the engine's form."""

    def flat(state):
        for thread, at in zip(program.threads, state.threads, strict=True):
            yield len(thread.code) + 1 if at.pc == DIVERGED else at.pc
            yield from at.registers
        yield from state.memory[: len(program.cells)]

    return {tuple(flat(state)) for state in sc.reachable_states(program, limit)}


@pytest.mark.parametrize("first_seed", range(0, 2000, BATCH))
def test_looping_programs_reach_the_same_states(first_seed):
    compared = 0
    for seed in range(first_seed, first_seed + BATCH):
        program = random_program(random.Random(seed), loop_free=False)
        try:
            expected = states_by_definition(program, limit=3000)
        except LimitReachedError:
            continue
        assert reachable_states(program, 10**6) == expected, f"seed {seed}:\n{write(program)}"
        compared += 1
    assert compared > BATCH * 0.9
