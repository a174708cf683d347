"""The TPL spelling of expressions and of single instructions, in files and in reports.

Where a jump leads is not told here: that takes labels and blocks, which are `formats/tpl/blocks.py`'s.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType

import msgspec

from fencepost.program import (
    BINDS,
    PRECEDENCE,
    Assert,
    Assign,
    Assume,
    Binary,
    BlockingCompareExchange,
    Branch,
    Cell,
    Choose,
    CompareExchange,
    Constant,
    Exchange,
    Expression,
    Fence,
    FetchAdd,
    Goto,
    Instruction,
    Load,
    Mode,
    Program,
    Register,
    Skip,
    Store,
    ThreadId,
    Unary,
    Verify,
    Wait,
)
from fencepost.program.instructions import FETCH_OPERATORS


def format_expression(expression: Expression) -> str:
    """`expression` with no more parentheses than C's precedence needs."""
    return Spelling().expression(expression)


def format_instruction(instruction: Instruction) -> str:
    """One instruction as a statement without its semicolon; jumps do not tell where to."""
    match instruction:
        case Branch(condition):
            return f"if ({format_expression(condition)}) goto …"
        case Goto():
            return "goto …"
        case Choose():
            return "oneof(…)"
        case _:
            return Spelling().statement(instruction)


# Formats in which an instruction's position is where its statement, or its part of an expression, begins.
_WITH_STATEMENTS = ("tpl", "litmus")
# Compiled when they are used: who only asks for a verdict spells nothing.
_PIECE = r"(?s)//[^\n]*|/\*.*?\*/|[(\[]|[)\]]|[;{}]|\s+|[^()\[\];{}\s/]+|/"
_LINE_AT_BRACKET = r"(?<=[(\[])\s*\n\s*|\s*\n\s*(?=[)\]])"


def statement_text(program: Program, instruction: Instruction) -> str:
    """The instruction as it is written in the program's source; where there is none, as we would spell it.

    It ends before its semicolon, or before the bracket that closes what it is a part of. It is put on one
    line, without comments.
    """
    line = program.source_line(instruction.at.line) if program.format in _WITH_STATEMENTS else None
    if line is None or program.source is None:
        return format_instruction(instruction)
    before = program.source.split("\n")[: instruction.at.line - 1]
    start = sum(len(one) + 1 for one in before) + instruction.at.column - 1
    text = " ".join(re.sub(_LINE_AT_BRACKET, "", "".join(_pieces(program.source, start))).split())
    # A fence that was added to the program, and the load of what C's compare-exchange expects, stand at the
    # position of a statement that they are only a part of.
    is_part = isinstance(instruction, Load | Store) and "compare_exchange" in text
    is_fence = "fence" in text.partition("(")[0]
    is_whole = text[:1].isidentifier() and isinstance(instruction, Fence) == is_fence and not is_part
    return text if is_whole else format_instruction(instruction)


def _pieces(source: str, start: int) -> Iterator[str]:
    depth = 0
    for piece in re.compile(_PIECE).finditer(source, start):
        match piece[0][0]:
            case "(" | "[":
                depth += 1
            case ")" | "]" if depth == 0:
                return
            case ")" | "]":
                depth -= 1
            case ";" | "{" | "}":
                return
        yield "\n" if piece[0].startswith(("//", "/*")) else piece[0]


_ATOM = len(PRECEDENCE)


