"""From a violation that the engine found to the `Witness` the user sees.

The engine says after which run which access can leave sequential consistency. Here the stale write is
chosen, the execution graph is drawn up, and the cycle in it is found. Everything takes time linear in the
length of the run (but for the number of threads), since a depth-first search can give long ones.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Literal

from holdfast.engine._native import Violation
from holdfast.engine.explore import decode_run, make_event
from holdfast.program import (
    BlockingCompareExchange,
    CompareExchange,
    Exchange,
    Fence,
    FetchAdd,
    Load,
    Mode,
    Program,
    Store,
    Wait,
)
from holdfast.verdicts import Edge, Event, Witness

Relation = Literal["po", "rf", "mo", "fr"]


def build_witness(program: Program, violation: Violation) -> Witness:
    """The witness for a violation of robustness against release/acquire."""
    run = decode_run(program, violation.run)
    atomic = {name for name, is_atomic in zip(program.cells, program.atomic_cells, strict=True) if is_atomic}
    cell = program.cells[violation.cell]
    writes = [event.id for event in run if event.cell == cell and event.written is not None]
    observed = _observed_write(run, atomic, violation.thread, writes)
    stale, access = _stale_access(program, violation, run, writes[observed:])
    events = (*run, access)
    edges = tuple(_edges(events, stale, atomic))
    return Witness(
        threads=tuple(thread.name for thread in program.threads),
        events=events,
        stale=stale,
        latest=writes[-1],
        edges=edges,
        cycle=_cycle(events, edges, atomic),
    )


def _observed_write(run: Sequence[Event], atomic: set[str], thread: int, writes: Sequence[int]) -> int:
    """The position in `writes` (in modification order) of the newest one that happens before the thread.

    An event is described by how many events of each thread happen before it (a vector clock).
    """
    clocks: dict[int, dict[int, int]] = {}  # event -> clock
    of_thread: dict[int, dict[int, int]] = {}
    place: dict[int, int] = {}  # event -> its number in its thread
    last_write: dict[str, int] = {}
    for event in run:
        if event.thread is None:
            last_write[event.cell] = event.id
            clocks[event.id] = {}
            continue
        clock = dict(of_thread.get(event.thread, {}))
        if event.read is not None and event.cell in atomic | {"fence"}:
            for other, count in clocks[last_write[event.cell]].items():
                clock[other] = max(clock.get(other, 0), count)
        place[event.id] = clock[event.thread] = clock.get(event.thread, 0) + 1
        of_thread[event.thread] = clock
        if event.written is not None:
            last_write[event.cell] = event.id
            clocks[event.id] = clock
    known = of_thread.get(thread, {})
    for position in reversed(range(1, len(writes))):
        writer = run[writes[position]].thread
        if writer is not None and place[writes[position]] <= known.get(writer, 0):
            return position
    return 0


def _stale_access(
    program: Program, violation: Violation, run: Sequence[Event], candidates: Sequence[int]
) -> tuple[int, Event]:
    """The newest stale write that the access can read or directly follow, and the access that does so."""
    for write, successor in reversed(list(pairwise(candidates))):
        value = run[write].written
        assert value is not None
        followed_by_rmw = run[successor].kind in ("RMW", "F")
        label = _label(program, violation, value)
        if label is None or (label[0] != "R" and followed_by_rmw):
            continue
        kind, read, written = label
        access = make_event(
            program,
            len(run),
            violation.thread,
            violation.pc,
            kind=kind,
            cell=violation.cell,
            read=read,
            written=written,
        )
        return write, access
    raise AssertionError("the engine reported a violation that the execution graph does not have")


def _label(program: Program, violation: Violation, value: int) -> tuple[str, int | None, int | None] | None:
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
            return "RMW", value, (value + first) % program.modulus
        case Exchange():
            return "RMW", value, first
        case CompareExchange():
            return ("RMW", value, second) if value == first else ("R", value, None)
        case BlockingCompareExchange():
            return ("RMW", value, second) if value == first else None
        case Fence(Mode.SC):
            return "F", 0, 0
        case _:
            raise AssertionError(f"{instruction} is not an access")


def _edges(events: Sequence[Event], stale: int, atomic: set[str]) -> Iterator[Edge]:
    """The edges of the graph as `Witness` describes them."""
    access = events[-1]
    order: dict[str, list[int]] = {}  # modification order of each cell
    source: dict[int, int] = {}  # read -> write
    last_of_thread: dict[int, int] = {}
    for event in events:
        if event.thread is not None:
            if event.thread in last_of_thread:
                yield Edge(last_of_thread[event.thread], event.id, "po")
            last_of_thread[event.thread] = event.id
        writes = order.setdefault(event.cell, [])
        last = stale if event is access else (writes[-1] if writes else -1)
        if event.read is not None:
            source[event.id] = last
            yield Edge(last, event.id, "rf")
        if event.written is not None:
            writes.insert(writes.index(last) + 1 if event is access else len(writes), event.id)
    successor: dict[int, int] = {}
    for writes in order.values():
        for older, newer in pairwise(writes):
            successor[older] = newer
            yield Edge(older, newer, "mo")
    for read, write in source.items():
        newer_write = successor.get(write)
        if newer_write is not None and newer_write != read:  # an RMW itself is what follows its write
            yield Edge(read, newer_write, "fr")


def _cycle(events: Sequence[Event], edges: Sequence[Edge], atomic: set[str]) -> tuple[Edge, ...]:
    """A shortest cycle through the last event, with neighbouring edges of one relation joined."""
    in_cycle = atomic | {"fence"}
    outgoing: dict[int, list[Edge]] = {}
    for edge in edges:
        if edge.relation == "po" or events[edge.source].cell in in_cycle:
            outgoing.setdefault(edge.source, []).append(edge)
    start = events[-1].id
    reached_by: dict[int, Edge] = {}
    queue = deque([start])
    while start not in reached_by:
        event = queue.popleft()
        for edge in outgoing.get(event, ()):
            if edge.target not in reached_by:
                reached_by[edge.target] = edge
                queue.append(edge.target)
    path = [reached_by[start]]
    while path[-1].source != start:
        path.append(reached_by[path[-1].source])
    return tuple(_joined(path[::-1]))


def _joined(path: Sequence[Edge]) -> Iterator[Edge]:
    """po;po is po, mo;mo is mo, fr;mo is fr."""
    current = path[0]
    for edge in path[1:]:
        joins = (current.relation, edge.relation) in {("po", "po"), ("mo", "mo"), ("fr", "mo")}
        if joins:
            current = Edge(current.source, edge.target, current.relation)
        else:
            yield current
            current = edge
    yield current
