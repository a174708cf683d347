"""What the answers to `fix` and to `relax` about programs in text have in common."""

from __future__ import annotations

from fencepost.verdicts.answers import Answer, Stats


class ChangedAnswer(Answer, frozen=True, kw_only=True):
    """The changes cost `cost` (of `relax`: the orders do), None if none are known; no others that do it cost
    less than `lower_bound`. `diff` has them as a unified diff; `in_place` says whether that is of the user's
    own text, or of the program written anew. `proof` is what it took to check the changed program once more
    in the end, `stats` what everything took; the search tried `checks` choices.
    """

    cost: float | None
    lower_bound: float
    checks: int = 0
    diff: str = ""
    in_place: bool = False
    proof: Stats | None = None
