"""What is the cheapest set of fences that makes a program persistent or robust against TSO?

A minimum over both is the cheaper one of the two minima. Persistence comes first, since one search finds all
that it takes; the search for robustness ends as soon as it cannot be cheaper any more.
"""

from __future__ import annotations

import time
from typing import Protocol

from msgspec.structs import asdict, replace

from fencepost.engine.search import Limits
from fencepost.memory_models import EITHER
from fencepost.verdicts.repair import (
    FixAnswer,
    MadePersistent,
    NotRepairable,
    Repaired,
    RepairUnknown,
    StillFragile,
)


class Repair(Protocol):
    """The repair for one criterion; undecided once it is known to cost no less than `most`."""

    def __call__(self, criterion: str, limits: Limits, most: float | None = None) -> FixAnswer: ...


def fix_for_either(repair: Repair, limits: Limits, *, find_all: bool) -> FixAnswer:
    started = time.monotonic()
    first = repair("persistent", limits)
    is_over = first.cost == 0 or (isinstance(first, RepairUnknown) and first.interrupted)
    if is_over or (isinstance(first, StillFragile) and first.witness is None):  # no fence removes a race
        return _relabelled(first)
    second = repair("robust", limits.after(time.monotonic() - started), first.cost)
    both = _cheaper(first, second, find_all=find_all)
    return replace(both, stats=first.stats + second.stats, checks=first.checks + second.checks)


def _relabelled(answer: FixAnswer) -> FixAnswer:
    if isinstance(answer, StillFragile):
        answer = NotRepairable(**asdict(answer))
    return replace(answer, criterion=EITHER)


def _cheaper(first: FixAnswer, second: FixAnswer, *, find_all: bool) -> FixAnswer:
    """The answer about both; `find_all` if it is to list every minimum."""
    best, other = (second, first) if _cost(second) < _cost(first) else (first, second)
    bound = min(_bound(first), _bound(second))
    is_minimum = isinstance(best, MadePersistent | Repaired) and best.cost == bound
    lists_all = not isinstance(other, RepairUnknown) or other.lower_bound > bound
    if is_minimum and (lists_all or not find_all):
        more = other.minima if other.cost == best.cost else ()
        new = tuple(edits for edits in more if edits not in best.minima)
        return _relabelled(replace(best, minima=best.minima + new))
    undecided = next((answer for answer in (other, best) if isinstance(answer, RepairUnknown)), None)
    if undecided is None:
        return _relabelled(second)
    known = asdict(best) | {"lower_bound": bound, "why": undecided.why}
    return _relabelled(RepairUnknown(**known | {"interrupted": undecided.interrupted}))


def _cost(answer: FixAnswer) -> float:
    return float("inf") if answer.cost is None else answer.cost


def _bound(answer: FixAnswer) -> float:
    """No repair for its criterion costs less."""
    return float("inf") if answer.holds is False else answer.lower_bound
