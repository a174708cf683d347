"""What values of different places have to do with each other, as renamings of values ask it.

Places between which values are moved, or whose values are compared, have one sort.
"""

from __future__ import annotations

from collections.abc import Hashable

from fencepost.program import (
    BlockingCompareExchange,
    CellAccess,
    CompareExchange,
    Exchange,
    Expression,
    Store,
    Wait,
)


class JoinedNodes:
    """Classes of nodes; those that are joined are in one."""

    def __init__(self) -> None:
        self._above: dict[Hashable, Hashable] = {}

    def of(self, node: Hashable) -> Hashable:
        """The node that stands for all in the class."""
        root = node
        while root in self._above:
            root = self._above[root]
        while node != root:
            self._above[node], node = root, self._above[node]
        return root

    def join(self, a: Hashable, b: Hashable) -> None:
        a, b = self.of(a), self.of(b)
        if a != b:
            self._above[a] = b


def written_or_compared(access: CellAccess) -> tuple[Expression, ...]:
    """The values that the access writes to its cell, or compares with what the cell holds."""
    match access:
        case Store(_, value) | Exchange(_, _, value):
            return (value,)
        case CompareExchange(_, _, expected, desired) | BlockingCompareExchange(_, expected, desired):
            return (expected, desired)
        case Wait(_, _, awaited):
            return awaited
        case _:
            return ()
