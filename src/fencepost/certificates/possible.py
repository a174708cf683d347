"""Which states ⟨p̄, B⟩ can match an execution graph that the program reaches, as far as each thread tells.

Let G be such a graph, the threads standing at p̄, and let B match it: every option of a list stands for a
write of G, such that none of them is mo-before one that the thread, or one earlier in the list, has observed
(sra-2020 Def. 5.11 to 5.13). Three least fixpoints over the graph of each thread w tell what can be so:

    written(s)   what w can have written when it stands at s
    last(s)      what can be its last write to a cell then, or ⊥x if it can have none to x
    after(s)     pairs (a, b): w wrote a, and b then was its last write to another cell, or is a itself, or
                 was written later; (a, ⊥y): w had not written y, which is not the cell of a, when it wrote a

Then, for options o, o' of B:

1. o is by w: written(p̄(w)) has it. That is what the option says.
2. o is in a list of its own writer t: last(p̄(t)) has it, as a later write of t to that cell would be mo-later
   and observed by t. For the same reason, o of the initial memory needs ⊥x in last(p̄(t)).
3. o before o', both by w: after(p̄(w)) has the pair. If o' is po-later than o or the same write, it has, by
   definition. If it is po-earlier, then w had not overwritten it when it wrote o, nor did it with o, as that
   write would be mo-later than o' and observed by who reads o.
4. o by w before o' of the initial memory: for the same reason, after(p̄(w)) has (o, ⊥y).
5. o before o' on one cell: o' is not the initial write if o is another, as that is mo-first; and o' is the
   same write as o if o is U, as that is mo-last.
6. U-options on one cell are all one write, the mo-last. Its writer has none to that cell after it; and if it
   is the initial one, no thread has any.

So what breaks one of these matches no reachable graph. Of a thread that stands anywhere, what is so at some
node of it counts. The conditions also bound where the threads can stand together between blocks: they get
there by reads and RMWs, and for each the list of that one option must not break a condition (`joint_nodes`).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from itertools import product
from typing import NamedTuple

from fencepost.certificates.blocks import Nodes
from fencepost.certificates.local_graphs import Edge, LocalGraph
from fencepost.certificates.option_lists import INITIAL_WRITER, Lists, Potential, R, Source, Sources, U

Potentials = tuple[Potential, ...]  # for each thread, who sees the final memory, who knows all fences


class _Facts(NamedTuple):
    """Sets of sources as masks; bit `len(sources) + x` is ⊥x."""

    written: int
    last: int
    after: tuple[int, ...]  # for each source, those that can follow it


class Possible:
    def __init__(self, graphs: list[LocalGraph], sources: Sources, lists: Lists) -> None:
        self.sources = sources
        self._lists = lists
        self._cells = 1 + max((source.cell for source in sources.all), default=-1)
        self._on_cell = [self._mask_of(cell) for cell in range(self._cells)]
        self._facts = [self._find_facts(thread, graph) for thread, graph in enumerate(graphs)]
        self._coherent: dict[int, bool] = {}
        self._fitting: dict[tuple[int, bool, int, int], bool] = {}

    def state(self, nodes: Nodes, potentials: Potentials) -> bool:
        lasts: dict[int, int] = {}
        for holder, potential in enumerate(potentials):
            for number in potential:
                if number and not (self._has_one_last(number, lasts) and self._list(nodes, holder, number)):
                    return False
        return True

    def option(self, nodes: Nodes, holder: int, option: int) -> bool:
        return self._list(nodes, holder, self._lists.number((option,)))

    def _list(self, nodes: Nodes, holder: int, number: int) -> bool:
        """Everything but condition 6 for two options."""
        if number not in self._coherent:
            self._coherent[number] = self._lists.is_coherent(number, self.sources)
        return self._coherent[number] and all(
            self._fits(number, holder == thread, thread, node) for thread, node in enumerate(nodes)
        )

    def _fits(self, number: int, own: bool, thread: int, node: int) -> bool:
        key = number, own, thread, node
        if key not in self._fitting:
            self._fitting[key] = self._allows(number, own, thread, self._facts[thread][node])
        return self._fitting[key]

    def _allows(self, number: int, own: bool, thread: int, facts: _Facts) -> bool:
        """Conditions 1 to 4 and 6, as far as they are about this thread; `own` is whether it has the list."""
        seen: list[int] = []  # the sources by this thread so far
        for option in self._lists.all[number]:
            source = option >> 2
            writer, cell, _ = self.sources.all[source]
            if writer not in (thread, INITIAL_WRITER):
                continue
            bit = self._never(cell) if writer == INITIAL_WRITER else 1 << source
            if (own or option & 3 == U) and not facts.last & bit:
                return False
            if writer == thread and not facts.written & bit:
                return False
            if any(not facts.after[earlier] & bit for earlier in seen):
                return False
            if writer == thread:
                seen.append(source)
        return True

    def _has_one_last(self, number: int, lasts: dict[int, int]) -> bool:
        """Condition 6: notes the U-options of the list by cell, and whether they are those noted before."""
        for option in self._lists.all[number]:
            if option & 3 == U:
                source = option >> 2
                if lasts.setdefault(self.sources.all[source].cell, source) != source:
                    return False
        return True

    # The fixpoints.

    def _never(self, cell: int) -> int:
        return 1 << (len(self.sources.all) + cell)

    def _mask_of(self, cell: int) -> int:
        on_cell = (1 << number for number, source in enumerate(self.sources.all) if source.cell == cell)
        return self._never(cell) | sum(on_cell)

    def _find_facts(self, thread: int, graph: LocalGraph) -> list[_Facts]:
        start = sum(self._never(cell) for cell in range(self._cells))
        nothing = (0,) * len(self.sources.all)
        facts = [_Facts(0, start if node in graph.start else 0, nothing) for node in range(len(graph.nodes))]
        frontier = list(range(len(graph.nodes)))
        while frontier:
            for edge in graph.out_of[frontier.pop()]:
                old = facts[edge.target]
                new = _union(old, self._flow(thread, edge, facts[edge.source]))
                if new != old:
                    facts[edge.target] = new
                    frontier.append(edge.target)
        return [*facts, reduce(_union, facts)]  # the last one is for anywhere

    def _flow(self, thread: int, edge: Edge, facts: _Facts) -> _Facts:
        """What holds after an edge, by what held before it."""
        if edge.written < 0 or not facts.last:  # not a write, or not reached yet
            return facts
        source = self.sources.number[Source(thread, edge.cell, edge.written)]
        others = facts.last & ~self._on_cell[edge.cell]
        after = [
            known | 1 << source if facts.written >> earlier & 1 else known
            for earlier, known in enumerate(facts.after)
        ]
        after[source] |= others | 1 << source
        return _Facts(facts.written | 1 << source, others | 1 << source, tuple(after))


def joint_nodes(graphs: list[LocalGraph], possible: Possible, most: int) -> set[Nodes] | None:
    """Every p̄ that the threads can reach together in blocks, and more; None if there are more than `most`."""
    frontier: list[Nodes] = list(product(*(sorted(graph.start) for graph in graphs)))
    met = set(frontier)
    while frontier and len(met) <= most:
        nodes = frontier.pop()
        for thread, graph in enumerate(graphs):
            for after in _after_block(graph, possible, nodes, thread):
                if after not in met:
                    met.add(after)
                    frontier.append(after)
    return met if len(met) <= most else None


def _after_block(graph: LocalGraph, possible: Possible, nodes: Nodes, thread: int) -> Iterator[Nodes]:
    """Lets the thread read on and then write, in every way."""
    frontier = [nodes[thread]]
    met = set(frontier)
    while frontier:
        node = frontier.pop()
        at = (*nodes[:thread], node, *nodes[thread + 1 :])
        for edge in graph.out_of[node]:
            if not _can_happen(possible, at, thread, edge):
                continue
            if edge.ends_block:
                yield (*nodes[:thread], edge.target, *nodes[thread + 1 :])
            elif edge.target not in met:
                met.add(edge.target)
                frontier.append(edge.target)


def _can_happen(possible: Possible, nodes: Nodes, thread: int, edge: Edge) -> bool:
    if edge.read < 0:
        return True
    flag = R if edge.written < 0 else U
    sources = possible.sources.of_value[edge.cell, edge.read]
    return any(possible.option(nodes, thread, 4 * source + flag) for source in sources)


def _union(a: _Facts, b: _Facts) -> _Facts:
    after = tuple(one | other for one, other in zip(a.after, b.after, strict=True))
    return _Facts(a.written | b.written, a.last | b.last, after)
