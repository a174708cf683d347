"""Strong release/acquire as a predicate on execution graphs, and what programs do under it.

    sra-2020        here
    section 3       broken_rules, is_sra_consistent
    Def. 2.7        SRAG, sra_states             the graphs that a program generates, the consistent ones
    Def. 3.2        reachable_program_states
    Def. 3.13       racing_writes, write_write_race

Every access releases and acquires, whatever its mode, also one to a non-atomic cell (`SraLts`). Weak fences
do nothing then, and an SC fence is an RMW on a cell of its own (Example 3.10).

A program's graphs are met event by event, and a graph that breaks a rule is given up at once: what hb, mo and
rf relate in a part of a graph they relate in all of it, so no later event mends it. For the same reason an
RMW is only tried right after the write that it reads: anywhere else in mo it breaks irr-hb-mo or atomicity.
The second opinion is `op_sra`, the third `lo_sra`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from fencepost.models.definition import ConsistentGraphs
from fencepost.models.enumerate import BOTTOM, GraphMemory, reachable_graph_states
from fencepost.models.graphs import Event, Graph
from fencepost.models.threads import ProgramLts, Threads
from fencepost.program import Program


class SraLts(ProgramLts):
    """A program all of whose accesses synchronise."""

    def __init__(self, program: Program, *, cut_off: bool = False) -> None:
        super().__init__(program, silent_fences=True, cut_off=cut_off)
        self.atomic_cells = (True,) * len(self.initial_memory)


class SraState(NamedTuple):
    threads: Threads
    graph: Graph


class RacingWrites(NamedTuple):
    """A graph of the program with two writes to one cell that hb does not order."""

    threads: Threads
    graph: Graph
    writes: tuple[Event, Event]


# The rules (section 3).


def broken_rules(graph: Graph) -> tuple[str, ...]:
    """The names of the rules that `graph` breaks."""
    hb, mo, rf = graph.hb, graph.mo, graph.rf
    rules = {
        "irr-hb-mo": (hb | mo).is_acyclic(),
        "read-coherence": (mo >> hb >> ~rf).is_irreflexive(),
        "atomicity": (mo >> mo >> ~rf).is_irreflexive(),
    }
    return tuple(name for name, holds in rules.items() if not holds)


def is_sra_consistent(graph: Graph) -> bool:
    return not broken_rules(graph)


# The states of a program (Def. 2.7, Def. 3.2).


SRAG = ConsistentGraphs(is_sra_consistent)


def sra_states(program: Program, limit: int | None = None, memory: GraphMemory = SRAG) -> Iterator[SraState]:
    """Every state of the program with a consistent graph that leads there, each pair once."""
    for threads, graph in reachable_graph_states(SraLts(program), memory, limit):
        assert graph is not BOTTOM
        yield SraState(threads, graph)


def reachable_program_states(program: Program, limit: int | None = None) -> set[Threads]:
    return {state.threads for state in sra_states(program, limit)}


# Write/write races (Def. 3.13).


def racing_writes(graph: Graph) -> tuple[Event, Event] | None:
    """Two writes to one cell that hb does not order, the mo-earlier one first."""
    return min(graph.mo - graph.hb - ~graph.hb, key=_place, default=None)


def write_write_race(program: Program, limit: int | None = None) -> RacingWrites | None:
    """A consistent graph of the program that is not write/write-race free, or None if there is none."""
    for threads, graph in sra_states(program, limit):
        writes = racing_writes(graph)
        if writes is not None:
            return RacingWrites(threads, graph, writes)
    return None


def _place(pair: tuple[Event, Event]) -> tuple[int, ...]:
    """Orders pairs of events in the same way in every run."""
    return tuple(
        part for event in pair for part in (event.serial, -1 if event.thread is None else event.thread)
    )
