"""The labelled transition system that a thread induces: which accesses it can do next, and where they lead.

rocker-2019 Figure 2, extended to every instruction of `fencepost.program`:

    instruction at pc        label                          next
    r := e, branch, goto,    none: a local step
      choose, assert, assume,
      skip, verify
    r := x                   R(x, v) for every v            Φ[r ↦ v]
    x := e                   W(x, Φ(e))                     Φ
    r := FADD(x, e)          RMW(x, v, v + Φ(e))            Φ[r ↦ v]
    r := exchange(x, e)      RMW(x, v, Φ(e))                Φ[r ↦ v]
    r := CAS(x, eR, eW)      RMW(x, Φ(eR), Φ(eW))           Φ[r ↦ Φ(eR)]
                             R(x, v) for every v ≠ Φ(eR),   Φ[r ↦ v]
                               with the mode for failure
    r := wait(x, e1, e2 …)   R(x, v) for v in Φ(e1), Φ(e2)  Φ[r ↦ v]
    BCAS(x, eR, eW)          RMW(x, Φ(eR), Φ(eW))           Φ
    SC fence                 RMW(f, 0, 0), f reserved       Φ
                             F(sc) where S orders them (under C++20)
    other fences             F(mode); a local step where fences are silent (under RA)

A thread always stands at its next access, or at its end: after a step, all local steps run at once. A choice
can make that several places. What can only loop locally for ever has ended too (`DIVERGED`). A thread whose
assumption fails has ended, or with `cut_off` has nowhere to stand, as if it looped for ever. The expressions
of an access are evaluated when the thread arrives at it. What is wrong with the program itself is a `Finding`
of the arrival. What the memory lets happen is left to `sc`, `ra` and `ra_timestamps`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Literal, NamedTuple

from fencepost.program import (
    Assert,
    Assign,
    Assume,
    BlockingCompareExchange,
    Branch,
    CellAccess,
    Choose,
    CompareExchange,
    DivisionByZeroError,
    Exchange,
    Expression,
    Fence,
    FetchAdd,
    Goto,
    Instruction,
    Load,
    Mode,
    Program,
    Skip,
    Store,
    Verify,
    Wait,
    access_modes,
    evaluate,
    expressions_of,
)

DIVERGED = -1  # the position of a thread that loops locally for ever
NO_CELL = -1  # the cell of a label F

FindingKind = Literal["assertion", "division-by-zero", "index-out-of-range"]


class Label(NamedTuple):
    """What an access does. Of a fence, `load_mode` is what it acquires and `store_mode` what it releases."""

    kind: Literal["R", "W", "RMW", "F"]
    cell: int
    read: int | None = None
    written: int | None = None
    load_mode: Mode | None = None
    store_mode: Mode | None = None

    @property
    def reads(self) -> bool:
        return self.kind in ("R", "RMW")

    @property
    def writes(self) -> bool:
        return self.kind in ("W", "RMW")


class ThreadState(NamedTuple):
    """Where a thread stands (the length of its code is its end) and its registers, as declared."""

    pc: int
    registers: tuple[int, ...]


class Finding(NamedTuple):
    """The program itself goes wrong in a local step at `pc`, or on arrival at the access there."""

    kind: FindingKind
    pc: int
    registers: tuple[int, ...]


class Arrival(NamedTuple):
    """Where a thread can stand after its local steps, without duplicates, and what went wrong in them."""

    states: tuple[ThreadState, ...]
    findings: frozenset[Finding]


class Step(NamedTuple):
    label: Label
    successors: tuple[ThreadState, ...]
    findings: frozenset[Finding]


class Way(NamedTuple):
    """The weak fences that a thread passes, and where it stands after them."""

    fences: tuple[Label, ...]
    state: ThreadState


@dataclass(frozen=True, slots=True)
class Access:
    """The access at which a thread stands, its expressions evaluated; `operands` leave out the index."""

    instruction: CellAccess | Fence
    cell: int
    operands: tuple[int, ...] = ()


class ThreadLts:
    """The transition system of thread number `index` of `program`.

    Where `ordered_by_s`, SC fences are events of the total order S, and access no cell.
    """

    def __init__(
        self,
        program: Program,
        index: int,
        silent_fences: bool = True,
        *,
        ordered_by_s: bool = False,
        cut_off: bool = False,
    ) -> None:
        self.program = program
        self.thread = program.threads[index]
        self.code = self.thread.code
        self.end = len(self.code)
        self.silent_fences = silent_fences
        self.cut_off = cut_off
        self._sc_fence_cell = NO_CELL if ordered_by_s else fence_cell(program)
        self._slot = {name: slot for slot, name in enumerate(self.thread.registers)}
        self._arrivals: dict[ThreadState, Arrival] = {}
        self._accesses: dict[ThreadState, Access | None] = {}
        self._steps: dict[tuple[ThreadState, int], Step | None] = {}
        self._ways: dict[ThreadState, tuple[Way, ...]] = {}

    @property
    def _diverged(self) -> ThreadState:
        return ThreadState(DIVERGED, (0,) * len(self._slot))

    @cached_property
    def start(self) -> Arrival:
        return self._arrive(ThreadState(0, (0,) * len(self._slot)))

    def access(self, state: ThreadState) -> Access | None:
        """The access at which the thread stands, or None at its end."""
        try:
            return self._accesses[state]
        except KeyError:
            at_end = state.pc in (self.end, DIVERGED)
            access = self._accesses[state] = None if at_end else self._resolve(state)
            return access

    def step(self, state: ThreadState, value: int) -> Step | None:
        """What the access does if it finds `value` in its cell (a store does not look); None if it waits."""
        try:
            return self._steps[state, value]
        except KeyError:
            step = self._steps[state, value] = self._step(state, value)
            return step

    def enabled(self, state: ThreadState) -> Iterator[Step]:
        """Every step that the program enables in `state`, whatever the memory holds."""
        access = self.access(state)
        if access is None:
            return
        looks = not isinstance(access.instruction, Store | Fence)
        for value in range(self.program.modulus if looks else 1):
            step = self.step(state, value)
            if step is not None:
                yield step

    def past_fences(self, state: ThreadState) -> tuple[Way, ...]:
        """Every way from `state` through weak fences, where they are not silent, to the next access.

        Nothing is lost if a thread passes them at once: a fence is always enabled and only changes what its
        own thread knows and will publish, so it commutes with whatever the other threads do.
        """
        try:
            return self._ways[state]
        except KeyError:
            endless = Way((), self._diverged)
            ways = self._ways[state] = tuple(self._find_ways(state, frozenset())) or (endless,)
            return ways

    def past_access(self, state: ThreadState, value: int) -> ThreadState:
        """The thread right after its access has found `value`, before any local step."""
        register = getattr(self.code[state.pc], "register", None)
        registers = state.registers if register is None else self._updated(state.registers, register, value)
        return ThreadState(state.pc + 1, registers)

    def local_successors(self, state: ThreadState) -> tuple[ThreadState, ...]:
        """Where one local step leads, or a failure on arrival at an access; nowhere from other accesses."""
        try:
            if self._is_local(state):
                return self._local_step(state, set())
            self.access(state)
        except _FaultError:
            return (ThreadState(self.end, state.registers),)
        return ()

    def value(self, expression: Expression, state: ThreadState) -> int | None:
        """The value of an expression, or None if it divides by zero."""
        try:
            return self._value(expression, state)
        except _FaultError:
            return None

    # Accesses.

    def _step(self, state: ThreadState, value: int) -> Step | None:
        access = self.access(state)
        label = None if access is None else self._label(access, value)
        if access is None or label is None:
            return None
        return Step(label, *self._arrive(self.past_access(state, value)))

    def _find_ways(self, state: ThreadState, met: frozenset[ThreadState]) -> Iterator[Way]:
        access = self.access(state)
        if access is None or access.cell != NO_CELL:
            yield Way((), state)
            return
        step = self.step(state, 0)
        assert step is not None
        for at in step.successors if state not in met else ():
            for fences, end in self._find_ways(at, met | {state}):
                yield Way((step.label, *fences), end)

    def _label(self, access: Access, v: int) -> Label | None:
        x, operands = access.cell, access.operands
        if isinstance(access.instruction, Fence):
            return _fence_label(access.instruction.mode, x)
        load, store = access_modes(access.instruction)
        match access.instruction:
            case Load():
                return Label("R", x, v, None, load)
            case Store():
                return Label("W", x, None, operands[0], None, store)
            case FetchAdd() as fetch:
                return Label("RMW", x, v, fetch.combined(v, operands[0]) % self.program.modulus, load, store)
            case Exchange():
                return Label("RMW", x, v, operands[0], load, store)
            case CompareExchange() | BlockingCompareExchange() if v == operands[0]:
                return Label("RMW", x, v, operands[1], load, store)
            case CompareExchange(failure_mode=failure):
                return Label("R", x, v, None, failure)
            case Wait() if v in operands:
                return Label("R", x, v, None, load)
            case _:
                return None

    def _resolve(self, state: ThreadState) -> Access:
        """Evaluate the expressions of the access at `state`; the first error wins."""
        instruction = self.code[state.pc]
        if isinstance(instruction, Fence):
            return Access(instruction, self._sc_fence_cell if instruction.mode is Mode.SC else NO_CELL)
        assert isinstance(instruction, CellAccess)
        cell = self.program.first_cell[instruction.cell.name]
        expressions = expressions_of(instruction)
        if instruction.cell.index is not None:
            index = self._value(next(expressions), state)
            if not 0 <= index < len(self.program.location_named[instruction.cell.name].initial):
                raise _FaultError("index-out-of-range")
            cell += index
        operands = tuple(self._value(expression, state) % self.program.modulus for expression in expressions)
        return Access(instruction, cell, operands)

    # Local steps.

    def _arrive(self, start: ThreadState) -> Arrival:
        if start not in self._arrivals:
            self._arrivals[start] = self._run_local_steps(start)
        return self._arrivals[start]

    def _run_local_steps(self, start: ThreadState) -> Arrival:
        stands: dict[ThreadState, None] = {}
        findings: set[Finding] = set()
        seen: set[ThreadState] = set()
        frontier = [start]
        while frontier:
            state = frontier.pop()
            if state in seen:
                continue
            seen.add(state)
            try:
                if self._is_local(state):
                    frontier.extend(reversed(self._local_step(state, findings)))
                else:
                    self.access(state)
                    stands[state] = None
            except _FaultError as fault:
                findings.add(Finding(fault.kind, *state))
                stands[ThreadState(self.end, state.registers)] = None
        if not stands:
            stands[self._diverged] = None
        return Arrival(tuple(stands), frozenset(findings))

    def _is_local(self, state: ThreadState) -> bool:
        if state.pc == self.end:
            return False
        instruction = self.code[state.pc]
        if isinstance(instruction, Fence):
            return self.silent_fences and instruction.mode is not Mode.SC
        return not isinstance(instruction, CellAccess)

    def _local_step(self, state: ThreadState, findings: set[Finding]) -> tuple[ThreadState, ...]:
        pc, registers = state
        instruction: Instruction = self.code[pc]
        match instruction:
            case Assign(register, value):
                result = self._value(value, state) % self.program.modulus
                return (ThreadState(pc + 1, self._updated(registers, register, result)),)
            case Branch(condition, target):
                return (ThreadState(target if self._value(condition, state) else pc + 1, registers),)
            case Goto(target):
                return (ThreadState(target, registers),)
            case Choose(targets):
                return tuple(ThreadState(target, registers) for target in targets)
            case Assert(condition):
                if not self._value(condition, state):
                    findings.add(Finding("assertion", pc, registers))
            case Assume(condition):
                if not self._value(condition, state):
                    return () if self.cut_off else (ThreadState(self.end, registers),)
            case Skip() | Verify() | Fence():
                pass
            case _:
                raise AssertionError(f"not a local instruction: {instruction}")
        return (ThreadState(pc + 1, registers),)

    def _value(self, expression: Expression, state: ThreadState) -> int:
        registers = dict(zip(self.thread.registers, state.registers, strict=True))
        try:
            return evaluate(expression, registers, self.thread.tid)
        except DivisionByZeroError:
            raise _FaultError("division-by-zero") from None

    def _updated(self, registers: tuple[int, ...], register: str, value: int) -> tuple[int, ...]:
        slot = self._slot[register]
        return (*registers[:slot], value, *registers[slot + 1 :])


Threads = tuple[ThreadState, ...]


class ProgramLts:
    """The transition system of a whole program: one `ThreadLts` per thread, interleaved."""

    def __init__(
        self,
        program: Program,
        silent_fences: bool = True,
        *,
        ordered_by_s: bool = False,
        cut_off: bool = False,
    ) -> None:
        program.require_fixed_threads()
        self.program = program
        self.threads = tuple(
            ThreadLts(program, index, silent_fences, ordered_by_s=ordered_by_s, cut_off=cut_off)
            for index in range(len(program.threads))
        )
        self.fence_cell = fence_cell(program)
        has_fence_cell = program.has_sc_fence and not ordered_by_s
        self.initial_memory = program.initial_memory + ((0,) if has_fence_cell else ())
        self.atomic_cells = program.atomic_cells + ((True,) if has_fence_cell else ())

    def initial_states(self) -> Iterable[Threads]:
        return product(*(thread.start.states for thread in self.threads))


def fence_cell(program: Program) -> int:
    """The reserved cell on which an SC fence is FADD(f, 0); it is there only if the program has one."""
    return len(program.cells)


def moved(threads: Threads, index: int, state: ThreadState) -> Threads:
    """`threads` after thread number `index` went to `state`."""
    return (*threads[:index], state, *threads[index + 1 :])


class _FaultError(Exception):
    """A local step that ends the thread with a finding."""

    def __init__(self, kind: FindingKind) -> None:
        self.kind: FindingKind = kind


def _fence_label(mode: Mode, cell: int) -> Label:
    if mode is Mode.SC:
        if cell == NO_CELL:
            return Label("F", cell, None, None, Mode.SC, Mode.SC)
        return Label("RMW", cell, 0, 0, Mode.SC, Mode.SC)
    acquires = Mode.ACQ if mode in (Mode.ACQ, Mode.ACQ_REL) else None
    releases = Mode.REL if mode in (Mode.REL, Mode.ACQ_REL) else None
    return Label("F", cell, None, None, acquires, releases)
