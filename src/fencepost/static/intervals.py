"""Between which numbers does the value of an expression lie?

Everything here over-approximates. What registers can hold is the caller's to say.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce

import msgspec

from fencepost.program import Binary, Constant, Expression, Register, ThreadId, Unary, subexpressions


class Interval(msgspec.Struct, frozen=True):
    """All integers from `low` to `high`."""

    low: int
    high: int

    def joined(self, other: Interval) -> Interval:
        """The smallest interval around both."""
        return Interval(min(self.low, other.low), max(self.high, other.high))

    def limited(self, bound: int | None) -> Interval:
        """The part from -`bound` to `bound`; all of it if there is no bound."""
        return self if bound is None else Interval(max(self.low, -bound), min(self.high, bound))

    def widened(self, before: Interval, bound: int) -> Interval:
        """This interval, but as far as `bound` on the sides where it is larger than `before`."""
        low = -bound if self.low < before.low else self.low
        return Interval(low, bound if self.high > before.high else self.high)

    def fits(self, bits: int) -> bool:
        """Whether a signed number of that many bits holds it."""
        return -(1 << (bits - 1)) <= self.low and self.high < 1 << (bits - 1)


ZERO = Interval(0, 0)
TRUTH = Interval(0, 1)


def interval_of(
    expression: Expression, register: Callable[[str], Interval], tid: int = 0, bound: int | None = None
) -> Interval:
    """The interval of the expression's value, given those of registers; beyond `bound` it is cut off."""
    match expression:
        case Constant(value):
            return Interval(value, value).limited(bound)
        case Register(name):
            return register(name)
        case ThreadId():
            return Interval(tid, tid)
        case Unary("-", operand):
            inner = interval_of(operand, register, tid, bound)
            return Interval(-inner.high, -inner.low)
        case Unary("+", operand):
            return interval_of(operand, register, tid, bound)
        case Binary(operator, left, right):
            a, b = interval_of(left, register, tid, bound), interval_of(right, register, tid, bound)
            return combined(operator, a, b).limited(bound)
        case _:
            return TRUTH


def domain_interval(expression: Expression, max_value: int, tid: int) -> Interval:
    """The interval of the expression's value where registers hold any value of the domain."""
    domain = Interval(0, max_value)
    return interval_of(expression, lambda _: domain, tid)


def covering_interval(expression: Expression, max_value: int, tid: int) -> Interval:
    """The same, with every intermediate value covered too."""
    if not isinstance(expression, Unary | Binary):
        return domain_interval(expression, max_value, tid)
    parts = (domain_interval(part, max_value, tid) for part in subexpressions(expression))
    return reduce(Interval.joined, parts)


def combined(operator: str, a: Interval, b: Interval) -> Interval:
    """What the operator makes of a value of `a` and one of `b`."""
    match operator:
        case "+":
            return Interval(a.low + b.low, a.high + b.high)
        case "-":
            return Interval(a.low - b.high, a.high - b.low)
        case "*":
            products = [x * y for x in (a.low, a.high) for y in (b.low, b.high)]
            return Interval(min(products), max(products))
        case "%" if a.low >= 0 and b.low > 0:
            return Interval(0, min(a.high, b.high - 1))
        case "/" | "%":  # neither is larger than the dividend, with either sign
            largest = max(abs(a.low), abs(a.high))
            return Interval(-largest if min(a.low, b.low) < 0 else 0, largest)
        case "&" if a.low >= 0 or b.low >= 0:
            return Interval(0, min(side.high for side in (a, b) if side.low >= 0))
        case "&" | "|" | "^":
            bits = max(abs(bound).bit_length() for bound in (a.low, a.high, b.low, b.high))
            return Interval(-(1 << bits) if min(a.low, b.low) < 0 else 0, (1 << bits) - 1)
        case _:
            return TRUTH
