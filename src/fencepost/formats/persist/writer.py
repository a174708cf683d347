"""From a `Program` to the language of Figure 8 of persist-2015.

Every cell becomes a variable, so an array can only be used with constant indices. The only read-modify-write
of the language is `arw`; an exchange or an addition becomes a choice of one for each value, if few.
What cannot be said is an `InputError`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping

from fencepost.formats.persist.parser import KEYWORDS
from fencepost.formats.text.names import spellings
from fencepost.formats.transitions.automaton import Step
from fencepost.formats.transitions.writing import (
    Steps,
    Ways,
    forgets_modes,
    separate_threads,
    state_names,
    transitions_of,
)
from fencepost.program import (
    Assign,
    Assume,
    BlockingCompareExchange,
    Cell,
    Constant,
    Exchange,
    Fence,
    FetchAdd,
    Instruction,
    Load,
    Program,
    Store,
    Thread,
)
from fencepost.program.spelling import Spelling

MOST_VALUES = 16  # for which an exchange is written as one `arw` each

_NAME = re.compile(r"\$?[A-Za-z_][A-Za-z0-9_.']*")


def write(program: Program) -> str:
    """The program in the language; raises `InputError` where it cannot be said in it."""
    variables = spellings(program.cells, _is_name)
    threads = [copy for thread, copies in separate_threads(program) for copy in _copies(thread, copies)]
    names = spellings((thread.family for thread in threads), _is_name)
    title = spellings([os.path.splitext(os.path.basename(program.file))[0]], _is_name)
    lines = ["// modes and weak fences are left out: they do nothing on TSO"] * forgets_modes(program)
    lines.append(f"program {next(iter(title.values()))}")
    lines.append(" ".join(["vars", ", ".join(variables.values())]).rstrip())
    lines.append("procs")
    for thread in threads:
        lines += ["", f"process {names[thread.family]}", *_body(program, thread, variables), "end"]
    return "\n".join(lines) + "\n"


def _copies(thread: Thread, copies: int | None) -> Iterator[Thread]:
    for tid in range(copies or 1):
        family = thread.family if copies is None else f"{thread.family}[{tid}]"
        yield Thread(family, thread.code, thread.registers, thread.labels, at=thread.at)


def _is_name(name: str) -> bool:
    return _NAME.fullmatch(name) is not None and name not in KEYWORDS


def _body(program: Program, thread: Thread, variables: Mapping[str, str]) -> Iterator[str]:
    registers = spellings(thread.registers, _is_name, variables.values())
    spelling = Spelling(variables, registers)
    initial, transitions = transitions_of(thread.code, _Statements(program).of)
    labels = state_names(initial, transitions, thread.labels, _is_name)
    yield " ".join(["regs", ", ".join(registers.values())]).rstrip()
    yield f"init {labels[initial]}"
    yield "begin"
    for source, target, step in transitions:
        yield f"    {labels[source]}: {_statement(spelling, step)}; goto {labels[target]}"


class _Statements(Steps):
    """The statements that do what an instruction does, on cells as they are named in `Program.cells`."""

    language = "Persist programs"
    zero_at_the_start = "all variables of Persist programs are"

    def others(self, instruction: Instruction) -> Ways:
        match instruction:
            case BlockingCompareExchange(cell, expected, desired):
                old, new = (self.stored(value, instruction) for value in (expected, desired))
                return [(BlockingCompareExchange(self.cell(cell, instruction), old, new),)]
            case Exchange() | FetchAdd() if self.program.max_value < MOST_VALUES:
                return list(self._by_value(instruction))
        raise self.no_counterpart(instruction)

    def _by_value(self, rmw: Exchange | FetchAdd) -> Iterator[tuple[Step, ...]]:
        variable = self.cell(rmw.cell, rmw)
        for old in map(Constant, range(self.program.modulus)):
            new = rmw.value if isinstance(rmw, Exchange) else self.combined(rmw, old)
            step = BlockingCompareExchange(variable, old, self.stored(new, rmw))
            yield (step,) if rmw.register is None else (step, Assign(rmw.register, old))

    def cell(self, cell: Cell, instruction: Instruction) -> Cell:
        match cell.index:
            case None:
                return cell
            case Constant(index):
                return Cell(f"{cell.name}[{index}]")
        raise self.no_counterpart(instruction)


def _statement(spelling: Spelling, step: Step) -> str:
    match step:
        case Store(cell, value):
            return f"{spelling.cell(cell)} = {spelling.expression(value)}"
        case Load(register, cell):
            return f"{spelling.registers[register]} = {spelling.cell(cell)}"
        case Assign(register, value):
            return f"{spelling.registers[register]} = {spelling.expression(value)}"
        case Assume(condition):
            return f"assume {spelling.expression(condition)}"
        case BlockingCompareExchange(cell, expected, desired):
            values = f"{spelling.expression(expected)}, {spelling.expression(desired)}"
            return f"arw({spelling.cell(cell)}, {values})"
        case Fence():
            return "fence"
        case _:
            return "skip"
