"""A thread as a language with unbounded integers, and without thread numbers and modes, can say it.

What wraps around in the program is cut to its lower bits, where the number of values is a power of two. Modes
and the fences that are not SC are left out, since these languages are about TSO, where they do nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from msgspec.structs import replace

from fencepost.errors import InputError
from fencepost.formats.litmus.ranges import Range
from fencepost.formats.transitions.arithmetic import range_of
from fencepost.program import (
    Binary,
    Cell,
    CellAccess,
    Constant,
    Expression,
    Fence,
    Instruction,
    Mode,
    Program,
    Register,
    Thread,
    ThreadId,
    Unary,
    Wait,
    access_modes,
    expressions_of,
    numbered,
    subexpressions,
)
from fencepost.program.spelling import format_expression, format_instruction


class Numbers(NamedTuple):
    """The arithmetic of `program` in unbounded integers, for the language of that name."""

    program: Program
    language: str

    def stored(self, value: Expression, instruction: Instruction) -> Expression:
        """An expression with the value that `program` stores, or compares with memory, for `value`."""
        largest = self.program.max_value
        found = self._range(value)
        if not self.program.wraps or (found.low >= 0 and found.high <= largest):
            return value
        if self.program.modulus & largest:
            what = f"{format_expression(value)} starts again at 0 after {largest}"
            raise self.mistake(f"{what}, which {self.language} can only say of powers of two", instruction)
        return Binary("&", value, Constant(largest))

    def check_index(self, instruction: CellAccess) -> None:
        """Reject an index that is outside of its array in any case: another cell may be there."""
        size = len(self.program.location_named[instruction.cell.name].initial)
        found = self._range(instruction.cell.index or Constant(0))
        if found.low >= size or found.high < 0:
            raise self.no_counterpart(instruction)

    def _range(self, expression: Expression) -> Range:
        registers = (part.name for part in subexpressions(expression) if isinstance(part, Register))
        return range_of(expression, dict.fromkeys(registers, Range(0, self.program.max_value)))

    def no_counterpart(self, instruction: Instruction) -> InputError:
        spelled = format_instruction(instruction)
        return self.mistake(f"`{spelled}` has no counterpart in {self.language}", instruction)

    def mistake(self, message: str, instruction: Instruction) -> InputError:
        return self.program.mistake(message, instruction.at)


def separate_threads(program: Program) -> Iterator[tuple[Thread, int | None]]:
    """Each thread without thread numbers in its code, and how many copies of it there are.

    Copies that need no number are given once; others are threads of their own, without copies.
    """
    start = 0
    while start < len(program.threads):
        thread = program.threads[start]
        copies = thread.copies or 0
        group = program.threads[start : start + copies]
        alike = [t for tid, t in enumerate(group) if (t.name, t.code) == (f"{t.family}[{tid}]", thread.code)]
        if copies and len(alike) == copies and not _uses_number(thread):
            yield thread, copies
            start += copies
        else:
            code = tuple(_with_number(instruction, thread.tid) for instruction in thread.code)
            yield Thread(thread.name, code, thread.registers, thread.labels, at=thread.at), None
            start += 1


def forgets_modes(program: Program) -> bool:
    """Whether the program has modes or fences that are left out."""
    for thread in program.threads:
        for instruction in thread.code:
            if isinstance(instruction, CellAccess):
                if not set(access_modes(instruction)) <= {None, Mode.RLX}:
                    return True
            elif isinstance(instruction, Fence) and instruction.mode is not Mode.SC:
                return True
    return False


def spellings(
    names: Iterable[str], is_name: Callable[[str], bool], taken: Iterable[str] = ()
) -> dict[str, str]:
    """A name that the language at hand can spell, and that is not taken, for each of `names`."""
    names = list(dict.fromkeys(names))
    used = set(taken)
    spelled = {name: name for name in names if is_name(name) and name not in used}
    used |= set(spelled)
    for name in names:
        if name not in spelled:
            fresh = re.sub(r"\W+", "_", name, flags=re.ASCII).strip("_")
            while not is_name(fresh) or fresh in used:
                fresh = f"{fresh}_" if is_name(f"{fresh}_") else f"n{fresh}"
            spelled[name] = fresh
            used.add(fresh)
    return spelled


def _with_number(instruction: Instruction, tid: int) -> Instruction:
    """The instruction with the thread's number in place of `tid`."""
    changed: dict[str, Expression | Cell | tuple[Expression, ...]] = {}
    for name in instruction.__struct_fields__:
        match getattr(instruction, name):
            case Cell(location, index) if index is not None:
                changed[name] = Cell(location, numbered(index, tid))
            case tuple(values) if isinstance(instruction, Wait):
                changed[name] = tuple(numbered(value, tid) for value in values)
            case ThreadId() | Unary() | Binary() as expression:
                changed[name] = numbered(expression, tid)
    return replace(instruction, **changed)


def _uses_number(thread: Thread) -> bool:
    expressions = (e for instruction in thread.code for e in expressions_of(instruction))
    return any(
        isinstance(part, ThreadId) for expression in expressions for part in subexpressions(expression)
    )
