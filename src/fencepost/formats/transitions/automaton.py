"""Threads as automata: what the readers of automata and of Persist programs make of a text.

A transition holds an ordinary instruction, without jumps, or the beginning or end of an atomic section. Its
sections are replaced by `sections.py`; `flat_code.py` makes the code of a thread of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from fencepost.program import (
    NOWHERE,
    DivisionByZeroError,
    Expression,
    Instruction,
    Position,
    Skip,
    evaluate,
    expressions_of,
    registers_in,
    registers_of,
)
from fencepost.static.flow import reachable

# A name from the text, or a number for a state that the text does not have.
State = str | int


@dataclass(frozen=True, slots=True)
class Lock:
    """What follows is atomic, with the store buffer empty; `Unlock` ends it."""

    at: Position = NOWHERE


@dataclass(frozen=True, slots=True)
class Unlock:
    at: Position = NOWHERE


Step = Instruction | Lock | Unlock


class Transition(NamedTuple):
    source: State
    target: State
    step: Step


class Automaton(NamedTuple):
    """A thread, or with `copies` so many threads. A state that no transition leaves is the end."""

    name: str
    initial: State
    transitions: tuple[Transition, ...]
    copies: int | None = None
    at: Position = NOWHERE

    def leaving(self) -> dict[State, list[Transition]]:
        """The transitions by the state they leave, in the order of the text."""
        result: dict[State, list[Transition]] = {}
        for transition in self.transitions:
            result.setdefault(transition.source, []).append(transition)
        return result

    def reached(self) -> set[State]:
        """The states to which some way leads from the initial one."""
        leaving = self.leaving()
        return reachable([self.initial], lambda state: [t.target for t in leaving.get(state, ())])


def tree(
    root: State, sequences: Iterable[tuple[tuple[Step, ...], State]], fresh: Iterator[int]
) -> Iterator[Transition]:
    """The sequences of steps, each from `root` to its target, sharing what they begin with."""
    targets: dict[tuple[Step, ...], dict[State, None]] = {}
    for sequence, target in sequences:
        for length in range(1, len(sequence)):
            targets.setdefault(sequence[:length], {})
        targets.setdefault(sequence, {})[target] = None
    inner = {sequence[:-1] for sequence in targets}
    states: dict[tuple[Step, ...], State] = {(): root}
    for sequence, reached in targets.items():
        source, step = states[sequence[:-1]], sequence[-1]
        if len(reached) == 1 and sequence not in inner:
            yield Transition(source, next(iter(reached)), step)
            continue
        states[sequence] = state = next(fresh)
        yield Transition(source, state, step)
        for target in reached:
            yield Transition(state, target, Skip(at=step.at))


def is_negative(expression: Expression) -> bool:
    """Whether it is a number below 0, whatever the registers hold."""
    try:
        return evaluate(expression, {}) < 0
    except (DivisionByZeroError, KeyError):  # KeyError: of a register
        return False


def registers_read(step: Step) -> Iterator[str]:
    """The registers in the expressions of `step`."""
    if not isinstance(step, Lock | Unlock):
        for expression in expressions_of(step):
            yield from registers_in(expression)


def registers_assigned(step: Step) -> Iterator[str]:
    if not isinstance(step, Lock | Unlock):
        yield from registers_of(step)
