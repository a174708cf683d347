"""Robustness against TSO for any number of threads (Bouajjani, Derevenetc and Meyer, ESOP 2013).

One thread is the attacker (`native/engine/tso/tso.hpp` has the rule): in some state of sequential consistency
it delays a write of y and runs on alone up to a read of some x, which overtakes the write. Then the others go
on without it, only with steps that happen after that read. If one of them accesses y, the program is not
robust. All others are alike, so both halves are searches of views, by the definitions:

    the first half    views of the program, with one thread of the attacker's template apart
    the second half   views with a bit for each thread, whether it has made a step after the read, and two for
                      each cell, whether it has been accessed and written since; it starts with all views that
                      have a global state of the first half in which an attack can begin

The search is in Python and slow, since programs that are robust against TSO for every number are small. Other
criteria of TSO need a fixed number of threads.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

from fencepost.analyses.any_number import Robustness, Stopped, Views, stopped
from fencepost.analyses.tso import robust_against_tso
from fencepost.analyses.view_search import StoppedError, ViewWatch, least_views
from fencepost.certificates.any_number.views import (
    Bits,
    Global,
    Local,
    Moved,
    OnOthers,
    Overwritten,
    Topic,
    ViewSteps,
)
from fencepost.engine.search import Limits, Watcher, explore_any_number, stats
from fencepost.models.threads import Finding, Label, ThreadLts, ThreadState, fence_cell
from fencepost.models.tso import on_x86
from fencepost.program import Load, Program, Store, Wait
from fencepost.verdicts import RobustnessAnswer, Stats

Start = tuple[Global, list[Local]]


def robust_against_tso_for_any_number(
    program: Program, limits: Limits, watcher: Watcher | None
) -> RobustnessAnswer:
    """Whether the program is robust against TSO with every number of threads of its templates."""
    return _TsoRobustness(on_x86(program), "tso", limits, watcher).answer()


class _TsoRobustness(Robustness):
    def look(self, k: int, limits: Limits) -> Views:
        started = time.monotonic()
        under_sc = explore_any_number(self.program, "sc", k, limits, self.watcher)
        spent = stats(under_sc.search)
        why = stopped(self.program, under_sc.search, limits)
        attacked = False
        watch = ViewWatch(limits, self.watcher, started)
        if why is None:
            try:
                attacked = any(
                    _is_attacked(self.program, attacker, k, watch)
                    for attacker in range(len(self.program.threads))
                )
            except StoppedError as error:
                why = Stopped(error.why, interrupted=error.interrupted, at_state_limit=error.at_state_limit)
        spent += Stats(states=watch.views, seconds=time.monotonic() - started - spent.seconds)
        return Views(
            k,
            spent,
            violation=attacked,
            race=under_sc.race,
            failure=under_sc.failure,
            stopped=why,
        )

    def ask(self, program: Program, limits: Limits) -> RobustnessAnswer:
        return robust_against_tso(program, "robust", limits, self.watcher)


def _is_attacked(program: Program, attacker: int, k: int, watch: ViewWatch) -> bool:
    """Whether some view shows that an attack by this thread, or by one of this template, succeeds."""
    steps = ViewSteps(program, "tso", Topic(reader=attacker))
    assert steps.apart is not None
    attack = _Attack(program, attacker)
    after = _AfterRead(program, attacker)
    starts: dict[int, list[Start]] = {}  # of the second half, by the cell of the delayed write
    first_half = least_views(steps, k, watch)
    for number, views in first_half.at.items():
        here = first_half.globals.all[number]
        for y, x in set(attack.begins(here.memory, here.fixed[steps.apart])):
            start = after.start_of(here, x)
            starts.setdefault(y, []).extend(
                (start, [after.not_joined(first_half.locals.all[local]) for local in view]) for view in views
            )
    for y, of_y in starts.items():
        second_half = least_views(after, k, watch, of_y)
        if any(second_half.globals.all[here].cells[y][0] for here in second_half.at):
            return True
    return False


class _Attack:
    """What the attacker can do alone while its writes wait."""

    def __init__(self, program: Program, attacker: int) -> None:
        self._lts = ThreadLts(program, attacker, cut_off=True)

    def begins(self, memory: tuple[int, ...], attacker: Local) -> Iterator[tuple[int, int]]:
        """Each cell whose write can be delayed, with each cell of which a read can overtake it."""
        at = ThreadState(attacker.pc, attacker.registers)
        access = self._lts.access(at)
        if access is None or not isinstance(access.instruction, Store):
            return
        y = access.cell
        frontier = [(at, memory, frozenset[int]())]
        seen = set(frontier)
        while frontier:
            at, held, buffered = frontier.pop()
            access = self._lts.access(at)
            if access is None or not isinstance(access.instruction, Load | Wait | Store):
                continue
            step = self._lts.step(at, held[access.cell])
            if step is None:
                continue
            if isinstance(access.instruction, Store):
                assert step.label.written is not None
                held = (*held[: access.cell], step.label.written, *held[access.cell + 1 :])
                buffered |= {access.cell}
            elif access.cell not in buffered:
                yield y, access.cell
            for state in step.successors:
                following = state, held, buffered
                if following not in seen:
                    seen.add(following)
                    frontier.append(following)


class _AfterRead(ViewSteps):
    """The second half: a thread has one bit, whether it has joined; a cell has two, whether it has been
    accessed, and written."""

    def __init__(self, program: Program, attacker: int) -> None:
        super().__init__(program, "tso", Topic(reader=attacker))

    def start_of(self, here: Global, x: int) -> Global:
        """After the attacker, which does nothing more, has read x."""
        fixed = [local._replace(bits=(0,)) for local in here.fixed]
        assert self.apart is not None
        attacker = fixed[self.apart]
        ended = len(self.program.threads[attacker.kind].code)
        fixed[self.apart] = attacker._replace(pc=ended, registers=(0,) * len(attacker.registers))
        cells = [(0, 0)] * self._cells
        cells[x] = (1, 0)
        return Global(here.memory, tuple(fixed), tuple(cells))

    def not_joined(self, local: Local) -> Local:
        return local._replace(bits=(0,))

    def _step(
        self, here: Global, who: Local | int, actor: Local
    ) -> tuple[tuple[Moved, ...], frozenset[Finding]]:
        lts = self._threads[actor.kind]
        at = ThreadState(actor.pc, actor.registers)
        access = lts.access(at)
        if access is None:
            return (), frozenset()
        if access.cell != fence_cell(self.program):
            step = lts.step(at, here.memory[access.cell])
            accessed, written = here.cells[access.cell]
            follows = step is not None and (accessed if step.label.writes else written)
            if not (actor.bits[0] or follows):
                return (), frozenset()
        return super()._step(here, who, actor)

    def _monitored(
        self, here: Global, actor: Local, label: Label, overwritten: Overwritten | None, *, is_reader: bool
    ) -> tuple[OnOthers, Bits, tuple[Bits, ...]]:
        if label.cell == fence_cell(self.program):
            return OnOthers(), actor.bits, here.cells
        cells = list(here.cells)
        cells[label.cell] = (1, int(label.writes or cells[label.cell][1]))
        return OnOthers(), (1,), tuple(cells)
