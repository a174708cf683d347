"""From TPL text to a `Program`.

Reads the declarations here and leaves syntax to `parser.py`, names and expressions to `scope.py`, and
the bodies of functions to `lowering.py`. Every mistake is an `InputError` at the token that is wrong;
what is left to `Program` to check cannot be written in TPL or concerns the program as a whole.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from fencepost.errors import InputError
from fencepost.formats.text.scope import Scope
from fencepost.formats.text.source import Source, normal_lines, quoted, suggestion
from fencepost.formats.text.tree import Token, Tree, as_token, as_tree, position
from fencepost.formats.tpl.lowering import lower
from fencepost.formats.tpl.parser import parse
from fencepost.program import MOST_CELLS, MOST_THREADS, Location, Position, Program, Thread, Tracking


def read(
    text: str, file: str = "<text>", *, strict_tpl: bool = False, constants_wrap: bool = True
) -> Program:
    """The program that `text` spells, without our extensions if `strict_tpl`; raises `InputError`.

    Constants beyond `max_value` are taken modulo, with a warning, or a mistake unless `constants_wrap`.
    """
    source = Source(normal_lines(text), file)
    if not source.text.strip():
        raise InputError("the file is empty; expected a program", file, 1, 1)
    items = [as_tree(item) for item in parse(source).children]
    noticed: list[tuple[Position, str]] = []
    scope = _declared(Scope(source, strict_tpl, noticed=noticed if constants_wrap else None), items)
    threads = tuple(_threads(scope, items))
    return Program(
        locations=tuple(scope.locations.values()),
        threads=threads,
        max_value=scope.max_value,
        tracking=tuple(_tracking(scope, item) for item in items if item.data == "track"),
        warnings=tuple(f"line {at.line}: {message}" for at, message in noticed),
        file=file,
        source=source.text,
        format="tpl",
    )


def _declared(scope: Scope, items: list[Tree]) -> Scope:
    """`scope` with the value domain and the locations that `items` declare."""
    for number, item in enumerate(items):
        if item.data == "max_value":
            if number > 0:
                raise scope.error("`max_value` comes first, and once", item)
            token = as_token(item.children[0])
            value = scope.natural(token)
            if value < 1:
                raise scope.error("max_value must be at least 1", token)
            scope = replace(scope, max_value=value)
    locations: dict[str, Location] = {}
    for item in items:
        if item.data == "locations":
            kind, *declared = item.children
            for declaration in declared:
                location = _location(scope, as_tree(declaration), atomic=kind == "global")
                if location.name in locations:
                    raise scope.error(f"location {quoted(location.name)} is declared twice", declaration)
                locations[location.name] = location
    return replace(scope, locations=locations)


def _location(scope: Scope, node: Tree, *, atomic: bool) -> Location:
    name, *parts = node.children
    size: int | None = None
    initial: tuple[int, ...] = (0,)
    for part in parts:
        numbers = [as_token(number) for number in as_tree(part).children]
        if as_tree(part).data == "size":
            scope.extension("arrays are", part)
            size = _count(scope, numbers[0], MOST_CELLS, "cells")
        else:
            initial = tuple(scope.number(number) for number in numbers)
            if as_tree(part).data == "initial_list" and len(numbers) != size:
                raise scope.error(_list_mistake(str(name), size, len(numbers)), part)
    if size is not None and len(initial) == 1:
        initial *= size
    return Location(str(name), initial, atomic, size is not None, at=position(name))


def _list_mistake(name: str, size: int | None, given: int) -> str:
    if size is None:
        return f"{quoted(name)} is not an array; an array has a size, as in `{name}[{given}]`"
    return f"array {quoted(name)} has {size} cells but {given} initial values"


def _count(scope: Scope, token: Token, most: int, what: str) -> int:
    count = scope.natural(token)
    if not 1 <= count <= most:
        raise scope.error(f"expected between 1 and {most} {what}, found {count}", token)
    return count


def _tracking(scope: Scope, node: Tree) -> Tracking:
    name, *values = (as_token(child) for child in node.children)
    if name not in scope.locations:
        raise scope.error(
            f"{quoted(name)} is not a declared location{suggestion(name, scope.locations)}", name
        )
    if values[0].type == "NAME":
        if values[0] != "all":
            raise scope.error(f"expected values or `all`, found {quoted(values[0])}", values[0])
        return Tracking(str(name), None, at=position(node))
    return Tracking(str(name), tuple(scope.number(value) for value in values), at=position(node))


def _threads(scope: Scope, items: list[Tree]) -> Iterator[Thread]:
    families: set[str] = set()
    for item in items:
        if item.data == "function":
            name = as_token(item.children[0])
            if name in families:
                raise scope.error(f"function {quoted(name)} is declared twice", name)
            families.add(str(name))
            yield from _copies(scope, item)


def _copies(scope: Scope, node: Tree) -> Iterator[Thread]:
    """The threads that one function makes: one, or as many as its size says, or a template."""
    name, *body = node.children
    copies = least = None
    if body and as_tree(body[0]).data == "size":
        scope.extension("replicated threads are", body[0])
        copies = _count(scope, as_token(as_tree(body.pop(0)).children[0]), MOST_THREADS, "threads")
    elif body and as_tree(body[0]).data == "any_number":
        scope.extension("replicated threads are", body[0])
        least = _least(scope, [as_token(token) for token in as_tree(body.pop(0)).children])
    registers: dict[str, None] = {}
    while body and as_tree(body[0]).data == "local":
        for token in as_tree(body.pop(0)).children:
            _check_local(scope, as_token(token), registers, replicated=copies is not None)
            registers[str(token)] = None
    inner = replace(
        scope,
        function=str(name),
        registers=tuple(registers),
        replicated=copies is not None,
        any_number=least is not None,
    )
    lowered = lower(inner, body)
    for tid in range(copies or 1):
        yield Thread(
            str(name), lowered.code, lowered.registers, lowered.labels, tid, copies, least, at=position(node)
        )


def _least(scope: Scope, tokens: list[Token]) -> int:
    """The smallest number of threads of a template: `[*]` or `[2..*]`."""
    *number, _ = tokens
    return _count(scope, number[0], MOST_THREADS, "threads") if number else 1


def _check_local(scope: Scope, token: Token, registers: dict[str, None], *, replicated: bool) -> None:
    if token in registers:
        raise scope.error(f"local {quoted(token)} is declared twice", token)
    if token in scope.locations:
        raise scope.error(f"local {quoted(token)} has the name of a location", token)
    if token == "tid" and replicated:
        raise scope.error("`tid` is the number of the thread here and cannot be a local", token)
