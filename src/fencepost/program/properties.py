"""What must not happen in a program, beside what it says itself.

Its own assertions, divisions by zero and bad indices are always bad, and so are the final states that its
final condition looks for. So are data races, unless `ignore_races` is set: states in which two different
threads stand at accesses to one non-atomic cell, at least one of them a write. A `Property` adds to that:

    mutex          two different threads stand at labels of this list
    error_labels   a thread reaches a label of this list
    bad            a formula over where threads stand and what their registers hold
    at_end         all threads have ended, and this formula over registers and cells does not hold
    deadlocks      a thread waits, and no thread can go on (`fencepost.models.deadlocks`)

A thread *stands* where others can see it: at its next access, or at its end. So that it can stand at every
label that a property names, `marked` puts an access there which nobody can notice, a read of a location that
is never written, unless the label is at an access anyway.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from msgspec.structs import replace

from fencepost.program.conditions import Formula, standings
from fencepost.program.expressions import Constant
from fencepost.program.instructions import (
    NOWHERE,
    Assert,
    Cell,
    CellAccess,
    Instruction,
    Load,
    moved,
)
from fencepost.program.program import MOST_CELLS, Location, Program, Thread

MARK_REGISTER = "(mark read)"
MARK_LOCATION = "(mark)"


@dataclass(frozen=True, slots=True)
class Property:
    mutex: tuple[str, ...] = ()
    error_labels: tuple[str, ...] = ()
    bad: Formula | None = None
    at_end: Formula | None = None
    ignore_races: bool = False
    deadlocks: bool = False


class BadEnd(NamedTuple):
    """Final states in which the formula is true are bad, or with `wanted` false those in which it is not."""

    formula: Formula
    wanted: bool


def bad_ends(program: Program, wanted: Property) -> tuple[BadEnd, ...]:
    """What the program's own condition and `wanted` say about final states."""
    ends = [] if wanted.at_end is None else [BadEnd(wanted.at_end, False)]
    if program.condition is not None:
        ends.insert(0, BadEnd(program.condition.formula, program.condition.quantifier != "forall"))
    return tuple(ends)


def asks_something(program: Program, wanted: Property) -> bool:
    """Whether anything was said to be bad: an assertion, a condition, a property, or by a non-atomic location
    data races."""
    return (
        dataclasses.replace(wanted, ignore_races=False) != Property()
        or program.condition is not None
        or (not wanted.ignore_races and not all(program.atomic_cells))
        or any(isinstance(i, Assert) for thread in program.threads for i in thread.code)
    )


class Marked(NamedTuple):
    """A program in which threads stand at the labels named, and for each of its threads the old place of
    each instruction; None for one that was added."""

    program: Program
    origins: tuple[tuple[int | None, ...], ...]


def marked(program: Program, wanted: Property) -> Marked:
    """The program as a search for `wanted` takes it."""
    threads, origins = [], []
    for thread in program.threads:
        new, origin = _marked_thread(thread, dict(_additions(thread, wanted)))
        threads.append(new)
        origins.append(origin)
    locations = program.locations
    if any(MARK_REGISTER in thread.registers for thread in threads):
        if len(program.cells) == MOST_CELLS:
            what = f"only {MOST_CELLS - 1} memory cells are supported where labels are not at accesses"
            raise program.mistake(f"{what}; the program has {MOST_CELLS}", locations[-1].at)
        locations = (*locations, Location(MARK_LOCATION))
    return Marked(replace(program, threads=tuple(threads), locations=locations), tuple(origins))


def labels_to_stand_at(thread: Thread, wanted: Property) -> set[str]:
    named = set(wanted.mutex)
    if wanted.bad is not None:
        named |= {at.label for at in standings(wanted.bad) if at.thread == thread.name}
    return named & thread.labels.keys()


def _additions(thread: Thread, wanted: Property) -> Iterator[tuple[int, list[Instruction]]]:
    """What to put before which instruction."""
    added: dict[int, list[Instruction]] = {}
    for label in sorted(labels_to_stand_at(thread, wanted)):
        pc = thread.labels[label]
        if pc < len(thread.code) and not isinstance(thread.code[pc], CellAccess):
            mark = Load(MARK_REGISTER, Cell(MARK_LOCATION), at=thread.code[pc].at)
            added[pc] = [mark]
    for label in wanted.error_labels:
        if label in thread.labels:
            pc = thread.labels[label]
            at = thread.code[pc].at if pc < len(thread.code) else NOWHERE
            added.setdefault(pc, []).append(Assert(Constant(0), at=at))
    yield from added.items()


def _marked_thread(
    thread: Thread, added: dict[int, list[Instruction]]
) -> tuple[Thread, tuple[int | None, ...]]:
    code: list[Instruction] = []
    origins: list[int | None] = []
    starts: list[int] = []
    for pc in range(len(thread.code) + 1):
        starts.append(len(code))
        code += added.get(pc, [])
        origins += [None] * len(added.get(pc, []))
        if pc < len(thread.code):
            code.append(thread.code[pc])
            origins.append(pc)
    new_code = tuple(moved(instruction, starts) for instruction in code)
    labels = {label: starts[pc] for label, pc in thread.labels.items()}
    marks = any(isinstance(i, Load) and i.register == MARK_REGISTER for i in new_code)
    registers = (*thread.registers, MARK_REGISTER) if marks else thread.registers
    return replace(thread, code=new_code, labels=labels, registers=registers), tuple(origins)
