"""What the words of a transition mean: its instruction, and expressions in prefix notation.

    write V A     store the value of V at the address A
    read R A      load the register R from the address A
    local R E     assign
    check E       go on only if E is not 0
    noop  mfence  lock  unlock

Every mistake is an `InputError` at the word that is wrong.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from fencepost.errors import InputError
from fencepost.formats.text.scope import MOST_NESTED_OPERATORS
from fencepost.formats.text.source import Source, one_of, quoted, suggestion, whole_number
from fencepost.formats.text.tree import Token, position
from fencepost.formats.transitions.automaton import Lock, Step, Unlock, is_negative
from fencepost.program import (
    LARGEST_MAX_VALUE,
    Assign,
    Assume,
    Binary,
    Cell,
    Constant,
    Expression,
    Fence,
    Load,
    Position,
    Register,
    Skip,
    Store,
    Unary,
)

MEMORY = "mem"  # the location that all addresses are in
INSTRUCTIONS = ("write", "read", "local", "check", "noop", "mfence", "lock", "unlock")
BINARY_OPERATORS = ("==", "!=", "<", "<=", ">", ">=", "&&", "||", "+", "-", "*", "&")
OPERATORS = ("!", *BINARY_OPERATORS)
REGISTER = re.compile(r"[A-Za-z_$][\w$.]*", re.ASCII)
_NUMBER = re.compile(r"-?[0-9]+")


def number(source: Source, token: Token) -> int:
    """The number that the word spells, which may be negative."""
    value = whole_number(token.lstrip("-"), LARGEST_MAX_VALUE)
    if value is None:
        message = f"the number {quoted(token)} is too large; at most {LARGEST_MAX_VALUE} is supported"
        raise source.error(message, position(token))
    return -value if token.startswith("-") else value


def is_number(word: str) -> bool:
    return _NUMBER.fullmatch(word) is not None


class Words:
    """The words of one transition after its states, read from left to right."""

    def __init__(self, source: Source, memory: str, words: Sequence[Token]) -> None:
        self._source = source
        self._memory = memory
        self._words = words
        self._next = 0

    def step(self, at: Position) -> Step:
        """The instruction that the words spell, placed at the transition."""
        word = self._take("an instruction")
        step = self._instruction(word, at)
        if step is None:
            known = one_of(map(quoted, INSTRUCTIONS))
            meant = suggestion(word, INSTRUCTIONS)
            raise self._error(f"there is no instruction {quoted(word)}; expected {known}{meant}", word)
        if self._next < len(self._words):
            extra = self._words[self._next]
            raise self._error(
                f"unexpected {quoted(extra)}: the instruction {quoted(word)} is complete", extra
            )
        return step

    def _instruction(self, word: str, at: Position) -> Step | None:
        match str(word):
            case "write":
                value = self._value()
                return Store(self._cell(), value, at=at)
            case "read":
                register = self._register()
                return Load(register, self._cell(), at=at)
            case "local":
                register = self._register()
                return Assign(register, self._value(), at=at)
            case "check":
                return Assume(self._expression("a condition"), at=at)
            case "noop":
                return Skip(at=at)
            case "mfence":
                return Fence(at=at)
            case "lock":
                return Lock(at)
            case "unlock":
                return Unlock(at)
        return None

    def _cell(self) -> Cell:
        first = self._next
        address = self._expression("an address")
        if is_negative(address):
            raise self._error("an address cannot be negative", self._words[first])
        return Cell(self._memory, address)

    def _value(self) -> Expression:
        first = self._next
        value = self._expression("a value")
        if is_negative(value):
            message = "negative values cannot be stored: fencepost follows values from 0 on"
            raise self._error(message, self._words[first])
        return value

    def _register(self) -> str:
        word = self._take("a register")
        if not REGISTER.fullmatch(word):
            raise self._error(f"expected a register, found {quoted(word)}", word)
        return str(word)

    def _expression(self, what: str) -> Expression:
        """The next expression; operators wait on a stack for their operands."""
        waiting: list[tuple[Token, list[Expression]]] = []
        while True:
            word = self._take(f"an operand of {quoted(waiting[-1][0])}" if waiting else what)
            if word in OPERATORS:
                waiting.append((word, []))
                self._check_depth(waiting)
                continue
            value = self._operand(word)
            while waiting:
                operator, operands = waiting[-1]
                operands.append(value)
                if operator != "!" and len(operands) < 2:
                    break
                waiting.pop()
                value = Unary("!", value) if operator == "!" else Binary(str(operator), operands[0], value)
            else:
                return value

    def _check_depth(self, waiting: list[tuple[Token, list[Expression]]]) -> None:
        # A `!` around all is free: the writer may need it to turn a jump into a choice.
        if len(waiting) > MOST_NESTED_OPERATORS + (waiting[0][0] == "!"):
            limit = f"at most {MOST_NESTED_OPERATORS} operators may be applied on top of each other"
            raise self._error(
                f"the expression is too long: {limit}; assign a part of it first", waiting[0][0]
            )

    def _operand(self, word: Token) -> Expression:
        if is_number(word):
            value = number(self._source, word)
            return Constant(value) if value >= 0 else Unary("-", Constant(-value))
        if REGISTER.fullmatch(word):
            return Register(str(word))
        operators = ", ".join(OPERATORS)
        raise self._error(f"{quoted(word)} is no number, register or operator ({operators})", word)

    def _take(self, what: str) -> Token:
        if self._next == len(self._words):
            last = self._words[-1]
            at = Position(last.line, last.end_column)
            raise self._source.error(f"expected {what} after {quoted(last)}", at)
        self._next += 1
        return self._words[self._next - 1]

    def _error(self, message: str, word: Token) -> InputError:
        return self._source.error(message, position(word))
