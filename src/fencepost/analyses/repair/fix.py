"""Repair: the cheapest changes that make a program robust against a memory model and free of data races.

What can be changed is in `changes`, whether a set of changes will do in `checks`, the search in `search`.
Here is the answer: the changes as edits of the user's text, and the repaired program checked once more.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from fencepost.analyses.model_choice import chosen_model
from fencepost.analyses.repair.changes import Change, Offered, apply, candidates, kinds_for
from fencepost.analyses.repair.checks import Checks, FixWatcher, RobustnessChecks, TsoChecks, findings_of
from fencepost.analyses.repair.costs import Prices, check_kind
from fencepost.analyses.repair.edits import edits_of, repaired_text
from fencepost.analyses.repair.either import fix_for_either
from fencepost.cheapest.search import Found, cheapest_repair
from fencepost.engine.search import Limits
from fencepost.memory_models import EITHER, MODELS
from fencepost.program import Program
from fencepost.verdicts import Answer, Unknown
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
    model: str | None = None,
    *,
    criterion: str | None = None,
    costs: Mapping[str, float] | None = None,
    loop_weight: int = 1,
    without: Collection[str] = (),
    find_all: bool = False,
    ignore_races: bool = False,
    limits: Limits = Limits(),  # noqa: B008 (a frozen value)
    watcher: FixWatcher | None = None,
) -> FixAnswer:
    """A cheapest set of changes that makes `program` robust against `model` and free of data races; with
    `find_all` every one, with `ignore_races` whether there are races or not.

    Only under RC20 can changes repair a race. Under the other models a race is one under sequential
    consistency too, which the changes leave as it is: then there is no repair.

    Against TSO, `criterion` is "persistent", "robust", "trf", or "either" (the default): the cheaper one of
    the first two, each of which implies that TSO reaches no other states than sequential consistency. The
    verdict then says which it is. For any number of threads it is "robust". `costs` says what changes cost
    where that is not the default (`changes.DEFAULT_COSTS`), times `loop_weight` for each loop around the
    place; changes of the kinds in `without` are not made. `limits.seconds` is for everything together, the
    other limits are for each check of a set of changes.
    """
    model = chosen_model(program, "fix", model)
    criteria = MODELS[model].criteria["fix"]
    criterion = criterion or ("robust" if program.templates else criteria[0])
    if criterion not in criteria:
        raise ValueError(f"criterion {criterion!r} does not go with model {model!r}")
    if criterion != "robust":
        program.require_fixed_threads(f"fix --model {model} --criterion {criterion}")
    for kind in without:
        check_kind(kind)
    prices = Prices(costs or {}, loop_weight)
    kinds = [kind for kind in kinds_for(model) if kind not in without]
    offered = Offered(program, model, candidates(program, model, kinds))

    def repair(criterion: str, limits: Limits, most: float | None = None) -> FixAnswer:
        return _fix(
            offered,
            criterion,
            prices,
            find_all=find_all,
            ignore_races=ignore_races,
            limits=limits,
            watcher=watcher,
            most=most,
        )

    return (
        fix_for_either(repair, limits, find_all=find_all)
        if criterion == EITHER
        else repair(criterion, limits)
    )


def _fix(
    offered: Offered,
    criterion: str,
    prices: Prices,
    *,
    find_all: bool,
    ignore_races: bool,
    limits: Limits,
    watcher: FixWatcher | None,
    most: float | None,
) -> FixAnswer:
    """The repair for one criterion; undecided once none costs less than `most`, with `find_all` as little."""
    program, model = offered.program, offered.model
    checks: Checks
    if model == "tso":
        checks = TsoChecks(offered, criterion, limits, prices, watcher)
    else:
        repair_races = MODELS[model].weak_fences and not ignore_races
        checks = RobustnessChecks(offered, limits, prices, watcher, repair_races=repair_races)
    answers = _Answers(offered, criterion, prices, checks, ignore_races=ignore_races)
    first = checks.answer(program)
    if answers.has_lasting_race(first):
        return answers.racy(first)
    if first.holds is None or (first.holds and (first.race is None or ignore_races)):
        return answers.without_search(first)
    found = cheapest_repair(
        [prices.price(change) for change in offered.changes],
        checks,
        discouraged=[change.loops for change in offered.changes],
        find_all=find_all,
        most=None if most is None else prices.price_of(most),
        deadline=checks.deadline,
        time_limit=limits.time_limit,
        watcher=checks.note,
    )
    return answers.of_search(found, find_all=find_all)


class _Answers:
    """From what was found to what the user gets."""

    def __init__(
        self, offered: Offered, criterion: str, prices: Prices, checks: Checks, *, ignore_races: bool
    ) -> None:
        self._program = offered.program
        self._model = offered.model
        self._criterion = criterion
        self._changes = offered.changes
        self._prices = prices
        self._checks = checks
        self._ignore_races = ignore_races

    def has_lasting_race(self, answer: Answer) -> bool:
        """Whether there is a data race that no change could remove."""
        return answer.race is not None and not self._ignore_races and not MODELS[self._model].weak_fences

    def racy(self, answer: Answer, checks: int = 0) -> FixAnswer:
        """No repair, because of such a race."""
        return self._not_repairable(**self._common(answer), lower_bound=0, checks=checks)

    def without_search(self, first: Answer) -> FixAnswer:
        """The answer if there is nothing to repair, or if the first check came to no answer."""
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
            return self._not_repairable(**common, lower_bound=bound)
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
        if self.has_lasting_race(proof):
            return self.racy(proof, found.checks)
        assert proof.race is None or self._ignore_races, "the repaired program has a race after all"
        return self._repaired(**common, **parts, proof=proof.stats)

    def _not_repairable(self, **parts: Any) -> NotRepairable | StillFragile:
        kind = StillFragile if self._criterion == "persistent" else NotRepairable
        return kind(**parts, edits=None, cost=None)

    def _repaired(self, **parts: Any) -> Repaired | MadePersistent:
        return MadePersistent(**parts) if self._criterion == "persistent" else Repaired(**parts)

    def _common(self, last: Answer | None) -> dict[str, Any]:
        """What all answers have; `last` is the answer about the program that the user will go on with."""
        return {
            "file": self._program.file,
            "question": "fix",
            "model": self._model,
            "criterion": self._criterion,
            "stats": self._checks.spent,
            **findings_of(last),
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
