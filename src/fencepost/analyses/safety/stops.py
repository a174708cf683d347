"""Programs whose threads may stop where a property looks at them.

The enumeration of execution graphs looks at graphs that are as large as can be. A property about where
threads stand is about smaller ones, too. So each thread gets the choice to stop there and to leave a note in
a register. The graph without what others do after that is one of the program, because the models have with a
graph each part before some of its events.
"""

from __future__ import annotations

from typing import NamedTuple

from msgspec.structs import replace

from fencepost.program import Assume, Branch, CellAccess, Fence, Goto, Mode, Program
from fencepost.program.conditions import And, Formula, Not, Or, RegisterIs, StandsAt, standings, threads_named
from fencepost.program.expressions import Constant
from fencepost.program.instructions import Assign, Choose, Instruction, moved
from fencepost.program.program import Thread
from fencepost.program.properties import Property


class Stop(NamedTuple):
    """A note: the thread stands at `pc` if its register holds 1."""

    thread: str
    pc: int
    register: str


class Stopping(NamedTuple):
    program: Program
    stops: tuple[Stop, ...]


def stopping(program: Program, wanted: Property) -> Stopping:
    """The program with a choice to stop at all places that matter for mutual exclusion and `wanted.bad`."""
    threads, stops = [], []
    for thread in program.threads:
        places = sorted(_places(thread, wanted))
        notes = [Stop(thread.name, pc, f"(stops at {pc})") for pc in places]
        threads.append(_with_stops(thread, notes) if notes else thread)
        stops += notes
    return Stopping(replace(program, threads=tuple(threads)), tuple(stops))


def _places(thread: Thread, wanted: Property) -> set[int]:
    named = {label for label in wanted.mutex if label in thread.labels}
    places = {thread.labels[label] for label in named}
    if wanted.bad is not None and thread.name in threads_named(wanted.bad):
        places |= {pc for pc, instruction in enumerate(thread.code) if _is_seen(instruction)}
        places |= {thread.labels[at.label] for at in standings(wanted.bad) if at.thread == thread.name}
        places.add(len(thread.code))
    return places


def _is_seen(instruction: Instruction) -> bool:
    """Whether threads stand at it (`program.properties`)."""
    is_fence = isinstance(instruction, Fence) and instruction.mode is Mode.SC
    return is_fence or isinstance(instruction, CellAccess)


def _with_stops(thread: Thread, notes: list[Stop]) -> Thread:
    """At each place a choice, and at the end of the code for each a note. At the end of the thread there is
    no choice: who comes there, or is sent there by an assumption, makes the note."""
    end = len(thread.code)
    at = {note.pc: note for note in notes}
    starts = []
    size = 0
    for pc in range(end + 1):
        starts.append(size)
        size += (1 if pc in at and pc < end else 0) + (2 if pc < end and _is_assumption(thread, pc) else 1)
    last = size - 1  # where a thread comes that ends by itself
    finish = size + sum(2 for pc in at if pc < end) + (1 if end in at else 0)
    code: list[Instruction] = []
    tail: list[Instruction] = []
    for pc, instruction in enumerate(thread.code):
        if pc in at:
            note = size + (1 if end in at else 0) + len(tail)
            code.append(Choose((len(code) + 1, note), at=instruction.at))
            tail += [Assign(at[pc].register, Constant(1)), Goto(finish)]
        if isinstance(instruction, Assume):
            code += [Branch(instruction.condition, starts[pc + 1], at=instruction.at), Goto(last)]
        else:
            code.append(moved(instruction, starts))
    code += [Assign(at[end].register, Constant(1)), Goto(finish)] if end in at else [Goto(finish)]
    return replace(
        thread,
        code=(*code, *tail),
        labels={label: starts[pc] for label, pc in thread.labels.items()},
        registers=(*thread.registers, *(note.register for note in notes)),
    )


def _is_assumption(thread: Thread, pc: int) -> bool:
    return isinstance(thread.code[pc], Assume)


class Standing(NamedTuple):
    """Where some threads of a program have stopped, and what their registers hold."""

    places: dict[str, int]
    registers: dict[str, dict[str, int]]


def breaks_mutex(program: Program, wanted: Property, standing: Standing) -> bool:
    """Whether two different threads stand at labels of the list."""
    return len(at_labels(program, wanted, standing)) >= 2


def at_labels(program: Program, wanted: Property, standing: Standing) -> dict[str, str]:
    """The threads that stand at labels of mutual exclusion, and one of these each."""
    return {
        thread.name: label
        for thread in program.threads
        for label in wanted.mutex
        if thread.name in standing.places and thread.labels.get(label) == standing.places[thread.name]
    }


def is_bad(program: Program, formula: Formula, standing: Standing) -> bool:
    """Whether the formula is true; not if a thread that it names is somewhere between its places."""
    if not threads_named(formula) <= standing.places.keys():
        return False
    labels = {thread.name: thread.labels for thread in program.threads}

    def is_true(part: Formula) -> bool:
        match part:
            case StandsAt(thread, label):
                return labels[thread].get(label) == standing.places[thread]
            case RegisterIs(thread, register, value, comparison):
                return (standing.registers[thread][register] == value) == (comparison == "==")
            case Not(inner):
                return not is_true(inner)
            case And(parts):
                return all(map(is_true, parts))
            case Or(parts):
                return any(map(is_true, parts))
            case _:
                raise AssertionError(f"not in a formula about threads: {part}")

    return is_true(formula)
