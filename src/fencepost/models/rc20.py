"""RC20, C++20 atomics without SC accesses: as a predicate on execution graphs, and as a memory of them.

    design.md             here
    section 2, sw         sw                   from release to acquire, over fences and release sequences
    section 2, hb         hb                   (po ∪ sw)⁺
    section 2             is_rc20_consistent   hb irreflexive, coherence, atomicity, po ∪ rf acyclic
    the same by steps     allows, RC20         w ∉ dom(mo ; rf? ; hb? ; [E_τ]),
                                               and a write also w ∉ dom(mo|imm ; [RMW])
    non-atomic cells      RC20                 wmax, if hb orders the access after all that it conflicts with;
                                               else ⊥
    section 3, races      races                the conflicting accesses that hb leaves unordered in SC runs

An SC fence is an acquire fence, an acquire-release RMW of the reserved cell, and a release fence. Here the
three are one event, an RMW that is in [F] too. That loses nothing: whatever happens before one of the three
happens before the last, and sw leaves the RMW and the release fence, never the acquire fence alone. What the
acquire fence learns cannot matter to the RMW: all writes to its cell are RMWs, so only wmax is free.

The steps build all consistent graphs and no others. Take an event last in po ∪ rf out of a consistent graph:
hb ⊆ (po ∪ rf)⁺ runs through no such event, so what remains is consistent. Put it back, with predecessor w:
a new cycle against coherence goes from it by fr or mo to a write newer than w, and by rf? ; hb back to it.
If that hb arrives by po, `allows` has excluded it. If it arrives by sw, it came by w or a write before w in
its release sequence, and the cycle through that write instead was there without the new event.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from operator import or_
from typing import NamedTuple

from fencepost.models.definition import Definition
from fencepost.models.enumerate import BOTTOM, Bottom, reachable_graph_states
from fencepost.models.graphs import NOTHING, Event, Graph
from fencepost.models.relations import Relation, identity
from fencepost.models.rules import Views
from fencepost.models.sc import SCG
from fencepost.models.threads import Label, ProgramLts, Threads
from fencepost.program import Mode, Program

# Sets of events.

RELEASES = (Mode.REL, Mode.SC)
ACQUIRES = (Mode.ACQ, Mode.SC)


def fences(graph: Graph) -> frozenset[Event]:
    return frozenset(e for e in graph.events if e.label.kind == "F" or e.label.cell == graph.cells.fence)


def releasing(graph: Graph) -> frozenset[Event]:
    return frozenset(e for e in graph.events if e.label.store_mode in RELEASES)


def acquiring(graph: Graph) -> frozenset[Event]:
    return frozenset(e for e in graph.events if e.label.load_mode in ACQUIRES)


# The predicate.


def sw(graph: Graph) -> Relation[Event]:
    """[rel] ; ([F] ; po)? ; [W] ; (rf ; [RMW])* ; rf ; [R] ; (po ; [F])? ; [acq]"""
    po, rf, here = graph.po, graph.rf, graph.id
    fence, rmw = identity(fences(graph)), identity(graph.rmws)
    write, read = identity(graph.writes & graph.atomics), identity(graph.reads & graph.atomics)
    release_sequence = (rf >> rmw).plus() | here
    return (
        identity(releasing(graph))
        >> ((fence >> po) | here)
        >> write
        >> release_sequence
        >> rf
        >> read
        >> ((po >> fence) | here)
        >> identity(acquiring(graph))
    )


def hb(graph: Graph) -> Relation[Event]:
    return (graph.po | sw(graph)).plus()


def is_rc20_consistent(graph: Graph) -> bool:
    before, mo, rf, fr, here = hb(graph), graph.mo, graph.rf, graph.fr, graph.id
    return (
        before.is_irreflexive()
        and ((mo | fr) >> (rf | here) >> (before | here)).is_irreflexive()  # coherence
        and rf >> identity(graph.rmws) <= mo.immediate()  # atomicity
        and (graph.po | rf).is_acyclic()
    )


# The memory.


def allows(graph: Graph, thread: int, label: Label, w: int) -> bool:
    """Whether `thread` may add an atomic access with predecessor `w`."""
    write, here = graph.event(w), graph.id
    observed = graph.mo >> (graph.rf | here) >> (hb(graph) | here) >> identity(graph.of_thread(thread))
    taken = graph.mo.immediate() >> identity(graph.rmws)
    return write not in observed.domain and (not label.writes or write not in taken.domain)


class Rc20Graphs:
    """As `allows`, by bit masks; with non-atomic cells."""

    def step(self, graph: Graph, thread: int, label: Label, w: int) -> Graph | Bottom | None:
        order = graph.mo_lists[label.cell]
        if not graph.cells.atomic[label.cell]:
            if any(unordered_accesses(graph, thread, label)):
                return BOTTOM
            return graph.add(thread, label, w) if w == order[-1] else None
        newer = order[order.index(w) + 1 :]
        if newer:
            known = knowledge(graph)
            observed = known.of_thread[thread]
            if any(observed & (1 << write | known.readers.get(write, 0)) for write in newer):
                return None
            if label.writes and graph.label(newer[0]).kind == "RMW":
                return None
        return graph.add(thread, label, w)


RC20 = Rc20Graphs()
DEFINITION = Definition(RC20, hb)


def unordered_accesses(graph: Graph, thread: int, label: Label) -> Iterator[int]:
    """The accesses that conflict with a next non-atomic access of `thread`, and do not happen before it."""
    known = knowledge(graph)
    writes = graph.mo_lists[label.cell]
    for write in writes:
        reads = known.readers.get(write, 0) if label.writes else 0
        yield from events_in((1 << write | reads) & ~known.of_thread[thread])


def events_in(mask: int) -> Iterator[int]:
    """The numbers of the events in a mask."""
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask ^= lowest


# Races.


class Rc20Race(NamedTuple):
    """Two conflicting accesses to a non-atomic cell in a graph of a run under SC; hb orders neither first."""

    cell: str
    first: Event
    second: Event


def races(program: Program, limit: int | None = None, *, ordered_by_s: bool = False) -> set[Rc20Race]:
    """Where SC goes on after a race, so does this. With `ordered_by_s`, an SC fence has no cell."""
    if all(program.atomic_cells):
        return set()
    lts = ProgramLts(program, silent_fences=False, ordered_by_s=ordered_by_s)
    found: set[Rc20Race] = set()
    for threads, graph in reachable_graph_states(lts, SCG, limit):
        assert graph is not BOTTOM
        found.update(racing(lts, threads, graph))
    return found


def racing(lts: ProgramLts, threads: Threads, graph: Graph) -> Iterator[Rc20Race]:
    """The races between a next access of some thread and what has happened."""
    for thread, at in enumerate(threads):
        access = lts.threads[thread].access(at)
        if access is None or graph.cells.atomic[access.cell]:
            continue
        step = lts.threads[thread].step(at, graph.written(graph.latest(access.cell)))
        assert step is not None
        second = Event(thread, len(graph.labels[thread]) + 1, step.label)
        for number in unordered_accesses(graph, thread, step.label):
            yield Rc20Race(lts.program.cells[access.cell], graph.event(number), second)


# hb by the rules of `rules`, over masks of event numbers; a test holds them against the relations.


class Knowledge(NamedTuple):
    of_thread: tuple[int, ...]  # for each thread, dom(hb? ; [Init ∪ E_thread])
    of_event: dict[int, int]  # for each event of a thread, dom(hb? ; [{event}])
    readers: dict[int, int]  # for each write that is read, the events that read it


@lru_cache(maxsize=16)  # the steps from one graph ask one after the other
def knowledge(graph: Graph) -> Knowledge:
    initial = len(graph.cells.initial)
    views = Views(0, or_)
    for thread in range(len(graph.labels)):
        views.happen(thread, (1 << initial) - 1)
    messages = dict.fromkeys(range(initial), 0)  # of each event met so far, what its readers can acquire
    readers: dict[int, int] = {}
    of_event: dict[int, int] = {}
    for thread, place in _in_causal_order(graph):
        label, w = graph.labels[thread][place], graph.rf_lists[thread][place]
        number = graph.number(thread, place + 1)
        message = 0
        if w != NOTHING:
            readers[w] = readers.get(w, 0) | 1 << number
            if graph.cells.atomic[label.cell]:
                message = messages[w]
        views.happen(thread, 1 << number)
        if label.cell == graph.cells.fence:
            messages[number] = views.sc_fence(thread, message, 0, 0)
        else:
            messages[number] = _take(views, thread, label, message)
        of_event[number] = views.current[thread]
    of_thread = tuple(views.current[thread] for thread in range(len(graph.labels)))
    return Knowledge(of_thread, of_event, readers)


def _take(views: Views[int], thread: int, label: Label, message: int) -> int:
    """Let the event happen, with the message of the write that it reads; gives its own message."""
    acquire, release = label.load_mode in ACQUIRES, label.store_mode in RELEASES
    if label.kind == "F":
        if acquire:
            views.acquire_fence(thread)
        if release:
            views.release_fence(thread)
        return 0
    if label.reads:
        views.read(thread, message, 0, acquire=acquire)
    if not label.writes:
        return 0
    return views.write(thread, 0, release=release, replaced=message if label.reads else None)


def _in_causal_order(graph: Graph) -> Iterator[tuple[int, int]]:
    """Thread and place of all events, each after those before it in po ∪ rf."""
    met = {NOTHING, *range(len(graph.cells.initial))}
    places = [0] * len(graph.labels)
    while any(place < len(labels) for place, labels in zip(places, graph.labels, strict=True)):
        for thread, sources in enumerate(graph.rf_lists):
            while places[thread] < len(sources) and sources[places[thread]] in met:
                yield thread, places[thread]
                places[thread] += 1
                met.add(graph.number(thread, places[thread]))
