"""Repair: the cheapest changes that make a program robust against a memory model.

What can be changed is in `changes`, the search in `repair`. Here are the check of a set of changes, which
asks the engine and learns from its violations (`violation_replay`), and the answer: the changes as edits of
the user's text, and the repaired program checked once more.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import msgspec

from holdfast.analyses.changes import KINDS, Change, apply, candidates
from holdfast.analyses.costs import Prices, check_kind
from holdfast.analyses.repair import Fails, Found, Holds, RepairProgress, Undecided, cheapest_repair
from holdfast.analyses.repair_answer import Edit, FixAnswer, NotRepairable, Repaired, RepairUnknown
from holdfast.analyses.repair_edits import edits_of, repaired_text
from holdfast.analyses.robustness import robust, search
from holdfast.analyses.violation_replay import Offered, ReplayedViolation
from holdfast.engine._native import Outcome
from holdfast.engine.explore import Limits, Progress, stats, why_unknown
from holdfast.memory_models import ROBUSTNESS_MODELS
from holdfast.program import Program
from holdfast.verdicts import NotRobust, RobustnessAnswer, Stats, Unknown


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
    """A cheapest set of changes that makes `program` robust against `model`; with `find_all` every one.

    `costs` says what changes cost where that is not the default (`changes.DEFAULT_COSTS`); changes of the
    kinds in `without` are not made. `limits.seconds` is for everything together, the other limits are for
    each check of a set of changes.
    """
    if model not in ROBUSTNESS_MODELS:
        raise ValueError(f"unknown model {model!r}; expected one of {', '.join(ROBUSTNESS_MODELS)}")
    for kind in without:
        check_kind(kind)
    prices = Prices(costs or {})
    kinds = [kind for kind in KINDS[model] if kind not in without]
    offered = Offered(program, model, candidates(program, model, kinds))
    checks = _Checks(offered, limits, prices, watcher)
    answers = _Answers(offered, prices, checks)
    first = checks.robust(program)
    if not isinstance(first, NotRobust):
        return answers.without_search(first)
    found = cheapest_repair(
        [prices.price(change.kind) for change in offered.changes],
        checks,
        discouraged=[change.loops for change in offered.changes],
        find_all=find_all,
        deadline=checks.deadline,
        watcher=checks.note,
    )
    return answers.of_search(found, find_all=find_all)


class _Checks:
    """The check of a set of changes, is the program robust with them?, and what all checks took."""

    def __init__(self, offered: Offered, limits: Limits, prices: Prices, watcher: FixWatcher | None) -> None:
        self._offered = offered
        self._limits = limits
        self._prices = prices
        self._watcher = watcher
        self._started = time.monotonic()
        self._violations: list[ReplayedViolation] = []
        self._progress = RepairProgress(0, 0, None)
        self._stopped = False
        self._spent = Stats()

    @property
    def deadline(self) -> float | None:
        return None if self._limits.seconds is None else self._started + self._limits.seconds

    @property
    def spent(self) -> Stats:
        return msgspec.structs.replace(self._spent, seconds=round(self._seconds(), 6))

    def __call__(self, chosen: frozenset[int]) -> Holds | Fails | Undecided:
        for violation in self._violations:
            known = violation.conflicts(chosen)
            if known:
                return Fails(tuple(known))
        if self._stopped:
            return Undecided("the search was interrupted", interrupted=True)
        changed = apply(self._offered.program, (self._offered.changes[number] for number in chosen))
        limits = self._limits_left()
        result = search(changed.program, self._offered.model, limits, watcher=self._watch)
        self._add(stats(result))
        match result.outcome:
            case Outcome.COMPLETE:
                return Holds()
            case Outcome.VIOLATION:
                assert result.violation is not None
                self._violations.append(ReplayedViolation(self._offered, chosen, changed, result.violation))
                return Fails(tuple(self._violations[-1].conflicts(chosen)))
            case Outcome.TIME_LIMIT:
                return Undecided(f"the time limit of {self._limits.seconds:g} s was reached")
            case outcome:
                why = why_unknown(changed.program, result, limits)
                return Undecided(why, interrupted=outcome == Outcome.INTERRUPTED)

    def robust(self, program: Program, *, in_time: bool = True) -> RobustnessAnswer:
        """A check outside the search, with everything that it finds."""
        limits = self._limits_left() if in_time else replace(self._limits, seconds=None)
        answer = robust(program, self._offered.model, limits=limits, watcher=self._watch)
        self._add(answer.stats)
        return answer

    def note(self, progress: RepairProgress) -> None:
        self._progress = progress
        self._report(None)

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

    def _add(self, more: Stats) -> None:
        self._spent = Stats(
            states=self._spent.states + more.states,
            transitions=self._spent.transitions + more.transitions,
            peak_memory_mb=max(self._spent.peak_memory_mb, more.peak_memory_mb),
        )


class _Answers:
    """From what was found to what the user gets."""

    def __init__(self, offered: Offered, prices: Prices, checks: _Checks) -> None:
        self._program = offered.program
        self._model = offered.model
        self._changes = offered.changes
        self._prices = prices
        self._checks = checks

    def without_search(self, first: RobustnessAnswer) -> FixAnswer:
        """The answer if the program is robust as it is, or if nobody knows whether it is."""
        common = self._common(first)
        if isinstance(first, Unknown):
            return RepairUnknown(
                **common, edits=None, cost=None, lower_bound=0, why=first.why, interrupted=first.interrupted
            )
        return Repaired(**common, **self._repair(frozenset()), lower_bound=0, proof=first.stats)

    def of_search(self, found: Found, *, find_all: bool) -> FixAnswer:
        bound = self._prices.cost(found.lower_bound)
        if found.impossible:
            rest = self._checks.robust(apply(self._program, self._changes).program, in_time=False)
            common = {**self._common(rest), "witness": rest.witness, "checks": found.checks}
            return NotRepairable(**common, edits=None, cost=None, lower_bound=bound)
        repair = {} if found.best is None else self._repair(found.best)
        minima: tuple[tuple[Edit, ...], ...] = ()
        if find_all:
            minima = tuple(edits_of(self._program, self._made(set_), self._prices) for set_ in found.minima)
        parts = {"edits": None, "cost": None, **repair}
        parts |= {"lower_bound": bound, "minima": minima, "checks": found.checks}
        if found.why or found.best is None:
            common = self._common(None)
            return RepairUnknown(**common, **parts, why=found.why, interrupted=found.interrupted)
        repaired = apply(self._program, self._made(found.best)).program
        proof = self._checks.robust(repaired, in_time=False)
        common = self._common(proof)
        if isinstance(proof, Unknown):
            why = f"{proof.why}, in the final check"
            return RepairUnknown(**common, **parts, why=why, interrupted=proof.interrupted)
        assert not isinstance(proof, NotRobust), "the repaired program is not robust after all"
        return Repaired(**common, **parts, proof=proof.stats)

    def _common(self, last: RobustnessAnswer | None) -> dict[str, Any]:
        """What all answers have; `last` is the answer about the program that the user will go on with."""
        findings = {"exhaustive": False, "race": None, "assertion": None, "warnings": ()}
        if last is not None:
            findings = {name: getattr(last, name) for name in findings}
        return {
            "file": self._program.file,
            "question": "fix",
            "model": self._model,
            "stats": self._checks.spent,
            **findings,
        }

    def _made(self, chosen: Iterable[int]) -> list[Change]:
        return [self._changes[number] for number in sorted(chosen)]

    def _repair(self, chosen: frozenset[int]) -> dict[str, Any]:
        """The parts of an answer that say what the repair is."""
        changes = self._made(chosen)
        text = repaired_text(self._program, changes)
        return {
            "edits": edits_of(self._program, changes, self._prices),
            "cost": self._prices.cost(sum(self._prices.price(change.kind) for change in changes)),
            "diff": text.diff,
            "repaired": text.text,
        }
