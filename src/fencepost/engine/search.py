"""Running the native engine on a program: limits, progress, and what came out.

The engine works on numbers; this module gives its runs back as `Event`s with names and source positions.
What a result means for a question is decided in `analyses/`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple, TypedDict

import msgspec
from msgspec.structs import replace

from fencepost.engine import _native
from fencepost.engine._native import EventKind, FailureKind, Outcome, StoreKind
from fencepost.engine.lower import Lowering
from fencepost.errors import InputError
from fencepost.memory_models import MODELS
from fencepost.program import CellAccess, Fence, Instruction, Mode, Program, access_modes
from fencepost.program.spelling import format_instruction
from fencepost.static.liveness import registers_read
from fencepost.verdicts import Assertion, Event, Race, Run, Stats

FENCE_CELL = "fence"


class Limits(msgspec.Struct, frozen=True):
    """When to give up. None is no limit; for memory it is most of what the machine has free."""

    states: int | None = None
    seconds: float | None = None
    memory_mb: float | None = None


class Variation(NamedTuple):
    """What tells searches of one program apart that forget states, or go at random.

    `seed` is that of the hash and of random choices. Of each state `bits_per_state` bits are kept. At random,
    no more than `deepest` steps from the start are followed.
    """

    seed: int = 0
    bits_per_state: int = 3
    deepest: int | None = None


_SAME = Variation()


class Tactics(msgspec.Struct, frozen=True):
    """How to search; none of it changes a verdict, but for `bitstate`. `docs/engine.md` says why.

    Without `subsumption` every monitor is kept, not only the largest ones; without `partial_order` all
    threads are stepped in every state; without `symmetry` states in which equal threads have changed places
    are told apart. Without `local`, constants are not propagated, and every access is a point at which other
    threads get their turn, also one that none of them can see. `threads` of the machine search together.

    `compress` keeps states in less memory, and every monitor. `bitstate` forgets states: it can find a
    violation in a program too large for memory, but not show that there is none. It has at most `bitstate_mb`
    for its bits, a power of two, and at most a quarter of all memory.
    """

    subsumption: bool = True
    partial_order: bool = True
    symmetry: bool = True
    local: bool = True
    threads: int = 1
    compress: bool = False
    bitstate: bool = False
    bitstate_mb: float = 128
    variation: Variation = _SAME

    @property
    def store(self) -> StoreKind:
        if self.bitstate:
            return StoreKind.BITSTATE
        if self.compress:
            return StoreKind.COMPRESSED
        return StoreKind.MAXIMAL if self.subsumption else StoreKind.EXACT


REDUCED = Tactics()
EVERY_STATE = Tactics(subsumption=False, partial_order=False, symmetry=False, local=False)


class Progress(msgspec.Struct, frozen=True):
    states: int
    transitions: int
    waiting: int
    memory_mb: float
    seconds: float


# Called about ten times a second; the search ends as interrupted when it returns True.
Watcher = Callable[[Progress], bool]

_MEGABYTE = 1 << 20
_DEEPEST = 2**32 - 1


def explore(
    program: Program,
    model: str,
    limits: Limits,
    order: str = "breadth-first",
    watcher: Watcher | None = None,
    *,
    tactics: Tactics = REDUCED,
    lowering: Lowering | None = None,
) -> _native.Result:
    """Search all states of `program` under sequential consistency with the monitor of `model`.

    Who searches it several times may give its bytecode, for the model and `tactics.local`. With partial-order
    reduction or several threads, runs are not shortest even breadth first.
    """
    if lowering is None:
        lowering = Lowering(program, monitored=model != "sc", local=tactics.local)
    code = lowering.symmetric if tactics.symmetry else lowering.plain
    with _as_input_errors(program):
        result = _native.explore(
            code,
            _native.Model[model.upper()],
            _native.Order[order.upper().replace("-", "_")],
            tactics.store,
            tactics.partial_order,
            tactics.threads,
            _native_variation(tactics),
            **bounds(limits, watcher),
        )
    if result.outcome == Outcome.ENDLESS_LOCAL_RUN and tactics.local:
        # Perhaps only since some accesses were made local.
        return explore(program, model, limits, order, watcher, tactics=replace(tactics, local=False))
    return result


def explore_tso(
    program: Program,
    criterion: str,
    limits: Limits,
    watcher: Watcher | None = None,
    *,
    find_all: bool = False,
    pivot: int | None = None,
) -> _native.TsoResult:
    """Search all states of `program` under sequential consistency for a violation of a criterion of TSO.

    With `find_all`, for all that differ in where fences could stand between the write and the read that
    overtakes it. With `pivot`, only writes and reads of that thread count; not for "robust".
    """
    code = Lowering(program, monitored=False, store_buffers=True).plain
    with _as_input_errors(program):
        return _native.explore_tso(
            code, _native.Criterion[criterion.upper()], find_all, pivot, **bounds(limits, watcher)
        )


def _native_variation(tactics: Tactics) -> _native.Variation:
    varied = tactics.variation
    deepest = _DEEPEST if varied.deepest is None else varied.deepest
    return _native.Variation(
        varied.seed, varied.bits_per_state, deepest, int(tactics.bitstate_mb * _MEGABYTE)
    )


class Bounds(TypedDict):
    most_states: int
    most_seconds: float
    most_bytes: int
    report: Callable[[int, int, int, int, float], bool] | None


def bounds(limits: Limits, watcher: Watcher | None) -> Bounds:
    """The limits as a native search takes them."""
    memory_mb = memory_to_use_mb() if limits.memory_mb is None else limits.memory_mb

    def report(states: int, transitions: int, waiting: int, memory: int, seconds: float) -> bool:
        assert watcher is not None
        return watcher(Progress(states, transitions, waiting, memory / _MEGABYTE, seconds))

    return {
        "most_states": limits.states if limits.states is not None else 2**64 - 1,
        "most_seconds": limits.seconds if limits.seconds is not None else 1e300,
        "most_bytes": int(memory_mb * _MEGABYTE),
        "report": report if watcher else None,
    }


@contextmanager
def _as_input_errors(program: Program) -> Iterator[None]:
    """What the engine refuses is a mistake in the program."""
    try:
        yield
    except ValueError as error:
        raise InputError(str(error), program.file) from None


def memory_to_use_mb() -> float:
    """Most of what the machine has free."""
    free = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return max(free * 0.8, 256 * _MEGABYTE) / _MEGABYTE


def stats(result: _native.Result) -> Stats:
    return Stats(
        states=result.states,
        transitions=result.transitions,
        seconds=round(result.seconds, 6),
        peak_memory_mb=round(result.peak_bytes / _MEGABYTE, 3),
        bits_used=msgspec.UNSET if result.bits_used is None else round(result.bits_used, 6),
    )


def why_unknown(program: Program, result: _native.Result, limits: Limits) -> str:
    """What kept the search from coming to an end."""
    covered = f"after {result.states:,} states"
    match result.outcome:
        case Outcome.STATE_LIMIT:
            return f"the limit of {limits.states:,} states was reached"
        case Outcome.TIME_LIMIT:
            return f"the time limit of {limits.seconds:g} s was reached {covered}"
        case Outcome.MEMORY_LIMIT:
            limit = "" if limits.memory_mb is None else f" of {int(limits.memory_mb):,} MB"
            return f"the memory limit{limit} was reached {covered}"
        case Outcome.INTERRUPTED:
            return f"the search was interrupted {covered}"
        case Outcome.INEXACT:
            return f"no violation was found {covered}, but bit-state hashing can miss states"
        case Outcome.VALUE_LIMIT:
            thread = program.threads[result.endless_thread]
            at = thread.code[result.endless_pc].at
            return (
                f"a value of thread `{thread.name}` leaves the range 0..{program.max_value} that is followed "
                f"(line {at.line}); the search stopped {covered}"
            )
        case _:
            thread = program.threads[result.endless_thread]
            at = thread.code[min(result.endless_pc, len(thread.code) - 1)].at
            does = "has too many choices" if result.endless_choices else "runs too long"
            return (
                f"thread `{thread.name}` {does} without a memory access (line {at.line}); "
                f"the search stopped {covered}"
            )


_KINDS: dict[EventKind, str] = {
    EventKind.READ: "R",
    EventKind.WRITE: "W",
    EventKind.READ_MODIFY_WRITE: "RMW",
    EventKind.FENCE: "F",
}

_FAILURES: dict[FailureKind, str] = {
    FailureKind.ASSERTION: "assertion",
    FailureKind.DIVISION_BY_ZERO: "division-by-zero",
    FailureKind.INDEX_OUT_OF_RANGE: "index-out-of-range",
}


def initial_events(program: Program) -> list[Event]:
    """The initial writes: one per cell, and one for the cell of SC fences where there are any."""
    cells = list(zip(program.cells, program.initial_memory, strict=True))
    if program.has_sc_fence:
        cells.append((FENCE_CELL, 0))
    return [
        Event(id=number, thread=None, kind="W", cell=name, written=value)
        for number, (name, value) in enumerate(cells)
    ]


def decode_run(program: Program, model: str, run: Sequence[_native.Event]) -> list[Event]:
    """The initial writes and the events of the run."""
    events = initial_events(program)
    for event in run:
        events.append(_decode_event(program, model, len(events), event))
    return events


def _decode_event(program: Program, model: str, number: int, event: _native.Event) -> Event:
    kind = _KINDS[event.kind]
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
        text=format_instruction(instruction),
    )


def _cell_name(program: Program, cell: int) -> str:
    """The cell after the last one is that of SC fences; other fences have none."""
    return (*program.cells, FENCE_CELL)[cell] if cell <= len(program.cells) else ""


def _mode(instruction: Instruction, model: str, kind: str) -> str:
    """How the access orders under the model."""
    if isinstance(instruction, Fence):
        return instruction.mode.value
    assert isinstance(instruction, CellAccess)
    load_mode, store_mode = access_modes(instruction)
    if MODELS[model].synchronises and Mode.NA not in (load_mode, store_mode):
        load_mode, store_mode = Mode.ACQ, Mode.REL
    modes = {"R": [load_mode], "W": [store_mode]}.get(kind, [load_mode, store_mode])
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
    thread = program.threads[failure.thread]
    instruction = thread.code[failure.pc]
    return Assertion(
        kind=_FAILURES[failure.kind],  # type: ignore[arg-type]
        thread=failure.thread,
        line=instruction.at.line,
        column=instruction.at.column,
        text=format_instruction(instruction),
        registers={
            name: value
            for name, value in zip(thread.registers, failure.registers, strict=True)
            if name in registers_read(instruction)
        },
        run=_run(program, decode_run(program, model, result.failure.run)),
    )


def _run(program: Program, events: list[Event]) -> Run:
    return Run(threads=tuple(thread.name for thread in program.threads), events=tuple(events))


def reachable_states(program: Program, most_states: int) -> set[tuple[int, ...]]:
    """Every state under sequential consistency, for tests: per thread the index of its next access (code
    size: ended, one more: diverged) and its registers, then the cells."""
    code = Lowering(program, monitored=False, keep_registers=True).plain
    return {tuple(state) for state in _native.reachable(code, most_states)}
