"""What the potentials were before a step: the rules of loSRA (sra-2020 Figure 4) backwards.

    step of t           before it (design.md, section 6)
    silent              the same
    R(x, v)             (w, x, v, R) in front of every list of t, for each writer w of v
    W(x, v)             every list that is not of t has lost its last options on x, those from this write, and
                        what followed the first of them is a list of t; t's own lists have lost all on x
    RMW(x, vR, vW)      as W(x, vW), then (w, x, vR, U) in front of every list of t
    SC fence            the lists of t and those of the fences are lists of both

If potentials match the graph after a step, then some of those given here match the graph before it (the
construction of Lemma 5.16): a list's options on x for which its write list has the new write are its last
ones, as the new write is mo-last; who reads it can go on only as its writer could; the others on x have been
overwritten now, so none is U, and S says nothing that was not so. In a list of t the new write is the only
one on x that can still be read. An RMW reads what was mo-last.

SC fences are RMWs on a cell of their own, so each has observed the one before, and with it all. The fences
have a potential, that of somebody who has observed what the last of them has, and nothing else. After a fence
of t, both t and that one have observed just what either had before.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import product

from fencepost.certificates.local_graphs import Edge
from fencepost.certificates.option_lists import Lists, R, Source, Sources, U
from fencepost.certificates.possible import Potentials

FENCES = -1  # the place of their potential


class Predecessors:
    def __init__(self, sources: Sources, lists: Lists) -> None:
        self._sources = sources
        self._lists = lists

    def before(self, potentials: Potentials, thread: int, edge: Edge) -> Iterator[Potentials]:
        match edge.kind:
            case "silent":
                yield potentials
            case "R":
                yield from self._before_read(potentials, thread, edge, R)
            case "W":
                yield from self._before_write(potentials, thread, edge)
            case "RMW":
                for between in self._before_write(potentials, thread, edge):
                    yield from self._before_read(between, thread, edge, U)
            case "fence":
                both = self._longest(potentials[thread] + potentials[FENCES])
                yield (*potentials[:thread], both, *potentials[thread + 1 : FENCES], both)

    def _before_read(
        self, potentials: Potentials, thread: int, edge: Edge, flag: int
    ) -> Iterator[Potentials]:
        for source in self._sources.of_value[edge.cell, edge.read]:
            option = 4 * source + flag
            own = (self._lists.preceded(option, number) for number in potentials[thread])
            yield (*potentials[:thread], self._longest(own), *potentials[thread + 1 :])

    def _before_write(self, potentials: Potentials, thread: int, edge: Edge) -> Iterator[Potentials]:
        source = self._sources.number[Source(thread, edge.cell, edge.written)]
        own = [self._lists.without_own(number, edge.cell, source) for number in potentials[thread]]
        kept = [number for number in own if number is not None]
        if len(kept) < len(own):
            return
        others = [(holder, number) for holder, lists in enumerate(potentials) for number in lists]
        others = [(holder, number) for holder, number in others if holder != thread]
        for cuts in product(*(self._lists.cuts(number, edge.cell, source) for _, number in others)):
            after: list[list[int]] = [[] for _ in potentials]
            after[thread] = kept + [cut.justification for cut in cuts if cut.justification is not None]
            for (holder, _), cut in zip(others, cuts, strict=True):
                after[holder].append(cut.rest)
            yield tuple(map(self._longest, after))

    def _longest(self, lists: Iterable[int]) -> tuple[int, ...]:
        return self._lists.longest(frozenset(lists))
