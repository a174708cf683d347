"""Repair: the cheapest changes that make a program robust against a memory model.

What can be changed is in `changes`, the search in `repair`. Here are the check of a set of changes, which
asks the engine and learns from its violations (`violation_replay`), and the answer: the changes as edits of
the user's text, and the edited text checked once more.
"""

from __future__ import annotations

import difflib
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import gcd
from typing import Any

from holdfast.analyses.changes import (
    DEFAULT_COSTS,
    KINDS,
    Change,
    Kind,
    apply,
    candidates,
    new_fence,
    strengthened,
)
from holdfast.analyses.repair import Fails, Found, Holds, RepairProgress, Undecided, cheapest_repair
from holdfast.analyses.repair_answer import Edit, FixAnswer, NotRepairable, Repaired, RepairUnknown
from holdfast.analyses.robustness import MODELS, robust
from holdfast.analyses.violation_replay import Offered, ReplayedViolation
from holdfast.engine._native import Outcome
from holdfast.engine.explore import Limits, Progress, explore, stats, why_unknown
from holdfast.formats import edits as text_edits
from holdfast.formats.tpl_spelling import format_instruction
from holdfast.program import CellAccess, Position, Program
from holdfast.verdicts import NotRobust, RobustnessAnswer, Stats, Unknown

LARGEST_COST = 1000
COST_STEPS = 100  # costs are multiples of 1/100


@dataclass(frozen=True, slots=True)
class FixProgress:
    """How far a repair is: sets of changes tried, and between which costs the minimum lies."""

    checks: int
    lower_bound: float
    best: float | None
    search: Progress | None  # of the set that is being checked


# Called about ten times a second and between checks; the search ends as interrupted when it returns True.
FixWatcher = Callable[[FixProgress], bool]


def fix(
    program: Program,
    model: str = "ra",
    *,
    costs: Mapping[str, float] | None = None,
    without: Collection[str] = (),
    find_all: bool = False,
    limits: Limits = Limits(),  # noqa: B008 (a frozen value)
    watcher: FixWatcher | None = None,
) -> FixAnswer:
    """A cheapest set of changes that makes `program` robust against `model`, or with `find_all` every one.

    `costs` overrides `DEFAULT_COSTS`, kind by kind; changes of the kinds in `without` are not made.
    `limits.seconds` is for all of it, the other limits are for each check of a set of changes.
    """
    if model not in MODELS:
        raise ValueError(f"unknown model {model!r}; expected one of {', '.join(MODELS)}")
    prices = Prices(costs or {})
    for kind in without:
        check_kind(kind)
    repair = _Repair(program, model, prices, without, limits, watcher)
    return repair.answer(find_all)


def check_kind(kind: str) -> None:
    if kind not in DEFAULT_COSTS:
        raise ValueError(f"there is no change {kind!r}; expected one of {', '.join(DEFAULT_COSTS)}")


class Prices:
    """What each kind of change costs, and the same as integers without a common divisor."""

    def __init__(self, costs: Mapping[str, float]) -> None:
        for kind, cost in costs.items():
            check_kind(kind)
            if not 0 <= cost <= LARGEST_COST or (Fraction(str(cost)) * COST_STEPS).denominator != 1:
                raise ValueError(
                    f"the cost of {kind} is {cost:g}; expected a number between 0 and {LARGEST_COST} "
                    "with at most two decimals"
                )
        exact = {kind: Fraction(str(costs.get(kind, cost))) for kind, cost in DEFAULT_COSTS.items()}
        hundredths = {kind: int(cost * COST_STEPS) for kind, cost in exact.items()}
        self._unit = gcd(*hundredths.values()) or 1
        self._prices = {kind: price // self._unit for kind, price in hundredths.items()}

    def price(self, kind: Kind) -> int:
        return self._prices[kind]

    def cost(self, price: int) -> float:
        return price * self._unit / COST_STEPS


class _Checks:
    """The check of a set of changes: is the program robust with them? Learns from each violation."""

    def __init__(
        self, offered: Offered, limits: Limits, prices: Prices, watcher: FixWatcher | None
    ) -> None:
        self._offered = offered
        self._limits = limits
        self._prices = prices
        self._watcher = watcher
        self._started = time.monotonic()
        self._violations: list[ReplayedViolation] = []
        self._progress = RepairProgress(0, 0, None)
        self._spent = Stats()

    @property
    def deadline(self) -> float | None:
        return None if self._limits.seconds is None else self._started + self._limits.seconds

    @property
    def spent(self) -> Stats:
        """All states and transitions, the most memory at once, and the time since the start."""
        return msgspec.structs.replace(self._spent, seconds=round(time.monotonic() - self._started, 6))

    def __call__(self, chosen: frozenset[int]) -> Holds | Fails | Undecided:
        for violation in self._violations:
            known = violation.conflicts(chosen)
            if known:
                return Fails(tuple(known))
        changed = apply(self._offered.program, (self._offered.changes[number] for number in chosen))
        limits = self.limits_left()
        result = explore(changed.program, self._offered.model, limits, watcher=self.watch)
        self.add(stats(result))
        match result.outcome:
            case Outcome.COMPLETE:
                return Holds()
            case Outcome.VIOLATION:
                assert result.violation is not None
                found = ReplayedViolation(self._offered, chosen, changed, result.violation)
                self._violations.append(found)
                return Fails(tuple(found.conflicts(chosen)))
            case Outcome.TIME_LIMIT:
                return Undecided(f"the time limit of {self._limits.seconds:g} s was reached")
            case outcome:
                why = why_unknown(changed.program, result, limits)
                return Undecided(why, interrupted=outcome == Outcome.INTERRUPTED)

    def robust(self, program: Program) -> RobustnessAnswer:
        """One more check, outside the search, with everything else that it finds."""
        answer = robust(program, self._offered.model, limits=self.limits_left(), watcher=self.watch)
        self.add(answer.stats)
        return answer
