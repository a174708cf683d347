"""What a fence has to do against TSO, and which fences would.

A violation of persistence, robustness or freedom from triangular races has a write that a later read of its
thread overtakes. A fence anywhere on the way between the two ends it, and nothing else does; fences change
nothing under sequential consistency. So each way is a conflict, the places on it are what can be added, and a
set of fences will do if and only if it meets all of them (persist-2015, section 9). For persistence and
triangular races one search finds all ways. For robustness each search finds one.
"""

from __future__ import annotations

from collections.abc import Iterable

from fencepost.analyses.repair.changes import Changed, Origin, apply
from fencepost.analyses.repair.checks import Checks, FixWatcher
from fencepost.analyses.repair.costs import Prices
from fencepost.analyses.repair.hitting_set import Conflict
from fencepost.analyses.repair.search import Fails, Holds, Undecided
from fencepost.analyses.repair.violation_replay import Offered
from fencepost.analyses.tso import persist, robust_against_tso
from fencepost.engine._native import Outcome, TsoViolation
from fencepost.engine.search import Limits, Watcher, explore_tso
from fencepost.program import Program
from fencepost.verdicts import Answer


class TsoChecks(Checks):
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
        return robust_against_tso(program, self._criterion, limits, watcher)

    def _learn(self, chosen: frozenset[int]) -> Undecided | None:
        """Learn conflicts: all there are, or for robustness one that `chosen` breaks."""
        one_by_one = self._criterion == "robust"
        made = chosen if one_by_one else frozenset()
        changed = apply(self._offered.program, (self._offered.changes[number] for number in made))
        limits = self._limits_left()
        result = explore_tso(changed.program, self._criterion, limits, self._watch, find_all=not one_by_one)
        self._count(result.search)
        if result.search.outcome not in (Outcome.COMPLETE, Outcome.VIOLATION):
            return self._undecided(changed.program, result.search, limits)
        self._knows_all = not one_by_one
        self._conflicts |= {self._conflict(changed, violation) for violation in result.violations}
        return None

    def _conflict(self, changed: Changed, violation: TsoViolation) -> Conflict:
        thread = violation.alone[0].thread
        return Conflict(frozenset(self._fences_on(changed, thread, violation.path)))

    def _fences_on(self, changed: Changed, thread: int, path: Iterable[int]) -> Iterable[int]:
        """The fences offered on the way; places are numbered as in native/engine/tso/solo_run.hpp."""
        for place in path:
            origin = changed.origins[thread][place // 2]
            if origin.side is not None:  # a fence that is no barrier cannot be: it would have ended the way
                continue
            bits = self._offered.at(thread, Origin(origin.pc, "after" if place % 2 else "before"))
            yield from (bit.bit_length() - 1 for bit in bits.values())
