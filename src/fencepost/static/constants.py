"""Constants propagated: registers whose value is known where they are used, `tid`, and what follows.

The program that comes out does the same with the same instructions in the same places. Its expressions are
simpler, so more accesses to arrays are known to be to one cell, and branches that always go one way are jumps
or nothing, so less seems to come after them.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from fencepost.program import (
    Assert,
    Assign,
    Binary,
    Branch,
    CellAccess,
    Constant,
    DivisionByZeroError,
    Expression,
    Goto,
    Instruction,
    Program,
    Register,
    Skip,
    Thread,
    evaluate,
    expressions_of,
    subexpressions,
    with_expressions,
    with_operands,
)
from fencepost.static.flow import successors
from fencepost.static.liveness import assigned_register

_DIVISIONS = ("/", "%")

# The values of the registers that have a known one.
_Known = Mapping[str, int]


def with_constants(program: Program) -> Program:
    """The program with everything computed that can be known beforehand."""
    threads = tuple(_ThreadConstants(program, thread).folded() for thread in program.threads)
    return replace(program, threads=threads)


class _ThreadConstants:
    """The usual forward analysis over the flat code of one thread."""

    def __init__(self, program: Program, thread: Thread) -> None:
        self._program = program
        self._thread = thread
        self._before: list[_Known | None] = [None] * (len(thread.code) + 1)  # None: not reached
        self._code = list(thread.code)
        self._reach(0, dict.fromkeys(thread.registers, 0))

    def folded(self) -> Thread:
        return replace(self._thread, code=tuple(self._code))

    def _reach(self, first: int, known: _Known) -> None:
        open_ = [(first, known)]
        while open_:
            pc, arriving = open_.pop()
            before = self._before[pc]
            merged = arriving if before is None else dict(before.items() & arriving.items())
            if merged == before:
                continue
            self._before[pc] = merged
            if pc < len(self._thread.code):
                instruction = self._code[pc] = self._fold(self._thread.code[pc], merged)
                after = self._after(instruction, merged)
                open_.extend((target, after) for target in successors(instruction, pc))

    def _after(self, instruction: Instruction, known: _Known) -> _Known:
        register = assigned_register(instruction)
        if register is None:
            return known
        after = {name: value for name, value in known.items() if name != register}
        if isinstance(instruction, Assign) and isinstance(instruction.value, Constant):
            after[instruction.register] = instruction.value.value
        return after

    def _fold(self, instruction: Instruction, known: _Known) -> Instruction:
        if not any(True for _ in expressions_of(instruction)):
            return instruction
        folded = with_expressions(instruction, lambda expression: self._expression(expression, known))
        match folded:
            case Branch(Constant(0)):
                return Skip(at=folded.at)
            case Branch(Constant(), target):
                return Goto(target, at=folded.at)
            case _ if self._can_fail(folded):
                return instruction
            case _:
                return folded

    def _can_fail(self, instruction: Instruction) -> bool:
        """Whether it may fail: then the values of its registers are reported, and must be kept for that."""
        match instruction:
            case Assert(condition):
                return not isinstance(condition, Constant) or condition.value == 0
            case _ if isinstance(instruction, CellAccess):
                size = len(self._program.location_named[instruction.cell.name].initial)
                match instruction.cell.index:
                    case None:
                        pass
                    case Constant(value) if value < size:
                        pass
                    case _:
                        return True
        return any(
            isinstance(part, Binary) and part.operator in _DIVISIONS
            for expression in expressions_of(instruction)
            for part in subexpressions(expression)
        )

    def _expression(self, expression: Expression, known: _Known) -> Expression:
        if isinstance(expression, Constant):
            return expression
        if isinstance(expression, Register):
            value = known.get(expression.name, -1)
        else:
            try:
                value = evaluate(expression, known, self._thread.tid)
            except (KeyError, DivisionByZeroError):
                value = -1
        if 0 <= value <= self._program.max_value:
            return Constant(value)
        return with_operands(expression, lambda operand: self._expression(operand, known))
