"""Expressions by Python's operators, over the locals of a thread, and the locations that threads share.

`+ - * / % & | ^` and the comparisons are those of TPL: `/` and `%` round towards zero, and comparisons give 0
or 1. Python's `and`, `or` and `not` cannot be given a meaning; use `all_of`, `any_of` and `not_`.
"""

from __future__ import annotations

import re
from functools import reduce

from fencepost.formats.tpl import format_expression
from fencepost.formats.tpl.parser import KEYWORDS
from fencepost.program import Binary, Cell, Constant, Expression, Register, Unary


class Value:
    """An expression over the locals of a thread."""

    __slots__ = ("expression",)
    __hash__ = None  # type: ignore[assignment]  # since `==` makes an expression

    def __init__(self, expression: Expression) -> None:
        self.expression = expression

    def __repr__(self) -> str:
        return f"<{format_expression(self.expression)}>"

    def __bool__(self) -> bool:
        raise TypeError(
            "only a run tells what a value is: use `with thread.if_(…)` or `with thread.while_(…)`, and "
            "`all_of`, `any_of` and `not_` for `and`, `or` and `not`"
        )

    def __neg__(self) -> Value:
        return Value(Unary("-", self.expression))

    def __add__(self, other: object) -> Value:
        return _binary("+", self, other)

    def __radd__(self, other: int) -> Value:
        return _binary("+", other, self)

    def __sub__(self, other: object) -> Value:
        return _binary("-", self, other)

    def __rsub__(self, other: int) -> Value:
        return _binary("-", other, self)

    def __mul__(self, other: object) -> Value:
        return _binary("*", self, other)

    def __rmul__(self, other: int) -> Value:
        return _binary("*", other, self)

    def __truediv__(self, other: object) -> Value:
        return _binary("/", self, other)

    def __rtruediv__(self, other: int) -> Value:
        return _binary("/", other, self)

    def __mod__(self, other: object) -> Value:
        return _binary("%", self, other)

    def __rmod__(self, other: int) -> Value:
        return _binary("%", other, self)

    def __and__(self, other: object) -> Value:
        return _binary("&", self, other)

    def __rand__(self, other: int) -> Value:
        return _binary("&", other, self)

    def __or__(self, other: object) -> Value:
        return _binary("|", self, other)

    def __ror__(self, other: int) -> Value:
        return _binary("|", other, self)

    def __xor__(self, other: object) -> Value:
        return _binary("^", self, other)

    def __rxor__(self, other: int) -> Value:
        return _binary("^", other, self)

    def __lt__(self, other: object) -> Value:
        return _binary("<", self, other)

    def __le__(self, other: object) -> Value:
        return _binary("<=", self, other)

    def __gt__(self, other: object) -> Value:
        return _binary(">", self, other)

    def __ge__(self, other: object) -> Value:
        return _binary(">=", self, other)

    def __eq__(self, other: object) -> Value:  # type: ignore[override]
        return _binary("==", self, other)

    def __ne__(self, other: object) -> Value:  # type: ignore[override]
        return _binary("!=", self, other)


class Local(Value):
    """A local variable of a thread."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        super().__init__(Register(name))
        self.name = name


class Location:
    """A shared location, or one cell of it."""

    __slots__ = ("atomic", "cell")

    def __init__(self, cell: Cell, *, atomic: bool) -> None:
        self.cell = cell
        self.atomic = atomic

    def __getitem__(self, index: int | Value) -> Location:
        return Location(Cell(self.cell.name, expression_of(index)), atomic=self.atomic)

    __iter__ = None  # an array has no end that a loop could see


def all_of(first: object, *others: object) -> Value:
    """1 if no value is 0; what comes after a 0 is not evaluated."""
    return reduce(lambda left, right: _binary("&&", left, right), others, _value(first))


def any_of(first: object, *others: object) -> Value:
    """1 if some value is not 0; what comes after such a value is not evaluated."""
    return reduce(lambda left, right: _binary("||", left, right), others, _value(first))


def not_(value: object) -> Value:
    """1 if the value is 0, else 0."""
    return Value(Unary("!", expression_of(value)))


def expression_of(value: object) -> Expression:
    """The expression that a number or an expression over locals stands for."""
    if isinstance(value, Value):
        return value.expression
    if isinstance(value, int):
        return Constant(int(value)) if value >= 0 else Unary("-", Constant(-value))
    raise TypeError(f"expected a number or an expression over locals, not {type(value).__name__}")


def check_name(name: str, what: str) -> None:
    """Raises `ValueError` for what is no name in TPL."""
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
        raise ValueError(f"{name!r} is no name for a {what}; expected letters, digits and `_`")
    if name in KEYWORDS:
        raise ValueError(f"{name!r} is a keyword of TPL and cannot be the name of a {what}")


def _value(value: object) -> Value:
    return Value(expression_of(value))


def _binary(operator: str, left: object, right: object) -> Value:
    return Value(Binary(operator, expression_of(left), expression_of(right)))
