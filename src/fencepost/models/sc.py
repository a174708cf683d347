"""Sequential consistency: as a memory of values, and as a memory of execution graphs.

    rocker-2019     here
    section 2.3     sc_transitions, reachable_states    M(x) is read; M[x ↦ v] is written
    section 4.1     SCG                                 the predecessor write is always wmax
    Def. A.7        is_sc_consistent                    hbsc irreflexive
    Def. 6.1        races                               two next accesses conflict on a non-atomic cell

States of the memory of values are finite also where a program loops, so everything that can be asked about
sequential consistency is asked there: reachable states, races, and what goes wrong in the program itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations
from typing import NamedTuple

from fencepost.models.definition import Definition
from fencepost.models.explore import reachable
from fencepost.models.graphs import Graph
from fencepost.models.threads import (
    Finding,
    FindingKind,
    Label,
    ProgramLts,
    Step,
    Threads,
    moved,
)
from fencepost.program import Program, Store

Memory = tuple[int, ...]


class ScState(NamedTuple):
    """Position and registers of each thread, and the value of each cell of the program."""

    threads: Threads
    memory: Memory


class ScTransition(NamedTuple):
    thread: int
    step: Step
    memory: Memory


class ScRace(NamedTuple):
    """Two threads about to access one non-atomic cell, at least one of them to write it."""

    cell: str
    threads: tuple[int, int]
    pcs: tuple[int, int]


class ScFinding(NamedTuple):
    kind: FindingKind
    thread: int
    pc: int


# The memory of values (section 2.3).


def sc_initial_states(lts: ProgramLts) -> Iterator[ScState]:
    return (ScState(threads, lts.program.initial_memory) for threads in lts.initial_states())


def sc_transitions(lts: ProgramLts, state: ScState) -> Iterator[ScTransition]:
    """Every access that can happen next: who does it, what it does, and the memory after it."""
    threads, memory = state
    for thread, at in enumerate(threads):
        access = lts.threads[thread].access(at)
        if access is None:
            continue
        in_memory = 0 <= access.cell < len(memory)
        step = lts.threads[thread].step(at, memory[access.cell] if in_memory else 0)
        if step is not None:
            yield ScTransition(thread, step, _written(memory, step.label))


def sc_successors(lts: ProgramLts, state: ScState) -> Iterator[ScState]:
    for thread, step, memory in sc_transitions(lts, state):
        for at in step.successors:
            yield ScState(moved(state.threads, thread, at), memory)


def sc_states(lts: ProgramLts, limit: int | None = None) -> Iterator[ScState]:
    return reachable(sc_initial_states(lts), lambda state: sc_successors(lts, state), limit)


def reachable_states(program: Program, limit: int | None = None) -> set[ScState]:
    """Every state reachable under SC; raises `LimitReachedError` when there are more than `limit`."""
    return set(sc_states(ProgramLts(program), limit))


def _written(memory: Memory, label: Label) -> Memory:
    if label.written is None or label.cell >= len(memory):  # a read, or the cell of SC fences: always 0
        return memory
    return (*memory[: label.cell], label.written, *memory[label.cell + 1 :])


# Execution graphs (section 4.1, Def. A.7).


class ScGraphs:
    def step(self, graph: Graph, thread: int, label: Label, w: int) -> Graph | None:
        return graph.add(thread, label, w) if label.kind == "F" or w == graph.latest(label.cell) else None


SCG = ScGraphs()
DEFINITION = Definition(SCG, lambda graph: graph.hbsc)


def is_sc_consistent(graph: Graph) -> bool:
    return graph.hbsc.is_irreflexive()


# What can go wrong under SC.


def racing(lts: ProgramLts, threads: Threads) -> Iterator[ScRace]:
    """Def. 6.1: why this state of the program is racy, if it is."""
    next_accesses = [(thread, lts.threads[thread].access(at)) for thread, at in enumerate(threads)]
    for (i, first), (j, second) in combinations(next_accesses, 2):
        if first is None or second is None or first.cell != second.cell or first.cell < 0:
            continue
        writes = isinstance(first.instruction, Store) or isinstance(second.instruction, Store)
        if writes and not lts.atomic_cells[first.cell]:
            yield ScRace(lts.program.cells[first.cell], (i, j), (threads[i].pc, threads[j].pc))


def races(program: Program, limit: int | None = None) -> set[ScRace]:
    lts = ProgramLts(program)
    return {race for state in sc_states(lts, limit) for race in racing(lts, state.threads)}


def findings(program: Program, limit: int | None = None) -> set[ScFinding]:
    """The failing assertions, divisions by zero and bad indices that a run under SC meets."""
    lts = ProgramLts(program)
    return {
        ScFinding(finding.kind, thread, finding.pc)
        for thread, arrival in _arrivals(lts, sc_states(lts, limit))
        for finding in arrival
    }


def _arrivals(lts: ProgramLts, states: Iterable[ScState]) -> Iterator[tuple[int, frozenset[Finding]]]:
    yield from ((thread, part.start.findings) for thread, part in enumerate(lts.threads))
    for state in states:
        yield from ((thread, step.findings) for thread, step, _ in sc_transitions(lts, state))
