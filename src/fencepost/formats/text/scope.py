"""What the names, numbers and expressions inside a function mean, in TPL and languages with its expressions.

A `Scope` knows the declared locations and the locals of one function. It turns the flat token lists of the
grammar into expressions by C's precedence, and rejects every name and number that cannot stand where it
stands, at its own place. Statements are left to each language.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

import msgspec

from fencepost.formats.text.source import Source, quoted, suggestion, whole_number
from fencepost.formats.text.tree import as_token, as_tree, position
from fencepost.program import (
    BINDS,
    DEFAULT_MAX_VALUE,
    LARGEST_MAX_VALUE,
    Binary,
    Cell,
    Constant,
    Expression,
    Location,
    Position,
    Register,
    ThreadId,
    Unary,
)

if TYPE_CHECKING:
    from fencepost.errors import InputError
    from fencepost.formats.text.tree import Token, Tree

# Analyses recurse over expressions; this keeps them away from Python's recursion limit.
MOST_NESTED_OPERATORS = 100

_TRUTH_VALUES = {"true": 1, "false": 0}


class Scope(msgspec.Struct, frozen=True):
    """The names that one function can use; outside functions, with no locals, only its numbers."""

    source: Source
    strict: bool = False
    max_value: int = DEFAULT_MAX_VALUE
    locations: Mapping[str, Location] = MappingProxyType({})
    function: str = ""
    registers: tuple[str, ...] = ()
    replicated: bool = False
    any_number: bool = False  # the function is a template
    # What the user should know. If None, `true` and `false` are names, and too large numbers are mistakes.
    noticed: list[tuple[Position, str]] | None = None

    def error(self, message: str, at: Token | Tree) -> InputError:
        return self.source.error(message, position(at))

    def extension(self, what: str, at: Token | Tree) -> None:
        """Reject what only fencepost reads, if the text is to be TPL as others read it."""
        if self.strict:
            raise self.error(f"{what} a fencepost extension; not allowed with --strict-tpl", at)

    def number(self, token: Token) -> int:
        """A number that a location can hold."""
        value = self.natural(token)
        if value > self.max_value:
            limit = f"0..{self.max_value} (max_value)"
            raise self.error(f"the constant {value} is outside the value domain {limit}", token)
        return value

    def _constant(self, token: Token) -> int:
        """A number in an expression."""
        if self.noticed is None:
            return self.number(token)
        value = self.natural(token)
        if value > self.max_value:
            taken = value % (self.max_value + 1)
            said = f"the constant {value} is larger than max_value; {taken} is used, which is {value} modulo "
            self.noticed.append((position(token), f"{said}{self.max_value + 1}"))
            return taken
        return value

    def natural(self, token: Token) -> int:
        """A number up to 2**64 - 1."""
        digits, base = str(token), 10
        if token[:2] in ("0x", "0X"):
            self.extension("hexadecimal numbers are", token)
            digits, base = token[2:], 16
        allowed = "0123456789abcdefABCDEF" if base == 16 else "0123456789"
        if not all(digit in allowed for digit in digits) or token in ("0x", "0X"):
            raise self.error(f"{quoted(token)} is not a number", token)
        value = whole_number(digits, LARGEST_MAX_VALUE, base)
        if value is None:
            raise self.error(f"the number {quoted(token)} is larger than {LARGEST_MAX_VALUE}", token)
        return value

    def register(self, token: Token) -> str:
        """A local that is assigned or verified."""
        if token in self.registers:
            return str(token)
        if token in self.locations:
            store = "store" if self.locations[token].atomic else "nastore"
            raise self.error(f"{quoted(token)} is a location; write it with `{token}.{store}(…)`", token)
        raise self._unknown_local(token)

    def cell(self, node: Tree) -> Cell:
        name, index = as_token(node.children[0]), node.children[1] if len(node.children) > 1 else None
        if name not in self.locations:
            if name in self.registers:
                raise self.error(f"{quoted(name)} is a local, not a location", name)
            meant = suggestion(name, self.locations)
            raise self.error(f"{quoted(name)} is not a declared location{meant}", name)
        if index is None:
            if self.locations[name].is_array:
                raise self.error(
                    f"{quoted(name)} is an array; an access needs an index, as in `{name}[0]`", name
                )
            return Cell(str(name))
        if not self.locations[name].is_array:
            raise self.error(f"{quoted(name)} is not an array; it takes no index", name)
        return Cell(str(name), self.expression(as_tree(index)))

    def expression(self, node: Tree) -> Expression:
        """The expression that the flat token list spells, found with two stacks."""
        operands = _Operands(self, node)
        operators: list[str] = []
        after_operand = False
        for item in node.children:
            kind = item.type if isinstance(item, str) else "cell"
            if kind == "LPAR":
                operators.append("(")
            elif kind == "RPAR":
                while operators[-1] != "(":
                    operands.apply(operators.pop())
                operators.pop()
            elif kind in ("NUMBER", "cell"):
                operands.push(self._operand(item))
            elif not after_operand:
                operators.append(f"unary {item}")
            else:
                while operators and _binds_first(operators[-1], str(item)):
                    operands.apply(operators.pop())
                operators.append(str(item))
            after_operand = kind in ("NUMBER", "cell", "RPAR")
        while operators:
            operands.apply(operators.pop())
        return operands.result()

    def _operand(self, item: Token | Tree) -> Expression:
        if isinstance(item, str):
            return Constant(self._constant(item))
        name = as_token(item.children[0])
        if name in self.registers:
            if len(item.children) > 1:
                raise self.error(f"{quoted(name)} is a local; it takes no index", name)
            return Register(str(name))
        if name == "tid" and self.replicated:
            return ThreadId()
        if name in self.locations:
            raise self.error(f"{quoted(name)} is a location; load it into a local first", name)
        if self.noticed is not None and name in _TRUTH_VALUES and len(item.children) == 1:
            return Constant(_TRUTH_VALUES[name])
        raise self._unknown_local(name)

    def _unknown_local(self, name: Token) -> InputError:
        if name == "tid" and self.replicated:
            return self.error("`tid` is the number of the thread and cannot be assigned", name)
        if name == "tid" and self.any_number:
            return self.error(
                f"there is no `tid` in `{self.function}[*]`, whose threads are all alike; write a thread "
                "that needs a number as a function of its own",
                name,
            )
        if name == "tid":
            return self.error("`tid` exists only in replicated functions, as in `fn worker[2] {…}`", name)
        meant = suggestion(name, self.registers)
        return self.error(f"{quoted(name)} is not a local of {quoted(self.function)}{meant}", name)


class _Operands:
    """The operand stack of `Scope.expression`; it knows how deep each operand is."""

    def __init__(self, scope: Scope, node: Tree) -> None:
        self._scope = scope
        self._node = node
        self._stack: list[tuple[Expression, int]] = []

    def push(self, operand: Expression) -> None:
        self._stack.append((operand, 0))

    def apply(self, operator: str) -> None:
        right, depth = self._stack.pop()
        if operator.startswith("unary "):
            self._push_checked(Unary(operator[6:], right), depth + 1)
        else:
            left, left_depth = self._stack.pop()
            self._push_checked(Binary(operator, left, right), max(left_depth, depth) + 1)

    def result(self) -> Expression:
        ((expression, _),) = self._stack
        return expression

    def _push_checked(self, expression: Expression, depth: int) -> None:
        # One `!` more is free: the writer may need it to turn a jump into a block.
        free = isinstance(expression, Unary) and expression.operator == "!"
        if depth > MOST_NESTED_OPERATORS + free:
            limit = f"at most {MOST_NESTED_OPERATORS} operators may be applied on top of each other"
            raise self._scope.error(
                f"the expression is too long: {limit}; assign a part of it first", self._node
            )
        self._stack.append((expression, depth))


def _binds_first(before: str, after: str) -> bool:
    """Whether the operator `before` is to be applied before the binary operator `after` to its right."""
    if before == "(":
        return False
    return before.startswith("unary ") or BINDS[before] >= BINDS[after]
