"""Release/acquire as a memory of timestamped messages: the machine of rocker-2019 section 3, Figure 3.

    label of τ       condition                                        message added          τ's new view
    W(x, v)          t free in x, T(τ)(x) < t                         ⟨x=v@t, its view⟩      T(τ)[x ↦ t]
    R(x, v)          ⟨x=v@t, T⟩ in memory, T(τ)(x) ≤ t                none                   T(τ) ⊔ T
    RMW(x, vR, vW)   ⟨x=vR@t, T⟩ in memory, T(τ)(x) ≤ t, t + 1 free   ⟨x=vW@t+1, its view⟩   T(τ)[x ↦ t+1] ⊔ T

It is the second opinion on RAG (Lemma 4.8), for programs without non-atomic cells. Timestamps have no bound
in the paper. A loop-free program needs no timestamp above the number of writes to the cell: any graph's
writes can be stamped by their place in mo, and RMWs then stand right after what they read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from fencepost.models.explore import reachable
from fencepost.models.threads import NO_CELL, Label, ProgramLts, Step, Threads, ThreadState, moved
from fencepost.program import CellAccess, Fence, Load, Program, Wait

View = tuple[int, ...]  # for each cell, a timestamp


class Message(NamedTuple):
    """⟨cell=value@time, view⟩."""

    cell: int
    value: int
    time: int
    view: View


class TimestampState(NamedTuple):
    threads: Threads
    messages: frozenset[Message]
    views: tuple[View, ...]


class _Effect(NamedTuple):
    """What a step does to the memory subsystem: the thread's new view and the new message, if any."""

    view: View
    message: Message | None = None


def timestamp_states(lts: ProgramLts, limit: int | None = None) -> Iterator[TimestampState]:
    """The reachable states of the machine, each once, with timestamps as far as a loop-free program needs."""
    most = _most_writes(lts.program)
    start: View = (0,) * len(lts.initial_memory)
    messages = frozenset(Message(cell, value, 0, start) for cell, value in enumerate(lts.initial_memory))
    initial = (
        TimestampState(threads, messages, (start,) * len(lts.threads)) for threads in lts.initial_states()
    )
    return reachable(initial, lambda state: timestamp_successors(lts, state, most), limit)


def timestamp_successors(
    lts: ProgramLts, state: TimestampState, most: Counter[int]
) -> Iterator[TimestampState]:
    """The states one access away; no write to a cell gets a timestamp above `most[cell]`."""
    for thread, at in enumerate(state.threads):
        for step in _steps(lts, thread, at, state.messages):
            for view, message in _effects(step.label, state.views[thread], state.messages, most):
                messages = state.messages if message is None else state.messages | {message}
                views = (*state.views[:thread], view, *state.views[thread + 1 :])
                for successor in step.successors:
                    yield TimestampState(moved(state.threads, thread, successor), messages, views)


def _steps(lts: ProgramLts, thread: int, at: ThreadState, messages: frozenset[Message]) -> Iterator[Step]:
    """What the program enables, for the values that are in memory at all, each label once."""
    access = lts.threads[thread].access(at)
    if access is None:
        return
    values = {message.value for message in messages if message.cell == access.cell}
    steps = (lts.threads[thread].step(at, value) for value in values or {0})
    yield from {step.label: step for step in steps if step is not None}.values()


def _effects(label: Label, own: View, messages: frozenset[Message], most: Counter[int]) -> Iterator[_Effect]:
    x = label.cell
    if x == NO_CELL:
        yield _Effect(own)
        return
    taken = {message.time for message in messages if message.cell == x}
    if label.kind == "W":
        assert label.written is not None
        for t in range(own[x] + 1, most[x] + 1):
            if t not in taken:
                view = _stamped(own, x, t)
                yield _Effect(view, Message(x, label.written, t, view))
        return
    for message in messages:
        if message.cell != x or message.value != label.read or own[x] > message.time:
            continue
        if label.written is None:
            yield _Effect(_join(own, message.view))
        elif message.time + 1 not in taken:
            view = _join(_stamped(own, x, message.time + 1), message.view)
            yield _Effect(view, Message(x, label.written, message.time + 1, view))


def _stamped(view: View, cell: int, time: int) -> View:
    return (*view[:cell], time, *view[cell + 1 :])


def _join(left: View, right: View) -> View:
    return tuple(map(max, left, right))


def _most_writes(program: Program) -> Counter[int]:
    """For each cell, how many instructions can write it."""
    most: Counter[int] = Counter()
    for thread in program.threads:
        for instruction in thread.code:
            if isinstance(instruction, Fence):
                most[len(program.cells)] += 1
            elif isinstance(instruction, CellAccess) and not isinstance(instruction, Load | Wait):
                first = program.first_cell[instruction.cell.name]
                for place in range(len(program.location_named[instruction.cell.name].initial)):
                    most[first + place] += 1
    return most
