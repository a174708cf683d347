"""From the flat code of a thread to an automaton: the way back of `code.py`.

    Branch(e, l)          a transition to l that checks e, one to the next state that checks the opposite
    Goto(l)               nothing: who leads to it leads to l
    Choose(l, m)          what l and m begin with, or a transition to them that does nothing
    anything else         what the language at hand says, on one or several ways

What can be said in a language is left to its writer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import count

from fencepost.formats.transitions.form import NEGATED, State, Step, Transition, tree
from fencepost.program import (
    Assume,
    Binary,
    Branch,
    Choose,
    Expression,
    Goto,
    Instruction,
    Skip,
    Unary,
    falls_through,
    jump_targets,
)

# What to do instead of an instruction that does not jump: one of these sequences of steps.
Ways = Iterable[tuple[Step, ...]]


def transitions_of(
    code: Sequence[Instruction], ways_of: Callable[[Instruction], Ways]
) -> tuple[State, list[Transition]]:
    """The initial state and the transitions; a state is an index of `code`, or a larger number."""
    states = _States(code, ways_of)
    return states.of(0), list(states.transitions())


def state_names(
    initial: State,
    transitions: Sequence[Transition],
    labels: Mapping[str, int],
    is_name: Callable[[str], bool],
) -> dict[State, str]:
    """A name for each state: its label, if that is one in the language at hand."""
    named = {index: label for label, index in reversed(list(labels.items())) if is_name(label)}
    fresh = (name for name in map("s{}".format, count()) if name not in labels)
    states = dict.fromkeys([initial, *(state for t in transitions for state in (t.source, t.target))])
    return {state: named[state] if state in named else next(fresh) for state in states}


class _States:
    def __init__(self, code: Sequence[Instruction], ways_of: Callable[[Instruction], Ways]) -> None:
        self._code = code
        self._ways_of = ways_of
        self._fresh = count(len(code) + 1)
        self._reached = self._find_reached()
        self._led_to: dict[int, int] = {}
        for index in self._reached:
            for target in self._following(index):
                self._led_to[target] = self._led_to.get(target, 0) + 1

    def of(self, index: int) -> int:
        """The index where the thread stands if it comes to `index`: that of no jump, unless it loops."""
        seen = set()
        while index < len(self._code) and index not in seen:
            seen.add(index)
            instruction = self._code[index]
            if not isinstance(instruction, Goto):
                break
            index = instruction.target
        return index

    def transitions(self) -> Iterator[Transition]:
        absorbed = {
            target
            for index in self._reached
            if isinstance(self._code[index], Choose)
            for target in self._following(index)
            if self._is_absorbed(index, target)
        }
        for index in self._reached:
            if index not in absorbed:
                yield from self._leaving(index)

    def _find_reached(self) -> list[int]:
        reached: set[int] = set()
        todo = [self.of(0)]
        while todo:
            index = todo.pop()
            if index < len(self._code) and index not in reached:
                reached.add(index)
                todo += self._following(index)
        return sorted(reached)

    def _following(self, index: int) -> list[int]:
        instruction = self._code[index]
        after = [index + 1] if falls_through(instruction) else []
        return list(dict.fromkeys(self.of(target) for target in (*jump_targets(instruction), *after)))

    def _is_absorbed(self, choice: int, target: int) -> bool:
        """Whether the choice offers what `target` begins with: nothing else leads there, and it does not end
        the thread, which another alternative might not."""
        alone = self._led_to.get(target) == 1 and target not in (choice, self.of(0), len(self._code))
        return alone and not isinstance(self._code[target], Assume | Goto)

    def _leaving(self, state: int) -> Iterator[Transition]:
        todo = [state]
        while todo:
            index = todo.pop()
            instruction = self._code[index]
            match instruction:
                case Choose():
                    absorbed = [t for t in self._following(index) if self._is_absorbed(index, t)]
                    todo += reversed(absorbed)
                    for target in self._following(index):
                        if target not in absorbed:
                            yield Transition(state, target, Skip(at=instruction.at))
                case Branch(condition, target):
                    for way, check in ((target, condition), (index + 1, _negated(condition))):
                        yield from self._steps(state, Assume(check, at=instruction.at), way)
                case Goto(target):
                    yield Transition(state, self.of(target), Skip(at=instruction.at))
                case _:
                    yield from self._steps(state, instruction, index + 1)

    def _steps(self, state: int, instruction: Instruction, after: int) -> Iterator[Transition]:
        ways = [(way, self.of(after)) for way in self._ways_of(instruction)]
        return tree(state, ways, self._fresh)


def _negated(condition: Expression) -> Expression:
    match condition:
        case Unary("!", operand):
            return operand
        case Binary(operator, left, right) if operator in NEGATED:
            return Binary(NEGATED[operator], left, right)
        case _:
            return Unary("!", condition)
