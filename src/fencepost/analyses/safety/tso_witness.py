"""From a path that an engine found to the run with store buffers that the user sees.

The engines tell which steps each thread does, and in which order writes reach memory. Between two of these
updates memory does not change, so what is left to find is after how many updates each step comes:

    read         after so many that its thread finds the value: in its own buffer, or else in memory
    write        before its own update
    RMW          it is an update itself, and comes after those of all earlier writes of its thread
    SC fence     after the updates of all earlier writes of its thread

The steps of a thread stay in order, and nothing else is asked of them. So each is put as late as the next one
of its thread allows: then a write waits only if a later read of its thread has to come before its update, and
a run that needs no store buffers for this order of the updates has none. If accesses do not form a cycle, it
needs none for another order, and is shown as an interleaving. The machine of `models.tso` does the run again
before it is shown.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from graphlib import TopologicalSorter
from itertools import accumulate
from typing import NamedTuple

from fencepost.analyses.safety.drawing import ShownEvents, shortest_cycle
from fencepost.analyses.safety.end_of_run import Run, RunStep
from fencepost.analyses.safety.paths import Path, Standings, Stands
from fencepost.engine import _native
from fencepost.engine._native import LabelKind
from fencepost.models.threads import ProgramLts, ThreadState
from fencepost.models.tso import TsoState, accesses, replaced, updates
from fencepost.program import Program
from fencepost.verdicts import BadState, Delay, Edge, Event, SafetyWitness
from fencepost.verdicts.graph import Orders, Sources, edges_between

_WRITES = (LabelKind.WRITE, LabelKind.READ_MODIFY_WRITE)


def tso_safety_witness(program: Program, path: Path, what: Callable[[Run], BadState]) -> SafetyWitness:
    """The run of the marked program along `path` to a bad state: `what` says what is bad there."""
    done = list(_followed(program, path, _actions(_Timeline(program, path), path.steps)))
    witness, events = _drawn(program, done, what(_run_of(program, done)))
    if witness.delayed and not witness.cycle:
        return tso_safety_witness(program, _interleaved(path, events, witness.edges), what)
    return witness


def _interleaved(path: Path, events: Mapping[int, int], edges: Sequence[Edge]) -> Path:
    """The same steps as an interleaving; `events` are those of steps, and their edges form no cycle."""
    step_of = {event: step for step, event in events.items()}
    before: dict[int, set[int]] = {}
    last: dict[int, int] = {}  # by thread; marks and fences have no edges
    for number, step in enumerate(path.steps):
        before[number] = {last[step.thread]} if step.thread in last else set()
        last[step.thread] = number
    for edge in edges:
        if edge.source in step_of:
            before[step_of[edge.target]].add(step_of[edge.source])
    order = TopologicalSorter(before).static_order()
    return path._replace(steps=[path.steps[number] for number in order], stored_by=None)


# When each step comes.


class _Step(NamedTuple):
    number: int  # in the path
    label: _native.Label
    update: int | None  # the number of the update that it is, or whose write it is
    is_fence: bool


class _Timeline:
    """After how many updates each step of a path comes."""

    def __init__(self, program: Program, path: Path) -> None:
        fence_cell = len(program.cells)
        self.updates = [  # steps
            n for n, s in enumerate(path.steps) if s.label.kind in _WRITES and s.label.cell != fence_cell
        ]
        if path.stored_by is not None:
            self.updates = _by_thread(path.steps, self.updates, path.stored_by)
        numbers = {step: update for update, step in enumerate(self.updates)}
        self._memories = list(
            accumulate(
                (path.steps[step].label for step in self.updates),
                lambda memory, label: replaced(memory, label.cell, label.written),
                initial=program.initial_memory,
            )
        )
        self.after = [0] * len(path.steps)  # per step
        for thread in range(len(program.threads)):
            own = [
                _Step(n, s.label, numbers.get(n), s.label.cell == fence_cell)
                for n, s in enumerate(path.steps)
                if s.thread == thread
            ]
            self._place(own)

    def _place(self, steps: Sequence[_Step]) -> None:
        """Put the steps of a thread, the last one first, as late as possible."""
        latest = len(self.updates)
        for place, step in reversed(list(enumerate(steps))):
            latest = self._latest(step, steps[:place], latest)
            self.after[step.number] = latest

    def _latest(self, step: _Step, earlier: Sequence[_Step], latest: int) -> int:
        writes = [(write.update, write.label) for write in earlier if write.update is not None]
        if step.label.kind == LabelKind.WRITE:
            assert step.update is not None
            return min(step.update, latest)
        if step.update is not None:  # an RMW
            possible: Iterable[int] = range(step.update, min(step.update + 1, latest))
        elif step.is_fence:
            possible = range(max((update + 1 for update, _ in writes), default=0), latest + 1)[::-1]
        else:
            cell, value = step.label.cell, step.label.read
            possible = (n for n in range(latest, -1, -1) if self._seen(writes, n, cell) == value)
        after = next(iter(possible), None)
        if after is None:
            raise AssertionError("the engine found a path that TSO does not have")
        return after

    def _seen(self, writes: Sequence[tuple[int, _native.Label]], after: int, cell: int) -> int:
        """What a thread with these earlier writes reads in the cell."""
        own = [label.written for update, label in writes if update >= after and label.cell == cell]
        return own[-1] if own else self._memories[after][cell]


def _by_thread(
    steps: Sequence[_native.RunStep], writes: Sequence[int], stored_by: Sequence[int]
) -> list[int]:
    """The writes in the order in which their threads store them."""
    left: dict[int, deque[int]] = {}
    for number in writes:
        left.setdefault(steps[number].thread, deque()).append(number)
    return [left[thread].popleft() for thread in stored_by]


class _Action(NamedTuple):
    """A step of the path, or an update of the write at that step."""

    step: int
    is_update: bool = False


def _actions(timeline: _Timeline, steps: Sequence[_native.RunStep]) -> Iterator[_Action]:
    """The run: between two updates the thread of the next one comes last, since its write may do so."""
    between: list[list[int]] = [[] for _ in range(len(timeline.updates) + 1)]
    for number, after in enumerate(timeline.after):
        between[after].append(number)
    for after, update in enumerate([*timeline.updates, None]):
        storing = None if update is None else steps[update].thread
        yield from (_Action(n) for n in between[after] if steps[n].thread != storing)
        yield from (_Action(n) for n in between[after] if steps[n].thread == storing)
        if update is not None and steps[update].label.kind == LabelKind.WRITE:
            yield _Action(update, is_update=True)


# The run, in the machine.


class _Done(NamedTuple):
    """An action, the step of the machine unless it is an update, and the state after it."""

    action: _Action
    step: RunStep | None
    state: TsoState


def _followed(program: Program, path: Path, actions: Iterator[_Action]) -> Iterator[_Done]:
    lts, standings = ProgramLts(program), Standings(program, path)
    empty = ((),) * len(program.threads)
    state = TsoState(standings.start(lts, path.start), empty, program.initial_memory)
    yield _Done(_Action(-1), None, state)
    for action in actions:
        told = path.steps[action.step]
        step = None
        if action.is_update:
            state = next(updates(state, told.thread)).state
        else:
            step, state = _accessed(lts, state, told, standings.at(told.thread, told.to))
        yield _Done(action, step, state)


def _accessed(
    lts: ProgramLts, state: TsoState, told: _native.RunStep, leads: Stands
) -> tuple[RunStep, TsoState]:
    """The machine's step that the engine tells of."""
    for (event,), after in accesses(lts, state, told.thread):
        reads = event.read is None or event.read == told.label.read
        writes = event.written is None or event.written == told.label.written
        if event.pc == told.pc and event.cell == told.label.cell and reads and writes:
            successor: ThreadState = after.threads[told.thread]
            if leads(successor):
                step = lts.threads[told.thread].step(state.threads[told.thread], event.read or 0)
                assert step is not None
                return RunStep(told.thread, told.pc, step.label, successor), after
    raise AssertionError("the engine found a path that TSO does not have")


