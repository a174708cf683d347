"""Running the native enumeration of execution graphs on a program."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain
from typing import NamedTuple

from fencepost.engine import _native
from fencepost.engine._native import Outcome
from fencepost.engine.lower import Lowering
from fencepost.engine.search import Limits, Watcher, bounds
from fencepost.errors import InputError
from fencepost.program import Program
from fencepost.program.instructions import jump_targets

MOST_UNROLLED = 100  # an access of a thread; a graph has 256 events at most


class Observed(NamedTuple):
    """The registers, as (thread, register) by name, and the cells whose last values are told."""

    registers: tuple[tuple[str, str], ...]
    cells: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        return (*(f"{thread}:{register}" for thread, register in self.registers), *self.cells)

    def state(self, values: Sequence[int]) -> tuple[dict[str, dict[str, int]], dict[str, int]]:
        """Registers by thread, and memory, with these values."""
        registers: dict[str, dict[str, int]] = {}
        for (thread, register), value in zip(self.registers, values, strict=False):
            registers.setdefault(thread, {})[register] = value
        return registers, dict(zip(self.cells, values[len(self.registers) :], strict=True))


def has_loops(program: Program) -> bool:
    return any(
        target <= pc
        for thread in program.threads
        for pc, instruction in enumerate(thread.code)
        for target in jump_targets(instruction)
    )


def enumerate_graphs(
    program: Program,
    model: str,
    observed: Observed,
    limits: Limits,
    *,
    unroll: int,
    find_races: bool = True,
    stop_at_failure: bool = False,
    all_leaves: bool = False,
    on_end: Callable[[Sequence[int]], bool] | None = None,
    watcher: Watcher | None = None,
) -> _native.Enumeration:
    """Every way in which the program ends under the model, if no thread does an access more than `unroll`
    times; stops at the first data race unless that is not asked for, and where `on_end` returns True. With
    `all_leaves`, graphs that cannot grow count as ends, though some thread has not ended."""
    threads = {thread.name: number for number, thread in enumerate(program.threads)}
    registers = [
        (threads[thread], program.threads[threads[thread]].registers.index(register))
        for thread, register in observed.registers
    ]
    kept = {
        name: frozenset(register for thread, register in observed.registers if thread == name)
        for name in threads
    }
    code = Lowering(program, monitored=False, kept=kept, fences_stand=True).plain
    try:
        return _native.enumerate_graphs(
            code,
            _native.GraphModel[model.upper()],
            registers,
            [program.cells.index(cell) for cell in observed.cells],
            unroll,
            find_races,
            stop_at_failure,
            all_leaves,
            on_end,
            **bounds(limits, watcher),
        )
    except ValueError as error:
        raise InputError(str(error), program.file) from None


def why_inexact(program: Program, found: _native.Enumeration, limits: Limits, unroll: int) -> str:
    """What was not looked at; nothing if everything was."""
    covered = f"after {found.graphs:,} execution graphs"
    match found.outcome:
        case Outcome.COMPLETE | Outcome.VIOLATION:
            if not found.truncated:
                return ""
            if not has_loops(program):
                return "there are runs of more than 250 accesses: they were followed only so far"
            return f"a thread may do an access more than {times(unroll)}: runs were followed only so far"
        case Outcome.STATE_LIMIT:
            return f"the limit of {limits.states:,} events was reached {covered}"
        case Outcome.TIME_LIMIT:
            return f"the {limits.time_limit} was reached {covered}"
        case Outcome.INTERRUPTED:
            return f"the search was interrupted {covered}"
        case Outcome.MEMORY_LIMIT:
            return f"the memory limit was reached {covered}"
        case _:
            thread = program.threads[found.endless_thread]
            at = thread.code[min(found.endless_pc, len(thread.code) - 1)].at
            does = "leaves the range of values" if found.outcome == Outcome.VALUE_LIMIT else "runs too long"
            return f"thread `{thread.name}` {does} (line {at.line}); the search stopped {covered}"


def times(unroll: int) -> str:
    return "once" if unroll == 1 else f"{unroll} times"


def all_observed(program: Program) -> Observed:
    """All registers and cells."""
    registers = chain.from_iterable(
        ((thread.name, register) for register in thread.registers) for thread in program.threads
    )
    return Observed(tuple(registers), tuple(program.cells))
