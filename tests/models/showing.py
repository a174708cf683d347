"""Turns what the definitions find into the values shown to the user: witnesses, races, assertions.

By search under SC, slow and without any cleverness, so that tests of `replay` do not need the engine. What
each model means is taken from `definition`.
"""

from __future__ import annotations

from collections.abc import Iterator

from fencepost.models import rc20, sc
from fencepost.models.definition import definition, program_lts
from fencepost.models.enumerate import GraphState, transitions
from fencepost.models.graphs import NOTHING, Graph, initial_graph
from fencepost.models.relations import identity
from fencepost.models.robustness import NonRobustnessWitness
from fencepost.models.sc import SCG
from fencepost.models.threads import NO_CELL, Finding, Label, ProgramLts, moved
from fencepost.program import CellAccess, Fence, Mode, Program, access_modes, read_mode
from fencepost.verdicts import Assertion, Edge, Event, Race, Run, Witness
from fencepost.verdicts.graph import outgoing, shortest_path

Path = tuple[tuple[int, int, Label], ...]  # thread, pc, label
Findings = set[tuple[int, Finding]]


def witness_shown(program: Program, found: NonRobustnessWitness, model: str = "ra") -> Witness:
    lts = program_lts(program, model)
    goal = GraphState(found.threads, found.graph)
    path = next(path for state, path, _ in _paths(lts) if state == goal)
    pc = found.threads[found.thread].pc
    events = _events(lts, (*path, (found.thread, pc, found.label)))
    graph = found.graph.add(found.thread, found.label, found.w)
    numbers = _numbers(graph, events)
    ids = {number: place for place, number in enumerate(numbers)}
    last = len(events) - 1
    cycle = tuple(shortest_path(outgoing(_edges(graph, numbers, neighbours=False)), last, last))
    return Witness(
        threads=tuple(thread.name for thread in program.threads),
        events=events,
        stale=ids[found.w],
        latest=ids[found.graph.latest(found.label.cell)],
        edges=tuple(_edges(graph, numbers, neighbours=True)),
        cycle=cycle,
        unordered=tuple(_unordered(graph, numbers, cycle, model)),
    )


def race_shown(program: Program, model: str = "ra") -> Race:
    """A race of a program that has one."""
    return _unordered_accesses_shown(program) if model == "rc20" else _next_accesses_shown(program)


def _next_accesses_shown(program: Program) -> Race:
    lts = ProgramLts(program)
    for (threads, graph), path, _ in _paths(lts):
        for cell, pair, pcs in sc.racing(lts, threads):
            values = [graph.written(graph.latest(program.cells.index(cell)))] * 2
            steps = [lts.threads[t].step(threads[t], v) for t, v in zip(pair, values, strict=True)]
            last = tuple((t, pc, step.label) for t, pc, step in zip(pair, pcs, steps, strict=True))
            run = _run(lts, path + last)
            return Race(cell=cell, first=len(run.events) - 2, second=len(run.events) - 1, run=run)
    raise AssertionError("no race")


def _unordered_accesses_shown(program: Program) -> Race:
    lts = program_lts(program, "rc20")
    for (threads, graph), path, _ in _paths(lts):
        for cell, first, second in rc20.racing(lts, threads, graph):
            run = _run(lts, (*path, (second.thread, threads[second.thread].pc, second.label)))
            number = graph.number(first.thread, first.serial)
            place = _numbers(graph, run.events).index(number)
            return Race(cell=cell, first=place, second=len(run.events) - 1, run=run)
    raise AssertionError("no race")


def assertions_shown(program: Program, model: str = "ra") -> Iterator[Assertion]:
    """Everything that goes wrong in the program, each time with one run to it."""
    lts = program_lts(program, model)
    seen: Findings = set()
    for _, path, findings in _paths(lts):
        for thread, finding in findings - seen:
            seen.add((thread, finding))
            code, names = program.threads[thread].code, program.threads[thread].registers
            yield Assertion(
                kind=finding.kind,
                thread=thread,
                line=code[finding.pc].at.line,
                column=code[finding.pc].at.column,
                text="",
                registers=dict(zip(names, finding.registers, strict=True)),
                run=_run(lts, path),
            )


def runs_shown(program: Program, model: str = "ra") -> Iterator[Run]:
    lts = program_lts(program, model)
    return (_run(lts, path) for _, path, _ in _paths(lts))


