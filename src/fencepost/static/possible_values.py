"""Which values can cells and registers hold?

Everything here over-approximates and ignores the order of instructions. The monitors ask it which values of a
cell are worth telling apart.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from functools import partial

from fencepost.program import (
    Assign,
    BlockingCompareExchange,
    Cell,
    CellAccess,
    CompareExchange,
    DivisionByZeroError,
    Exchange,
    Expression,
    FetchAdd,
    Instruction,
    Load,
    Program,
    Store,
    Thread,
    Wait,
    evaluate,
    registers_in,
)

# A set of values, or None for "any value of the domain".
Values = frozenset[int] | None

MOST_VALUES = 64
_MOST_COMBINATIONS = 4096


class PossibleValues:
    """The values that each cell of a program can hold and each register of a thread can have."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._cells: dict[str, Values] = {
            location.name: frozenset(location.initial) for location in program.locations
        }
        self._registers: dict[tuple[str, str], Values] = {
            (thread.name, register): frozenset({0})
            for thread in program.threads
            for register in thread.registers
        }
        while self._pass():
            pass

    def of_location(self, name: str) -> Values:
        return self._cells[name]

    def of_expression(self, thread: Thread, expression: Expression) -> Values:
        """The values, taken modulo the domain, that the expression can have in that thread."""
        names = set(registers_in(expression))
        choices: list[list[tuple[str, int]]] = []
        combinations = 1
        for name in sorted(names):
            values = self._registers[thread.name, name]
            if values is None:
                return None
            combinations *= len(values)
            choices.append([(name, value) for value in sorted(values)])
        if combinations > _MOST_COMBINATIONS:
            return None
        return self._values(self._results(expression, choices, thread.tid))

    def _results(
        self, expression: Expression, choices: list[list[tuple[str, int]]], tid: int
    ) -> Iterable[int]:
        for registers in itertools.product(*choices):
            try:
                yield evaluate(expression, dict(registers), tid) % self._program.modulus
            except DivisionByZeroError:
                continue

    def _pass(self) -> bool:
        """Let every instruction act until it has nothing new to add; whether anything was new."""
        new = False
        for thread in self._program.threads:
            for instruction in thread.code:
                while self._act(thread, instruction):
                    new = True
        return new

    def _act(self, thread: Thread, instruction: Instruction) -> bool:
        match instruction:
            case Assign(register, value):
                return self._assign(thread, register, self.of_expression(thread, value))
            case _ if isinstance(instruction, CellAccess):
                return self._access(thread, instruction)
            case _:
                return False

    def _access(self, thread: Thread, access: CellAccess) -> bool:
        held = self._cells[access.cell.name]
        of = partial(self.of_expression, thread)
        match access:
            case Load(register) | Wait(register):
                return self._assign(thread, register, held)
            case Store(cell, value):
                return self._write(cell, of(value))
            case FetchAdd(register, cell, value):
                new = self._assign(thread, register, held)
                return self._write(cell, self._combined(access, held, of(value))) or new
            case Exchange(register, cell, value):
                new = self._assign(thread, register, held)
                return self._write(cell, of(value)) or new
            case CompareExchange(register, cell, _, desired):
                new = self._assign(thread, register, held)
                return self._write(cell, of(desired)) or new
            case BlockingCompareExchange(cell, _, desired):
                return self._write(cell, of(desired))

    def _combined(self, access: FetchAdd, a: Values, b: Values) -> Values:
        if a is None or b is None or len(a) * len(b) > _MOST_COMBINATIONS:
            return None
        return self._values(access.combined(x, y) % self._program.modulus for x in a for y in b)

    def _assign(self, thread: Thread, register: str | None, values: Values) -> bool:
        if register is None:
            return False
        key = (thread.name, register)
        before = self._registers[key]
        self._registers[key] = self._union(before, values)
        return self._registers[key] != before

    def _write(self, cell: Cell, values: Values) -> bool:
        before = self._cells[cell.name]
        self._cells[cell.name] = self._union(before, values)
        return self._cells[cell.name] != before

    def _union(self, a: Values, b: Values) -> Values:
        return None if a is None or b is None else self._values(a | b)

    def _values(self, values: Iterable[int]) -> Values:
        """The set of these values, or None if it is the whole domain or too large to be worth it."""
        result = frozenset(values)
        return None if len(result) == self._program.modulus or len(result) > MOST_VALUES else result
