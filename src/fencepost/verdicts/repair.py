"""The answers to `fix`: frozen values with one JSON form, as in `fencepost.verdicts`.

The verdict is about the repaired program: `robust` (or `persistent`, if that was asked for) if a repair was
found and proven to be a minimum, `not-robust` (`fragile`) if no set of the changes allowed makes the program
so, `unknown` if the search ended before its time. An unknown answer may still hold a repair: the cheapest one
known.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from fencepost.verdicts import Answer, Stats

Action = Literal["insert-before", "insert-after", "replace"]


class Edit(msgspec.Struct, frozen=True, kw_only=True):
    """One place of the program that is changed: a fence beside a statement, or a stronger statement.

    `line`, `column` and `statement` say where, in the program as it was. `text` is the new fence or the new
    statement. `kinds` are the changes that this takes, `cost` is their sum. A function that makes several
    threads is changed for all of them.
    """

    kinds: tuple[str, ...]
    action: Action
    function: str
    line: int
    column: int
    statement: str
    text: str
    cost: float


class RepairAnswer(Answer, frozen=True, kw_only=True, tag_field="verdict"):
    """What every answer to `fix` has.

    `edits` is the repair, None if none is known; `cost` is what it costs. No repair costs less than
    `lower_bound`. `minima` are all repairs that cost as little, if they were asked for. `diff` and `repaired`
    are the repair as a unified diff and as the text of the whole program; `in_place` says whether that is the
    user's own text with the edits made, or the program written anew. `proof` is what it took to check
    the repaired program once more in the end, `stats` what the search took; it tried `checks` sets of
    changes. Data races and failing assertions are those of the repaired program.
    """

    edits: tuple[Edit, ...] | None
    cost: float | None
    lower_bound: float
    minima: tuple[tuple[Edit, ...], ...] = ()
    checks: int = 0
    diff: str = ""
    repaired: str | None = None
    in_place: bool = False
    proof: Stats | None = None


class Repaired(RepairAnswer, frozen=True, kw_only=True, tag="robust"):
    @property
    def holds(self) -> bool:
        return True


class NotRepairable(RepairAnswer, frozen=True, kw_only=True, tag="not-robust"):
    """`witness` shows what is left with all the changes made."""

    @property
    def holds(self) -> bool:
        return False


class MadePersistent(RepairAnswer, frozen=True, kw_only=True, tag="persistent"):
    @property
    def holds(self) -> bool:
        return True


class StillFragile(RepairAnswer, frozen=True, kw_only=True, tag="fragile"):
    """`witness` shows what is left with all the changes made."""

    @property
    def holds(self) -> bool:
        return False


class RepairUnknown(RepairAnswer, frozen=True, kw_only=True, tag="unknown"):
    """`why` says which limit ended the search, or that the user did."""

    why: str
    interrupted: bool = False

    @property
    def holds(self) -> None:
        return None


FixAnswer = Repaired | NotRepairable | MadePersistent | StillFragile | RepairUnknown
