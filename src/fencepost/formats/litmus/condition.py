r"""The final clauses of a C litmus test.

    exists F   ~exists F   forall F       the question; at most one
    locations [x; 0:r0;]                  skipped: it only tells herd what to print
    filter F                              rejected: final states that are not to be looked at

A formula F compares locations (`x = 1`, `[x] = 1`, `*x = 1`) and registers (`0:r0 = 1`) with numbers, by `=`
or `!=`, and combines that by `~` or `not`, `/\`, `\/` and parentheses, which bind in this order.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import NamedTuple

from msgspec.structs import replace

from fencepost.formats.litmus.initial import process_name, signed_number
from fencepost.formats.text.source import Source, quoted, suggestion
from fencepost.formats.text.tree import Token, Tree, as_token, as_tree, position, tokens, trees
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
        """By precedence: the alternatives, each of them what must hold together."""
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
