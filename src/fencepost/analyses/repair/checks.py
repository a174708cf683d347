"""Does a program with some changes made have the property that the repair is for, and what is learnt if not?

`Checks` keeps what all questions share: how long they may take, how long they took, who watches. Robustness
against RA and RC20 learns from its violations by `violation_replay`, TSO by the ways on which fences stand.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import msgspec
from msgspec.structs import replace

from fencepost.analyses.repair.changes import Changed, Offered, Origin, apply
from fencepost.analyses.repair.costs import Prices
from fencepost.analyses.repair.violation_replay import Replayed, ReplayedRace, ReplayedViolation
from fencepost.analyses.robustness import robust, search
from fencepost.analyses.tso import persist
from fencepost.cheapest.hitting_set import Conflict
from fencepost.cheapest.search import Fails, Holds, RepairProgress, Undecided
from fencepost.engine._native import Outcome, Result, TsoViolation
from fencepost.engine.search import Limits, Progress, Watcher, explore_tso, stats, why_unknown
from fencepost.models.tso import on_x86
from fencepost.program import Program
from fencepost.verdicts import Answer, NotRobust, RobustnessAnswer, Stats, Unknown


@dataclass(frozen=True, slots=True)
class FixProgress:
    """How far a repair is: how many sets of changes were checked, and between which costs the minimum is."""

    checks: int
    lower_bound: float
    best: float | None
    seconds: float
    checking: Progress | None = None  # the search that goes on now


# Called about ten times a second and between checks; the search ends as interrupted when it returns True.
FixWatcher = Callable[[FixProgress], bool]


def findings_of(answer: Answer | None) -> dict[str, Any]:
    """What a check found besides its verdict, as fields of the answer about the changed program."""
    findings = {
        "exhaustive": False,
        "race": None,
        "assertion": None,
        "deadlock": None,
        "any_number": msgspec.UNSET,
        "warnings": (),
    }
    return findings if answer is None else {name: getattr(answer, name) for name in findings}


class Checks(ABC):
    """Checks of sets of changes, and what all of them took."""

    def __init__(self, limits: Limits, prices: Prices, watcher: FixWatcher | None) -> None:
        self._limits = limits
        self._prices = prices
        self._watcher = watcher
        self._started = time.monotonic()
        self._progress = RepairProgress(0, 0, None)
        self._stopped = False
        self._spent = Stats()

    @abstractmethod
    def __call__(self, chosen: frozenset[int]) -> Holds | Fails | Undecided:
        """Does the program have the property with the changes `chosen` made?"""

    @abstractmethod
    def ask(self, program: Program, limits: Limits, watcher: Watcher) -> Answer:
        """The question itself."""

    def answer(self, program: Program, *, in_time: bool = True) -> Answer:
        """A check outside the search, with everything that it finds."""
        limits = self._limits_left() if in_time else replace(self._limits, seconds=None)
        answer = self.ask(program, limits, self._watch)
        self._spent += answer.stats
        return answer

    @property
    def deadline(self) -> float | None:
        return None if self._limits.seconds is None else self._started + self._limits.seconds

    @property
    def spent(self) -> Stats:
        return msgspec.structs.replace(self._spent, seconds=round(self._seconds(), 6))

    def note(self, progress: RepairProgress) -> None:
        self._progress = progress
        self._report(None)

    def _undecided(self, program: Program, result: Result, limits: Limits) -> Undecided:
        """What a search means that came to no end."""
        if result.outcome == Outcome.TIME_LIMIT:
            return Undecided(f"the {self._limits.time_limit} was reached")
        why = why_unknown(program, result, limits)
        return Undecided(why, interrupted=result.outcome == Outcome.INTERRUPTED)

    def _watch(self, progress: Progress) -> bool:
        self._report(progress)
        return self._stopped

    def _report(self, checking: Progress | None) -> None:
        if self._watcher is None:
            return
        now = self._progress
        best = None if now.best is None else self._prices.cost(now.best)
        lower_bound = self._prices.cost(now.lower_bound)
        progress = FixProgress(now.checks, lower_bound, best, self._seconds(), checking)
        self._stopped = self._watcher(progress) or self._stopped

    def _made(self, offered: Offered, chosen: frozenset[int]) -> Changed:
        return apply(offered.program, (offered.changes[number] for number in chosen))

    def _limits_left(self) -> Limits:
        return self._limits.after(self._seconds())

    def _seconds(self) -> float:
        return time.monotonic() - self._started

    def _count(self, result: Result) -> None:
        self._spent += stats(result)


class RobustnessChecks(Checks):
    """Is the program robust with the changes, and free of data races if these are to be repaired?

    Learns from each violation and each race (`violation_replay`).
    """

    def __init__(
        self,
        offered: Offered,
        limits: Limits,
        prices: Prices,
        watcher: FixWatcher | None,
        *,
        repair_races: bool,
    ) -> None:
        super().__init__(limits, prices, watcher)
        self._offered = offered
        self._repair_races = repair_races
        self._found: list[Replayed] = []

    def __call__(self, chosen: frozenset[int]) -> Holds | Fails | Undecided:
        for found in self._found:
            known = found.conflicts(chosen)
            if known:
                return Fails(tuple(known))
        if self._stopped:
            return Undecided("the search was interrupted", interrupted=True)
        if self._offered.program.templates:
            return self._check_any_number(chosen)
        changed, result, limits = self._search(self._offered, chosen)
        new = self._learn(self._offered, chosen, changed, result)
        if new is not None:
            return new
        return (
            Holds()
            if result.outcome == Outcome.COMPLETE
            else self._undecided(changed.program, result, limits)
        )

    def _check_any_number(self, chosen: frozenset[int]) -> Holds | Fails | Undecided:
        """If it does not hold for every number of threads, some number of them shows a violation or a race.
        What is learnt from that is about the functions, so it is true whatever the number."""
        answer = self.answer(self._made(self._offered, chosen).program)
        has_race = answer.race is not None and self._repair_races
        if isinstance(answer, NotRobust) or has_race:
            assert answer.any_number is not msgspec.UNSET
            instances = self._offered.with_instances(min(answer.any_number.copies.values()))
            new = self._learn(instances, chosen, *self._search(instances, chosen)[:2])
            return new or Undecided(f"the {self._limits.time_limit} was reached")
        if isinstance(answer, Unknown):
            return Undecided(answer.why, interrupted=answer.interrupted)
        return Holds()

    def _search(self, offered: Offered, chosen: frozenset[int]) -> tuple[Changed, Result, Limits]:
        changed = self._made(offered, chosen)
        limits = self._limits_left()
        result = search(changed.program, offered.model, limits, watcher=self._watch)
        self._count(result)
        return changed, result, limits

    def _learn(
        self, offered: Offered, chosen: frozenset[int], changed: Changed, result: Result
    ) -> Fails | None:
        """What follows from the violation and the race that a search found, if it did."""
        new: list[Replayed] = []
        if result.violation is not None:
            new.append(ReplayedViolation(offered, chosen, changed, result.violation))
        if result.race is not None and self._repair_races:
            new.append(ReplayedRace(offered, chosen, changed, result.race))
        self._found += new
        return Fails(tuple(c for found in new for c in found.conflicts(chosen))) if new else None

    def ask(self, program: Program, limits: Limits, watcher: Watcher) -> RobustnessAnswer:
        return robust(program, self._offered.model, limits=limits, watcher=watcher)


class TsoChecks(Checks):
    """Does the program have the criterion of TSO with the changes?

    A violation of persistence, robustness or freedom from triangular races has a write that a later read of
    its thread overtakes. A fence anywhere on the way between the two ends it, and nothing else does; fences
    change nothing under sequential consistency. So each way is a conflict, the places on it are what can be
    added, and a set of fences will do if and only if it meets all of them (persist-2015, section 9). For
    persistence and triangular races one search finds all ways. For robustness each search finds one.
    """

    def __init__(
        self,
        offered: Offered,
        criterion: str,
        limits: Limits,
        prices: Prices,
        watcher: FixWatcher | None,
    ) -> None:
        super().__init__(limits, prices, watcher)
        self._offered = offered
        self._criterion = criterion
        self._conflicts: set[Conflict] = set()
        self._knows_all = False

    def __call__(self, chosen: frozenset[int]) -> Holds | Fails | Undecided:
        if self._stopped:
            return Undecided("the search was interrupted", interrupted=True)
        if not self._knows_all:
            undecided = self._learn(chosen)
            if undecided is not None:
                return undecided
        broken = tuple(conflict for conflict in self._conflicts if not conflict.allows(chosen))
        return Fails(broken) if broken else Holds()

    def ask(self, program: Program, limits: Limits, watcher: Watcher) -> Answer:
        if self._criterion == "persistent":
            return persist(program, limits=limits, watcher=watcher)
        return robust(program, "tso", criterion=self._criterion, limits=limits, watcher=watcher)

    def _learn(self, chosen: frozenset[int]) -> Undecided | None:
        """Learn conflicts: all there are, or for robustness one that `chosen` breaks."""
        one_by_one = self._criterion == "robust"
        offered = self._offered
        if offered.program.templates:
            # What some number of threads shows is about the functions, so it is true whatever the number.
            answer = self.answer(self._made(offered, chosen).program)
            if isinstance(answer, Unknown):
                return Undecided(answer.why, interrupted=answer.interrupted)
            if not isinstance(answer, NotRobust):
                return None
            assert answer.any_number is not msgspec.UNSET
            offered = offered.with_instances(min(answer.any_number.copies.values()))
        changed = self._made(offered, chosen if one_by_one else frozenset())
        limits = self._limits_left()
        program = on_x86(changed.program)
        result = explore_tso(program, self._criterion, limits, self._watch, find_all=not one_by_one)
        self._count(result.search)
        if result.search.outcome not in (Outcome.COMPLETE, Outcome.VIOLATION):
            return self._undecided(changed.program, result.search, limits)
        self._knows_all = not one_by_one
        self._conflicts |= {self._conflict(offered, changed, found) for found in result.violations}
        return None

    def _conflict(self, offered: Offered, changed: Changed, violation: TsoViolation) -> Conflict:
        thread = violation.alone[0].thread
        return Conflict(frozenset(self._fences_on(offered, changed, thread, violation.path)))

    def _fences_on(
        self, offered: Offered, changed: Changed, thread: int, path: Iterable[int]
    ) -> Iterable[int]:
        """The fences offered on the way; places are numbered as in native/engine/tso/solo_run.hpp."""
        for place in path:
            origin = changed.origins[thread][place // 2]
            if origin.side is not None:  # a fence that is no barrier cannot be: it would have ended the way
                continue
            bits = offered.at(thread, Origin(origin.pc, "after" if place % 2 else "before"))
            yield from (bit.bit_length() - 1 for bit in bits.values())
