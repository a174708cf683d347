"""What is bad where a run ends, whatever the model: the state that `safety_witness` shows below the run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from fencepost.models import deadlocks
from fencepost.models.sc import racing
from fencepost.models.threads import Finding, Label, ProgramLts, Threads, ThreadState
from fencepost.program import Instruction, Program
from fencepost.program.conditions import CellIs, Formula, RegisterIs, atoms, is_true, threads_named
from fencepost.program.properties import MARK_REGISTER, BadEnd, Marked, Property, bad_ends
from fencepost.program.spelling import statement_text
from fencepost.static.liveness import registers_read
from fencepost.verdicts import BadState, Place


class RunStep(NamedTuple):
    thread: int
    pc: int
    label: Label
    successor: ThreadState


class Run(NamedTuple):
    """A run of a marked program, step by step, and the value of each cell at its end."""

    program: Program
    steps: Sequence[RunStep]
    start: Threads
    end: Threads
    memory: dict[str, int]


def bad_state(marked: Marked, wanted: Property, run: Run) -> BadState:
    failure = next(_failures(run), None)
    if failure is not None:
        return _failed(marked, *failure)
    program = run.program
    mutex = [
        _place(program, t, at, label)
        for t, at in enumerate(run.end)
        for label in wanted.mutex
        if program.threads[t].labels.get(label) == at.pc
    ]
    if len({place.thread for place in mutex}) >= 2:
        return BadState(kind="mutex", places=tuple(mutex))
    race = None if wanted.ignore_races else data_race(run)
    if race is not None:
        return race
    ends = [end.formula for end in bad_ends(program, wanted) if _has_ended_so(run, end)]
    if ends:
        return _final(run, ends)
    assert wanted.bad is not None
    named = threads_named(wanted.bad)
    places = [
        _place(program, t, at, registers=program.threads[t].registers)
        for t, at in enumerate(run.end)
        if program.threads[t].name in named
    ]
    return BadState(kind="bad", places=tuple(places))


def _failures(run: Run) -> Iterator[tuple[int, Finding]]:
    """What goes wrong in the last step, or at the start: the threads that fail and how."""
    lts = ProgramLts(run.program)
    for t, part in enumerate(lts.threads):
        yield from ((t, finding) for finding in part.start.findings)
    states = list(run.start)
    for step in run.steps:
        done = lts.threads[step.thread].step(states[step.thread], step.label.read or 0)
        assert done is not None
        yield from ((step.thread, finding) for finding in done.findings)
        states[step.thread] = step.successor


def _failed(marked: Marked, t: int, finding: Finding) -> BadState:
    program = marked.program
    thread = program.threads[t]
    instruction = thread.code[finding.pc]
    named = registers_read(instruction)
    held = {
        name: value for name, value in zip(thread.registers, finding.registers, strict=True) if name in named
    }
    if marked.origins[t][finding.pc] is None:
        label = next(label for label, pc in thread.labels.items() if pc <= finding.pc < pc + 2)
        return BadState(kind="error-label", places=(_at(program, t, instruction, label),))
    return BadState(kind=finding.kind, places=(_at(program, t, instruction, registers=held),))


def data_race(run: Run) -> BadState | None:
    """The race at which two threads stand, by the definition."""
    race = next(racing(ProgramLts(run.program), run.end), None)
    if race is None:
        return None
    places = tuple(_place(run.program, t, run.end[t]) for t in race.threads)
    return BadState(kind="data-race", places=places, cell=race.cell)


def deadlock(run: Run) -> BadState | None:
    """The threads that wait where none can go on."""
    lts = ProgramLts(run.program)
    waiting = deadlocks.waiting(lts, run.end, list(run.memory.values()))
    if not waiting:
        return None
    accesses = [lts.threads[t].access(run.end[t]) for t in waiting]
    cells = [run.program.cells[access.cell] for access in accesses if access is not None]
    places = tuple(_place(run.program, t, run.end[t]) for t in waiting)
    return BadState(kind="deadlock", places=places, memory={cell: run.memory[cell] for cell in cells})


def _has_ended_so(run: Run, bad: BadEnd) -> bool:
    """Whether all threads have ended, and the state is one that `bad` is about."""
    threads = run.program.threads
    if any(at.pc != len(thread.code) for thread, at in zip(threads, run.end, strict=True)):
        return False
    registers = {
        thread.name: dict(zip(thread.registers, at.registers, strict=True))
        for thread, at in zip(threads, run.end, strict=True)
    }
    return is_true(bad.formula, registers, run.memory) is bad.wanted


def _final(run: Run, formulas: Sequence[Formula]) -> BadState:
    """The bad state where all threads have ended: the registers and cells that the formulas name."""
    program = run.program
    named = list(dict.fromkeys(atom for formula in formulas for atom in atoms(formula)))
    places = []
    for t, at in enumerate(run.end):
        thread = program.threads[t]
        registers = [a.register for a in named if isinstance(a, RegisterIs) and a.thread == thread.name]
        if registers:
            places.append(_place(program, t, at, registers=registers))
    held = run.memory
    memory = {atom.cell: held[atom.cell] for atom in named if isinstance(atom, CellIs)}
    return BadState(kind="final", places=tuple(places), memory=memory)


def _place(
    program: Program, t: int, at: ThreadState, label: str = "", *, registers: Sequence[str] = ()
) -> Place:
    thread = program.threads[t]
    held = {name: at.registers[thread.registers.index(name)] for name in registers}
    held.pop(MARK_REGISTER, None)
    if 0 <= at.pc < len(thread.code):
        return _at(program, t, thread.code[at.pc], label, held)
    return Place(thread=t, line=0, column=0, text="", label=label, registers=held)


def _at(
    program: Program,
    t: int,
    instruction: Instruction,
    label: str = "",
    registers: dict[str, int] | None = None,
) -> Place:
    return Place(
        thread=t,
        line=instruction.at.line,
        column=instruction.at.column,
        text="" if label else statement_text(program, instruction),
        label=label,
        registers=registers or {},
    )
