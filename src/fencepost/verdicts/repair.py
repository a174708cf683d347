"""The answers to `fix`.

The verdict is about the repaired program. It is `robust` (or `persistent`, if that was asked for or is the
cheaper of the two) if a repair was found and proven to be a minimum, `not-robust` (or `fragile`) if no set of
the allowed changes repairs the program, and `unknown` if the search reached a limit. An unknown answer may
still hold a repair: the cheapest one known.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from fencepost.verdicts.changed import ChangedAnswer

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


class RepairAnswer(ChangedAnswer, frozen=True, kw_only=True):
    """What every answer to `fix` has.

    `edits` is the repair, None if none is known. `minima` are all repairs that cost as little, if they were
    asked for. `repaired` is the text of the whole program. Data races, failing assertions and deadlocks are
    those of the repaired program.
    """

    question: Literal["fix"]
    edits: tuple[Edit, ...] | None
    minima: tuple[tuple[Edit, ...], ...] = ()
    repaired: str | None = None


class Repaired(RepairAnswer, frozen=True, kw_only=True, tag="robust"):
    holds = True


class NotRepairable(RepairAnswer, frozen=True, kw_only=True, tag="not-robust"):
    """`witness` shows what is left with all the changes made."""

    holds = False


class MadePersistent(RepairAnswer, frozen=True, kw_only=True, tag="persistent"):
    holds = True


class StillFragile(RepairAnswer, frozen=True, kw_only=True, tag="fragile"):
    """`witness` shows what is left with all the changes made."""

    holds = False


class RepairUnknown(RepairAnswer, frozen=True, kw_only=True, tag="unknown"):
    """`why` says which limit ended the search, or that the user did."""

    holds = None
    why: str
    interrupted: bool = False


FixAnswer = Repaired | NotRepairable | MadePersistent | StillFragile | RepairUnknown
