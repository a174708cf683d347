"""The atomic operations of a source file, from its syntax tree: calls, operators, and implicit loads.

What stands in the body of a macro is found where the macro is used (`MacroUse`): debug information has that
place, whichever part of the macro it is about.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from fencepost.sanitizer.sources.calls import BUILTINS, FUNCTIONS, MEMBERS, Call, call_at
from fencepost.sanitizer.sources.orders import Spelling, read_order
from fencepost.sanitizer.sources.text import SourceText
from fencepost.sanitizer.sources.units import Cursor, Macro, Token, Unit
from fencepost.verdicts.sites import SiteOperation, SiteOrder

_ATOMIC_CLASSES = re.compile(r"atomic|atomic_flag|atomic_ref|__atomic_\w+|__cxx_atomic_\w+")
_NAME = re.compile(rb"[A-Za-z_]\w*")
_LAST_NAME = re.compile(rb"[A-Za-z_]\w*$")
_NAMES = MEMBERS | FUNCTIONS | BUILTINS
_ASSIGNED: Mapping[str, tuple[SiteOperation, str]] = {
    "=": ("store", "store"),
    "+=": ("fetch", "fetch_add"),
    "-=": ("fetch", "fetch_sub"),
    "&=": ("fetch", "fetch_and"),
    "|=": ("fetch", "fetch_or"),
    "^=": ("fetch", "fetch_xor"),
}
_STEPS: Mapping[str, str] = {"++": "fetch_add", "--": "fetch_sub"}


class Sugar(NamedTuple):
    """An operation without a name: `x = 1`, `++x`, `x += 2`, or `x` alone where its value is read."""

    operation: SiteOperation
    member: str  # the name that does the same: load, store, fetch_add and so on
    target: tuple[int, int]
    value: tuple[int, int] | None  # None for a load, and for a step of 1
    prefix: bool  # `++x`: its value is the new one
    scalable: bool  # false for pointers and floating-point numbers in C, of which there is no fetch_add


class Operation(NamedTuple):
    """An atomic operation in a source. `path` leads from the function down to its expression; it is empty for
    what stands in the body of a macro."""

    file: File
    written: Call | Sugar
    anchors: frozenset[int]  # where a compiler may say that it is
    start: int
    end: int
    path: tuple[Cursor, ...]
    macro: Macro | None = None

    @property
    def operation(self) -> SiteOperation:
        return self.written.operation

    @property
    def order(self) -> SiteOrder | None:
        return self.written.order if isinstance(self.written, Call) else "seq_cst"

    @property
    def failure_order(self) -> SiteOrder | None:
        return self.written.failure_order if isinstance(self.written, Call) else None

    @property
    def words(self) -> str:
        """As it is written, on one line."""
        text = " ".join(self.file.text.slice(self.start, self.end).split())
        return text if len(text) <= 60 else text[:57] + "..."


class MacroUse(NamedTuple):
    macro: Macro
    start: int
    end: int


class File:
    """A file of a unit, read."""

    def __init__(self, unit: Unit, path: str, content: bytes) -> None:
        self.unit = unit
        self.text = SourceText(path, content)

    @cached_property
    def tokens(self) -> list[Token]:
        return self.unit.tokens(self.text)

    @cached_property
    def spelling(self) -> Spelling:
        return Spelling(self.tokens, self.unit.language)

    @cached_property
    def operations(self) -> list[Operation]:
        """Outside of the bodies of macros."""
        found: dict[tuple[int, str], Operation] = {}
        for cursor in self.unit.top_level.get(self.text.path, ()):
            if cursor.kind.name not in ("MACRO_DEFINITION", "MACRO_INSTANTIATION", "INCLUSION_DIRECTIVE"):
                for one in self._below(cursor, ()):
                    key = one.start, one.operation
                    found.setdefault(key, one)
        return list(found.values())

    @cached_property
    def macro_uses(self) -> list[MacroUse]:
        """The uses of the project's macros outside of other macros."""
        known = {macro.name: macro for macro in self.unit.macros()}
        return [
            MacroUse(known[cursor.spelling], cursor.extent.start.offset, cursor.extent.end.offset)
            for cursor in self.unit.top_level.get(self.text.path, ())
            if cursor.kind.name == "MACRO_INSTANTIATION" and cursor.spelling in known
        ]

    def operations_in(self, macro: Macro) -> list[Operation]:
        """In the body of a macro that this file defines."""
        found = []
        for token in self._tokens_of(macro):
            if token.text in _NAMES:
                call = call_at(self.tokens, token.start, self.order_macros)
                if call is not None and call.close.end <= macro.end:
                    found.append(Operation(self, call, frozenset(), call.start, call.close.end, (), macro))
        return found

    def names_in(self, macro: Macro) -> set[str]:
        return {token.text for token in self._tokens_of(macro)[1:] if token.kind == "IDENTIFIER"}

    @cached_property
    def order_macros(self) -> dict[str, SiteOrder]:
        """The macros of the project that are a constant order. One that is defined several times is none."""
        found: dict[str, SiteOrder] = {}
        seen: set[str] = set()
        for macro in self.unit.macros():
            text = self.text
            if macro.file != text.path:
                text = SourceText(macro.file, Path(macro.file).read_bytes())
            body = [one for one in self.unit.tokens(text) if macro.start <= one.start < macro.end][1:]
            read = read_order(body, {})
            if read is not None and macro.name not in seen:
                found[macro.name] = read.order
            elif macro.name in seen:
                found.pop(macro.name, None)
            seen.add(macro.name)
        return found

    def _tokens_of(self, macro: Macro) -> list[Token]:
        return [token for token in self.tokens if macro.start <= token.start and token.end <= macro.end]

    def _below(self, cursor: Cursor, path: tuple[Cursor, ...]) -> Iterator[Operation]:
        path = (*path, cursor)
        one = self._operation(cursor, path)
        if one is not None:
            yield one
        for child in cursor.get_children():
            yield from self._below(child, path)

    def _operation(self, cursor: Cursor, path: tuple[Cursor, ...]) -> Operation | None:
        kind = cursor.kind.name
        if kind == "CALL_EXPR":
            return self._call(cursor, path)
        if kind in ("UNEXPOSED_EXPR", "DECL_REF_EXPR"):
            start = self._offset(cursor.location)
            name = _NAME.match(self.text.content, start) if start is not None else None
            if start is not None and name is not None and name[0].decode() in BUILTINS:
                return self._named(start, cursor, path)
        if self.unit.language == "c":
            return self._bare(cursor, path)
        return None

    def _call(self, cursor: Cursor, path: tuple[Cursor, ...]) -> Operation | None:
        callee = next(cursor.get_children(), None)
        called = cursor.referenced
        if called is None:  # depends on a template parameter
            if callee is not None and callee.kind.name == "MEMBER_REF_EXPR":
                end = self._offset(callee.extent.end)
                name = _LAST_NAME.search(self.text.content, 0, end) if end is not None else None
                return self._named(name.start(), cursor, path) if name else None
            return None
        parent = called.semantic_parent
        in_class = parent is not None and _ATOMIC_CLASSES.fullmatch(parent.spelling)
        if in_class and called.kind.name == "CONVERSION_FUNCTION":
            return self._sugar(cursor, path, ("load", "load"), callee)
        if in_class and called.spelling.startswith("operator"):
            return self._operator(cursor, path, called.spelling.removeprefix("operator"))
        if called.spelling in FUNCTIONS | BUILTINS or (in_class and called.spelling in MEMBERS):
            if callee is None:
                return None
            place = self._name_place(callee)
            return self._named(place, cursor, path) if place is not None else None
        return None

    def _name_place(self, callee: Cursor) -> int | None:
        """Where the last part of what is called stands."""
        while callee.kind.name == "UNEXPOSED_EXPR":
            below = next(callee.get_children(), None)
            if below is None:
                break
            callee = below
        return self._offset(callee.location)

    def _named(self, name: int, cursor: Cursor, path: tuple[Cursor, ...]) -> Operation | None:
        call = call_at(self.tokens, name, self.order_macros)
        if call is None:
            return None
        start = call.start
        if call.style == "member":
            own = self._offset(cursor.extent.start)
            start = own if own is not None and own <= name else name
        anchors = frozenset((start, call.start, name, call.open.start))
        return Operation(self, call, anchors, start, call.close.end, path)

    def _operator(self, cursor: Cursor, path: tuple[Cursor, ...], operator: str) -> Operation | None:
        children = list(cursor.get_children())
        operands = [child for child in children if not _is_operator(child)]
        if operator in _STEPS and operands:
            return self._sugar(cursor, path, ("fetch", _STEPS[operator]), operands[0])
        if operator in _ASSIGNED and len(operands) == 2:
            return self._sugar(cursor, path, _ASSIGNED[operator], operands[0], operands[1])
        return None

    def _bare(self, cursor: Cursor, path: tuple[Cursor, ...]) -> Operation | None:
        """An operation of C on a variable whose type is atomic."""
        kind = cursor.kind.name
        children = list(cursor.get_children())
        if kind in ("BINARY_OPERATOR", "COMPOUND_ASSIGNMENT_OPERATOR") and len(children) == 2:
            if _is_atomic(children[0]):
                operator = self._operator_between(*children)
                if operator in _ASSIGNED:
                    return self._sugar(cursor, path, _ASSIGNED[operator], *children)
        elif kind == "UNARY_OPERATOR" and len(children) == 1 and _is_atomic(children[0]):
            extent = self._extent(cursor)
            text = self.text.slice(*extent) if extent is not None else ""
            for operator, member in _STEPS.items():
                if text.startswith(operator) or text.endswith(operator):
                    return self._sugar(cursor, path, ("fetch", member), children[0])
        elif kind == "UNEXPOSED_EXPR" and len(children) == 1 and not _is_atomic(cursor):
            # An lvalue that becomes a value, below a cast to the plain type.
            inner = children[0]
            if inner.kind.name == "UNEXPOSED_EXPR" and _is_atomic(inner):
                lvalue = next(inner.get_children(), None)
                if lvalue is not None and _is_atomic(lvalue):
                    return self._sugar(cursor, path, ("load", "load"), lvalue)
        return None

    def _sugar(
        self,
        cursor: Cursor,
        path: tuple[Cursor, ...],
        does: tuple[SiteOperation, str],
        target: Cursor | None,
        value: Cursor | None = None,
    ) -> Operation | None:
        """`does`: the operation, and the name of the member function that does the same."""
        operation, member = does
        extent = self._extent(cursor)
        target_extent = self._extent(target) if target is not None else None
        value_extent = self._extent(value) if value is not None else None
        if extent is None or target_extent is None or (value is not None and value_extent is None):
            return None
        operator = self._operator_place(extent, target_extent)
        prefix = operation == "fetch" and target_extent[0] > extent[0]
        scalable = self.unit.language == "c++" or (target is not None and _is_integer(target))
        written = Sugar(operation, member, target_extent, value_extent, prefix, scalable)
        anchors = frozenset((extent[0], target_extent[0], operator))
        return Operation(self, written, anchors, *extent, path)

    def _operator_place(self, extent: tuple[int, int], target: tuple[int, int]) -> int:
        """Where the operator stands: before its target, or after it, or nowhere."""
        if target[0] > extent[0] or target == extent:
            return extent[0]
        rest = self.text.content[target[1] : extent[1]]
        return target[1] + len(rest) - len(rest.lstrip())

    def _operator_between(self, left: Cursor, right: Cursor) -> str:
        ends = self._extent(left), self._extent(right)
        if ends[0] is None or ends[1] is None:
            return ""
        return self.text.slice(ends[0][1], ends[1][0]).strip()

    def _extent(self, cursor: Cursor) -> tuple[int, int] | None:
        """Where a cursor begins and ends, if it does so in this file and outside of macros' bodies."""
        extent = cursor.extent
        start, end = self._offset(extent.start), self._offset(extent.end)
        return (start, end) if start is not None and end is not None and start < end else None

    def _offset(self, location: object) -> int | None:
        place = self.unit.place(location)
        return place[1] if place is not None and place[0] == self.text.path else None


def _is_operator(cursor: Cursor) -> bool:
    return str(cursor.spelling).startswith("operator")


def _is_atomic(cursor: Cursor) -> bool:
    return bool(cursor.type.get_canonical().kind.name == "ATOMIC")


def _is_integer(cursor: Cursor) -> bool:
    inner = str(cursor.type.get_canonical().spelling)
    return "*" not in inner and "float" not in inner and "double" not in inner and "_Bool" not in inner


def enclosing(path: Sequence[Cursor], *kinds: str) -> Cursor | None:
    """The innermost of these kinds."""
    return next((cursor for cursor in reversed(path) if cursor.kind.name in kinds), None)
