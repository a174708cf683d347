"""The states ⟨p̄, B⟩ of a program over which certificates speak: bad ones, initial ones, and steps back.

A state is where each thread stands, as numbers of nodes of its graph; a potential for each thread, one for
somebody who only sees the final memory, and one for SC fences (`predecessors`); and the phase (`blocks`).
Which of them can be reached at all is `possible`'s question, asked here of everything given out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import NamedTuple

from fencepost.certificates.bad import Bad
from fencepost.certificates.blocks import Blocks, Nodes
from fencepost.certificates.local_graphs import Edge, local_graphs
from fencepost.certificates.option_lists import EMPTY, INITIAL_WRITER, Lists, Potential, S, Source, Sources, U
from fencepost.certificates.possible import Possible, Potentials, joint_nodes
from fencepost.certificates.predecessors import Predecessors
from fencepost.program import Program

MOST_JOINT_NODES = 1 << 20


class State(NamedTuple):
    nodes: Nodes
    potentials: Potentials
    phase: int


class StepBack(NamedTuple):
    thread: int
    edge: Edge
    state: State


class States:
    """Those of SRA; `tso_states` has those of TSO."""

    failing_cas_writes = False

    def __init__(self, program: Program, kept: Sequence[frozenset[str]]) -> None:
        self.program = program
        self.graphs = local_graphs(program, kept, failing_cas_writes=self.failing_cas_writes)
        self.blocks = Blocks(self.graphs)
        self.sources = Sources(self.graphs, program.initial_memory)
        self.lists = Lists(self.sources)
        self._possible = Possible(self.graphs, self.sources, self.lists)
        joint = joint_nodes(self.graphs, self._possible, MOST_JOINT_NODES)
        self._joint = {} if joint is None else {(False,) * len(self.graphs): joint}
        self._predecessors = Predecessors(self.sources, self.lists)

    def source(self, writer: int, cell: int, value: int) -> int | None:
        """The number of a write; None if there can be no such write."""
        return self.sources.number.get(Source(writer, cell, value))

    def writer_shown(self, source: int) -> int:
        return self.sources.all[source].writer

    def is_possible(self, state: State) -> bool:
        together = state.phase != self.blocks.free or self._can_be_together(state.nodes)
        return together and self._can_match(state.nodes, state.potentials)

    def is_initial(self, state: State) -> bool:
        if state.phase != self.blocks.free:
            return False
        for node, graph, anywhere in zip(state.nodes, self.graphs, self.blocks.anywhere, strict=True):
            if node != anywhere and node not in graph.start:
                return False
        return all(self._is_initial_option(option) for option in self._options(state))

    def steps_back(self, state: State) -> Iterator[StepBack]:
        """The possible predecessors."""
        free = state.phase == self.blocks.free
        for thread in range(len(self.graphs)) if free else (self.blocks.thread(state.phase),):
            phase = self.blocks.in_block(thread) if free else state.phase
            for edge in self._edges_back(state, thread):
                nodes = (*state.nodes[:thread], edge.source, *state.nodes[thread + 1 :])
                for potentials in self._before(state.potentials, thread, edge):
                    for before in self._met(State(nodes, potentials, phase)):
                        yield StepBack(thread, edge, before)

    def bad(self, bad: Bad) -> Iterator[State]:
        """The least possible states of `bad`."""
        places = [
            [number for number, node in enumerate(graph.nodes) if holds(*node)] if holds else [anywhere]
            for graph, holds, anywhere in zip(self.graphs, bad.nodes, self.blocks.anywhere, strict=True)
        ]
        every_potentials = list(self._bad_potentials(bad))
        for nodes in product(*places):
            for potentials in every_potentials:
                yield from self._met(State(nodes, potentials, 0))

    def _met(self, state: State) -> Iterator[State]:
        """The state in those phases in which it is to be looked at, if it is possible."""
        if self._can_match(state.nodes, state.potentials):
            for phase in self.blocks.phases(state.nodes, state.phase):
                if phase != self.blocks.free or self._can_be_together(state.nodes):
                    yield state._replace(phase=phase)

    def _edges_back(self, state: State, thread: int) -> list[Edge]:
        """The edges by which the thread can have come, as far as its phase undoes them."""
        graph, node = self.graphs[thread], state.nodes[thread]
        free = state.phase == self.blocks.free
        if node != self.blocks.anywhere[thread]:
            return [edge for edge in graph.into[node] if edge.ends_block == free]
        asked = {option >> 2 for option in self._options(state)}
        overwritten = {self.sources.all[o >> 2].cell for o in self._options(state) if o & 3 == S}
        return [
            edge
            for edge in graph.edges
            if edge.written >= 0
            and (edge.cell in overwritten or self.source(thread, edge.cell, edge.written) in asked)
        ]

    # What differs between models.

    def _before(self, potentials: Potentials, thread: int, edge: Edge) -> Iterator[Potentials]:
        """The potentials before the thread took the edge."""
        return self._predecessors.before(potentials, thread, edge)

    def _can_match(self, nodes: Nodes, potentials: Potentials) -> bool:
        """Whether the potentials can match a graph with the threads at these nodes."""
        return self._possible.state(nodes, potentials)

    def _is_initial_option(self, option: int) -> bool:
        return self.sources.all[option >> 2].writer == INITIAL_WRITER and option & 3 != S

    def _options(self, state: State) -> Iterator[int]:
        for potential in state.potentials:
            for number in potential:
                yield from self.lists.all[number]

    def _can_be_together(self, nodes: Nodes) -> bool:
        """Whether the threads can stand at these nodes between blocks."""
        if not self._joint:
            return True
        wide = self.blocks.where_anywhere(nodes)
        if wide not in self._joint:
            every = self._joint[(False,) * len(nodes)]
            self._joint[wide] = {self.blocks.widened(some, wide) for some in every}
        return nodes in self._joint[wide]

    def _bad_potentials(self, bad: Bad) -> Iterator[Potentials]:
        threads = len(self.graphs)
        potentials: list[Potential] = [(EMPTY,)] * (threads + 2)
        for writes in product(*(self.sources.of_value.get(pair, ()) for pair in bad.memory)):
            seen = (self.lists.number((4 * source + U,)) for source in writes)
            potentials[threads] = self.lists.longest(frozenset(seen))
            if bad.race is None:
                yield tuple(potentials)
                continue
            thread, cell = bad.race
            for source, write in enumerate(self.sources.all):
                if write.cell == cell:
                    potentials[thread] = (self.lists.number((4 * source + S,)),)
                    yield tuple(potentials)
