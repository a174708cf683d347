"""Execution-graph robustness, defined three times over.

    source                here
    design.md section 2   not_robust_graph         a reachable graph of the model whose hbsc is reflexive
    Def. 4.9, literally   state_beyond_sc          a state ⟨q, G⟩ of the model that P_SCG does not reach
    Thm. 5.1, Thm. 6.2    non_robustness_witness   a step of the model that leaves the states of P_SCG

Each gives its evidence, or None if the program is robust. They agree on programs without a race on a
non-atomic cell. With one, RAG+NA and RC20 stop at the race (⊥) and Def. 4.9 calls the program not robust,
while `non_robustness_witness` goes on past it as SC does and only speaks of atomic cells: that is the
question which the engine decides, with races as a finding of their own (`sc.races`, `rc20.races`).

On programs with loops the graphs grow without bound: give a limit.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from fencepost.models.definition import definition, program_lts
from fencepost.models.enumerate import BOTTOM, GraphMemory, GraphState, reachable_graph_states
from fencepost.models.graphs import Graph
from fencepost.models.sc import SCG
from fencepost.models.threads import Label, ProgramLts, Threads
from fencepost.program import Program


def not_robust_graph(program: Program, model: str = "ra", limit: int | None = None) -> Graph | None:
    """The first graph met, prefixes included, that SC does not allow."""
    memory, lts = definition(model).memory, program_lts(program, model)
    for _, graph in reachable_graph_states(lts, memory, limit):
        if graph is not BOTTOM and not graph.is_sc_consistent():
            return graph
    return None


def state_beyond_sc(program: Program, model: str = "ra", limit: int | None = None) -> GraphState | None:
    """Def. 4.9: the first state met that is reachable under the model, but not in P_SCG."""
    memory, lts = definition(model).memory, program_lts(program, model)
    under_sc = set(reachable_graph_states(lts, SCG, limit))
    under_model = reachable_graph_states(lts, memory, limit)
    return next((state for state in under_model if state not in under_sc), None)


class NonRobustnessWitness(NamedTuple):
    """The tuple ⟨q, G, τ, l, w⟩ of Theorem 5.1; `w` is the number of an event of `graph`."""

    threads: Threads
    graph: Graph
    thread: int
    label: Label
    w: int


def non_robustness_witness(
    program: Program, model: str = "ra", limit: int | None = None
) -> NonRobustnessWitness | None:
    """Theorem 5.1, and with non-atomic cells the first half of Theorem 6.2."""
    memory, lts = definition(model).memory, program_lts(program, model)
    for threads, graph in reachable_graph_states(lts, SCG, limit):
        assert graph is not BOTTOM
        for witness in _witnesses_at(lts, memory, threads, graph):
            return witness
    return None


def _witnesses_at(
    lts: ProgramLts, memory: GraphMemory, threads: Threads, graph: Graph
) -> Iterator[NonRobustnessWitness]:
    for thread, at in enumerate(threads):
        access = lts.threads[thread].access(at)
        if access is None or not graph.cells.atomic[access.cell]:
            continue
        *stale, latest = graph.mo_lists[access.cell]
        if not stale or not graph.observed_sc(thread) >> latest & 1:  # latest ∉ dom(hbsc ; [E_τ])
            continue
        for label, *_ in lts.threads[thread].enabled(at):
            for w in stale:
                if graph.fits(label, w) and memory.step(graph, thread, label, w) is not None:
                    yield NonRobustnessWitness(threads, graph, thread, label, w)
