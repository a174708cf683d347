"""Data races, defined twice for SC, RA and SRA, and once for RC20, C++20 and TSO.

    standing_races     a reachable state in which two threads' next accesses conflict on a non-atomic cell;
                       every access synchronises, whatever its cell, as in the engines for safety
    unordered_pair     a graph of the model in which two accesses conflict on a non-atomic cell, and
                       happens-before orders neither first; only atomic accesses synchronise, as in C++
    races_on_the_way   a run of RC20 or C++20 comes to ⊥

The first two find a race in the same programs. In a graph of the second kind take the first event, in the
order in which the graph grows, that races with one before it. Up to there happens-before orders whatever
conflicts, so it makes no difference whether non-atomic accesses synchronise. What happens before the two
racing events, without themselves, is a graph of the model in which both threads stand before them. And where
two threads stand so, their two next events are a pair that nothing orders. Happens-before of SC is `hbsc`.

TSO has no happens-before, and only the first definition. A write that is still in a store buffer counts as
one that is about to be done: no other thread knows of it, nor of what its thread has done after it, so there
is a run in which the thread still stands before the write and the others have done the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations

from fencepost.models import op_sra
from fencepost.models.definition import ConsistentGraphs, definition, program_lts
from fencepost.models.enumerate import BOTTOM, GraphMemory, reachable_graph_states
from fencepost.models.graphs import Event, Graph
from fencepost.models.ra import RAG, is_ra_consistent
from fencepost.models.relations import Relation
from fencepost.models.sc import SCG, ScRace, racing, sc_states
from fencepost.models.sra import SRAG, SraLts
from fencepost.models.threads import ProgramLts, Threads
from fencepost.models.tso import on_x86, tso_states
from fencepost.program import Program

_MEMORIES: dict[str, tuple[GraphMemory, Callable[[Graph], Relation[Event]]]] = {
    "sc": (SCG, lambda graph: graph.hbsc),
    "ra": (ConsistentGraphs(is_ra_consistent), lambda graph: graph.hb),
    "sra": (SRAG, lambda graph: graph.hb),
}


def standing_races(program: Program, model: str, limit: int | None = None) -> set[ScRace]:
    lts = ProgramLts(program)
    return {race for threads in _states(program, model, limit) for race in racing(lts, threads)}


def _states(program: Program, model: str, limit: int | None) -> Iterator[Threads]:
    match model:
        case "sc":
            return (state.threads for state in sc_states(ProgramLts(program), limit))
        case "sra":
            return (state.threads for state in op_sra.op_sra_states(program, limit))
        case "tso":
            return (state.threads for state in tso_states(ProgramLts(on_x86(program)), limit))
        case _:
            return (state.threads for state in reachable_graph_states(SraLts(program), RAG, limit))


def unordered_pair(program: Program, model: str, limit: int | None = None) -> tuple[Event, Event] | None:
    memory, hb = _MEMORIES[model]
    for _, graph in reachable_graph_states(ProgramLts(program), memory, limit):
        assert graph is not BOTTOM
        found = next(_unordered(graph, hb(graph)), None)
        if found is not None:
            return found
    return None


def _unordered(graph: Graph, hb: Relation[Event]) -> Iterator[tuple[Event, Event]]:
    plain = [e for e in graph.events - graph.atomics if e.label.kind != "F" and e.thread is not None]
    for one, other in combinations(plain, 2):
        conflict = one.label.cell == other.label.cell and (one.label.writes or other.label.writes)
        if conflict and (one, other) not in hb and (other, one) not in hb:
            yield one, other


def races_on_the_way(program: Program, model: str, limit: int | None = None) -> bool:
    states = reachable_graph_states(program_lts(program, model), definition(model).memory, limit)
    return any(graph is BOTTOM for _, graph in states)
