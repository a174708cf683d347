"""Expressions of a program as Promela can compute them: what is known put in, results as TPL defines them.

Spin computes with the 32-bit numbers of C, in which a division by zero ends the verifier. Expressions for
which that is not enough are an `InputError`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from fencepost.program import (
    Binary,
    Constant,
    DivisionByZeroError,
    Expression,
    Position,
    Program,
    Register,
    Thread,
    ThreadId,
    Unary,
    evaluate,
    negated,
    subexpressions,
    with_operands,
)
from fencepost.static.intervals import covering_interval, domain_interval

_LONGEST = 200


class _Stored(Binary, frozen=True):
    """An expression whose value is in the domain, since it was taken modulo."""


class Computing:
    """The expressions of one thread."""

    def __init__(self, program: Program, thread: Thread) -> None:
        self._program = program
        self._tid = thread.tid

    def number(self, expression: Expression, registers: Mapping[str, Expression], at: Position) -> Expression:
        """The mathematical value of `expression`, given the values of the registers."""
        result = self._with(expression, registers)
        self._check(result, at)
        return result

    def value(self, expression: Expression, registers: Mapping[str, Expression], at: Position) -> Expression:
        """`expression` as it is stored: taken modulo the domain."""
        number = self.number(expression, registers, at)
        modulus = self._program.modulus
        if isinstance(number, Constant):
            return Constant(number.value % modulus)
        found = domain_interval(_outline(number), self._program.max_value, self._tid)
        if found.low >= 0 and found.high < modulus:
            return number
        if modulus & (modulus - 1) == 0:
            return _Stored("&", number, Constant(modulus - 1))
        divisor = Constant(modulus)
        if found.low >= 0:
            return _Stored("%", number, divisor)
        shifted = Binary("+", Binary("%", number, divisor), divisor)
        self._check(shifted, at)
        return _Stored("%", shifted, divisor)

    def outside(self, number: Expression, size: int) -> Iterator[Expression]:
        """The conditions, of those that can be true, under which the number is not in 0..`size` - 1."""
        found = domain_interval(_outline(number), self._program.max_value, self._tid)
        if found.low < 0:
            yield folded(Binary("<", number, Constant(0)))
        if found.high >= size:
            yield folded(Binary(">=", number, Constant(size)))

    def _with(self, expression: Expression, registers: Mapping[str, Expression]) -> Expression:
        match expression:
            case Constant():
                return expression
            case Register(name):
                return registers[name]
            case ThreadId():
                return Constant(self._tid)
            case Unary("+", operand):
                return self._with(operand, registers)
            case _:
                return folded(with_operands(expression, lambda operand: self._with(operand, registers)))

    def _check(self, expression: Expression, at: Position) -> None:
        parts = list(subexpressions(expression))
        if len(parts) > _LONGEST:
            message = (
                "what is computed here from one access to the next is too long for one expression of Promela"
            )
            raise self._program.mistake(message, at)
        for part in parts:
            if isinstance(part, Binary) and part.operator in ("/", "%") and not _is_divisor(part.right):
                message = "only division by a constant other than 0 can be written in Promela"
                raise self._program.mistake(message, at)
        if not covering_interval(_outline(expression), self._program.max_value, self._tid).fits(32):
            message = (
                "the value of this expression can exceed the 32 bits of numbers in Promela; lower max_value"
            )
            raise self._program.mistake(message, at)


def _outline(expression: Expression) -> Expression:
    """The expression with registers for what is known to be in the domain."""
    return Register("") if isinstance(expression, _Stored) else with_operands(expression, _outline)


def _is_divisor(expression: Expression) -> bool:
    return isinstance(expression, Constant) and expression.value != 0


def folded(expression: Expression) -> Expression:
    """The constant that `expression` is, if its operands tell."""
    match expression:
        case Binary("&&", Constant(left), right) if left != 0:
            return folded(Binary("!=", right, Constant(0)))
        case Binary("||", Constant(0), right):
            return folded(Binary("!=", right, Constant(0)))
        case Binary("&&" | "||", Constant(left), _):
            return Constant(int(left != 0))
        case Unary(_, Constant()) | Binary(_, Constant(), Constant()):
            try:
                return Constant(evaluate(expression, {}))
            except DivisionByZeroError:
                return expression
        case _:
            return expression


def negation(condition: Expression) -> Expression:
    """A condition that is true where `condition` is false."""
    match condition:
        case Constant(value):
            return Constant(int(value == 0))
        case _:
            return negated(condition)
