"""What each thread knows in the course of a run: happens-before and coherence as clocks.

The rules are those of design.md, section 7, along one run under sequential consistency. A clock maps keys to
numbers, and joining two clocks takes the larger of each. Two kinds of keys are in the same clock: a thread,
with how many of its events happen before, and a cell, with the place in modification order of the newest
write that may not be overlooked. Per thread there is a clock C (now), A (after an acquire fence) and R (at
the last release fence), per write the message it carries.

How an access orders is in its event: under RA every atomic one acquires and releases, and there are no
fences other than SC fences.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping

from fencepost.verdicts import Event

# ("thread", its number) or ("cell", its name)
_Key = tuple[str, int | str]
_Clock = dict[_Key, int]


def _join(into: _Clock, other: Mapping[_Key, int]) -> None:
    for key, number in other.items():
        if into.get(key, 0) < number:
            into[key] = number


class Knowledge:
    """Take in the events of a run one by one; the initial writes first."""

    def __init__(self, atomic: Collection[str]) -> None:
        self._atomic = atomic
        self._current: dict[int, _Clock] = defaultdict(dict)
        self._acquire: dict[int, _Clock] = defaultdict(dict)
        self._release: dict[int, _Clock] = defaultdict(dict)
        self._message: dict[str, _Clock] = {}  # of the newest write to each cell
        self._writes: dict[str, int] = defaultdict(int)

    def take(self, events: Iterable[Event]) -> None:
        for event in events:
            self._take(event)

    def newest_known_write(self, thread: int, cell: str) -> int:
        """The place in modification order, 0 for the initial write, of what the thread must not overlook."""
        return self._current[thread].get(("cell", cell), 0)

    def newest_message(self, cell: str) -> Mapping[_Key, int]:
        """What the newest write to the cell tells those that acquire it."""
        return self._message[cell]

    def take_read(self, event: Event, place: int, message: Mapping[_Key, int]) -> None:
        """Take in a read of a write that need not be the newest: its place in modification order, 0 for the
        initial write, and its message."""
        assert event.thread is not None
        self._count(event.thread)
        self._read(event.thread, event.cell, "acq" in event.mode.split(","), place, message)

    def happened(self, thread: int) -> dict[int, int]:
        """How many events of each thread happen before the thread's next event."""
        clock = self._current[thread]
        return {int(number): count for (kind, number), count in clock.items() if kind == "thread"}

    def _take(self, event: Event) -> None:
        if event.thread is None:
            self._message[event.cell] = {}
            return
        t = event.thread
        self._count(t)
        if event.kind == "F":
            self._fence(event)
        elif event.cell in self._atomic:
            modes = event.mode.split(",")
            acquire, release = "acq" in modes, "rel" in modes
            if event.read is not None:
                self._read_newest(t, event.cell, acquire)
            if event.written is not None:
                self._write(t, event.cell, release, event.read is not None)

    def _count(self, t: int) -> None:
        own: _Key = ("thread", t)
        count = self._current[t].get(own, 0) + 1
        for clock in (self._current[t], self._acquire[t]):
            clock[own] = count

    def _fence(self, event: Event) -> None:
        t, mode = event.thread, event.mode
        assert t is not None
        if mode in ("acq", "acq_rel", "seq_cst"):
            _join(self._current[t], self._acquire[t])
        if mode == "seq_cst":
            self._read_newest(t, event.cell, acquire=True)
            self._write(t, event.cell, release=True, rmw=True)
        if mode in ("rel", "acq_rel", "seq_cst"):
            self._release[t] = dict(self._current[t])

    def _read_newest(self, t: int, cell: str, acquire: bool) -> None:
        self._read(t, cell, acquire, self._writes[cell], self._message[cell])

    def _read(self, t: int, cell: str, acquire: bool, place: int, message: Mapping[_Key, int]) -> None:
        learns = [self._acquire[t], self._current[t]]
        for clock in learns if acquire else learns[:1]:
            _join(clock, message)
        for clock in learns:
            _join(clock, {("cell", cell): place})

    def _write(self, t: int, cell: str, release: bool, rmw: bool) -> None:
        message = dict(self._current[t] if release else self._release[t])
        if rmw:
            _join(message, self._message[cell])
        self._writes[cell] += 1
        for clock in (message, self._current[t], self._acquire[t]):
            clock["cell", cell] = self._writes[cell]
        self._message[cell] = message
