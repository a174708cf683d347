"""Which values a C litmus test needs, and how its numbers are those of a `Program`.

The numbers of C are signed and, as far as a litmus test goes, unbounded; those of a `Program` are
0..max_value and stored modulo max_value + 1. The domain is the smallest 2**k values that hold

- every number in the code, the initial values and the final condition, and
- everything that arithmetic can store: an instruction outside of loops adds to that once, and a value that
  can grow without end in a loop, or beyond 2**32, wraps around in a domain of at least 256 values.

If some stored value may be negative, the domain has a half for those: -1 is stored as max_value, and so on.
Equality of what is stored needs no care then. Where a register that may be negative meets another operator
that looks at more than the value modulo max_value + 1, `to_program` turns it back into a signed number: `r`
becomes `r - (r > h) * (max_value + 1)`, h the largest number of the positive half. `from_program` undoes it.

A header line `MaxValue=n`, which is ours, sets the domain; then all numbers are those of a `Program`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from fencepost.formats.litmus.ranges import LARGEST_SUM, stored_ranges
from fencepost.program import (
    Assert,
    Assume,
    Binary,
    Branch,
    Constant,
    Expression,
    Instruction,
    Register,
    Unary,
    expressions_of,
    subexpressions,
    with_expressions,
)

Code = tuple[Instruction, ...]

_WRAPPING_BITS = 8
# Their value modulo 2**k needs no more of their operands.
_REMAINDER_OPERATORS = ("+", "-", "*", "&", "|", "^")


class Numbers(NamedTuple):
    """A test as C means it: the code of its threads, its initial values, and those it is asked about."""

    threads: tuple[Code, ...]
    initial: Mapping[str, int]
    compared: tuple[int, ...] = ()


class Domain(NamedTuple):
    """The values of a program, whether half of them are negative, and each thread's negative registers."""

    max_value: int
    signed: bool
    negative: tuple[frozenset[str], ...]


def domain_of(numbers: Numbers) -> Domain:
    """The domain that the test needs."""
    ranges = stored_ranges(numbers.threads, numbers.initial)
    known = [*_constants(numbers), *numbers.initial.values(), *numbers.compared]
    bounds = [bound for stored in ranges.all() for bound in (stored.low, stored.high)]
    finite = [0, *known, *(bound for bound in bounds if abs(bound) < LARGEST_SUM)]
    low, high = min(finite), max(finite)
    signed = low < 0 or any(bound < 0 for bound in bounds)
    bits = max(high.bit_length(), (-low - 1).bit_length() if low < 0 else 0) + signed
    if any(abs(bound) >= LARGEST_SUM for bound in bounds):
        bits = max(bits, _WRAPPING_BITS)
    return Domain((1 << max(bits, 1)) - 1, signed, ranges.negative_registers())


def to_program(code: Code, thread: int, domain: Domain) -> Code:
    """The code of thread number `thread` in the arithmetic of a `Program` with that domain."""
    if not domain.signed:
        return code
    arithmetic = _Arithmetic(domain.max_value, domain.negative[thread])
    return tuple(arithmetic.instruction(instruction) for instruction in code)


def from_program(code: Code, max_value: int) -> Code:
    """The code of which `to_program` made this one, if half of the values are negative."""
    return tuple(with_expressions(i, lambda e: _undone(e, max_value)) for i in code)


def signed(value: int, max_value: int) -> int:
    """The number that is stored as `value` where half of the values are negative."""
    return value if value <= max_value >> 1 else value - max_value - 1


def _constants(numbers: Numbers) -> Iterator[int]:
    for code in numbers.threads:
        for instruction in code:
            for expression in expressions_of(instruction):
                for part in subexpressions(expression):
                    if isinstance(part, Constant):
                        yield part.value


class _Arithmetic(NamedTuple):
    """Expressions of C as those of a program with these values, half of them negative."""

    max_value: int
    negative: frozenset[str]

    def instruction(self, instruction: Instruction) -> Instruction:
        convert = self._truth if isinstance(instruction, Branch | Assert | Assume) else self._remainder
        return with_expressions(instruction, convert)

    def _remainder(self, expression: Expression) -> Expression:
        """The same value modulo max_value + 1."""
        match expression:
            case Constant() | Register():
                return expression
            case Unary("-" | "+" as operator, operand):
                return Unary(operator, self._remainder(operand))
            case Binary(operator, left, right) if operator in _REMAINDER_OPERATORS:
                return Binary(operator, self._remainder(left), self._remainder(right))
            case _:
                return self._exact(expression)

    def _truth(self, expression: Expression) -> Expression:
        """0 exactly where the expression is."""
        return expression if isinstance(expression, Register) else self._exact(expression)

    def _exact(self, expression: Expression) -> Expression:
        """The same number."""
        match expression:
            case Register(name) if name in self.negative:
                return _signed_register(expression, self.max_value)
            case Unary("!", operand):
                return Unary("!", self._truth(operand))
            case Unary(operator, operand):
                return Unary(operator, self._exact(operand))
            case Binary("&&" | "||" as operator, left, right):
                return Binary(operator, self._truth(left), self._truth(right))
            case Binary("==" | "!=" as operator, left, right):
                first, second = self._stored(left), self._stored(right)
                if first is not None and second is not None:
                    return Binary(operator, first, second)
                return Binary(operator, self._exact(left), self._exact(right))
            case Binary(operator, left, right):
                return Binary(operator, self._exact(left), self._exact(right))
            case _:
                return expression

    def _stored(self, expression: Expression) -> Expression | None:
        """A register or a number as it is stored; None for all other expressions."""
        match expression:
            case Constant() | Register():
                return expression
            case Unary("-", Constant(value)) if value > 0:
                return Constant(self.max_value + 1 - value)
            case _:
                return None


def _signed_register(register: Register, max_value: int) -> Expression:
    is_negative = Binary(">", register, Constant(max_value >> 1))
    return Binary("-", register, Binary("*", is_negative, Binary("+", Constant(max_value), Constant(1))))


def _undone(expression: Expression, max_value: int) -> Expression:
    match expression:
        case Binary("-", Register() as register, _) if expression == _signed_register(register, max_value):
            return register
        case Constant(value) if value > max_value >> 1:
            return Unary("-", Constant(max_value + 1 - value))
        case Unary(operator, operand):
            return Unary(operator, _undone(operand, max_value))
        case Binary(operator, left, right):
            return Binary(operator, _undone(left, max_value), _undone(right, max_value))
        case _:
            return expression
