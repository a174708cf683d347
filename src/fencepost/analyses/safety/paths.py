"""A way to a bad state as an engine tells it, and which states of the definition its nodes are."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from fencepost.analyses.safety.bad_states import FAILED
from fencepost.engine import _native
from fencepost.models.threads import ProgramLts, Threads, ThreadState
from fencepost.program import Program, Thread
from fencepost.static.liveness import live_registers

Stands = Callable[[ThreadState], bool]


class Path(NamedTuple):
    """The steps, in the order in which the engine's machine does them. `kept` are the registers that it never
    forgets, by thread. `stored_by` are the threads whose writes reach memory, in this order; None: as in the
    steps."""

    graphs: _native.ThreadGraphs
    start: list[int]  # per thread, the node where it starts
    steps: list[_native.RunStep]
    kept: Mapping[str, frozenset[str]]
    stored_by: list[int] | None = None


class Standings:
    """Which states of a thread a node stands for; dead registers do not count."""

    def __init__(self, program: Program, path: Path) -> None:
        self._nodes = [graph.nodes for graph in path.graphs.threads]
        self._live = [
            _live_slots(thread, path.kept.get(thread.name, frozenset())) for thread in program.threads
        ]

    def at(self, thread: int, number: int) -> Stands:
        nodes = self._nodes[thread]
        if number >= len(nodes) or nodes[number].pc == FAILED:
            return lambda _: True
        pc, registers = nodes[number].pc, nodes[number].registers
        slots = self._live[thread].get(pc, [])
        return lambda at: at.pc == pc and all(at.registers[slot] == registers[slot] for slot in slots)

    def start(self, lts: ProgramLts, nodes: Sequence[int]) -> Threads:
        return tuple(
            next(filter(self.at(t, nodes[t]), part.start.states)) for t, part in enumerate(lts.threads)
        )


def _live_slots(thread: Thread, kept: frozenset[str]) -> dict[int, list[int]]:
    """By position, the registers that the engine does not forget there."""
    live = live_registers(thread, kept)
    return {pc: [thread.registers.index(name) for name in names] for pc, names in enumerate(live)}
