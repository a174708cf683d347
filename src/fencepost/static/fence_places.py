"""Where in a thread can a fence make a difference?

A fence orders what comes before it with what comes after it, so only its place between two accesses counts.
Between two accesses that always follow each other there is one place, right before the second. Where control
flow splits after an access, or comes together before one, there is a place on either side: a fence right
after the access covers all that follow it, one right before the access all that precede it. Which accesses
count is the caller's to say; where an SC fence stands already on every way through, there is no place. Where
ways come together and part again before the next access, one fence in between can do the work of two: a
crossing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Literal, NamedTuple

from fencepost.program import Fence, Instruction, Mode
from fencepost.static.flow import reachable, successors

Side = Literal["before", "after"]


class FencePlace(NamedTuple):
    """Right before or right after the access at index `pc`, or right before a crossing there."""

    pc: int
    side: Side


class AccessFlow:
    """Which accesses of a thread can follow each other with no other access in between."""

    def __init__(self, code: Sequence[Instruction], counts: Callable[[Instruction], bool]) -> None:
        self._code = code
        self.accesses = [pc for pc, instruction in enumerate(code) if counts(instruction)]
        self._is_access = frozenset(self.accesses)
        self.next = {pc: self._reached(pc + 1) for pc in self.accesses}
        self.previous: dict[int, set[int]] = {pc: set() for pc in self.accesses}
        for pc, reached in self.next.items():
            for following in reached:
                self.previous[following].add(pc)
        self.first = self._reached(0)
        self._fenced = self._without_unfenced_way()

    def places(self, *, crossings: bool = False) -> Iterator[FencePlace]:
        """Every place for a fence between two accesses."""
        if crossings:
            yield from (FencePlace(pc, "before") for pc in self._crossings())
        for pc in self.accesses:
            if self.previous[pc] and FencePlace(pc, "before") not in self._fenced:
                yield FencePlace(pc, "before")
            apart = FencePlace(pc, "after")
            if self.next[pc] and apart not in self._fenced and not self._always_together(pc):
                yield apart

    def _crossings(self) -> Iterator[int]:
        """Instructions between accesses where ways meet, and after which several accesses can come next."""
        arrivals: dict[int, set[int]] = {}  # instruction -> those right before it
        for pc in range(len(self._code)):
            for following in successors(self._code[pc], pc):
                arrivals.setdefault(following, set()).add(pc)
        for pc in range(len(self._code)):
            if pc not in self._is_access and len(arrivals.get(pc, ())) > 1 and len(self._reached(pc)) > 1:
                yield pc

    def can_follow(self, pc: int) -> set[int]:
        """The accesses that can come after the one at `pc`, with any others in between."""
        return reachable(self.next[pc], self.next.__getitem__)

    def can_precede(self, pc: int) -> set[int]:
        return reachable(self.previous[pc], self.previous.__getitem__)

    def _always_together(self, pc: int) -> bool:
        """Whether a fence right after the access is one right before the next access."""
        if len(self.next[pc]) != 1:
            return False
        (following,) = self.next[pc]
        return self.previous[following] == {pc} and following not in self.first

    def _reached(self, start: int, *, past_sc_fences: bool = True) -> set[int]:
        """The accesses that are met first from index `start` on."""

        def following(pc: int) -> tuple[int, ...]:
            stops = pc == len(self._code) or pc in self._is_access
            if stops or not (past_sc_fences or self._code[pc] != Fence(Mode.SC)):
                return ()
            return successors(self._code[pc], pc)

        return reachable([start], following) & self._is_access

    def _without_unfenced_way(self) -> set[FencePlace]:
        unfenced = {pc: self._reached(pc + 1, past_sc_fences=False) for pc in self.accesses}
        entered = set().union(*unfenced.values())
        return {FencePlace(pc, "after") for pc in self.accesses if not unfenced[pc]} | {
            FencePlace(pc, "before") for pc in self.accesses if pc not in entered
        }
