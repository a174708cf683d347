"""From the runs of the native engine to `Event`s with names and source positions.

The engine works on numbers: of threads, cells and instructions. Races, failing assertions and deadlocks are
decoded here too; a witness of more than a run is built in `analyses/`.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from fencepost.engine import _native
from fencepost.engine._native import EventKind, FailureKind
from fencepost.memory_models import MODELS
from fencepost.program import CellAccess, Fence, Instruction, Mode, Program, access_modes, read_mode
from fencepost.program.spelling import statement_text
from fencepost.static.liveness import registers_read
from fencepost.verdicts import Assertion, DeadlockState, Event, Place, Race, Run
from fencepost.verdicts.graph import FENCE_CELL
from fencepost.verdicts.witnesses import FailureName

EVENT_KINDS: dict[EventKind, str] = {
    EventKind.READ: "R",
    EventKind.WRITE: "W",
    EventKind.READ_MODIFY_WRITE: "RMW",
    EventKind.FENCE: "F",
}

FAILURES: dict[FailureKind, FailureName] = {
    FailureKind.ASSERTION: "assertion",
    FailureKind.DIVISION_BY_ZERO: "division-by-zero",
    FailureKind.INDEX_OUT_OF_RANGE: "index-out-of-range",
}


def initial_events(program: Program, model: str) -> list[Event]:
    """The initial writes: one per cell, and one for the cell of SC fences where the model has it."""
    cells = list(zip(program.cells, program.initial_memory, strict=True))
    if program.has_sc_fence and not MODELS[model].ordered_by_s:
        cells.append((FENCE_CELL, 0))
    return [
        Event(id=number, thread=None, kind="W", cell=name, written=value)
        for number, (name, value) in enumerate(cells)
    ]


def decode_run(program: Program, model: str, run: Sequence[_native.Event]) -> list[Event]:
    """The initial writes and the events of the run."""
    events = initial_events(program, model)
    for event in run:
        events.append(_decode_event(program, model, len(events), event))
    return events


def _decode_event(program: Program, model: str, number: int, event: _native.Event) -> Event:
    kind = EVENT_KINDS[event.kind]
    weak_fence = event.cell > len(program.cells)
    return make_event(
        program,
        model,
        number,
        event.thread,
        event.pc,
        kind=kind,
        cell=event.cell,
        read=None if kind == "W" or weak_fence else event.read,
        written=None if kind == "R" or weak_fence else event.written,
    )


def make_event(
    program: Program,
    model: str,
    number: int,
    thread: int,
    pc: int,
    *,
    kind: str,
    cell: int,
    read: int | None,
    written: int | None,
) -> Event:
    """An event of the instruction at `pc` of a thread."""
    instruction = program.threads[thread].code[pc]
    return Event(
        id=number,
        thread=thread,
        kind=kind,  # type: ignore[arg-type]
        cell=_cell_name(program, cell),
        read=read,
        written=written,
        mode=_mode(instruction, model, kind),
        line=instruction.at.line,
        column=instruction.at.column,
        text=statement_text(program, instruction),
    )


def _cell_name(program: Program, cell: int) -> str:
    """The cell after the last one is that of SC fences; other fences have none."""
    return (*program.cells, FENCE_CELL)[cell] if cell <= len(program.cells) else ""


def _mode(instruction: Instruction, model: str, kind: str) -> str:
    """How the access orders under the model."""
    if isinstance(instruction, Fence):
        return instruction.mode.value
    assert isinstance(instruction, CellAccess)
    _, store_mode = access_modes(instruction)
    load_mode = read_mode(instruction, writes=kind != "R")
    if MODELS[model].synchronises and Mode.NA not in (load_mode, store_mode):
        load_mode, store_mode = Mode.ACQ, Mode.REL
    modes = {"R": [load_mode], "W": [store_mode]}.get(kind, [load_mode, store_mode])
    if Mode.SC in modes:  # an RMW is seq_cst as a whole
        modes = [Mode.SC]
    return ",".join(mode.value for mode in modes if mode is not None)


def decode_race(program: Program, model: str, result: _native.Result) -> Race | None:
    if result.race is None:
        return None
    events = decode_run(program, model, result.race.run)
    second = events[-1]
    first = len(events) - 2
    earlier = result.race.earlier
    if earlier is not None:
        conflicting = (
            event.id
            for event in reversed(events[:-1])
            if event.cell == second.cell
            and (event.written is not None if earlier.write else event.thread == earlier.thread)
        )
        first = next(conflicting)
    return Race(cell=second.cell, first=first, second=second.id, run=_run(program, events))


def decode_failure(program: Program, model: str, result: _native.Result) -> Assertion | None:
    """The assertion failure, division by zero, or bad index that the search met first."""
    if result.failure is None:
        return None
    failure = result.failure.failure
    place = failing_place(program, failure)
    return Assertion(
        kind=FAILURES[failure.kind],
        thread=place.thread,
        line=place.line,
        column=place.column,
        text=place.text,
        registers=place.registers,
        run=_run(program, decode_run(program, model, result.failure.run)),
    )


def failing_place(program: Program, failure: _native.Failure) -> Place:
    """The instruction that fails, with the values of the registers that it reads."""
    thread = program.threads[failure.thread]
    named = registers_read(thread.code[failure.pc])
    held = zip(thread.registers, failure.registers, strict=True)
    return replace(
        _place(program, failure.thread, failure.pc),
        registers={name: value for name, value in held if name in named},
    )


def decode_deadlock(program: Program, model: str, result: _native.Result) -> DeadlockState | None:
    if result.deadlock is None:
        return None
    waiting = result.deadlock.waiting
    return DeadlockState(
        places=tuple(_place(program, one.thread, one.pc) for one in waiting),
        memory={_cell_name(program, one.cell): one.held for one in waiting},
        run=_run(program, decode_run(program, model, result.deadlock.run)),
    )


def _place(program: Program, thread: int, pc: int) -> Place:
    instruction = program.threads[thread].code[pc]
    text = statement_text(program, instruction)
    return Place(thread=thread, line=instruction.at.line, column=instruction.at.column, text=text)


def _run(program: Program, events: list[Event]) -> Run:
    return Run(threads=tuple(thread.name for thread in program.threads), events=tuple(events))
