"""Repair: the cheapest changes that make a program robust against a memory model.

What can be changed is in `changes`, the search in `repair`. Here are the check of a set of changes, which
asks the engine and learns from its violations (`violation_replay`), and the answer: the changes as edits of
the user's text, and the repaired program checked once more.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from fencepost.analyses.repair.changes import Change, apply, candidates, kinds_for
from fencepost.analyses.repair.checks import Checks, FixWatcher
from fencepost.analyses.repair.costs import Prices, check_kind
from fencepost.analyses.repair.edits import edits_of, repaired_text
from fencepost.analyses.repair.search import Fails, Found, Holds, Undecided, cheapest_repair
from fencepost.analyses.repair.tso import TsoChecks
from fencepost.analyses.repair.violation_replay import Offered, ReplayedViolation
from fencepost.analyses.robustness import robust, search
from fencepost.engine._native import Outcome
from fencepost.engine.search import Limits, Watcher
from fencepost.memory_models import model_for
from fencepost.program import Program
from fencepost.verdicts import Answer, RobustnessAnswer, Unknown
from fencepost.verdicts.repair import (
    Edit,
    FixAnswer,
    MadePersistent,
    NotRepairable,
    Repaired,
    RepairUnknown,
    StillFragile,
)


def fix(
    program: Program,
    model: str = "ra",
    *,
    criterion: str | None = None,
    costs: Mapping[str, float] | None = None,
    loop_weight: int = 1,
    without: Collection[str] = (),
    find_all: bool = False,
    limits: Limits = Limits(),  # noqa: B008 (a frozen value)
    watcher: FixWatcher | None = None,
) -> FixAnswer:
    """A cheapest set of changes that makes `program` robust against `model`; with `find_all` every one.

    Against TSO, `criterion` is "persistent" (the default), "robust" or "trf". `costs` says what changes cost
    where that is not the default (`changes.DEFAULT_COSTS`), times `loop_weight` for each loop around the
    place; changes of the kinds in `without` are not made. `limits.seconds` is for everything together, the
    other limits are for each check of a set of changes.
    """
    criteria = model_for("fix", model).criteria["fix"]
    criterion = criterion or criteria[0]
    if criterion not in criteria:
        raise ValueError(f"criterion {criterion!r} does not go with model {model!r}")
    for kind in without:
        check_kind(kind)
    prices = Prices(costs or {}, loop_weight)
    kinds = [kind for kind in kinds_for(model) if kind not in without]
    offered = Offered(program, model, candidates(program, model, kinds))
    checks: Checks
    if model == "tso":
        checks = TsoChecks(offered, criterion, limits, prices, watcher)
    else:
        checks = _RobustnessChecks(offered, limits, prices, watcher)
    answers = _Answers(offered, criterion, prices, checks)
    first = checks.answer(program)
    if first.holds is not False:
        return answers.without_search(first)
    found = cheapest_repair(
        [prices.price(change) for change in offered.changes],
        checks,
        discouraged=[change.loops for change in offered.changes],
        find_all=find_all,
        deadline=checks.deadline,
        watcher=checks.note,
    )
    return answers.of_search(found, find_all=find_all)


class _RobustnessChecks(Checks):
    """Is the program robust with the changes? Learns from each violation (`violation_replay`)."""

    def __init__(self, offered: Offered, limits: Limits, prices: Prices, watcher: FixWatcher | None) -> None:
        super().__init__(limits, prices, watcher)
        self._offered = offered
        self._violations: list[ReplayedViolation] = []

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
        self._count(result)
        match result.outcome:
            case Outcome.COMPLETE:
                return Holds()
            case Outcome.VIOLATION:
                assert result.violation is not None
                self._violations.append(ReplayedViolation(self._offered, chosen, changed, result.violation))
                return Fails(tuple(self._violations[-1].conflicts(chosen)))
            case _:
                return self._undecided(changed.program, result, limits)

    def ask(self, program: Program, limits: Limits, watcher: Watcher) -> RobustnessAnswer:
        return robust(program, self._offered.model, limits=limits, watcher=watcher)


class _Answers:
    """From what was found to what the user gets."""

    def __init__(self, offered: Offered, criterion: str, prices: Prices, checks: Checks) -> None:
        self._program = offered.program
        self._model = offered.model
        self._criterion = criterion
        self._changes = offered.changes
        self._prices = prices
        self._checks = checks

    def without_search(self, first: Answer) -> FixAnswer:
        """The answer if nothing is to be repaired, or if nobody knows whether anything is."""
        common = self._common(first)
        if isinstance(first, Unknown):
            return RepairUnknown(
                **common, edits=None, cost=None, lower_bound=0, why=first.why, interrupted=first.interrupted
            )
        return self._repaired(**common, **self._repair(frozenset()), lower_bound=0, proof=first.stats)

    def of_search(self, found: Found, *, find_all: bool) -> FixAnswer:
        bound = self._prices.cost(found.lower_bound)
        if found.impossible:
            rest = self._checks.answer(apply(self._program, self._changes).program, in_time=False)
            common = {**self._common(rest), "witness": rest.witness, "checks": found.checks}
            kind = StillFragile if self._criterion == "persistent" else NotRepairable
            return kind(**common, edits=None, cost=None, lower_bound=bound)
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
        proof = self._checks.answer(repaired, in_time=False)
        common = self._common(proof)
        if isinstance(proof, Unknown):
            why = f"{proof.why}, in the final check"
            return RepairUnknown(**common, **parts, why=why, interrupted=proof.interrupted)
        assert proof.holds, "the repaired program is not right after all"
        return self._repaired(**common, **parts, proof=proof.stats)

    def _repaired(self, **parts: Any) -> Repaired | MadePersistent:
        return MadePersistent(**parts) if self._criterion == "persistent" else Repaired(**parts)

    def _common(self, last: Answer | None) -> dict[str, Any]:
        """What all answers have; `last` is the answer about the program that the user will go on with."""
        findings = {"exhaustive": False, "race": None, "assertion": None, "warnings": ()}
        if last is not None:
            findings = {name: getattr(last, name) for name in findings}
        return {
            "file": self._program.file,
            "question": "fix",
            "model": self._model,
            "criterion": self._criterion,
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
            "cost": self._prices.cost(sum(map(self._prices.price, changes))),
            "diff": text.diff,
            "repaired": text.text,
            "in_place": text.in_place,
        }
