"""What can be taken from a program: its orders, and the changes that would give each of them back.

The weakest form of a program has relaxed accesses, and a `Skip` where each fence stood. It is offered the
orders that the program had, and no others:

    statement        had                offered
    load, wait       acq                acquire-load
                     seq_cst            … and sc-load
    store            rel                release-store
                     seq_cst            … and sc-store
    RMW but CAS      acq, rel           acquire-rmw, release-rmw
                     seq_cst            both and sc-rmw
    CAS              acq, rel           acquire-success, release-rmw
                     seq_cst            both and sc-success
      that fails     acq                acquire-failure
                     seq_cst            … and sc-failure
    fence            acq, rel, acq_rel  acquire-fence, release-fence, or both
                     seq_cst            both and sc-fence

`had` is the choice of these that makes the program what it was. To `trade` orders, accesses to shared
locations are offered all that there are, whatever they had: one that gets stronger can save a fence.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from fencepost.analyses.repair.changes import Change, Kind, Offered, functions_of, shared_locations
from fencepost.program import (
    BlockingCompareExchange,
    CellAccess,
    CompareExchange,
    Exchange,
    Fence,
    FetchAdd,
    Instruction,
    Load,
    Mode,
    Program,
    Skip,
    Store,
    Wait,
    access_modes,
    moved,
)
from fencepost.static.flow import loop_depths

# What a statement is when it is one step weaker than by the change alone.
NEXT_WEAKER: dict[Kind, tuple[Kind, ...]] = {
    "sc-load": ("acquire-load",),
    "sc-store": ("release-store",),
    "sc-rmw": ("acquire-rmw", "release-rmw"),
    "sc-success": ("acquire-success", "release-rmw"),
    "sc-failure": ("acquire-failure",),
    "sc-fence": ("acquire-fence", "release-fence"),
}


class Weakest(NamedTuple):
    """The weakest form of a program, with what is offered, and the numbers of the changes that it had."""

    offered: Offered
    had: frozenset[int]


def weakest(program: Program, model: str, *, trade: bool = False) -> Weakest:
    threads = tuple(replace(thread, code=tuple(map(_weakest, thread.code))) for thread in program.threads)
    changes: list[Change] = []
    had: set[int] = set()
    traded = shared_locations(program, non_atomic=False) if trade else set()
    for of_function in functions_of(program):
        code = program.threads[of_function[0]].code
        loops = loop_depths(code)
        for pc, instruction in enumerate(code):
            orders = dict(_orders(instruction))
            if isinstance(instruction, CellAccess) and instruction.cell.name in traded:
                orders = dict.fromkeys(dict(_orders(_strongest(instruction))), False) | orders
            for kind, is_had in orders.items():
                if is_had:
                    had.add(len(changes))
                changes.append(Change(kind, of_function, pc, None, loops[pc]))
    stripped = replace(program, threads=threads, source=None)
    return Weakest(Offered(stripped, model, changes), frozenset(had))


def without_skips(program: Program, original: Program) -> Program:
    """The program without the statements that were fences in the original and do nothing now."""
    threads = []
    for thread, old in zip(program.threads, original.threads, strict=True):
        starts: list[int] = []
        code: list[Instruction] = []
        for instruction, was in zip(thread.code, old.code, strict=True):
            starts.append(len(code))
            if not (isinstance(instruction, Skip) and isinstance(was, Fence)):
                code.append(instruction)
        starts.append(len(code))
        labels = {label: starts[pc] for label, pc in thread.labels.items()}
        threads.append(replace(thread, code=tuple(moved(i, starts) for i in code), labels=labels))
    return replace(program, threads=tuple(threads))


def _weakest(instruction: Instruction) -> Instruction:
    return Skip(at=instruction.at) if isinstance(instruction, Fence) else _with_order(instruction, Mode.RLX)


def _strongest(instruction: Instruction) -> Instruction:
    return _with_order(instruction, Mode.SC)


def _with_order(instruction: Instruction, mode: Mode) -> Instruction:
    """An atomic access with this order in all its parts."""
    match instruction:
        case Load() | Store() | Wait() if instruction.mode is not Mode.NA:
            return replace(instruction, mode=mode)
        case CompareExchange():
            return replace(instruction, load_mode=mode, store_mode=mode, failure_mode=mode)
        case FetchAdd() | Exchange() | BlockingCompareExchange():
            return replace(instruction, load_mode=mode, store_mode=mode)
        case _:
            return instruction


def _orders(instruction: Instruction) -> Iterator[tuple[Kind, bool]]:
    """The orders that are offered for the statement, and whether it has each of them."""
    match instruction:
        case Fence(mode):
            yield from _up_to(mode, ("acquire-fence", "release-fence"), "sc-fence")
        case Load() | Wait():
            yield from _up_to(instruction.mode, ("acquire-load",), "sc-load")
        case Store():
            yield from _up_to(instruction.mode, ("release-store",), "sc-store")
        case CompareExchange():
            mode = _together(access_modes(instruction))
            yield from _up_to(mode, ("acquire-success", "release-rmw"), "sc-success")
            yield from _up_to(instruction.failure_mode, ("acquire-failure",), "sc-failure")
        case FetchAdd() | Exchange() | BlockingCompareExchange():
            yield from _up_to(_together(access_modes(instruction)), ("acquire-rmw", "release-rmw"), "sc-rmw")


def _together(modes: Sequence[Mode | None]) -> Mode:
    """One word for the modes of both parts."""
    if Mode.SC in modes:
        return Mode.SC
    if Mode.ACQ in modes:
        return Mode.ACQ_REL if Mode.REL in modes else Mode.ACQ
    return Mode.REL if Mode.REL in modes else Mode.RLX


def _up_to(mode: Mode | None, weak: tuple[Kind, ...], strong: Kind) -> Iterator[tuple[Kind, bool]]:
    for kind in weak:
        wanted = Mode.ACQ if kind.startswith("acquire") else Mode.REL
        if mode in (wanted, Mode.ACQ_REL, Mode.SC):
            yield kind, mode is not Mode.SC
    if mode is Mode.SC:
        yield strong, True
