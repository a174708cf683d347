"""Read options and lists of them as small numbers, their order, and what they were before a step.

    sra-2020     here
    Def. 5.6     an option is 4 · source + flag; a source is a write ⟨writer, cell, value⟩, numbered
    Def. 5.7     is_below, and `longest`: what is below another list of the same potential says nothing
    Figure 4     preceded (READ, RMW), cuts and without_own (WRITE), all backwards: design.md, section 6

An option that only asks for a write to be readable (R) is below one that also asks whether it is the last one
of its cell (U, S). Each list has a number, and what is asked of lists is remembered by number: a certificate
has few different lists in many states.
"""

from __future__ import annotations

from functools import cached_property
from itertools import combinations
from typing import NamedTuple

from fencepost.certificates.certificate import Flag
from fencepost.certificates.local_graphs import LocalGraph

INITIAL_WRITER = -1
FLAGS: tuple[Flag, ...] = ("R", "U", "S")
R, U, S = range(3)
EMPTY = 0  # the number of the empty list

Options = tuple[int, ...]
Potential = tuple[int, ...]  # numbers of lists, in order; never none


class Source(NamedTuple):
    writer: int
    cell: int
    value: int


class Cut(NamedTuple):
    """A list before a write that it took options from: what is left of it, and what the writer needs."""

    rest: int
    justification: int | None


class Sources:
    """All writes that there can be."""

    def __init__(self, graphs: list[LocalGraph], initial: tuple[int, ...]) -> None:
        by_threads = (
            Source(thread, edge.cell, edge.written)
            for thread, graph in enumerate(graphs)
            for edge in graph.edges
            if edge.written >= 0
        )
        starts = (Source(INITIAL_WRITER, cell, value) for cell, value in enumerate(initial))
        self.all = tuple(dict.fromkeys((*starts, *by_threads)))
        self.number = {source: number for number, source in enumerate(self.all)}

    @cached_property
    def of_value(self) -> dict[tuple[int, int], list[int]]:
        """For a cell and a value, the sources of that value."""
        found: dict[tuple[int, int], list[int]] = {}
        for number, (_, cell, value) in enumerate(self.all):
            found.setdefault((cell, value), []).append(number)
        return found


class Lists:
    def __init__(self, sources: Sources) -> None:
        self._cell = [source.cell for source in sources.all]
        self.all: list[Options] = [()]
        self._numbers: dict[Options, int] = {(): EMPTY}
        self._below: dict[tuple[int, int], bool] = {}
        self._longest: dict[frozenset[int], Potential] = {}
        self._cuts: dict[tuple[int, int, int], list[Cut]] = {}
        self._without_own: dict[tuple[int, int, int], int | None] = {}

    def number(self, options: Options) -> int:
        number = self._numbers.setdefault(options, len(self.all))
        if number == len(self.all):
            self.all.append(options)
        return number

    # The order.

    def is_below(self, smaller: int, larger: int) -> bool:
        key = smaller, larger
        if key not in self._below:
            self._below[key] = _is_subsequence(self.all[smaller], self.all[larger])
        return self._below[key]

    def longest(self, lists: frozenset[int]) -> Potential:
        """`lists` without those below others, which are all different."""
        if lists not in self._longest:
            below = {a for a in lists for b in lists if a != b and self.is_below(a, b)}
            self._longest[lists] = tuple(sorted(lists - below)) or (EMPTY,)
        return self._longest[lists]

    # Steps back.

    def preceded(self, option: int, number: int) -> int:
        return self.number((option, *self.all[number]))

    def without_own(self, number: int, cell: int, source: int) -> int | None:
        """A list of the writer before the write `source` to `cell`: it can have read nothing else there."""
        key = number, cell, source
        if key not in self._without_own:
            options = self.all[number]
            here = [option for option in options if self._cell[option >> 2] == cell]
            fits = all(option >> 2 == source and option & 3 != S for option in here)
            rest = tuple(option for option in options if self._cell[option >> 2] != cell)
            self._without_own[key] = self.number(rest) if fits else None
        return self._without_own[key]

    def cuts(self, number: int, cell: int, source: int) -> list[Cut]:
        """What a list of another thread can have been before the write `source` to `cell`.

        The write took some last ones of the list's options on the cell. Those before are of overwritten
        writes now, so none may be U, and S asks nothing more.
        """
        key = number, cell, source
        if key not in self._cuts:
            options = self.all[number]
            here = [place for place, option in enumerate(options) if self._cell[option >> 2] == cell]
            self._cuts[key] = [
                self._cut(options, here[:first], here[first:])
                for first in range(len(here) + 1)
                if all(options[place] & 3 != U for place in here[:first])
                and all(options[place] >> 2 == source and options[place] & 3 != S for place in here[first:])
            ]
        return self._cuts[key]

    def _cut(self, options: Options, overwritten: list[int], taken: list[int]) -> Cut:
        before = [option & ~3 if place in overwritten else option for place, option in enumerate(options)]
        left = [place for place in range(len(options)) if place not in taken]
        rest = self.number(tuple(before[place] for place in left))
        if not taken:
            return Cut(rest, None)
        return Cut(rest, self.number(tuple(before[place] for place in left if place > taken[0])))

    # What must hold in a list wherever the threads stand.

    def is_coherent(self, number: int, sources: Sources) -> bool:
        """Whether no option follows a later one on its cell, as far as writers and flags tell."""
        for first, second in combinations(self.all[number], 2):
            a, b = sources.all[first >> 2], sources.all[second >> 2]
            if a.cell != b.cell or a == b:
                continue
            if first & 3 == U or b.writer == INITIAL_WRITER:
                return False
        return True


def _is_subsequence(smaller: Options, larger: Options) -> bool:
    rest = iter(larger)
    return all(any(option in (other, other & ~3) for other in rest) for option in smaller)
