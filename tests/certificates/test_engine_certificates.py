"""What the engine's search backwards writes where it finds nothing passes the check."""

import random

import pytest

from fencepost.certificates import BasisState, Certificate, Checked, Standing, check
from fencepost.certificates.local_graphs import local_graphs
from fencepost.engine import _native
from fencepost.engine._native import Outcome
from fencepost.engine.lower import Lowering
from tests.certificates import questions
from tests.strategies import random_program

MOST_NODES = 10_000
WITHOUT_LIMIT = (1_000_000, 60.0, 1 << 30, None)


def thread_graphs(program, kept):
    by_name = {} if kept is None else {t.name: names for t, names in zip(program.threads, kept, strict=True)}
    return _native.thread_graphs(Lowering(program, monitored=False, kept=by_name).plain, MOST_NODES)


def products(graphs, bad):
    """The bad states in the form of the engine, for which no nodes at all are anywhere."""
    for some in bad:
        nodes = [
            [n for n, node in enumerate(graph.nodes) if holds(node.pc, tuple(node.registers))]
            if holds
            else []
            for graph, holds in zip(graphs.threads, some.nodes, strict=True)
        ]
        if all(found or not holds for found, holds in zip(nodes, some.nodes, strict=True)):
            yield nodes, list(some.memory), some.race


def certificate_of(program, graphs, search):
    threads = len(graphs.threads)

    def standing(thread, node):
        nodes = graphs.threads[thread].nodes
        if node == len(nodes):
            return Standing(None, ())
        return Standing(nodes[node].pc, tuple(nodes[node].registers))

    def option(writer, cell, value, flag):
        return (-1 if writer == threads else writer, cell, value, flag.name)

    basis = tuple(
        BasisState(
            tuple(standing(thread, node) for thread, node in enumerate(nodes)),
            phase,
            tuple(
                tuple(tuple(option(*some) for some in options) for options in lists) for lists in potentials
            ),
        )
        for nodes, phase, potentials in search.basis()
    )
    return Certificate.of(program, "test", basis)


def check_certificates(seeds, **limits):
    safe = 0
    for seed in seeds:
        program = random_program(random.Random(seed), **limits)
        source = random.Random(seed)
        asked = [
            *questions.program_states(program, source, 3, graphs=300),
            *questions.positions(program, source, 2, graphs=300),
        ]
        if limits.get("loop_free", True):
            asked += [*questions.failures(program), questions.write_write_races(program)]
            asked += questions.final_memories(program, source, 3)
        for bad, reachable, kept in asked:
            graphs = thread_graphs(program, kept)
            if graphs.unbuilt is not None:
                continue
            search = _native.Coverability(graphs, list(products(graphs, bad)))
            if search.run(*WITHOUT_LIMIT) != Outcome.COMPLETE:
                continue
            assert not reachable, seed
            checked = check(program, certificate_of(program, graphs, search), bad, kept)
            assert isinstance(checked, Checked), (seed, checked)
            safe += checked.basis > 0
    return safe


def test_the_graphs_of_threads_are_those_of_the_engine():
    for seed in range(100):
        program = random_program(random.Random(seed), loop_free=False)
        graphs = thread_graphs(program, None)
        if graphs.unbuilt is not None:
            continue
        ours = local_graphs(program, [frozenset()] * len(program.threads))
        for own, theirs in zip(ours, graphs.threads, strict=True):
            nodes = [(node.pc, tuple(node.registers)) for node in theirs.nodes]
            assert set(own.nodes) == set(nodes), seed
            assert {own.nodes[node] for node in own.start} == {nodes[node] for node in theirs.initial}, seed
            assert {(own.nodes[e.source], own.nodes[e.target]) for e in own.edges} == {
                (nodes[e.source], nodes[e.target]) for e in theirs.edges
            }, seed


def test_certificates_of_the_engine_are_true():
    assert check_certificates(range(60), most_accesses=3) > 20


def test_certificates_of_the_engine_are_true_for_programs_with_loops():
    assert check_certificates(range(60), most_accesses=3, loop_free=False, threads=(2, 3)) > 5


@pytest.mark.slow
def test_certificates_of_the_engine_are_true_for_many_programs():
    check_certificates(range(1000, 5000), most_accesses=4)
    check_certificates(range(1000, 3000), most_accesses=3, loop_free=False, threads=(2, 3))
