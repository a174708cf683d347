"""A `Program` as bytecode of the native engine.

Names become numbers: cells in declaration order with one more, reserved for SC fences, at the end; the
registers of a thread in their order. Instruction indices stay as they are, so that what the engine says
about an instruction can be looked up in the `Program`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING

from fencepost.engine import _native
from fencepost.engine._native import ExpressionOp, Op
from fencepost.errors import InputError
from fencepost.program import (
    Assert,
    Assign,
    Assume,
    Binary,
    BlockingCompareExchange,
    Branch,
    CellAccess,
    Choose,
    CompareExchange,
    Constant,
    Exchange,
    Expression,
    Fence,
    FetchAdd,
    Goto,
    Load,
    LocalInstruction,
    Mode,
    Position,
    Program,
    Register,
    Skip,
    Store,
    Thread,
    ThreadId,
    Unary,
    Verify,
    Wait,
    access_modes,
    read_mode,
)
from fencepost.program.instructions import FETCH_OPERATORS
from fencepost.static.constants import with_constants
from fencepost.static.critical_values import StaleClasses, stale_classes
from fencepost.static.intervals import covering_interval
from fencepost.static.liveness import live_registers
from fencepost.static.private_locations import private_accesses
from fencepost.static.register_uses import registers_used, registers_used_at_end, taintable_registers

if TYPE_CHECKING:
    from fencepost.static.symmetry import ThreadExchange
    from fencepost.static.translations import Translation

_UNARY = {"-": ExpressionOp.NEGATE, "!": ExpressionOp.NOT}
_BINARY = {
    "*": ExpressionOp.MULTIPLY,
    "/": ExpressionOp.DIVIDE,
    "%": ExpressionOp.REMAINDER,
    "+": ExpressionOp.ADD,
    "-": ExpressionOp.SUBTRACT,
    "<": ExpressionOp.LESS,
    "<=": ExpressionOp.LESS_EQUAL,
    ">": ExpressionOp.GREATER,
    ">=": ExpressionOp.GREATER_EQUAL,
    "==": ExpressionOp.EQUAL,
    "!=": ExpressionOp.NOT_EQUAL,
    "&": ExpressionOp.BIT_AND,
    "^": ExpressionOp.BIT_XOR,
    "|": ExpressionOp.BIT_OR,
}
_SHORT_CIRCUIT = {"&&": ExpressionOp.AND_JUMP, "||": ExpressionOp.OR_JUMP}
_FENCES = {
    Mode.ACQ: Op.ACQUIRE_FENCE,
    Mode.REL: Op.RELEASE_FENCE,
    Mode.ACQ_REL: Op.ACQUIRE_RELEASE_FENCE,
}

_ACQUIRES = (Mode.ACQ, Mode.SC)
_RELEASES = (Mode.REL, Mode.SC)

_FETCHES = {operator: Op[name.upper()] for operator, name in FETCH_OPERATORS.items()}

_Steps = list[tuple[ExpressionOp, int]]


class Lowering:
    """The bytecode of a program, with and without what is known about its symmetry.

    Without a monitor all stale values are alike. Registers that can no longer matter are forgotten,
    unless `keep_registers` is set or they are among those that `kept` names, by thread. With `store_buffers`,
    SC fences do nothing but drain the buffer of their thread. With `ordered_by_s` they are local instructions
    too, which are ordered like seq_cst accesses. With `local`, constants are propagated, and accesses that no
    other thread can see are local instructions. With `observational`, loads taint their registers where they
    could read a stale value, and instructions know which registers they use. With `cut_off`, a thread whose
    assumption fails has not ended but runs for ever. That makes a difference for deadlocks alone: a run that
    an assumption cuts off does not show one. With `fences_stand`, threads stand at all fences as they do at
    accesses, and fences have modes.
    """

    def __init__(
        self,
        program: Program,
        *,
        monitored: bool,
        keep_registers: bool = False,
        kept: Mapping[str, frozenset[str]] = MappingProxyType({}),
        store_buffers: bool = False,
        ordered_by_s: bool = False,
        local: bool = False,
        observational: bool = False,
        cut_off: bool = False,
        fences_stand: bool = False,
    ) -> None:
        program.require_fixed_threads()
        self._program = program = with_constants(program) if local else program
        private = private_accesses(program, ordered_by_s=ordered_by_s) if local else set()
        sc_fence = Op.DRAIN if store_buffers else Op.ORDER_FENCE if ordered_by_s else Op.SC_FENCE
        self._classes = stale_classes(program, private) if monitored else {}
        self._builder = _native.ProgramBuilder(program.max_value, program.wraps)
        self._add_cells()
        for t, thread in enumerate(program.threads):
            everything = frozenset(thread.registers)
            pcs = frozenset(pc for of, pc in private if of == t)
            shown = registers_used_at_end(program, thread) if observational else None
            _ThreadLowering(
                program,
                self._builder,
                thread,
                pcs,
                sc_fence,
                shown_at_end=shown,
                cut_off=cut_off,
                fences_stand=fences_stand,
            ).run(everything if keep_registers else kept.get(thread.name, frozenset()))
        self.plain = self._finish()
        self._renamed = {(False, False): self.plain}

    def renamed(self, *, exchanges: bool, rotations: bool) -> _native.Program:
        """Tells which threads can be exchanged, and which values can be moved on together; registers must be
        forgotten for that."""
        wanted = (exchanges, rotations)
        if wanted not in self._renamed:
            self._renamed[wanted] = self._with_renamings(exchanges=exchanges, rotations=rotations)
        return self._renamed[wanted]

    def translated(self, found: Translation, *, exchanges: bool) -> _native.Program | None:
        """With a translation of the program, if exchanges leave its values alone, and of stale values it
        matters what they are only for the pivot, where each is told apart."""
        self._builder.clear_renamings()
        all_values = tuple(range(self._program.modulus))
        for location in self._program.locations:
            first = self._program.first_cell[location.name]
            for classes in (self._classes[location.name].plain, self._classes[location.name].free):
                is_pivot = first == found.pivot
                tracked = (
                    classes.tracked == all_values if is_pivot and classes.tracked else not classes.tracked
                )
                if first in found.cells and not (tracked and not (is_pivot and classes.others)):
                    return None
        for exchange in self._exchanges if exchanges else []:
            cells = {x for pair in exchange.cells for x in pair}
            renamed = {x for values in exchange.values for x in values.cells}
            if found.pivot in cells or renamed & set(found.cells):
                return None
            self._add_exchange(exchange)
        self._builder.add_rotation(
            self._program.modulus,
            1,
            found.pivot,
            found.cells,
            found.registers,
            found.arrays,
            (found.base, found.stale, found.period),
        )
        return self._finish()

    def _add_exchange(self, exchange: ThreadExchange) -> None:
        self._builder.add_exchange(
            exchange.first,
            exchange.second,
            exchange.cells,
            [(v.first, v.second, v.cells, v.registers) for v in exchange.values],
        )

    def _with_renamings(self, *, exchanges: bool, rotations: bool) -> _native.Program:
        from fencepost.static.rotations import rotations as rotations_of

        self._builder.clear_renamings()
        exchanged = self._exchanges if exchanges else []
        for exchange in exchanged:
            self._add_exchange(exchange)
        if rotations:
            for rotation in rotations_of(self._program, self._classes, exchanged):
                self._builder.add_rotation(
                    rotation.modulus,
                    rotation.step,
                    rotation.pivot,
                    rotation.cells,
                    rotation.registers,
                    rotation.arrays,
                )
        return self._finish()

    @cached_property
    def _exchanges(self) -> list[ThreadExchange]:
        from fencepost.static.symmetry import exchanges

        return exchanges(self._program, self._classes)

    def _add_cells(self) -> None:
        for location in self._program.locations:
            stale = self._classes.get(location.name, StaleClasses())
            for initial in location.initial:
                self._builder.add_cell(
                    initial,
                    location.atomic,
                    list(stale.plain.tracked),
                    stale.plain.others,
                    list(stale.free.tracked),
                    stale.free.others,
                )
        self._builder.add_cell(0, True, [], False, [], False)

    def _finish(self) -> _native.Program:
        try:
            return self._builder.finish()
        except ValueError as error:
            raise InputError(str(error), self._program.file) from None


class _ThreadLowering:
    def __init__(
        self,
        program: Program,
        builder: _native.ProgramBuilder,
        thread: Thread,
        private: frozenset[int],
        sc_fence: Op,
        *,
        shown_at_end: frozenset[str] | None,
        cut_off: bool,
        fences_stand: bool,
    ) -> None:
        self._private = private
        self._shown_at_end = shown_at_end  # None: nobody asks which registers are used
        self._cut_off = cut_off
        self._fences_stand = fences_stand
        self._fences = dict.fromkeys(Mode, Op.SC_FENCE) if fences_stand else _FENCES | {Mode.SC: sc_fence}
        self._program = program
        self._builder = builder
        self._thread = thread
        self._register = {name: number for number, name in enumerate(thread.registers)}

    def run(self, kept: frozenset[str]) -> None:
        shown = self._shown_at_end
        dead = [self._dead(live) for live in live_registers(self._thread, kept | (shown or frozenset()))]
        self._builder.add_thread(len(self._thread.registers), dead[-1])
        if shown is not None:
            taintable = taintable_registers(self._thread)
            self._builder.track_taints(self._numbers(taintable), self._numbers(shown))
        for pc, (instruction, dead_here) in enumerate(zip(self._thread.code, dead, strict=False)):
            if isinstance(instruction, CellAccess):
                self._access(instruction, local=pc in self._private)
            elif isinstance(instruction, Fence):
                self._fence(instruction.mode, local=pc in self._private)
            else:
                self._local(instruction, pc)
            self._builder.forget(dead_here)
            if shown is not None:
                self._builder.observe(self._numbers(registers_used(instruction)))

    def _fence(self, mode: Mode, *, local: bool) -> None:
        cell = len(self._program.cells) if self._fences_stand or mode is Mode.SC else 0
        self._builder.add_instruction(
            self._fences[mode],
            first_cell=cell,
            acquire=self._fences_stand and mode in (Mode.ACQ, Mode.ACQ_REL),
            release=self._fences_stand and mode in (Mode.REL, Mode.ACQ_REL),
            sc=self._fences_stand and mode is Mode.SC,
            local=local,
        )

    def _numbers(self, names: frozenset[str]) -> list[int]:
        return sorted(self._register[name] for name in names)

    def _dead(self, live: frozenset[str]) -> list[int]:
        return [number for name, number in self._register.items() if name not in live]

    def _local(self, instruction: LocalInstruction, pc: int) -> None:
        add, at = self._builder.add_instruction, instruction.at
        match instruction:
            case Assign(register, value):
                add(Op.ASSIGN, reg=self._register[register], first=self._expression(value, at))
            case Branch(condition, target):
                add(Op.BRANCH, first=self._expression(condition, at), target=target)
            case Goto(target):
                add(Op.GOTO, target=target)
            case Choose(targets):
                add(Op.CHOOSE, many=list(targets))
            case Assert(condition):
                add(Op.ASSERT, first=self._expression(condition, at))
            case Assume(condition) if self._cut_off:
                add(Op.BRANCH, first=self._expression(Unary("!", condition), at), target=pc)
            case Assume(condition):
                add(Op.ASSUME, first=self._expression(condition, at))
            case Skip() | Verify():
                add(Op.SKIP)

    def _access(self, access: CellAccess, *, local: bool) -> None:
        at = access.at
        register: str | None = None
        first: int | None = None
        second: int | None = None
        many: list[int] = []
        match access:
            case Load(register):
                op = Op.LOAD
            case Store(_, value):
                op, first = Op.STORE, self._expression(value, at)
            case FetchAdd(register, _, value, _, _, operator):
                op, first = _FETCHES[operator], self._expression(value, at)
            case Exchange(register, _, value):
                op, first = Op.EXCHANGE, self._expression(value, at)
            case CompareExchange(register, _, expected, desired):
                op = Op.COMPARE_EXCHANGE
                first, second = self._expression(expected, at), self._expression(desired, at)
            case BlockingCompareExchange(_, expected, desired):
                op = Op.BLOCKING_COMPARE_EXCHANGE
                first, second = self._expression(expected, at), self._expression(desired, at)
            case Wait(register, _, values):
                op, many = Op.WAIT, [self._expression(value, at) for value in values]
        index = access.cell.index
        first_cell = self._program.first_cell[access.cell.name]
        cells = len(self._program.location_named[access.cell.name].initial)
        if isinstance(index, Constant) and index.value < cells:
            first_cell, cells, index = first_cell + index.value, 1, None
        load_mode, store_mode = access_modes(access)
        alone = read_mode(access, writes=False)
        self._builder.add_instruction(
            op,
            reg=None if register is None else self._register[register],
            first_cell=first_cell,
            cells=cells,
            index=None if index is None else self._expression(index, at),
            first=first,
            second=second,
            many=many,
            acquire=load_mode in _ACQUIRES,
            acquire_alone=alone in _ACQUIRES,
            release=store_mode in _RELEASES,
            sc=store_mode is Mode.SC,
            sc_alone=alone is Mode.SC,
            non_atomic=Mode.NA in (load_mode, store_mode),
            local=local,
            taints=self._shown_at_end is not None and op == Op.LOAD and load_mode is not Mode.NA,
        )

    def _is_wide(self, expression: Expression, at: Position) -> bool:
        covered = covering_interval(expression, self._program.max_value, self._thread.tid)
        if not covered.fits(128):
            message = "the value of this expression can exceed 127 bits; lower max_value or simplify it"
            raise self._program.mistake(message, at)
        return not covered.fits(64)

    def _expression(self, expression: Expression, at: Position) -> int:
        steps: _Steps = []
        self._steps(expression, steps)
        return self._builder.add_expression(steps, self._is_wide(expression, at))

    def _steps(self, expression: Expression, steps: _Steps) -> None:
        match expression:
            case Constant(value):
                steps.append((ExpressionOp.PUSH_CONSTANT, value))
            case Register(name):
                steps.append((ExpressionOp.PUSH_REGISTER, self._register[name]))
            case ThreadId():
                steps.append((ExpressionOp.PUSH_CONSTANT, self._thread.tid))
            case Unary(operator, operand):
                self._steps(operand, steps)
                if operator != "+":
                    steps.append((_UNARY[operator], 0))
            case Binary(operator, left, right) if operator in _SHORT_CIRCUIT:
                self._steps(left, steps)
                jump = len(steps)
                steps.append((_SHORT_CIRCUIT[operator], 0))
                self._steps(right, steps)
                steps.append((ExpressionOp.TO_BOOL, 0))
                steps[jump] = (_SHORT_CIRCUIT[operator], len(steps))
            case Binary(operator, left, right):
                self._steps(left, steps)
                self._steps(right, steps)
                steps.append((_BINARY[operator], 0))
