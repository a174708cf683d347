"""The monitor for release/acquire in Promela: SCM of rocker-2019, section 5, with critical values (5.1).

A set is the bits of a number, or of several, and there is one for each thread or cell:

    VSC, MSC, WSC    of the newest writes to which cells the thread, some access to the cell, and the newest
                     write to the cell are hbsc-aware (Figure 5)
    C, W             the stale values of other cells that the thread, and the newest write to the cell, allow
                     to read, and to follow directly (Figure 6; the paper's V and VRMW, W and WRMW)

Only what a violation can depend on is kept, much as in `native/engine/monitors/rules.hpp`: cells with stale
values that some access asks about, MSC of cells that are written, WSC and W of those that are also read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from fencepost.formats.promela.steps import Effect, Place, ThreadSteps
from fencepost.program import (
    Binary,
    BlockingCompareExchange,
    CompareExchange,
    Constant,
    Expression,
    Instruction,
    Load,
    Program,
    Wait,
)
from fencepost.static.critical_values import ValueClasses, stale_classes

_WORD = 31  # bits of a number, without its sign

# A variable outside of the state, for the bits of the value that a write makes stale.
STALE = "stale"

# How the thread in question spells an expression.
Spell = Callable[[Expression], str]


class Variable(NamedTuple):
    """A number of so many bits, and what it is at the start."""

    name: str
    bits: int
    initial: int = 0


class _Words:
    """The words that make up a set, and how many bits of each are used."""

    def __init__(self) -> None:
        self.used: list[int] = []

    def take(self, count: int) -> tuple[int, int]:
        """A word and in it the first of so many bits in a row."""
        if not self.used or self.used[-1] + count > _WORD:
            self.used.append(0)
        first = self.used[-1]
        self.used[-1] += count
        return len(self.used) - 1, first

    def names(self, kind: str, owner: str) -> list[str]:
        """The variables of a set; `names.py` keeps such names free."""
        return [f"{kind}{word or ''}_{owner}" for word in range(len(self.used))]


class _ClassBits(NamedTuple):
    """The bits of the classes of stale values of a cell."""

    classes: ValueClasses
    first: int

    def all(self) -> int:
        return ((1 << _size(self.classes)) - 1) << self.first

    def alone(self, value: int | None) -> int:
        """The bit of the value, 0 if it shares one; None stands for any value that shares one."""
        return 1 << self.first << self.classes.tracked.index(value) if value in self.classes.tracked else 0

    def of(self, value: int | None) -> int:
        """The bit of the value's class."""
        shared = self.classes.others << len(self.classes.tracked) << self.first
        return self.alone(value) or shared


class _Cell(NamedTuple):
    """The bits of a cell: its own in the sets of Figure 5, its stale values' in the sets of Figure 6."""

    aware_word: int
    aware: int
    word: int
    plain: _ClassBits
    free: _ClassBits

    def all(self) -> int:
        return self.plain.all() | self.free.all()

    def tracked(self) -> list[int]:
        return sorted({*self.plain.classes.tracked, *self.free.classes.tracked})


