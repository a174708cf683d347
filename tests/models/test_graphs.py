import random
from itertools import islice

import pytest

from fencepost.models.enumerate import BOTTOM, reachable_graph_states
from fencepost.models.graphs import Graph, initial_graph
from fencepost.models.ra import RAG_NA
from fencepost.models.relations import identity
from fencepost.models.threads import Label, ProgramLts
from fencepost.program import Mode
from tests.models.litmus import SB, TWO_PLUS_TWO_W, program
from tests.strategies import random_program


def graphs_of_random_programs(seeds, most=12):
    """Some graphs of each of many programs, the first ones and some later ones."""
    for seed in seeds:
        lts = ProgramLts(random_program(random.Random(seed)))
        states = [state.graph for state in islice(reachable_graph_states(lts, RAG_NA), 400)]
        random.Random(seed).shuffle(states)
        yield from ((seed, graph) for graph in states[:most] if graph is not BOTTOM)


def mask(graph: Graph, events) -> int:
    return sum(1 << number for number in graph.numbers() if graph.event(number) in events)


def check_masks(seeds):
    for seed, graph in graphs_of_random_programs(seeds):
        hb, hbsc = graph.hb | graph.id, graph.hbsc | graph.id
        assert graph.is_sc_consistent() == graph.hbsc.is_irreflexive(), seed
        for thread in range(graph.cells.threads):
            of_thread = identity(graph.init | graph.of_thread(thread))
            assert graph.observed(thread) == mask(graph, (hb >> of_thread).domain), seed
            assert graph.observed_sc(thread) == mask(graph, (hbsc >> of_thread).domain), seed


def test_masks_are_what_the_relations_say():
    check_masks(range(60))


@pytest.mark.slow
def test_masks_are_what_the_relations_say_on_many_programs():
    check_masks(range(1000, 4000))


def test_reachable_graphs_are_execution_graphs():
    """Definition 4.3."""
    for seed, graph in graphs_of_random_programs(range(40)):
        assert graph.rf.codomain == graph.reads, seed
        assert len(graph.rf) == len(graph.reads), seed
        for w, r in graph.rf:
            assert (w.label.cell, w.label.written) == (r.label.cell, r.label.read), seed
            assert w != r
        for cell in range(len(graph.cells.initial)):
            writes = identity(graph.writes & graph.of_cell(cell))
            order = writes >> graph.mo >> writes
            assert order.is_acyclic(), seed
            assert len(order) == len(writes) * (len(writes) - 1) / 2, seed


def test_rmws_read_from_their_immediate_mo_predecessor():
    for seed, graph in graphs_of_random_programs(range(40)):
        rmws = identity(graph.rmws)
        assert graph.rf >> rmws == graph.mo.immediate() >> rmws, seed


WRITE_X, WRITE_Y = Label("W", 0, None, 1), Label("W", 1, None, 1)


def test_graphs_are_equal_whatever_the_order_of_their_events():
    empty = initial_graph(ProgramLts(SB))
    one = empty.add(0, WRITE_X, 0).add(1, WRITE_Y, 1)
    other = empty.add(1, WRITE_Y, 1).add(0, WRITE_X, 0)
    assert one == other
    assert hash(one) == hash(other)
    assert one != empty.add(0, WRITE_X, 0)


def test_modes_tell_events_apart():
    empty = initial_graph(ProgramLts(SB))
    assert empty.add(0, WRITE_X, 0) != empty.add(0, WRITE_X._replace(store_mode=Mode.REL), 0)


def test_a_write_is_placed_right_after_its_predecessor():
    empty = initial_graph(ProgramLts(TWO_PLUS_TWO_W))
    graph = empty.add(0, WRITE_X, 0).add(1, WRITE_X, 0)
    first, second = graph.number(0, 1), graph.number(1, 1)
    assert graph.mo_lists[0] == (0, second, first)
    assert graph.latest(0) == first
    assert {(a.thread, b.thread) for a, b in graph.mo} == {(None, 0), (None, 1), (1, 0)}


def test_from_read_leaves_out_the_rmw_itself():
    empty = initial_graph(ProgramLts(SB))
    graph = empty.add(0, Label("RMW", 0, 0, 1), 0)
    assert len(graph.fr) == 0


@pytest.mark.parametrize("atomic", [True, False])
def test_only_atomic_reads_synchronise(atomic):
    flag = {"atomic": "xy"} if atomic else {"atomic": "x", "non_atomic": "y"}
    graph = initial_graph(ProgramLts(program([], [], **flag))).add(0, WRITE_X, 0).add(0, WRITE_Y, 1)
    payload, written = graph.number(0, 1), graph.number(0, 2)
    graph = graph.add(1, Label("R", 1, 1, None), written)
    assert (graph.observed(1) >> payload & 1) == atomic
    assert ((graph.event(payload), graph.event(graph.number(1, 1))) in graph.hb) == atomic
