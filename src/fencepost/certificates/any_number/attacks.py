"""Attacks on robustness against TSO, as views (Bouajjani, Derevenetc and Meyer, ESOP 2013).

In some state of sequential consistency one thread, the attacker, delays a write of y and runs on alone up to
a read of some x, which overtakes the write. Then others go on without it, only with steps that happen after
that read. If one of them accesses y, the program is not robust. So a proof of robustness has two kinds of
topics for each attacker:

    attacker     no bits: the states of the program, with the attacker told apart from others of its template
    after-read   one bit for each thread, whether it has made a step after the read, and two for each cell,
                 whether it has been accessed and written since; the attacker makes no step. It starts with
                 all views in whose global state the attacker can delay a write of the topic's cell.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fencepost.certificates.any_number.view_sets import ViewSet
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
from fencepost.models.threads import Finding, Label, ThreadLts, ThreadState, fence_cell
from fencepost.program import Load, Program, Store, Wait

Start = tuple[Global, Sequence[Local]]


def attacker_topics(program: Program) -> list[Topic]:
    return [Topic("attacker", reader=attacker) for attacker in range(len(program.threads))]


def attack_starts(first_half: ViewSet) -> dict[Topic, list[Start]]:
    """The views with which the second halves of attacks start, by the topics of these."""
    steps = first_half.steps
    attacker = steps.topic.reader
    assert steps.apart is not None
    alone = _Alone(steps.program, attacker)
    starts: dict[Topic, list[Start]] = {}
    for number, views in first_half.at.items():
        here = first_half.globals.all[number]
        for y, x in set(alone.overtaken(here.memory, here.fixed[steps.apart])):
            topic = Topic("after-read", y, reader=attacker)
            start = AfterReadSteps(steps.program, topic).start_of(here, x)
            starts.setdefault(topic, []).extend(
                (start, [not_joined(first_half.locals.all[local]) for local in view]) for view in views
            )
    return starts


def not_joined(local: Local) -> Local:
    return local._replace(bits=(0,))


class _Alone:
    """What the attacker can do alone while its writes wait."""

    def __init__(self, program: Program, attacker: int) -> None:
        self._lts = ThreadLts(program, attacker, cut_off=True)

    def overtaken(self, memory: tuple[int, ...], attacker: Local) -> Iterator[tuple[int, int]]:
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


class AfterReadSteps(ViewSteps):
    """The steps of the second half."""

    def __init__(self, program: Program, topic: Topic) -> None:
        super().__init__(program, "tso", topic)

    @property
    def _bits_of_thread(self) -> int:
        return 1

    @property
    def _bits_of_cell(self) -> int:
        return 2

    def start_of(self, here: Global, x: int) -> Global:
        """After the attacker has read x."""
        fixed = [not_joined(local) for local in here.fixed]
        assert self.apart is not None
        attacker = fixed[self.apart]
        ended = len(self.program.threads[attacker.kind].code)
        fixed[self.apart] = attacker._replace(pc=ended, registers=(0,) * len(attacker.registers))
        cells = [(0, 0)] * self._cells
        cells[x] = (1, 0)
        return Global(here.memory, tuple(fixed), tuple(cells))

    def violates_at(self, here: Global) -> bool:
        return bool(here.cells[self.topic.cell][0])

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
