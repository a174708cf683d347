"""Where a thread stands between its steps, and all the ways in which a step can go.

A step is an access and the local instructions up to the next one. Spin takes it as one transition if all that
it depends on is asked beforehand: so each way through the local instructions is told by conditions on the
registers before the step and on what the cell holds, and by what the registers are after it, all as
expressions over what was before. Registers that matter no more are 0. A thread that has ended, whose
assumption failed, or that goes round for ever without an access stands at its end.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple

from fencepost.formats.promela.expressions import Computing, folded, negation
from fencepost.program import (
    Assert,
    Assign,
    Assume,
    Binary,
    BlockingCompareExchange,
    Branch,
    CellAccess,
    Choose,
    CompareExchange,
    Constant,
    Exchange,
    Expression,
    Fence,
    FetchAdd,
    Goto,
    Instruction,
    Load,
    Mode,
    Program,
    Register,
    Store,
    Thread,
    Wait,
    registers_of,
    subexpressions,
)
from fencepost.static.liveness import live_registers

# What the cell of an access holds before the step: a register whose name no program can have.
HELD = Register("[held]")

# How many local instructions are followed after an access, on all ways together.
_MOST_LOCAL = 10_000


class Place(NamedTuple):
    """The access at `pc` to the cell with that number; the number after the last is that of SC fences."""

    pc: int
    cell: int


class Effect(NamedTuple):
    """What an access does; `old` is what it finds, as far as that is known."""

    kind: Literal["R", "W", "RMW"]
    old: Expression
    written: Expression | None = None


class Step(NamedTuple):
    """One way in which a step can go, and where it ends; None is the end of the thread."""

    effect: Effect | None
    """None before the first access."""
    conditions: tuple[Expression, ...]
    assertions: tuple[Expression, ...]
    registers: tuple[tuple[str, Expression], ...]
    """Only those that change."""
    target: Place | None


class _Way(NamedTuple):
    """A way through local instructions that is still being followed."""

    pc: int
    registers: tuple[tuple[str, Expression], ...]
    conditions: tuple[Expression, ...] = ()
    assertions: tuple[Expression, ...] = ()

    def given(self, condition: Expression) -> Iterator[_Way]:
        """The same way where `condition` is true, unless it is known to be false."""
        if isinstance(condition, Constant):
            if condition.value != 0:
                yield self
        elif condition in self.conditions:
            yield self
        elif negation(condition) not in self.conditions:
            yield self._replace(conditions=(*self.conditions, condition))

    def asserting(self, condition: Expression) -> _Way:
        """The same way with an assertion, unless that is sure to hold."""
        if condition in self.assertions or (isinstance(condition, Constant) and condition.value != 0):
            return self
        return self._replace(assertions=(*self.assertions, condition))


class ThreadSteps:
    """The places of one thread and the steps from there; SC fences are steps only if they are `fences`."""

    def __init__(self, program: Program, thread: Thread, *, fences: bool) -> None:
        self._program = program
        self._thread = thread
        self._fences = fences
        self._computing = Computing(program, thread)
        self._live = live_registers(thread, frozenset())
        zeros = {name: Constant(0) for name in thread.registers}
        self.start = list(self._steps_on(None, None, _Way(0, tuple(zeros.items()))))
        steps: dict[Place, list[Step]] = {}
        to_do = [step.target for step in self.start]
        while to_do:
            place = to_do.pop()
            if place is not None and place not in steps:
                steps[place] = self._steps_from(place)
                to_do += [step.target for step in steps[place]]
        self.steps = dict(sorted(steps.items()))

    def registers(self) -> list[str]:
        """The registers that are kept from one step to the next."""
        kept = frozenset[str]().union(*(self._live[place.pc] for place in self.steps))
        return [name for name in self._thread.registers if name in kept]

    def cells_asked(self) -> set[int]:
        """The cells on whose content some step depends."""
        return {place.cell for place, steps in self.steps.items() if any(map(_asks, steps))}

    def operand(self, place: Place, expression: Expression) -> Expression:
        """The value of an operand of the access at `place`."""
        return self._computing.value(expression, self._values_at(place), self._thread.code[place.pc].at)

    def _live_at(self, place: Place | None) -> frozenset[str]:
        return frozenset() if place is None else self._live[place.pc]

    def _values_at(self, place: Place | None) -> dict[str, Expression]:
        live = self._live_at(place)
        return {name: Register(name) if name in live else Constant(0) for name in self._thread.registers}

    # Accesses.

    def _steps_from(self, place: Place) -> list[Step]:
        instruction = self._thread.code[place.pc]
        result = next(registers_of(instruction), None)
        steps: dict[Step, None] = {}
        for effect, conditions in self._effects(place, instruction):
            values = self._values_at(place)
            if result is not None:
                values[result] = effect.old
            way = _Way(place.pc + 1, tuple(values.items()), conditions)
            steps |= dict.fromkeys(self._steps_on(place, effect, way))
        return list(steps)

    def _effects(
        self, place: Place, instruction: Instruction
    ) -> Iterator[tuple[Effect, tuple[Expression, ...]]]:
        """What the access at `place` can do, and the conditions for that."""

        def value(expression: Expression) -> Expression:
            return self.operand(place, expression)

        match instruction:
            case Load():
                yield Effect("R", HELD), ()
            case Store(_, written):
                yield Effect("W", HELD, value(written)), ()
            case FetchAdd(_, _, added, _, _, "+"):
                yield Effect("RMW", HELD, self._combined(place, "+", added)), ()
            case FetchAdd(_, _, other, _, _, operator):
                yield Effect("RMW", HELD, self._combined(place, operator, value(other))), ()
            case Exchange(_, _, written):
                yield Effect("RMW", HELD, value(written)), ()
            case Wait(_, _, awaited):
                yield self._found([value(v) for v in awaited], "R")
            case BlockingCompareExchange(_, expected, desired):
                yield self._found([value(expected)], "RMW", value(desired))
            case CompareExchange(_, _, expected, desired):
                yield self._found([value(expected)], "RMW", value(desired))
                yield Effect("R", HELD), (Binary("!=", HELD, value(expected)),)
            case Fence():
                yield Effect("RMW", Constant(0)), ()

    def _combined(self, place: Place, operator: str, other: Expression) -> Expression:
        values = {**self._values_at(place), HELD.name: HELD}
        return self._computing.value(Binary(operator, HELD, other), values, self._thread.code[place.pc].at)

    def _found(
        self, values: list[Expression], kind: Literal["R", "RMW"], written: Expression | None = None
    ) -> tuple[Effect, tuple[Expression, ...]]:
        """An access that happens when the cell holds one of `values`."""
        condition: Expression = Binary("==", HELD, values[0])
        for value in values[1:]:
            condition = Binary("||", condition, Binary("==", HELD, value))
        known = isinstance(values[0], Constant) and len(values) == 1
        return Effect(kind, values[0] if known else HELD, written), (condition,)

    # Local instructions.

    def _steps_on(self, source: Place | None, effect: Effect | None, start: _Way) -> Iterator[Step]:
        """All steps whose local instructions begin with `start`."""
        open_ways: list[tuple[_Way, frozenset[_Way]]] = [(start, frozenset())]
        for _ in range(_MOST_LOCAL):
            if not open_ways:
                return
            way, rounds = open_ways.pop()
            if way in rounds or way.pc == len(self._thread.code):
                yield self._step(source, effect, way, None)
            elif self._is_access(self._thread.code[way.pc]):
                for arrived, target in self._arrivals(way):
                    yield self._step(source, effect, arrived, target)
            else:
                for further in self._further(way):
                    back = further.pc <= way.pc
                    open_ways.append((further, rounds | {way} if back else rounds))
        message = "there are too many ways from here to the next access to write them in Promela"
        raise self._program.mistake(message, self._thread.code[start.pc].at)

    def _step(self, source: Place | None, effect: Effect | None, way: _Way, target: Place | None) -> Step:
        before, after = self._values_at(source), dict(way.registers)
        kept = {name: after[name] if name in self._live_at(target) else Constant(0) for name in before}
        changed = tuple((name, value) for name, value in kept.items() if value != before[name])
        return Step(effect, way.conditions, way.assertions, changed, target)

    def _is_access(self, instruction: Instruction) -> bool:
        is_fence = isinstance(instruction, Fence) and instruction.mode is Mode.SC
        return isinstance(instruction, CellAccess) or (is_fence and self._fences)

    def _arrivals(self, way: _Way) -> Iterator[tuple[_Way, Place | None]]:
        """The places where a way that has come to an access can end: one for each cell."""
        instruction = self._thread.code[way.pc]
        if not isinstance(instruction, CellAccess):
            yield way, Place(way.pc, len(self._program.cells))
            return
        cell = instruction.cell
        first = self._program.first_cell[cell.name]
        if cell.index is None:
            yield way, Place(way.pc, first)
            return
        index = self._computing.number(cell.index, dict(way.registers), instruction.at)
        size = len(self._program.location_named[cell.name].initial)
        for number in range(size):
            for arrived in way.given(folded(Binary("==", index, Constant(number)))):
                yield arrived, Place(way.pc, first + number)
        for outside in self._computing.outside(index, size):
            for failed in way.given(outside):
                yield failed.asserting(Constant(0)), None

    def _further(self, way: _Way) -> Iterator[_Way]:
        """How `way` goes on after its next local instruction."""
        instruction = self._thread.code[way.pc]
        registers = dict(way.registers)
        match instruction:
            case Assign(register, expression):
                registers[register] = self._computing.value(expression, registers, instruction.at)
                yield way._replace(pc=way.pc + 1, registers=tuple(registers.items()))
            case Branch(condition) | Assume(condition) | Assert(condition):
                test = self._computing.number(condition, registers, instruction.at)
                yield from self._decided(way, instruction, negation(negation(test)))
            case Goto(target):
                yield way._replace(pc=target)
            case Choose(targets):
                for target in targets:
                    yield way._replace(pc=target)
            case _:
                yield way._replace(pc=way.pc + 1)

    def _decided(self, way: _Way, instruction: Branch | Assume | Assert, test: Expression) -> Iterator[_Way]:
        following = way._replace(pc=way.pc + 1)
        match instruction:
            case Branch(_, target):
                yield from way._replace(pc=target).given(test)
                yield from following.given(negation(test))
            case Assume():
                yield from following.given(test)
                yield from way._replace(pc=len(self._thread.code)).given(negation(test))
            case Assert():
                yield following.asserting(test)


def _asks(step: Step) -> bool:
    """Whether it matters to the step what the cell holds."""
    written = [step.effect.written] if step.effect and step.effect.written else []
    values = (*step.conditions, *step.assertions, *(value for _, value in step.registers), *written)
    return any(HELD in subexpressions(value) for value in values)