class RaMonitor:
    """The variables of the monitor for one program, and the Promela text about them."""

    def __init__(
        self, program: Program, threads: Sequence[ThreadSteps], names: Sequence[str], cells: Sequence[str]
    ) -> None:
        """`names` are those of the threads, `cells` those of the cells with that of SC fences."""
        kinds = _kinds(program, threads)
        written = [x for x in sorted(kinds) if kinds[x] != {"R"}]
        self._aware, self._views = _Words(), _Words()
        self._cells = self._numbered(program, written)
        self._vsc = {t: self._aware.names("VSC", name) for t, name in enumerate(names)}
        self._msc = {x: self._aware.names("MSC", cells[x]) for x in written}
        self._wsc = {x: self._aware.names("WSC", cells[x]) for x in written if "R" in kinds[x]}
        self._c = {t: self._views.names("C", name) for t, name in enumerate(names)}
        self._w = {x: self._views.names("W", cells[x]) for x in written if kinds[x] != {"W"}}

    def _numbered(self, program: Program, written: Sequence[int]) -> dict[int, _Cell]:
        locations = [location for location in program.locations for _ in location.initial]
        classes = stale_classes(program)
        cells = {}
        for x in written:
            if x == len(locations):
                continue  # no condition asks what a fence could read
            stale = classes[locations[x].name]
            size = _size(stale.plain) + _size(stale.free)
            if size > _WORD:
                message = (
                    f"`{locations[x].name}` has {size} stale values to tell apart; Promela's numbers hold"
                )
                raise program.mistake(f"{message} {_WORD}: lower max_value", locations[x].at)
            if size:
                aware_word, aware = self._aware.take(1)
                word, first = self._views.take(size)
                plain = _ClassBits(stale.plain, first)
                free = _ClassBits(stale.free, first + _size(stale.plain))
                cells[x] = _Cell(aware_word, 1 << aware, word, plain, free)
        return cells

    def variables(self) -> Iterator[Variable]:
        everything = [(1 << bits) - 1 for bits in self._aware.used]
        for names in self._vsc.values():
            yield from map(Variable, names, self._aware.used, everything)
        for x, names in [*self._msc.items(), *self._wsc.items()]:
            own = [self._own(x, word) for word in range(len(names))]
            yield from map(Variable, names, self._aware.used, own)
        for names in [*self._c.values(), *self._w.values()]:
            yield from map(Variable, names, self._views.used)

    def _own(self, x: int, word: int) -> int:
        """The bit of the cell itself in a word of the sets of Figure 5."""
        return self._cells[x].aware if x in self._cells and self._cells[x].aware_word == word else 0

    def cells_asked(self) -> set[int]:
        """The cells for which it matters which value becomes stale."""
        return {
            x
            for x, cell in self._cells.items()
            if max(_size(cell.plain.classes), _size(cell.free.classes)) > 1
        }

    # Violations.

    def violated(self, t: int, steps: ThreadSteps, place: Place, access: Instruction, spell: Spell) -> str:
        """The condition of Theorem 5.3 for thread t at `place`; empty if it is never true."""
        cell = self._cells.get(place.cell)
        if cell is None:
            return ""
        operands = [steps.operand(place, expression) for expression in _compared(access)]
        asked = " | ".join(bits for bits in _asked(cell, access, operands, spell) if bits != "0")
        if not asked:
            return ""
        aware = f"{self._vsc[t][cell.aware_word]} & {cell.aware}"
        allowed = f"{self._c[t][cell.word]} & {asked if asked.isdigit() else f'({asked})'}"
        return f"({aware}) && ({allowed})"

    # Updates.

    def updates(self, t: int, effect: Effect, x: int, spell: Spell) -> Iterator[str]:
        """What an access of thread t to the atomic cell x, or an SC fence, does to the sets."""
        if x not in self._msc:
            return
        if effect.kind == "R":
            yield from _united(self._msc[x], self._vsc[t])
            yield from _united(self._vsc[t], self._wsc[x])
            yield from _met(self._c[t], self._w[x])
            return
        yield from self._write(t, x)
        if effect.kind == "RMW":
            yield from _met(self._c[t], self._w[x])
        if x in self._cells:
            yield from self._make_stale(t, x, effect, spell)
        if x in self._w:
            yield from _copied(self._w[x], self._c[t])

    def _write(self, t: int, x: int) -> Iterator[str]:
        """Figure 5, writes and RMWs."""
        yield from _united(self._vsc[t], self._msc[x])  # MSC[x] always has x
        if x in self._cells:
            word, bit = self._cells[x].aware_word, self._cells[x].aware
            for names in _others(self._vsc, t) + _others(self._msc, x) + _others(self._wsc, x):
                yield f"{names[word]} = {names[word]} & ~{bit}"
        yield from _copied(self._msc[x], self._vsc[t])
        if x in self._wsc:
            yield from _copied(self._wsc[x], self._vsc[t])

    def _make_stale(self, t: int, x: int, effect: Effect, spell: Spell) -> Iterator[str]:
        """Figure 6, writes and RMWs: what the cell held is stale, and t cannot go back to it."""
        cell = self._cells[x]
        stale = _stale(cell, effect, spell)
        if not stale.isdigit():
            yield f"{STALE} = {stale}"
            stale = STALE
        if stale != "0":
            for names in _others(self._c, t) + _others(self._w, x):
                yield f"{names[cell.word]} = {names[cell.word]} | {stale}"
        if effect.kind == "W":  # an RMW has met W, which never has stale values of its own cell
            name = self._c[t][cell.word]
            yield f"{name} = {name} & ~{cell.all()}"


