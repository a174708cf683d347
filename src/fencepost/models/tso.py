"""Total store order: a machine with a store buffer per thread in front of a memory of values.

    persist-2015 section 5   here
    configuration            TsoState                 threads, buffers, memory
    write                    W                        the write enters the buffer of its thread
    update                   U                        the oldest write of a buffer reaches memory
    read-own-write           R with own               the newest write to the cell in the thread's own buffer
    read-memory              R                        memory, if the own buffer has no write to the cell
    arw                      RMW                      only with an empty buffer; on memory at once
    fence                    F                        only with an empty buffer
    skip, assign, assume     none                     local steps, which `threads` runs at once
    SC run                   unbuffered_transitions   each write is followed at once by its update

What our programs have beyond that paper: loads and stores are plain reads and writes whatever their modes, on
non-atomic cells too. FADD, exchange, CAS and BCAS (the arw of the paper) are RMWs; a failing CAS needs an
empty buffer too, then it is a read from memory. A `wait` is a read, enabled only if it would read one of its
values. An SC fence is a fence; all other fences do nothing. A seq_cst store is an exchange, as compilers for
x86 have it (`on_x86`); seq_cst loads are loads.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple, TypeVar

from msgspec.structs import replace

from fencepost.models.explore import reachable
from fencepost.models.sc import Memory, ScState
from fencepost.models.threads import ProgramLts, Threads, moved
from fencepost.program import Exchange, Fence, Instruction, Mode, Program, ReadModifyWrite, Store

T = TypeVar("T")
Buffer = tuple[tuple[int, int], ...]  # (cell, value), the oldest write first


class TsoState(NamedTuple):
    """Position and registers of each thread, its buffer, and the value of each cell of the program."""

    threads: Threads
    buffers: tuple[Buffer, ...]
    memory: Memory

    @property
    def is_plain(self) -> bool:
        """All buffers are empty."""
        return not any(self.buffers)


class TsoEvent(NamedTuple):
    """What happened. `own`: the value read is from the own buffer. An update has no `pc`."""

    thread: int
    kind: Literal["W", "U", "R", "RMW", "F"]
    cell: int
    read: int | None = None
    written: int | None = None
    pc: int | None = None
    own: bool = False


class TsoTransition(NamedTuple):
    """One event, or under SC a write and its update."""

    events: tuple[TsoEvent, ...]
    state: TsoState


def tso_initial_states(lts: ProgramLts) -> Iterator[TsoState]:
    empty: tuple[Buffer, ...] = ((),) * len(lts.threads)
    return (TsoState(threads, empty, lts.program.initial_memory) for threads in lts.initial_states())


def tso_transitions(lts: ProgramLts, state: TsoState) -> Iterator[TsoTransition]:
    """Everything that can happen next."""
    for thread in range(len(lts.threads)):
        yield from accesses(lts, state, thread)
        yield from updates(state, thread)


def unbuffered_transitions(lts: ProgramLts, state: TsoState) -> Iterator[TsoTransition]:
    """Everything that can happen next in a plain state under SC."""
    for thread in range(len(lts.threads)):
        for access in accesses(lts, state, thread):
            update = next(updates(access.state, thread), None)
            yield access if update is None else TsoTransition(access.events + update.events, update.state)


def accesses(lts: ProgramLts, state: TsoState, thread: int) -> Iterator[TsoTransition]:
    """The next access or SC fence of the thread if it is enabled, once for each place to which it leads."""
    threads, buffers, memory = state
    at, buffer = threads[thread], buffers[thread]
    access = lts.threads[thread].access(at)
    if access is None or (buffer and isinstance(access.instruction, ReadModifyWrite | Fence)):
        return
    cell, is_fence = access.cell, isinstance(access.instruction, Fence)
    buffered = [value for place, value in buffer if place == cell]
    step = lts.threads[thread].step(at, 0 if is_fence else buffered[-1] if buffered else memory[cell])
    if step is None:
        return
    kind, _, read, written, *_ = step.label
    event = TsoEvent(
        thread, "F" if is_fence else kind, cell, read, written, at.pc, kind == "R" and bool(buffered)
    )
    if event.kind == "W" and written is not None:
        buffers = replaced(buffers, thread, (*buffer, (cell, written)))
    elif event.kind == "RMW" and written is not None:
        memory = replaced(memory, cell, written)
    for successor in step.successors:
        yield TsoTransition((event,), TsoState(moved(threads, thread, successor), buffers, memory))


def updates(state: TsoState, thread: int) -> Iterator[TsoTransition]:
    """The oldest write in the buffer of the thread, if there is one, reaches memory."""
    threads, buffers, memory = state
    for cell, value in buffers[thread][:1]:
        after = TsoState(
            threads, replaced(buffers, thread, buffers[thread][1:]), replaced(memory, cell, value)
        )
        yield TsoTransition((TsoEvent(thread, "U", cell, written=value),), after)


def tso_states(lts: ProgramLts, limit: int | None = None) -> Iterator[TsoState]:
    def successors(state: TsoState) -> Iterator[TsoState]:
        return (after for _, after in tso_transitions(lts, state))

    return reachable(tso_initial_states(lts), successors, limit)


def tso_plain_states(program: Program, limit: int | None = None) -> set[ScState]:
    """Every plain state reachable under TSO; `sc.reachable_states` has those of SC.

    Raises `LimitReachedError` when there are more than `limit` states, plain or not.
    """
    states = tso_states(ProgramLts(on_x86(program)), limit)
    return {ScState(state.threads, state.memory) for state in states if state.is_plain}


def on_x86(program: Program) -> Program:
    """The program with seq_cst stores as x86 has them; instructions stay where they are."""
    if program.sc_access is None:
        return program

    def compiled(instruction: Instruction) -> Instruction:
        if isinstance(instruction, Store) and instruction.mode is Mode.SC:
            return Exchange(None, instruction.cell, instruction.value, Mode.SC, Mode.SC, at=instruction.at)
        return instruction

    threads = (replace(thread, code=tuple(map(compiled, thread.code))) for thread in program.threads)
    return replace(program, threads=tuple(threads))


def replaced(values: tuple[T, ...], place: int, value: T) -> tuple[T, ...]:
    """`values` with `value` at `place`."""
    return (*values[:place], value, *values[place + 1 :])
