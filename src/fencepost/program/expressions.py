"""Expressions over the registers of one thread, and their value.

Expressions are pure: memory is only touched by instructions. Inside an expression numbers are mathematical
integers; an instruction stores the result modulo the program's `max_value + 1`. Comparisons and logic give
0 or 1, `&&` and `||` do not evaluate their right side when the left one decides, `/` and `%` round towards
zero as in C.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping

import msgspec


class Constant(msgspec.Struct, frozen=True):
    """A number."""

    value: int


class Register(msgspec.Struct, frozen=True):
    """A register of the thread."""

    name: str


class ThreadId(msgspec.Struct, frozen=True):
    """`tid`: which copy of a replicated thread this is, 0 in a thread declared once."""


class Unary(msgspec.Struct, frozen=True):
    """`-`, `+` or `!` of an expression."""

    operator: str
    operand: Expression


class Binary(msgspec.Struct, frozen=True):
    """Two expressions and an operator of `PRECEDENCE`."""

    operator: str
    left: Expression
    right: Expression


Expression = Constant | Register | ThreadId | Unary | Binary


class DivisionByZeroError(ArithmeticError):
    """`/` or `%` by zero: the thread stops there and the run is reported."""


def _quotient(a: int, b: int) -> int:
    if b == 0:
        raise DivisionByZeroError
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def _remainder(a: int, b: int) -> int:
    return a - b * _quotient(a, b)


UNARY: dict[str, Callable[[int], int]] = {
    "-": operator.neg,
    "+": operator.pos,
    "!": lambda a: int(a == 0),
}

# The operators that evaluate both sides; `&&` and `||` are in `evaluate`.
STRICT_BINARY: dict[str, Callable[[int, int], int]] = {
    "*": operator.mul,
    "/": _quotient,
    "%": _remainder,
    "+": operator.add,
    "-": operator.sub,
    "<": lambda a, b: int(a < b),
    "<=": lambda a, b: int(a <= b),
    ">": lambda a, b: int(a > b),
    ">=": lambda a, b: int(a >= b),
    "==": lambda a, b: int(a == b),
    "!=": lambda a, b: int(a != b),
    "&": operator.and_,
    "^": operator.xor,
    "|": operator.or_,
}

# C's precedence, loosest first; all binary operators associate to the left.
PRECEDENCE: tuple[tuple[str, ...], ...] = (
    ("||",),
    ("&&",),
    ("|",),
    ("^",),
    ("&",),
    ("==", "!="),
    ("<", "<=", ">", ">="),
    ("+", "-"),
    ("*", "/", "%"),
)


# How tightly each binary operator binds: its level in `PRECEDENCE`.
BINDS = {sign: level for level, signs in enumerate(PRECEDENCE) for sign in signs}

# What each comparison says if it does not hold.
NEGATED = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}


def evaluate(expression: Expression, registers: Mapping[str, int], tid: int = 0) -> int:
    """The mathematical value of `expression`; raises `DivisionByZeroError`."""
    match expression:
        case Constant(value):
            return value
        case Register(name):
            return registers[name]
        case ThreadId():
            return tid
        case Unary(op, operand):
            return UNARY[op](evaluate(operand, registers, tid))
        case Binary("&&", left, right):
            return int(evaluate(left, registers, tid) != 0 and evaluate(right, registers, tid) != 0)
        case Binary("||", left, right):
            return int(evaluate(left, registers, tid) != 0 or evaluate(right, registers, tid) != 0)
        case Binary(op, left, right):
            return STRICT_BINARY[op](evaluate(left, registers, tid), evaluate(right, registers, tid))


def subexpressions(expression: Expression) -> Iterator[Expression]:
    """`expression` and everything in it, outermost first."""
    yield expression
    match expression:
        case Unary(_, operand):
            yield from subexpressions(operand)
        case Binary(_, left, right):
            yield from subexpressions(left)
            yield from subexpressions(right)


def registers_in(expression: Expression) -> Iterator[str]:
    """The registers of which the expression makes use."""
    return (part.name for part in subexpressions(expression) if isinstance(part, Register))


def negated(condition: Expression) -> Expression:
    """A condition that is true where `condition` is false."""
    match condition:
        case Unary("!", operand):
            return operand
        case Binary(operator, left, right) if operator in NEGATED:
            return Binary(NEGATED[operator], left, right)
        case _:
            return Unary("!", condition)


def with_operands(expression: Expression, change: Callable[[Expression], Expression]) -> Expression:
    """The expression with `change` made to its operands, if it has any."""
    match expression:
        case Unary(sign, operand):
            return Unary(sign, change(operand))
        case Binary(sign, left, right):
            return Binary(sign, change(left), change(right))
        case _:
            return expression


def numbered(expression: Expression, tid: int) -> Expression:
    """The expression as the thread with this number sees it."""
    if isinstance(expression, ThreadId):
        return Constant(tid)
    return with_operands(expression, lambda operand: numbered(operand, tid))
