"""From a path that an engine found to the run of opSRA that the user sees.

The engine's path names threads, accesses and the thread that each value read comes from. The definition
(`models.op_sra`) finds which write of that thread it is, and thereby checks the path: what it does not accept
is no witness. Marks at labels are left out of what the user sees.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Literal, NamedTuple

from msgspec.structs import replace

from fencepost.analyses.safety.bad_states import FAILED
from fencepost.engine import _native
from fencepost.engine._native import LabelKind
from fencepost.engine.decode import initial_events, make_event
from fencepost.models import deadlocks, op_sra
from fencepost.models.graphs import Graph
from fencepost.models.sc import racing
from fencepost.models.sra import SraLts
from fencepost.models.threads import Finding, Label, ProgramLts, Threads, ThreadState
from fencepost.program import Instruction, Program
from fencepost.program.conditions import CellIs, Formula, RegisterIs, atoms, is_true, threads_named
from fencepost.program.properties import (
    MARK_LOCATION,
    MARK_REGISTER,
    BadEnd,
    Marked,
    Property,
    bad_ends,
)
from fencepost.program.spelling import statement_text
from fencepost.static.liveness import live_registers, registers_read
from fencepost.verdicts import BadState, Event, Place, SafetyWitness
from fencepost.verdicts.graph import edges_between, read_in_order, shortest_cycle

_KINDS: dict[LabelKind, Literal["R", "W", "RMW"]] = {
    LabelKind.SILENT: "R",
    LabelKind.READ: "R",
    LabelKind.WRITE: "W",
    LabelKind.READ_MODIFY_WRITE: "RMW",
}


class Path(NamedTuple):
    """A way to a bad state, as an engine tells it."""

    graphs: _native.ThreadGraphs
    start: list[int]  # per thread, the node where it starts
    steps: list[_native.RunStep]


class _Run(NamedTuple):
    program: Program
    steps: list[op_sra.RunStep]
    pcs: list[int]
    start: Threads
    end: Threads
    graph: Graph


def safety_witness(marked: Marked, wanted: Property, path: Path, model: str) -> SafetyWitness:
    """The run along `path` to a bad state."""
    run = _completed(marked.program, path)
    return _drawn(run, model, _bad_state(marked, wanted, run))


def data_race_witness(marked: Marked, path: Path, model: str) -> SafetyWitness:
    """The run along `path` to where two threads are about to race, whatever else goes wrong in it."""
    run = _completed(marked.program, path)
    bad = _data_race(run)
    if bad is None:
        raise AssertionError("the engine reported a data race that the run does not have")
    return _drawn(run, model, bad)


def deadlock_witness(marked: Marked, path: Path, model: str) -> SafetyWitness:
    """The run along `path` to where no thread can go on."""
    run = _completed(marked.program, path)
    program, memory = run.program, _memory(run)
    lts = SraLts(program)
    waiting = deadlocks.waiting(lts, run.end, list(memory.values()))
    if not waiting:
        raise AssertionError("the engine reported a deadlock that the run does not have")
    accesses = [lts.threads[t].access(run.end[t]) for t in waiting]
    cells = [program.cells[access.cell] for access in accesses if access is not None]
    places = tuple(_place(program, t, run.end[t]) for t in waiting)
    return _drawn(
        run, model, BadState(kind="deadlock", places=places, memory={cell: memory[cell] for cell in cells})
    )


def race_witness(marked: Marked, path: Path, model: str) -> SafetyWitness:
    """The run along `path`, after which some thread writes a cell whose last write it may not know."""
    run = _completed(marked.program, path)
    lts = SraLts(run.program)
    for thread, at in enumerate(run.end):
        access = lts.threads[thread].access(at)
        step = lts.threads[thread].step(at, 0)
        if access is None or step is None or step.label.kind != "W":
            continue
        graph = run.graph.add(thread, step.label, run.graph.latest(access.cell))
        write = graph.latest(access.cell)
        earlier = _racing_with(graph, write)
        if earlier is not None:
            last = op_sra.RunStep(thread, step.label, step.successors[0])
            longer = run._replace(steps=[*run.steps, last], pcs=[*run.pcs, at.pc], graph=graph)
            return _drawn(longer, model, BadState(kind="write-race"), writes=(earlier, write))
    raise AssertionError("the engine reported a write/write race that the run does not have")


def _racing_with(graph: Graph, write: int) -> int | None:
    """The newest of the earlier writes to the cell that hb does not order with this one, the last."""
    hb, event = graph.hb, graph.event(write)
    *earlier, _ = graph.mo_lists[graph.label(write).cell]
    return next((w for w in reversed(earlier) if (graph.event(w), event) not in hb), None)


# The run.


def _completed(program: Program, path: Path) -> _Run:
    lts = SraLts(program)
    nodes = [graph.nodes for graph in path.graphs.threads]
    live = _live_slots(program)
    start = tuple(
        _start(part.start.states, _stands(nodes[t], path.start[t], live[t]))
        for t, part in enumerate(lts.threads)
    )
    sketch = [
        op_sra.SketchedStep(
            step.thread,
            _label(step.label),
            writer=_writer(program, step),
            leads=_stands(nodes[step.thread], step.to, live[step.thread]),
        )
        for step in path.steps
    ]
    steps = op_sra.complete(program, sketch, start)
    if steps is None:
        raise AssertionError("the engine found a path that opSRA does not have")
    end, graph = op_sra.replay(program, steps, start)
    return _Run(program, steps, [step.pc for step in path.steps], start, end, graph)


def _writer(program: Program, step: _native.RunStep) -> int | None:
    """The thread that a value read comes from; an SC fence takes what it finds."""
    if step.label.cell == len(program.cells):
        return None
    return op_sra.INITIAL_WRITER if step.writer == len(program.threads) else step.writer


def _label(label: _native.Label) -> Label:
    reads = label.kind != LabelKind.WRITE
    writes = label.kind in (LabelKind.WRITE, LabelKind.READ_MODIFY_WRITE)
    return Label(
        _KINDS[label.kind],
        label.cell,
        label.read if reads else None,
        label.written if writes else None,
    )


def _live_slots(program: Program) -> list[dict[int, list[int]]]:
    """Per thread and position, the registers that the engine does not forget there."""
    result = []
    for thread in program.threads:
        live = live_registers(thread, frozenset())
        result.append({pc: [thread.registers.index(name) for name in names] for pc, names in enumerate(live)})
    return result


def _stands(
    nodes: Sequence[_native.LocalNode], number: int, live: dict[int, list[int]]
) -> Callable[[ThreadState], bool]:
    """Whether a thread is where the node says; dead registers do not count."""
    if number >= len(nodes) or nodes[number].pc == FAILED:
        return lambda _: True
    pc, registers = nodes[number].pc, nodes[number].registers
    slots = live.get(pc, [])
    return lambda at: at.pc == pc and all(at.registers[slot] == registers[slot] for slot in slots)


def _start(states: Sequence[ThreadState], stands: Callable[[ThreadState], bool]) -> ThreadState:
    return next(state for state in states if stands(state))


# What is bad at its end.


def _bad_state(marked: Marked, wanted: Property, run: _Run) -> BadState:
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
    race = None if wanted.ignore_races else _data_race(run)
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


def _failures(run: _Run) -> Iterator[tuple[int, Finding]]:
    """What goes wrong in the last step, or at the start: the threads that fail and how."""
    lts = SraLts(run.program)
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


def _data_race(run: _Run) -> BadState | None:
    """The race at which two threads stand, by the definition."""
    race = next(racing(ProgramLts(run.program), run.end), None)
    if race is None:
        return None
    places = tuple(_place(run.program, t, run.end[t]) for t in race.threads)
    return BadState(kind="data-race", places=places, cell=race.cell)


def _has_ended_so(run: _Run, bad: BadEnd) -> bool:
    """Whether all threads have ended, and the state is one that `bad` is about."""
    threads = run.program.threads
    if any(at.pc != len(thread.code) for thread, at in zip(threads, run.end, strict=True)):
        return False
    registers = {
        thread.name: dict(zip(thread.registers, at.registers, strict=True))
        for thread, at in zip(threads, run.end, strict=True)
    }
    return is_true(bad.formula, registers, _memory(run)) is bad.wanted


def _final(run: _Run, formulas: Sequence[Formula]) -> BadState:
    """The bad state where all threads have ended: the registers and cells that the formulas name."""
    program = run.program
    named = list(dict.fromkeys(atom for formula in formulas for atom in atoms(formula)))
    places = []
    for t, at in enumerate(run.end):
        thread = program.threads[t]
        registers = [a.register for a in named if isinstance(a, RegisterIs) and a.thread == thread.name]
        if registers:
            places.append(_place(program, t, at, registers=registers))
    held = _memory(run)
    memory = {atom.cell: held[atom.cell] for atom in named if isinstance(atom, CellIs)}
    return BadState(kind="final", places=tuple(places), memory=memory)


def _memory(run: _Run) -> dict[str, int]:
    """The value of each cell at the end of the run."""
    written, latest = run.graph.written, run.graph.latest
    return {cell: written(latest(number)) for number, cell in enumerate(run.program.cells)}


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


# The graph.


def _drawn(run: _Run, model: str, bad: BadState, writes: Sequence[int] = ()) -> SafetyWitness:
    """`writes` are those of the definition's graph that race."""
    program = run.program
    events: list[Event] = []
    number: dict[int, int] = {}  # of an event of the definition's graph -> its id here
    for event in initial_events(program, model):
        if event.cell != MARK_LOCATION:
            number[event.id] = len(events)
            events.append(replace(event, id=len(events)))
    serials = [0] * len(program.threads)
    source: dict[int, int] = {}
    for step, pc in zip(run.steps, run.pcs, strict=True):
        serials[step.thread] += 1
        if step.label.cell < len(program.cells) and program.cells[step.label.cell] == MARK_LOCATION:
            continue
        new = len(events)
        number[run.graph.number(step.thread, serials[step.thread])] = new
        if step.w is not None and step.label.reads:
            source[new] = number[step.w]
        kind, cell, read, written = step.label[:4]
        events.append(
            make_event(program, model, new, step.thread, pc, kind=kind, cell=cell, read=read, written=written)
        )
    _, orders = read_in_order(events)
    edges = tuple(edges_between(events, source, orders))
    return SafetyWitness(
        threads=tuple(thread.name for thread in program.threads),
        events=tuple(events),
        edges=edges,
        cycle=shortest_cycle(edges),
        bad=replace(bad, writes=tuple(number[write] for write in writes)),
    )
