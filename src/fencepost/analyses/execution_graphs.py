"""From an execution graph that the engine enumerated to what the user sees of it.

The events come in an order in which an interleaving does them, if there is one. Otherwise each comes after
what it reads and after the writes that it overwrites, if the graph has such an order, and else only after
what it reads. The cycle then shows that no interleaving has the graph.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from fencepost.analyses.safety.drawing import shortest_cycle
from fencepost.engine import _native
from fencepost.engine.decode import EVENT_KINDS, FAILURES, failing_place, initial_events, make_event
from fencepost.memory_models import MODELS
from fencepost.program import Program
from fencepost.program.conditions import Registers
from fencepost.verdicts import BadState, Edge, Event, Place, Race, Run, SafetyWitness
from fencepost.verdicts.graph import FENCE_CELL, edges_between

_INITIAL = -1  # the source of a read of an initial value


def graph_witness(program: Program, model: str, told: _native.ToldGraph, bad: BadState) -> SafetyWitness:
    """The whole graph, at the end of which there is `bad`."""
    shown = _shown(program, model, told, range(len(told.events)))
    return SafetyWitness(
        threads=tuple(thread.name for thread in program.threads),
        events=shown.events,
        edges=shown.edges,
        cycle=shortest_cycle(shown.edges),
        bad=bad,
    )


def race_in(program: Program, model: str, found: _native.FoundRace) -> Race:
    """The two accesses that race, and of the graph no more than leads to them."""
    told = found.graph
    needed = set(_before(told, [found.first, found.second]))
    shown = _shown(program, model, told, sorted(needed))
    first, second = sorted((shown.number[found.first], shown.number[found.second]))
    run = Run(threads=tuple(thread.name for thread in program.threads), events=shown.events[: second + 1])
    return Race(cell=shown.events[second].cell, first=first, second=second, run=run)


def race_state(race: Race) -> BadState:
    """The race without the run."""
    events = [race.run.events[race.first], race.run.events[race.second]]
    places = tuple(
        Place(thread=e.thread, line=e.line, column=e.column, text=e.text)
        for e in events
        if e.thread is not None
    )
    return BadState(kind="data-race", places=places, cell=race.cell)


def failure_state(program: Program, failure: _native.Failure) -> BadState:
    """The failing assertion, division by zero or bad index."""
    place = failing_place(program, failure)
    return BadState(kind=FAILURES[failure.kind], places=(place,))


def final_state(program: Program, registers: Registers, memory: Mapping[str, int]) -> BadState:
    """A state in which all threads have ended, with what is looked at of it."""
    places = tuple(
        Place(thread=number, line=0, column=0, text="", registers=dict(registers[thread.name]))
        for number, thread in enumerate(program.threads)
        if registers.get(thread.name)
    )
    return BadState(kind="final", places=places, memory=dict(memory))


class _Shown(NamedTuple):
    events: tuple[Event, ...]
    edges: tuple[Edge, ...]
    number: dict[int, int]  # of an event as it is told -> its id


def _shown(program: Program, model: str, told: _native.ToldGraph, parts: Sequence[int]) -> _Shown:
    """The graph of some events, with all that come before them in po and rf. Fences that do nothing under the
    model, and those of TSO, are left out, as in all runs."""
    fences = MODELS[model].weak_fences
    kept = {n for n in parts if fences or EVENT_KINDS[told.events[n].kind] != "F"}
    orders = [[n for n in order if n in kept] for order in told.mo]
    uses_fence_cell = any(told.events[n].cell == len(program.cells) for n in kept)
    events = [e for e in initial_events(program, model) if e.cell != FENCE_CELL or uses_fence_cell]
    initial = {event.cell: event.id for event in events}
    number: dict[int, int] = {}
    for n in _in_order(told, sorted(kept), orders):
        number[n] = len(events)
        events.append(_event(program, model, len(events), told.events[n]))
    sources = {
        number[n]: initial[events[number[n]].cell] if told.events[n].source == _INITIAL else number[source]
        for n in kept
        if (source := told.events[n].source) >= _INITIAL and EVENT_KINDS[told.events[n].kind] != "F"
    }
    names = [*program.cells, FENCE_CELL]
    writes = {
        names[cell]: [initial[names[cell]], *(number[n] for n in order)]
        for cell, order in enumerate(orders)
        if names[cell] in initial
    }
    return _Shown(tuple(events), tuple(edges_between(events, sources, writes)), number)


def _event(program: Program, model: str, number: int, told: _native.ToldEvent) -> Event:
    kind = EVENT_KINDS[told.kind]
    return make_event(
        program,
        model,
        number,
        told.thread,
        told.pc,
        kind=kind,
        cell=told.cell,
        read=told.read if kind in ("R", "RMW") else None,
        written=told.written if kind in ("W", "RMW") else None,
    )


def _before(told: _native.ToldGraph, events: Iterable[int]) -> Iterator[int]:
    """The events, and what comes before them in po and rf."""
    po = {later: earlier for earlier, later in _po(told, range(len(told.events)))}
    found: set[int] = set()
    frontier = list(events)
    while frontier:
        n = frontier.pop()
        if n in found:
            continue
        found.add(n)
        yield n
        frontier += [m for m in (po.get(n, _INITIAL), told.events[n].source) if m > _INITIAL]


def _in_order(told: _native.ToldGraph, parts: Sequence[int], orders: Sequence[Sequence[int]]) -> list[int]:
    """The events in the best order that there is."""
    kept = set(parts)
    causal = [
        *_po(told, parts),
        *((told.events[n].source, n) for n in parts if told.events[n].source in kept),
    ]
    mo = [pair for order in orders for pair in pairwise(order)]
    newer, oldest = dict(mo), {cell: order[0] for cell, order in enumerate(orders) if order}
    fr = []
    for n in parts:
        source, cell = told.events[n].source, told.events[n].cell
        write = oldest.get(cell) if source == _INITIAL else newer.get(source)
        if source >= _INITIAL and write is not None and write != n:
            fr.append((n, write))
    for more in ([*mo, *fr], mo):
        order = _sorted(parts, [*causal, *more])
        if order is not None:
            return order
    return list(parts)


def _po(told: _native.ToldGraph, parts: Iterable[int]) -> Iterator[tuple[int, int]]:
    last: dict[int, int] = {}
    for n in parts:
        thread = told.events[n].thread
        if thread in last:
            yield last[thread], n
        last[thread] = n


def _sorted(parts: Sequence[int], pairs: Iterable[tuple[int, int]]) -> list[int] | None:
    """The numbers, smaller ones first where the pairs do not say otherwise; None if these have a cycle."""
    after: dict[int, list[int]] = {n: [] for n in parts}
    waits_for = dict.fromkeys(parts, 0)
    for first, second in pairs:
        after[first].append(second)
        waits_for[second] += 1
    ready = [n for n in parts if not waits_for[n]]
    order = []
    while ready:
        n = heapq.heappop(ready)
        order.append(n)
        for later in after[n]:
            waits_for[later] -= 1
            if not waits_for[later]:
                heapq.heappush(ready, later)
    return order if len(order) == len(parts) else None
