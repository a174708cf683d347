"""Will a set of changes do? The check that `cheapest_repair` asks, by running the program.

A set that will not do has an execution that shows something. Every set that will do then contains a change
that this one lacks. Which changes these are is found out by repeating the execution with more and more
changes, as long as it still shows something: the changes that are left out in the end are the conflict. This
is sound because changes only add order: a set without any change of the conflict is a part of the largest set
that was tried, and so the execution shows something with it too.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from fencepost.cheapest.hitting_set import Conflict
from fencepost.cheapest.search import Chosen, Fails, Holds, Undecided
from fencepost.sanitizer.repair.changes import Offered
from fencepost.sanitizer.repair.executions import Execution, Executions, How, Look
from fencepost.verdicts.run import Finding

OUT_OF_TIME = "the time limit was reached"
_MOST_CONFLICTS = 6  # of one check: more of them take longer to find than they save


@dataclass
class Checks:
    """`runs`: so many runs of each schedule are made for each check; None: all executions are."""

    executions: Executions
    offered: Offered
    runs: int | None
    deadline: float | None
    saying: Callable[[str], None]
    bad: list[Execution] = field(default_factory=list)
    last: Look | None = None  # of the set that was checked last
    _shown: dict[tuple[Execution, Chosen], Finding | None] = field(default_factory=dict)

    def __call__(self, chosen: Chosen) -> Holds | Fails | Undecided:
        known = [one for one in self.bad if self.shows(one, chosen)]
        if known:
            return self._fails(known, chosen)
        look = self.look(chosen)
        self.last = look
        if look.executions:
            return self._fails(self._added(look), chosen)
        if look.interrupted:
            return Undecided("the search was interrupted", interrupted=True)
        if look.late:
            return Undecided(OUT_OF_TIME)
        if look.why and self.runs is None:
            return Undecided(look.why)
        return Holds()

    def look(self, chosen: Chosen, *, first_seed: int = 1) -> Look:
        changes = self.offered.changes(chosen)
        how = How(runs=self.runs, first_seed=first_seed, seconds=self.seconds_left(), saying=self.saying)
        return self.executions.all(changes, how)

    def seconds_left(self) -> float | None:
        return None if self.deadline is None else max(self.deadline - time.monotonic(), 1.0)

    def add(self, executions: tuple[Execution, ...]) -> None:
        self.bad += [one for one in executions if one not in self.bad]

    def shows(self, execution: Execution, chosen: Chosen) -> bool:
        """Does it show something with these changes?"""
        return self.finding_in(execution, chosen) is not None

    def finding_in(self, execution: Execution, chosen: Chosen) -> Finding | None:
        key = execution, chosen
        if key not in self._shown:
            if self.deadline is not None and time.monotonic() > self.deadline:
                raise OutOfTimeError
            self._shown[key] = self.executions.finding_in(execution, self.offered.changes(chosen))
        return self._shown[key]

    def _added(self, look: Look) -> list[Execution]:
        self.add(look.executions)
        return list(look.executions)

    def _fails(self, bad: list[Execution], chosen: Chosen) -> Fails | Undecided:
        conflicts: dict[Conflict, None] = {}
        try:
            for execution in bad[:_MOST_CONFLICTS]:
                conflicts[self._conflict(execution, chosen)] = None
        except OutOfTimeError:
            if not conflicts:
                return Undecided(OUT_OF_TIME)
        return Fails(tuple(conflicts))

    def _conflict(self, execution: Execution, chosen: Chosen) -> Conflict:
        everything = frozenset(range(len(self.offered.candidates)))
        failing = chosen
        # An execution that does not repeat itself says no more than that this set will not do.
        parts = [everything - chosen] if self.shows(execution, chosen) else []
        while parts:
            part = parts.pop()
            if self.shows(execution, failing | part):
                failing |= part
            elif len(part) > 1:
                parts += _halves(part)
        return Conflict(everything - failing)


def _halves(part: Chosen) -> list[Chosen]:
    numbers = sorted(part)
    middle = len(numbers) // 2
    return [frozenset(numbers[:middle]), frozenset(numbers[middle:])]


class OutOfTimeError(Exception):
    """The time is up in the middle of a check."""
