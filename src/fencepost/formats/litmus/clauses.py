r"""The clauses of a C litmus test around its processes: initial values before them, the question after them.

    x = 1;  [x] = 1;  *x = 1;             the initial value of a location
    int x = 1;  atomic_int x;             a location with its type; 0 if no value is given
    0:r0 = 1;  int 0:r0 = 1;              the initial value of a register of P0

    exists F   ~exists F   forall F       the question; at most one
    locations [x; 0:r0;]                  skipped: it only tells herd what to print
    filter F                              rejected: final states that are not to be looked at

Locations hold whole numbers: pointers and arrays are rejected. Parameters that are not listed are 0, which
`reader.py` sees to. A formula F compares locations (`x = 1`, `[x] = 1`, `*x = 1`) and registers (`0:r0 = 1`)
with numbers, by `=` or `!=`, and combines that by `~` or `not`, `/\`, `\/` and parentheses, which bind in
this order.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Set
from typing import NamedTuple

from msgspec.structs import replace

from fencepost.formats.litmus.scope import number
from fencepost.formats.text.source import Source, quoted, suggestion
from fencepost.formats.text.tree import Token, Tree, as_token, as_tree, position, tokens, trees
from fencepost.program import Position
from fencepost.program.conditions import (
    Always,
    And,
    Atom,
    CellIs,
    Comparison,
    FinalCondition,
    Formula,
    Not,
    Or,
    Quantifier,
    RegisterIs,
)

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


# --- the final condition

_Registers = Mapping[str, Mapping[str, str]]


def final_condition(
    source: Source, tree: Tree, registers: _Registers, locations: Set[str], largest: int
) -> FinalCondition | None:
    """What the test asks, in the numbers of C; raises `InputError`.

    `registers` says for each process what the program calls its registers.
    """
    for clause in trees(tree, "filter"):
        message = "`filter` is not supported; put it into the final condition"
        raise source.error(message, position(clause))
    clauses = trees(tree, "final")
    if len(clauses) > 1:
        raise source.error("a test has one final condition; this is the second", position(clauses[1]))
    for clause in clauses:
        quantifier, formula = (as_tree(child) for child in clause.children)
        reader = _Reader(source, registers, locations, largest)
        return FinalCondition(_quantifier(quantifier), reader.formula(formula), at=position(clause))
    return None


def map_values(formula: Formula, change: Mapping[int, int]) -> Formula:
    """`formula` with other numbers in its comparisons."""
    match formula:
        case RegisterIs() | CellIs():
            return replace(formula, value=change[formula.value])
        case Not(part):
            return Not(map_values(part, change))
        case And(parts):
            return And(tuple(map_values(part, change) for part in parts))
        case Or(parts):
            return Or(tuple(map_values(part, change) for part in parts))
        case _:
            return formula


def _quantifier(node: Tree) -> Quantifier:
    if tokens(node, "FORALL"):
        return "forall"
    return "~exists" if len(node.children) > 1 else "exists"


class _Reader(NamedTuple):
    source: Source
    registers: _Registers
    locations: Set[str]
    largest: int

    def formula(self, node: Tree) -> Formula:
        """A disjunction of conjunctions, by precedence."""
        alternatives: list[list[Formula]] = [[]]
        negations = 0
        for item in node.children:
            if isinstance(item, str) and item.type in ("TILDE", "NOT_WORD", "NOT"):
                negations += 1
            elif isinstance(item, str) and item.type == "OR":
                alternatives.append([])
            elif not isinstance(item, str) or item.type == "TRUTH":
                # Two negations are none, so a long row of them is not nested deeply.
                factor = self._factor(item)
                alternatives[-1].append(Not(factor) if negations % 2 else factor)
                negations = 0
        joined = [parts[0] if len(parts) == 1 else And(tuple(parts)) for parts in alternatives]
        return joined[0] if len(joined) == 1 else Or(tuple(joined))

    def _factor(self, item: Token | Tree) -> Formula:
        if isinstance(item, str):
            return Always() if item == "true" else Not(Always())
        return self.formula(item) if item.data == "formula" else self._atom(item)

    def _atom(self, node: Tree) -> Atom:
        *_, compared, value = node.children
        (place,) = trees(node, "place")
        comparison: Comparison = "!=" if as_token(compared).type == "NOT_EQUAL" else "=="
        number = signed_number(self.source, as_tree(value), self.largest)
        name = tokens(place, "NAME")[-1]
        for thread in trees(place, "thread"):
            process = process_name(self.source, as_token(thread.children[0]))
            return RegisterIs(process, self._register(process, name, place), number, comparison)
        if name not in self.locations:
            meant = suggestion(name, self.locations)
            raise self.source.error(f"there is no location {quoted(name)}{meant}", position(name))
        return CellIs(str(name), number, comparison)

    def _register(self, process: str, name: Token, place: Tree) -> str:
        if process not in self.registers:
            raise self.source.error(f"there is no process {process}", position(place))
        known = self.registers[process]
        if name not in known:
            message = f"there is no register {quoted(name)} in {process}{suggestion(name, known)}"
            raise self.source.error(message, position(name))
        return known[name]
