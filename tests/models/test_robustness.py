import random

import pytest
from hypothesis import given, settings

from fencepost.models.enumerate import BOTTOM, reachable_graph_states
from fencepost.models.explore import LimitReachedError
from fencepost.models.ra import RAG, RAG_NA
from fencepost.models.robustness import non_robustness_witness, not_robust_graph, state_beyond_sc
from fencepost.models.sc import SCG, races, reachable_states
from fencepost.models.threads import ProgramLts
from tests.models.litmus import BARRIER_LOOP, MP_NON_ATOMIC, MP_NON_ATOMIC_RACE, VERDICTS
from tests.strategies import programs, random_program


def program_states(program, memory):
    return {state.threads for state in reachable_graph_states(ProgramLts(program), memory)}


@pytest.mark.parametrize("name", VERDICTS)
class TestLitmus:
    def test_execution_graph_robustness(self, name):
        program, robust, _ = VERDICTS[name]
        assert (not_robust_graph(program) is None) == robust
        assert (state_beyond_sc(program) is None) == robust
        assert (non_robustness_witness(program) is None) == robust

    def test_state_robustness(self, name):
        program, _, state_robust = VERDICTS[name]
        assert (program_states(program, RAG) <= program_states(program, SCG)) == state_robust


def test_a_barrier_with_a_loop_is_not_robust():
    graph = not_robust_graph(BARRIER_LOOP, limit=1000)
    assert graph is not None
    assert not graph.hbsc.is_irreflexive()


def test_graphs_of_a_loop_have_no_end():
    with pytest.raises(LimitReachedError):
        list(reachable_graph_states(ProgramLts(BARRIER_LOOP), SCG, limit=1000))


def test_sequential_consistency_is_robust():
    for program, *_ in VERDICTS.values():
        assert not_robust_graph(program, model="sc") is None


def test_message_passing_of_a_non_atomic_payload_is_robust():
    assert state_beyond_sc(MP_NON_ATOMIC) is None
    assert not_robust_graph(MP_NON_ATOMIC) is None


def test_a_race_is_beyond_sc():
    found = state_beyond_sc(MP_NON_ATOMIC_RACE)
    assert found is not None
    assert found.graph is BOTTOM
    assert not_robust_graph(MP_NON_ATOMIC_RACE) is None
    assert non_robustness_witness(MP_NON_ATOMIC_RACE) is None


def agree(program, seed=None):
    """The three definitions, Proposition 4.10, and with non-atomic cells Theorem 6.2."""
    racy = bool(races(program))
    witness = non_robustness_witness(program) is not None
    assert (state_beyond_sc(program) is not None) == (witness or racy), seed
    if not racy:
        assert (not_robust_graph(program) is not None) == witness, seed
    if not racy and not witness:
        under_ra = {state.threads for state in reachable_graph_states(ProgramLts(program), RAG_NA)}
        assert under_ra <= {state.threads for state in reachable_states(program)}, seed


def test_definitions_agree_on_random_programs():
    for seed in range(150):
        agree(random_program(random.Random(seed), non_atomic=False), seed)


def test_definitions_agree_with_non_atomic_cells():
    for seed in range(300, 450):
        agree(random_program(random.Random(seed)), seed)


@settings(max_examples=40, deadline=None)
@given(programs(most_accesses=3))
def test_definitions_agree_on_programs_that_shrink(program):
    agree(program)


@pytest.mark.slow
@pytest.mark.parametrize("block", range(10))
def test_definitions_agree_on_many_programs(block):
    for seed in range(10_000 + block * 1000, 11_000 + block * 1000):
        agree(random_program(random.Random(seed)), seed)
