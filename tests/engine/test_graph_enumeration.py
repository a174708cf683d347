"""The enumeration of execution graphs against the definitions: the same ends, and the same data races."""

import random

import pytest

from fencepost.engine._native import Outcome
from fencepost.engine.graphs import all_observed, enumerate_graphs
from fencepost.engine.search import Limits
from fencepost.formats.tpl import read, write
from fencepost.memory_models import OUTCOME_MODELS
from fencepost.models.definition import definition, program_lts
from fencepost.models.enumerate import reachable_graph_states
from fencepost.models.explore import LimitReachedError
from fencepost.models.outcomes import ends
from fencepost.program import Choose
from tests.draining_pairs import draining_pair
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


def compare_ends(program, model, limit):
    """Whether there is a data race. Raises `LimitReachedError`."""
    truth = ends(program, model, limit)
    result = found(program, model)
    told = f"{model}:\n{write(program)}"
    assert (result.race is not None) == (truth is None), told
    if truth is None:
        return True
    assert result.outcome == Outcome.COMPLETE, told
    assert not result.truncated, told
    expected = {(*(v for of_thread in end.registers for v in of_thread), *end.memory) for end in truth}
    assert {tuple(end.values) for end in result.ends} == expected, told
    return False


def compare(model, seeds, limit):
    compared = racy = 0
    for seed in seeds:
        try:
            racy += compare_ends(drawn_for(model, seed), model, limit)
        except LimitReachedError:
            continue
        compared += 1
    return compared, racy


@pytest.mark.parametrize("model", OUTCOME_MODELS)
def test_the_ends_are_those_of_the_definition(model):
    compared, racy = compare(model, range(40 if model == "sra" else 100), MOST_STATES)
    assert compared >= 10
    assert (racy == 0) if model == "tso" else racy > 0


@pytest.mark.parametrize("model", OUTCOME_MODELS)
def test_two_threads_that_drain_their_buffers(model):
    for seed in range(60):
        compare_ends(draining_pair(random.Random(seed)), model, None)


# What few random programs do; a name for each, and the program.
SPECIAL = {
    "race of a read with a write that depends on it": """
        global x; na d;
        fn t { local r; r = d.naload(); x.store(1, rlx); }
        fn u { local s; s = x.load(rlx); if (s == 1) { d.nastore(1); } }
    """,
    "race of a read in the first thread": """
        na d;
        fn t { local r; r = d.naload(); }
        fn u { d.nastore(1); }
    """,
    "store buffering with forwarding": """
        global x, y;
        fn t { local r, s; x.store(1); r = x.load(); s = y.load(); }
        fn u { local r, s; y.store(1); r = y.load(); s = x.load(); }
    """,
    "fences that do one thing and not the other": """
        global x, y, d;
        fn t { d.store(1, rlx); fence(acq); x.store(1, rlx); }
        fn u { local r, s; r = x.load(rlx); fence(rel); s = d.load(rlx); }
        fn v { local r, s; r = x.load(acq); s = d.load(rlx); }
    """,
    "an SC fence acquires": """
        global x, d;
        fn t { d.store(1, rlx); x.store(1, rel); }
        fn u { local r, s; r = x.load(rlx); fence; s = d.load(rlx); }
    """,
    "an SC fence releases": """
        global x, d;
        fn t { d.store(1, rlx); fence; x.store(1, rlx); }
        fn u { local r, s; r = x.load(acq); s = d.load(rlx); }
    """,
    "compare-exchanges whose orders differ": """
        global x, y, d;
        fn t { d.store(1, rlx); x.store(1, rel); }
        fn u { local r, s; r = CAS(x, 1, 2, acq, rlx, rlx); s = d.load(rlx); }
        fn v { local r, s; r = CAS(x, 2, 3, rlx, rlx, acq); s = d.load(rlx); }
    """,
}


@pytest.mark.parametrize("model", OUTCOME_MODELS)
@pytest.mark.parametrize("text", SPECIAL.values(), ids=SPECIAL)
def test_programs_that_few_random_ones_are_like(text, model):
    compare_ends(read(text), model, None)


@pytest.mark.parametrize("model", ["sc", "ra", "rc20", "cpp20"])
def test_choices_are_no_reason_to_see_a_graph_twice(model):
    program = read(
        """
        global x, y;
        fn t { local r; r = x.load(); oneof({ y.store(1); } { y.store(2); }); }
        fn u { x.store(1); }
        """
    )
    assert found(program, model).graphs == 4


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
