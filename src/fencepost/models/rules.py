"""The rules of RC20 and of hbsc over any join lattice: what do threads and messages know during a run?

Per thread there is C (what its next event knows), A (what it will know after an acquire fence) and R (what it
knew at its last release fence); each write carries a message W to those that read it. All start at ⊥.

    design.md, sections 3 and 7   here                   rule
    an event of t                 Views.happen           C, A ⊔= own
    read part                     Views.read             A ⊔= W; if acquire, C ⊔= W; then C, A ⊔= newest
    write part                    Views.write            W' = C if release, else R; of an RMW, W' ⊔= W;
                                                         then W', C, A ⊔= new
    acquire fence                 Views.acquire_fence    C = A
    release fence                 Views.release_fence    R = C
    SC fence                      Views.sc_fence         acquire fence, acquire-release RMW, release fence

    hbsc, read                    ScViews.read           SC ⊔= WSC, MSC ⊔= the old SC
    hbsc, write or RMW            ScViews.write          SC = MSC = WSC = SC ⊔ MSC ⊔ new

RA is RC20 with every access acquire and release (rocker-2019, section 4.2). What is known is up to the
lattice: `own` is what an event adds, `newest` and `new` what is known of the write that is read or made. The
caller keeps the messages, of each write or only of the newest write to each cell.

    instance                              lattice
    models/rc20.py, `knowledge`           sets of events as masks
    analyses/happens_before.py            clocks: how many events of each thread, which write of each cell
    analyses/repair/violation_replay.py   places in the modification order of one cell
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

V = TypeVar("V")


class Views(Generic[V]):
    """C, A and R of each thread, over the lattice with this least value and this join."""

    __slots__ = ("_acquire", "_join", "_release", "current")

    def __init__(self, bottom: V, join: Callable[[V, V], V]) -> None:
        self._join = join
        self.current: dict[int, V] = defaultdict(lambda: bottom)
        self._acquire: dict[int, V] = defaultdict(lambda: bottom)
        self._release: dict[int, V] = defaultdict(lambda: bottom)

    def happen(self, t: int, own: V) -> None:
        self.current[t] = self._join(self.current[t], own)
        self._acquire[t] = self._join(self._acquire[t], own)

    def read(self, t: int, message: V, newest: V, *, acquire: bool) -> None:
        self._acquire[t] = self._join(self._acquire[t], message)
        if acquire:
            self.current[t] = self._join(self.current[t], message)
        self.happen(t, newest)

    def write(self, t: int, new: V, *, release: bool, replaced: V | None = None) -> V:
        """The message of the write; `replaced` is that of the write which an RMW reads."""
        message = self.current[t] if release else self._release[t]
        if replaced is not None:
            message = self._join(message, replaced)
        self.happen(t, new)
        return self._join(message, new)

    def acquire_fence(self, t: int) -> None:
        self.current[t] = self._acquire[t]

    def release_fence(self, t: int) -> None:
        self._release[t] = self.current[t]

    def sc_fence(self, t: int, message: V, newest: V, new: V) -> V:
        """The message of the RMW."""
        self.acquire_fence(t)
        self.read(t, message, newest, acquire=True)
        sent = self.write(t, new, release=True, replaced=message)
        self.release_fence(t)
        return sent


class ScViews(Generic[V]):
    """SC of each thread, MSC and WSC of each cell."""

    __slots__ = ("_accesses", "_join", "_write", "current")

    def __init__(self, bottom: V, join: Callable[[V, V], V]) -> None:
        self._join = join
        self.current: dict[int, V] = defaultdict(lambda: bottom)
        self._accesses: dict[Hashable, V] = defaultdict(lambda: bottom)  # MSC
        self._write: dict[Hashable, V] = defaultdict(lambda: bottom)  # WSC

    def read(self, t: int, x: Hashable) -> None:
        before = self.current[t]
        self.current[t] = self._join(before, self._write[x])
        self._accesses[x] = self._join(self._accesses[x], before)

    def write(self, t: int, x: Hashable, new: V) -> None:
        after = self._join(self._join(self.current[t], self._accesses[x]), new)
        self.current[t] = self._accesses[x] = self._write[x] = after
