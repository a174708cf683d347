"""The answers to `fix` and `relax` about compiled programs.

The verdict is about the changed program: `robust` if all its executions were run and none shows anything,
`not-seen` if only some were, `not-robust` if no changes that were offered repair the program (`fix`) or if
it is not robust, or has a data race, as it is (`relax`), and `unknown` if the search reached a limit. An
unknown answer may still hold changes: the cheapest ones known.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from fencepost.memory_models import EXIT_HOLDS, EXIT_UNDECIDED, EXIT_VIOLATED
from fencepost.verdicts.answers import Answer
from fencepost.verdicts.patches import ByHand
from fencepost.verdicts.run import Finding
from fencepost.verdicts.sites import SiteChange


class PricedChange(msgspec.Struct, frozen=True, kw_only=True):
    """What becomes of one site. `kinds` are the changes that this takes, and `cost` is their sum; of `relax`,
    the orders that the site keeps, and what they cost. `saves` is what these orders cost less than before."""

    change: SiteChange
    kinds: tuple[str, ...]
    cost: float
    saves: float = 0.0


class NeededOrder(msgspec.Struct, frozen=True, kw_only=True):
    """One order that stays: `change` has it, and `kind` says which. `weaker` is the site one step
    weaker, and `finding` what an execution shows then; its schedule is that of the execution."""

    change: SiteChange
    kind: str
    weaker: SiteChange
    finding: Finding | None = None


class ChangesAnswer(Answer, frozen=True, kw_only=True):
    """What both kinds of answers have.

    The `changes` cost `cost`, and no others that do it cost less than `lower_bound`; `sites` is the number of
    operations and fences that were seen. `checks` sets of changes were tried, with `runs` executions and
    `replays` repetitions of one. Of each set, all executions were run, or, with `sampled`, so many runs of
    each of two schedules. `failures` are deadlocks and failures of the program's own, which no order removes.
    `findings` are those that are left, where nothing repairs the program. `diff` are the changes as a unified
    diff of the sources, but for those to be made `by_hand`, each with what to do; if there is neither,
    `no_diff` says why.
    """

    command: tuple[str, ...]
    tests: tuple[str, ...] = ()
    target: str = "generic"
    changes: tuple[PricedChange, ...] | None = None
    cost: float | None = None
    lower_bound: float = 0.0
    sites: int = 0
    checks: int = 0
    runs: int = 0
    replays: int = 0
    sampled: int | None = None
    failures: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    diff: str = ""
    by_hand: tuple[ByHand, ...] = ()
    no_diff: str = ""

    @property
    def exit_code(self) -> int:
        if self.holds is None:
            return EXIT_UNDECIDED
        return EXIT_HOLDS if self.holds and not self.failures else EXIT_VIOLATED


class FixedAnswer(ChangesAnswer, frozen=True, kw_only=True):
    question: Literal["fix-program"]


class ProgramRepaired(FixedAnswer, frozen=True, kw_only=True, tag="robust"):
    holds = True


class ProgramRepairedAsSeen(FixedAnswer, frozen=True, kw_only=True, tag="not-seen"):
    holds = True


class ProgramNotRepairable(FixedAnswer, frozen=True, kw_only=True, tag="not-robust"):
    holds = False


class ProgramRepairUnknown(FixedAnswer, frozen=True, kw_only=True, tag="unknown"):
    """`why` says which limit ended the search, or that the user did."""

    holds = None
    why: str
    interrupted: bool = False


class RelaxedAnswer(ChangesAnswer, frozen=True, kw_only=True):
    """The orders of the program as it is cost `cost_before`; `needed` says why the rest stays."""

    question: Literal["relax-program"]
    cost_before: float = 0.0
    needed: tuple[NeededOrder, ...] = ()


class ProgramRelaxed(RelaxedAnswer, frozen=True, kw_only=True, tag="robust"):
    holds = True


class ProgramRelaxedAsSeen(RelaxedAnswer, frozen=True, kw_only=True, tag="not-seen"):
    holds = True


class ProgramNotRelaxable(RelaxedAnswer, frozen=True, kw_only=True, tag="not-robust"):
    holds = False


class ProgramRelaxUnknown(RelaxedAnswer, frozen=True, kw_only=True, tag="unknown"):
    """`why` says which limit ended the search, or that the user did."""

    holds = None
    why: str
    interrupted: bool = False


AnyProgramFix = ProgramRepaired | ProgramRepairedAsSeen | ProgramNotRepairable | ProgramRepairUnknown
AnyProgramRelax = ProgramRelaxed | ProgramRelaxedAsSeen | ProgramNotRelaxable | ProgramRelaxUnknown
