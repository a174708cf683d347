"""Deadlocks: reachable states in which a thread waits, and no thread can go on.

A thread waits at a `wait`, a `BCAS` or a `lock` for a value that its cell does not hold. Each of the other
threads waits too, or has ended: at the end of its code, or by a division by zero or a bad index. A thread
that runs for ever without access still moves, and a run that an assumption cuts off is none: such states are
no deadlocks.

Under RA and SRA a cell holds the value of its mo-maximal write. A thread may be able to read an older value
and go on. But every write reaches every thread some time, so it can also miss that value, and then it waits
for ever. So the deadlocks of SC are deadlocks under every model.

Under TSO a write in a store buffer can still reach memory, so in a deadlock all store buffers are empty.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from fencepost.models.enumerate import BOTTOM, GraphMemory, reachable_graph_states
from fencepost.models.op_sra import OP_SRA
from fencepost.models.ra import RAG
from fencepost.models.sc import Memory, sc_states
from fencepost.models.sra import SraLts
from fencepost.models.threads import DIVERGED, ProgramLts, Threads
from fencepost.models.tso import on_x86, tso_states
from fencepost.program import Program

_GRAPHS: dict[str, GraphMemory] = {"sra": OP_SRA, "ra": RAG}


class Deadlock(NamedTuple):
    """Where the threads stand, and what the cells hold."""

    threads: Threads
    memory: Memory


def deadlocks(program: Program, model: str = "sc", limit: int | None = None) -> set[Deadlock]:
    """Every deadlock of the program; raises `LimitReachedError` when there are more than `limit` states."""
    if model == "sc":
        lts = ProgramLts(program, cut_off=True)
        states: Iterator[tuple[Threads, Memory]] = iter(sc_states(lts, limit))
    elif model == "tso":
        lts = ProgramLts(on_x86(program), cut_off=True)
        states = ((state.threads, state.memory) for state in tso_states(lts, limit) if state.is_plain)
    else:
        lts = SraLts(program, cut_off=True)
        states = _with_latest_values(lts, _GRAPHS[model], limit)
    return {Deadlock(threads, memory) for threads, memory in states if waiting(lts, threads, memory)}


def waiting(lts: ProgramLts, threads: Threads, memory: Sequence[int]) -> list[int]:
    """The threads that wait, if the state is a deadlock; else none."""
    found = []
    for thread, at in enumerate(threads):
        access = lts.threads[thread].access(at)
        if at.pc == DIVERGED:
            return []
        if access is None:
            continue
        held = memory[access.cell] if access.cell < len(memory) else 0  # the cell of SC fences
        if lts.threads[thread].step(at, held) is not None:
            return []
        found.append(thread)
    return found


def _with_latest_values(
    lts: SraLts, memory: GraphMemory, limit: int | None
) -> Iterator[tuple[Threads, Memory]]:
    cells = range(len(lts.program.cells))
    for threads, graph in reachable_graph_states(lts, memory, limit):
        assert graph is not BOTTOM
        yield threads, tuple(graph.written(graph.latest(cell)) for cell in cells)