def _run_of(program: Program, done: Sequence[_Done]) -> Run:
    steps = tuple(one.step for one in done if one.step is not None)
    start, end = done[0].state, done[-1].state
    memory = dict(zip(program.cells, end.memory, strict=True))
    return Run(program, steps, start.threads, end.threads, memory)


# What is shown of it.


def _drawn(program: Program, done: Sequence[_Done], bad: BadState) -> tuple[SafetyWitness, Mapping[int, int]]:
    """The witness, and which steps of the path its events are. Fences are not shown."""
    shown = ShownEvents(program, "tso")
    ids: dict[int, int] = {}  # of steps of the path -> events
    stored: dict[int, int] = dict(shown.initial)  # cell -> the write that it holds
    buffers: dict[tuple[int, int], list[int]] = {}  # thread, cell -> the writes that wait
    sources: Sources = {}
    orders: Orders = {shown.events[id].cell: [id] for id in stored.values()}
    delays: list[Delay] = []
    for action, step, _ in done[1:]:
        if step is None:
            write = shown.events[ids[action.step]]
            assert write.thread is not None
            cell = program.cells.index(write.cell)
            buffers[write.thread, cell].remove(write.id)
            stored[cell] = write.id
            orders[write.cell].append(write.id)
            if write.id != len(shown.events) - 1:
                delays.append(Delay(write.id, len(shown.events) - 1))
            continue
        cell = step.label.cell
        if shown.is_mark(step) or cell == len(program.cells):
            continue
        new = ids[action.step] = shown.add(step)
        waiting = buffers.setdefault((step.thread, cell), [])
        if step.label.reads:
            sources[new] = waiting[-1] if waiting else stored[cell]
        if step.label.kind == "W":
            waiting.append(new)
        elif step.label.writes:
            stored[cell] = new
            orders[program.cells[cell]].append(new)
    edges = tuple(edges_between(shown.events, sources, orders))
    witness = SafetyWitness(
        threads=tuple(thread.name for thread in program.threads),
        events=tuple(shown.events),
        edges=edges,
        cycle=shortest_cycle([edge for edge in edges if not _is_own(shown.events, edge)]),
        bad=bad,
        delayed=tuple(delays),
    )
    return witness, ids


def _is_own(events: Sequence[Event], edge: Edge) -> bool:
    """Whether a thread reads its own write, which comes before the read anyway."""
    return edge.relation == "rf" and events[edge.source].thread == events[edge.target].thread
