"""A thread as a process of Promela: a label for each place where it can stand, and what it can do there.

What a step does stands in a `d_step`, which Spin takes as one transition: conditions, assertions, what the
monitor learns, and then the cell and the registers, in an order in which none is lost before it is read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

from fencepost.formats.promela.monitor import RaMonitor
from fencepost.formats.promela.steps import HELD, Place, Step, ThreadSteps
from fencepost.program import (
    Binary,
    BlockingCompareExchange,
    CellAccess,
    Expression,
    Instruction,
    Mode,
    Register,
    Store,
    Thread,
    Wait,
    access_modes,
    subexpressions,
)
from fencepost.program.spelling import Spelling, format_instruction

# Variables outside of the state, with a number after this, for values that are overwritten before being read.
SAVED = "saved"

_END = "ended"


@dataclass(frozen=True)
class Process:
    """Thread number `t`, and how it is spelled: its name, its registers, and the cells that are kept."""

    t: int
    thread: Thread
    steps: ThreadSteps
    name: str
    registers: Mapping[str, str]
    cells: Mapping[int, str]

    @property
    def start(self) -> Step | None:
        """The only way to begin, which says where the process stands at first and with which registers."""
        step, *others = self.steps.start
        return None if others or step.assertions else step

    def statements(self, monitor: RaMonitor | None, earlier: Sequence[Process]) -> Iterator[str]:
        """The body of the process; `earlier` are those that stand before it in the file."""
        if self.start is not None:
            yield f"    goto {self._label(self.start.target)};"
        else:
            yield "    if"
            for step in self.steps.start:
                yield from self._option(None, step, monitor)
            yield "    fi;"
        for place, steps in self.steps.steps.items():
            yield f"{self._label(place)}:  /* {self._told(place)} */"
            yield "    if"
            for condition, assertion in self._checks(place, monitor, earlier):
                yield f"    :: {condition} -> assert({assertion}); goto {self._label(place)}"
            for step in steps:
                yield from self._option(place, step, monitor)
            yield "    fi;"
        yield f"{_END}:"
        yield "    false"

    def _label(self, place: Place | None) -> str:
        """Where a process may wait for ever, Spin wants a label that begins with `end`."""
        if place is None:
            return _END
        cells = [other.cell for other in self.steps.steps if other.pc == place.pc]
        label = f"at_{place.pc}" if len(cells) == 1 else f"at_{place.pc}_{cells.index(place.cell)}"
        blocks = isinstance(self._access(place), Wait | BlockingCompareExchange)
        return f"end_{label}" if blocks else label

    def _access(self, place: Place) -> Instruction:
        return self.thread.code[place.pc]

    def _told(self, place: Place) -> str:
        access = self._access(place)
        text = format_instruction(access)
        return f"line {access.at.line}: {text}" if access.at.line else text

    # Checks.

    def _checks(
        self, place: Place, monitor: RaMonitor | None, earlier: Sequence[Process]
    ) -> Iterator[tuple[str, str]]:
        """Conditions under which something is wrong when the process stands at `place`, and what."""
        if monitor is None:
            return
        spell = self._spelling(place).expression
        violated = monitor.violated(self.t, self.steps, place, self._access(place), spell)
        if violated:
            yield violated, "robust"
        conflicts = [there for process in earlier for there in process.conflicts(self, place)]
        if conflicts:
            yield " || ".join(conflicts), "race_free"

    def conflicts(self, other: Process, place: Place) -> Iterator[str]:
        """Conditions: this process stands at an access that races with that of `other` at `place`."""
        access = other._access(place)
        for own in self.steps.steps:
            writes = isinstance(self._access(own), Store) or isinstance(access, Store)
            if own.cell == place.cell and writes and _is_non_atomic(access):
                yield f"{self.name}[{self.t}]@{self._label(own)}"

    # Steps.

    def _option(self, place: Place | None, step: Step, monitor: RaMonitor | None) -> Iterator[str]:
        spelling = self._spelling(place)
        learned: Iterable[str] = ()
        changes = dict(step.registers)
        if place is not None and step.effect is not None:
            if monitor is not None and not _is_non_atomic(self._access(place)):
                learned = monitor.updates(self.t, step.effect, place.cell, spelling.expression)
            if place.cell in self.cells and step.effect.written is not None:
                changes[HELD.name] = step.effect.written
        done = [
            *(f"assert({spelling.expression(assertion)})" for assertion in step.assertions),
            *learned,
            *_one_by_one(changes, spelling),
        ]
        yield "    :: d_step {"
        if step.conditions:
            yield f"           {spelling.expression(reduce(_both, step.conditions))} ->"
        yield ";\n".join(f"           {statement}" for statement in done or ["skip"])
        yield "       }"
        yield f"       goto {self._label(step.target)}"

    def _spelling(self, place: Place | None) -> Spelling:
        held = {HELD.name: self.cells[place.cell]} if place and place.cell in self.cells else {}
        return Spelling(registers={**self.registers, **held})


def _is_non_atomic(access: Instruction) -> bool:
    return isinstance(access, CellAccess) and Mode.NA in access_modes(access)


def _one_by_one(changes: Mapping[str, Expression], spelling: Spelling) -> Iterator[str]:
    """Assignments one after the other that do what `changes` says at once."""
    names = dict(spelling.registers)
    left = dict(changes)
    while left:
        name = next((name for name in left if not _is_read(name, left)), None)
        if name is None:  # they read each other
            name = next(iter(left))
            saved = f"{SAVED}_{len(changes) - len(left)}"
            yield f"{saved} = {names[name]}"
            names[name] = saved
        yield f"{spelling.registers[name]} = {Spelling(registers=names).expression(left.pop(name))}"


def _is_read(name: str, changes: Mapping[str, Expression]) -> bool:
    """Whether another variable is assigned a value that depends on `name`."""
    return any(Register(name) in subexpressions(value) for other, value in changes.items() if other != name)


def _both(left: Expression, right: Expression) -> Expression:
    return Binary("&&", left, right)
