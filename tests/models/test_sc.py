import random

import pytest

from fencepost.models.enumerate import BOTTOM, reachable_graph_states
from fencepost.models.explore import LimitReachedError
from fencepost.models.sc import (
    SCG,
    ScFinding,
    ScRace,
    ScState,
    findings,
    is_sc_consistent,
    races,
    reachable_states,
)
from fencepost.models.threads import ProgramLts
from fencepost.program import Assert, Assign, Binary, Constant, Goto, Load, Register
from tests.models.litmus import BARRIER_LOOP, MP_NON_ATOMIC, MP_NON_ATOMIC_RACE, SB, program, read, write
from tests.strategies import random_program


def check_lemma_4_6(seeds):
    """SCG and SC reach the same states, the memory of a graph being what its mo-last writes wrote."""
    for seed in seeds:
        test = random_program(random.Random(seed))
        lts = ProgramLts(test)
        by_graphs = set()
        for threads, graph in reachable_graph_states(lts, SCG):
            assert graph is not BOTTOM
            memory = tuple(graph.written(graph.latest(cell)) for cell in range(len(test.cells)))
            by_graphs.add(ScState(threads, memory))
        assert reachable_states(test) == by_graphs, seed


def test_scg_and_sc_reach_the_same_states():
    check_lemma_4_6(range(150))


@pytest.mark.slow
def test_scg_and_sc_reach_the_same_states_on_many_programs():
    check_lemma_4_6(range(1000, 6000))


def test_scg_reaches_only_sc_consistent_graphs():
    """Lemma A.8."""
    for seed in range(15):
        lts = ProgramLts(random_program(random.Random(seed), most_accesses=2))
        for _, graph in reachable_graph_states(lts, SCG):
            assert is_sc_consistent(graph), seed


def test_store_buffering_never_reads_two_zeros():
    final = {
        (threads[0].registers[0], threads[1].registers[1])
        for threads, _ in reachable_states(SB)
        if all(thread.pc == 2 for thread in threads)
    }
    assert final == {(0, 1), (1, 0), (1, 1)}


def test_loops_have_finitely_many_states():
    """Each thread before its write, in its loop, or at its end, but no end before both have written."""
    places = {tuple(thread.pc for thread in threads) for threads, _ in reachable_states(BARRIER_LOOP)}
    assert places == {(0, 0), (0, 1), (1, 0), (1, 1), (1, 3), (3, 1), (3, 3)}
    assert len(reachable_states(BARRIER_LOOP)) == 7


def test_the_limit_is_told():
    with pytest.raises(LimitReachedError):
        reachable_states(BARRIER_LOOP, limit=6)
    assert len(reachable_states(BARRIER_LOOP, limit=7)) == 7


def test_random_programs_with_loops_can_be_explored():
    explored = 0
    for seed in range(60):
        try:
            reachable_states(random_program(random.Random(seed), loop_free=False), limit=20_000)
            explored += 1
        except LimitReachedError:
            pass
    assert explored > 50


def test_a_flag_that_is_waited_for_protects_the_payload():
    assert races(MP_NON_ATOMIC) == set()


def test_a_flag_that_is_only_read_does_not():
    assert races(MP_NON_ATOMIC_RACE) == {ScRace("p", (0, 1), (0, 1))}


def test_two_non_atomic_reads_do_not_race():
    reading = [Load("a", MP_NON_ATOMIC.threads[0].code[0].cell, MP_NON_ATOMIC.threads[0].code[0].mode)]
    assert races(program(reading, reading, atomic="x", non_atomic="p")) == set()


def test_findings_are_those_of_reachable_arrivals():
    checked = [read("a", "x"), Assert(Binary("==", Register("a"), Constant(0))), read("b", "y")]
    assert findings(program(checked)) == set()
    assert findings(program([write("x", 1)], checked)) == {ScFinding("assertion", 1, 1)}


def test_findings_before_the_first_access_count():
    failing = [Assign("a", Binary("/", Constant(1), Constant(0)))]
    assert findings(program(failing, [Assert(Constant(0)), Goto(1)])) == {
        ScFinding("division-by-zero", 0, 0),
        ScFinding("assertion", 1, 0),
    }
