"""Which findings and deadlocks an answer leaves out: what is suppressed, and what is inside of libstdc++."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fencepost.sanitizer.answer.findings import names_in
from fencepost.sanitizer.answer.suppressions import (
    Suppression,
    is_internal,
    is_suppressed,
    read_suppressions,
)
from fencepost.verdicts.run import Deadlock, Finding


@dataclass(frozen=True, kw_only=True)
class LeftOut:
    suppressions: Sequence[Suppression] = ()
    internals: bool = False  # are those inside of libstdc++ wanted?


def read_left_out(suppressions: str | None, *, internals: bool = False) -> LeftOut:
    """With the suppressions in this file, if there is one."""
    return LeftOut(suppressions=read_suppressions(suppressions) if suppressions else (), internals=internals)


def is_left_out(one: Finding | Deadlock, left_out: LeftOut) -> bool:
    if isinstance(one, Deadlock):
        return is_suppressed("deadlock", names_in(one), left_out.suppressions)
    if not left_out.internals and is_internal(one.access, one.missed):
        return True
    return is_suppressed(one.kind, names_in(one), left_out.suppressions)
