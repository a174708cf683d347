"""Runs in blocks: of all orders of a run's steps, the one that the check follows back.

A read only changes what its own thread has observed. So it can be put off past any step of another thread:
that step stays possible, as a thread learns of another's reads through later writes only; the read stays
possible, as its thread has observed nothing more; and the graph is the same. The same holds for silent steps.
Putting off all reads, every run of opSRA becomes a sequence of blocks and then last reads:

- a block of a thread is some of its reads, and then one write, RMW or SC fence;
- the last reads are those of the last thread, …, of the second thread, of the first thread.

Going back, a state is looked at in a phase, which is a number; n is the number of threads:

    0 … n−1      the last reads of that thread are undone next
    n            between blocks
    n+1 … 2n     in a block of thread `phase − n − 1`: its end has been undone, its reads are next

In the phases of a thread, it has undone them all where it stands right after a block or at its start.

A thread may also stand anywhere (node `len(graph.nodes)`): the state is below all those in which it stands at
some node. If its potentials match a graph, they match it without the last reads of that thread: it has only
observed less then. For the same reason, they match a graph without a last block of that thread, unless an
option stands for the write of the block, or one with S for a write that only this one has overwritten. So of
such a thread reads are not undone, and only writes that are asked for.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from fencepost.certificates.local_graphs import LocalGraph

Nodes = tuple[int, ...]  # for each thread


class _Before(NamedTuple):
    """What can have led to a node: a read or silent step; the end of a block, or nothing at all."""

    read: bool
    write: bool


class Blocks:
    def __init__(self, graphs: list[LocalGraph]) -> None:
        self.free = len(graphs)
        self.anywhere = tuple(len(graph.nodes) for graph in graphs)
        self._before = [_before(graph) for graph in graphs]

    def where_anywhere(self, nodes: Nodes) -> tuple[bool, ...]:
        """For each thread, whether it stands anywhere."""
        return tuple(node == anywhere for node, anywhere in zip(nodes, self.anywhere, strict=True))

    def widened(self, nodes: Nodes, wide: tuple[bool, ...]) -> Nodes:
        """`nodes`, with some threads anywhere."""
        parts = zip(nodes, wide, self.anywhere, strict=True)
        return tuple(anywhere if is_wide else node for node, is_wide, anywhere in parts)

    def in_block(self, thread: int) -> int:
        return self.free + 1 + thread

    def thread(self, phase: int) -> int:
        """Whose reads are undone in `phase`, which is not `free`."""
        return phase if phase < self.free else phase - self.free - 1

    def phases(self, nodes: Nodes, phase: int) -> Iterator[int]:
        """The phases in which to look at a state that is met in `phase`."""
        while phase != self.free:
            thread = self.thread(phase)
            before = self._before[thread][nodes[thread]]
            if before.read:
                yield phase
            if not before.write:
                return
            phase = phase + 1 if phase < self.free else self.free
        yield phase


def _before(graph: LocalGraph) -> list[_Before]:
    before = []
    for edges in graph.into:
        ends = {edge.ends_block for edge in edges}
        before.append(_Before(read=False in ends, write=True in ends))
    for node in graph.start:
        before[node] = before[node]._replace(write=True)
    return [*before, _Before(read=False, write=True)]
