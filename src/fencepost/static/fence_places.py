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

from fencepost.program import Fence, Instruction, Mode, falls_through, jump_targets

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
        """The first instructions between accesses that several accesses lead to and that lead to several."""
        arrivals: dict[int, set[int]] = {}  # instruction -> those right before it
        for pc in range(len(self._code)):
            for following in successors(self._code, pc):
                arrivals.setdefault(following, set()).add(pc)
        for pc in range(len(self._code)):
            if pc not in self._is_access and len(arrivals.get(pc, ())) > 1 and len(self._reached(pc)) > 1:
                yield pc

    def can_follow(self, pc: int) -> set[int]:
        """The accesses that can come after the one at `pc`, with any others in between."""
        return _closure(pc, self.next)

    def can_precede(self, pc: int) -> set[int]:
        return _closure(pc, self.previous)

    def _always_together(self, pc: int) -> bool:
        """Whether a fence right after the access is one right before the next access."""
        if len(self.next[pc]) != 1:
            return False
        (following,) = self.next[pc]
        return self.previous[following] == {pc} and following not in self.first

    def _reached(self, start: int, *, past_sc_fences: bool = True) -> set[int]:
        """The accesses that are met first from index `start` on."""
        seen: set[int] = set()
        todo = [start]
        while todo:
            pc = todo.pop()
            if pc in seen or pc == len(self._code):
                continue
            seen.add(pc)
            if pc not in self._is_access and (past_sc_fences or self._code[pc] != Fence(Mode.SC)):
                todo += successors(self._code, pc)
        return seen & self._is_access

    def _without_unfenced_way(self) -> set[FencePlace]:
        unfenced = {pc: self._reached(pc + 1, past_sc_fences=False) for pc in self.accesses}
        entered = set().union(*unfenced.values())
        return {FencePlace(pc, "after") for pc in self.accesses if not unfenced[pc]} | {
            FencePlace(pc, "before") for pc in self.accesses if pc not in entered
        }


def successors(code: Sequence[Instruction], pc: int) -> tuple[int, ...]:
    """The instructions that can come right after the one at `pc`; the length of the code is the end."""
    targets = jump_targets(code[pc])
    return (*targets, pc + 1) if falls_through(code[pc]) else targets


def loop_depths(code: Sequence[Instruction]) -> list[int]:
    """How many loops each instruction is in, one inside the other.

    A loop is a strongly connected part of the control flow; the loops inside it are what is left when no
    jump leads to its first instruction any more.
    """
    depths = [0] * len(code)
    edges = {pc: set(successors(code, pc)) - {len(code)} for pc in range(len(code))}
    _add_loops(edges, depths)
    return depths


def _add_loops(edges: dict[int, set[int]], depths: list[int]) -> None:
    reach = {pc: _closure(pc, edges) for pc in edges}
    todo = [pc for pc in edges if pc in reach[pc]]
    while todo:
        loop = {pc for pc in todo if pc in reach[todo[0]] and todo[0] in reach[pc]}
        for pc in loop:
            depths[pc] += 1
        first = min(loop)
        _add_loops({pc: (edges[pc] & loop) - {first} for pc in loop}, depths)
        todo = [pc for pc in todo if pc not in loop]


def _closure(start: int, edges: dict[int, set[int]]) -> set[int]:
    """What can be reached from `start` over one edge or more."""
    reached: set[int] = set()
    todo = list(edges[start])
    while todo:
        node = todo.pop()
        if node not in reached:
            reached.add(node)
            todo += edges[node]
    return reached
