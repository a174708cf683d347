"""The flat code of a litmus thread while it grows: its made-up registers, and constants.

`Constants` says which registers certainly hold which constant at an instruction: those assigned a constant
since the last place that something jumps to. A compare-exchange whose expected register is such a constant
gets the constant itself, so that analyses need not ask what the register may hold. Reader and writer must
agree on this, so both use this class.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Set

from fencepost.program import (
    Assign,
    Choose,
    Constant,
    Expression,
    Goto,
    Instruction,
    Position,
    Register,
    Verify,
    registers_of,
)
from fencepost.program.assembler import Assembler, Label

# The registers that the reader makes up.
FRESH_REGISTER = re.compile(r"_[1-9][0-9]*")


def in_order(registers: Iterable[str]) -> tuple[str, ...]:
    """`registers` as a thread of a litmus test has them: those that look made up last, by number."""
    registers = list(registers)
    fresh = [name for name in registers if FRESH_REGISTER.fullmatch(name)]
    declared = [name for name in registers if not FRESH_REGISTER.fullmatch(name)]
    return (*declared, *sorted(fresh, key=lambda name: (len(name), name)))


class Constants:
    """The registers that hold a constant now, for someone who goes through code from top to bottom."""

    def __init__(self) -> None:
        self._values: dict[str, int] = {}

    def forget(self) -> None:
        """Something jumps here."""
        self._values.clear()

    def pass_by(self, instruction: Instruction) -> None:
        match instruction:
            case Assign(register, Constant(value)):
                self._values[register] = value
            case Goto() | Choose():
                self.forget()
            case Verify():
                pass
            case _:
                for register in registers_of(instruction):
                    self._values.pop(register, None)

    def value(self, register: str) -> Expression:
        """The constant in `register`, or else the register itself."""
        value = self._values.get(register)
        return Register(register) if value is None else Constant(value)


class Code(Assembler):
    """The code of one thread; `taken` are the names that its made-up registers must not have."""

    def __init__(self, taken: Set[str]) -> None:
        super().__init__()
        self.constants = Constants()
        self._taken = taken
        self._names: list[str] = []  # made up so far, and how many of them this statement uses
        self._used = 0
        self._last_number = 0

    def add(self, instruction: Instruction) -> None:
        super().add(instruction)
        self.constants.pass_by(instruction)

    def here(self, *labels: Label) -> None:
        super().here(*labels)
        self.constants.forget()

    def goto(self, label: Label, at: Position) -> None:
        super().goto(label, at)
        self.constants.forget()

    def choose(self, labels: tuple[Label, ...], at: Position) -> None:
        super().choose(labels, at)
        self.constants.forget()

    def next_statement(self) -> None:
        """The made-up registers of the statement before are free again."""
        self._used = 0

    def fresh_register(self) -> str:
        if self._used == len(self._names):
            self._last_number += 1
            while f"_{self._last_number}" in self._taken:
                self._last_number += 1
            self._names.append(f"_{self._last_number}")
        self._used += 1
        return self._names[self._used - 1]

    def made_up(self) -> tuple[str, ...]:
        """The registers that the program did not declare."""
        return tuple(self._names)
