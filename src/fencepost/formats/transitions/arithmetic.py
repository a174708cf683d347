"""Between which numbers does an expression lie, and what does a condition say about registers?

Ranges are those of `formats/litmus/ranges.py`, with a bound that is larger than every value where there is
none. What can be in a register at which place is found by `ranges.py`.
"""

from __future__ import annotations

from collections.abc import Mapping

from fencepost.formats.litmus.ranges import Range, combined
from fencepost.formats.transitions.form import NEGATED
from fencepost.program import LARGEST_MAX_VALUE, Binary, Constant, Expression, Register, Unary

# So far above every value that arithmetic with values does not bring it down to one.
NO_BOUND = LARGEST_MAX_VALUE**2

ZERO = Range(0, 0)

Registers = Mapping[str, Range]

_SWAPPED = {"==": "==", "!=": "!=", "<": ">", ">": "<", "<=": ">=", ">=": "<="}


def has_bound(high: int) -> bool:
    return high <= LARGEST_MAX_VALUE


def range_of(expression: Expression, registers: Registers) -> Range:
    """The range of the expression's value; registers that are not given are 0."""
    match expression:
        case Constant(value):
            return Range(value, value)
        case Register(name):
            return register_range(registers, name)
        case Unary("-", operand):
            inner = range_of(operand, registers)
            return Range(-inner.high, -inner.low)
        case Unary("+", operand):
            return range_of(operand, registers)
        case Binary(operator, left, right):
            return _limited(_result(operator, range_of(left, registers), range_of(right, registers)))
        case _:
            return Range(0, 1)


def register_range(registers: Registers, name: str) -> Range:
    return registers.get(name, ZERO)


def where(condition: Expression, registers: Registers, *, holds: bool = True) -> Registers | None:
    """The registers where the condition is true, or is not; None where that cannot be."""
    match condition:
        case Unary("!", operand):
            return where(operand, registers, holds=not holds)
        case Binary("&&" | "||" as operator, left, right):
            first = where(left, registers, holds=holds)
            if (operator == "&&") != holds:
                return _either(first, where(right, registers, holds=holds))
            return None if first is None else where(right, first, holds=holds)
        case Binary(operator, left, right) if operator in NEGATED:
            operator = operator if holds else NEGATED[operator]
            narrowed = _compared(left, operator, range_of(right, registers), registers)
            if narrowed is None:
                return None
            return _compared(right, _SWAPPED[operator], range_of(left, narrowed), narrowed)
        case _:
            return _compared(condition, "!=" if holds else "==", ZERO, registers)


def _compared(expression: Expression, operator: str, other: Range, registers: Registers) -> Registers | None:
    """The registers where the expression is in that relation to some value of `other`."""
    narrowed = _narrowed(range_of(expression, registers), operator, other)
    if narrowed is None:
        return None
    return {**registers, expression.name: narrowed} if isinstance(expression, Register) else registers


def _narrowed(found: Range, operator: str, other: Range) -> Range | None:
    low, high = found
    match operator:
        case "==":
            low, high = max(low, other.low), min(high, other.high)
        case "!=" if other.low == other.high:
            low, high = low + (low == other.low), high - (high == other.low)
        case "<":
            high = min(high, other.high - 1)
        case "<=":
            high = min(high, other.high)
        case ">":
            low = max(low, other.low + 1)
        case ">=":
            low = max(low, other.low)
    return Range(low, high) if low <= high else None


def _either(a: Registers | None, b: Registers | None) -> Registers | None:
    if a is None or b is None:
        return b if a is None else a
    return {name: register_range(a, name).joined(register_range(b, name)) for name in {**a, **b}}


def _limited(found: Range) -> Range:
    return Range(max(found.low, -NO_BOUND), min(found.high, NO_BOUND))


def _result(operator: str, a: Range, b: Range) -> Range:
    match operator:
        case "&" if a.low >= 0 or b.low >= 0:
            return Range(0, min(side.high for side in (a, b) if side.low >= 0))
        case "%" if a.low >= 0 and b.low > 0:
            return Range(0, min(a.high, b.high - 1))
        case _:
            return combined(operator, a, b)
