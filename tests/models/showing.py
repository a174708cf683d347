"""Turns what the definitions find into the values shown to the user: witnesses, races, assertions.

By search under SC, slow and without any cleverness, so that tests of `replay` do not need the engine.
"""

from __future__ import annotations

from collections.abc import Iterator

from holdfast.models.enumerate import GraphState, transitions
from holdfast.models.graphs import Graph, initial_graph
from holdfast.models.relations import identity
from holdfast.models.robustness import NonRobustnessWitness
from holdfast.models.sc import SCG, racing
from holdfast.models.threads import Finding, Label, ProgramLts, moved
from holdfast.program import Program
from holdfast.verdicts import Assertion, Edge, Event, Race, Run, Witness

Path = tuple[tuple[int, int, Label], ...]  # thread, pc, label


def witness_shown(program: Program, found: NonRobustnessWitness) -> Witness:
    lts = ProgramLts(program)
    goal = GraphState(found.threads, found.graph)
    path = next(path for state, path, _ in _paths(lts) if state == goal)
    pc = found.threads[found.thread].pc
    events = _events(lts, (*path, (found.thread, pc, found.label)))
    graph = found.graph.add(found.thread, found.label, found.w)
    numbers = _numbers(graph, events)
    ids = {number: place for place, number in enumerate(numbers)}
    return Witness(
        threads=tuple(thread.name for thread in program.threads),
        events=events,
        stale=ids[found.w],
        latest=ids[found.graph.latest(found.label.cell)],
        edges=tuple(_edges(graph, numbers, neighbours=True)),
        cycle=_cycle_through(len(events) - 1, [*_edges(graph, numbers, neighbours=False)]),
    )


def race_shown(program: Program) -> Race:
    """A race of a program that has one."""
    lts = ProgramLts(program)
    for (threads, graph), path, _ in _paths(lts):
        for cell, pair, pcs in racing(lts, threads):
            values = [graph.written(graph.latest(program.cells.index(cell)))] * 2
            steps = [lts.threads[t].step(threads[t], v) for t, v in zip(pair, values, strict=True)]
            last = tuple((t, pc, step.label) for t, pc, step in zip(pair, pcs, steps, strict=True))
            run = _run(lts, path + last)
            return Race(cell=cell, first=len(run.events) - 2, second=len(run.events) - 1, run=run)
    raise AssertionError("no race")


def assertions_shown(program: Program) -> Iterator[Assertion]:
    """Everything that goes wrong in the program, each time with one run to it."""
    lts = ProgramLts(program)
    seen: set[tuple[int, Finding]] = set()
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


def runs_shown(program: Program) -> Iterator[Run]:
    lts = ProgramLts(program)
    return (_run(lts, path) for _, path, _ in _paths(lts))


def _paths(lts: ProgramLts) -> Iterator[tuple[GraphState, Path, set[tuple[int, Finding]]]]:
    """Every state of P_SCG with a shortest path to it, and the findings on arrival by that path.

    A step that finds something is shown even where it leads to a state that was met before.
    """
    frontier = [(GraphState(threads, initial_graph(lts)), ()) for threads in lts.initial_states()]
    at_start = {(t, finding) for t, thread in enumerate(lts.threads) for finding in thread.start.findings}
    yield from ((state, path, at_start) for state, path in frontier)
    seen = {state for state, _ in frontier}
    while frontier:
        level, frontier = frontier, []
        for state, path in level:
            for thread, step, _, graph in transitions(lts, SCG, state):
                longer = (*path, (thread, state.threads[thread].pc, step.label))
                findings = {(thread, finding) for finding in step.findings}
                for at in step.successors:
                    after = GraphState(moved(state.threads, thread, at), graph)
                    if after not in seen or findings:
                        yield after, longer, findings
                    if after not in seen:
                        seen.add(after)
                        frontier.append((after, longer))


def _run(lts: ProgramLts, path: Path) -> Run:
    names = tuple(thread.name for thread in lts.program.threads)
    return Run(threads=names, events=_events(lts, path))


def _events(lts: ProgramLts, path: Path) -> tuple[Event, ...]:
    names = [*lts.program.cells, "fence"]
    events = [
        Event(id=cell, thread=None, kind="W", cell=names[cell], written=value)
        for cell, value in enumerate(lts.initial_memory)
    ]
    for thread, pc, label in path:
        at = lts.program.threads[thread].code[pc].at
        event = Event(
            id=len(events),
            thread=thread,
            kind="F" if label.cell == lts.fence_cell else label.kind,
            cell=names[label.cell],
            read=label.read,
            written=label.written,
            mode="" if lts.atomic_cells[label.cell] else "na",
            line=at.line,
            column=at.column,
        )
        events.append(event)
    return tuple(events)


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


def _cycle_through(start: int, edges: list[Edge]) -> tuple[Edge, ...]:
    """A shortest cycle through the event `start`."""
    paths: list[tuple[Edge, ...]] = [(edge,) for edge in edges if edge.source == start]
    seen: set[int] = set()
    while paths:
        path = paths.pop(0)
        if path[-1].target == start:
            return path
        if path[-1].target not in seen:
            seen.add(path[-1].target)
            paths += [(*path, edge) for edge in edges if edge.source == path[-1].target]
    raise AssertionError("no cycle")
