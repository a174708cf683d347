"""The registers of each thread in the course of a run, and the line it comes to next.

A run shows accesses only. What a thread computes between them follows from its code: this module lets each
thread do the accesses of the run (`models.threads`). Where the program has a choice, all outcomes are
followed, and one that fits the whole run is shown.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from fencepost.memory_models import MODELS
from fencepost.models.threads import NO_CELL, Label, ThreadLts, ThreadState
from fencepost.models.tso import on_x86
from fencepost.program import Fence, Program
from fencepost.report.printable import printable
from fencepost.verdicts import Event
from fencepost.verdicts.graph import FENCE_CELL


class Standing(msgspec.Struct, frozen=True):
    """Where a thread stands: the line of its next access (0 at its end), and its registers."""

    line: int
    registers: dict[str, str]


def standings(program: Program, model: str, events: Sequence[Event]) -> list[list[Standing]]:
    """Where each thread stands at first and after each of its events; nothing if that is not known."""
    row = MODELS[model]
    program = on_x86(program) if model == "tso" else program
    ltss = [
        ThreadLts(program, number, not row.weak_fences, ordered_by_s=row.ordered_by_s)
        for number in range(len(program.threads))
    ]
    return [
        _standings(lts, own, hidden_fences=model in ("sc", "tso"))
        for lts, own in zip(ltss, _by_thread(program, events), strict=True)
    ]


def _by_thread(program: Program, events: Sequence[Event]) -> list[list[Event]]:
    return [[event for event in events if event.thread == number] for number in range(len(program.threads))]


def _standings(lts: ThreadLts, events: Sequence[Event], *, hidden_fences: bool) -> list[Standing]:
    layers: list[dict[ThreadState, ThreadState | None]] = [dict.fromkeys(lts.start.states)]
    for event in events:
        after: dict[ThreadState, ThreadState | None] = {}
        for state in layers[-1]:
            for at in _past_fences(lts, state) if hidden_fences else (state,):
                for following in _successors(lts, at, event):
                    after.setdefault(following, state)
        layers.append(after)
    if not layers[-1]:
        return []
    way = [next(iter(layers[-1]))]
    for layer in reversed(layers):
        before = layer[way[-1]]
        if before is not None:
            way.append(before)
    return [_standing(lts, state) for state in reversed(way)]


def _past_fences(lts: ThreadLts, state: ThreadState) -> Iterator[ThreadState]:
    """Where the thread stands after any number of fences, which some runs do not show."""
    met, frontier = {state}, [state]
    while frontier:
        at = frontier.pop()
        yield at
        access = lts.access(at)
        if access is not None and isinstance(access.instruction, Fence):
            step = lts.step(at, 0)
            new = set(step.successors) - met if step is not None else set()
            met |= new
            frontier += new


def _successors(lts: ThreadLts, state: ThreadState, event: Event) -> tuple[ThreadState, ...]:
    step = lts.step(state, event.read or 0)
    if step is None or _shown(lts.program, step.label) != (event.cell, event.read, event.written):
        return ()
    at = lts.code[state.pc].at
    return step.successors if (at.line, at.column) == (event.line, event.column) else ()


def _shown(program: Program, label: Label) -> tuple[str, int | None, int | None]:
    names = (*program.cells, FENCE_CELL)
    return names[label.cell] if label.cell != NO_CELL else "", label.read, label.written


def _standing(lts: ThreadLts, state: ThreadState) -> Standing:
    line = lts.code[state.pc].at.line if 0 <= state.pc < lts.end else 0
    names = map(printable, lts.thread.registers)
    return Standing(line, dict(zip(names, map(str, state.registers), strict=True)))