def _kinds(program: Program, threads: Sequence[ThreadSteps]) -> dict[int, set[str]]:
    """The kinds of accesses to each atomic cell and to that of SC fences."""
    atomic = [*program.atomic_cells, True]
    kinds: dict[int, set[str]] = {}
    for thread in threads:
        for place, steps in thread.steps.items():
            if atomic[place.cell]:
                found = {step.effect.kind for step in steps if step.effect}
                kinds[place.cell] = kinds.get(place.cell, set()) | found
    return kinds


def _size(classes: ValueClasses) -> int:
    return len(classes.tracked) + classes.others


def _asked(cell: _Cell, access: Instruction, operands: Sequence[Expression], spell: Spell) -> list[str]:
    """The bits of the stale values that the access could read or follow directly."""
    plain, free = cell.plain, cell.free

    def by_operand(bits: Callable[[int | None], int]) -> list[str]:
        listed = {value: bits(value) for value in cell.tracked()}
        return [_by_value(operand, listed, bits(None), spell) for operand in operands]

    match access:
        case Load():
            return [str(plain.all())]
        case Wait():
            return by_operand(plain.alone)
        case BlockingCompareExchange():
            return by_operand(free.alone)
        case CompareExchange():
            return by_operand(lambda value: free.alone(value) | plain.all() & ~plain.alone(value))
        case _:
            return [str(free.all())]


def _compared(access: Instruction) -> tuple[Expression, ...]:
    """The operands on which it depends what the access does."""
    match access:
        case Wait(_, _, values):
            return values
        case CompareExchange(_, _, expected) | BlockingCompareExchange(_, expected):
            return (expected,)
        case _:
            return ()


def _stale(cell: _Cell, effect: Effect, spell: Spell) -> str:
    """The bits of the overwritten value; the value that an RMW reads cannot be followed directly."""

    def bits(value: int | None) -> int:
        return cell.plain.of(value) | (cell.free.of(value) if effect.kind == "W" else 0)

    has_others = cell.plain.classes.others or cell.free.classes.others
    listed = {value: bits(value) for value in cell.tracked()}
    return _by_value(effect.old, listed, bits(None) if has_others else None, spell)


def _by_value(value: Expression, listed: Mapping[int, int], other: int | None, spell: Spell) -> str:
    """The mask that is listed for `value`, or `other`, which is None if all values are listed."""
    if isinstance(value, Constant):
        return str(listed.get(value.value, other or 0))
    values = list(listed)
    if other is None and len(values) > 1 and all(listed[v] == listed.get(0, 0) << v for v in values):
        return f"{listed[0]} << {spell(value)}"
    default = listed[values.pop()] if other is None else other
    text = str(default)
    for v in reversed(values):
        if listed[v] != default:
            text = f"({spell(Binary('==', value, Constant(v)))} -> {listed[v]} : {text})"
    return text


# Statements about sets.


def _united(target: Sequence[str], source: Sequence[str]) -> Iterator[str]:
    return (f"{a} = {a} | {b}" for a, b in zip(target, source, strict=True))


def _met(target: Sequence[str], source: Sequence[str]) -> Iterator[str]:
    return (f"{a} = {a} & {b}" for a, b in zip(target, source, strict=True))


def _copied(target: Sequence[str], source: Sequence[str]) -> Iterator[str]:
    return (f"{a} = {b}" for a, b in zip(target, source, strict=True))


def _others(sets: Mapping[int, list[str]], but: int) -> list[list[str]]:
    return [names for owner, names in sets.items() if owner != but]
