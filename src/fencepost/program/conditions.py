"""Final conditions: what a test asks about the states in which its program can end.

A condition is a quantifier and a formula over the registers and cells of a final state. Which final states
there are is left to the analyses; `is_bad` tells them which of those to look for:

    exists C, ~exists C    the final states with C
    forall C               the final states without C
"""

from __future__ import annotations

import typing
from collections.abc import Iterator, Mapping
from itertools import islice, product
from typing import NamedTuple

import msgspec

from fencepost.program.instructions import Placed

MOST_CASES = 20_000

Quantifier = typing.Literal["exists", "~exists", "forall"]
Comparison = typing.Literal["==", "!="]


class RegisterIs(msgspec.Struct, frozen=True):
    """Compares a register of the thread with that name to a value of the program's domain."""

    thread: str
    register: str
    value: int
    comparison: Comparison = "=="


class CellIs(msgspec.Struct, frozen=True):
    """Compares a memory cell, named as in `Program.cells`, to a value of the program's domain."""

    cell: str
    value: int
    comparison: Comparison = "=="


class Always(msgspec.Struct, frozen=True):
    """True in every state."""


class Not(msgspec.Struct, frozen=True):
    part: Formula


class And(msgspec.Struct, frozen=True):
    parts: tuple[Formula, ...]


class Or(msgspec.Struct, frozen=True):
    parts: tuple[Formula, ...]


class StandsAt(msgspec.Struct, frozen=True):
    """The thread with that name stands at its label; not in final conditions."""

    thread: str
    label: str


Atom = RegisterIs | CellIs
Formula = Atom | StandsAt | Always | Not | And | Or


class Literal(NamedTuple):
    """An atom and whether it must be true."""

    atom: Atom | StandsAt
    wanted: bool


class FinalCondition(Placed, frozen=True):
    quantifier: Quantifier
    formula: Formula


Registers = Mapping[str, Mapping[str, int]]
Memory = Mapping[str, int]


def is_bad(condition: FinalCondition, registers: Registers, memory: Memory) -> bool:
    """Whether the final state with these registers, by thread, and this memory is one to look for."""
    return holds(condition, registers, memory) != (condition.quantifier == "forall")


def holds(condition: FinalCondition, registers: Registers, memory: Memory) -> bool:
    """Whether the formula of `condition` is true in that final state, whatever the quantifier."""
    return is_true(condition.formula, registers, memory)


def atoms(formula: Formula) -> Iterator[Atom]:
    """The comparisons in `formula`, from left to right."""
    return (leaf for leaf in _leaves(formula) if isinstance(leaf, RegisterIs | CellIs))


def standings(formula: Formula) -> Iterator[StandsAt]:
    """What `formula` says about where threads stand, from left to right."""
    return (leaf for leaf in _leaves(formula) if isinstance(leaf, StandsAt))


def _leaves(formula: Formula) -> Iterator[Formula]:
    match formula:
        case Not(part):
            yield from _leaves(part)
        case And(parts) | Or(parts):
            for part in parts:
                yield from _leaves(part)
        case _:
            yield formula


def threads_named(formula: Formula) -> set[str]:
    """The threads that `formula` is about."""
    registers = {atom.thread for atom in atoms(formula) if isinstance(atom, RegisterIs)}
    return registers | {standing.thread for standing in standings(formula)}


def cases(formula: Formula, *, wanted: bool = True) -> Iterator[tuple[Literal, ...]]:
    """The disjunctive normal form of the formula, or of its opposite: in each case all literals hold.

    It is complete if there are at most `MOST_CASES`; there can be exponentially many.
    """
    match formula:
        case Not(part):
            yield from cases(part, wanted=not wanted)
        case Always():
            if wanted:
                yield ()
        case And(parts) | Or(parts):
            sides = [list(islice(cases(part, wanted=wanted), MOST_CASES + 1)) for part in parts]
            if isinstance(formula, And) == wanted:
                yield from (tuple(x for case in chosen for x in case) for chosen in product(*sides))
            else:
                yield from (case for side in sides for case in side)
        case _:
            yield (Literal(formula, wanted),)


def is_true(formula: Formula, registers: Registers, memory: Memory) -> bool:
    """Whether `formula` is true in the final state with these registers, by thread, and this memory."""
    match formula:
        case RegisterIs(thread, register, value, comparison):
            return (registers[thread][register] == value) == (comparison == "==")
        case CellIs(cell, value, comparison):
            return (memory[cell] == value) == (comparison == "==")
        case StandsAt(thread, label):
            raise AssertionError(f"a final condition asks whether {thread} stands at {label}")
        case Always():
            return True
        case Not(part):
            return not is_true(part, registers, memory)
        case And(parts):
            return all(is_true(part, registers, memory) for part in parts)
        case Or(parts):
            return any(is_true(part, registers, memory) for part in parts)
