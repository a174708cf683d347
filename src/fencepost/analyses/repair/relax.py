"""Which memory orders of a program can be weakened so that it stays robust and free of data races?

All orders are taken away (`weakening`), and the cheapest of them that are needed are given back, by the
search that `fix` uses. Under C++20 a stronger order never makes a robust program not robust, so the result
is a minimum: no other choice of orders, none of them stronger than the program's own, costs less. With
`trade` accesses may also become stronger than they were, if that saves more elsewhere.

What is kept can also be less than robustness: that no run has a data race or goes wrong otherwise, as
`verify` decides it. Stronger orders never add a run, so the result is a minimum here too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal, NamedTuple

from fencepost.analyses.repair.changes import apply
from fencepost.analyses.repair.checks import Checks, FixWatcher, RobustnessChecks, findings_of
from fencepost.analyses.repair.costs import Prices
from fencepost.analyses.repair.edits import changed_statement, text_of_relaxed
from fencepost.analyses.repair.weakening import NEXT_WEAKER, Weakest, weakest, without_skips
from fencepost.cheapest.search import Found, cheapest_repair
from fencepost.engine.search import Limits
from fencepost.memory_models import model_for
from fencepost.program import Instruction, Program, Skip
from fencepost.program.properties import Property
from fencepost.program.spelling import statement_text
from fencepost.verdicts import Answer, NotRobust, Robust, Unknown, Unsafe
from fencepost.verdicts.relax import (
    AnyRelaxAnswer,
    Needed,
    NothingToRelax,
    Relaxed,
    RelaxedSafe,
    RelaxUnknown,
    UnsafeToRelax,
    Weakening,
)

Kept = Literal["robust", "races,assertions"]  # what the program has and keeps


def relax(
    program: Program,
    model: str = "cpp20",
    *,
    costs: Mapping[str, float] | None = None,
    loop_weight: int = 1,
    trade: bool = False,
    keep: Kept = "robust",
    wanted: Property = Property(),  # noqa: B008 (a frozen value)
    limits: Limits = Limits(),  # noqa: B008 (a frozen value)
    watcher: FixWatcher | None = None,
) -> AnyRelaxAnswer:
    """The cheapest memory orders, none stronger than those of `program`, with which it is robust and has no
    data race; with `trade` they may be stronger where that costs less in all.

    If `keep` is "races,assertions" it need not be robust, only free of data races and failing assertions, and
    of what `wanted` adds to that, as for `verify`. Raises `InputError` if there is nothing of all this.

    `costs` and `loop_weight` are as for `fix`; `limits.seconds` is for everything together, the other limits
    are for each check.
    """
    model_for("relax", model)
    prices = Prices(costs or {}, loop_weight)
    start = weakest(program, model, trade=trade)
    checks: Checks
    if keep == "robust":
        checks = RobustnessChecks(start.offered, limits, prices, watcher, repair_races=True)
    else:
        from fencepost.analyses.repair.safety_checks import SafetyChecks  # imports all of `verify`

        checks = SafetyChecks(start.offered, wanted, limits, prices, watcher)
    answers = _Answers(program, start, prices, checks, keep)
    first = checks.answer(program)
    if isinstance(first, Unknown):
        return answers.undecided(first.why, interrupted=first.interrupted)
    if not first.holds or first.race is not None:
        return answers.nothing_to_relax(first)
    changes = start.offered.changes
    found = cheapest_repair(
        [prices.price(change) for change in changes],
        checks,
        # Of orders that cost the same, those that are not seq_cst, and of these the ones outside loops.
        discouraged=[100 * change.kind.startswith("sc-") + change.loops for change in changes],
        deadline=checks.deadline,
        time_limit=limits.time_limit,
        watcher=checks.note,
    )
    return answers.of_search(found)


class _Answers:
    """From what was found to what the user gets."""

    def __init__(self, program: Program, start: Weakest, prices: Prices, checks: Checks, keep: Kept) -> None:
        self._program = program
        self._offered = start.offered
        self._had = start.had
        self._prices = prices
        self._checks = checks
        self._keep = keep

    def nothing_to_relax(self, first: Answer) -> NothingToRelax | UnsafeToRelax:
        kind = NothingToRelax if self._keep == "robust" else UnsafeToRelax
        return kind(**self._common(first), witness=first.witness, lower_bound=0, **_NOTHING_KNOWN)

    def undecided(self, why: str, *, interrupted: bool) -> RelaxUnknown:
        common = self._common(None)
        return RelaxUnknown(**common, lower_bound=0, **_NOTHING_KNOWN, why=why, interrupted=interrupted)

    def of_search(self, found: Found) -> AnyRelaxAnswer:
        bound = self._prices.cost(found.lower_bound)
        known = _NOTHING_KNOWN if found.best is None else self._relaxed(found.best)
        known = {**known, "lower_bound": bound, "checks": found.checks}
        if found.why or found.best is None:
            common = self._common(None)
            return RelaxUnknown(**common, **known, why=found.why, interrupted=found.interrupted)
        proof = self._checks.answer(self._made(found.best), in_time=False)
        if isinstance(proof, Unknown):
            why = f"{proof.why}, in the final check"
            return RelaxUnknown(**self._common(proof), **known, why=why, interrupted=proof.interrupted)
        assert proof.holds, "the relaxed program does not keep what it should after all"
        assert proof.race is None, "the relaxed program has a race after all"
        needed = tuple(self._needed(found.best))
        kind = Relaxed if self._keep == "robust" else RelaxedSafe
        return kind(**self._common(proof), **known, needed=needed, proof=proof.stats)

    def _common(self, last: Answer | None) -> dict[str, Any]:
        return {
            "file": self._program.file,
            "question": "relax",
            "model": self._offered.model,
            "criterion": "robust" if self._keep == "robust" else "safe",
            "stats": self._checks.spent,
            "cost_before": self._cost(self._had),
            **findings_of(last),
        }

    def _made(self, chosen: frozenset[int]) -> Program:
        return apply(self._offered.program, (self._offered.changes[n] for n in chosen)).program

    def _cost(self, chosen: frozenset[int]) -> float:
        return self._prices.cost(sum(self._prices.price(self._offered.changes[n]) for n in chosen))

    def _relaxed(self, chosen: frozenset[int]) -> dict[str, Any]:
        """The parts of an answer that say what the relaxed program is."""
        weaker = self._made(chosen)
        replaced = [(site.of(self._program), site.of(weaker)) for site in self._sites()]
        text = text_of_relaxed(
            self._program,
            without_skips(weaker, self._program),
            [(old, new) for old, new in replaced if old != new],
        )
        return {
            "weakenings": tuple(self._weakenings(weaker, chosen)),
            "cost": self._cost(chosen),
            "diff": text.diff,
            "relaxed": text.text,
            "in_place": text.in_place,
        }

    def _weakenings(self, weaker: Program, chosen: frozenset[int]) -> Iterator[Weakening]:
        for site in self._sites():
            old, new = site.of(self._program), site.of(weaker)
            if old != new:
                yield Weakening(
                    **self._place(site),
                    statement=statement_text(self._program, old),
                    text=self._spelled(old, new),
                    saves=self._cost(self._had & site.orders) - self._cost(chosen & site.orders),
                )

    def _needed(self, chosen: frozenset[int]) -> Iterator[Needed]:
        """Each order that stays, with what the program would do if it were one step weaker."""
        stays = self._made(chosen)
        for site in self._sites():
            kinds = {self._offered.changes[n].kind: n for n in site.orders}
            for number in sorted(chosen & site.orders):
                kind = self._offered.changes[number].kind
                instead = {kinds[weaker] for weaker in NEXT_WEAKER.get(kind, ())}
                weaker = self._made(chosen - {number} | instead)
                broken = self._checks.answer(weaker, in_time=False)
                if isinstance(broken, NotRobust | Unsafe) or (
                    isinstance(broken, Robust) and broken.race is not None
                ):
                    old = site.of(self._program)
                    yield Needed(
                        **self._place(site),
                        statement=self._spelled(old, site.of(stays)),
                        text=self._spelled(old, site.of(weaker)),
                        broken=broken,
                    )

    def _sites(self) -> list[_Site]:
        """The statements that have an order, in the order of the text."""
        orders: dict[tuple[int, int], set[int]] = {}
        for number, change in enumerate(self._offered.changes):
            orders.setdefault((change.threads[0], change.pc), set()).add(number)
        sites = [_Site(thread, pc, frozenset(numbers)) for (thread, pc), numbers in orders.items()]
        return sorted(sites, key=lambda site: (site.at(self._program), site.thread, site.pc))

    def _place(self, site: _Site) -> dict[str, Any]:
        line, column = site.at(self._program)
        return {"function": self._program.threads[site.thread].family, "line": line, "column": column}

    def _spelled(self, old: Instruction, new: Instruction) -> str:
        """Nothing for a fence that is gone."""
        return "" if isinstance(new, Skip) else changed_statement(self._program, old, new)


class _Site(NamedTuple):
    """A statement that has an order, and the numbers of the changes that give it one."""

    thread: int
    pc: int
    orders: frozenset[int]

    def of(self, program: Program) -> Instruction:
        return program.threads[self.thread].code[self.pc]

    def at(self, program: Program) -> tuple[int, int]:
        at = self.of(program).at
        return at.line, at.column


_NOTHING_KNOWN: dict[str, Any] = {"cost": None, "weakenings": None}
