"""Total store order again, with a buffer of values to be read per thread in place of its store buffer.

This is the dual machine of Abdulla, Atig, Bouajjani and Ngo (CONCUR 2016, LMCS 2018): it reaches the same
states with empty buffers as the machine of `tso`. A write is in memory at once; instead, reads are late.

    paper              here
    configuration      DualState          threads, load buffers, memory
    write              W                  memory, and an own-marked message at the end of the thread's buffer
    propagate          propagations       what a cell holds is appended to the buffer of any thread, any time
    delete             deletions          the oldest message of a buffer is dropped
    read-own-write     R with own         the newest own message on the cell, if the buffer has one
    read-from-buffer   R                  else the oldest message, if it is on the cell
    arw, fence         RMW, F             only with an empty buffer; an RMW acts on memory alone

Why that is the same: put the steps of a run of `tso` in another order, each read of memory where it is and
each write where its update is. Then a thread executes late what it has read early, and its load buffer holds
the values that it has read and not yet used.

Instructions beyond the paper are as in `tso`: a failing CAS needs an empty buffer and reads memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from fencepost.models.explore import reachable
from fencepost.models.sc import Memory, ScState
from fencepost.models.threads import ProgramLts, ThreadLts, Threads, ThreadState, moved
from fencepost.models.tso import on_x86, replaced
from fencepost.program import Fence, Load, Program, ReadModifyWrite, Store, Wait


class Message(NamedTuple):
    cell: int
    value: int
    own: bool = False


LoadBuffer = tuple[Message, ...]  # the oldest message first


class DualState(NamedTuple):
    """Position and registers of each thread, what it will read, and the value of each cell."""

    threads: Threads
    buffers: tuple[LoadBuffer, ...]
    memory: Memory

    @property
    def is_plain(self) -> bool:
        """All buffers are empty."""
        return not any(self.buffers)


def dual_initial_states(lts: ProgramLts) -> Iterator[DualState]:
    empty: tuple[LoadBuffer, ...] = ((),) * len(lts.threads)
    return (DualState(threads, empty, lts.program.initial_memory) for threads in lts.initial_states())


def dual_successors(lts: ProgramLts, state: DualState) -> Iterator[DualState]:
    """Everything that can happen next, but of messages only those that the thread can still read: no more
    than there are reads in its code from where it stands. For programs without loops, nothing is lost."""
    for thread, at in enumerate(state.threads):
        yield from accesses(lts, state, thread)
        yield from deletions(state, thread)
        reads = _reads_left(lts.threads[thread], at)
        if sum(not message.own for message in state.buffers[thread]) < len(reads):
            yield from propagations(state, thread, set().union(*reads))


def _reads_left(part: ThreadLts, at: ThreadState) -> list[set[int]]:
    """For each read in the code from `at` on the cells that it may read."""
    program = part.program
    names = [i.cell.name for i in part.code[max(at.pc, 0) :] if isinstance(i, Load | Wait)]
    return [
        {cell for cell, name in enumerate(program.cells) if name.partition("[")[0] == location}
        for location in names
    ]


def accesses(lts: ProgramLts, state: DualState, thread: int) -> Iterator[DualState]:
    """The next access or SC fence of the thread if it is enabled, once for each place to which it leads."""
    threads, buffers, memory = state
    at, buffer = threads[thread], buffers[thread]
    access = lts.threads[thread].access(at)
    if access is None:
        return
    found: int | None = 0  # a store or fence does not look
    if isinstance(access.instruction, Fence | ReadModifyWrite):
        if buffer:
            return
        found = 0 if isinstance(access.instruction, Fence) else memory[access.cell]
    elif not isinstance(access.instruction, Store):
        found = _found(buffer, access.cell)
    step = None if found is None else lts.threads[thread].step(at, found)
    if step is None:
        return
    written = None if isinstance(access.instruction, Fence) else step.label.written
    if written is not None:
        memory = replaced(memory, access.cell, written)
    if step.label.kind == "W" and written is not None:
        buffers = replaced(buffers, thread, (*buffer, Message(access.cell, written, own=True)))
    for successor in step.successors:
        yield DualState(moved(threads, thread, successor), buffers, memory)


def _found(buffer: LoadBuffer, cell: int) -> int | None:
    """What a read of the cell finds; None if it has to wait for a message."""
    own = [message.value for message in buffer if message.own and message.cell == cell]
    if own:
        return own[-1]
    return buffer[0].value if buffer and buffer[0].cell == cell else None


def deletions(state: DualState, thread: int) -> Iterator[DualState]:
    if state.buffers[thread]:
        yield state._replace(buffers=replaced(state.buffers, thread, state.buffers[thread][1:]))


def propagations(state: DualState, thread: int, cells: Iterable[int]) -> Iterator[DualState]:
    """A message on one of the cells, unless it would repeat the last one, which can be read again anyway."""
    buffer = state.buffers[thread]
    for message in (Message(cell, state.memory[cell]) for cell in cells):
        if buffer[-1:] != (message,):
            yield state._replace(buffers=replaced(state.buffers, thread, (*buffer, message)))


def dual_plain_states(program: Program, limit: int | None = None) -> set[ScState]:
    """Every state with empty buffers that a program without loops reaches in the dual machine.

    Raises `LimitReachedError` when there are more than `limit` states, with empty buffers or not.
    """
    lts = ProgramLts(on_x86(program))
    states = reachable(dual_initial_states(lts), lambda state: dual_successors(lts, state), limit)
    return {ScState(state.threads, state.memory) for state in states if state.is_plain}