class Spelling(msgspec.Struct, frozen=True):
    """How a function spells its names; those that are not listed are spelled as they are."""

    locations: Mapping[str, str] = MappingProxyType({})
    registers: Mapping[str, str] = MappingProxyType({})
    tid: str = "tid"

    def expression(self, expression: Expression, binds: int = 0) -> str:
        """`expression` where only operators that bind at least as tightly as `binds` need no parentheses."""
        match expression:
            case Constant(value):
                return str(value)
            case Register(name):
                return self.registers.get(name, name)
            case ThreadId():
                return self.tid
            case Unary(operator, operand):
                text = self.expression(operand, _ATOM)
                return f"{operator} {text}" if operator in "+-" and text[0] in "+-" else operator + text
            case Binary(operator, left, right):
                level = BINDS[operator]
                text = f"{self.expression(left, level)} {operator} {self.expression(right, level + 1)}"
                return f"({text})" if level < binds else text

    def cell(self, cell: Cell) -> str:
        index = "" if cell.index is None else f"[{self.expression(cell.index)}]"
        return self.locations.get(cell.name, cell.name) + index

    def statement(self, instruction: Instruction) -> str:
        """An instruction that does not jump."""
        match instruction:
            case Assign(register, value):
                return f"{self.registers.get(register, register)} = {self.expression(value)}"
            case Assert(condition):
                return f"assert({self.expression(condition)})"
            case Assume(condition):
                return f"assume({self.expression(condition)})"
            case Skip():
                return "skip"
            case Verify(register):
                return f"verify({self.registers.get(register, register)})"
            case Load(register, cell, mode):
                access = "naload()" if mode is Mode.NA else f"load({_mode(mode)})"
                return f"{self._result(register)}{self.cell(cell)}.{access}"
            case Store(cell, value, Mode.NA):
                return f"{self.cell(cell)}.nastore({self.expression(value)})"
            case Store(cell, value, mode):
                arguments = ", ".join(filter(None, (self.expression(value), _mode(mode))))
                return f"{self.cell(cell)}.store({arguments})"
            case Fence(mode):
                return "fence" if mode is Mode.SC else f"fence({mode.value})"
            case _:
                return self._call(instruction)

    def _call(self, instruction: Instruction) -> str:
        match instruction:
            case FetchAdd(register, cell, value, load, store, operator) if operator != "+":
                arguments = ", ".join([self.expression(value), *_modes(load, store)])
                return f"{self._result(register)}{self.cell(cell)}.{FETCH_OPERATORS[operator]}({arguments})"
            case FetchAdd(register, cell, value, load, store):
                return self._called("FADD", register, cell, (value,), load, store)
            case Exchange(register, cell, value, load, store):
                return self._called("exchange", register, cell, (value,), load, store)
            case CompareExchange(register, cell, expected, desired, load, store, failure):
                values = (expected, desired)
                if failure is load:
                    return self._called("CAS", register, cell, values, load, store)
                modes = ["seq_cst"] if load is Mode.SC else [load.value, store.value]
                modes.append(failure.value)
                return f"{self._result(register)}CAS({', '.join([*self._operands(cell, values), *modes])})"
            case BlockingCompareExchange(cell, Constant(0), Constant(1), Mode.ACQ, Mode.RLX):
                return f"lock({self.cell(cell)})"
            case BlockingCompareExchange(cell, expected, desired, load, store):
                return self._called("BCAS", None, cell, (expected, desired), load, store)
            case Wait(register, cell, values, mode):
                return self._called("wait", register, cell, values, mode)
        raise TypeError(f"{type(instruction).__name__} is not a statement of its own")

    def _called(
        self, word: str, register: str | None, cell: Cell, values: tuple[Expression, ...], *modes: Mode
    ) -> str:
        arguments = [*self._operands(cell, values), *_modes(*modes)]
        return f"{self._result(register)}{word}({', '.join(arguments)})"

    def _operands(self, cell: Cell, values: tuple[Expression, ...]) -> list[str]:
        return [self.cell(cell), *map(self.expression, values)]

    def _result(self, register: str | None) -> str:
        return "" if register is None else f"{self.registers.get(register, register)} = "


def _modes(*modes: Mode) -> list[str]:
    """Those of one access; seq_cst is said once, for the whole of it."""
    return ["seq_cst"] if Mode.SC in modes else [*filter(None, map(_mode, modes))]


def _mode(mode: Mode) -> str:
    """A relaxed access is written without a mode; one mode of two tells by itself which part it is."""
    return "" if mode is Mode.RLX else mode.value
