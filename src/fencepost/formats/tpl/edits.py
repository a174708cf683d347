"""Changing a few statements of a TPL text and leaving everything else as it is.

A fence gets a line of its own where its statement has one, with the same indentation; otherwise it stands
beside it. It comes after the labels of the statement it precedes, so that jumps to them meet it. A fence that
goes takes its line with it if nothing else is there. Of a statement that is replaced, the user's spelling of
the location and of the values is kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TypeGuard

from fencepost.formats.text.edits import Edit, Splice, line_around, spliced
from fencepost.formats.text.source import Source
from fencepost.formats.text.tree import Token, Tree, as_token, position
from fencepost.formats.tpl.operations import mode_word
from fencepost.formats.tpl.parser import parse
from fencepost.program import (
    BlockingCompareExchange,
    CellAccess,
    CompareExchange,
    Exchange,
    Fence,
    FetchAdd,
    Instruction,
    Load,
    Mode,
    Position,
    Store,
    Wait,
    access_modes,
    read_mode,
)
from fencepost.program.spelling import format_instruction

# The words of the statements that are changed by changing their modes; the first is used where none fits.
_WORDS: dict[type[CellAccess], tuple[str, ...]] = {
    Load: ("load",),
    Store: ("store",),
    Wait: ("wait",),
    FetchAdd: ("FADD", "fetch_add", "fetch_sub", "fetch_and", "fetch_or", "fetch_xor"),
    Exchange: ("exchange", "XCHG"),
    CompareExchange: ("CAS", "compare_exchange"),
    BlockingCompareExchange: ("BCAS",),
}
_IMPLIED_VALUES = {"lock": ("0", "1"), "unlock": ("0",)}
_TOKEN = re.compile(r"//[^\n]*|\w+|[^\s\w]")


def edited(text: str, file: str, edits: Mapping[Position, Edit]) -> Iterator[str]:
    """The text with each edit made to the statement at its position; raises `InputError` if it is not TPL."""
    splices: list[Splice] = []
    tree = parse(Source(text, file))
    for statement in _statements(text, tree):
        if statement.at in edits:
            splices += statement.splices(edits[statement.at])
    for fence in (node for node in tree.subtrees() if node.data == "fence"):
        if position(fence) in edits:
            splices.append(_changed_fence(text, fence, edits[position(fence)]))
    yield spliced(text, splices)


def _changed_fence(text: str, fence: Tree, edit: Edit) -> Splice:
    start, end = fence.start_pos, fence.end_pos
    line = line_around(text, start, end)
    if isinstance(edit.instead, Fence):
        return Splice(start, end, _spelled(edit.instead))
    if line.is_first and not text[end : line.end].strip():
        return Splice(line.start, min(line.end + 1, len(text)), "")
    if line.is_first:
        return Splice(start, end + len(text[end:]) - len(text[end:].lstrip(" ")), "")
    return Splice(len(text[:start].rstrip(" ")), end, "")


def _statements(text: str, program: Tree) -> Iterator[_Statement]:
    """All accesses and calls. Those inside an expression are no statements, so no fence fits beside them."""
    whole: set[int] = set()
    for node in program.subtrees():
        if node.data in ("assign", "access"):
            inner = node.children[-1]
            if isinstance(inner, Tree) and inner.data == "expression" and len(inner.children) == 1:
                inner = inner.children[0]
            if isinstance(inner, Tree) and inner.data == "use" and len(node.children) < 3:
                whole.add(id(inner))
                yield _Statement(text, node, inner)
        elif node.data == "use" and id(node) not in whole:
            yield _Statement(text, node, node)


class _Statement:
    """An access or a call: `r = x.load(acq);`, `CAS(x, 0, 1, acq, rel);`."""

    def __init__(self, text: str, node: Tree, use: Tree) -> None:
        self._text = text
        self.at = position(node)
        self._is_statement = node is not use
        self._start, self._end = node.start_pos, node.end_pos
        if isinstance(use.children[0], str):
            word, cell, *arguments = use.children
        else:
            cell, word, *arguments = use.children
        self._word = as_token(word)
        self._cell = cell
        self._modes = [a for a in arguments if isinstance(a, str) or mode_word(a) is not None]
        self._values = [argument for argument in arguments if argument not in self._modes]

    def splices(self, edit: Edit) -> Iterator[Splice]:
        if not self._is_statement:
            if _is_access(edit.instead) and self._word in _WORDS[type(edit.instead)]:
                yield self._replaced(edit.instead)
            return
        line = line_around(self._text, self._start, self._end)
        if edit.before is not None and line.is_first:
            yield Splice(line.start, line.start, f"{line.indentation}{_spelled(edit.before)}\n")
        elif edit.before is not None:
            yield Splice(self._start, self._start, f"{_spelled(edit.before)} ")
        if _is_access(edit.instead):
            yield self._replaced(edit.instead)
        if edit.after is not None and line.is_last:
            yield Splice(line.end, line.end, f"\n{line.indentation}{_spelled(edit.after)}")
        elif edit.after is not None:
            yield Splice(self._end, self._end, f" {_spelled(edit.after)}")

    def _replaced(self, new: CellAccess) -> Splice:
        modes = ", ".join(_modes(new))
        if self._word not in _WORDS[type(new)]:
            return self._rewritten(_WORDS[type(new)][0], modes)
        if self._modes:
            return Splice(_span(self._modes[0]).start, _span(self._modes[-1]).stop, modes or Mode.RLX.value)
        if self._values:
            end = _span(self._values[-1]).stop
            return Splice(end, end, f", {modes}")
        end = self._closing_parenthesis()
        return Splice(end, end, modes)

    def _rewritten(self, word: str, modes: str) -> Splice:
        values = [self._text[_span(value)] for value in self._values] or _IMPLIED_VALUES[self._word]
        arguments = [self._text[_span(self._cell)], *values, *filter(None, [modes])]
        return Splice(self._start, self._end, f"{word}({', '.join(arguments)});")

    def _closing_parenthesis(self) -> int:
        tokens = list(_TOKEN.finditer(self._text, self._start, self._end))
        return next(token.start() for token in reversed(tokens) if token[0] == ")")


def _is_access(instruction: CellAccess | Fence | None) -> TypeGuard[CellAccess]:
    return isinstance(instruction, CellAccess)


def _modes(access: CellAccess) -> Iterator[str]:
    """Relaxed is left out, unless a compare-exchange needs all three modes."""
    modes: tuple[Mode | None, ...] = access_modes(access)
    failure = read_mode(access, writes=False)
    needs_all = failure is not modes[0]
    if Mode.SC in modes:
        modes = (Mode.SC,)  # said once for the whole access
    for mode in (*modes, failure) if needs_all else modes:
        if mode is not None and (needs_all or mode is not Mode.RLX):
            yield mode.value


def _spelled(instruction: Instruction) -> str:
    return f"{format_instruction(instruction)};"


def _span(node: Token | Tree) -> slice:
    return slice(node.start_pos, node.end_pos)
