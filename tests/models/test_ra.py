import random
from itertools import islice

import pytest

from fencepost.models.enumerate import BOTTOM, reachable_graph_states
from fencepost.models.explore import LimitReachedError
from fencepost.models.ra import RAG, allows, is_ra_consistent
from fencepost.models.ra_timestamps import timestamp_states
from fencepost.models.relations import relation
from fencepost.models.threads import ProgramLts
from tests.models.litmus import IRIW, MP, SB, SB_RMWS, TWO_PLUS_TWO_W, TWO_RMW
from tests.strategies import random_program


def some_graphs(seed, most=12, **limits):
    lts = ProgramLts(random_program(random.Random(seed), non_atomic=False, **limits))
    states = list(islice(reachable_graph_states(lts, RAG), 400))
    random.Random(seed).shuffle(states)
    for threads, graph in states[:most]:
        assert graph is not BOTTOM
        yield lts, threads, graph


def check_steps(seeds):
    for seed in seeds:
        for lts, threads, graph in some_graphs(seed):
            for thread, at in enumerate(threads):
                for label, *_ in lts.threads[thread].enabled(at):
                    for w in graph.mo_lists[label.cell]:
                        step = RAG.step(graph, thread, label, w)
                        assert (step is not None) == allows(graph, thread, label, w), seed


def test_steps_by_masks_are_those_of_the_definition():
    check_steps(range(25))


@pytest.mark.slow
def test_steps_by_masks_are_those_of_the_definition_on_many_programs():
    check_steps(range(1000, 2000))


def test_reachable_graphs_are_ra_consistent():
    """Lemma A.14, and the equivalent form of Lemma A.13."""
    for seed in range(25):
        for _, _, graph in some_graphs(seed):
            assert is_ra_consistent(graph), seed
            per_location = relation((a, b) for a, b in graph.hb if a.label.cell == b.label.cell)
            assert (per_location | graph.mo | graph.fr).is_acyclic(), seed


def test_consistency_rejects_the_steps_that_rag_does_not_have():
    """Lemma A.15 on message passing: one more event keeps the graph consistent iff it is a step of RAG."""
    lts = ProgramLts(MP)
    for threads, graph in reachable_graph_states(lts, RAG):
        for thread, at in enumerate(threads):
            for label, *_ in lts.threads[thread].enabled(at):
                for w in graph.mo_lists[label.cell]:
                    if graph.fits(label, w):
                        by_step = RAG.step(graph, thread, label, w) is not None
                        assert is_ra_consistent(graph.add(thread, label, w)) == by_step


def check_lemma_4_8(seeds):
    checked = 0
    for seed in seeds:
        lts = ProgramLts(random_program(random.Random(seed), non_atomic=False, most_accesses=3))
        try:
            by_messages = {state.threads for state in timestamp_states(lts, limit=2000)}
        except LimitReachedError:
            continue
        assert by_messages == {state.threads for state in reachable_graph_states(lts, RAG)}, seed
        checked += 1
    return checked


def test_graphs_and_timestamps_reach_the_same_program_states():
    assert check_lemma_4_8(range(80)) > 60


@pytest.mark.slow
def test_graphs_and_timestamps_reach_the_same_program_states_on_many_programs():
    assert check_lemma_4_8(range(1000, 6000)) > 4000


def final_registers(program, states):
    ends = tuple(len(thread.code) for thread in program.threads)
    return {
        tuple(thread.registers for thread in state.threads)
        for state in states(ProgramLts(program))
        if tuple(thread.pc for thread in state.threads) == ends
    }


@pytest.mark.parametrize(
    ("program", "registers", "allowed"),
    [
        (SB, {0: "a0", 1: "b0"}, True),
        (MP, {1: "a1b0"}, False),
        (MP, {1: "a1b1"}, True),
        (IRIW, {1: "a1b0", 2: "c1d0"}, True),
        (TWO_PLUS_TWO_W, {0: "a1", 1: "a1"}, True),
        (TWO_RMW, {0: "a0", 1: "b0"}, False),
        (SB_RMWS, {0: "a0", 1: "b0"}, False),
    ],
    ids=["SB", "MP stale", "MP", "IRIW", "2+2W", "2RMW", "SB+RMWs"],
)
@pytest.mark.parametrize("states", [timestamp_states, lambda lts: reachable_graph_states(lts, RAG)])
def test_outcomes_of_section_3(program, registers, allowed, states):
    wanted = {
        (thread, "abcd".index(text[place]), int(text[place + 1]))
        for thread, text in registers.items()
        for place in range(0, len(text), 2)
    }
    outcomes = final_registers(program, states)
    assert any(all(final[t][slot] == v for t, slot, v in wanted) for final in outcomes) == allowed
