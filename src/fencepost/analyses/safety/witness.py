"""From a path that an engine found to the run of opSRA that the user sees.

The engine's path names threads, accesses and the thread that each value read comes from. The definition
(`models.op_sra`) finds which write of that thread it is, and thereby checks the path: what it does not accept
is no witness. Marks at labels are left out of what the user sees.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

from msgspec.structs import replace

from fencepost.analyses.safety.drawing import ShownEvents, shortest_cycle
from fencepost.analyses.safety.end_of_run import Run, RunStep
from fencepost.analyses.safety.paths import Path, Standings
from fencepost.engine import _native
from fencepost.engine._native import LabelKind
from fencepost.models import op_sra
from fencepost.models.graphs import Graph
from fencepost.models.sra import SraLts
from fencepost.models.threads import Label
from fencepost.program import Program
from fencepost.verdicts import BadState, SafetyWitness
from fencepost.verdicts.graph import edges_between, read_in_order

_MODEL = "ra"  # how accesses order, in what is shown

_KINDS: dict[LabelKind, Literal["R", "W", "RMW"]] = {
    LabelKind.SILENT: "R",
    LabelKind.READ: "R",
    LabelKind.WRITE: "W",
    LabelKind.READ_MODIFY_WRITE: "RMW",
}


class _SraRun(NamedTuple):
    run: Run
    sources: tuple[int | None, ...]  # per step, the event of the graph that it reads
    graph: Graph


def safety_witness(program: Program, path: Path, what: Callable[[Run], BadState]) -> SafetyWitness:
    """The run of the marked program along `path` to a bad state: `what` says what is bad there."""
    found = _completed(program, path)
    return _drawn(found, what(found.run))


def race_witness(program: Program, path: Path) -> SafetyWitness:
    """The run along `path`, after which some thread writes a cell whose last write it may not know."""
    run, sources, before = _completed(program, path)
    lts = SraLts(program)
    for thread, at in enumerate(run.end):
        access = lts.threads[thread].access(at)
        step = lts.threads[thread].step(at, 0)
        if access is None or step is None or step.label.kind != "W":
            continue
        graph = before.add(thread, step.label, before.latest(access.cell))
        write = graph.latest(access.cell)
        earlier = _racing_with(graph, write)
        if earlier is not None:
            last = RunStep(thread, at.pc, step.label, step.successors[0])
            longer = run._replace(steps=(*run.steps, last))
            bad = BadState(kind="write-race")
            return _drawn(_SraRun(longer, (*sources, None), graph), bad, writes=(earlier, write))
    raise AssertionError("the engine reported a write/write race that the run does not have")


def _racing_with(graph: Graph, write: int) -> int | None:
    """The newest of the earlier writes to the cell that hb does not order with this one, the last."""
    hb, event = graph.hb, graph.event(write)
    *earlier, _ = graph.mo_lists[graph.label(write).cell]
    return next((w for w in reversed(earlier) if (graph.event(w), event) not in hb), None)


# The run.


def _completed(program: Program, path: Path) -> _SraRun:
    standings = Standings(program, path)
    start = standings.start(SraLts(program), path.start)
    sketch = [
        op_sra.SketchedStep(
            step.thread,
            _label(step.label),
            writer=_writer(program, step),
            leads=standings.at(step.thread, step.to),
        )
        for step in path.steps
    ]
    found = op_sra.complete(program, sketch, start)
    if found is None:
        raise AssertionError("the engine found a path that opSRA does not have")
    end, graph = op_sra.replay(program, found, start)
    steps = tuple(
        RunStep(step.thread, sketched.pc, step.label, step.successor)
        for step, sketched in zip(found, path.steps, strict=True)
    )
    memory = {cell: graph.written(graph.latest(number)) for number, cell in enumerate(program.cells)}
    return _SraRun(Run(program, steps, start, end, memory), tuple(step.w for step in found), graph)


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


# The graph.


def _drawn(found: _SraRun, bad: BadState, writes: Sequence[int] = ()) -> SafetyWitness:
    """`writes` are those of the definition's graph that race."""
    (program, steps, *_), sources, graph = found
    shown = ShownEvents(program, _MODEL)
    number = shown.initial.copy()  # of an event of the definition's graph -> its id here
    serials = [0] * len(program.threads)
    source: dict[int, int] = {}
    for step, w in zip(steps, sources, strict=True):
        serials[step.thread] += 1
        if shown.is_mark(step):
            continue
        new = number[graph.number(step.thread, serials[step.thread])] = shown.add(step)
        if w is not None and step.label.reads:
            source[new] = number[w]
    _, orders = read_in_order(shown.events)
    edges = tuple(edges_between(shown.events, source, orders))
    return SafetyWitness(
        threads=tuple(thread.name for thread in program.threads),
        events=tuple(shown.events),
        edges=edges,
        cycle=shortest_cycle(edges),
        bad=replace(bad, writes=tuple(number[write] for write in writes)),
    )
