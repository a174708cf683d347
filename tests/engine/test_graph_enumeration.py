"""The enumeration of execution graphs against the definitions: the same ends, and the same data races."""

import random

import pytest

from fencepost.engine._native import Outcome
from fencepost.engine.graphs import all_observed, enumerate_graphs
from fencepost.engine.search import Limits
from fencepost.formats.tpl import write
from fencepost.memory_models import OUTCOME_MODELS
from fencepost.models.definition import definition, program_lts
from fencepost.models.enumerate import reachable_graph_states
from fencepost.models.explore import LimitReachedError
from fencepost.models.outcomes import ends
from fencepost.program import Choose
from tests.strategies import random_program, wide_program

MOST_STATES = 300  # of a definition; programs with more are left to the slow test


def drawn_for(model, seed):
    """Every third has RMWs, waits and fences anywhere."""
    sc_accesses = model in ("sc", "tso", "cpp20")
    if seed % 3 == 2:
        return wide_program(random.Random(seed), sc_accesses=sc_accesses)
    return random_program(
        random.Random(seed),
        loop_free=True,
        modes=seed % 4 != 1,
        sc_accesses=sc_accesses and seed % 4 != 2,
    )


def found(program, model):
    return enumerate_graphs(program, model, all_observed(program), Limits(), unroll=1)


def compare(model, seeds, limit):
    compared = racy = 0
    for seed in seeds:
        program = drawn_for(model, seed)
        try:
            truth = ends(program, model, limit)
        except LimitReachedError:
            continue
        compared += 1
        result = found(program, model)
        told = f"seed {seed}:\n{write(program)}"
        assert (result.race is not None) == (truth is None), told
        if truth is None:
            racy += 1
            continue
        assert result.outcome == Outcome.COMPLETE, told
        assert not result.truncated, told
        expected = {(*(v for of_thread in end.registers for v in of_thread), *end.memory) for end in truth}
        assert {tuple(end.values) for end in result.ends} == expected, told
    return compared, racy


@pytest.mark.parametrize("model", OUTCOME_MODELS)
def test_the_ends_are_those_of_the_definition(model):
    compared, racy = compare(model, range(40 if model == "sra" else 100), MOST_STATES)
    assert compared >= 10
    assert (racy == 0) if model == "tso" else racy > 0


@pytest.mark.slow
@pytest.mark.parametrize("model", OUTCOME_MODELS)
@pytest.mark.parametrize("batch", range(10))
def test_the_ends_are_those_of_the_definition_by_the_thousand(model, batch):
    compare(model, range(10_000 + batch * 2_000, 10_000 + (batch + 1) * 2_000), 3000)


@pytest.mark.parametrize("model", ["ra", "rc20", "cpp20"])
def test_each_graph_comes_once(model):
    compared = 0
    for seed in range(40):
        program = drawn_for(model, seed)
        chooses = any(isinstance(i, Choose) for thread in program.threads for i in thread.code)
        if chooses or not all(program.atomic_cells):
            continue
        states = reachable_graph_states(program_lts(program, model), definition(model).memory, MOST_STATES)
        try:
            complete = {
                state
                for state in states
                if all(at.pc == len(t.code) for at, t in zip(state.threads, program.threads, strict=True))
            }
        except LimitReachedError:
            continue
        compared += 1
        assert found(program, model).graphs == len(complete), f"seed {seed}:\n{write(program)}"
    assert compared > 5


@pytest.mark.parametrize("seed", range(60))
def test_weaker_models_have_all_ends_of_stronger_ones(seed):
    program = random_program(random.Random(seed), loop_free=True, modes=seed % 2 == 0)
    if not all(program.atomic_cells):
        return
    of = {model: {tuple(end.values) for end in found(program, model).ends} for model in OUTCOME_MODELS}
    assert of["sc"] <= of["tso"]
    assert of["sc"] <= of["sra"] <= of["ra"] <= of["rc20"]
