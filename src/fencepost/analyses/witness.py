"""From a violation that the engine found to the `Witness` the user sees.

The engine says after which run which access can leave sequential consistency. Here the stale write is
chosen, the execution graph is drawn up, and the cycle in it is found. Everything takes time linear in the
length of the run (but for the number of threads), since a depth-first search can give long ones.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from fencepost.analyses.happens_before import Knowledge
from fencepost.engine._native import Violation
from fencepost.engine.search import FENCE_CELL, decode_run, make_event
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


def build_witness(program: Program, model: str, violation: Violation) -> Witness:
    """The witness for a violation of robustness against the model."""
    run = decode_run(program, model, violation.run)
    atomic = {name for name, is_atomic in zip(program.cells, program.atomic_cells, strict=True) if is_atomic}
    cell = program.cells[violation.cell]
    writes = [event.id for event in run if event.cell == cell and event.written is not None]
    knowledge = Knowledge(atomic)
    knowledge.take(run)
    first = knowledge.newest_known_write(violation.thread, cell)
    stale, access = _stale_access(program, model, violation, run, writes[first:])
    events = (*run, access)
    edges = tuple(_edges(events, stale))
    cycle = _cycle(events, edges, atomic | {FENCE_CELL})
    return Witness(
        threads=tuple(thread.name for thread in program.threads),
        events=events,
        stale=stale,
        latest=writes[-1],
        edges=edges,
        cycle=cycle,
        unordered=_unordered(events, cycle, Knowledge(atomic)),
    )


def _stale_access(
    program: Program, model: str, violation: Violation, run: Sequence[Event], candidates: Sequence[int]
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
        case _:
            raise AssertionError(f"{instruction} cannot leave sequential consistency")


def _edges(events: Sequence[Event], stale: int) -> Iterator[Edge]:
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
        if event.read is not None:
            source[event.id] = stale if event is access else writes[-1]
            yield Edge(source[event.id], event.id, "rf")
        if event.written is not None:
            writes.insert(writes.index(stale) + 1 if event is access else len(writes), event.id)
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
    outgoing: dict[int, list[Edge]] = {}
    for edge in edges:
        if edge.relation == "po" or events[edge.source].cell in atomic:
            outgoing.setdefault(edge.source, []).append(edge)
    last = events[-1].id
    return tuple(joined(shortest_path(outgoing, last, last)))


def shortest_path(outgoing: Mapping[int, Sequence[Edge]], start: int, end: int) -> list[Edge]:
    """As few edges as possible from `start` to `end`, at least one; there must be a way."""
    reached_by: dict[int, Edge] = {}
    queue = deque([start])
    while end not in reached_by:
        event = queue.popleft()
        for edge in outgoing.get(event, ()):
            if edge.target not in reached_by:
                reached_by[edge.target] = edge
                queue.append(edge.target)
    path = [reached_by[end]]
    while path[-1].source != start:
        path.append(reached_by[path[-1].source])
    return path[::-1]


def joined(path: Sequence[Edge]) -> Iterator[Edge]:
    """po;po is po, mo;mo is mo, fr;mo is fr."""
    current = path[0]
    for edge in path[1:]:
        if (current.relation, edge.relation) in {("po", "po"), ("mo", "mo"), ("fr", "mo")}:
            current = Edge(current.source, edge.target, current.relation)
        else:
            yield current
            current = edge
    yield current


def _unordered(events: Sequence[Event], cycle: Sequence[Edge], knowledge: Knowledge) -> tuple[Edge, ...]:
    """The edges of the cycle that no happens-before covers."""
    targets = {edge.target for edge in cycle}
    place: dict[int, int] = {}
    count: dict[int, int] = {}
    before: dict[int, dict[int, int]] = {}  # target -> events of each thread that happen before it
    for event in events:
        knowledge.take([event])
        if event.thread is not None:
            place[event.id] = count[event.thread] = count.get(event.thread, 0) + 1
            if event.id in targets:
                before[event.id] = knowledge.happened(event.thread)

    def covered(edge: Edge) -> bool:
        writer = events[edge.source].thread
        return writer is not None and before[edge.target].get(writer, 0) >= place[edge.source]

    # The last event reads old news: what it would have learnt from the newest write does not count.
    return tuple(e for e in cycle if e.relation != "po" and (e.target == events[-1].id or not covered(e)))
