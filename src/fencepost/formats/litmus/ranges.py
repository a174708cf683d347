"""Between which numbers does everything lie that a C litmus test stores?

The answer ignores the order of instructions, except that one outside of loops runs at most once. So what is
stored comes from the initial values by copying, by any number of computations inside loops, and by at most as
many computations outside of loops as there are. Ranges that do not settle soon are widened to `LARGEST_SUM`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from fencepost.program import (
    Assign,
    BlockingCompareExchange,
    Cell,
    CompareExchange,
    Constant,
    Exchange,
    Expression,
    FetchAdd,
    Instruction,
    Load,
    Register,
    Store,
    Wait,
)
from fencepost.static.flow import in_loops
from fencepost.static.intervals import ZERO, Interval, combined, interval_of

LARGEST_SUM = 2**32
_FEWEST_ROUNDS, _MOST_ROUNDS = 8, 100
_MOST_STEPS = 100_000

# A cell, or a register and the number of its thread.
_Variable = str | tuple[int, str]


class StoredRanges:
    def __init__(self, threads: int, ranges: Mapping[_Variable, Interval]) -> None:
        self._threads = threads
        self._ranges = ranges

    def all(self) -> Iterator[Interval]:
        return iter(self._ranges.values())

    def negative_registers(self) -> tuple[frozenset[str], ...]:
        """For each thread the registers that may be negative."""
        found: list[set[str]] = [set() for _ in range(self._threads)]
        for variable, stored in self._ranges.items():
            if isinstance(variable, tuple) and stored.low < 0:
                found[variable[0]].add(variable[1])
        return tuple(map(frozenset, found))


def stored_ranges(threads: Sequence[tuple[Instruction, ...]], initial: Mapping[str, int]) -> StoredRanges:
    once: list[_Update] = []
    freely: list[_Update] = []
    for number, code in enumerate(threads):
        looping = in_loops(code)
        for index, instruction in enumerate(code):
            for update in _updates(number, instruction):
                copies = update.added_to is None and isinstance(
                    update.value, Constant | Register | _CellValue
                )
                (freely if copies or index in looping else once).append(update)
    analysis = _Analysis(initial)
    analysis.run(once, list(dict.fromkeys(freely)))
    return StoredRanges(len(threads), analysis.ranges)


class _CellValue(NamedTuple):
    """The value of a cell, where the expressions of a program have none."""

    name: str


class _Update(NamedTuple):
    """`variable` gets the value of an expression in that thread, or that much more than it had."""

    variable: _Variable
    thread: int
    value: Expression | _CellValue
    added_to: _Variable | None = None


def _updates(thread: int, instruction: Instruction) -> Iterator[_Update]:
    match instruction:
        case Assign(register, value):
            yield _Update((thread, register), thread, value)
        case Load(str(register), cell) | Wait(str(register), cell):
            yield _read(thread, register, cell)
        case Store(cell, value):
            yield _Update(cell.name, thread, value)
        case FetchAdd(register, cell, value):
            if register is not None:
                yield _read(thread, register, cell)
            yield _Update(cell.name, thread, value, cell.name)
        case Exchange(register, cell, value) | CompareExchange(register, cell, _, value):
            if register is not None:
                yield _read(thread, register, cell)
            yield _Update(cell.name, thread, value)
        case BlockingCompareExchange(cell, _, value):
            yield _Update(cell.name, thread, value)


def _read(thread: int, register: str, cell: Cell) -> _Update:
    return _Update((thread, register), thread, _CellValue(cell.name))


class _Analysis:
    def __init__(self, initial: Mapping[str, int]) -> None:
        self.ranges: dict[_Variable, Interval] = {
            name: Interval(value, value).limited(LARGEST_SUM) for name, value in initial.items()
        }

    def run(self, once: list[_Update], freely: list[_Update]) -> None:
        self._settle(freely)
        times, once = len(once), list(dict.fromkeys(once))
        most = _rounds([*once, *freely])
        for _ in range(min(times, most)):
            if not self._apply(once):
                return
            self._settle(freely)
        if times > most:
            self._settle([*once, *freely])

    def _settle(self, updates: list[_Update]) -> None:
        rounds, most = 0, min(len(updates), _rounds(updates))
        while self._apply(updates, widen=rounds > most):
            rounds += 1

    def _apply(self, updates: list[_Update], *, widen: bool = False) -> bool:
        """Let every update happen once, all from the same state; whether that changed anything."""
        found: dict[_Variable, Interval] = {}
        for update in updates:
            before = self._stored(update.variable)
            after = found.get(update.variable, before).joined(self._result(update))
            found[update.variable] = after.widened(before, LARGEST_SUM) if widen else after
        changed = any(self._stored(variable) != after for variable, after in found.items())
        self.ranges.update(found)
        return changed

    def _stored(self, variable: _Variable) -> Interval:
        return self.ranges.get(variable, ZERO)

    def _result(self, update: _Update) -> Interval:
        value = update.value
        if isinstance(value, _CellValue):
            return self._stored(value.name)
        result = interval_of(
            value, lambda register: self._stored((update.thread, register)), bound=LARGEST_SUM
        )
        if update.added_to is None:
            return result
        return combined("+", self._stored(update.added_to), result).limited(LARGEST_SUM)


def _rounds(updates: list[_Update]) -> int:
    """How many rounds these updates get to settle in."""
    return min(max(_MOST_STEPS // max(len(updates), 1), _FEWEST_ROUNDS), _MOST_ROUNDS)
