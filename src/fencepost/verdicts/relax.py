"""The answers to `relax`.

The verdict is about the relaxed program. It is `robust` if the cheapest orders were found and proven to be
so, `not-robust` if the program is not robust, or not free of data races, as it is, and `unknown` if the
search reached a limit. An unknown answer may still hold weaker orders: the cheapest known. Where the program
need not stay robust but only safe (`--keep races,assertions`), `safe` and `unsafe` take the place of `robust`
and `not-robust`, and the criterion is "safe".
"""

from __future__ import annotations

from typing import Literal

import msgspec

from fencepost.verdicts.answers import NotRobust, Robust, Unsafe
from fencepost.verdicts.changed import ChangedAnswer


class Weakening(msgspec.Struct, frozen=True, kw_only=True):
    """One statement that gets another order, or a fence that goes: then `text` is empty.

    `line`, `column` and `statement` say where, in the program as it was. `saves` is what the orders cost
    less; negative if orders are traded, and this one is stronger. A function that makes several threads is
    changed for all of them.
    """

    function: str
    line: int
    column: int
    statement: str
    text: str
    saves: float


class Needed(msgspec.Struct, frozen=True, kw_only=True):
    """One order that is needed: `statement` of the relaxed program, the next weaker `text`, empty where a
    fence would go, and in `broken` what the program would do with it."""

    function: str
    line: int
    column: int
    statement: str
    text: str
    broken: Robust | NotRobust | Unsafe


class RelaxAnswer(ChangedAnswer, frozen=True, kw_only=True):
    """What every answer to `relax` has.

    The orders of the program cost `cost_before`, and `cost` with the `weakenings`. `needed` says why the rest
    stays. `relaxed` is the text of the weaker program.
    """

    question: Literal["relax"]
    cost_before: float
    weakenings: tuple[Weakening, ...] | None
    needed: tuple[Needed, ...] = ()
    relaxed: str | None = None


class Relaxed(RelaxAnswer, frozen=True, kw_only=True, tag="robust"):
    holds = True


class NothingToRelax(RelaxAnswer, frozen=True, kw_only=True, tag="not-robust"):
    """The program itself is not robust, or has a data race: `witness` and `race` show it."""

    holds = False


class RelaxedSafe(RelaxAnswer, frozen=True, kw_only=True, tag="safe"):
    """`robust` is not claimed of the relaxed program, only that no run of it goes wrong."""

    holds = True


class UnsafeToRelax(RelaxAnswer, frozen=True, kw_only=True, tag="unsafe"):
    """The program itself goes wrong: `witness` or `race` shows how."""

    holds = False


class RelaxUnknown(RelaxAnswer, frozen=True, kw_only=True, tag="unknown"):
    """`why` says which limit ended the search, or that the user did."""

    holds = None
    why: str
    interrupted: bool = False


AnyRelaxAnswer = Relaxed | NothingToRelax | RelaxedSafe | UnsafeToRelax | RelaxUnknown
