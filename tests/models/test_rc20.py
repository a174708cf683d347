import random
from itertools import islice

import pytest
from hypothesis import given, settings

from fencepost.models.enumerate import BOTTOM, reachable_graph_states
from fencepost.models.explore import LimitReachedError
from fencepost.models.graphs import initial_graph
from fencepost.models.ra import RAG
from fencepost.models.rc20 import RC20, allows, hb, is_rc20_consistent, knowledge, races, sw
from fencepost.models.relations import identity
from fencepost.models.robustness import non_robustness_witness, not_robust_graph, state_beyond_sc
from fencepost.models.sc import SCG
from fencepost.models.threads import DIVERGED, Label, ProgramLts
from fencepost.program import Choose, Goto, Mode, Program
from tests.models.litmus import program, read, wait, write
from tests.models.litmus_rc20 import ACQ, ACQUIRE, RACES, RELEASE, SC_FENCE, VERDICTS
from tests.models.strength import release_acquire, weakened
from tests.strategies import programs, random_program


def rc20_lts(test: Program) -> ProgramLts:
    return ProgramLts(test, silent_fences=False)


@pytest.mark.parametrize("name", VERDICTS)
def test_litmus_verdicts(name):
    test, robust = VERDICTS[name]
    assert (not_robust_graph(test, "rc20") is None) == robust
    assert (state_beyond_sc(test, "rc20") is None) == robust
    assert (non_robustness_witness(test, "rc20") is None) == robust


@pytest.mark.parametrize("name", RACES)
def test_litmus_races(name):
    test, racy = RACES[name]
    assert bool(races(test)) == racy
    assert any(graph is BOTTOM for _, graph in reachable_graph_states(rc20_lts(test), RC20)) == racy


# The relations of the definition, in small graphs.


def flag_graph(*events):
    """A graph built from (thread, label), where everything reads or overwrites the latest write."""
    graph = initial_graph(rc20_lts(program([], [], [], atomic="xy")))
    for thread, label in events:
        graph = SCG.step(graph, thread, label, -1 if label.kind == "F" else graph.latest(label.cell))
    return graph


W_X, W_Y, W_Y_REL = Label("W", 0, None, 1), Label("W", 1, None, 1), Label("W", 1, None, 1, None, Mode.REL)
R_Y, R_Y_ACQ = Label("R", 1, 1), Label("R", 1, 1, None, Mode.ACQ)
RMW_Y = Label("RMW", 1, 1, 1, Mode.RLX, Mode.RLX)
F_ACQ, F_REL = Label("F", -1, None, None, Mode.ACQ), Label("F", -1, None, None, None, Mode.REL)


def synchronised(graph):
    return {((a.thread, a.serial), (b.thread, b.serial)) for a, b in sw(graph)}


def test_a_release_write_synchronises_with_an_acquire_read():
    assert synchronised(flag_graph((0, W_Y_REL), (1, R_Y_ACQ))) == {((0, 1), (1, 1))}


@pytest.mark.parametrize("events", [((0, W_Y), (1, R_Y_ACQ)), ((0, W_Y_REL), (1, R_Y)), ((0, W_Y), (1, R_Y))])
def test_a_relaxed_side_does_not_synchronise(events):
    assert synchronised(flag_graph(*events)) == set()


def test_a_release_fence_synchronises_by_any_later_write():
    assert synchronised(flag_graph((0, F_REL), (0, W_X), (0, W_Y), (1, R_Y_ACQ))) == {((0, 1), (1, 1))}


def test_an_acquire_fence_synchronises_by_any_earlier_read():
    assert synchronised(flag_graph((0, W_Y_REL), (1, R_Y), (1, W_X), (1, F_ACQ))) == {((0, 1), (1, 3))}


def test_a_release_sequence_goes_on_by_rmws_of_any_thread():
    graph = flag_graph((0, W_Y_REL), (1, RMW_Y), (2, RMW_Y), (1, R_Y_ACQ))
    assert synchronised(graph) == {((0, 1), (1, 2))}
    assert synchronised(flag_graph((0, W_Y_REL), (1, RMW_Y), (2, W_Y), (1, R_Y_ACQ))) == set()


