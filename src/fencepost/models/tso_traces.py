"""When do store buffers show? Three criteria, each of which compares the traces of TSO with those of SC.

A trace keeps some of these of a run:

    program order      per thread its reads, writes and RMWs
    store order        the updates and RMWs of all threads, as they reached memory
    cell store order   the same for each cell alone
    reads-from         for each read or RMW the write from which it takes its value

A program meets a criterion if each trace of a complete run (one that leaves all buffers empty; the threads
need not have ended) is also the trace of a run under SC:

    is_persistent             program order, store order                    persist-2015 section 6
    is_robust                 program order, cell store order, reads-from   trace robustness
    is_triangular_race_free   program order, store order, reads-from        no triangular race

These are the definitions as they stand: both sets of traces are enumerated. So programs must be loop-free and
small. Runs that agree in their state and in their trace so far are followed as one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial, reduce
from typing import Literal, NamedTuple

from fencepost.models.explore import reachable
from fencepost.models.threads import ProgramLts
from fencepost.models.tso import (
    TsoEvent,
    TsoState,
    TsoTransition,
    on_x86,
    replaced,
    tso_initial_states,
    tso_transitions,
    unbuffered_transitions,
)
from fencepost.program import Program

Criterion = Literal["persistent", "robust", "trf"]
TsoRun = tuple[TsoEvent, ...]


class Write(NamedTuple):
    """The `number`-th write of `thread` to the cell in question, counted from 1."""

    thread: int
    number: int


class TraceEvent(NamedTuple):
    """An event in program order; a `source` of None is the initial write, or not recorded."""

    pc: int | None
    kind: str
    cell: int
    read: int | None
    written: int | None
    source: Write | None


class Trace(NamedTuple):
    """What a criterion keeps of a run.

    The store orders give the thread of each write and no more, since the writes of one thread reach memory in
    program order. The total one is empty if only those by cell count; else they follow from it.
    """

    program_order: tuple[tuple[TraceEvent, ...], ...]
    cell_store_orders: tuple[tuple[int, ...], ...]
    store_order: tuple[int, ...]


def is_persistent(program: Program, limit: int | None = None) -> bool:
    return trace_beyond_sc(program, "persistent", limit) is None


def is_robust(program: Program, limit: int | None = None) -> bool:
    return trace_beyond_sc(program, "robust", limit) is None


def is_triangular_race_free(program: Program, limit: int | None = None) -> bool:
    return trace_beyond_sc(program, "trf", limit) is None


def trace_beyond_sc(program: Program, criterion: Criterion, limit: int | None = None) -> Trace | None:
    """The first trace met under TSO that SC does not have; each search stops at `limit` nodes."""
    under_sc = sc_traces(program, criterion, limit)
    under_tso = _traces(_nodes(program, tso_transitions, criterion, limit))
    return next((trace for trace in under_tso if trace not in under_sc), None)


def run_beyond_sc(program: Program, criterion: Criterion, limit: int | None = None) -> TsoRun | None:
    """A shortest complete run under TSO with a trace that SC does not have."""
    under_sc = sc_traces(program, criterion, limit)
    before: _Before = {}
    for node in _nodes(program, tso_transitions, criterion, limit, before):
        if node.state.is_plain and node.trace not in under_sc:
            return _run_to(node, before)
    return None


def tso_traces(program: Program, criterion: Criterion, limit: int | None = None) -> set[Trace]:
    return set(_traces(_nodes(program, tso_transitions, criterion, limit)))


def sc_traces(program: Program, criterion: Criterion, limit: int | None = None) -> set[Trace]:
    return set(_traces(_nodes(program, unbuffered_transitions, criterion, limit)))


def trace_of(program: Program, run: Iterable[TsoEvent], criterion: Criterion) -> Trace:
    """What the criterion keeps of a run of the program."""
    return reduce(partial(_extended, criterion), run, _empty(program))


# Enumeration.


class _Node(NamedTuple):
    """A state and the trace of the runs to it."""

    state: TsoState
    trace: Trace


_Transitions = Callable[[ProgramLts, TsoState], Iterator[TsoTransition]]
_Before = dict[_Node, tuple[_Node, TsoRun]]


def _nodes(
    program: Program,
    transitions: _Transitions,
    criterion: Criterion,
    limit: int | None,
    before: _Before | None = None,
) -> Iterator[_Node]:
    """Every node; `before` gets for each the node from which it was first met."""
    lts = ProgramLts(on_x86(program))
    extend = partial(_extended, criterion)

    @cache  # many traces lead to one state
    def steps(state: TsoState) -> tuple[TsoTransition, ...]:
        return tuple(transitions(lts, state))

    def successors(node: _Node) -> Iterator[_Node]:
        for events, state in steps(node.state):
            after = _Node(state, reduce(extend, events, node.trace))
            if before is not None:
                before.setdefault(after, (node, events))
            yield after

    return reachable((_Node(state, _empty(program)) for state in tso_initial_states(lts)), successors, limit)


def _traces(nodes: Iterable[_Node]) -> Iterator[Trace]:
    """The traces of complete runs."""
    return (node.trace for node in nodes if node.state.is_plain)


def _run_to(node: _Node, before: _Before) -> TsoRun:
    run: TsoRun = ()
    while node in before:
        node, events = before[node]
        run = events + run
    return run


# Traces.


def _empty(program: Program) -> Trace:
    return Trace(((),) * len(program.threads), ((),) * len(program.cells), ())


def _extended(criterion: Criterion, trace: Trace, event: TsoEvent) -> Trace:
    """The trace after one more event of the run. A fence leaves no trace."""
    program_order, cell_orders, store_order = trace
    thread, kind, cell, read, written, pc, _ = event
    if kind in ("R", "W", "RMW"):
        source = _source(trace, event) if read is not None and criterion != "persistent" else None
        recorded = TraceEvent(pc, kind, cell, read, written, source)
        program_order = replaced(program_order, thread, (*program_order[thread], recorded))
    if kind in ("U", "RMW"):
        cell_orders = replaced(cell_orders, cell, (*cell_orders[cell], thread))
        store_order = (*store_order, thread) if criterion != "robust" else ()
    return Trace(program_order, cell_orders, store_order)


def _source(trace: Trace, read: TsoEvent) -> Write | None:
    """The newest write of the thread itself if it reads its own buffer, else the last one to reach memory."""
    if read.own:
        own = trace.program_order[read.thread]
        return Write(read.thread, sum(event.cell == read.cell and event.written is not None for event in own))
    order = trace.cell_store_orders[read.cell]
    return Write(order[-1], order.count(order[-1])) if order else None
