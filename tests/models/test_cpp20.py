import random
from itertools import islice

import pytest

from fencepost.models.cpp20 import (
    CPP20,
    before_in_s,
    has_s,
    is_cpp20_consistent,
    masks_before_in_s,
    races,
    sc_events,
)
from fencepost.models.definition import program_lts
from fencepost.models.enumerate import BOTTOM, reachable_graph_states
from fencepost.models.explore import LimitReachedError
from fencepost.models.rc20 import RC20, hb, is_rc20_consistent, knowledge
from fencepost.models.relations import identity, relation
from fencepost.models.robustness import non_robustness_witness, not_robust_graph, state_beyond_sc
from fencepost.program import Mode
from tests.models.litmus import SC_FENCE, na_read, na_write, program, wait, write
from tests.models.litmus_cpp20 import MODES, VERDICTS, shaped
from tests.models.strength import weakened_from_sc
from tests.models.test_rc20 import AnyGraphs, mask
from tests.strategies import random_program


@pytest.mark.parametrize("name", VERDICTS)
def test_litmus_verdicts(name):
    test, robust = VERDICTS[name]
    assert (not_robust_graph(test, "cpp20") is None) == robust
    assert (state_beyond_sc(test, "cpp20") is None) == robust
    assert (non_robustness_witness(test, "cpp20") is None) == robust


# Masks, steps and predicate say the same.


def some_graphs(seed, memory=CPP20, most=8, **limits):
    test = random_program(random.Random(seed), modes=True, sc_accesses=True, **limits)
    lts = program_lts(test, "cpp20")
    states = [s for s in islice(reachable_graph_states(lts, memory), 300) if s.graph is not BOTTOM]
    random.Random(seed).shuffle(states)
    for threads, graph in states[:most]:
        yield lts, threads, graph


def check_masks(seeds):
    for seed in seeds:
        for _, _, graph in some_graphs(seed):
            before, happens = masks_before_in_s(graph), hb(graph) | graph.id
            pairs = {(graph.event(a), graph.event(b)) for b in before for a in before if before[b] >> a & 1}
            assert pairs == before_in_s(graph).pairs, seed
            for event, known in knowledge(graph).of_event.items():
                until = happens >> identity([graph.event(event)])
                assert known == mask(graph, until.domain), seed


def test_masks_are_what_the_relations_say():
    check_masks(range(20))


def check_steps(seeds):
    """A step keeps the graph consistent, and any other placing of the same event does not."""
    refused_by_s = 0
    for seed in seeds:
        for lts, threads, graph in some_graphs(seed, most=4, non_atomic=False):
            assert is_cpp20_consistent(graph), seed
            for thread, at in enumerate(threads):
                for label, *_ in lts.threads[thread].enabled(at):
                    for w in filter(lambda w: graph.fits(label, w), graph.mo_lists[label.cell]):
                        after = graph.add(thread, label, w)
                        step = CPP20.step(graph, thread, label, w) is not None
                        assert step == is_cpp20_consistent(after), seed
                        refused_by_s += is_rc20_consistent(after) and not has_s(after)
    assert refused_by_s


def test_steps_are_those_that_keep_the_graph_consistent():
    check_steps(range(15))


def check_all_graphs(seeds):
    """Every consistent graph can be reached by steps of the memory, and no other."""
    checked = 0
    for seed in seeds:
        test = random_program(
            random.Random(seed), modes=True, sc_accesses=True, non_atomic=False, most_accesses=2
        )
        lts = program_lts(test, "cpp20")
        try:
            candidates = list(reachable_graph_states(lts, AnyGraphs(), limit=800))
        except LimitReachedError:
            continue
        by_predicate = {state for state in candidates if is_cpp20_consistent(state.graph)}
        assert set(reachable_graph_states(lts, CPP20)) == by_predicate, seed
        checked += 1
    assert checked > len(seeds) * 0.5


def test_steps_reach_all_consistent_graphs():
    check_all_graphs(range(10))


def check_definitions_agree(seeds):
    """The three definitions of robustness; what stops at a race is another matter."""
    verdicts = []
    for seed in seeds:
        test = random_program(random.Random(seed), modes=True, sc_accesses=True, most_accesses=3)
        try:
            witness = non_robustness_witness(test, "cpp20", limit=2000) is not None
            racy = bool(races(test, 2000))
            beyond = state_beyond_sc(test, "cpp20", limit=2000) is not None
        except LimitReachedError:
            continue
        assert beyond == (witness or racy), seed
        if not racy:
            assert (not_robust_graph(test, "cpp20") is not None) == witness, seed
        verdicts.append(witness)
    assert len(verdicts) > len(seeds) * 0.8
    assert len(verdicts) * 0.1 < sum(verdicts) < len(verdicts) * 0.5


def test_a_step_away_from_sc_decides_robustness():
    check_definitions_agree(range(20))


