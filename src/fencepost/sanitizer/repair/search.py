"""`fix` and `relax` for compiled programs: from a command to an answer.

Whether all executions are run or only many is decided by the first look at the program: if it does not come
to its end, all further looks are runs by chance. These are repeated with other seeds before the answer is
given; if they show something, the search goes on with what they have shown.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from fencepost.cheapest.search import Chosen, Found, cheapest_repair
from fencepost.sanitizer.repair.changes import Kind, Offered, Prices, Target, strengthenings, weakenings
from fencepost.sanitizer.repair.checks import OUT_OF_TIME, Checks, OutOfTimeError
from fencepost.sanitizer.repair.executions import Asking, Execution, Executions, How, Look
from fencepost.sanitizer.run.runs import InterruptedRunsError
from fencepost.verdicts import Stats
from fencepost.verdicts.program_changes import (
    AnyProgramFix,
    AnyProgramRelax,
    NeededOrder,
    PricedChange,
    ProgramNotRelaxable,
    ProgramNotRepairable,
    ProgramRelaxed,
    ProgramRelaxedAsSeen,
    ProgramRelaxUnknown,
    ProgramRepaired,
    ProgramRepairedAsSeen,
    ProgramRepairUnknown,
)
from fencepost.verdicts.run import Finding
from fencepost.verdicts.sites import Site, SiteChange

RUNS = 100  # of each schedule, where not all executions can be run
_SHARE_OF_FIRST_LOOK = 0.1  # of all the time
_MOST_FOR_FIRST_LOOK = 30.0
_MOST_ROUNDS = 20  # of searches that further runs have shown to be wrong

# What a site is when it is one step weaker than by the kind alone.
_NEXT_WEAKER: dict[Kind, tuple[Kind, ...]] = {
    "sc-load": ("acquire-load",),
    "sc-store": ("release-store",),
    "sc-rmw": ("acquire-rmw", "release-rmw", "sc-success"),
    "sc-success": ("acquire-success", "release-rmw"),
    "acquire-rmw": ("acquire-success",),
    "sc-fence": ("acquire-fence", "release-fence"),
}


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """What is asked for. `costs` differ from those of the target; `without` names kinds not to be offered;
    `seconds` is for everything together."""

    asking: Asking
    target: Target = "generic"
    costs: Mapping[str, float]
    without: tuple[str, ...] = ()
    seconds: float | None = None
    saying: Callable[[str], None] = lambda _: None


def fix(wanted: Wanted) -> AnyProgramFix:
    return _Fixing(wanted).answer()


def relax(wanted: Wanted) -> AnyProgramRelax:
    return _Relaxing(wanted).answer()


class _Search:
    """What both have in common."""

    question = ""

    def __init__(self, wanted: Wanted) -> None:
        self.wanted = wanted
        self.prices = Prices(wanted.target, wanted.costs)
        self.executions = Executions(wanted.asking)
        self.runs = wanted.asking.runs
        self.started = time.monotonic()
        self.deadline = None if wanted.seconds is None else self.started + wanted.seconds
        self.tried = 0
        self.failures: tuple[str, ...] = ()

    def first_look(self) -> Look:
        """At the program as it is; decides whether all executions are run from now on."""
        if self.runs is not None:
            return self.noted(self.executions.all((), self.how(self.wanted.seconds)))
        limit = _MOST_FOR_FIRST_LOOK
        if self.wanted.seconds is not None:
            limit = min(limit, max(_SHARE_OF_FIRST_LOOK * self.wanted.seconds, 1.0))
        look = self.executions.all((), self.how(limit))
        if not look.why or look.interrupted:
            return self.noted(look)
        self.runs = RUNS
        more = self.executions.all((), self.how(self.seconds_left()))
        together = Look(
            executions=look.executions + more.executions,
            failures=tuple(dict.fromkeys(look.failures + more.failures)),
            made=look.made + more.made,
            why=more.why,
            interrupted=more.interrupted,
        )
        return self.noted(together)

    def how(self, seconds: float | None) -> How:
        return How(runs=self.runs, seconds=seconds, saying=self.wanted.saying)

    def noted(self, look: Look) -> Look:
        self.failures = look.failures
        return look

    def seconds_left(self) -> float | None:
        return None if self.deadline is None else max(self.deadline - time.monotonic(), 1.0)

    def _is_late(self) -> bool:
        return self.deadline is not None and time.monotonic() > self.deadline

    def searched(
        self, offer: Callable[[tuple[Site, ...]], Offered], bad: Iterable[Execution]
    ) -> tuple[Found, Checks]:
        """A cheapest set, and the checks, whose `offered` may have grown with the sites that were seen."""
        bad = tuple(bad)
        for _ in range(_MOST_ROUNDS):
            offered = offer(self.executions.sites.sites)
            checks = Checks(self.executions, offered, self.runs, self.deadline, self.wanted.saying)
            checks.add(bad)
            found = self._cheapest(checks)
            self.tried += found.checks
            if found.why and self.runs is None and not found.interrupted and not self._is_late():
                self.runs = RUNS  # it could be explored once, and then no more
                bad = tuple(checks.bad)
                continue
            if found.why or found.best is None or self.runs is None:
                return found, checks
            again = checks.look(found.best, first_seed=1 + 10 * self.runs)
            grown = offer(self.executions.sites.sites) != offered
            if not again.executions and not grown:
                return (replace(found, why=OUT_OF_TIME) if again.late else found), checks
            bad = tuple(dict.fromkeys((*checks.bad, *again.executions)))
        return found, checks

    def _cheapest(self, checks: Checks) -> Found:
        candidates = checks.offered.candidates
        return cheapest_repair(
            [self.prices.price(one) for one in candidates],
            checks,
            # Of changes that cost the same: orders rather than fences, not seq_cst, and behind writes.
            discouraged=[
                8 * (one.side != "here")
                + 4 * one.kind.startswith("sc-")
                + 2 * (one.kind == "acquire-rmw")
                + (one.side == "before") * (one.site.operation in ("load", "store"))
                for one in candidates
            ],
            deadline=self.deadline,
        )

    def priced(self, offered: Offered, chosen: Chosen, had: Chosen) -> tuple[PricedChange, ...]:
        def cost(numbers: Iterable[int], site: Site) -> float:
            of_site = (offered.candidates[n] for n in numbers if offered.candidates[n].site == site)
            return self.prices.cost(sum(map(self.prices.price, of_site)))

        return tuple(
            PricedChange(
                change=change,
                kinds=tuple(
                    dict.fromkeys(
                        offered.candidates[n].kind
                        for n in sorted(chosen)
                        if offered.candidates[n].site == change.site
                    )
                ),
                cost=cost(chosen, change.site),
                saves=round(cost(had, change.site) - cost(chosen, change.site), 2) if had else 0.0,
            )
            for change in offered.changes(chosen)
        )

    def cost_of(self, offered: Offered, chosen: Iterable[int]) -> float:
        return self.prices.cost(sum(self.prices.price(offered.candidates[n]) for n in chosen))

    def common(self) -> dict[str, Any]:
        asking = self.wanted.asking
        return {
            "file": asking.command[0],
            "model": "cpp20",
            "question": self.question,
            "command": asking.command,
            "tests": tuple(test.name for test in asking.tests if test.name),
            "target": self.wanted.target,
            "stats": Stats(seconds=round(time.monotonic() - self.started, 6)),
            "sites": len(self.executions.sites.sites),
            "checks": self.tried,
            "runs": self.executions.made,
            "replays": self.executions.replays,
            "sampled": self.runs,
            "failures": self.failures,
            "exhaustive": self.runs is None,
        }

    def of_found(self, found: Found, checks: Checks, had: Chosen = frozenset()) -> dict[str, Any]:
        known = {"lower_bound": self.prices.cost(found.lower_bound)}
        if found.best is None:
            return known
        return {
            **known,
            "changes": self.priced(checks.offered, found.best, had),
            "cost": self.cost_of(checks.offered, found.best),
        }


class _Fixing(_Search):
    question = "fix-program"

    def answer(self) -> AnyProgramFix:
        try:
            return self._answer()
        except (InterruptedRunsError, KeyboardInterrupt):
            return ProgramRepairUnknown(**self.common(), why="the search was interrupted", interrupted=True)
        except OutOfTimeError:
            return ProgramRepairUnknown(**self.common(), why=OUT_OF_TIME)

    def _answer(self) -> AnyProgramFix:
        first = self.first_look()
        if first.interrupted:
            return ProgramRepairUnknown(**self.common(), why="the search was interrupted", interrupted=True)
        without = self.wanted.without
        found, checks = self.searched(lambda sites: strengthenings(sites, without), first.executions)
        changes = self.of_found(found, checks)
        if found.why:
            return ProgramRepairUnknown(
                **self.common(), **changes, why=found.why, interrupted=found.interrupted
            )
        if found.best is None:
            everything = frozenset(range(len(checks.offered.candidates)))
            left = (checks.finding_in(one, everything) for one in checks.bad)
            findings = {one.id: one for one in left if one is not None}
            return ProgramNotRepairable(**self.common(), **changes, findings=tuple(findings.values()))
        kind = ProgramRepaired if self.runs is None else ProgramRepairedAsSeen
        return kind(**self.common(), **changes)


class _Relaxing(_Search):
    question = "relax-program"

    def answer(self) -> AnyProgramRelax:
        try:
            return self._answer()
        except (InterruptedRunsError, KeyboardInterrupt):
            return ProgramRelaxUnknown(**self.common(), why="the search was interrupted", interrupted=True)
        except OutOfTimeError:
            return ProgramRelaxUnknown(**self.common(), why=OUT_OF_TIME)

    def _answer(self) -> AnyProgramRelax:
        first = self.first_look()
        if first.executions:
            left = tuple(one.finding for one in first.executions)
            return ProgramNotRelaxable(**self.common(), findings=left)
        if first.interrupted:
            return ProgramRelaxUnknown(**self.common(), why="the search was interrupted", interrupted=True)
        found, checks = self.searched(lambda sites: weakenings(sites)[0], ())
        offered, had = weakenings(checks.offered.sites)
        changes = self.of_found(found, checks, had) | {"cost_before": self.cost_of(offered, had)}
        if found.why or found.best is None:
            why = found.why or "what is needed is not among the orders of the program"
            return ProgramRelaxUnknown(**self.common(), **changes, why=why, interrupted=found.interrupted)
        needed = tuple(self._needed(checks, found.best))
        kind = ProgramRelaxed if self.runs is None else ProgramRelaxedAsSeen
        return kind(**self.common(), **changes, needed=needed)

    def _needed(self, checks: Checks, chosen: Chosen) -> Iterable[NeededOrder]:
        """Each order that stays, and what goes wrong with the next weaker one."""
        offered = checks.offered
        numbers = {(one.site, one.kind): number for number, one in enumerate(offered.candidates)}
        for number in sorted(chosen):
            site, kind, _ = offered.candidates[number]
            instead = {numbers.get((site, weaker)) for weaker in _NEXT_WEAKER.get(kind, ())} - {None}
            weaker = chosen - {number} | {n for n in instead if n is not None}
            yield NeededOrder(
                change=_at(offered, chosen, site),
                kind=kind,
                weaker=_at(offered, weaker, site),
                finding=_finding_with(checks, weaker),
            )


def _finding_with(checks: Checks, chosen: Chosen) -> Finding | None:
    known = (checks.finding_in(one, chosen) for one in checks.bad)
    found = next((one for one in known if one is not None), None)
    return found or next((one.finding for one in checks.look(chosen).executions), None)


def _at(offered: Offered, chosen: Iterable[int], site: Site) -> SiteChange:
    """What the choice makes of the site, compared with how it was compiled."""
    changes = (change for change in offered.changes(chosen) if change.site == site)
    return next(changes, SiteChange(site=site))
