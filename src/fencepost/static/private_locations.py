"""Accesses that no other thread can see: to cells that one thread alone uses, or that nobody writes.

They need not be points at which other threads get their turn. The monitors have nothing to do with them:
a thread always knows of its own accesses, so none of these reads a stale value, and none tells a thread
anything about other cells that it does not know (docs/engine.md#private-locations). A cell for whose value a
thread waits is left out: a thread that waits for ever has to be seen standing there, for deadlocks.
"""

from __future__ import annotations

from collections.abc import Iterator

from fencepost.program import (
    BlockingCompareExchange,
    CellAccess,
    Constant,
    Fence,
    Instruction,
    Load,
    Mode,
    Program,
    Wait,
)


def private_accesses(program: Program) -> set[tuple[int, int]]:
    """The (thread, pc) of accesses and SC fences that can be local instructions."""
    users: dict[int, set[int]] = {}
    written: set[int] = set()
    awaited: set[int] = set()
    for t, _, instruction, cells in _accesses(program):
        for cell in cells:
            users.setdefault(cell, set()).add(t)
        if isinstance(instruction, Wait | BlockingCompareExchange):
            awaited.update(cells)
        if not isinstance(instruction, Load | Wait):
            written.update(cells)
    unseen = {cell for cell, threads in users.items() if len(threads) == 1 or cell not in written}
    quiet = unseen - awaited
    return {(t, pc) for t, pc, _, cells in _accesses(program) if quiet.issuperset(cells)}


def _accesses(program: Program) -> Iterator[tuple[int, int, Instruction, range]]:
    """Every access with the cells that it may be to; that of SC fences comes after all others."""
    for t, thread in enumerate(program.threads):
        for pc, instruction in enumerate(thread.code):
            if isinstance(instruction, CellAccess):
                yield t, pc, instruction, _cells(program, instruction)
            elif isinstance(instruction, Fence) and instruction.mode is Mode.SC:
                yield t, pc, instruction, range(len(program.cells), len(program.cells) + 1)


def _cells(program: Program, access: CellAccess) -> range:
    first = program.first_cell[access.cell.name]
    size = len(program.location_named[access.cell.name].initial)
    index = access.cell.index
    if isinstance(index, Constant) and index.value < size:
        return range(first + index.value, first + index.value + 1)
    return range(first, first + size)