def check_weakening(seeds):
    """Less synchronisation, or less of S, never makes a program robust, nor takes a race away."""
    differ = 0
    for seed in seeds:
        test = random_program(random.Random(seed), modes=True, sc_accesses=True, most_accesses=3)
        weaker = weakened_from_sc(test, random.Random(seed))
        robust = non_robustness_witness(test, "cpp20") is None
        still_robust = non_robustness_witness(weaker, "cpp20") is None
        assert robust or not still_robust, seed
        assert races(weaker) or not races(test), seed
        differ += robust != still_robust
    assert differ


def test_weakening_never_helps():
    check_weakening(range(60))


# Races.


def test_sc_fences_alone_do_not_synchronise():
    """Under RC20 they do."""
    fences = program([na_write("p", 1), SC_FENCE], [SC_FENCE, na_read("a", "p")], non_atomic="p")
    assert races(fences)
    fences_in_order = program(
        [na_write("p", 1), SC_FENCE, write("x", 1)],
        [wait("x", 1), SC_FENCE, na_read("a", "p")],
        non_atomic="p",
    )
    assert not races(fences_in_order)


@pytest.mark.parametrize(
    ("w", "r", "racy"),
    [("s", "s", False), ("s", "a", False), ("r", "s", False), ("x", "s", True), ("s", "x", True)],
)
def test_seq_cst_accesses_acquire_and_release(w, r, racy):
    test = program(
        [na_write("p", 1), write("x", 1, MODES[w])],
        [wait("x", 1, mode=MODES[r]), na_read("a", "p")],
        non_atomic="p",
    )
    assert bool(races(test)) == racy


# Beside RC20.


def has_sc_event(test):
    return test.sc_access is not None or test.has_sc_fence


def check_against_rc20(seeds):
    compared = 0
    for seed in seeds:
        test = random_program(random.Random(seed), modes=True)
        if has_sc_event(test):
            continue
        compared += 1
        graphs = set(reachable_graph_states(program_lts(test, "rc20"), CPP20))
        assert graphs == set(reachable_graph_states(program_lts(test, "cpp20"), CPP20)), seed
    assert compared > len(seeds) * 0.5


def test_without_sc_events_it_is_rc20():
    check_against_rc20(range(40))


def test_sc_fences_are_no_events_of_hbsc():
    test = shaped("SB", "x F x | x F x")
    assert not test.sc_access
    kinds = {
        e.label.kind
        for _, graph in reachable_graph_states(program_lts(test, "cpp20"), CPP20)
        for e in graph.events
    }
    assert kinds == {"W", "R", "F"}


def test_the_modes_of_an_rmw_are_both_seq_cst():
    for seed in range(300):
        for thread in random_program(random.Random(seed), sc_accesses=True).threads:
            for instruction in thread.code:
                modes = (getattr(instruction, "load_mode", None), getattr(instruction, "store_mode", None))
                assert modes.count(Mode.SC) in (0, 2)


@pytest.mark.slow
def test_on_many_programs():
    check_masks(range(20, 400))
    check_steps(range(15, 200))
    check_all_graphs(range(10, 100))
    check_definitions_agree(range(20, 1000))
    check_weakening(range(60, 1000))
    check_against_rc20(range(40, 500))


# Beside RC11 (Lahav, Vafeiadis, Kang, Hur and Dreyer, PLDI 2017).


def psc_of_rc11(graph):
    """psc without its part for fences: scb = po ∪ po|≠loc ; hb ; po|≠loc ∪ hb|loc ∪ mo ∪ fr."""
    po, happens, sc = graph.po, hb(graph), identity(sc_events(graph))
    on_one_cell = relation((a, b) for a, b in happens if a.label.cell == b.label.cell)
    elsewhere = relation((a, b) for a, b in po if a.label.cell != b.label.cell)
    scb = po | elsewhere >> happens >> elsewhere | on_one_cell | graph.mo | graph.fr
    return sc >> scb >> sc


def test_rc11_allows_iriw_with_relaxed_stores_and_cpp20_does_not():
    test = shaped("IRIW", "x | s s | s s | x")
    states = reachable_graph_states(program_lts(test, "cpp20"), RC20)
    beyond_sc = [graph for _, graph in states if not graph.is_sc_consistent()]
    assert beyond_sc
    assert all(psc_of_rc11(graph).is_acyclic() and not has_s(graph) for graph in beyond_sc)
    assert not_robust_graph(test, "cpp20") is None


def test_rc11_and_cpp20_forbid_store_buffering_with_seq_cst_accesses():
    states = reachable_graph_states(program_lts(shaped("SB", "s s | s s"), "cpp20"), RC20)
    beyond_sc = [graph for _, graph in states if not graph.is_sc_consistent()]
    assert beyond_sc
    assert not any(psc_of_rc11(graph).is_acyclic() or has_s(graph) for graph in beyond_sc)
