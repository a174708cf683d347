"""Threads as automata: what the readers of automata and of Persist programs make of a text.

A transition holds an ordinary instruction, without jumps, or the beginning or end of an atomic section. What
`sections.py` and `code.py` make of automata is the code of a `Program`.
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
    Register,
    Skip,
    evaluate,
    expressions_of,
    registers_of,
    subexpressions,
)

# What each comparison says if it does not hold.
NEGATED = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}

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
        reached, todo = {self.initial}, [self.initial]
        while todo:
            for transition in leaving.get(todo.pop(), ()):
                if transition.target not in reached:
                    reached.add(transition.target)
                    todo.append(transition.target)
        return reached


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
            for part in subexpressions(expression):
                if isinstance(part, Register):
                    yield part.name


def registers_assigned(step: Step) -> Iterator[str]:
    if not isinstance(step, Lock | Unlock):
        yield from registers_of(step)
