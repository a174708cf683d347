"""States of a certificate from the numbers of its file to those of the check, and back to be shown."""

from __future__ import annotations

from fencepost.certificates.blocks import Nodes
from fencepost.certificates.certificate import BasisState, FileOption, Standing
from fencepost.certificates.local_graphs import Edge
from fencepost.certificates.option_lists import EMPTY, FLAGS, Potential
from fencepost.certificates.states import State, States

OTHERS = ("who sees the final memory", "who knows all fences")  # they have potentials, too


class UnknownStateError(Exception):
    """A state that is not one of the program: what about it is wrong."""


class Spelling:
    def __init__(self, states: States) -> None:
        self._states = states
        self._nodes = [{node: n for n, node in enumerate(graph.nodes)} for graph in states.graphs]

    def read(self, state: BasisState) -> State:
        threads = len(self._nodes)
        if len(state.threads) != threads or not 0 <= len(state.potentials) - threads <= len(OTHERS):
            raise UnknownStateError(f"it is not of {threads} threads")
        nodes = tuple(self._read_node(thread, at) for thread, at in enumerate(state.threads))
        potentials = [self._read_potential(lists) for lists in state.potentials]
        self._check_phase(nodes, state.phase)
        missing = threads + len(OTHERS) - len(potentials)
        return State(nodes, (*potentials, *[(EMPTY,)] * missing), state.phase)

    def _check_phase(self, nodes: Nodes, phase: int) -> None:
        blocks = self._states.blocks
        if not 0 <= phase <= 2 * blocks.free:
            raise UnknownStateError(f"there is no phase {phase}")
        if phase != blocks.free and blocks.where_anywhere(nodes)[blocks.thread(phase)]:
            raise UnknownStateError(f"in phase {phase} the thread whose reads are undone stands anywhere")

    def _read_node(self, thread: int, at: Standing) -> int:
        if at.pc is None:
            return self._states.blocks.anywhere[thread]
        node = self._nodes[thread].get((at.pc, at.registers))
        if node is None:
            name, registers = self._states.program.threads[thread].name, list(at.registers)
            raise UnknownStateError(f"{name} cannot stand at {at.pc} with the registers {registers}")
        return node

    def _read_potential(self, lists: tuple[tuple[FileOption, ...], ...]) -> Potential:
        numbers = (self._states.lists.number(tuple(map(self._read_option, options))) for options in lists)
        return self._states.lists.longest(frozenset(numbers))

    def _read_option(self, option: FileOption) -> int:
        writer, cell, value, flag = option
        source = self._states.source(writer, cell, value)
        if source is None:
            raise UnknownStateError(f"writer {writer} never writes {value} to cell {cell}")
        return 4 * source + FLAGS.index(flag)

    def write(self, state: State) -> BasisState:
        return BasisState(
            tuple(
                Standing(*graph.nodes[node]) if node < len(graph.nodes) else Standing(None, ())
                for graph, node in zip(self._states.graphs, state.nodes, strict=True)
            ),
            state.phase,
            tuple(tuple(map(self._write_list, potential)) for potential in state.potentials),
        )

    def _write_list(self, number: int) -> tuple[FileOption, ...]:
        return tuple(map(self._write_option, self._states.lists.all[number]))

    def _write_option(self, option: int) -> FileOption:
        _, cell, value = self._states.sources.all[option >> 2]
        return self._states.writer_shown(option >> 2), cell, value, FLAGS[option & 3]

    def shown(self, state: State) -> str:
        """Where the threads stand, and what they may read in one way or another."""
        written = self.write(state)
        names = [thread.name for thread in self._states.program.threads]
        stands = [f"{name}{_shown_place(at)}" for name, at in zip(names, written.threads, strict=True)]
        parts = []
        for holder, lists in zip([*stands, *OTHERS], written.potentials, strict=True):
            futures = " | ".join(" ".join(map(self._shown_option, options)) for options in lists if options)
            if futures or holder not in OTHERS:
                parts.append(f"{holder} may read {futures}" if futures else holder)
        return "; ".join([*parts, f"phase {state.phase}"])

    def _shown_option(self, option: FileOption) -> str:
        writer, cell, value, flag = option
        threads = self._states.program.threads
        by = threads[writer].name if writer >= 0 else "start"
        return f"{self._states.program.cells[cell]}={value}({by}{'' if flag == 'R' else ', ' + flag})"

    def shown_edge(self, edge: Edge) -> str:
        if edge.cell < 0:
            return "a silent step" if edge.kind == "silent" else "an SC fence"
        values = ", ".join(str(value) for value in (edge.read, edge.written) if value >= 0)
        return f"{edge.kind}({self._states.program.cells[edge.cell]}, {values})"


def _shown_place(at: Standing) -> str:
    return " anywhere" if at.pc is None else f" at {at.pc} {list(at.registers)}"
