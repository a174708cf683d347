"""Where to look first: findings in groups by their two source lines, and ranked by what could come of them.

The rank rests on what the runs have shown: `same`, each older value was equal to the one that was read;
`compared`, the next operation of the thread was always a compare-and-exchange of the location with the value
that it had read; `waits`, the access was seen to wait in a loop; `used`, all else. None of them proves that a
finding does no harm.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from typing import get_args

from fencepost.sanitizer.answer.tally import Seen
from fencepost.sanitizer.run.events import Place, RawFinding
from fencepost.verdicts.run import Access, Finding, Rank, caller_of_wrapper, places

RANKS: tuple[Rank, ...] = get_args(Rank)


def rank_of(seen: Seen[RawFinding], waits: Callable[[Place], bool]) -> Rank:
    """`waits`: was it seen to wait there?"""
    known = [uses for uses in seen.uses if uses is not None]
    if seen.what.kind == "robustness" and known and len(known) == len(seen.uses):
        others = sum(uses.times - uses.same for uses in known)
        if not others:
            return "same"
        if others == sum(uses.compared for uses in known):
            return "compared"
    return "waits" if any(map(waits, seen.what.by.stack)) else "used"


def worst(ranks: Iterable[Rank]) -> Rank:
    return min(ranks, key=RANKS.index)


def group_of(access: Access, missed: Access | None) -> str:
    """The same for findings at the same two lines; for lines in a wrapper its callers count too."""
    words = [line for one in (access, missed) if one is not None for line in _lines(one)]
    return hashlib.sha256("\0".join(words).encode("utf-8", "replace")).hexdigest()[:8]


def _lines(access: Access) -> list[str]:
    frames = [*places(access.stack)[-1:], caller_of_wrapper(access.stack)]
    return [f"{one.file or one.module}:{one.line or one.offset}" for one in frames if one is not None]


def in_groups(findings: Sequence[Finding]) -> list[list[Finding]]:
    """Those with harm shown first, then those with the worst rank, then as they were first seen; in a group
    likewise."""
    groups: dict[str, list[Finding]] = {}
    for finding in findings:
        groups.setdefault(f"{finding.kind} {finding.group}", []).append(finding)
    for group in groups.values():
        group.sort(key=_position)
    return sorted(groups.values(), key=lambda group: _position(group[0]))


def _position(finding: Finding) -> tuple[bool, int]:
    return finding.harm is None or not finding.harm.shown, RANKS.index(finding.rank)