def test_sc_fences_synchronise_with_one_another():
    [graph] = {
        graph
        for threads, graph in reachable_graph_states(rc20_lts(program([SC_FENCE], [SC_FENCE])), SCG)
        if len(graph.events - graph.init) == 2 and graph.rf_lists[1] == (graph.number(0, 1),)
    }
    assert synchronised(graph) == {((0, 1), (1, 1))}


def test_an_sc_fence_is_an_acquire_and_a_release_fence():
    for sender, receiver in [([SC_FENCE], [ACQUIRE]), ([RELEASE], [SC_FENCE]), ([SC_FENCE], [SC_FENCE])]:
        sending = [write("x", 1), *sender, write("y", 1)]
        assert not_robust_graph(program(sending, [wait("y", 1), *receiver, read("a", "x")]), "rc20") is None


def test_non_atomic_accesses_do_not_synchronise():
    lts = rc20_lts(program([], [], atomic="x", non_atomic="y"))
    graph = initial_graph(lts).add(0, F_REL, -1).add(0, W_Y, 1)
    graph = graph.add(1, R_Y, graph.number(0, 2)).add(1, F_ACQ, -1)
    assert synchronised(graph) == set()


def test_nothing_comes_out_of_thin_air():
    lts = rc20_lts(program([], [], atomic="xy"))
    graph = initial_graph(lts).add(0, Label("R", 0, 0), 0).add(0, W_Y, 1)
    graph = graph.add(1, R_Y, graph.number(0, 2)).add(1, W_X, 0)
    assert is_rc20_consistent(graph)
    graph.rf_lists = ((graph.number(1, 2), -1), *graph.rf_lists[1:])
    assert not is_rc20_consistent(graph)


# Masks, steps and predicate say the same.


def some_graphs(seed, most=12, **limits):
    lts = rc20_lts(random_program(random.Random(seed), modes=True, **limits))
    states = [state for state in islice(reachable_graph_states(lts, RC20), 400) if state.graph is not BOTTOM]
    random.Random(seed).shuffle(states)
    for threads, graph in states[:most]:
        yield lts, threads, graph


def mask(graph, events):
    return sum(1 << number for number in graph.numbers() if graph.event(number) in events)


def check_masks(seeds):
    for seed in seeds:
        for _, _, graph in some_graphs(seed):
            known, before = knowledge(graph), hb(graph) | graph.id
            for thread in range(graph.cells.threads):
                of_thread = identity(graph.init | graph.of_thread(thread))
                assert known.of_thread[thread] == mask(graph, (before >> of_thread).domain), seed
            for write_ in graph.numbers():
                readers = (identity({graph.event(write_)}) >> graph.rf).codomain
                assert known.readers.get(write_, 0) == mask(graph, readers), seed


def test_masks_are_what_the_relations_say():
    check_masks(range(60))


def check_steps(seeds):
    """A step keeps the graph consistent, and any other placing of the same event does not."""
    for seed in seeds:
        for lts, threads, graph in some_graphs(seed, most=6, non_atomic=False):
            assert is_rc20_consistent(graph), seed
            for thread, at in enumerate(threads):
                for label, *_ in lts.threads[thread].enabled(at):
                    for w in filter(lambda w: graph.fits(label, w), graph.mo_lists[label.cell]):
                        step = RC20.step(graph, thread, label, w) is not None
                        assert step == allows(graph, thread, label, w), seed
                        assert step == is_rc20_consistent(graph.add(thread, label, w)), seed


def test_steps_are_those_that_keep_the_graph_consistent():
    check_steps(range(40))


class AnyGraphs:
    """FG: every write is a possible predecessor."""

    def step(self, graph, thread, label, w):
        return graph.add(thread, label, w)


