"""The graph of each thread on its own: nodes, edges, values, and the registers that count."""

import random

from fencepost.certificates.live_registers import live_slots
from fencepost.certificates.local_graphs import FAILED, local_graphs
from fencepost.models import op_sra
from fencepost.program import Assert, Assign, Constant, Register
from fencepost.static.liveness import live_registers
from tests.models.litmus import cas, fadd, jump_unless, program, read, wait, write
from tests.strategies import random_program

NOTHING = (0, 0, 0, 0)


def graphs_of(*threads, kept=""):
    return local_graphs(program(*threads), [frozenset(kept)] * len(threads))


def edges_of(graph):
    return {(graph.nodes[e.source], graph.nodes[e.target], *e[2:]) for e in graph.edges}


def test_a_read_takes_every_value_that_anyone_writes():
    reader, _, _ = graphs_of([read("a", "x")], [write("x", 2)], [fadd("x", 1)], kept="a")
    assert {node for node in reader.nodes if node[0] == 1} == {(1, (value, 0, 0, 0)) for value in range(4)}


def test_a_read_of_a_cell_that_nobody_writes_is_silent():
    reader, _ = graphs_of([read("a", "x"), cas("a", "y", 1, 2)], [write("z", 1)])
    assert edges_of(reader) == {
        ((0, NOTHING), (1, NOTHING), "silent", -1, -1, -1),
        ((1, NOTHING), (2, NOTHING), "silent", -1, -1, -1),
    }


def test_an_rmw_is_no_silent_step():
    (adding,) = graphs_of([fadd("x", 0)])
    assert edges_of(adding) == {((0, NOTHING), (1, NOTHING), "RMW", 0, 0, 0)}


def test_what_fails_goes_to_one_node_and_on():
    holds = Assert(Register("a"))
    graph, _ = graphs_of([read("a", "x"), holds, Assert(Constant(0)), write("y", 1)], [write("x", 1)])
    assert {graph.nodes[e.target][0] for e in graph.edges if e.kind == "R"} == {FAILED, 3}
    assert [node for node in graph.nodes if node[0] == FAILED] == [(FAILED, NOTHING)]


def test_a_thread_may_fail_at_its_start():
    graph, waiting = graphs_of([Assert(Constant(0)), write("x", 1)], [wait("x", 1)])
    assert {graph.nodes[node][0] for node in graph.start} == {FAILED, 1}
    assert {waiting.nodes[node][0] for node in waiting.start} == {0}


def test_registers_that_cannot_matter_are_0():
    """The value read counts up to the branch, and not where it is assigned anew."""
    code = [read("a", "x"), write("y", 1), jump_unless("a", 1, 4), Assign("a", Constant(2)), write("y", 2)]
    graph, _ = graphs_of(code, [write("x", 1)])
    assert {node for node in graph.nodes if node[0] == 1} == {(1, NOTHING), (1, (1, 0, 0, 0))}
    assert {node for node in graph.nodes if node[0] == 4} == {(4, NOTHING)}


def test_registers_that_matter_are_those_of_the_engine():
    """Only so do certificates speak of the same nodes."""
    for seed in range(300):
        for thread in random_program(random.Random(seed), loop_free=False).threads:
            for kept in (frozenset(), frozenset("r")):
                expected = live_registers(thread, kept & frozenset(thread.registers))
                named = [
                    {name for name, matters in zip(thread.registers, slots, strict=True) if matters}
                    for slots in live_slots(thread, kept)
                ]
                assert named == expected, seed


def test_every_state_of_a_thread_that_op_sra_reaches_is_a_node():
    for seed in range(60):
        drawn = random_program(random.Random(seed), most_accesses=3)
        graphs = local_graphs(drawn, [frozenset(thread.registers) for thread in drawn.threads])
        for threads in op_sra.reachable_program_states(drawn):
            for graph, at in zip(graphs, threads, strict=True):
                assert tuple(at) in graph.nodes, seed
