"""The flat code of a litmus thread while it grows: jumps to places not yet reached, and constants.

`Constants` says which registers certainly hold which constant at an instruction: those assigned a constant
since the last place that something jumps to. A compare-exchange whose expected register is such a constant
gets the constant itself, so that analyses need not ask what the register may hold. Reader and writer must
agree on this, so both use this class.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Set
from typing import NamedTuple

from fencepost.program import (
    Assign,
    Branch,
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


class Place:
    """A place in the code that a jump may name before its index is known."""

    index = -1


class _Jump(NamedTuple):
    places: tuple[Place, ...]
    instruction: Callable[[tuple[int, ...]], Instruction]


class Code:
    """The code of one thread; `taken` are the names that its made-up registers must not have."""

    def __init__(self, taken: Set[str]) -> None:
        self.constants = Constants()
        self._taken = taken
        self._items: list[Instruction | _Jump] = []
        self._names: list[str] = []  # made up so far, and how many of them this statement uses
        self._used = 0
        self._last_number = 0

    def __len__(self) -> int:
        return len(self._items)

    def instructions(self) -> tuple[Instruction, ...]:
        return tuple(
            item.instruction(tuple(place.index for place in item.places)) if isinstance(item, _Jump) else item
            for item in self._items
        )

    def add(self, instruction: Instruction) -> None:
        self._items.append(instruction)
        self.constants.pass_by(instruction)

    def here(self, *places: Place) -> None:
        """Something jumps to these places, and this is where they are."""
        for place in places:
            place.index = len(self._items)
        self.constants.forget()

    def goto(self, place: Place, at: Position) -> None:
        self._items.append(_Jump((place,), lambda targets: Goto(targets[0], at=at)))
        self.constants.forget()

    def branch(self, condition: Expression, place: Place, at: Position) -> None:
        self._items.append(_Jump((place,), lambda targets: Branch(condition, targets[0], at=at)))

    def choose(self, places: tuple[Place, ...], at: Position) -> None:
        self._items.append(_Jump(places, lambda targets: Choose(targets, at=at)))
        self.constants.forget()

    def remove_goto(self) -> None:
        """Take back the jump that was added last: it turned out to lead to the next instruction."""
        self._items.pop()

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
