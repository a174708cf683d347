"""The rules of RC20, C++20 and hbsc over any join lattice: what do threads and messages know during a run?

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

C++20 has P, F and E besides C, each of them with its own A, R and W. Its rules are below those of RC20, with
a table of their own (`Cpp20Views`).

RA is RC20 with every access acquire and release (rocker-2019, section 4.2). What is known is up to the
lattice: `own` is what an event adds, `newest` and `new` what is known of the write that is read or made. The
caller keeps the messages, of each write or only of the newest write to each cell.

    instance                              lattice
    models/rc20.py, `knowledge`           sets of events as masks
    analyses/happens_before.py            clocks: how many events of each thread, which write of each cell
    analyses/repair/violation_replay.py   places in the modification order of one cell
    certificates/any_number/views.py      whether such a place is new enough
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from functools import reduce
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

    def of_thread(self, t: int) -> tuple[V, V, V]:
        """C, A and R: all that a run has left in the thread."""
        return self.current[t], self._acquire[t], self._release[t]

    def set_thread(self, t: int, current: V, acquire: V, release: V) -> None:
        self.current[t], self._acquire[t], self._release[t] = current, acquire, release

    def happen(self, t: int, own: V) -> None:
        current, acquire = self.current[t], self._acquire[t]
        self.current[t] = joined = self._join(current, own)
        # While every access acquires, both are one value: it is joined once.
        self._acquire[t] = joined if acquire is current else self._join(acquire, own)

    def read(self, t: int, message: V, newest: V, *, acquire: bool) -> None:
        if acquire:
            self.happen(t, message)
        else:
            self._acquire[t] = self._join(self._acquire[t], message)
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


# What a write carries to those that read it: a part for each of C, P, F and E.
Cpp20Message = tuple[V, V, V, V]


class Cpp20Views(Generic[V]):
    """C, P, F and E of each thread; KW, KR, KFW and KFR of each cell.

    K(e) is what must come before an SC event e in the total order S: of each cell, the writes that are e or
    S-before it, that such an access reads, or that happen before such a fence.

        C     known      the writes that happen before the next event of the thread
        P     strongly   K of the SC events that strongly happen before it
        F     fences     K of the SC fences that happen before it
        E     eco        K of what is eco-before an access that happens before it

        KW    _before_read           K of the SC accesses that are eco-before the next read of the cell
        KR    _before_write          K of those that are besides eco-before its next write: the reads
        KFW   _fences_before_read    F of its writes
        KFR   _fences_before_write   F of its reads

    Each of C, P, F and E follows the rules of RC20. What C++20 adds:

        access e of x   access   in = KW ⊔ KFW, if e writes ⊔ KR ⊔ KFR;   E ⊔= in
                                 if e is SC, K(e) = P before e ⊔ in ⊔ its place in x, else ⊥
          that writes            KW ⊔= KR ⊔ K(e);   KFW ⊔= KFR ⊔ F
          that reads             KR ⊔= K(e);   KFR ⊔= F
          at last                P ⊔= K(e)
        SC fence        fence    K = P before it ⊔ E ⊔ C;   F ⊔= K;   after its release part, P ⊔= K
        next access     bound    no write before C ⊔ F, if it is SC ⊔ P

    P lags behind. A strongly happens before what happens after a step *after* A, and what A acquires counts
    from the next step on. So a message takes P without the K of its own write, a release fence copies P
    without its own K, and K(e) is made with P from before e acquires.
    """

    def __init__(self, bottom: V, join: Callable[[V, V], V]) -> None:
        self._bottom, self._join = bottom, join
        self.known, self.strongly, self.fences, self.eco = (Views(bottom, join) for _ in range(4))
        self._parts = (self.known, self.strongly, self.fences, self.eco)
        self._before_read: dict[Hashable, V] = defaultdict(lambda: bottom)
        self._before_write: dict[Hashable, V] = defaultdict(lambda: bottom)
        self._fences_before_read: dict[Hashable, V] = defaultdict(lambda: bottom)
        self._fences_before_write: dict[Hashable, V] = defaultdict(lambda: bottom)

    def of_thread(self, t: int) -> tuple[V, ...]:
        """C, A and R of each of C, P, F and E: all that a run has left in the thread."""
        return tuple(value for views in self._parts for value in views.of_thread(t))

    def set_thread(self, t: int, values: Sequence[V]) -> None:
        for n, views in enumerate(self._parts):
            views.set_thread(t, *values[3 * n : 3 * n + 3])

    def of_cell(self, x: Hashable) -> tuple[V, ...]:
        """KW, KR, KFW and KFR."""
        return tuple(of_cells[x] for of_cells in self._of_cells)

    def set_cell(self, x: Hashable, values: Sequence[V]) -> None:
        for of_cells, value in zip(self._of_cells, values, strict=True):
            of_cells[x] = value

    @property
    def _of_cells(self) -> tuple[dict[Hashable, V], ...]:
        return (
            self._before_read,
            self._before_write,
            self._fences_before_read,
            self._fences_before_write,
        )

    @property
    def no_message(self) -> Cpp20Message[V]:
        """That of an initial write."""
        return self._bottom, self._bottom, self._bottom, self._bottom

    def bound(self, t: int, *, sc: bool) -> V:
        """What the next access of the thread must not be before, by S and happens-before."""
        bound = self._join(self.known.current[t], self.fences.current[t])
        return self._join(bound, self.strongly.current[t]) if sc else bound

    def access(
        self,
        t: int,
        x: Hashable,
        place: V,
        *,
        acquire: bool = False,
        release: bool = False,
        sc: bool = False,
        read: Cpp20Message[V] | None = None,
        writes: bool = False,
    ) -> Cpp20Message[V] | None:
        """The message of the access if it writes. `read` is that of the write it reads, if it reads; `place`
        is what is known by the write that it reads or, if it writes, makes."""
        strongly = self.strongly.current[t]
        if read is not None:
            for views, message in zip(self._parts, read, strict=True):
                views.read(t, message, self._bottom, acquire=acquire)
        before = self._eco_before(x, writes=writes)
        self.known.happen(t, place)
        self.eco.happen(t, before)
        k = self._all(strongly, before, place) if sc else self._bottom
        self._note(x, k, self.fences.current[t], reads=read is not None, writes=writes)
        sent = self._message(t, place, release=release, replaced=read) if writes else None
        self.strongly.happen(t, k)
        return sent

    def fence(self, t: int, *, acquire: bool, release: bool, sc: bool = False) -> None:
        strongly = self.strongly.current[t]
        if acquire:
            for views in self._parts:
                views.acquire_fence(t)
        k = self._all(strongly, self.eco.current[t], self.known.current[t]) if sc else self._bottom
        self.fences.happen(t, k)
        if release:
            for views in self._parts:
                views.release_fence(t)
        self.strongly.happen(t, k)

    def _message(
        self, t: int, place: V, *, release: bool, replaced: Cpp20Message[V] | None
    ) -> Cpp20Message[V]:
        known, strongly, fences, eco = (
            views.write(t, self._bottom, release=release, replaced=message)
            for views, message in zip(self._parts, replaced or [None] * 4, strict=True)
        )
        return self._join(known, place), strongly, fences, eco

    def _eco_before(self, x: Hashable, *, writes: bool) -> V:
        before = self._join(self._before_read[x], self._fences_before_read[x])
        return self._all(before, self._before_write[x], self._fences_before_write[x]) if writes else before

    def _note(self, x: Hashable, k: V, fences: V, *, reads: bool, writes: bool) -> None:
        for by_reads, by_writes, own in (
            (self._before_write, self._before_read, k),
            (self._fences_before_write, self._fences_before_read, fences),
        ):
            if writes:
                by_writes[x] = self._all(by_writes[x], by_reads[x], own)
            if reads:
                by_reads[x] = self._join(by_reads[x], own)

    def _all(self, *values: V) -> V:
        return reduce(self._join, values)


class ScViews(Generic[V]):
    """SC of each thread, MSC and WSC of each cell."""

    __slots__ = ("_accesses", "_join", "_write", "current")

    def __init__(self, bottom: V, join: Callable[[V, V], V]) -> None:
        self._join = join
        self.current: dict[int, V] = defaultdict(lambda: bottom)
        self._accesses: dict[Hashable, V] = defaultdict(lambda: bottom)  # MSC
        self._write: dict[Hashable, V] = defaultdict(lambda: bottom)  # WSC

    def of_cell(self, x: Hashable) -> tuple[V, V]:
        """MSC and WSC."""
        return self._accesses[x], self._write[x]

    def set_cell(self, x: Hashable, accesses: V, write: V) -> None:
        self._accesses[x], self._write[x] = accesses, write

    def read(self, t: int, x: Hashable) -> None:
        before = self.current[t]
        self.current[t] = self._join(before, self._write[x])
        self._accesses[x] = self._join(self._accesses[x], before)

    def write(self, t: int, x: Hashable, new: V) -> None:
        after = self._join(self._join(self.current[t], self._accesses[x]), new)
        self.current[t] = self._accesses[x] = self._write[x] = after