def check_all_graphs(seeds):
    """Every consistent graph can be reached by steps of the memory, and no other."""
    checked = 0
    for seed in seeds:
        lts = rc20_lts(random_program(random.Random(seed), modes=True, non_atomic=False, most_accesses=2))
        try:
            candidates = list(reachable_graph_states(lts, AnyGraphs(), limit=1500))
        except LimitReachedError:
            continue
        by_predicate = {state for state in candidates if is_rc20_consistent(state.graph)}
        assert set(reachable_graph_states(lts, RC20)) == by_predicate, seed
        checked += 1
    assert checked > len(seeds) * 0.7


def test_steps_reach_all_consistent_graphs():
    check_all_graphs(range(40))


def check_against_ra(seeds):
    """With everything acquire and release, and without weak fences, RC20 is RA."""
    for seed in seeds:
        strong = release_acquire(random_program(random.Random(seed), non_atomic=False))
        by_ra = set(reachable_graph_states(ProgramLts(strong), RAG))
        assert set(reachable_graph_states(rc20_lts(strong), RC20)) == by_ra, seed


def test_with_all_accesses_acquire_and_release_it_is_ra():
    check_against_ra(range(100))


def check_weakening(seeds):
    """Less synchronisation never makes a program robust, nor takes a race away."""
    for seed in seeds:
        test = random_program(random.Random(seed), modes=True)
        robust, racy = non_robustness_witness(test, "rc20") is None, bool(races(test))
        weaker = weakened(test, random.Random(seed))
        assert robust or non_robustness_witness(weaker, "rc20") is not None, seed
        assert bool(races(weaker)) or not racy, seed


def test_weakening_never_helps():
    check_weakening(range(200))


def agree(test, seed=None):
    """The three definitions of robustness; what stops at a race is another matter."""
    racy, witness = bool(races(test)), non_robustness_witness(test, "rc20") is not None
    assert (state_beyond_sc(test, "rc20") is not None) == (witness or racy), seed
    if not racy:
        assert (not_robust_graph(test, "rc20") is not None) == witness, seed


def test_definitions_agree_on_random_programs():
    for seed in range(150):
        agree(random_program(random.Random(seed), modes=True), seed)
    for seed in range(150):
        agree(random_program(random.Random(seed)), seed)


@settings(max_examples=40, deadline=None)
@given(programs(most_accesses=3, modes=True))
def test_definitions_agree_on_programs_that_shrink(test):
    agree(test)


@pytest.mark.slow
@pytest.mark.parametrize("block", range(10))
def test_definitions_agree_on_many_programs(block):
    for seed in range(10_000 + block * 1000, 11_000 + block * 1000):
        agree(random_program(random.Random(seed), modes=True), seed)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("check", "most"),
    [
        (check_masks, 2000),
        (check_steps, 500),
        (check_all_graphs, 300),
        (check_against_ra, 3000),
        (check_weakening, 4000),
    ],
)
def test_on_many_programs(check, most):
    check(range(1000, 1000 + most))


# Weak fences pass with the access before them.


def test_no_state_stands_at_a_weak_fence():
    lts = rc20_lts(program([ACQUIRE, write("x", 1), RELEASE, RELEASE, write("y", 1)], [read("a", "y")]))
    assert {threads[0].pc for threads, _ in reachable_graph_states(lts, RC20)} == {1, 4, 5}


def test_ways_around_a_fence_are_told_apart():
    sender = [write("x", 1), Choose((2, 3)), RELEASE, write("y", 1)]
    lts = rc20_lts(program(sender))
    [start] = lts.threads[0].start.states
    ways = {way for at in lts.threads[0].step(start, 0).successors for way in lts.threads[0].past_fences(at)}
    assert {(len(fences), state.pc) for fences, state in ways} == {(0, 3), (1, 3)}
    assert not_robust_graph(program(sender, [wait("y", 1, mode=ACQ), read("a", "x")]), "rc20") is not None


def test_a_loop_of_fences_diverges():
    lts = rc20_lts(program([write("x", 1), ACQUIRE, Goto(1)]))
    assert {threads[0].pc for threads, _ in reachable_graph_states(lts, RC20)} == {0, DIVERGED}
