"""A run as frames to step through: what is in memory and in the registers, and what each thread can see.

The first frame is the start; then there is one for each access, and under TSO one for each write that leaves
its store buffer. A frame holds what has changed since the one before, so a long run stays small.

Under release/acquire, strong or not, and C++20 atomics a thread can still see a write unless it knows of a
newer one to the same location (`analyses.happens_before`), or the total order S of C++20 forbids it
(`analyses.order_bounds`). Under TSO it sees its own buffer, then memory. Elsewhere everyone sees memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from fencepost.analyses.happens_before import Knowledge
from fencepost.analyses.order_bounds import OrderBounds, is_sc
from fencepost.memory_models import MODELS
from fencepost.program import Program
from fencepost.report.cycle import delays, happenings
from fencepost.report.labels import arrival, outcome, source
from fencepost.report.printable import printable
from fencepost.report.registers import Standing, standings
from fencepost.verdicts import AnyWitness, Event, Run, SafetyWitness, Witness
from fencepost.verdicts.graph import FENCE_CELL

LONGEST = 2000  # accesses; what is longer is not played

# By thread, by location: the values that the thread can still read there, the newest last.
Views = dict[int, dict[str, list[str]]]


class Frame(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What happens, and what is different after it. `event` is None at the start.

    Values are texts, since scripts have no exact numbers as large as those of programs can be.
    """

    event: int | None = None
    thread: int | None = None
    line: int = 0
    says: str = ""
    memory: dict[str, str] = {}
    stands: dict[int, Standing] = {}
    sees: Views = {}
    buffers: dict[int, list[str]] = {}


class Playback(msgspec.Struct, frozen=True):
    """`weak` says what a thread sees apart from memory: "views", "buffers" or nothing."""

    threads: tuple[str, ...]
    weak: str
    frames: tuple[Frame, ...]


def playback(shown: AnyWitness | Run, model: str, program: Program | None) -> Playback:
    """The frames of a run; without the program there are no registers."""
    places = [[] for _ in shown.threads] if program is None else standings(program, model, shown.events)
    weak = _weak(shown, model)
    accesses = sum(event.thread is not None for event in shown.events)
    frames = tuple(_frames(shown, model, places)) if accesses <= LONGEST else ()
    return Playback(tuple(map(printable, shown.threads)), weak, frames)


def _weak(shown: AnyWitness | Run, model: str) -> str:
    """What a thread sees is not known of graphs whose writes do not come in their order, nor of graphs of TSO
    that do not say what is in the buffers."""
    if isinstance(shown, Run) or model == "sc" or not _writes_in_order(shown):
        return ""
    if model == "tso" and isinstance(shown, SafetyWitness) and shown.cycle and not shown.delayed:
        return ""
    return "buffers" if model == "tso" else "views"


def _writes_in_order(witness: AnyWitness) -> bool:
    """Whether each write takes effect when it comes, or when it leaves its store buffer."""
    if not isinstance(witness, SafetyWitness) or witness.delayed:
        return True
    return all(edge.source < edge.target for edge in witness.edges if edge.relation == "mo")


def _frames(shown: AnyWitness | Run, model: str, places: list[list[Standing]]) -> Iterator[Frame]:
    delayed = () if isinstance(shown, Run) else delays(shown)
    initial = [event for event in shown.events if event.thread is None]
    views = _views(shown, model, initial)
    overwritten = set() if delayed else set(_overwritten_before(shown))
    yield Frame(
        memory={
            cell: value for event in initial if event.cell != FENCE_CELL for cell, value in _stored(event)
        },
        stands={thread: own[0] for thread, own in enumerate(places) if own},
    )
    done = [0] * len(shown.threads)
    late = {delay.write for delay in delayed}
    waiting: dict[int, list[Event]] = {}
    for event, arrives in happenings(shown.events, delayed):
        thread = _thread(event)
        own = waiting.setdefault(thread, [])
        if arrives:
            own.remove(event)
            yield Frame(
                event=event.id,
                thread=thread,
                says=arrival(event),
                memory=dict(_stored(event)),
                buffers={thread: _buffer(own)},
            )
            continue
        done[thread] += 1
        waits = event.id in late
        if waits:
            own.append(event)
        yield Frame(
            event=event.id,
            thread=thread,
            line=event.line,
            says=f"{source(event)} {outcome(event, buffered=waits)}".rstrip(),
            memory={} if waits or event.id in overwritten else dict(_stored(event)),
            stands={thread: places[thread][done[thread]]} if places[thread] else {},
            sees=views.after(event) if views is not None else {},
            buffers={thread: _buffer(own)} if waits else {},
        )


def _thread(event: Event) -> int:
    assert event.thread is not None
    return event.thread


def _stored(event: Event) -> Iterator[tuple[str, str]]:
    if event.written is not None and event.kind != "F":
        yield printable(event.cell), str(event.written)


def _overwritten_before(shown: AnyWitness | Run) -> Iterator[int]:
    """The writes that are older than one which comes before them in the run, so that they do not change what
    that stored."""
    if isinstance(shown, Witness):
        yield shown.access.id  # the last one, placed before the newest
    if not isinstance(shown, SafetyWitness):
        return
    newer = {edge.source: edge.target for edge in shown.edges if edge.relation == "mo"}
    for write, following in newer.items():
        later: int | None = following
        while later is not None and later > write:
            later = newer.get(later)
        if later is not None:
            yield write


