"""What must not be reached: sets of states that a certificate keeps the program away from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

NodePredicate = Callable[[int, tuple[int, ...]], bool]  # of a position and registers


@dataclass(frozen=True)
class Bad:
    """Each thread stands at a node of which its predicate holds, or anywhere if it has none.

    With `memory`, the last write to each of these cells has this value. With `race` = (thread, cell), the
    thread can still read a write to the cell that has been overwritten: a write/write race, if it is about to
    write the cell (design.md, section 6).
    """

    nodes: tuple[NodePredicate | None, ...]
    memory: tuple[tuple[int, int], ...] = ()
    race: tuple[int, int] | None = None
