"""opSRA: strong release/acquire as a memory that grows an execution graph.

    sra-2020 Figure 3   condition on w                          what is added for thread τ
    WRITE  W(x, v)      none                                    a write, last in mo
    READ   R(x, v)      w wrote v to x,                         a read of w
                        w ∉ dom(mo ; hb? ; [E_τ])
    RMW    RMW(x, …)    w wrote vR to x, w last in mo           an RMW that reads w, last in mo

Thm. 4.5: it reaches the program states that SRA reaches. Def. 3.13 is asked of each step here: the first race
of a run is a WRITE by a thread that has not observed the write that is last in mo. Before, all writes to the
cell were ordered by hb, so having observed the last it has observed all; and an RMW reads the last one.

`replay` holds a run against the figure before it is shown to the user. `complete` turns a run of loSRA,
which says of a read only from which thread it reads, into one of opSRA (Lemma 5.15).

On programs with loops the graphs grow without bound: give a limit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from fencepost.models.enumerate import GraphState, transitions
from fencepost.models.graphs import Graph, initial_graph
from fencepost.models.sc import Memory, ScFinding
from fencepost.models.sra import RacingWrites, SraLts, SraState, sra_states
from fencepost.models.threads import Label, Threads, ThreadState, moved
from fencepost.program import Program

INITIAL_WRITER = -1


class FinalState(NamedTuple):
    """No thread has an access left; the value of a cell is that of its mo-maximal write."""

    threads: Threads
    memory: Memory


class RunStep(NamedTuple):
    """Thread number `thread` does `label` and goes to `successor`; what it reads is event number `w`."""

    thread: int
    label: Label
    successor: ThreadState
    w: int | None = None


class SketchedStep(NamedTuple):
    """A step of which the source is known by its thread only, −1 for the initial memory; None is any.

    Where the step leads is known as `successor`, or by what `leads` says of that place.
    """

    thread: int
    label: Label
    successor: ThreadState | None = None
    writer: int | None = None
    leads: Callable[[ThreadState], bool] | None = None


class OpSra:
    """The conditions of Figure 3, by bit masks; `w` is where a write is placed in mo, too."""

    def step(self, graph: Graph, thread: int, label: Label, w: int) -> Graph | None:
        return None if _broken_condition(graph, thread, label, w) else graph.add(thread, label, w)


OP_SRA = OpSra()


def _broken_condition(graph: Graph, thread: int, label: Label, w: int) -> str | None:
    """What keeps `thread` from doing `label` with `w`, a write to the cell of the value that it reads."""
    if label.writes and w != graph.latest(label.cell):
        return f"event {w} is not the mo-maximal write to the cell"
    order = graph.mo_lists[label.cell]
    observed = graph.observed(thread)
    if label.reads and any(observed >> newer & 1 for newer in order[order.index(w) + 1 :]):
        return f"thread {thread} has observed a write that is mo-later than event {w}"
    return None


# What a program reaches.


def op_sra_states(program: Program, limit: int | None = None) -> Iterator[SraState]:
    """Every state of the program and the memory, each once."""
    return sra_states(program, limit, OP_SRA)


def reachable_program_states(program: Program, limit: int | None = None) -> set[Threads]:
    return {state.threads for state in op_sra_states(program, limit)}


def final_states(program: Program, limit: int | None = None) -> set[FinalState]:
    lts = SraLts(program)
    cells = range(len(program.cells))
    return {
        FinalState(threads, tuple(graph.written(graph.latest(cell)) for cell in cells))
        for threads, graph in op_sra_states(program, limit)
        if all(part.access(at) is None for part, at in zip(lts.threads, threads, strict=True))
    }


def findings(program: Program, limit: int | None = None) -> set[ScFinding]:
    """The failing assertions, divisions by zero and bad indices that a run meets."""
    lts = SraLts(program)
    met = {(thread, finding) for thread, part in enumerate(lts.threads) for finding in part.start.findings}
    for state in op_sra_states(program, limit):
        for thread, step, *_ in transitions(lts, OP_SRA, GraphState(*state)):
            met.update((thread, finding) for finding in step.findings)
    return {ScFinding(finding.kind, thread, finding.pc) for thread, finding in met}


def write_write_race(program: Program, limit: int | None = None) -> RacingWrites | None:
    """A step of the program that makes a write/write race, or None if there is none."""
    lts = SraLts(program)
    for state in op_sra_states(program, limit):
        graph = state.graph
        for thread, step, latest, after in transitions(lts, OP_SRA, GraphState(*state)):
            if step.label.kind == "W" and not graph.observed(thread) >> latest & 1:
                assert isinstance(after, Graph)
                second = after.number(thread, len(after.labels[thread]))
                threads = moved(state.threads, thread, step.successors[0])
                return RacingWrites(threads, after, (after.event(latest), after.event(second)))
    return None


# Runs.


def replay(program: Program, run: Sequence[RunStep], start: Threads | None = None) -> SraState:
    """Where `run` ends; raises ValueError with the step and the condition of Figure 3 that it breaks.

    A thread that can start in several places starts where its first step can be done, unless `start` says.
    """
    lts = SraLts(program)
    threads = start or _start_of(lts, run)
    if threads not in set(lts.initial_states()):
        raise ValueError("the run does not start in an initial state of the program")
    graph = initial_graph(lts)
    for place, step in enumerate(run):
        reason = _broken_step(lts, SraState(threads, graph), step)
        if reason is not None:
            raise ValueError(f"step {place}: {reason}")
        w = graph.latest(step.label.cell) if step.w is None else step.w
        graph = graph.add(step.thread, step.label, w)
        threads = moved(threads, step.thread, step.successor)
    return SraState(threads, graph)


def complete(
    program: Program, steps: Sequence[SketchedStep], start: Threads | None = None
) -> list[RunStep] | None:
    """A run of opSRA that does `steps`, or None if there is none.

    The po-earliest source is tried first: reading from it tells the thread least (section 5).
    """
    lts = SraLts(program)
    threads = start or _start_of(lts, steps)
    run: list[RunStep] = []
    states = [SraState(threads, initial_graph(lts))]
    choices: list[Iterator[RunStep]] = []
    while len(run) < len(steps):
        if len(choices) == len(run):
            choices.append(_ways(lts, states[-1], steps[len(run)]))
        step = next(choices[-1], None)
        if step is not None:
            threads, graph = states[-1]
            w = graph.latest(step.label.cell) if step.w is None else step.w
            run.append(step)
            states.append(
                SraState(moved(threads, step.thread, step.successor), graph.add(step.thread, step.label, w))
            )
        elif run:
            choices.pop()
            run.pop()
            states.pop()
        else:
            return None
    return run


def _ways(lts: SraLts, state: SraState, sketch: SketchedStep) -> Iterator[RunStep]:
    """The steps that `sketch` can stand for in `state`."""
    graph = state.graph
    for label, successor in _moves(lts, state.threads[sketch.thread], sketch):
        if not label.reads:
            yield RunStep(sketch.thread, label, successor)
            continue
        for w in graph.mo_lists[label.cell]:
            writer = graph.event(w).thread
            from_writer = sketch.writer in (None, INITIAL_WRITER if writer is None else writer)
            if from_writer and graph.fits(label, w) and not _broken_condition(graph, sketch.thread, label, w):
                yield RunStep(sketch.thread, label, successor, w)


def _broken_step(lts: SraLts, state: SraState, step: RunStep) -> str | None:
    thread, label, _, w = step
    if not 0 <= thread < len(lts.threads):
        return f"there is no thread {thread}"
    if not any(_moves(lts, state.threads[thread], step)):
        return f"thread {thread} cannot do {_shown(label)} and then stand at {step.successor}"
    if not label.reads:
        return None if w is None else f"{_shown(label)} reads nothing"
    if w is None:
        return f"{_shown(label)} has no source"
    if w not in state.graph.mo_lists[label.cell]:
        return f"event {w} is no write to the cell of {_shown(label)}"
    if not state.graph.fits(label, w):
        return f"event {w} wrote {state.graph.written(w)}, which {_shown(label)} does not read"
    return _broken_condition(state.graph, thread, label, w)


def _moves(
    lts: SraLts, at: ThreadState, wanted: RunStep | SketchedStep
) -> Iterator[tuple[Label, ThreadState]]:
    """What the thread can do in `at`, as far as it is what `wanted` says; modes do not count."""
    leads = wanted.leads if isinstance(wanted, SketchedStep) else None
    step = lts.threads[wanted.thread].step(at, wanted.label.read or 0)
    if step is not None and step.label[:4] == wanted.label[:4]:
        for successor in step.successors:
            if wanted.successor in (None, successor) and (leads is None or leads(successor)):
                yield step.label, successor


def _start_of(lts: SraLts, steps: Sequence[RunStep] | Sequence[SketchedStep]) -> Threads:
    """For each thread the first of its initial states in which its first step can be done."""
    threads = []
    for thread, part in enumerate(lts.threads):
        first = next((step for step in steps if step.thread == thread), None)
        fitting = (at for at in part.start.states if first is None or any(_moves(lts, at, first)))
        threads.append(next(fitting, part.start.states[0]))
    return tuple(threads)


def _shown(label: Label) -> str:
    values = ", ".join(str(value) for value in (label.cell, label.read, label.written) if value is not None)
    return f"{label.kind}({values})"
