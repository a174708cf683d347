"""Which changes would not have prevented a violation of robustness, or a data race, that was found?

The engine found a run under sequential consistency and an access that can leave it there. The same run, with
more or fewer changes made to the program, is still a run of the changed program: changes add fences and
strengthen accesses, but no value depends on them. Whether the access can still leave sequential consistency
is found by going through the run once, with the rules of `models.rules` over the places in modification order
of the one cell x of that access:

    stale part   the newest write to x that a thread or message may not overlook (`Views`). More changes, more
                 is known.
    hbsc part    the newest write to x that a thread or message comes after in hbsc (`ScViews`). Of all
                 changes only SC fences add to it, being RMWs of one more cell.

So if the violation is there with the SC fences `needed` for its hbsc part, and with the changes `harmless`
for its stale part, then it is there for each choice of changes in between. Hence each repair contains a
change that is not in `harmless`, or lacks a fence of `needed`; that is the `Conflict` to learn. Mostly
`needed` is empty. Where it is not, SC fences have made a robust program not robust: two fences are ordered
in each run, and that order can be part of a cycle. All other changes are monotone. Under C++20 all are: S
only forbids, and its fences are no events of hbsc.

A data race is found in a run too: two accesses to a non-atomic cell, the first of which does not happen
before the second. Whether it still does not is asked of the same rules, where all that is to know is the
first access. All changes are monotone there, SC fences included.

A new fence may be executed anywhere between the accesses around it. Here it comes right after the first of
them (early) or right before the second (late), whichever leaves the violation in place; a fence that the run
has executed stays where it was.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from fencepost.analyses.repair.changes import Bits, Changed, Kind, Offered, Origin
from fencepost.cheapest.hitting_set import Conflict
from fencepost.engine._native import Event, EventKind, Race, Violation
from fencepost.memory_models import MODELS
from fencepost.models.rules import Cpp20Message, Cpp20Views, ScViews, Views
from fencepost.program import (
    BlockingCompareExchange,
    CellAccess,
    CompareExchange,
    Fence,
    Load,
    Mode,
    Skip,
    Wait,
    access_modes,
    read_mode,
)
from fencepost.static.flow import reachable, successors

MOST_CONFLICTS = 8  # to learn from one violation
MOST_ATTEMPTS = 48  # to find another one
_FENCE_CELL = -1


class _When(NamedTuple):
    """The changes made, by when their fences are executed; whatever is not an SC fence is `late`."""

    as_run: Bits
    early: Bits = 0
    late: Bits = 0

    @property
    def all(self) -> Bits:
        return self.as_run | self.early | self.late


@dataclass(frozen=True, slots=True)
class _Access:
    """An access of the run: what it is without changes, and the changes that make more of it."""

    thread: int
    cell: int
    reads: bool
    writes: bool
    written: int
    acquire: bool
    release: bool
    more_acquire: Bits = 0
    more_release: Bits = 0
    exchange: Bits = 0
    sc: bool = False
    more_sc: Bits = 0


@dataclass(frozen=True, slots=True)
class _OldFence:
    thread: int
    mode: Mode


@dataclass(frozen=True, slots=True)
class _NewFence:
    """Where new fences may be executed, at one of the times of `_When`."""

    thread: int
    sc: Bits
    acquire: Bits = 0
    release: Bits = 0
    time: int = 0  # index into _When


@dataclass(frozen=True, slots=True)
class _Racing:
    """The first access of a data race."""

    thread: int


_Step = _Access | _OldFence | _NewFence | _Racing


class Replayed(ABC):
    """The run to something wrong with the program, found with the changes `chosen` made.

    It is there if it is stale and aware, as a violation of robustness is; see above.
    """

    def __init__(
        self, offered: Offered, chosen: frozenset[int], thread: int, cell: int, steps: Iterable[_Step]
    ) -> None:
        self._offered = offered
        self._thread = thread
        self._cell = cell
        self._steps = tuple(steps)
        # Where S orders SC fences, these are like the others: when they are executed does not matter.
        is_rmw = not MODELS[offered.model].ordered_by_s
        kinds = (change.kind for change in offered.changes)
        self._sc_fences = _bits(n for n, kind in enumerate(kinds) if is_rmw and kind == "sc-fence")
        self._executed = self._sc_fences & _bits(chosen)
        self._relevant = self._relevant_changes()

    @abstractmethod
    def _is_stale(self, when: _When) -> bool:
        """Whether the last access still does not know enough: the part that changes can only take away."""

    @abstractmethod
    def _is_aware(self, fences: Bits) -> bool:
        """Whether it knows enough, with just these new fences: the part that SC fences can add to."""

    def conflicts(self, chosen: frozenset[int]) -> list[Conflict]:
        """What follows if the violation is there with `chosen` made; nothing if it is not seen there."""
        when = self._when(_bits(chosen))
        needed = None if when is None else self._needed(when.as_run)
        if when is None or needed is None:
            return []
        drop = frozenset(_numbers(needed))
        found: dict[frozenset[int], None] = {}
        seeds: list[tuple[int, ...]] = [()]
        for seed in seeds:  # grows on the way
            grown = self._grown(when, seed)
            if grown is None:
                continue
            add = frozenset(_numbers(self._relevant & ~grown.all))
            if add not in found:
                found[add] = None
                seeds += [(*seed, number) for number in sorted(add)]
            if len(found) == MOST_CONFLICTS or len(seeds) > MOST_ATTEMPTS:
                break
        return [Conflict(add, drop) for add in found]

    def _when(self, chosen: Bits) -> _When | None:
        """When to execute the fences of `chosen` so that the stale part is there; None if it is not seen."""
        as_run = chosen & self._executed
        new = chosen & self._sc_fences & ~self._executed
        rest = chosen & ~self._sc_fences
        for when in (_When(as_run, 0, rest | new), _When(as_run, new, rest)):
            if self._is_stale(when):
                return when
        return None

    def _needed(self, fences: Bits) -> Bits | None:
        """A smallest set of SC fences that the hbsc part needs; None if it is not there with all of them."""
        if self._is_aware(0):
            return 0
        if not self._is_aware(fences):
            return None
        for number in _numbers(fences):
            if self._is_aware(fences & ~(1 << number)):
                fences &= ~(1 << number)
        return fences

    def _grown(self, when: _When, seed: Sequence[int]) -> _When | None:
        """`when` with as many more changes as leave the stale part there, those of `seed` first."""
        for number in seed:
            with_it = self._with(when, number)
            if with_it is None:
                return None
            when = with_it
        for number in self._numbers_by_eagerness():
            if not when.all >> number & 1:
                when = self._with(when, number) or when
        return when

    def _numbers_by_eagerness(self) -> list[int]:
        """Cheap changes first, so that conflicts consist of the expensive ones."""
        return list(_numbers(self._relevant & ~self._sc_fences)) + list(
            _numbers(self._relevant & self._sc_fences)
        )

    def _with(self, when: _When, number: int) -> _When | None:
        bit = 1 << number
        late = when._replace(late=when.late | bit)
        if self._is_stale(late):
            return late
        early = when._replace(early=when.early | bit)
        return early if bit & self._sc_fences and self._is_stale(early) else None

    def _relevant_changes(self) -> Bits:
        """The changes at places that the run passes."""
        relevant = 0
        for step in self._steps:
            if isinstance(step, _Access):
                relevant |= step.more_acquire | step.more_release | step.exchange | step.more_sc
            elif isinstance(step, _NewFence):
                relevant |= step.sc | step.acquire | step.release
        return relevant

    def _known(self, when: _When) -> _Known:
        """What is known at the end of the run."""
        row = MODELS[self._offered.model]
        known = _KnownWithS(self._cell) if row.ordered_by_s else _Known(self._cell, row.synchronises)
        for step in self._steps:
            known.take(step, when)
        return known


class ReplayedViolation(Replayed):
    """A violation of robustness, in the program as `changed` says."""

    def __init__(
        self, offered: Offered, chosen: frozenset[int], changed: Changed, violation: Violation
    ) -> None:
        end = (violation.thread, violation.pc)
        steps = _steps(offered, changed, violation.run, end)
        super().__init__(offered, chosen, violation.thread, violation.cell, steps)
        self._access = _StaleLabel(offered, changed, violation)
        self._relevant |= self._access.more_sc
        self._values = [offered.program.initial_memory[violation.cell]]
        for step in self._steps:
            if isinstance(step, _Access) and step.writes and step.cell == self._cell:
                self._values.append(step.written)

    def _is_stale(self, when: _When) -> bool:
        """Whether the last access can still read, or come right after, an older write to its cell."""
        known = self._known(when)

        def bound(*, writes: bool) -> int:
            return known.bound(self._thread, sc=self._access.is_sc(when.all, writes=writes))

        return self._access.can_be_stale(self._values, known.exchanged, bound)

    def _is_aware(self, fences: Bits) -> bool:
        """Whether the last access comes after the newest write to its cell, with just these new fences."""
        after = _AfterNewest(self._cell, ordered_by_s=MODELS[self._offered.model].ordered_by_s)
        for step in self._steps:
            after.take(step, fences)
        return after.holds(self._thread)


class ReplayedRace(Replayed):
    """A data race under RC20 or C++20, where happens-before decides; in the program as `changed` says."""

    def __init__(self, offered: Offered, chosen: frozenset[int], changed: Changed, race: Race) -> None:
        *run, second = race.run
        steps = _steps(offered, changed, run, (second.thread, second.pc), _first_of(race))
        super().__init__(offered, chosen, second.thread, second.cell, steps)

    def _is_stale(self, when: _When) -> bool:
        """Whether the first access does not happen before the second."""
        return self._known(when).happened(self._thread) == 0

    def _is_aware(self, fences: Bits) -> bool:
        return True


def _first_of(race: Race) -> int:
    """Where in its run the first of the two accesses is."""
    *run, second = race.run
    earlier = race.earlier
    assert earlier is not None
    return next(
        i
        for i, event in reversed(list(enumerate(run)))
        if event.cell == second.cell
        and (event.kind == EventKind.WRITE if earlier.write else event.thread == earlier.thread)
    )


class _Known:
    """The newest write to one cell that may not be overlooked, as a place in modification order."""

    def __init__(self, cell: int, synchronises: bool) -> None:
        self._cell = cell
        self._synchronises = synchronises
        self._views = Views(0, max)
        self._message: dict[int, int] = defaultdict(int)  # of the newest write to each cell
        self.exchanged = [False]  # of each write to the cell, whether it is an RMW

    def happened(self, t: int) -> int:
        """Before the next event of the thread."""
        return self._views.current[t]

    def bound(self, t: int, *, sc: bool) -> int:
        """What its next access may not overlook; `sc` is for models in which that makes a difference."""
        return self.happened(t)

    def take(self, step: _Step, when: _When) -> None:
        match step:
            case _Racing(thread):
                self._race(thread)
            case _Access():
                self._access(step, when.all)
            case _OldFence(thread, mode):
                self._fence(
                    thread, sc=mode is Mode.SC, acquire=mode is not Mode.REL, release=mode is not Mode.ACQ
                )
            case _NewFence(thread, sc, acquire, release, time):
                made = when[time]
                self._fence(
                    thread, sc=bool(sc & made), acquire=bool(acquire & made), release=bool(release & made)
                )

    def _race(self, t: int) -> None:
        self._views.happen(t, 1)

    def _access(self, step: _Access, made: Bits) -> None:
        t, x, message = step.thread, step.cell, self._message[step.cell]
        is_rmw = step.writes and (step.reads or bool(step.exchange & made))
        if step.reads or is_rmw:
            acquire = step.acquire or step.more_acquire & made or self._synchronises
            self._views.read(t, message, self._newest(x), acquire=bool(acquire))
        if step.writes:
            release = step.release or step.more_release & made or self._synchronises
            if x == self._cell:
                self.exchanged.append(is_rmw)
            self._message[x] = self._views.write(
                t, self._newest(x), release=bool(release), replaced=message if is_rmw else None
            )

    def _fence(self, t: int, *, sc: bool, acquire: bool, release: bool) -> None:
        if sc:
            self._message[_FENCE_CELL] = self._views.sc_fence(t, self._message[_FENCE_CELL], 0, 0)
            return
        if acquire:
            self._views.acquire_fence(t)
        if release:
            self._views.release_fence(t)

    def _newest(self, x: int) -> int:
        return len(self.exchanged) - 1 if x == self._cell else 0


class _KnownWithS(_Known):
    """The same under C++20, where S decides too."""

    def __init__(self, cell: int) -> None:
        super().__init__(cell, synchronises=False)
        self._clocks = Cpp20Views(0, max)
        self._sent: dict[int, Cpp20Message[int]] = defaultdict(lambda: self._clocks.no_message)

    def happened(self, t: int) -> int:
        return self._clocks.known.current[t]

    def bound(self, t: int, *, sc: bool) -> int:
        return self._clocks.bound(t, sc=sc)

    def _race(self, t: int) -> None:
        self._clocks.known.happen(t, 1)

    def _access(self, step: _Access, made: Bits) -> None:
        x, sc = step.cell, step.sc or bool(step.more_sc & made)
        reads = step.reads or bool(step.writes and step.exchange & made)
        if step.writes and x == self._cell:
            self.exchanged.append(reads)
        sent = self._clocks.access(
            step.thread,
            x,
            self._newest(x),
            acquire=sc or step.acquire or bool(step.more_acquire & made),
            release=sc or step.release or bool(step.more_release & made),
            sc=sc,
            read=self._sent[x] if reads else None,
            writes=step.writes,
        )
        if sent is not None:
            self._sent[x] = sent

    def _fence(self, t: int, *, sc: bool, acquire: bool, release: bool) -> None:
        self._clocks.fence(t, acquire=sc or acquire, release=sc or release, sc=sc)


class _AfterNewest:
    """The newest write to one cell that threads come after in hbsc, as a place in modification order."""

    def __init__(self, cell: int, *, ordered_by_s: bool) -> None:
        self._cell = cell
        self._fences_are_rmws = not ordered_by_s
        self._views = ScViews(0, max)
        self._newest = 0

    def holds(self, t: int) -> bool:
        return self._views.current[t] == self._newest

    def take(self, step: _Step, fences: Bits) -> None:
        match step:
            case _Access(thread, cell, _, True):
                self._newest += cell == self._cell
                self._views.write(thread, cell, self._newest if cell == self._cell else 0)
            case _Access(thread, cell):
                self._views.read(thread, cell)
            case _OldFence(thread, Mode.SC) if self._fences_are_rmws:
                self._views.write(thread, _FENCE_CELL, 0)
            case _NewFence(thread, sc, time=0) if self._fences_are_rmws and sc & fences:
                self._views.write(thread, _FENCE_CELL, 0)


class _Bound(Protocol):
    def __call__(self, *, writes: bool) -> int: ...


class _StaleLabel:
    """What the access that leaves sequential consistency asks of the stale write."""

    def __init__(self, offered: Offered, changed: Changed, violation: Violation) -> None:
        origin = changed.origins[violation.thread][violation.pc]
        instruction = offered.program.threads[violation.thread].code[origin.pc]
        assert isinstance(instruction, CellAccess)
        self._instruction = instruction
        made = offered.at(violation.thread, origin)
        self._more_sc = {writes: _more_sc(made, writes=writes) for writes in (False, True)}
        self.more_sc = self._more_sc[False] | self._more_sc[True]
        self._expected = violation.first
        self._awaited = frozenset(violation.awaited)

    def is_sc(self, made: Bits, *, writes: bool) -> bool:
        return _is_sc(self._instruction, writes=writes) or bool(self._more_sc[writes] & made)

    def can_be_stale(self, values: Sequence[int], exchanged: Sequence[bool], bound: _Bound) -> bool:
        """Whether it can follow one of the writes from the bound up to the newest, which is excluded."""
        known = {writes: bound(writes=writes) for writes in (False, True)}
        return any(
            i >= known[self._writes(values[i])] and self._follows(values[i], exchanged[i + 1])
            for i in range(len(values) - 1)
        )

    def _writes(self, value: int) -> bool:
        """Whether it would write where it finds the value."""
        match self._instruction:
            case Load() | Wait():
                return False
            case CompareExchange():
                return value == self._expected
            case _:
                return True

    def _follows(self, value: int, before_rmw: bool) -> bool:
        match self._instruction:
            case Load():
                return True
            case Wait():
                return value in self._awaited
            case CompareExchange():
                return value != self._expected or not before_rmw
            case BlockingCompareExchange():
                return value == self._expected and not before_rmw
            case _:
                return not before_rmw


# --- the steps of the run


def _steps(
    offered: Offered,
    changed: Changed,
    run: Sequence[Event],
    end: tuple[int, int],
    racing: int | None = None,
) -> Iterator[_Step]:
    """The run, with everything that changes could make of it and add to it.

    `end` is the thread and the program point of the access after it, `racing` the step that races with it.
    """
    origins = [changed.origins[event.thread][event.pc] for event in run]
    own = [i for i, origin in enumerate(origins) if origin.side is None]
    following: dict[int, int] = {}  # step of the run -> next step of the same thread, fences left out
    last: dict[int, int] = {}
    starting: list[int] = []
    for i in [*own, len(run)]:
        thread = end[0] if i == len(run) else run[i].thread
        if thread in last:
            following[last[thread]] = i
        else:
            starting.append(i)
        last[thread] = i

    def place(i: int) -> tuple[int, int]:
        """Thread and program point of step `i`; the last one is `end`."""
        if i == len(run):
            return end[0], changed.origins[end[0]][end[1]].pc
        return run[i].thread, origins[i].pc

    skipped = _SkippedFences(offered, changed)
    for i in starting:
        yield from _new_fences(offered, None, place(i), _EARLY)
    previous: dict[int, int] = {}
    for i, event in enumerate(run):
        if origins[i].side is not None:
            made = offered.at(event.thread, origins[i])
            yield _NewFence(event.thread, made.get("sc-fence", 0), time=_AS_RUN)
            continue
        before = previous.get(event.thread)
        yield from _new_fences(offered, None if before is None else place(before), place(i), _LATE)
        yield from skipped.between(None if before is None else place(before), place(i))
        yield from [_Racing(event.thread)] if i == racing else _own_step(offered, event, origins[i])
        if i in following:
            yield from _new_fences(offered, place(i), place(following[i]), _EARLY)
        previous[event.thread] = i
    before = previous.get(end[0])
    yield from _new_fences(offered, None if before is None else place(before), place(len(run)), _LATE)
    yield from skipped.between(None if before is None else place(before), place(len(run)))


_AS_RUN, _EARLY, _LATE = range(3)


def _new_fences(
    offered: Offered, before: tuple[int, int] | None, after: tuple[int, int], time: int
) -> Iterator[_NewFence]:
    """The fences that changes can put between two steps of a thread."""
    sides: list[tuple[int, Origin]] = [] if before is None else [(before[0], Origin(before[1], "after"))]
    for thread, origin in [*sides, (after[0], Origin(after[1], "before"))]:
        made = offered.at(thread, origin)
        if made:
            yield _fence_by(made, thread, time)


def _fence_by(made: Mapping[Kind, Bits], thread: int, time: int) -> _NewFence:
    weak = time == _LATE  # when a weak fence is executed does not matter to others
    return _NewFence(
        thread,
        made.get("sc-fence", 0),
        made.get("acquire-fence", 0) if weak else 0,
        made.get("release-fence", 0) if weak else 0,
        time,
    )


class _SkippedFences:
    """Fences that changes can put where there is a `Skip`. A run that passes one says so by an event; where
    it is not made, the run may have passed its place if some way leads through it."""

    def __init__(self, offered: Offered, changed: Changed) -> None:
        self._offered = offered
        made = {
            (thread, origin.pc)
            for thread, origins in enumerate(changed.origins)
            for origin, instruction in zip(origins, changed.program.threads[thread].code, strict=True)
            if isinstance(instruction, Fence)
        }
        self._not_made = {
            (thread, pc)
            for thread, code in enumerate(t.code for t in offered.program.threads)
            for pc, instruction in enumerate(code)
            if isinstance(instruction, Skip) and offered.at(thread, Origin(pc)) and (thread, pc) not in made
        }

    def between(self, before: tuple[int, int] | None, after: tuple[int, int]) -> Iterator[_NewFence]:
        """Those that may lie between two steps of a thread, or between its start and a step."""
        if not self._not_made:
            return
        thread, last = after
        code = self._offered.program.threads[thread].code

        def following(pc: int) -> tuple[int, ...]:
            stops = pc == len(code) or isinstance(code[pc], CellAccess | Fence)
            return () if stops else successors(code[pc], pc)

        passed = reachable([0 if before is None else before[1] + 1], following)
        for pc in sorted(passed):
            if (thread, pc) in self._not_made and last in reachable([pc], following):
                yield _fence_by(self._offered.at(thread, Origin(pc)), thread, _LATE)


def _own_step(offered: Offered, event: Event, origin: Origin) -> Iterator[_Step]:
    """The step of an instruction that the program itself has; accesses that are not atomic do not count."""
    instruction = offered.program.threads[event.thread].code[origin.pc]
    if isinstance(instruction, Fence):
        yield _OldFence(event.thread, instruction.mode)
        return
    if isinstance(instruction, Skip):
        yield _fence_by(offered.at(event.thread, origin), event.thread, _LATE)
        return
    assert isinstance(instruction, CellAccess)
    writes = event.kind != EventKind.READ
    load_mode, store_mode = read_mode(instruction, writes=writes), access_modes(instruction)[1]
    if Mode.NA in (load_mode, store_mode):
        return
    made = offered.at(event.thread, origin)
    more_acquire = made.get("acquire-load", 0) | made.get("acquire-rmw", 0)
    more_acquire |= made.get("acquire-success" if writes else "acquire-failure", 0)
    yield _Access(
        thread=event.thread,
        cell=event.cell,
        reads=load_mode is not None,
        writes=writes,
        written=event.written if writes else 0,
        acquire=load_mode is Mode.ACQ,
        release=store_mode is Mode.REL,
        sc=_is_sc(instruction, writes=writes),
        more_sc=_more_sc(made, writes=writes),
        more_acquire=more_acquire,
        more_release=made.get("release-store", 0) | made.get("release-rmw", 0),
        exchange=made.get("exchange", 0),
    )


def _is_sc(access: CellAccess, *, writes: bool) -> bool:
    return Mode.SC in (read_mode(access, writes=writes), access_modes(access)[1] if writes else None)


def _more_sc(made: Mapping[Kind, Bits], *, writes: bool) -> Bits:
    always = made.get("sc-load", 0) | made.get("sc-store", 0) | made.get("sc-rmw", 0)
    return always | made.get("sc-success" if writes else "sc-failure", 0)


def _bits(numbers: Iterator[int] | frozenset[int]) -> Bits:
    return sum(1 << number for number in numbers)


def _numbers(bits: Bits) -> Iterator[int]:
    while bits:
        lowest = bits & -bits
        yield lowest.bit_length() - 1
        bits ^= lowest
