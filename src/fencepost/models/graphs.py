"""Execution graphs: what happened in a run, without the order in which it happened.

    rocker-2019     here                           meaning
    Def. 4.1        Event                          ⟨thread, serial number, label⟩
    Def. 4.2        init, po                       initial writes, program order (initial writes first)
    Def. 4.3        Graph                          ⟨E, rf, mo⟩
    Notation 4.4    Graph.add                      one more event, reading from or placed right after w
    Def. 4.5        fits                           the condition of FG on w; G0 is `initial_graph`
    section 4.1     Graph.latest                   wmax_x, the mo-last write to x
    section 4.2     Graph.hb                       (po ∪ rf)⁺
    section 5       Graph.fr, Graph.hbsc           (rf⁻¹ ; mo) \\ id,  (po ∪ rf ∪ mo ∪ fr)⁺
    section 6       Graph.hb                       only rf on atomic cells synchronises

Non-atomic cells take no part in `hbsc` but through po: a race on them is reported as such. The relations are
the definition. The enumeration of a program meets thousands of graphs, so the questions asked of each one
are also answered by bit masks, at the end of the class; a test holds them against the relations.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple, TypeVar

from fencepost.models.relations import Relation, identity, relation
from fencepost.models.threads import Label, ProgramLts

P = TypeVar("P")

NOTHING = -1  # in `Graph.rf`: the event does not read


class Event(NamedTuple):
    thread: int | None
    serial: int
    label: Label


class Cells(NamedTuple):
    """What all graphs of one program have in common."""

    initial: tuple[Label, ...]
    atomic: tuple[bool, ...]
    threads: int
    fence: int  # the cell of SC fences, where they are RMWs


class Graph:
    """⟨E, rf, mo⟩, compared by content.

    An event has a number: the initial write of a cell has the cell's, then come the first events of all
    threads, then the second ones, and so on. So the number says thread and serial number, and equal events
    of two graphs of one program have equal numbers.
    """

    __slots__ = ("_consistent", "_hash", "_known", "cells", "labels", "mo_lists", "rf_lists")

    def __init__(
        self,
        cells: Cells,
        labels: tuple[tuple[Label, ...], ...],
        rf_lists: tuple[tuple[int, ...], ...],
        mo_lists: tuple[tuple[int, ...], ...],
        known: tuple[tuple[int, ...], ...],
        *,
        consistent: bool | None,
    ) -> None:
        self.cells = cells
        self.labels = labels  # of each thread's events
        self.rf_lists = rf_lists  # for each thread's events, the write it reads
        self.mo_lists = mo_lists  # for each cell, its writes, oldest first
        self._known = known  # for each thread's events, the mask of dom(hb? ; [{event}])
        self._consistent = consistent  # whether hbsc is irreflexive, None until it is asked
        self._hash = hash((rf_lists, mo_lists))

    def __eq__(self, other: object) -> bool:
        return self is other or (
            isinstance(other, Graph)
            and self._hash == other._hash
            and self.rf_lists == other.rf_lists
            and self.mo_lists == other.mo_lists
            and self.labels == other.labels
            and self.cells == other.cells
        )

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        return f"Graph(labels={self.labels}, rf={self.rf_lists}, mo={self.mo_lists})"

    # Events and their numbers.

    def number(self, thread: int, serial: int) -> int:
        """The number of the `serial`-th event of `thread`, counted from 1."""
        return len(self.cells.initial) + (serial - 1) * self.cells.threads + thread

    def event(self, number: int) -> Event:
        if number < len(self.cells.initial):
            return Event(None, 0, self.label(number))
        place, thread = divmod(number - len(self.cells.initial), self.cells.threads)
        return Event(thread, place + 1, self.label(number))

    def label(self, number: int) -> Label:
        if number < len(self.cells.initial):
            return self.cells.initial[number]
        place, thread = divmod(number - len(self.cells.initial), self.cells.threads)
        return self.labels[thread][place]

    def numbers(self) -> list[int]:
        """The numbers of all events, the initial writes first, then thread by thread."""
        return list(range(len(self.cells.initial))) + [
            self.number(thread, serial + 1)
            for thread, labels in enumerate(self.labels)
            for serial in range(len(labels))
        ]

    def written(self, write: int) -> int:
        """valW: the value that event number `write` wrote."""
        value = self.label(write).written
        assert value is not None
        return value

    def latest(self, cell: int) -> int:
        return self.mo_lists[cell][-1]

    # Notation 4.4 and Def. 4.5.

    def fits(self, label: Label, w: int) -> bool:
        """w ∈ G.W_loc(l), and what `label` reads is what `w` wrote."""
        return w in self.mo_lists[label.cell] and (not label.reads or self.written(w) == label.read)

    def add(self, thread: int, label: Label, w: int) -> Graph:
        """The graph with one more event of `thread`, reading from or placed in mo right after `w`."""
        event = self.number(thread, len(self.labels[thread]) + 1)
        known = self.observed(thread) | 1 << event
        mo_lists = self.mo_lists
        # Nothing comes after an event placed last.
        consistent = self._consistent if label.kind == "F" or w == self.latest(label.cell) else None
        if label.reads and self.cells.atomic[label.cell]:
            known |= self._known_of(w)
        if label.writes:
            order = mo_lists[label.cell]
            place = order.index(w) + 1
            mo_lists = _replaced(mo_lists, label.cell, (*order[:place], event, *order[place:]))
        return Graph(
            self.cells,
            _replaced(self.labels, thread, (*self.labels[thread], label)),
            _replaced(self.rf_lists, thread, (*self.rf_lists[thread], w if label.reads else NOTHING)),
            mo_lists,
            _replaced(self._known, thread, (*self._known[thread], known)),
            consistent=consistent,
        )

    # Sets of events, and relations.

    @property
    def events(self) -> frozenset[Event]:
        return frozenset(map(self.event, self.numbers()))

    @property
    def init(self) -> frozenset[Event]:
        return frozenset(map(self.event, range(len(self.cells.initial))))

    @property
    def reads(self) -> frozenset[Event]:
        return frozenset(event for event in self.events if event.label.reads)

    @property
    def writes(self) -> frozenset[Event]:
        return frozenset(event for event in self.events if event.label.writes)

    @property
    def rmws(self) -> frozenset[Event]:
        return self.reads & self.writes

    @property
    def atomics(self) -> frozenset[Event]:
        return frozenset(e for e in self.events if e.label.kind != "F" and self.cells.atomic[e.label.cell])

    def of_thread(self, thread: int) -> frozenset[Event]:
        return frozenset(event for event in self.events if event.thread == thread)

    def of_cell(self, cell: int) -> frozenset[Event]:
        return frozenset(event for event in self.events if event.label.cell == cell)

    @property
    def id(self) -> Relation[Event]:
        return identity(self.events)

    @property
    def po(self) -> Relation[Event]:
        return relation(
            (a, b)
            for a in self.events
            for b in self.events
            if b.thread is not None and (a.thread is None or (a.thread == b.thread and a.serial < b.serial))
        )

    @property
    def rf(self) -> Relation[Event]:
        return relation(
            (self.event(w), self.event(self.number(thread, serial + 1)))
            for thread, sources in enumerate(self.rf_lists)
            for serial, w in enumerate(sources)
            if w != NOTHING
        )

    @property
    def mo(self) -> Relation[Event]:
        return relation(
            (self.event(a), self.event(b))
            for order in self.mo_lists
            for place, a in enumerate(order)
            for b in order[place + 1 :]
        )

    @property
    def fr(self) -> Relation[Event]:
        return (~self.rf >> self.mo) - self.id

    @property
    def hb(self) -> Relation[Event]:
        return (self.po | identity(self.atomics) >> self.rf).plus()

    @property
    def hbsc(self) -> Relation[Event]:
        return (self.po | identity(self.atomics) >> (self.rf | self.mo | self.fr)).plus()

    # The same by bit masks over event numbers.

    def observed(self, thread: int) -> int:
        """dom(hb? ; [Init ∪ E_thread])."""
        known = self._known[thread]
        return known[-1] if known else (1 << len(self.cells.initial)) - 1

    def _known_of(self, write: int) -> int:
        cells = len(self.cells.initial)
        if write < cells:
            return 1 << write
        place, thread = divmod(write - cells, self.cells.threads)
        return self._known[thread][place]

    def is_sc_consistent(self) -> bool:
        """Whether hbsc is irreflexive."""
        if self._consistent is None:
            self._consistent = self._can_be_taken_apart()
        return self._consistent

    def _can_be_taken_apart(self) -> bool:
        """Whether all events can be taken away, each after those right before it."""
        before = self._neighbours_before()
        gone = (1 << len(self.cells.initial)) - 1
        while before:
            ready = [event for event, events in before.items() if not events & ~gone]
            if not ready:
                return False
            for event in ready:
                gone |= 1 << event
                del before[event]
        return True

    def observed_sc(self, thread: int) -> int:
        """dom(hbsc? ; [Init ∪ E_thread])."""
        before = self._neighbours_before()
        observed = (1 << len(self.cells.initial)) - 1
        frontier = [self.number(thread, len(self.labels[thread]))] if self.labels[thread] else []
        while frontier:
            event = frontier.pop()
            if not observed >> event & 1:
                observed |= 1 << event
                frontier += [other for other in before if before[event] >> other & 1]
        return observed

    def _neighbours_before(self) -> dict[int, int]:
        """For each event, those right before it in po, rf, mo, and those that read the write before it."""
        cells, threads = len(self.cells.initial), self.cells.threads
        before: dict[int, int] = {}
        readers: dict[int, int] = {}
        for thread, (labels, sources) in enumerate(zip(self.labels, self.rf_lists, strict=True)):
            event, previous = cells + thread, 0
            for label, w in zip(labels, sources, strict=True):
                before[event] = previous
                if w != NOTHING and self.cells.atomic[label.cell]:
                    before[event] |= 1 << w
                    readers[w] = readers.get(w, 0) | 1 << event
                previous = 1 << event
                event += threads
        for cell, order in enumerate(self.mo_lists):
            if self.cells.atomic[cell]:
                for older, newer in pairwise(order):
                    before[newer] |= (1 << older | readers.get(older, 0)) & ~(1 << newer)
        return before


def initial_graph(lts: ProgramLts) -> Graph:
    """G0: only the initial writes."""
    nothing: tuple[tuple[()], ...] = ((),) * len(lts.threads)
    init = tuple(Label("W", cell, None, value) for cell, value in enumerate(lts.initial_memory))
    cells = Cells(init, lts.atomic_cells, len(lts.threads), lts.fence_cell)
    return Graph(
        cells, nothing, nothing, tuple((cell,) for cell in range(len(init))), nothing, consistent=True
    )


def _replaced(parts: tuple[P, ...], place: int, part: P) -> tuple[P, ...]:
    return (*parts[:place], part, *parts[place + 1 :])
