"""What each thread knows in the course of a run: happens-before and coherence as clocks.

The rules are those of `models.rules`, along one run under sequential consistency. A clock maps keys to
numbers, and joining two clocks takes the larger of each. Two kinds of keys are in the same clock: a thread,
with how many of its events happen before, and a cell, with the place in modification order of the newest
write that may not be overlooked.

How an access orders is in its event: under RA every atomic one acquires and releases, and there are no
fences other than SC fences. An SC fence is an RMW of a cell of its own. Under a model with the order S it has
no cell, and is an acquire-release fence.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from typing import TypeVar

from fencepost.models.rules import Views
from fencepost.verdicts import Event

# ("thread", its number) or ("cell", its name)
_Key = tuple[str, int | str]
_Clock = Mapping[_Key, int]


K = TypeVar("K")


def joined(clock: Mapping[K, int], other: Mapping[K, int]) -> Mapping[K, int]:
    """The larger number of each key."""
    newer = {key: number for key, number in other.items() if clock.get(key, 0) < number}
    return {**clock, **newer} if newer else clock


class Knowledge:
    """Take in the events of a run one by one; the initial writes first."""

    def __init__(self, atomic: Collection[str]) -> None:
        self._atomic = atomic
        self._views: Views[_Clock] = Views({}, joined)
        self._message: dict[str, _Clock] = {}  # of the newest write to each cell
        self._writes: dict[str, int] = defaultdict(int)

    def take(self, events: Iterable[Event], overlooked: Collection[int] = ()) -> None:
        """Of those events that are `overlooked`, by id, nothing is learnt but that they happen."""
        for event in events:
            if event.id in overlooked and event.thread is not None:
                self._count(event.thread)
            else:
                self._take(event)

    def newest_known_write(self, thread: int, cell: str) -> int:
        """The place in modification order, 0 for the initial write, of what the thread must not overlook."""
        return self._views.current[thread].get(("cell", cell), 0)

    def newest_message(self, cell: str) -> Mapping[_Key, int]:
        """What the newest write to the cell tells those that acquire it."""
        return self._message[cell]

    def take_read(self, event: Event, place: int, message: Mapping[_Key, int]) -> None:
        """Take in a read of a write that need not be the newest: its place in modification order, 0 for the
        initial write, and its message."""
        assert event.thread is not None
        self._count(event.thread)
        self._views.read(event.thread, message, {("cell", event.cell): place}, acquire=acquires(event))

    def happened(self, thread: int) -> dict[int, int]:
        """How many events of each thread happen before the thread's next event."""
        clock = self._views.current[thread]
        return {int(number): count for (kind, number), count in clock.items() if kind == "thread"}

    def _take(self, event: Event) -> None:
        if event.thread is None:
            self._message[event.cell] = {}
            return
        self._count(event.thread)
        if event.kind == "F":
            self._fence(event.thread, event)
        elif event.cell in self._atomic:
            self._access(event.thread, event)

    def _count(self, t: int) -> None:
        own: _Key = ("thread", t)
        self._views.happen(t, {own: self._views.current[t].get(own, 0) + 1})

    def _fence(self, t: int, event: Event) -> None:
        if event.cell:
            message, newest = self._message[event.cell], self._place(event.cell)
            self._message[event.cell] = self._views.sc_fence(t, message, newest, self._next_place(event.cell))
            return
        if event.mode != "rel":
            self._views.acquire_fence(t)
        if event.mode != "acq":
            self._views.release_fence(t)

    def _access(self, t: int, event: Event) -> None:
        x = event.cell
        message = self._message[x]
        if event.read is not None:
            self._views.read(t, message, self._place(x), acquire=acquires(event))
        if event.written is not None:
            replaced = None if event.read is None else message
            new = self._next_place(x)
            self._message[x] = self._views.write(t, new, release=releases(event), replaced=replaced)

    def _place(self, cell: str) -> _Clock:
        return {("cell", cell): self._writes[cell]}

    def _next_place(self, cell: str) -> _Clock:
        self._writes[cell] += 1
        return self._place(cell)


def acquires(event: Event) -> bool:
    return not {"acq", "seq_cst"}.isdisjoint(event.mode.split(","))


def releases(event: Event) -> bool:
    return not {"rel", "seq_cst"}.isdisjoint(event.mode.split(","))
