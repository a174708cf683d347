"""What runs to bad states have in common when they are shown: events without marks, and a shortest cycle."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from fencepost.analyses.safety.end_of_run import RunStep
from fencepost.engine.decode import initial_events, make_event
from fencepost.program import Program
from fencepost.program.properties import MARK_LOCATION
from fencepost.verdicts import Edge, Event
from fencepost.verdicts.graph import joined, outgoing, shortest_path


class ShownEvents:
    """The events of a run of a marked program; marks at labels are left out."""

    def __init__(self, program: Program, model: str) -> None:
        self._program, self._model = program, model
        self.events: list[Event] = []
        self.initial: dict[int, int] = {}  # cell -> the id of its initial write
        for event in initial_events(program, model):
            if event.cell != MARK_LOCATION:
                self.initial[event.id] = len(self.events)
                self.events.append(replace(event, id=len(self.events)))

    def is_mark(self, step: RunStep) -> bool:
        cells = self._program.cells
        return step.label.cell < len(cells) and cells[step.label.cell] == MARK_LOCATION

    def add(self, step: RunStep) -> int:
        """The id of the event of a step that is no mark."""
        kind, cell, read, written = step.label[:4]
        new = len(self.events)
        self.events.append(
            make_event(
                self._program,
                self._model,
                new,
                step.thread,
                step.pc,
                kind=kind,
                cell=cell,
                read=read,
                written=written,
            )
        )
        return new


def shortest_cycle(edges: Sequence[Edge]) -> tuple[Edge, ...]:
    """A shortest cycle, none if there is none."""
    leaving = outgoing(edges)
    best: list[Edge] | None = None
    for edge in edges:
        if edge.target < edge.source:  # a cycle goes back in the run
            path = shortest_path(leaving, edge.target, edge.source)
            if path is not None and (best is None or len(path) + 1 < len(best)):
                best = [edge, *path]
    return () if best is None else joined(best)
