"""The engine against the definitions, by the thousand.

A program on which they ever disagreed is kept in `regressions/` (as TPL, by `fencepost.formats.tpl.write`).
"""

import random
from pathlib import Path

import pytest
from hypothesis import given, settings

from fencepost.analyses.robustness import robust
from fencepost.engine.search import reachable_states
from fencepost.formats import load
from fencepost.formats.tpl import write
from fencepost.memory_models import GRAPH_MODELS as MODELS
from fencepost.models import sc
from fencepost.models.explore import LimitReachedError
from fencepost.models.robustness import non_robustness_witness
from fencepost.models.threads import DIVERGED
from fencepost.verdicts import NotRobust
from tests.engine.against_definitions import by_definition, check_against_definitions
from tests.strategies import programs, random_program

BATCH = 250
REGRESSIONS = sorted(Path(__file__).parent.glob("regressions/*.tpl"))
SC_REGRESSIONS = sorted(Path(__file__).parent.glob("regressions/cpp20/*.tpl"))
ORDERS = ["breadth-first", "depth-first", "largest-first", "by-location"]
# To find that S exists takes long; the few programs with more graphs than this are left to the slow test.
FEW_GRAPHS = 250


def drawn_for(model, seed, *, loop_free=True):
    """Three of four programs are drawn so that modes, fences and races matter, where they do; and for C++20
    three of four so that seq_cst accesses do."""
    return random_program(
        random.Random(seed),
        loop_free=loop_free,
        modes=model != "ra" and seed % 4 != 1,
        sc_accesses=model == "cpp20" and seed % 4 != 2,
    )


def check_batch(first_seed: int, model: str, limit: int | None = None) -> None:
    not_robust = races = compared = 0
    for seed in range(first_seed, first_seed + BATCH):
        program = drawn_for(model, seed)
        try:
            truth = by_definition(program, model, limit)
            answer = check_against_definitions(program, model, ORDERS[seed // 4 % 4], truth=truth)
        except LimitReachedError:
            continue
        except Exception as error:
            raise AssertionError(f"seed {seed}:\n{write(program)}") from error
        compared += 1
        not_robust += isinstance(answer, NotRobust)
        races += answer.race is not None
    assert compared > BATCH * 0.85
    assert BATCH * 0.1 < not_robust < BATCH * 0.9  # both verdicts must be well represented
    assert races > BATCH * {"ra": 0.02, "rc20": 0.1, "cpp20": 0.05}[model]


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("first_seed", range(0, 2000, BATCH))
def test_random_programs(first_seed, model):
    check_batch(first_seed, model, FEW_GRAPHS if model == "cpp20" else None)


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("first_seed", range(2000, 22000, BATCH))
def test_many_random_programs(first_seed, model):
    check_batch(first_seed, model)


@given(programs())
@settings(max_examples=300, deadline=None)
def test_drawn_programs(program):
    check_against_definitions(program)


@given(programs(modes=True))
@settings(max_examples=300, deadline=None)
def test_drawn_programs_with_modes(program):
    check_against_definitions(program, "rc20")


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("file", REGRESSIONS, ids=lambda file: file.stem)
def test_programs_that_once_disagreed(file, model, order):
    check_against_definitions(load(file), model, order)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("file", SC_REGRESSIONS, ids=lambda file: file.stem)
def test_programs_that_tell_the_rules_of_s_apart(file, order):
    check_against_definitions(load(file), "cpp20", order)


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


@pytest.mark.parametrize("model", MODELS)
def test_looping_programs_have_the_violations_of_their_first_graphs(model):
    """The graphs of a loop have no end; a program that shows nothing in the first ones is not compared."""
    compared = 0
    for seed in range(400):
        program = drawn_for(model, seed, loop_free=False)
        try:
            expected = non_robustness_witness(program, model, limit=300)
        except LimitReachedError:
            continue
        answer = robust(program, model)
        assert (answer.witness is not None) == (expected is not None), f"seed {seed}:\n{write(program)}"
        compared += 1
    assert compared > 250
