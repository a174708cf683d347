"""States of a program with any number of threads, as views that are about one topic, and the steps between.

A view is a global state (memory, the threads that are there once, what a monitor has about cells) and the
local states of k threads of templates. What a monitor has is one bit for each value of the rules in
`models.rules`, about one topic:

    program      no bits: where threads stand, what fails, and which accesses come next
    stale        writes to a cell x, of certain values, that are overwritten. A bit of C, A, R, W … says
                 that no such write can be overlooked any more; a bit of VSC, MSC, WSC that the newest write
                 to x comes before in hbsc.
    last-write   the newest write to a non-atomic cell, for races: a bit says that it happens before
    last-read    the newest read of it by one thread, which is told apart from others of its template
    attacker, after-read   for TSO (`attacks`)

The bits are exact. The rules only join and copy places in the modification order of x. Let n be the first
place that is newer than all stale writes of the topic: `place ≥ n` turns the greater of two places into an
"or" of two bits. A write that makes another one stale moves n to its own place; no bit is left but those that
its rules set then. In the same way each write to x clears the bits of hbsc. This is all that a step does to
threads other than its own, and it does the same to all of them.

At the start nothing is stale: all bits of C, A, R, W … are set. Those of hbsc are not: they are asked for
only where something is stale, so after a write to x, which clears them anyway.

A bit that no rule asks for is 0, like a register that is dead: A without acquire fences, MSC of a cell that
nobody writes, and everything of a thread that has ended.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from operator import or_
from typing import Literal, NamedTuple

from fencepost.certificates.live_registers import live_slots
from fencepost.memory_models import MODELS
from fencepost.models.rules import Cpp20Message, Cpp20Views, ScViews, Views
from fencepost.models.threads import NO_CELL, Finding, Label, ThreadLts, ThreadState, fence_cell
from fencepost.program import (
    CellAccess,
    CompareExchange,
    Fence,
    Load,
    Mode,
    Program,
    Store,
    Wait,
    access_modes,
)

Bits = tuple[int, ...]
_WITHOUT_BITS = ("program", "attacker")
_ABOUT_ACCESSES = ("stale", "last-write", "last-read")
_ACTOR = 0  # what the thread that makes a step is called in the rules


@dataclass(frozen=True)
class Topic:
    """What bits are about. A stale write counts for reads if `plain`, for writes if `free`."""

    about: Literal["program", "stale", "last-write", "last-read", "attacker", "after-read"] = "program"
    cell: int = NO_CELL
    plain: bool = False
    free: bool = False
    values: frozenset[int] = frozenset()
    reader: int = -1  # the number of its function; of a template, one thread is told apart. Or the attacker


class Local(NamedTuple):
    """One thread: the number of its function, where it stands, and its bits."""

    kind: int
    pc: int
    registers: tuple[int, ...]
    bits: Bits


class Global(NamedTuple):
    memory: tuple[int, ...]
    fixed: tuple[Local, ...]
    cells: tuple[Bits, ...]


class OnOthers(NamedTuple):
    """What a step does to the bits of all other threads; None: nothing."""

    known: int | None = None
    aware: int | None = None


class Overwritten(NamedTuple):
    cell: int
    value: int
    exchanged: bool  # by a read-modify-write


class Moved(NamedTuple):
    """A step: the global state after it, the thread itself if it is of a template, and the others."""

    here: Global
    own: Local | None
    on_others: OnOthers
    overwritten: Overwritten | None


class ViewSteps:
    """Everything that a program can do in a view that is about `topic`."""

    def __init__(self, program: Program, model: str, topic: Topic) -> None:
        row = MODELS[model]
        self.program, self.topic = program, topic
        self._synchronises, self._ordered_by_s = row.synchronises, row.ordered_by_s
        self._threads = [
            ThreadLts(program, n, not row.weak_fences, ordered_by_s=row.ordered_by_s, cut_off=True)
            for n in range(len(program.threads))
        ]
        self._live = [live_slots(thread, frozenset()) for thread in program.threads]
        self._has_fence_cell = program.has_sc_fence and not row.ordered_by_s
        self.kinds = [n for n, thread in enumerate(program.threads) if thread.least is not None]
        self.fixed = [n for n in range(len(program.threads)) if n not in self.kinds]
        self.apart: int | None = None  # the reader's place among the threads that are there once
        if topic.reader in self.kinds:
            self.fixed.append(topic.reader)
            self.apart = len(self.fixed) - 1
        elif topic.reader >= 0:
            self.apart = self.fixed.index(topic.reader)
        self._steps: dict[tuple[Global, Local | int], tuple[tuple[Moved, ...], frozenset[Finding]]] = {}

    # How many bits there are.

    @property
    def _bits_of_thread(self) -> int:
        if self.topic.about in _WITHOUT_BITS:
            return 0
        return (12 if self._ordered_by_s else 3) + 1

    @property
    def _bits_of_cell(self) -> int:
        if self.topic.about in _WITHOUT_BITS:
            return 0
        return (8 if self._ordered_by_s else 1) + 2

    @property
    def _cells(self) -> int:
        return len(self.program.cells) + self._has_fence_cell

    # Starts.

    def start_locals(self) -> list[Local]:
        """Of threads of templates."""
        return [self._local(n, at, self._at_start()) for n in self.kinds for at in self._starts(n)]

    def start_globals(self) -> Iterator[Global]:
        of_cell = (1,) * (self._bits_of_cell - 2) + (0, 0) if self._bits_of_cell else ()
        for states in product(*(self._starts(n) for n in self.fixed)):
            fixed = (self._local(n, at, self._at_start()) for n, at in zip(self.fixed, states, strict=True))
            yield Global(self.program.initial_memory, tuple(fixed), (of_cell,) * self._cells)

    def _starts(self, thread: int) -> tuple[ThreadState, ...]:
        return self._threads[thread].start.states

    def _at_start(self) -> Bits:
        return (1,) * (self._bits_of_thread - 1) + (0,) if self._bits_of_thread else ()

    # What a state is.

    def is_global(self, here: Global) -> bool:
        """Whether a global state of a file is one that a program can be in, reachable or not."""
        return (
            len(here.memory) == len(self.program.cells)
            and all(0 <= value < self.program.modulus for value in here.memory)
            and [local.kind for local in here.fixed] == self.fixed
            and all(self._is_thread(local) for local in here.fixed)
            and len(here.cells) == self._cells
            and all(_are_bits(bits, self._bits_of_cell) for bits in here.cells)
        )

    def is_local(self, local: Local) -> bool:
        return local.kind in self.kinds and self._is_thread(local)

    def _is_thread(self, local: Local) -> bool:
        thread = self.program.threads[local.kind]
        if (
            not -1 <= local.pc <= len(thread.code)
            or len(local.registers) != len(thread.registers)
            or not all(0 <= value < self.program.modulus for value in local.registers)
            or not _are_bits(local.bits, self._bits_of_thread)
        ):
            return False
        if local.pc in (-1, len(thread.code)):
            return True
        at = ThreadState(local.pc, local.registers)
        stands = isinstance(thread.code[local.pc], CellAccess | Fence)
        return stands and not self._threads[local.kind].local_successors(at)

    # Steps.

    def steps(self, here: Global, who: Local | int) -> tuple[tuple[Moved, ...], frozenset[Finding]]:
        """The steps of a thread of a template, or of the thread at a place among the fixed ones; and what
        goes wrong in them."""
        try:
            return self._steps[here, who]
        except KeyError:
            actor = here.fixed[who] if isinstance(who, int) else who
            found = self._steps[here, who] = self._step(here, who, actor)
            return found

    def findings_at_start(self) -> bool:
        return any(thread.start.findings for thread in self._threads)

    def after(self, other: Local, on_others: OnOthers) -> Local:
        """A thread that made no step."""
        if not other.bits:
            return other
        bits = list(other.bits)
        if on_others.known is not None:
            bits[:-1] = [on_others.known] * (len(bits) - 1)
        if on_others.aware is not None:
            bits[-1] = on_others.aware
        return self._normal(other._replace(bits=tuple(bits)))

    def _step(
        self, here: Global, who: Local | int, actor: Local
    ) -> tuple[tuple[Moved, ...], frozenset[Finding]]:
        lts = self._threads[actor.kind]
        at = ThreadState(actor.pc, actor.registers)
        access = lts.access(at)
        if access is None:
            return (), frozenset()
        is_cell = 0 <= access.cell < len(here.memory)
        step = lts.step(at, here.memory[access.cell] if is_cell else 0)
        if step is None:
            return (), frozenset()
        label = step.label
        memory, overwritten = here.memory, None
        if label.writes and is_cell:
            assert label.written is not None
            overwritten = Overwritten(label.cell, memory[label.cell], label.kind == "RMW")
            memory = (*memory[: label.cell], label.written, *memory[label.cell + 1 :])
        on_others, bits, cells = self._monitored(here, actor, label, overwritten, is_reader=who == self.apart)
        fixed = [
            local if place == who else self.after(local, on_others) for place, local in enumerate(here.fixed)
        ]
        moved = []
        for state in step.successors:
            own = self._local(actor.kind, state, bits)
            if isinstance(who, int):
                fixed[who] = own
            after = Global(memory, tuple(fixed), cells)
            moved.append(Moved(after, None if isinstance(who, int) else own, on_others, overwritten))
        return tuple(moved), step.findings

    def _local(self, kind: int, at: ThreadState, bits: Bits) -> Local:
        return self._normal(Local(kind, at.pc, at.registers, bits))

    def _normal(self, local: Local) -> Local:
        """Without what no step and no question asks for."""
        kind, pc, registers, bits = local
        live = self._live[kind][pc] if pc >= 0 else (False,) * len(registers)
        registers = tuple(value if matters else 0 for value, matters in zip(registers, live, strict=True))
        if pc in (-1, len(self.program.threads[kind].code)):
            bits = (0,) * len(bits)
        elif bits and not self._acquires_by_fence[kind]:
            bits = tuple(0 if n % 3 == 1 and n < len(bits) - 1 else bit for n, bit in enumerate(bits))
        return Local(kind, pc, registers, bits)

    @cached_property
    def _acquires_by_fence(self) -> list[bool]:
        return [
            any(isinstance(i, Fence) and i.mode is not Mode.REL for i in thread.code)
            for thread in self.program.threads
        ]

    @cached_property
    def _written(self) -> frozenset[int]:
        """The cells that some thread writes; SC fences write theirs."""
        cells = {fence_cell(self.program)}
        for thread in self.program.threads:
            for access in thread.code:
                if isinstance(access, CellAccess) and access_modes(access)[1] is not None:
                    cells |= set(cells_of(self.program, access))
        return frozenset(cells)

    # The monitor.

    def _monitored(
        self, here: Global, actor: Local, label: Label, overwritten: Overwritten | None, *, is_reader: bool
    ) -> tuple[OnOthers, Bits, tuple[Bits, ...]]:
        """What a step does to the bits: of others, of its own thread, of cells."""
        topic = self.topic
        if topic.about in _WITHOUT_BITS:
            return OnOthers(), (), here.cells
        known: int | None = None
        learns = 0  # whether what the actor has seen of the topic's cell is newer than what is stale
        aware: int | None = None
        if topic.about == "stale" and label.cell == topic.cell:
            learns = 1
            if overwritten is not None:
                aware = 0
                counts = topic.plain or (topic.free and not overwritten.exchanged)
                known = 0 if counts and overwritten.value in topic.values else None
        elif topic.about == "last-write" and label.cell == topic.cell:
            learns = int(label.writes)
            known = 0 if label.writes else None
        elif topic.about == "last-read" and label.cell == topic.cell:
            learns = int(label.writes or is_reader)
            known = 1 if label.writes else 0 if is_reader else None
        on_others = OnOthers(known, aware)
        monitor = self._monitor(here, actor, on_others)
        if label.cell >= 0 and label.cell < len(here.memory) and not self.program.atomic_cells[label.cell]:
            monitor.non_atomic(learns)
        else:
            monitor.take(label, learns)
        cells = [monitor.cell(x) for x in range(self._cells)]
        for x in {*range(self._cells)} - self._written:
            cells[x] = (*cells[x][:-2], 0, cells[x][-1])
        return on_others, monitor.thread, tuple(cells)

    def _monitor(self, here: Global, actor: Local, first: OnOthers) -> _Monitor:
        """That of a state, after what a step does to everything but itself."""
        cells = here.cells
        bits = self.after(actor, first).bits
        if first.known is not None:
            cells = tuple((first.known,) * (len(of_cell) - 2) + of_cell[-2:] for of_cell in cells)
        if first.aware is not None:
            cells = tuple((*of_cell[:-2], first.aware, first.aware) for of_cell in cells)
        kind = _Cpp20Monitor if self._ordered_by_s else _Monitor
        about_values = self.topic.about == "stale"
        fence = fence_cell(self.program) if self._has_fence_cell else NO_CELL
        return kind(bits, cells, fence, synchronises=self._synchronises, has_hbsc=about_values)

    # Questions.

    def violates(self, local: Local) -> bool:
        """Whether the next access of the thread leaves sequential consistency, or races, by this topic."""
        topic = self.topic
        lts = self._threads[local.kind]
        at = ThreadState(local.pc, local.registers)
        access = lts.access(at)
        if topic.about not in _ABOUT_ACCESSES or access is None or access.cell != topic.cell:
            return False
        if topic.about == "last-write":
            return not local.bits[0]
        if topic.about == "last-read":
            return isinstance(access.instruction, Store) and not local.bits[0]
        return bool(local.bits[-1]) and any(
            self._asks(label) and not self._is_bounded(local.bits, label)
            for value in topic.values
            if (step := lts.step(at, value)) is not None
            for label in [step.label]
        )

    def violates_at(self, here: Global) -> bool:
        """Whether a global state does."""
        return False

    def _asks(self, label: Label) -> bool:
        return self.topic.free if label.writes else self.topic.plain

    def _is_bounded(self, bits: Bits, label: Label) -> bool:
        """Whether the label cannot be about a stale write: C, with S also F, and of SC accesses P."""
        if not self._ordered_by_s:
            return bool(bits[0])
        is_sc = Mode.SC in (label.load_mode, label.store_mode)
        known, strongly, fences = bits[0], bits[3], bits[6]
        return bool(known or fences or (is_sc and strongly))

    def next_access(self, local: Local) -> tuple[int, bool] | None:
        """The non-atomic cell that the thread accesses next, and whether it writes it."""
        access = self._threads[local.kind].access(ThreadState(local.pc, local.registers))
        if access is None or not 0 <= access.cell < len(self.program.cells):
            return None
        if self.program.atomic_cells[access.cell]:
            return None
        return access.cell, isinstance(access.instruction, Store)


class _Monitor:
    """The rules of RC20, and of RA, for one step of one thread."""

    def __init__(
        self, thread: Bits, cells: Sequence[Bits], fence: int, *, synchronises: bool, has_hbsc: bool
    ) -> None:
        self._views: Views[int] = Views(0, or_)
        self._views.set_thread(_ACTOR, thread[0], thread[1], thread[2])
        self._messages = [of_cell[0] for of_cell in cells]
        self._sc: ScViews[int] = ScViews(0, or_)
        self._sc.current[_ACTOR] = thread[-1]
        for x, of_cell in enumerate(cells):
            self._sc.set_cell(x, *of_cell[-2:])
        self._fence = fence
        self._synchronises = synchronises
        self._has_hbsc = has_hbsc

    @property
    def thread(self) -> Bits:
        return (*self._views.of_thread(_ACTOR), self._sc.current[_ACTOR])

    def cell(self, x: int) -> Bits:
        return (self._messages[x], *self._sc.of_cell(x))

    def non_atomic(self, learns: int) -> None:
        """Non-atomic accesses order nothing."""
        self._views.happen(_ACTOR, learns)

    def take(self, label: Label, learns: int) -> None:
        acquire = self._synchronises or label.load_mode in (Mode.ACQ, Mode.SC)
        release = self._synchronises or label.store_mode in (Mode.REL, Mode.SC)
        x = label.cell
        if label.kind == "F":
            self._weak_fence(acquire=acquire, release=release, sc=False)
            return
        self._hbsc(label, learns)
        if x == self._fence:
            self._messages[x] = self._views.sc_fence(_ACTOR, self._messages[x], 0, 0)
            return
        message = self._messages[x]
        if label.reads:
            self._views.read(_ACTOR, message, learns, acquire=acquire)
        if label.writes:
            replaced = message if label.reads else None
            self._messages[x] = self._views.write(_ACTOR, learns, release=release, replaced=replaced)

    def _weak_fence(self, *, acquire: bool, release: bool, sc: bool) -> None:
        if acquire:
            self._views.acquire_fence(_ACTOR)
        if release:
            self._views.release_fence(_ACTOR)

    def _hbsc(self, label: Label, learns: int) -> None:
        if not self._has_hbsc:
            return
        if label.writes:
            self._sc.write(_ACTOR, label.cell, learns)
        else:
            self._sc.read(_ACTOR, label.cell)


class _Cpp20Monitor(_Monitor):
    """The rules of C++20."""

    def __init__(
        self, thread: Bits, cells: Sequence[Bits], fence: int, *, synchronises: bool, has_hbsc: bool
    ) -> None:
        super().__init__(thread, cells, fence, synchronises=synchronises, has_hbsc=has_hbsc)
        self._clocks: Cpp20Views[int] = Cpp20Views(0, or_)
        self._clocks.set_thread(_ACTOR, thread[:12])
        self._sent: list[Cpp20Message[int]] = [(c, p, f, e) for c, p, f, e, *_ in cells]
        for x, of_cell in enumerate(cells):
            self._clocks.set_cell(x, of_cell[4:8])

    @property
    def thread(self) -> Bits:
        return (*self._clocks.of_thread(_ACTOR), self._sc.current[_ACTOR])

    def cell(self, x: int) -> Bits:
        return (*self._sent[x], *self._clocks.of_cell(x), *self._sc.of_cell(x))

    def non_atomic(self, learns: int) -> None:
        self._clocks.known.happen(_ACTOR, learns)

    def take(self, label: Label, learns: int) -> None:
        sc = Mode.SC in (label.load_mode, label.store_mode)
        acquire = label.load_mode in (Mode.ACQ, Mode.SC)
        release = label.store_mode in (Mode.REL, Mode.SC)
        if label.kind == "F":
            self._clocks.fence(_ACTOR, acquire=acquire, release=release, sc=sc)
            return
        self._hbsc(label, learns)
        sent = self._clocks.access(
            _ACTOR,
            label.cell,
            learns,
            acquire=acquire,
            release=release,
            sc=sc,
            read=self._sent[label.cell] if label.reads else None,
            writes=label.writes,
        )
        if sent is not None:
            self._sent[label.cell] = sent


def cells_of(program: Program, access: CellAccess) -> range:
    """The cells that the instruction may access."""
    first = program.first_cell[access.cell.name]
    return range(first, first + len(program.location_named[access.cell.name].initial))


def race_topics(program: Program) -> Iterator[Topic]:
    """What must be looked at so that no two accesses race, where happens-before decides."""
    for cell, atomic in enumerate(program.atomic_cells):
        if atomic:
            continue
        yield Topic("last-write", cell)
        for number, thread in enumerate(program.threads):
            if any(isinstance(i, Load) and cell in cells_of(program, i) for i in thread.code):
                yield Topic("last-read", cell, reader=number)


def asked_of(program: Program, cell: int) -> tuple[bool, bool]:
    """Whether some instruction could read a stale value of the cell, and whether one could write before a
    newer one."""
    accesses = [
        i
        for thread in program.threads
        for i in thread.code
        if isinstance(i, CellAccess) and cell in cells_of(program, i)
    ]
    return (
        any(isinstance(i, Load | Wait | CompareExchange) for i in accesses),
        any(access_modes(i)[1] is not None for i in accesses),
    )


def _are_bits(bits: Bits, count: int) -> bool:
    return len(bits) == count and all(bit in (0, 1) for bit in bits)
