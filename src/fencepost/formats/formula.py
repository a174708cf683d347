"""Formulas about states: where threads stand and what their locals hold, `p0@cs && p1.r == 2`, or at the end
what locals and memory hold, `x == 1 && p1.r == 2`.

`formula.lark` has the grammar. Reading checks that the program has what the formula names.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from fencepost.errors import InputError
from fencepost.formats.text.grammar import Grammar
from fencepost.formats.text.lalr import UnexpectedError
from fencepost.formats.text.source import whole_number
from fencepost.formats.text.tree import Token, Tree
from fencepost.program import Program, Thread
from fencepost.program.conditions import Always, And, CellIs, Formula, Not, Or, RegisterIs, StandsAt

MOST_NESTED = 100

_GRAMMAR = Grammar(__file__, "formula")
_FORM = "a formula such as `p0@cs && p1.r == 2`"
_FINAL_FORM = "a formula such as `x == 1 && p1.r == 2`"


class Place(NamedTuple):
    """Where a property stands: its file or option, and its text from `column` on."""

    file: str
    line: int
    column: int
    source_line: str

    def error(self, message: str, offset: int = 0) -> InputError:
        """A mistake that many characters into the text."""
        return InputError(message, self.file, self.line, self.column + offset, self.source_line)


def read_formula(program: Program, text: str, place: Place) -> Formula:
    """About any state: it names threads, with their labels and locals."""
    return _read(program, text, place, final=False)


def read_final_formula(program: Program, text: str, place: Place) -> Formula:
    """About a state in which all threads have ended: it names locations, and locals of threads."""
    return _read(program, text, place, final=True)


def _read(program: Program, text: str, place: Place, *, final: bool) -> Formula:
    program.require_fixed_threads("a formula")
    try:
        tree = _GRAMMAR.tree(text)
    except UnexpectedError as error:
        form = _FINAL_FORM if final else _FORM
        raise place.error(f"expected {form}", error.token.start_pos) from None
    return _Reader(program, place, final).formula(tree.children[0])


def spelled(formula: Formula) -> str:
    """The formula as it is read."""
    match formula:
        case StandsAt(thread, label):
            return f"{thread}@{label}"
        case RegisterIs(thread, register, value, comparison):
            return f"{thread}.{register} {comparison} {value}"
        case CellIs(cell, value, comparison):
            return f"{cell} {comparison} {value}"
        case Always():
            return "true"
        case Not(part):
            return f"!({spelled(part)})"
        case And(parts) | Or(parts):
            return (" && " if isinstance(formula, And) else " || ").join(f"({spelled(p)})" for p in parts)
        case _:
            raise AssertionError(f"not in a formula about threads: {formula}")


class _Reader(NamedTuple):
    """Makes a formula of a tree."""

    program: Program
    place: Place
    final: bool

    def formula(self, tree: Tree | Token, depth: int = 0) -> Formula:
        assert not isinstance(tree, str)
        if depth > MOST_NESTED:
            raise self.place.error(f"a formula may be nested {MOST_NESTED} deep; this one is deeper")
        match tree.data:
            case "either":
                return Or(tuple(self.formula(part, depth + 1) for part in tree.children))
            case "both":
                return And(tuple(self.formula(part, depth + 1) for part in tree.children))
            case "opposite":
                return Not(self.formula(tree.children[0], depth + 1))
            case "stands":
                return self._standing(*tree.tokens())
            case "remembers":
                return self._memory(*tree.tokens())
            case _:
                return self._comparison(*tree.tokens())

    def _standing(self, name: Token, label: Token) -> StandsAt:
        thread = self._thread(name)
        if self.final:
            raise self._error(name, "the formula is about the end, where threads stand at no label")
        if label not in thread.labels:
            raise self._unknown(label, f"a label of {thread.name}; its labels", thread.labels)
        return StandsAt(thread.name, str(label))

    def _comparison(self, name: Token, register: Token, comparison: Token, value: Token) -> RegisterIs:
        thread = self._thread(name)
        if register not in thread.registers:
            raise self._unknown(register, f"a local of {thread.name}; its locals", thread.registers)
        return RegisterIs(
            thread.name, str(register), self._number(value), "!=" if comparison == "!=" else "=="
        )

    def _memory(self, name: Token, *rest: Token) -> CellIs:
        *index, comparison, value = rest
        cell = f"{name}[{int(index[0])}]" if index else str(name)
        if cell not in self.program.cells:
            raise self._unknown(name, "a location; the locations", self.program.cells)
        if not self.final:
            raise self._error(name, "a formula about all states names threads; --assert names locations")
        return CellIs(cell, self._number(value), "!=" if comparison == "!=" else "==")

    def _number(self, value: Token) -> int:
        number = whole_number(value, self.program.max_value)
        if number is None:
            raise self._error(value, f"values are 0..{self.program.max_value} (max_value)")
        return number

    def _thread(self, name: Token) -> Thread:
        for thread in self.program.threads:
            if thread.name == name:
                return thread
        raise self._unknown(name, "a thread; the threads", [thread.name for thread in self.program.threads])

    def _unknown(self, word: Token, what: str, known: Iterable[str]) -> InputError:
        return self._error(word, f"`{word}` is not {what} are: {', '.join(known) or 'none'}")

    def _error(self, word: Token, message: str) -> InputError:
        return self.place.error(message, (word.column or 1) - 1)
