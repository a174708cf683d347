"""What the checks of a repair have in common: how long they may take, how long they took, who watches.

A check asks whether a program with some changes made has the property that the repair is for. Which question
that is, and what is learnt from the answer, is left to those who derive from `Checks`.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import msgspec
from msgspec.structs import replace

from fencepost.analyses.repair.costs import Prices
from fencepost.analyses.repair.search import Fails, Holds, RepairProgress, Undecided
from fencepost.engine._native import Outcome, Result
from fencepost.engine.search import Limits, Progress, Watcher, stats, why_unknown
from fencepost.program import Program
from fencepost.verdicts import Answer, Stats


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
            return Undecided(f"the time limit of {self._limits.seconds:g} s was reached")
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

    def _limits_left(self) -> Limits:
        if self.deadline is None:
            return self._limits
        return replace(self._limits, seconds=max(self.deadline - time.monotonic(), 0.0))

    def _seconds(self) -> float:
        return time.monotonic() - self._started

    def _count(self, result: Result) -> None:
        self._spent += stats(result)
