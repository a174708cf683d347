"""The edges of an execution graph that is shown, and the cycle in it.

The builder of a witness says where each read takes its value and in which order the writes of each cell
stand; the edges follow from that. Which cycle proves something is for the builder to say, too.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

from fencepost.verdicts import Edge, Event

FENCE_CELL = "fence"  # the reserved cell of which SC fences are RMWs
MOST_EVENTS_FOR_S = 120  # of longer runs S is not shown: to find it takes time cubic in their number

Sources = dict[int, int]  # read -> the write that it reads
Orders = dict[str, list[int]]  # cell -> its writes, oldest first
Outgoing = Mapping[int, Sequence[Edge]]

_TRANSITIVE = {("po", "po"), ("mo", "mo"), ("fr", "mo")}  # two edges that make one of the first relation


def read_in_order(events: Iterable[Event]) -> tuple[Sources, Orders]:
    """Sources and orders of a run in which each read takes the newest value, and each write comes last."""
    sources: Sources = {}
    orders: Orders = {}
    for event in events:
        if event.read is not None:
            sources[event.id] = orders[event.cell][-1]
        if event.written is not None:
            orders.setdefault(event.cell, []).append(event.id)
    return sources, orders


def edges_between(
    events: Sequence[Event], sources: Mapping[int, int], orders: Mapping[str, Sequence[int]]
) -> Iterator[Edge]:
    """po, rf and mo between neighbours, and fr to the next newer write, as `Witness` describes them."""
    last_of_thread: dict[int, int] = {}
    for event in events:
        if event.thread is not None:
            if event.thread in last_of_thread:
                yield Edge(last_of_thread[event.thread], event.id, "po")
            last_of_thread[event.thread] = event.id
        if event.id in sources:
            yield Edge(sources[event.id], event.id, "rf")
    successor = {older: newer for writes in orders.values() for older, newer in pairwise(writes)}
    yield from (Edge(older, newer, "mo") for older, newer in successor.items())
    for read, write in sources.items():
        if write in successor and successor[write] != read:  # an RMW itself is what follows its write
            yield Edge(read, successor[write], "fr")


def sc_events_on_cycle(events: Sequence[Event], cycle: Sequence[Edge]) -> Iterator[int]:
    """The seq_cst accesses of the cycle, and the SC fences between two of its accesses."""
    ends = {end for edge in cycle for end in (edge.source, edge.target)}
    spans = [edge for edge in cycle if edge.relation == "po"]
    for event in events:
        if event.mode != "seq_cst" or event.cell == FENCE_CELL:
            continue
        passed = event.kind == "F" and any(
            edge.source < event.id < edge.target and events[edge.source].thread == event.thread
            for edge in spans
        )
        if passed or event.id in ends:
            yield event.id


def outgoing(edges: Iterable[Edge]) -> Outgoing:
    """The edges by the event where they start."""
    leaving: dict[int, list[Edge]] = {}
    for edge in edges:
        leaving.setdefault(edge.source, []).append(edge)
    return leaving


def shortest_path(edges: Outgoing, start: int, end: int) -> list[Edge] | None:
    """As few edges as possible from `start` to `end`, at least one; None if there is no way."""
    reached_by: dict[int, Edge] = {}
    queue = deque([start])
    while queue and end not in reached_by:
        for edge in edges.get(queue.popleft(), ()):
            if edge.target not in reached_by:
                reached_by[edge.target] = edge
                queue.append(edge.target)
    if end not in reached_by:
        return None
    path = [reached_by[end]]
    while path[-1].source != start:
        path.append(reached_by[path[-1].source])
    return path[::-1]


def cycle_through(edges: Outgoing, event: int) -> tuple[Edge, ...]:
    """A shortest cycle through the event, which must be on one."""
    path = shortest_path(edges, event, event)
    assert path is not None, f"event {event} is on no cycle"
    return joined(path)


def joined(path: Sequence[Edge], keep: int | None = None) -> tuple[Edge, ...]:
    """The path with neighbouring edges made one where that is possible, but not at the event `keep`."""
    steps: list[Edge] = []
    for edge in path:
        before = steps[-1] if steps and edge.source != keep else None
        if before is not None and (before.relation, edge.relation) in _TRANSITIVE:
            steps[-1] = Edge(before.source, edge.target, before.relation)
        else:
            steps.append(edge)
    return tuple(steps)
