"""What the names and numbers in one process of a C litmus test mean.

A process knows its parameters, which are pointers to shared locations, and its registers, which belong to the
whole process wherever they are declared. Whether a plain access is atomic depends on the parameter:

    *x through atomic_int*    a seq_cst access, as in C11
    *x through int*           a non-atomic access
    atomic_…(x, …)            an atomic access, whatever the parameter says, as in herd

A location is atomic if it has an atomic access; non-atomic ones beside that are a mistake. The modes of an
access follow from its order; if it is seq_cst, it can be treated as something weaker. Expressions and
statements are left to `expressions.py` and `lowering.py`.

`Constants` says which registers certainly hold which constant at an instruction: those assigned a constant
since the last place that something jumps to. A compare-exchange whose expected register is such a constant
gets the constant itself, so that analyses need not ask what the register may hold. Reader and writer must
agree on this, so both use this class.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import TYPE_CHECKING

from fencepost.formats.text.source import Source, quoted, suggestion, whole_number
from fencepost.formats.text.tree import position
from fencepost.program import (
    Assign,
    Cell,
    Choose,
    Constant,
    Expression,
    Fence,
    Goto,
    Instruction,
    Load,
    Mode,
    Position,
    Register,
    Store,
    Verify,
    registers_of,
)
from fencepost.program.assembler import Assembler, Label

if TYPE_CHECKING:
    from fencepost.errors import InputError
    from fencepost.formats.text.tree import Token, Tree

# The registers that the reader makes up.
FRESH_REGISTER = re.compile(r"_[1-9][0-9]*")


def in_order(registers: Iterable[str]) -> tuple[str, ...]:
    """`registers` as a thread of a litmus test has them: those that look made up last, by number."""
    registers = list(registers)
    fresh = [name for name in registers if FRESH_REGISTER.fullmatch(name)]
    declared = [name for name in registers if not FRESH_REGISTER.fullmatch(name)]
    return (*declared, *sorted(fresh, key=lambda name: (len(name), name)))


class Constants:
    """The registers that hold a constant at an instruction; code is passed by from top to bottom."""

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


# --- names and numbers

LARGEST_NUMBER = 2**63 - 1
TREATMENTS = ("fence", "acq-rel")

_NUMBER = re.compile(r"(0[xX][0-9a-fA-F]+|[0-9]+)[uUlL]{0,3}")


def number(source: Source, token: Token, largest: int = LARGEST_NUMBER) -> int:
    """The value of a C integer constant."""
    match = _NUMBER.fullmatch(token)
    if match is None:
        raise source.error(f"{quoted(token)} is not a whole number", position(token))
    digits, base = match[1], 10
    if digits[:2] in ("0x", "0X"):
        digits, base = digits[2:], 16
    elif digits[0] == "0" and len(digits) > 1:
        message = f"{quoted(token)} is octal in C and decimal in herd; write it without the leading 0"
        raise source.error(message, position(token))
    value = whole_number(digits, largest, base)
    if value is None:
        raise source.error(f"the number {quoted(token)} is larger than {largest}", position(token))
    return value


class Accesses:
    """Where each location of a test is accessed first, atomically and not."""

    def __init__(self) -> None:
        self.atomic: dict[str, Position] = {}
        self.plain: dict[str, Position] = {}

    def check(self, source: Source) -> None:
        for name, at in self.plain.items():
            if name in self.atomic:
                line = self.atomic[name].line
                message = (
                    f"{quoted(name)} has an atomic access on line {line} and a non-atomic one here; "
                    f"fencepost needs one or the other"
                )
                raise source.error(message, at)


class Scope:
    """The names of one process, and the code that it becomes."""

    def __init__(
        self,
        source: Source,
        process: str,
        *,
        parameters: Mapping[str, bool],
        locations: Set[str],
        words: Set[str],
        accesses: Accesses,
        treat_sc_as: str | None,
        largest_number: int,
    ) -> None:
        """`parameters` says for each whether it points to an atomic; `words` are all words of the process."""
        self.source = source
        self.process = process
        self.code = Code(locations | words)
        self._parameters = parameters
        self._locations = locations
        self._words = words
        self._accesses = accesses
        self._treat_sc_as = treat_sc_as
        self._largest_number = largest_number
        self._registers: dict[str, str] = {}

    def error(self, message: str, at: Token | Tree | Position) -> InputError:
        return self.source.error(message, at if isinstance(at, Position) else position(at))

    def number(self, token: Token) -> int:
        return number(self.source, token, self._largest_number)

    # Registers.

    @property
    def registers(self) -> Mapping[str, str]:
        """The declared registers by the name they have in the text, and what the program calls them."""
        return self._registers

    def declare(self, token: Token) -> str:
        """A register of the process from here on; it may have been one before."""
        name = str(token)
        if name in self._parameters:
            raise self.error(f"{quoted(name)} is a parameter of {self.process} already", token)
        if name not in self._registers:
            self._registers[name] = self._name_in_program(name)
        return self._registers[name]

    def _name_in_program(self, name: str) -> str:
        """`name`, unless it is that of a location, which only other processes use."""
        if name not in self._locations:
            return name
        spelled = f"{name}_{self.process}"
        while spelled in self._locations or spelled in self._words:
            spelled += "_"
        return spelled

    def register(self, token: Token) -> str:
        """A register that is read or assigned."""
        if token in self._registers:
            return self._registers[token]
        if token in self._parameters:
            raise self.error(f"{quoted(token)} is a pointer; its location is `*{token}`", token)
        meant = suggestion(token, [*self._registers, *self._parameters])
        raise self.error(f"{quoted(token)} is not declared in {self.process}{meant}", token)

    # Locations.

    def is_parameter(self, token: Token) -> bool:
        return token in self._parameters

    def atomic_cell(self, token: Token) -> Cell:
        """The location that an atomic function accesses."""
        self._check_parameter(token)
        self._accesses.atomic.setdefault(str(token), position(token))
        return Cell(str(token))

    def points_to_atomic(self, token: Token) -> bool:
        self._check_parameter(token)
        return self._parameters[token]

    def load(self, register: str, token: Token, at: Position) -> None:
        """`register = *token`."""
        if self.points_to_atomic(token):
            cell = self.atomic_cell(token)
            self.begin_access(("seq_cst",), at)
            self.code.add(Load(register, cell, self.read_mode("seq_cst"), at=at))
        else:
            self._accesses.plain.setdefault(str(token), position(token))
            self.code.add(Load(register, Cell(str(token)), Mode.NA, at=at))

    def store(self, token: Token, value: Expression, at: Position) -> None:
        """`*token = value`."""
        if self.points_to_atomic(token):
            cell = self.atomic_cell(token)
            self.begin_access(("seq_cst",), at)
            self.code.add(Store(cell, value, self.write_mode("seq_cst"), at=at))
        else:
            self._accesses.plain.setdefault(str(token), position(token))
            self.code.add(Store(Cell(str(token)), value, Mode.NA, at=at))

    # Memory orders.

    def begin_access(self, orders: Sequence[str], at: Position) -> None:
        """An access with these orders comes next; by treatment, a seq_cst one has a fence before it."""
        if "seq_cst" in orders and self._treat_sc_as == "fence":
            self.code.add(Fence(Mode.SC, at=at))

    def read_mode(self, order: str) -> Mode:
        """Of the read part of an access with that order."""
        if order == "seq_cst" and self._treat_sc_as is None:
            return Mode.SC
        return Mode.ACQ if order in ("consume", "acquire", "acq_rel", "seq_cst") else Mode.RLX

    def write_mode(self, order: str) -> Mode:
        """Of the write part of an access with that order."""
        if order == "seq_cst" and self._treat_sc_as is None:
            return Mode.SC
        return Mode.REL if order in ("release", "acq_rel", "seq_cst") else Mode.RLX

    def _check_parameter(self, token: Token) -> None:
        if token in self._parameters:
            return
        if token in self._registers:
            raise self.error(f"{quoted(token)} is a register, not a pointer to a location", token)
        meant = suggestion(token, self._parameters)
        hint = f"; add `atomic_int* {token}`" if token in self._locations else meant
        raise self.error(f"{quoted(token)} is not a parameter of {self.process}{hint}", token)
