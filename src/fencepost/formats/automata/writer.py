"""From a `Program` to the text of automata.

Locations become addresses, one cell after the other, and read-modify-writes atomic sections. Instructions,
operators and initial values that automata do not have are an `InputError`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from fencepost.formats.automata.instructions import BINARY_OPERATORS, MEMORY, REGISTER
from fencepost.formats.automata.parser import KEYWORDS
from fencepost.formats.text.names import spellings
from fencepost.formats.transitions.automaton import Lock, Step, Unlock
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
    Binary,
    BlockingCompareExchange,
    Cell,
    CompareExchange,
    Constant,
    Exchange,
    Expression,
    Fence,
    FetchAdd,
    Instruction,
    Load,
    Program,
    ReadModifyWrite,
    Register,
    Store,
    Thread,
    Unary,
    expressions_of,
    registers_in,
    subexpressions,
)


def write(program: Program) -> str:
    """The program as automata; raises `InputError` where it cannot be said in automata."""
    threads = list(separate_threads(program))
    names = spellings((thread.family for thread, _ in threads), _is_word)
    blocks = [[*_comments(program), f"memory_size {max(len(program.cells), 1)}"]]
    for thread, copies in threads:
        head = f"thread {names[thread.family]}" + ("" if copies is None else f" {copies}")
        blocks.append([head, *_body(program, thread), "end"])
    return "\n\n".join("\n".join(block) for block in blocks) + "\n"


def _comments(program: Program) -> Iterator[str]:
    if forgets_modes(program):
        yield "# modes and the fences that are not seq_cst are left out: they do nothing on TSO"
    if [(location.name, location.is_array) for location in program.locations] == [(MEMORY, True)]:
        return
    for location in program.locations:
        first, cells = program.first_cell[location.name], location.cell_names()
        if len(cells) == 1:
            yield f"# {cells[0]} is at address {first}"
        else:
            yield f"# {cells[0]} to {cells[-1]} are at the addresses {first} to {first + len(cells) - 1}"


def _body(program: Program, thread: Thread) -> Iterator[str]:
    scratch = next(iter(spellings(["tmp"], _is_register, thread.registers).values()))
    steps = _Steps(program, scratch)
    initial, transitions = transitions_of(thread.code, steps.of)
    states = state_names(initial, transitions, thread.labels, _is_word)
    spelling = _Spelling(spellings(thread.registers, _is_register, [scratch]))
    yield f"    initial {states[initial]}"
    for source, target, step in transitions:
        yield f"    transition {states[source]} {states[target]} {spelling.step(step)}"


def _is_word(name: str) -> bool:
    return name.split() == [name] and name != "#"


def _is_register(name: str) -> bool:
    return REGISTER.fullmatch(name) is not None and name not in KEYWORDS


class _Steps(Steps):
    """The steps of automata that do what an instruction does; `scratch` is a register for them alone."""

    language = "automata"
    zero_at_the_start = "all memory of automata is"

    def __init__(self, program: Program, scratch: str) -> None:
        super().__init__(program)
        self._scratch = scratch

    def of(self, instruction: Instruction) -> Ways:
        for expression in expressions_of(instruction):
            for part in subexpressions(expression):
                if isinstance(part, Binary) and part.operator not in BINARY_OPERATORS:
                    raise self.mistake(f"automata have no operator `{part.operator}`", instruction)
        return super().of(instruction)

    def others(self, instruction: Instruction) -> Ways:
        if isinstance(instruction, ReadModifyWrite):
            return self._sections(instruction)
        raise self.no_counterpart(instruction)

    def cell(self, cell: Cell, instruction: Instruction) -> Cell:
        first = self.program.first_cell[cell.name]
        if cell.index is None:
            return Cell(MEMORY, Constant(first))
        if isinstance(cell.index, Constant):
            return Cell(MEMORY, Constant(first + cell.index.value))
        return Cell(MEMORY, Binary("+", Constant(first), cell.index) if first else cell.index)

    def _sections(self, rmw: ReadModifyWrite) -> Ways:
        used = {name for expression in expressions_of(rmw) for name in registers_in(expression)}
        result = None if isinstance(rmw, BlockingCompareExchange) else rmw.register
        register = self._scratch if result is None or result in used else result
        after: tuple[Step, ...] = (Unlock(),)
        if result is not None and result != register:
            after = (Unlock(), Assign(result, Register(register)))
        cell, old = self.cell(rmw.cell, rmw), Register(register)
        load = Load(register, cell)
        match rmw:
            case Exchange(_, _, value):
                store = Store(cell, self.stored(value, rmw))
                return [(Lock(), *([] if result is None else [load]), store, *after)]
            case FetchAdd():
                store = Store(cell, self.stored(self.combined(rmw, old), rmw))
                return [(Lock(), load, store, *after)]
            case CompareExchange(_, _, expected, desired) | BlockingCompareExchange(_, expected, desired):
                expected = self.stored(expected, rmw)
                store = Store(cell, self.stored(desired, rmw))
                success = (Lock(), load, Assume(Binary("==", old, expected)), store, *after)
                failure = (Lock(), load, Assume(Binary("!=", old, expected)), *after)
                return [success, failure] if isinstance(rmw, CompareExchange) else [success]


class _Spelling(NamedTuple):
    """How a thread spells its registers."""

    registers: Mapping[str, str]

    def step(self, step: Step) -> str:
        match step:
            case Store(cell, value):
                return f"write {self._expression(value)} {self._cell(cell)}"
            case Load(register, cell):
                return f"read {self._register(register)} {self._cell(cell)}"
            case Assign(register, value):
                return f"local {self._register(register)} {self._expression(value)}"
            case Assume(condition):
                return f"check {self._expression(condition)}"
            case Fence():
                return "mfence"
            case Lock():
                return "lock"
            case Unlock():
                return "unlock"
            case _:
                return "noop"

    def _register(self, name: str) -> str:
        return self.registers.get(name, name)

    def _cell(self, cell: Cell) -> str:
        assert cell.index is not None
        return self._expression(cell.index)

    def _expression(self, expression: Expression) -> str:
        match expression:
            case Register(name):
                return self._register(name)
            case Unary("-", Constant(value)):
                return str(-value)
            case Unary("-", operand):
                return f"- 0 {self._expression(operand)}"
            case Unary("+", operand):
                return self._expression(operand)
            case Unary(operator, operand):
                return f"{operator} {self._expression(operand)}"
            case Binary(operator, left, right):
                return f"{operator} {self._expression(left)} {self._expression(right)}"
            case Constant(value):
                return str(value)
        raise TypeError("thread numbers are replaced before")
