"""How large can the values of automata become?

An over-approximation by intervals: of each register at each state, refined by the checks that were passed,
and of each memory cell at any time. Values below 0 are left out, since an analysis that meets one ends
undecided. Intervals that keep growing are widened to the next number that the program mentions, and at last
to no bound.

A store outside of loops happens at most once in each thread, so what memory holds comes about by any number
of stores in loops and at most as many others as there are.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from fencepost.formats.transitions.automaton import Automaton, Lock, State, Step, Transition, Unlock
from fencepost.program import (
    LARGEST_MAX_VALUE,
    MOST_CELLS,
    NEGATED,
    Assign,
    Assume,
    Binary,
    BlockingCompareExchange,
    Cell,
    CellAccess,
    Constant,
    Expression,
    Load,
    Position,
    Register,
    Store,
    Unary,
    expressions_of,
    subexpressions,
)
from fencepost.static.flow import components
from fencepost.static.intervals import ZERO, Interval, interval_of

# So far above every value that arithmetic with values does not bring it down to one.
NO_BOUND = LARGEST_MAX_VALUE**2

# Those that are not given are 0.
Registers = Mapping[str, Interval]

_SWAPPED = {"==": "==", "!=": "!=", "<": ">", ">": "<", "<=": ">=", ">=": "<="}

_CHANGES_BEFORE_WIDENING = 8
_MOST_THRESHOLDS = 24
_MOST_ROUNDS = 64


class Growth(NamedTuple):
    """The value that the instruction at `at` computes for `register`, or for memory, has no known bound."""

    thread: str
    register: str | None
    at: Position


class ValueRanges:
    """The ranges of all registers and cells of the threads, found once for all copies of a thread."""

    def __init__(self, automata: Sequence[Automaton]) -> None:
        self._automata = automata
        self._leaving = [automaton.leaving() for automaton in automata]
        constants = {part.value for part in _parts(automata) if isinstance(part, Constant)}
        self._largest_constant = max(constants, default=0)
        self._thresholds = _thresholds(constants)
        self._registers: dict[_Node, Registers] = {}
        self._cells: dict[_Address, Interval] = {}
        self._readers: dict[_Address, dict[_Node, None]] = {}
        self._changes: dict[_Variable, int] = {}
        self._todo: dict[_Node, None] = {}
        self._once = {
            (number, transition)
            for number, automaton in enumerate(automata)
            for transition in _outside_loops(automaton)
            if isinstance(transition.step, Store | BlockingCompareExchange)
        }
        self._find()

    def largest(self) -> int:
        """The largest of all constants and of all bounds that were found."""
        registers = (found for at in self._registers.values() for found in at.values())
        highs = (found.high for found in (*registers, *self._cells.values()))
        return max([self._largest_constant, *(high for high in highs if _has_bound(high))])

    def growths(self) -> Iterator[Growth]:
        """What grows without a known bound, where it is computed; copies of such values are left out."""
        for node, transition in self._reached():
            match transition.step:
                case Assign(register, value):
                    target: str | None = register
                case Store(_, value) | BlockingCompareExchange(_, _, value):
                    target = None
                case _:
                    continue
            high = range_of(value, self._registers[node]).high
            if isinstance(value, Unary | Binary) and not _has_bound(high):
                yield Growth(self._automata[node.thread].name, target, transition.step.at)

    def addresses(self) -> Iterator[tuple[Interval, Position]]:
        """The range of each address that a reachable instruction computes, and where."""
        for node, transition in self._reached():
            if isinstance(transition.step, CellAccess) and transition.step.cell.index is not None:
                yield range_of(transition.step.cell.index, self._registers[node]), transition.step.at

    def held(self, thread: int, state: State, cell: Cell) -> Interval:
        """The values that `cell`, as an instruction at that state names it, can hold."""
        node = _Node(thread, state)
        return self._held(cell, self._registers[node]) if node in self._registers else ZERO

    def _reached(self) -> Iterator[tuple[_Node, Transition]]:
        for node in self._registers:
            for transition in self._leaving[node.thread].get(node.state, ()):
                yield node, transition

    # Finding the ranges.

    def _find(self) -> None:
        for number, automaton in enumerate(self._automata):
            self._arrive(_Node(number, automaton.initial), {})
        self._settle()
        rounds = sum(self._automata[number].copies or 1 for number, _ in self._once)
        if rounds > _MOST_ROUNDS:
            self._once = set()
            self._todo = dict.fromkeys(self._registers)
            self._settle()
            return
        for _ in range(rounds):
            self._changes.clear()
            for node, transition in list(self._reached()):
                if (node.thread, transition) in self._once:
                    self._store(transition.step, self._registers[node])
            if not self._todo:
                return
            self._settle()

    def _settle(self) -> None:
        while self._todo:
            self._leave(self._todo.popitem()[0])

    def _leave(self, node: _Node) -> None:
        before = self._registers[node]
        for transition in self._leaving[node.thread].get(node.state, ()):
            after = self._after(node, transition.step, before)
            if after is not None:
                if (node.thread, transition) not in self._once:
                    self._store(transition.step, before)
                self._arrive(_Node(node.thread, transition.target), after)

    def _arrive(self, node: _Node, found: Registers) -> None:
        known = self._registers.get(node)
        if known is None:
            self._registers[node] = found
            self._todo[node] = None
            return
        names = {**known, **found}
        joined = {name: _held_by(known, name).joined(_held_by(found, name)) for name in names}
        if any(joined[name] != _held_by(known, name) for name in names):
            self._registers[node] = {
                name: self._grown((node, name), _held_by(known, name), value)
                for name, value in joined.items()
            }
            self._todo[node] = None

    def _after(self, node: _Node, step: Step, before: Registers) -> Registers | None:
        """The registers after `step`, None if it cannot happen."""
        match step:
            case Assign(register, value):
                found = range_of(value, before)
                return None if found.high < 0 else {**before, register: _stored(found)}
            case Assume(condition):
                return _where(condition, before)
            case Load(register, cell):
                for address in self._cells_of(cell, before):
                    self._readers.setdefault(address, {})[node] = None
                return {**before, register: self._held(cell, before)}
        return before

    def _store(self, step: Step, registers: Registers) -> None:
        """What `step` does to memory."""
        if not isinstance(step, Store | BlockingCompareExchange):
            return
        stored = range_of(step.value if isinstance(step, Store) else step.desired, registers)
        if stored.high < 0:
            return
        for address in self._cells_of(step.cell, registers):
            known = self._cells.get(address, ZERO)
            joined = known.joined(_stored(stored))
            if joined != known:
                self._cells[address] = self._grown(address, known, joined)
                self._todo |= self._readers.get(address, {})

    def _held(self, cell: Cell, registers: Registers) -> Interval:
        found = ZERO
        for address in self._cells_of(cell, registers):
            found = found.joined(self._cells.get(address, ZERO))
        return found

    def _cells_of(self, cell: Cell, registers: Registers) -> Iterator[_Address]:
        """The cells that it may be; beyond `MOST_CELLS` there are none."""
        if cell.index is None:
            yield _Address(cell.name, 0)
            return
        found = range_of(cell.index, registers)
        for number in range(max(found.low, 0), min(found.high + 1, MOST_CELLS)):
            yield _Address(cell.name, number)

    def _grown(self, variable: _Variable, known: Interval, joined: Interval) -> Interval:
        if joined == known:
            return known
        self._changes[variable] = self._changes.get(variable, 0) + 1
        if self._changes[variable] <= _CHANGES_BEFORE_WIDENING:
            return joined
        high = joined.high
        if high > known.high:
            place = bisect_left(self._thresholds, high)
            high = self._thresholds[place] if place < len(self._thresholds) else NO_BOUND
        return Interval(0 if joined.low < known.low else joined.low, high)


class _Node(NamedTuple):
    thread: int
    state: State


class _Address(NamedTuple):
    location: str
    number: int


# A cell, or a register at a state.
_Variable = _Address | tuple[_Node, str]


def _parts(automata: Iterable[Automaton]) -> Iterator[Expression]:
    for automaton in automata:
        for _, _, step in automaton.transitions:
            if not isinstance(step, Lock | Unlock):
                for expression in expressions_of(step):
                    yield from subexpressions(expression)


def _thresholds(constants: Iterable[int]) -> list[int]:
    """Where a loop that counts may end: at numbers of the program, or one beside them."""
    near = sorted({max(value + distance, 0) for value in constants for distance in (-1, 0, 1)})
    every = -(-len(near) // _MOST_THRESHOLDS) or 1
    return near[::-every][::-1]


def _stored(found: Interval) -> Interval:
    return Interval(max(found.low, 0), min(found.high, NO_BOUND))


# --- expressions and conditions


def range_of(expression: Expression, registers: Registers) -> Interval:
    """The values of the expression; `NO_BOUND` stands for none."""
    return interval_of(expression, lambda name: _held_by(registers, name), bound=NO_BOUND)


def _has_bound(high: int) -> bool:
    return high <= LARGEST_MAX_VALUE


def _held_by(registers: Registers, name: str) -> Interval:
    return registers.get(name, ZERO)


def _where(condition: Expression, registers: Registers, *, holds: bool = True) -> Registers | None:
    """The registers where the condition is true, or false; None if it never is."""
    match condition:
        case Unary("!", operand):
            return _where(operand, registers, holds=not holds)
        case Binary("&&" | "||" as operator, left, right):
            first = _where(left, registers, holds=holds)
            if (operator == "&&") != holds:
                return _either(first, _where(right, registers, holds=holds))
            return None if first is None else _where(right, first, holds=holds)
        case Binary(operator, left, right) if operator in NEGATED:
            operator = operator if holds else NEGATED[operator]
            narrowed = _compared(left, operator, range_of(right, registers), registers)
            if narrowed is None:
                return None
            return _compared(right, _SWAPPED[operator], range_of(left, narrowed), narrowed)
        case _:
            return _compared(condition, "!=" if holds else "==", ZERO, registers)


def _compared(
    expression: Expression, operator: str, other: Interval, registers: Registers
) -> Registers | None:
    """The registers where the expression is in that relation to some value of `other`."""
    narrowed = _narrowed(range_of(expression, registers), operator, other)
    if narrowed is None:
        return None
    return {**registers, expression.name: narrowed} if isinstance(expression, Register) else registers


def _narrowed(found: Interval, operator: str, other: Interval) -> Interval | None:
    low, high = found.low, found.high
    match operator:
        case "==":
            low, high = max(low, other.low), min(high, other.high)
        case "!=" if other.low == other.high:
            low, high = low + (low == other.low), high - (high == other.low)
        case "<":
            high = min(high, other.high - 1)
        case "<=":
            high = min(high, other.high)
        case ">":
            low = max(low, other.low + 1)
        case ">=":
            low = max(low, other.low)
    return Interval(low, high) if low <= high else None


def _either(a: Registers | None, b: Registers | None) -> Registers | None:
    if a is None or b is None:
        return b if a is None else a
    return {name: _held_by(a, name).joined(_held_by(b, name)) for name in {**a, **b}}


# --- loops


def _outside_loops(automaton: Automaton) -> list[Transition]:
    """The transitions after which there is no way back to the state they leave."""
    leaving = automaton.leaving()
    part = components({state: [t.target for t in leaving[state]] for state in leaving})
    return [t for t in automaton.transitions if part.get(t.source) != part.get(t.target)]
