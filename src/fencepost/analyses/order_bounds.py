"""Which writes the total order S lets an access read or follow, after a run under sequential consistency.

The rules are those of `models.rules` for C++20. A clock maps cells to places in modification order, 0 for the
initial write, and joining two clocks takes the larger place of each.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from fencepost.analyses.happens_before import acquires, joined, releases
from fencepost.models.rules import Cpp20Message, Cpp20Views
from fencepost.verdicts import Event

_Clock = Mapping[str, int]


class OrderBounds:
    """Take in the events of a run one by one; the initial writes first."""

    def __init__(self) -> None:
        self._views: Cpp20Views[_Clock] = Cpp20Views({}, joined)
        self._message: dict[str, Cpp20Message[_Clock]] = {}  # of the newest write to each cell
        self._writes: dict[str, int] = defaultdict(int)

    def take(self, events: Iterable[Event]) -> None:
        for event in events:
            if event.thread is None:
                self._message[event.cell] = self._views.no_message
            elif event.kind == "F":
                acquire, release, sc = event.mode != "rel", event.mode != "acq", is_sc(event)
                self._views.fence(event.thread, acquire=acquire, release=release, sc=sc)
            elif event.mode != "na":
                self._access(event.thread, event)

    def oldest(self, thread: int, cell: str, *, sc: bool) -> int:
        """The place of the oldest write to the cell that the next access of the thread can use."""
        return self._views.bound(thread, sc=sc).get(cell, 0)

    def _access(self, t: int, event: Event) -> None:
        x, writes = event.cell, event.written is not None
        self._writes[x] += writes
        message = self._views.access(
            t,
            x,
            {x: self._writes[x]},
            acquire=acquires(event),
            release=releases(event),
            sc=is_sc(event),
            read=None if event.read is None else self._message[x],
            writes=writes,
        )
        if message is not None:
            self._message[x] = message


def is_sc(event: Event) -> bool:
    return event.mode == "seq_cst"