def _buffer(waiting: Sequence[Event]) -> list[str]:
    """The writes in a store buffer, the next to leave first."""
    return [f"{printable(write.cell)} = {write.written}" for write in waiting]


def _views(shown: AnyWitness | Run, model: str, initial: Sequence[Event]) -> _Views | None:
    if model == "tso" or not isinstance(shown, Witness | SafetyWitness) or not _writes_in_order(shown):
        return None
    if isinstance(shown, Witness) and MODELS[model].ordered_by_s:
        return _ViewsWithS(shown, initial)
    return _Views(shown, initial)


class _Views:
    """What each thread can still read, event by event. Modification order is the order of the run, but for
    the last event of a `Witness`, which stands right after the stale write."""

    def __init__(self, witness: Witness | SafetyWitness, initial: Sequence[Event]) -> None:
        self._threads = range(len(witness.threads))
        self._stale = (witness.access.id, witness.stale) if isinstance(witness, Witness) else None
        self._source = {edge.target: edge.source for edge in witness.edges if edge.relation == "rf"}
        not_atomic = {event.cell for event in witness.events if event.mode == "na"}
        self._writes = {e.cell: [e] for e in initial if e.cell not in not_atomic and e.cell != FENCE_CELL}
        self._knowledge = Knowledge(self._writes)
        self._knowledge.take(initial)
        self._messages = {event.id: self._knowledge.newest_message(event.cell) for event in initial}
        at_first = {printable(cell): _values(writes) for cell, writes in self._writes.items()}
        self._told: Views = {thread: dict(at_first) for thread in self._threads}

    def after(self, event: Event) -> Views:
        """What is different after the event."""
        views: Views = {}
        for thread, seen in self._now(event).items():
            told = self._told[thread]
            new = {cell: values for cell, values in seen.items() if values != told[cell]}
            told |= new
            if new:
                views[thread] = new
        return views

    def _now(self, event: Event) -> Views:
        """What the thread of the event sees, and what the others see at the location that it writes."""
        thread = _thread(event)
        tracked = event.cell in self._writes
        if self._stale is not None and event.id == self._stale[0]:
            return {thread: self._after_stale(event, self._stale[1])}
        if event.kind == "R" and tracked:
            self._read(event, self._source[event.id])
        else:
            self._knowledge.take([event])
        if event.written is None or not tracked:
            return {thread: self._seen_everywhere(thread)}
        self._writes[event.cell].append(event)
        self._messages[event.id] = self._knowledge.newest_message(event.cell)
        cell = event.cell
        views: Views = {reader: {printable(cell): self._seen(reader, cell)} for reader in self._threads}
        views[thread] = self._seen_everywhere(thread)
        return views

    def _read(self, event: Event, write: int) -> None:
        self._knowledge.take_read(event, self._place(event.cell, write), self._messages[write])

    def _place(self, cell: str, write: int) -> int:
        return next(place for place, one in enumerate(self._writes[cell]) if one.id == write)

    def _oldest(self, thread: int, cell: str) -> int:
        """The place in modification order of the oldest write that the thread can still read."""
        return self._knowledge.newest_known_write(thread, cell)

    def _seen(self, thread: int, cell: str) -> list[str]:
        return _values(self._writes[cell][self._oldest(thread, cell) :])

    def _seen_everywhere(self, thread: int) -> dict[str, list[str]]:
        return {printable(cell): self._seen(thread, cell) for cell in self._writes}

    def _after_stale(self, access: Event, stale: int) -> dict[str, list[str]]:
        """A read learns what the stale write publishes; a write is seen by its own thread."""
        thread = _thread(access)
        if access.read is not None:
            self._read(access, stale)
        seen = self._seen_everywhere(thread)
        if access.written is not None:
            newer = self._writes[access.cell][self._place(access.cell, stale) + 1 :]
            seen[printable(access.cell)] = _values([access, *newer])
        return seen


class _ViewsWithS(_Views):
    """The same where S decides too: whether the next access of the thread to the location is seq_cst."""

    def __init__(self, witness: Witness, initial: Sequence[Event]) -> None:
        super().__init__(witness, initial)
        self._to_come = list(witness.events[len(initial) :])
        self._bounds = OrderBounds()
        self._bounds.take(initial)

    def after(self, event: Event) -> Views:
        self._to_come.remove(event)
        if self._to_come:  # the last one leaves sequential consistency
            self._bounds.take([event])
        return super().after(event)

    def _oldest(self, thread: int, cell: str) -> int:
        following = (is_sc(event) for event in self._to_come if (event.thread, event.cell) == (thread, cell))
        bound = self._bounds.oldest(thread, cell, sc=next(following, False))
        return max(bound, super()._oldest(thread, cell))


def _values(writes: Sequence[Event]) -> list[str]:
    """The values of the writes, each once, where it is newest."""
    newest_first = dict.fromkeys(str(write.written) for write in reversed(writes))
    return list(newest_first)[::-1]
