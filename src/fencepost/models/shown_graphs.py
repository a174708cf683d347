"""The execution graph that a witness shows as the definitions have it, and what its total order S contains.

A witness is made of events and edges that every face can print. Here they become a `Graph` again, so that
questions about a shown run are answered by the definition: `order_on_cycle` says which events of the cycle S
orders (`cpp20.before_in_s`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from fencepost.models.cpp20 import has_s, masks_before_in_s
from fencepost.models.graphs import NOTHING, Cells, Graph
from fencepost.models.relations import Relation, relation
from fencepost.models.threads import NO_CELL, Label
from fencepost.program import Mode
from fencepost.verdicts import Edge, Event
from fencepost.verdicts.graph import MOST_EVENTS_FOR_S, sc_events_on_cycle


class ShownGraph:
    """Takes in the events of a run one by one: the initial writes, then the others."""

    def __init__(self, threads: int, initial: Sequence[Event], not_atomic: Iterable[str] = ()) -> None:
        self._cells = {event.cell: cell for cell, event in enumerate(initial)}
        left_out = set(not_atomic)
        cells = Cells(
            initial=tuple(Label("W", cell, None, event.written) for cell, event in enumerate(initial)),
            atomic=tuple(event.cell not in left_out for event in initial),
            threads=threads,
            fence=len(initial),
        )
        nothing: tuple[tuple[()], ...] = ((),) * threads
        orders = tuple((cell,) for cell in range(len(initial)))
        self.graph = Graph(cells, nothing, nothing, orders, nothing, consistent=True)
        self.numbers = {event.id: cell for cell, event in enumerate(initial)}

    def add(self, event: Event, predecessor: int | None = None) -> None:
        """`predecessor` is the event that this one reads, or follows in modification order: if it is not
        given, the newest write to its cell."""
        assert event.thread is not None
        cell = self._cells[event.cell] if event.cell else NO_CELL
        label = Label(event.kind, cell, event.read, event.written, *_modes(event))
        if event.kind == "F":
            w = NOTHING
        else:
            w = self.graph.latest(cell) if predecessor is None else self.numbers[predecessor]
        self.graph = self.graph.add(event.thread, label, w)
        self.numbers[event.id] = self.graph.number(event.thread, len(self.graph.labels[event.thread]))


def shown_graph(threads: int, events: Sequence[Event], edges: Iterable[Edge]) -> ShownGraph:
    """The graph with all events; a write may come before older ones."""
    initial = [event for event in events if event.thread is None]
    shown = ShownGraph(threads, initial, (event.cell for event in events if event.mode == "na"))
    before: dict[int, int] = {}
    for edge in edges:
        if edge.relation in ("rf", "mo"):
            before[edge.target] = edge.source
    for event in events[len(initial) :]:
        predecessor = before.get(event.id)
        while predecessor is not None and predecessor not in shown.numbers:
            predecessor = before.get(predecessor)
        shown.add(event, predecessor)
    return shown


def order_on_cycle(
    threads: int, events: Sequence[Event], edges: Iterable[Edge], cycle: Sequence[Edge]
) -> tuple[Edge, ...]:
    """What S must contain between the SC events of the cycle, without what follows from the rest.

    SC fences between two accesses of the cycle count. There is nothing for runs that are longer than
    `MOST_EVENTS_FOR_S`, nor if no S exists: then the run needs other stale values than those shown.
    """
    wanted = set(sc_events_on_cycle(events, cycle))
    if len(wanted) < 2 or len(events) > MOST_EVENTS_FOR_S:
        return ()
    shown = shown_graph(threads, events, edges)
    if not has_s(shown.graph):
        return ()
    id_of = {number: event for event, number in shown.numbers.items()}
    before = relation(
        (id_of[first], id_of[second])
        for second, mask in masks_before_in_s(shown.graph).items()
        for first in id_of
        if mask >> first & 1
    )
    return tuple(Edge(*pair, "S") for pair in sorted(_between(before, wanted)))


def _between(before: Relation[int], wanted: set[int]) -> Relation[int]:
    """The closure of the relation between the wanted events, reduced to neighbours."""
    return relation(pair for pair in before.plus() if wanted.issuperset(pair)).immediate()


def _modes(event: Event) -> tuple[Mode | None, Mode | None]:
    """Of the read part and of the write part; a fence has only those that it orders by."""
    said = event.mode.replace("_", ",").split(",")
    if event.mode == "seq_cst":
        load, store = Mode.SC, Mode.SC
    elif event.mode == "na":
        load, store = Mode.NA, Mode.NA
    else:
        load = Mode.ACQ if "acq" in said else Mode.RLX
        store = Mode.REL if "rel" in said else Mode.RLX
    if event.kind == "F":
        return (load if load is not Mode.RLX else None), (store if store is not Mode.RLX else None)
    return (load if event.read is not None else None), (store if event.written is not None else None)