def _paths(lts: ProgramLts) -> Iterator[tuple[GraphState, Path, Findings]]:
    """Every state of P_SCG with a shortest path to it, and the findings on arrival by that path.

    A step that finds something is shown even where it leads to a state that was met before.
    """
    empty = initial_graph(lts)
    at_start = {(t, finding) for t, thread in enumerate(lts.threads) for finding in thread.start.findings}
    start = [(GraphState(threads, empty), (), at_start) for threads in lts.initial_states()]
    for thread in range(len(lts.threads)):
        start = [after for before in start for after in _past_fences(lts, thread, *before)]
    yield from start
    frontier = [(state, path) for state, path, _ in start]
    seen = {state for state, _ in frontier}
    while frontier:
        level, frontier = frontier, []
        for state, path in level:
            for thread, step, _, graph in transitions(lts, SCG, state):
                longer = (*path, (thread, state.threads[thread].pc, step.label))
                findings = {(thread, finding) for finding in step.findings}
                reached = [GraphState(moved(state.threads, thread, at), graph) for at in step.successors]
                for at_fence in reached:
                    for after, shown, found in _past_fences(lts, thread, at_fence, longer, findings):
                        if after not in seen or found:
                            yield after, shown, found
                        if after not in seen:
                            seen.add(after)
                            frontier.append((after, shown))


def _past_fences(
    lts: ProgramLts, thread: int, state: GraphState, path: Path, findings: Findings
) -> Iterator[tuple[GraphState, Path, Findings]]:
    """The weak fences at which the thread stands follow at once."""
    at = state.threads[thread]
    access = lts.threads[thread].access(at)
    if access is None or access.cell != NO_CELL:
        yield state, path, findings
        return
    label, successors, more = lts.threads[thread].step(at, 0)
    findings = findings | {(thread, finding) for finding in more}
    graph = state.graph.add(thread, label, NOTHING)
    for successor in successors:
        after = GraphState(moved(state.threads, thread, successor), graph)
        yield from _past_fences(lts, thread, after, (*path, (thread, at.pc, label)), findings)


def _run(lts: ProgramLts, path: Path) -> Run:
    names = tuple(thread.name for thread in lts.program.threads)
    return Run(threads=names, events=_events(lts, path))


def _events(lts: ProgramLts, path: Path) -> tuple[Event, ...]:
    names = {**dict(enumerate([*lts.program.cells, "fence"])), NO_CELL: ""}
    events = [
        Event(id=cell, thread=None, kind="W", cell=names[cell], written=value)
        for cell, value in enumerate(lts.initial_memory)
    ]
    for thread, pc, label in path:
        instruction = lts.program.threads[thread].code[pc]
        event = Event(
            id=len(events),
            thread=thread,
            kind="F" if label.cell == lts.fence_cell else label.kind,
            cell=names[label.cell],
            read=label.read,
            written=label.written,
            mode=_mode(instruction, label, effective=lts.threads[thread].silent_fences),
            line=instruction.at.line,
            column=instruction.at.column,
        )
        events.append(event)
    return tuple(events)


def _mode(instruction: CellAccess | Fence, label: Label, effective: bool) -> str:
    """As written, or what it counts as under RA."""
    if isinstance(instruction, Fence):
        return instruction.mode.value
    load, store = read_mode(instruction, writes=label.writes), access_modes(instruction)[1]
    if effective and Mode.NA not in (load, store):
        load, store = (Mode.ACQ if label.reads else None), Mode.REL
    return ",".join(mode.value for mode in (load, store if label.writes else None) if mode is not None)


def _numbers(graph: Graph, events: tuple[Event, ...]) -> list[int]:
    """Of each event shown, its number in the graph."""
    serials: dict[int, int] = {}
    numbers = []
    for event in events:
        if event.thread is None:
            numbers.append(event.id)
        else:
            serials[event.thread] = serials.get(event.thread, 0) + 1
            numbers.append(graph.number(event.thread, serials[event.thread]))
    return numbers


def _edges(graph: Graph, numbers: list[int], neighbours: bool) -> Iterator[Edge]:
    place = {graph.event(number): at for at, number in enumerate(numbers)}
    inner, atomic = identity(graph.events - graph.init), identity(graph.atomics)
    order = graph.mo.immediate() if neighbours else graph.mo
    program_order = inner >> graph.po
    relations = {
        "po": program_order.immediate() if neighbours else program_order,
        "rf": atomic >> graph.rf,
        "mo": atomic >> order,
        "fr": atomic >> ((~graph.rf >> order) - graph.id),
    }
    for name, pairs in relations.items():
        yield from (Edge(place[a], place[b], name) for a, b in pairs)


def _unordered(graph: Graph, numbers: list[int], cycle: tuple[Edge, ...], model: str) -> Iterator[Edge]:
    hb = definition(model).hb(graph)
    for edge in cycle:
        ends = graph.event(numbers[edge.source]), graph.event(numbers[edge.target])
        if edge.relation != "po" and (edge.target == len(numbers) - 1 or ends not in hb):
            yield edge
