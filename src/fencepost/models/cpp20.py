"""C++20 atomics with seq_cst accesses: as a predicate on execution graphs, and as a memory of them.

    C++20 [atomics.order]       here                  what
    5 (P0668R5)                 strongly              strongly happens before
    3, coherence-ordered        eco                   (rf ∪ mo ∪ fr)⁺
    4, 4.1 to 4.4               before_in_s           what the total order S of SC events must contain
    4                           is_cpp20_consistent   RC20's consistency, and S exists
    the same by steps           CPP20                 a step of RC20 after which S still exists

An SC event is a seq_cst access or an SC fence. RC20 has an SC fence for an RMW of a reserved cell. Here it is
an acquire-release fence that S orders, and a seq_cst access acquires and releases. So without SC events this
is RC20. Happens-before, synchronisation and races are those of `rc20`, which knows both kinds of fences.

`strongly` is not closed under composition. That loses nothing: a chain of its steps through an event that is
not SC is one step `po ; hb ; po`, and S is transitive.

The steps build all consistent graphs and no others. Take an event last in po ∪ rf out of a consistent graph.
No hb and no eco between other events runs through it, so what S must contain only becomes less. In particular
nothing in S must come after an SC fence that is last in its thread, so a fence is always enabled, as
`ThreadLts.past_fences` demands.
"""

from __future__ import annotations

from collections.abc import Iterator

from fencepost.models import rc20
from fencepost.models.definition import Definition
from fencepost.models.enumerate import BOTTOM, Bottom
from fencepost.models.graphs import NOTHING, Event, Graph
from fencepost.models.rc20 import RC20, Rc20Race, events_in, hb, is_rc20_consistent, knowledge, sw
from fencepost.models.relations import Relation, identity
from fencepost.models.threads import Label
from fencepost.program import Mode, Program

# The predicate.


def sc_events(graph: Graph) -> frozenset[Event]:
    return frozenset(event for event in graph.events if is_sc(event.label))


def is_sc(label: Label) -> bool:
    """Both modes of an RMW are seq_cst, or neither is."""
    return Mode.SC in (label.load_mode, label.store_mode)


def strongly(graph: Graph) -> Relation[Event]:
    """po ∪ [sc] ; sw ; [sc] ∪ po ; hb ; po"""
    po, sc = graph.po, identity(sc_events(graph))
    return po | sc >> sw(graph) >> sc | po >> hb(graph) >> po


def eco(graph: Graph) -> Relation[Event]:
    atomic = identity(graph.atomics)
    return (atomic >> (graph.rf | graph.mo | graph.fr)).plus()


def before_in_s(graph: Graph) -> Relation[Event]:
    """[sc] ; strongly ; [sc]  ∪  ([sc] ∪ [F_sc] ; hb) ; eco ; ([sc] ∪ hb ; [F_sc])"""
    sc, happens = identity(sc_events(graph)), hb(graph)
    fence = identity(event for event in sc_events(graph) if event.label.kind == "F")
    return sc >> strongly(graph) >> sc | (sc | fence >> happens) >> eco(graph) >> (sc | happens >> fence)


def is_cpp20_consistent(graph: Graph) -> bool:
    return is_rc20_consistent(graph) and before_in_s(graph).is_acyclic()


# The memory.


class Cpp20Graphs:
    """A step of RC20, non-atomic cells included, after which S exists."""

    def step(self, graph: Graph, thread: int, label: Label, w: int) -> Graph | Bottom | None:
        after = RC20.step(graph, thread, label, w)
        if after is None or after is BOTTOM or has_s(after):
            return after
        return None


CPP20 = Cpp20Graphs()
DEFINITION = Definition(CPP20, hb)


def races(program: Program, limit: int | None = None) -> set[Rc20Race]:
    """S orders no two accesses to a non-atomic cell: the races are those of RC20's happens-before."""
    return rc20.races(program, limit, ordered_by_s=True)


# S by masks of event numbers; a test holds them against the relations.


def has_s(graph: Graph) -> bool:
    """Whether `before_in_s` is acyclic."""
    before = masks_before_in_s(graph)
    while before:
        ready = [event for event, events in before.items() if not any(events >> e & 1 for e in before)]
        if not ready:
            return False
        for event in ready:
            del before[event]
    return True


def masks_before_in_s(graph: Graph) -> dict[int, int]:
    """For each SC event, those that must come before it in S."""
    sc = [number for number in graph.numbers() if is_sc(graph.label(number))]
    if not sc:
        return {}
    everything = sum(1 << event for event in sc)
    before = {event: _strongly_before(graph, event) & everything for event in sc}
    known = knowledge(graph).of_event
    fences = [event for event in sc if graph.label(event).kind == "F"]
    all_fences = sum(1 << event for event in fences)
    for first, second in _eco_pairs(graph):
        sources = known[first] & all_fences | 1 << first & everything
        targets = [fence for fence in fences if known[fence] >> second & 1]
        for target in [*targets, second] if second in before else targets:
            before[target] |= sources
    return before


def _strongly_before(graph: Graph, event: int) -> int:
    before = _po_before(graph, event) | _synchronised_before(graph, event)
    previous = event - graph.cells.threads
    if previous >= len(graph.cells.initial):
        happened = knowledge(graph).of_event[previous]
        for other in events_in(happened >> len(graph.cells.initial)):
            before |= _po_before(graph, other + len(graph.cells.initial))
    return before


def _po_before(graph: Graph, event: int) -> int:
    """Without the initial writes."""
    own = range(event - graph.cells.threads, len(graph.cells.initial) - 1, -graph.cells.threads)
    return sum(1 << other for other in own)


def _synchronised_before(graph: Graph, event: int) -> int:
    """dom(sw ; [{event}]) of an SC event, and other writes and fences; those that are SC do release."""
    if graph.label(event).kind != "F":
        return _released_to(graph, event)
    mask = 0
    for other in events_in(_po_before(graph, event)):
        mask |= _released_to(graph, other)
    return mask


def _released_to(graph: Graph, read: int) -> int:
    """The writes whose release sequences the event reads from, and the fences before them in po."""
    mask, write = 0, _read_by(graph, read)
    while write >= len(graph.cells.initial):
        earlier = events_in(_po_before(graph, write))
        mask |= 1 << write | sum(1 << other for other in earlier if graph.label(other).kind == "F")
        write = _read_by(graph, write)
    return mask


def _read_by(graph: Graph, event: int) -> int:
    """The write that the event reads, if it is an atomic access that reads."""
    place, thread = divmod(event - len(graph.cells.initial), graph.cells.threads)
    label = graph.labels[thread][place]
    return graph.rf_lists[thread][place] if label.kind != "F" and graph.cells.atomic[label.cell] else NOTHING


def _eco_pairs(graph: Graph) -> Iterator[tuple[int, int]]:
    """eco between events of threads: by the place in mo of what they write, or else read."""
    for cell, order in enumerate(graph.mo_lists):
        if not graph.cells.atomic[cell]:
            continue
        readers = knowledge(graph).readers
        ranks = {write: 2 * place for place, write in enumerate(order) if write >= len(graph.cells.initial)}
        for place, write in enumerate(order):
            ranks |= {e: 2 * place + 1 for e in events_in(readers.get(write, 0)) if not graph.label(e).writes}
        yield from ((a, b) for a in ranks for b in ranks if ranks[a] < ranks[b])
