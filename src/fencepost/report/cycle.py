"""Which events of a witness matter, what part each plays, and in which order its cycle is shown.

The cycle of a witness goes from neighbour to neighbour. It is easier to follow condensed: po and mo are
transitive, so a path along one of them becomes one step. It starts with the write that is not seen and ends
with the access that does not see it. `explain` says what the parts mean.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from fencepost.verdicts import AnyWitness, Delay, Edge, Event, SafetyWitness, TsoWitness
from fencepost.verdicts.graph import joined

Role = Literal["access", "stale", "latest", "delayed", "overtaking", "showing", "misled", "racing"]
CLAIM = "No interleaving of the threads does this."
STEP_WORDS = {
    "po": "comes before",
    "rf": "is read by",
    "mo": "is overwritten by",
    "fr": "does not see",
    "so": "reaches memory before",
    "S": "comes first in the order of seq_cst",
}


def premise(witness: AnyWitness) -> str:
    """How an interleaving differs from the run; said before the cycle."""
    return "There every write reaches memory at once. " if delays(witness) else ""


def condensed(witness: AnyWitness) -> tuple[Edge, ...]:
    """The cycle with each path along po or along mo as one step."""
    return joined(unrolled(witness), keep=closing(witness))


def unrolled(witness: AnyWitness) -> tuple[Edge, ...]:
    """The whole cycle, rotated so that its closing edge comes last."""
    cycle = witness.cycle
    for i, edge in enumerate(cycle):
        if edge.source == closing(witness):
            return cycle[i + 1 :] + cycle[: i + 1]
    return cycle


def key_events(witness: AnyWitness) -> set[int]:
    """The ends of the condensed cycle's steps, and the events that play a part."""
    ends = {end for edge in condensed(witness) for end in (edge.source, edge.target)}
    if isinstance(witness, SafetyWitness):  # and where each thread stands at the end
        last = {event.thread: event.id for event in witness.events if event.thread is not None}
        ends |= set(last.values())
    return ends | roles(witness).keys()


def worth_showing(witness: AnyWitness) -> set[int]:
    """The key events and their neighbours in their threads; a lone event between two of them as well."""
    key = key_events(witness)
    shown = {event.id for event in witness.events if event.thread is None and event.id in key}
    for thread in range(len(witness.threads)):
        ids = [event.id for event in witness.events if event.thread == thread]
        near = [any(i in key for i in ids[max(at - 1, 0) : at + 2]) for at in range(len(ids))]
        for at, event_id in enumerate(ids):
            alone = (at == 0 or near[at - 1]) and (at + 1 == len(ids) or near[at + 1])
            if near[at] or alone:
                shown.add(event_id)
    return shown


def roles(witness: AnyWitness) -> dict[int, Role]:
    """The events that the witness is about; one that plays two parts has the more telling one."""
    if isinstance(witness, TsoWitness):
        return {witness.write: "delayed", witness.read: "overtaking", witness.other: "showing"}
    if isinstance(witness, SafetyWitness):
        if witness.delayed:
            return _parts_in_overtaking(witness)
        misled: dict[int, Role] = dict.fromkeys(stale_reads(witness), "misled")
        return misled | dict.fromkeys(witness.bad.writes, "racing")
    return {witness.stale: "stale", witness.latest: "latest", witness.access.id: "access"}


def _parts_in_overtaking(witness: SafetyWitness) -> dict[int, Role]:
    edges = overtaking(witness)
    showing: dict[int, Role] = dict.fromkeys(stale_reads(witness), "showing")
    reads: dict[int, Role] = {edge.target: "overtaking" for edge in edges}
    writes: dict[int, Role] = {edge.source: "delayed" for edge in edges}
    return {**writes, **showing, **reads}


def overtaking(witness: SafetyWitness) -> list[Edge]:
    """The steps of the cycle from a write to a later read of its thread that is done while it waits."""
    until = {delay.write: delay.until for delay in witness.delayed}
    return [
        edge
        for edge in witness.cycle
        if edge.relation == "po" and until.get(edge.source, edge.source) >= edge.target
    ]


def delays(witness: AnyWitness) -> tuple[Delay, ...]:
    """The writes that wait in store buffers, as they reach memory."""
    return witness.delayed if isinstance(witness, TsoWitness | SafetyWitness) else ()


def buffered(witness: AnyWitness) -> tuple[int, ...]:
    """The same writes without when they arrive."""
    return tuple(delay.write for delay in delays(witness))


def happenings(events: Sequence[Event], delayed: Sequence[Delay]) -> Iterator[tuple[Event, bool]]:
    """All that happens in a run, in order, after the initial writes: an access, or with True the arrival in
    memory of one that has waited in a store buffer."""
    for event in events:
        if event.thread is not None:
            yield event, False
            for delay in delayed:
                if delay.until == event.id:
                    yield events[delay.write], True


def stale_reads(witness: SafetyWitness) -> list[int]:
    """The reads of the cycle that see a value although it has been overwritten before them."""
    return [e.source for e in witness.cycle if e.relation == "fr" and e.target < e.source]


def closing(witness: AnyWitness) -> int | None:
    """The source of the last edge of the cycle, in the order in which it is shown."""
    if isinstance(witness, SafetyWitness):
        waiting = [edge.source for edge in overtaking(witness)[:1]]
        before = (edge.source for edge in witness.cycle if edge.target in waiting)
        return next(before, None) if waiting else next(iter(stale_reads(witness)), None)
    return witness.other if isinstance(witness, TsoWitness) else witness.access.id
