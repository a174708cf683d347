"""Every state that a program reaches over a memory whose states are execution graphs.

    rocker-2019                       here
    Def. 2.3  memory subsystem        GraphMemory: the −→ of SCG, RAG, RAG+NA, RC20
    Def. 2.4  concurrent system       GraphState ⟨q, G⟩, successors
    Def. 4.5  FG                      successors: every write w of the cell is tried as predecessor
    section 6 ⊥                       BOTTOM, the state after a race; nothing follows it

A loop-free program reaches finitely many graphs. They are met prefix by prefix, each once, whatever the order
in which its events were added. A thread passes its weak fences together with the access before them
(`ThreadLts.past_fences`). Which steps a memory allows is left to `sc`, `ra` and `rc20`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import Enum
from typing import Final, NamedTuple, Protocol

from fencepost.models.explore import reachable
from fencepost.models.graphs import NOTHING, Graph, initial_graph
from fencepost.models.threads import Label, ProgramLts, Step, Threads, moved


class Bottom(Enum):
    BOTTOM = "⊥"


BOTTOM: Final = Bottom.BOTTOM


class GraphMemory(Protocol):
    """A memory subsystem based on execution graphs (Def. A.2)."""

    def step(self, graph: Graph, thread: int, label: Label, w: int) -> Graph | Bottom | None:
        """The graph after `thread` did `label` with predecessor write `w`, or None if that is not allowed.

        The caller sees to it that `graph.fits(label, w)`.
        """


class GraphState(NamedTuple):
    threads: Threads
    graph: Graph | Bottom


class Transition(NamedTuple):
    thread: int
    step: Step
    w: int
    graph: Graph | Bottom


def transitions(lts: ProgramLts, memory: GraphMemory, state: GraphState) -> Iterator[Transition]:
    graph = state.graph
    if graph is BOTTOM:
        return
    for thread, at in enumerate(state.threads):
        access = lts.threads[thread].access(at)
        if access is None:
            continue
        for w in graph.mo_lists[access.cell]:
            step = lts.threads[thread].step(at, graph.written(w))
            after = memory.step(graph, thread, step.label, w) if step is not None else None
            if step is not None and after is not None:
                yield Transition(thread, step, w, after)


def successors(lts: ProgramLts, memory: GraphMemory, state: GraphState) -> Iterator[GraphState]:
    for thread, step, _, graph in transitions(lts, memory, state):
        for at in step.successors:
            yield from _past_fences(lts, thread, GraphState(moved(state.threads, thread, at), graph))


def reachable_graph_states(
    lts: ProgramLts, memory: GraphMemory, limit: int | None = None
) -> Iterator[GraphState]:
    """The reachable states of the concurrent system, prefixes included, each once."""
    return reachable(initial_graph_states(lts), lambda state: successors(lts, memory, state), limit)


def initial_graph_states(lts: ProgramLts) -> Iterable[GraphState]:
    empty = initial_graph(lts)
    states = [GraphState(threads, empty) for threads in lts.initial_states()]
    for thread in range(len(lts.threads)):
        states = [after for state in states for after in _past_fences(lts, thread, state)]
    return states


def _past_fences(lts: ProgramLts, thread: int, state: GraphState) -> Iterator[GraphState]:
    if state.graph is BOTTOM:
        yield state
        return
    for fences, at in lts.threads[thread].past_fences(state.threads[thread]):
        graph = state.graph
        for label in fences:
            graph = graph.add(thread, label, NOTHING)
        yield GraphState(moved(state.threads, thread, at), graph)
