"""From a `Program` to a C litmus test.

Writes the header, the initial values, the heads of the processes and the final condition; bodies are left to
`blocks.py`. Reading what was written gives the same program if it came from a C litmus test. Others
may differ in names, in made-up registers, and where C has no function for an instruction; what cannot be
written at all (arrays, choices, assertions, jumps that make no loop) is an `InputError`.

A reader of C chooses the value domain by itself. Where it would choose another than the program's, the header
says `MaxValue=n`, and the numbers are those of the program.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from msgspec.structs import replace

from fencepost.formats.litmus.blocks import body
from fencepost.formats.litmus.clauses import map_values
from fencepost.formats.litmus.parser import FINAL_WORDS, is_reserved
from fencepost.formats.litmus.values import (
    Code,
    Numbers,
    domain_of,
    from_program,
    signed,
    to_program,
)
from fencepost.formats.text.names import spellings
from fencepost.program import CellAccess, Program, Thread, numbered_code
from fencepost.program.conditions import (
    Always,
    And,
    CellIs,
    Formula,
    Not,
    Or,
    RegisterIs,
    StandsAt,
    atoms,
)
from fencepost.program.spelling import Spelling

_PROCESS = re.compile(r"P(0|[1-9][0-9]{0,8})")


def write(program: Program) -> str:
    """The program as a C litmus test; raises `InputError` for what has no place in one."""
    for location in program.locations:
        if location.is_array:
            message = f"array `{location.name}` cannot be written in a C litmus test"
            raise program.mistake(message, location.at)
    return "\n".join(_Writer(program).lines()) + "\n"


class _InC(NamedTuple):
    """The numbers of a program as a C litmus test has them."""

    codes: tuple[Code, ...]
    initial: dict[str, int]
    compared: dict[int, int]
    max_value: int | None  # to be stated, since a reader would choose another


class _Writer:
    def __init__(self, program: Program) -> None:
        self._program = program
        self._numbers = _in_c(program)
        asked = () if program.condition is None else tuple(atoms(program.condition.formula))
        self._asked = [atom for atom in asked if isinstance(atom, RegisterIs)]
        names = [location.name for location in program.locations]
        self._locations = spellings(names, _is_name, FINAL_WORDS)
        threads = [thread.name for thread in program.threads]
        if all(map(_PROCESS.fullmatch, threads)):
            self._processes = {name: name for name in threads}
        else:
            self._processes = {name: f"P{number}" for number, name in enumerate(threads)}
        self._registers = {thread.name: self._register_spellings(thread) for thread in program.threads}

    def lines(self) -> Iterator[str]:
        stem = os.path.splitext(os.path.basename(self._program.file))[0]
        yield f"C {re.sub(r'[^A-Za-z0-9_.+-]+', '_', stem).strip('_') or 'program'}"
        if self._numbers.max_value is not None:
            yield f"MaxValue={self._numbers.max_value}"
        yield ""
        yield f"{{ {' '.join(self._initial_values())} }}" if self._program.locations else "{ }"
        for thread, code in zip(self._program.threads, self._numbers.codes, strict=True):
            yield ""
            yield from self._process(replace(thread, code=code))
        if self._program.condition is not None:
            yield ""
            formula = map_values(self._program.condition.formula, self._numbers.compared)
            yield f"{self._program.condition.quantifier} ({self._formula(formula)})"

    def _initial_values(self) -> Iterator[str]:
        accessed = {
            instruction.cell.name
            for thread in self._program.threads
            for instruction in thread.code
            if isinstance(instruction, CellAccess)
        }
        for location in self._program.locations:
            kind = "" if location.atomic or location.name in accessed else "int "
            yield f"{kind}{self._locations[location.name]} = {self._numbers.initial[location.name]};"

    def _process(self, thread: Thread) -> Iterator[str]:
        registers = self._registers[thread.name]
        asked = {atom.register for atom in self._asked if atom.thread == thread.name}
        written = body(self._program, thread, Spelling(self._locations, registers, str(thread.tid)), asked)
        accessed = {i.cell.name for i in thread.code if isinstance(i, CellAccess)}
        parameters = ", ".join(
            f"{'atomic_int' if location.atomic else 'int'}* {self._locations[location.name]}"
            for location in self._program.locations
            if location.name in accessed
        )
        name = self._processes[thread.name]
        origin = "" if name == thread.name else f"  // {thread.name}"
        yield f"{name}({parameters}) {{{origin}"
        if written.registers:
            yield f"    int {', '.join(written.registers)};"
        yield from written.lines
        yield "}"

    def _register_spellings(self, thread: Thread) -> Mapping[str, str]:
        asked = {atom.register for atom in self._asked if atom.thread == thread.name}
        taken = {*self._locations.values(), *(word for word in FINAL_WORDS if word in asked)}
        return spellings(thread.registers, _is_name, taken)

    def _formula(self, formula: Formula, *, inside: bool = False) -> str:
        """The text of `formula`; in parentheses if it is `inside` of another and needs them."""
        match formula:
            case RegisterIs(thread, register, value, comparison):
                number = self._processes[thread].removeprefix("P")
                sign = "=" if comparison == "==" else "!="
                return f"{number}:{self._registers[thread][register]}{sign}{value}"
            case CellIs(cell, value, comparison):
                return f"{self._locations[cell]}{'=' if comparison == '==' else '!='}{value}"
            case StandsAt(thread, label):
                raise AssertionError(f"a final condition asks whether {thread} stands at {label}")
            case Not(part):
                return f"~({self._formula(part)})"
            case And(parts) | Or(parts) if parts:
                word = r" /\ " if isinstance(formula, And) else r" \/ "
                text = word.join(self._formula(part, inside=True) for part in parts)
                return f"({text})" if inside else text
            case Or():
                return "~(true)"
            case Always() | And():
                return "true"


def _in_c(program: Program) -> _InC:
    codes = tuple(numbered_code(thread.code, thread.tid) for thread in program.threads)
    initial = {location.name: location.initial[0] for location in program.locations}
    values = (
        () if program.condition is None else tuple(atom.value for atom in atoms(program.condition.formula))
    )
    as_it_is = _InC(codes, initial, {value: value for value in values}, None)
    domain = domain_of(Numbers(codes, initial, values))
    if domain.max_value == program.max_value and not domain.signed:
        return as_it_is
    half_negative = _InC(
        tuple(from_program(code, program.max_value) for code in codes),
        {name: signed(value, program.max_value) for name, value in initial.items()},
        {value: signed(value, program.max_value) for value in values},
        None,
    )
    numbers = Numbers(half_negative.codes, half_negative.initial, tuple(half_negative.compared.values()))
    domain = domain_of(numbers)
    if domain.max_value == program.max_value and domain.signed:
        again = tuple(to_program(code, number, domain) for number, code in enumerate(half_negative.codes))
        if again == codes:
            return half_negative
    return as_it_is._replace(max_value=program.max_value)


def _is_name(name: str) -> bool:
    return re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) is not None and not is_reserved(name)
