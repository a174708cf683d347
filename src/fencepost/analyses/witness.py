"""From a violation that the engine found to the `Witness` the user sees.

The engine says after which run which access can leave sequential consistency. Here the stale write is
chosen, and the execution graph and the cycle in it are built (`verdicts.graph`). Runs of a depth-first search
can be long, so everything takes time linear in the length of the run, times the number of threads.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import pairwise

import msgspec

from fencepost.analyses.happens_before import Knowledge
from fencepost.analyses.order_bounds import OrderBounds, is_sc
from fencepost.engine import _native
from fencepost.engine._native import Violation
from fencepost.engine.decode import decode_run, make_event
from fencepost.memory_models import MODELS
from fencepost.program import (
    BlockingCompareExchange,
    CompareExchange,
    Exchange,
    FetchAdd,
    Load,
    Program,
    Store,
    Wait,
)
from fencepost.verdicts import Edge, Event, Witness
from fencepost.verdicts.graph import FENCE_CELL, cycle_through, edges_between, outgoing, read_in_order


class StaleLoad(msgspec.Struct, frozen=True):
    """A load that can leave sequential consistency after `run`, in the form of a violation."""

    run: Sequence[_native.Event]
    thread: int
    pc: int
    cell: int
    first: int = 0
    second: int = 0
    awaited: Sequence[int] = ()


AnyViolation = Violation | StaleLoad


def build_witness(program: Program, model: str, violation: AnyViolation) -> Witness:
    """The witness for a violation of robustness against the model.

    Where the run has loads that taint, the access may leave sequential consistency only if they too read
    stale values. So nothing is learnt from them, as in the monitors.
    """
    run = decode_run(program, model, violation.run)
    atomic = atomic_cells(program)
    cell = program.cells[violation.cell]
    writes = [event.id for event in run if event.cell == cell and event.written is not None]
    knowledge = Knowledge(atomic)
    overlooked = tainting_loads(violation.run, run)
    knowledge.take(run, overlooked)
    first = knowledge.newest_known_write(violation.thread, cell)
    learnt = [event for event in run if event.id not in overlooked]
    usable = _usable(model, violation.thread, cell, learnt, writes)
    stale, access = _stale_access(program, model, violation, run, writes[first:], usable=usable)
    events = (*run, access)
    edges = tuple(_edges(events, stale))
    counts = atomic | {FENCE_CELL}  # non-atomic cells take no part in hbsc but through po
    cycle = cycle_through(
        outgoing(edge for edge in edges if edge.relation == "po" or events[edge.source].cell in counts),
        access.id,
    )
    return Witness(
        threads=tuple(thread.name for thread in program.threads),
        events=events,
        stale=stale,
        latest=writes[-1],
        edges=edges,
        cycle=cycle,
        unordered=_unordered(events, cycle, Knowledge(atomic), overlooked),
        order=_order(model, len(program.threads), events, edges, cycle),
    )


def atomic_cells(program: Program) -> set[str]:
    return {name for name, is_atomic in zip(program.cells, program.atomic_cells, strict=True) if is_atomic}


def tainting_loads(native: Sequence[_native.Event], run: Sequence[Event]) -> set[int]:
    """The ids of the loads of a run that could have read a stale value."""
    events = run[len(run) - len(native) :]
    return {event.id for event, of_engine in zip(events, native, strict=True) if of_engine.taints}


def needs_other_stale_values(program: Program, model: str, witness: Witness) -> bool:
    """Whether a thread that has learnt from all loads of the run could not overlook the newest write."""
    *run, access = witness.events
    assert access.thread is not None
    writes = [event.id for event in run if event.cell == access.cell and event.written is not None]
    knowledge = Knowledge(atomic_cells(program))
    knowledge.take(run)
    first = knowledge.newest_known_write(access.thread, access.cell)
    usable = _usable(model, access.thread, access.cell, run, writes)
    return witness.stale not in writes[first:] or not usable(witness.stale, access)


def _usable(
    model: str, thread: int, cell: str, run: Sequence[Event], writes: Sequence[int]
) -> Callable[[int, Event], bool]:
    """Whether S lets an access that happens next use the write; it may be seq_cst only where it fails."""
    if not MODELS[model].ordered_by_s:
        return lambda write, access: True
    bounds = OrderBounds()
    bounds.take(run)
    return lambda write, access: write in writes[bounds.oldest(thread, cell, sc=is_sc(access)) :]


def _stale_access(
    program: Program,
    model: str,
    violation: AnyViolation,
    run: Sequence[Event],
    candidates: Sequence[int],
    *,
    usable: Callable[[int, Event], bool],
) -> tuple[int, Event]:
    """The newest stale write that the access can read or directly follow, and the access that does so."""
    for write, successor in reversed(list(pairwise(candidates))):
        value = run[write].written
        assert value is not None
        label = _label(program, violation, value)
        if label is None or (label[0] != "R" and run[successor].kind == "RMW"):
            continue
        kind, read, written = label
        access = make_event(
            program,
            model,
            len(run),
            violation.thread,
            violation.pc,
            kind=kind,
            cell=violation.cell,
            read=read,
            written=written,
        )
        if usable(write, access):
            return write, access
    raise AssertionError("the engine reported a violation that the execution graph does not have")


def _label(
    program: Program, violation: AnyViolation, value: int
) -> tuple[str, int | None, int | None] | None:
    """Kind, value read and value written of the access where the stale write has that value."""
    instruction = program.threads[violation.thread].code[violation.pc]
    first, second = violation.first, violation.second
    match instruction:
        case Load():
            return "R", value, None
        case Wait():
            return ("R", value, None) if value in violation.awaited else None
        case Store():
            return "W", None, first
        case FetchAdd():
            return "RMW", value, instruction.combined(value, first) % program.modulus
        case Exchange():
            return "RMW", value, first
        case CompareExchange():
            return ("RMW", value, second) if value == first else ("R", value, None)
        case BlockingCompareExchange():
            return ("RMW", value, second) if value == first else None
        case _:
            raise AssertionError(f"{instruction} cannot leave sequential consistency")


def _edges(events: Sequence[Event], stale: int) -> Iterator[Edge]:
    """The edges of the graph; the last event reads, or is placed right after, the stale write."""
    *run, access = events
    sources, orders = read_in_order(run)
    if access.read is not None:
        sources[access.id] = stale
    if access.written is not None:
        writes = orders[access.cell]
        writes.insert(writes.index(stale) + 1, access.id)
    return edges_between(events, sources, orders)


def _order(
    model: str, threads: int, events: Sequence[Event], edges: Sequence[Edge], cycle: Sequence[Edge]
) -> tuple[Edge, ...]:
    """What S orders on the cycle."""
    if not MODELS[model].ordered_by_s:
        return ()
    from fencepost.models.shown_graphs import order_on_cycle

    return order_on_cycle(threads, events, edges, cycle)


def _unordered(
    events: Sequence[Event], cycle: Sequence[Edge], knowledge: Knowledge, overlooked: Collection[int]
) -> tuple[Edge, ...]:
    """The edges of the cycle that no happens-before covers."""
    targets = {edge.target for edge in cycle}
    place: dict[int, int] = {}
    count: dict[int, int] = {}
    before: dict[int, dict[int, int]] = {}  # target -> events of each thread that happen before it
    for event in events:
        knowledge.take([event], overlooked)
        if event.thread is not None:
            place[event.id] = count[event.thread] = count.get(event.thread, 0) + 1
            if event.id in targets:
                before[event.id] = knowledge.happened(event.thread)

    def covered(edge: Edge) -> bool:
        writer = events[edge.source].thread
        return writer is not None and before[edge.target].get(writer, 0) >= place[edge.source]

    # The last event uses the stale write: it has learnt nothing from the newest one.
    return tuple(e for e in cycle if e.relation != "po" and (e.target == events[-1].id or not covered(e)))
