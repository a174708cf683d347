"""Accesses that no other thread can see: to cells that one thread alone uses, or that nobody writes.

They need not be points at which other threads get their turn. The monitors have nothing to do with them:
a thread always knows of its own accesses, so none of these reads a stale value, and none tells a thread
anything about other cells that it does not know (docs/engine.md#private-locations). A cell for whose value a
thread waits is left out: a thread that waits for ever has to be seen standing there, for deadlocks.

Under a model in which seq_cst accesses and SC fences are ordered by S, fences are not accesses. And a cell
that is written and has seq_cst accesses is not private where the program has SC fences: a fence of another
thread that happens before one of its accesses comes before the later seq_cst ones in S, and so may the thread
tell others about it. In all other cases K of an access to a private cell is what its thread has in P already.
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
    is_sc_access,
)


def private_accesses(program: Program, *, ordered_by_s: bool = False) -> set[tuple[int, int]]:
    """The (thread, pc) of accesses, and of SC fences that are accesses, that can be local instructions."""
    users: dict[int, set[int]] = {}
    written: set[int] = set()
    awaited: set[int] = set()
    seq_cst: set[int] = set()
    accesses = list(_accesses(program))
    if ordered_by_s:
        accesses = [access for access in accesses if not isinstance(access[2], Fence)]
    for t, _, instruction, cells in accesses:
        for cell in cells:
            users.setdefault(cell, set()).add(t)
        if isinstance(instruction, Wait | BlockingCompareExchange):
            awaited.update(cells)
        if not isinstance(instruction, Load | Wait):
            written.update(cells)
        if isinstance(instruction, CellAccess) and is_sc_access(instruction):
            seq_cst.update(cells)
    unseen = {cell for cell, threads in users.items() if len(threads) == 1 or cell not in written}
    quiet = unseen - awaited
    if ordered_by_s and program.has_sc_fence:
        quiet -= seq_cst & written
    return {(t, pc) for t, pc, _, cells in accesses if quiet.issuperset(cells)}


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
