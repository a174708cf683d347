"""The C spelling of expressions and of single instructions.

Operands of different operators are put in parentheses where compilers would warn. What C leaves undefined and
TPL defines (division by zero, an index out of range) goes through functions that `prelude.py` writes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from fencepost.formats.c.values import Kept, Values
from fencepost.program import (
    Assign,
    Binary,
    BlockingCompareExchange,
    Cell,
    CellAccess,
    CompareExchange,
    Constant,
    Exchange,
    Expression,
    Fence,
    FetchAdd,
    Load,
    Mode,
    Register,
    Store,
    Thread,
    ThreadId,
    Unary,
    Wait,
    subexpressions,
)
from fencepost.program.instructions import FETCH_OPERATORS

_ORDERS = {
    (Mode.RLX, Mode.RLX): "relaxed",
    (Mode.ACQ, Mode.RLX): "acquire",
    (Mode.RLX, Mode.REL): "release",
    (Mode.ACQ, Mode.REL): "acq_rel",
}
_FENCES = {Mode.ACQ: "acquire", Mode.REL: "release", Mode.ACQ_REL: "acq_rel", Mode.SC: "seq_cst"}

_LEVELS = (("*", "/", "%"), ("+", "-"), ("<", "<=", ">", ">=", "==", "!="), ("&&", "||", "&", "|", "^"))
_LEVEL = {operator: level for level, operators in enumerate(_LEVELS) for operator in operators}

# Which operators can stand on the left of another without parentheses, and without a warning for that. On its
# right, those of them that bind more tightly can.
_BARE: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(_LEVELS[0], _LEVELS[0]),
    **dict.fromkeys(_LEVELS[1] + _LEVELS[2], _LEVELS[0] + _LEVELS[1]),
    **{operator: (operator, *_LEVELS[2]) for operator in ("&&", "||")},
    **{operator: (operator,) for operator in ("&", "|", "^")},
}


class CSpelling(NamedTuple):
    """How one function of C spells the instructions that `threads` share."""

    values: Values
    threads: tuple[Thread, ...]
    locations: Mapping[str, str]
    registers: Mapping[str, str]
    kept: Mapping[str, Kept]

    def condition(self, expression: Expression) -> str:
        return self._expression(expression)

    def stored(self, expression: Expression) -> str:
        """`expression` modulo the domain."""
        found = self.values.range(expression, self.threads)
        if found.low == found.high and not any(map(_is_division, subexpressions(expression))):
            return self.values.literal(found.low % self.values.modulus)
        if found.low >= 0 and found.high < self.values.modulus:
            return self._expression(expression)
        if self.values.wraps_by_mask:
            text = self._operand(expression)
            return f"{text} & {self.values.literal(self.values.modulus - 1)}"
        return f"fp_modulo({self._expression(expression)})"

    def statement(self, instruction: Assign | Fence | CellAccess) -> str:
        """One statement of C."""
        match instruction:
            case Assign(register, value):
                return f"{self.registers[register]} = {self.stored(value)};"
            case Fence(mode):
                return f"atomic_thread_fence(memory_order_{_FENCES[mode]});"
            case Load(register, cell, Mode.NA):
                return self._result(register, cell, self._place(cell))
            case Load(register, cell, mode):
                return self._result(register, cell, self._call("load", cell, (), _order(mode)))
            case Store(cell, value, Mode.NA):
                return f"{self._place(cell)} = {self._kept(cell, value)};"
            case Store(cell, value, mode):
                return f"{self._call('store', cell, (value,), _order(Mode.RLX, mode))};"
            case FetchAdd(register, cell, value, load, store, operator):
                call = self._call(FETCH_OPERATORS[operator], cell, (value,), _order(load, store))
                return self._result(register, cell, call)
            case Exchange(register, cell, value, load, store):
                return self._result(
                    register, cell, self._call("exchange", cell, (value,), _order(load, store))
                )
            case CompareExchange(register, cell, expected, desired, load, store, failure):
                orders = (_order(load, store), _order(failure))
                arguments = self._arguments(cell, (expected, desired))
                return self._result(register, cell, f"fp_cas({_listed(*arguments, *orders)})")
            case BlockingCompareExchange(cell, expected, desired, load, store):
                arguments = self._arguments(cell, (expected, desired))
                return f"fp_bcas({_listed(*arguments, _order(load, store))});"
            case Wait(register, cell, (value,), mode):
                text = f"fp_wait({_listed(*self._arguments(cell, (value,)), _order(mode))})"
                return self._result(register, cell, text)
            case Wait(register, cell, values, mode):
                place, *awaited = self._arguments(cell, values)
                return self._result(register, cell, f"fp_wait_any({_listed(place, _order(mode), *awaited)})")

    # Accesses.

    def _call(self, function: str, cell: Cell, values: tuple[Expression, ...], order: str) -> str:
        return f"atomic_{function}_explicit({_listed(*self._arguments(cell, values), order)})"

    def _arguments(self, cell: Cell, values: Iterable[Expression]) -> list[str]:
        return [f"&{self._place(cell)}", *(self._kept(cell, value) for value in values)]

    def _place(self, cell: Cell) -> str:
        name = self.locations[cell.name]
        if cell.index is None:
            return name
        size = len(self.values.program.location_named[cell.name].initial)
        found = self.values.range(cell.index, self.threads)
        index = self._expression(cell.index)
        if found.low >= 0 and found.high < size:
            return f"{name}[{index}]"
        return f"{name}[FP_INDEX({index}, {size})]"

    def _kept(self, cell: Cell, value: Expression) -> str:
        """`value` as the location of `cell` keeps it."""
        kept = self.kept[cell.name]
        text = self.stored(value)
        if kept.unit == 1:
            return text
        product = f"{text if text.isalnum() else f'({text})'} * {kept.unit}"
        return product if self.values.number == "int" else f"(uint64_t){product}U"

    def _result(self, register: str | None, cell: Cell, text: str) -> str:
        if register is None:
            return f"(void){text};"
        kept = self.kept[cell.name]
        if kept.counted and self.values.wraps_by_mask:
            text = f"{text} & {self.values.modulus - 1}"
        elif kept.counted:
            text = f"{text} % {self.values.modulus}"
        elif kept.unit != 1:
            text = f"{text} / {kept.unit}"
        return f"{self.registers[register]} = {text};"

    # Expressions.

    def _expression(self, expression: Expression) -> str:
        match expression:
            case Constant(value):
                return self.values.literal(value)
            case Register(name):
                return self.registers[name]
            case ThreadId():
                return "tid" if len(self.threads) > 1 else self.values.literal(self.threads[0].tid)
            case Unary(operator, operand):
                return f"{operator}{self._operand(operand)}"
            case Binary(operator, left, right) if _is_division(expression):
                function = "FP_QUOTIENT" if operator == "/" else "FP_REMAINDER"
                return f"{function}({self._expression(left)}, {self._expression(right)})"
            case Binary(operator, left, right):
                tighter = tuple(bare for bare in _BARE[operator] if _LEVEL[bare] < _LEVEL[operator])
                return f"{self._operand(left, _BARE[operator])} {operator} {self._operand(right, tighter)}"

    def _operand(self, expression: Expression, bare: tuple[str, ...] = ()) -> str:
        """`expression` next to an operator, without parentheses if it is one of the operators `bare`."""
        text = self._expression(expression)
        if not isinstance(expression, Unary | Binary) or _is_division(expression):
            return text
        return text if expression.operator in bare and isinstance(expression, Binary) else f"({text})"


def _is_division(expression: Expression) -> bool:
    """Whether `expression` divides by what may be zero."""
    match expression:
        case Binary("/" | "%", _, Constant(divisor)):
            return divisor == 0
        case Binary("/" | "%"):
            return True
        case _:
            return False


def _order(load: Mode, store: Mode = Mode.RLX) -> str:
    return f"memory_order_{'seq_cst' if Mode.SC in (load, store) else _ORDERS[load, store]}"


def _listed(*arguments: str) -> str:
    return ", ".join(arguments)
