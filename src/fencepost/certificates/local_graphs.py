"""Each thread on its own: where it can stand, if every read may see any value that anyone ever writes there.

A node is a position and the registers that still matter; it stands for all states of the thread that differ
in no other registers, as those have the same future. An edge is an access together with the local steps after
it. Where these go wrong (an assertion, a division by zero, a bad index), the edge also leads to a node at
`FAILED`, from which nothing goes on. A read of a cell that nobody writes is silent: it tells nothing. An SC
fence is an edge of its own kind, as nobody else accesses the cell that it stands for.

Every run of the program under SRA is, seen by one thread, a way through its graph. Under TSO a failing CAS
needs an empty store buffer, as an RMW does. There it counts as one that writes what it has read, which
changes nothing for anybody.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

from fencepost.certificates.live_registers import live_slots
from fencepost.models.threads import Finding, Label, ProgramLts, ThreadLts, ThreadState, fence_cell
from fencepost.program import CompareExchange, Fence, Program, Store

Node = tuple[int, tuple[int, ...]]  # the position, and the registers

FAILED = -2  # the position of a thread that has failed; all registers are 0 then


class Edge(NamedTuple):
    """From node to node; −1 for what the access does not have, which is everything of a fence."""

    source: int
    target: int
    kind: Literal["silent", "R", "W", "RMW", "fence"]
    cell: int = -1
    read: int = -1
    written: int = -1

    @property
    def ends_block(self) -> bool:
        """Whether other threads can learn of it, and of what was before it."""
        return self.kind in ("W", "RMW", "fence")


@dataclass(frozen=True)
class LocalGraph:
    nodes: tuple[Node, ...]
    start: frozenset[int]
    edges: tuple[Edge, ...]

    @cached_property
    def into(self) -> list[list[Edge]]:
        """For each node, the edges that lead to it."""
        return self._by_node(lambda edge: edge.target)

    @cached_property
    def out_of(self) -> list[list[Edge]]:
        """For each node, the edges that start there."""
        return self._by_node(lambda edge: edge.source)

    def _by_node(self, end: Callable[[Edge], int]) -> list[list[Edge]]:
        edges: list[list[Edge]] = [[] for _ in self.nodes]
        for edge in self.edges:
            edges[end(edge)].append(edge)
        return edges


def local_graphs(
    program: Program, kept: Sequence[frozenset[str]], *, failing_cas_writes: bool = False
) -> list[LocalGraph]:
    """For each thread its graph, with the least sets of values that cells can hold."""
    lts = ProgramLts(program)
    values = [{value} for value in lts.initial_memory]
    while True:
        graphs = [
            _Walk(part, names, values, failing_cas_writes).graph()
            for part, names in zip(lts.threads, kept, strict=True)
        ]
        writes = {(edge.cell, edge.written) for graph in graphs for edge in graph.edges if edge.written >= 0}
        if all(value in values[cell] for cell, value in writes):
            break
        for cell, value in writes:
            values[cell].add(value)
    written = {cell for cell, _ in writes}
    return [LocalGraph(graph.nodes, graph.start, _told(graph.edges, written)) for graph in graphs]


def _told(edges: Iterable[Edge], written: set[int]) -> tuple[Edge, ...]:
    return tuple(
        edge if edge.cell in written or edge.kind == "fence" else Edge(edge.source, edge.target, "silent")
        for edge in dict.fromkeys(edges)
    )


class _Walk:
    """Finds the nodes of one thread, with reads limited to `values` of each cell."""

    def __init__(
        self, part: ThreadLts, kept: frozenset[str], values: Sequence[set[int]], failing_cas_writes: bool
    ) -> None:
        self.part = part
        self.values = values
        self._failing_cas_writes = failing_cas_writes
        self._live = live_slots(part.thread, kept)
        self._numbers: dict[Node, int] = {}
        self._frontier: list[ThreadState] = []

    def graph(self) -> LocalGraph:
        start = frozenset(self._arrivals(self.part.start.states, self.part.start.findings))
        edges: list[Edge] = []
        while self._frontier:
            at = self._frontier.pop()
            for label, states, findings in self._steps(at):
                targets = self._arrivals(states, findings)
                edges += [self._edge(at, target, label) for target in targets]
        return LocalGraph(tuple(self._numbers), start, tuple(edges))

    def _edge(self, at: ThreadState, target: int, label: Label) -> Edge:
        source = self._numbers[at]
        if label.cell == fence_cell(self.part.program):
            return Edge(source, target, "fence")
        assert label.kind != "F"
        read, written = (-1 if value is None else value for value in (label.read, label.written))
        fails = label.kind == "R" and isinstance(self.part.code[at.pc], CompareExchange)
        if fails and self._failing_cas_writes:
            return Edge(source, target, "RMW", label.cell, read, read)
        return Edge(source, target, label.kind, label.cell, read, written)

    def _steps(self, at: ThreadState) -> Iterator[tuple[Label, tuple[ThreadState, ...], frozenset[Finding]]]:
        access = self.part.access(at)
        if access is None:
            return
        looks = not isinstance(access.instruction, Store | Fence)
        for value in sorted(self.values[access.cell]) if looks else (0,):
            step = self.part.step(at, value)
            if step is not None:
                yield step

    def _arrivals(self, states: Iterable[ThreadState], findings: frozenset[Finding]) -> list[int]:
        nodes = []
        for pc, registers in states:
            live = self._live[pc] if pc >= 0 else (False,) * len(registers)
            kept = tuple(value if matters else 0 for value, matters in zip(registers, live, strict=True))
            at = ThreadState(pc, kept)
            if at not in self._numbers:
                self._frontier.append(at)
            nodes.append(self._number(at))
        if findings:
            nodes.append(self._number((FAILED, (0,) * len(self.part.thread.registers))))
        return nodes

    def _number(self, node: Node) -> int:
        return self._numbers.setdefault(node, len(self._numbers))
