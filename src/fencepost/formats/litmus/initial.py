"""The initial values of a C litmus test.

    x = 1;  [x] = 1;  *x = 1;      a location
    int x = 1;  atomic_int x;      a location with its type; 0 if no value is given
    0:r0 = 1;  int 0:r0 = 1;       a register of P0

Locations hold whole numbers: pointers and arrays are rejected. Parameters that are not listed are 0, which
`reader.py` sees to.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from fencepost.formats.litmus.scope import number
from fencepost.formats.text.source import Source, quoted
from fencepost.formats.text.tree import Token, Tree, as_token, position, tokens, trees
from fencepost.program import Position

_PROCESS = re.compile(r"P(0|[1-9][0-9]{0,8})")


class InitialLocation(NamedTuple):
    value: int
    at: Position


class InitialRegister(NamedTuple):
    process: str
    name: Token
    value: int


class Initial(NamedTuple):
    """The locations in order, whether those with a type are atomic, and registers by process and name."""

    locations: dict[str, InitialLocation]
    atomic: dict[str, bool]
    registers: dict[tuple[str, str], InitialRegister]


def initial_values(source: Source, node: Tree, largest: int) -> Initial:
    """What the `initial` part of a test says; raises `InputError`."""
    result = Initial({}, {}, {})
    for entry in trees(node, "entry"):
        _add(result, source, entry, largest)
    return result


def is_atomic_type(node: Tree) -> bool:
    """Whether a `type` of the grammar is atomic."""
    return any(word == "_Atomic" or as_token(word).startswith("atomic_") for word in node.children)


def check_number_type(source: Source, node: Tree, what: str) -> None:
    """Reject types that do not hold whole numbers."""
    for word in node.children:
        if word in ("void", "float", "double"):
            raise source.error(f"{what} cannot be {quoted(as_token(word))}; expected `int`", position(word))


def process_name(source: Source, token: Token) -> str:
    """`P0` for `P0` and for `0`."""
    name = f"P{number(source, token)}" if token.type == "NUMBER" else str(token)
    if not _PROCESS.fullmatch(name):
        raise source.error(f"{quoted(token)} is no process; they are called P0, P1, …", position(token))
    return name


def signed_number(source: Source, node: Tree, largest: int) -> int:
    """The number that a `value` of the grammar spells."""
    *signs, token = (as_token(child) for child in node.children)
    if token.type != "NUMBER" or "&" in signs:
        found = quoted("".join((*signs, token)))
        raise source.error(f"expected a number, found {found}", position(node))
    value = number(source, token, largest)
    return -value if "-" in signs else value


def _add(result: Initial, source: Source, entry: Tree, largest: int) -> None:
    (place,) = trees(entry, "place")
    name = tokens(place, "NAME")[-1]
    _check(source, entry, name)
    value = 0
    for node in trees(entry, "value"):
        value = signed_number(source, node, largest)
    threads = trees(place, "thread")
    if threads:
        process = process_name(source, as_token(threads[0].children[0]))
        if (process, name) in result.registers:
            message = f"register {quoted(name)} of {process} has two initial values"
            raise source.error(message, position(place))
        result.registers[process, str(name)] = InitialRegister(process, name, value)
        return
    if name in result.locations:
        raise source.error(f"location {quoted(name)} has two initial values", position(place))
    result.locations[str(name)] = InitialLocation(value, position(name))
    for kind in trees(entry, "type"):
        result.atomic[str(name)] = is_atomic_type(kind)


def _check(source: Source, entry: Tree, name: Token) -> None:
    typed = trees(entry, "type")
    if typed and tokens(entry, "STAR"):
        raise source.error(f"{quoted(name)} is a pointer; locations hold whole numbers", position(name))
    if trees(entry, "dimension"):
        raise source.error(f"{quoted(name)} is an array; arrays are not supported", position(name))
    for kind in typed:
        check_number_type(source, kind, "a location")
