"""Atomic sections, `lock` … `unlock`, as the read-modify-writes they are.

What a section does to memory on one way through it, `v` being the value it finds in the one cell it uses:

    reads, writes v + e           FetchAdd
    reads or not, writes e        Exchange
    checks v == e, writes e'      BlockingCompareExchange; a CompareExchange together with the ways that
                                  check v != e and write nothing
    writes nothing                an SC fence and a Load
    uses no memory                an SC fence

e and e' are over registers. Where a way checks v, or writes, in another manner, and v has few possible
values, it becomes a BlockingCompareExchange for each. Local steps of a section stay as they are. A section
that has read and then fails a check never ends: a BlockingCompareExchange waits instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from fencepost.errors import InputError
from fencepost.formats.text.source import Source
from fencepost.formats.transitions.automaton import (
    Automaton,
    Lock,
    State,
    Step,
    Transition,
    Unlock,
    registers_read,
    tree,
)
from fencepost.formats.transitions.section_paths import (
    OLD,
    SectionPath,
    UnsupportedError,
    access_of,
    load_of,
    section_path,
    uses_old,
)
from fencepost.formats.transitions.value_ranges import ValueRanges
from fencepost.program import (
    Assign,
    Assume,
    Binary,
    BlockingCompareExchange,
    CompareExchange,
    Constant,
    Exchange,
    Expression,
    Fence,
    FetchAdd,
    Instruction,
    Position,
    ReadModifyWrite,
    Unary,
)

MOST_WAYS = 64
MOST_STEPS = 200
MOST_VALUES = 16


def without_sections(automaton: Automaton, thread: int, ranges: ValueRanges, source: Source) -> Automaton:
    """The automaton with read-modify-writes for its sections; raises `InputError` at a `lock`.

    `thread` is its number in `ranges`. Transitions that cannot be reached are left out.
    """
    return _Sections(automaton, thread, ranges, source).replaced()


class _Sections:
    def __init__(self, automaton: Automaton, thread: int, ranges: ValueRanges, source: Source) -> None:
        self._automaton = automaton
        self._thread = thread
        self._ranges = ranges
        self._source = source
        self._leaving = automaton.leaving()
        self._fresh = count()

    def replaced(self) -> Automaton:
        plain: list[Transition] = []
        sections: list[tuple[State, tuple[_Alternative, ...]]] = []
        seen = {self._automaton.initial}
        todo = [self._automaton.initial]
        while todo:
            state = todo.pop()
            targets: list[State] = []
            for transition in self._leaving.get(state, ()):
                match transition.step:
                    case Lock():
                        ways = self._alternatives(transition)
                        sections.append((state, ways))
                        targets += [way.target for way in ways]
                    case Unlock(at):
                        raise self._source.error("this `unlock` has no `lock` before it", at)
                    case _:
                        plain.append(transition)
                        targets.append(transition.target)
            todo += [target for target in reversed(targets) if target not in seen]
            seen.update(targets)
        return self._automaton._replace(transitions=(*plain, *self._joined(plain, sections)))

    def _joined(
        self, plain: list[Transition], sections: list[tuple[State, tuple[_Alternative, ...]]]
    ) -> Iterator[Transition]:
        """The transitions that the sections become."""
        steps: list[Step] = [step for _, _, step in plain]
        steps += [step for _, ways in sections for way in ways for step in way.steps]
        read = {register for step in steps for register in registers_read(step)}
        for state, ways in sections:
            yield from tree(state, [(way.instructions(read), way.target) for way in ways], self._fresh)

    def _alternatives(self, lock: Transition) -> tuple[_Alternative, ...]:
        at = lock.step.at
        try:
            ways = [section_path(transitions) for transitions in self._unfolded(lock)]
            return tuple(_Instead(at, self._values).of(ways))
        except UnsupportedError as error:
            raise self._not_supported(str(error), at) from None

    def _not_supported(self, why: str, at: Position) -> InputError:
        known = "an exchange, an addition, a compare-and-exchange or a read of one address"
        return self._source.error(f"this atomic section {why}; supported is {known}", at)

    def _values(self, way: SectionPath) -> range:
        """The values that the section may find in its cell."""
        assert way.access is not None
        held = self._ranges.held(self._thread, way.access.source, access_of(way.access).cell)
        values = range(held.low, held.high + 1)
        if held.high - held.low >= MOST_VALUES:
            raise UnsupportedError(
                "computes with the value that it reads, which can be one of more than "
                f"{MOST_VALUES} values as far as known"
            )
        return values

    def _unfolded(self, lock: Transition) -> Iterator[tuple[Transition, ...]]:
        """Every way from the `lock` to an `unlock`, the latter included."""
        todo: list[tuple[Transition, ...]] = [(lock,)]
        found = 0
        while todo:
            way = todo.pop()
            if isinstance(way[-1].step, Unlock):
                found += 1
                yield way[1:]
                continue
            leaving = self._leaving.get(way[-1].target, ())
            if not leaving:
                raise UnsupportedError("has a way without `unlock`")
            for transition in leaving:
                if isinstance(transition.step, Lock):
                    raise UnsupportedError("has another `lock` in it")
                if any(transition.source == before.source for before in way[1:]):
                    raise UnsupportedError("has a loop in it")
            todo += [(*way, transition) for transition in reversed(leaving)]
            if len(way) > MOST_STEPS or found + len(todo) > MOST_WAYS:
                raise UnsupportedError(f"has more than {MOST_WAYS} ways or {MOST_STEPS} steps")


# --- the instructions for all ways through a section


class _Alternative(msgspec.Struct, frozen=True):
    """What to do instead of a section on one way through it; `result` can be left out if it is not read."""

    before: tuple[Instruction, ...]
    access: Instruction
    result: Assign | None
    after: tuple[Instruction, ...]
    target: State

    @property
    def steps(self) -> tuple[Instruction, ...]:
        return (*self.before, self.access, *([] if self.result is None else [self.result]), *self.after)

    def instructions(self, read: set[str]) -> tuple[Instruction, ...]:
        """All of it, given that the thread reads no other registers than `read`."""
        access, result = self.access, self.result
        if isinstance(access, FetchAdd | Exchange | CompareExchange) and access.register not in read:
            access = replace(access, register=None)
        if result is not None and result.register not in read:
            result = None
        return replace(self, access=access, result=result).steps


class _Instead(NamedTuple):
    """What to do instead of the section at `at`; `values` tells what a way may find in its cell."""

    at: Position
    values: Callable[[SectionPath], range]

    def of(self, ways: list[SectionPath]) -> Iterator[_Alternative]:
        readers = [way for way in ways if way.written is None]
        for writer in ways:
            if writer.written is not None:
                failing = [way for way in readers if _is_failure(way, writer)]
                readers = [way for way in readers if way not in failing]
                yield from self._compare_exchange(writer, failing) if failing else self._write(writer)
        yield from map(self._read, readers)

    def _compare_exchange(self, success: SectionPath, failing: list[SectionPath]) -> Iterator[_Alternative]:
        expected, load = success.expected(), load_of(success)
        assert expected is not None
        assert load is not None
        desired = success.given(expected).written
        assert desired is not None
        access = CompareExchange(load.register, load.cell, expected, desired, at=self.at)
        for way in (success, *failing):
            yield _Alternative(way.before, access, None, way.after, way.target)

    def _write(self, way: SectionPath) -> Iterator[_Alternative]:
        expected, simple = way.expected(), self._unconditional(way)
        if expected is not None:
            yield from self._blocking(way, expected)
        elif simple is not None and not any(map(uses_old, way.checks)):
            yield _Alternative(self._guarded(way), simple, None, way.locals_after(), way.target)
        else:
            for value in self.values(way):
                yield from self._blocking(way, Constant(value))

    def _read(self, way: SectionPath) -> _Alternative:
        fence = Fence(at=self.at)
        if way.access is None:
            return _Alternative(way.before, fence, None, (), way.target)
        return _Alternative((*way.before, fence), access_of(way.access), None, way.after, way.target)

    def _blocking(self, way: SectionPath, expected: Expression) -> Iterator[_Alternative]:
        """The way through the section that waits until the cell holds `expected`."""
        given, load = way.given(expected), load_of(way)
        assert load is not None
        assert given.written is not None
        if given.is_possible():
            access = BlockingCompareExchange(load.cell, expected, given.written, at=self.at)
            result = Assign(load.register, expected, at=load.at)
            yield _Alternative(self._guarded(given), access, result, way.locals_after(), way.target)

    def _unconditional(self, way: SectionPath) -> ReadModifyWrite | None:
        assert way.access is not None
        assert way.written is not None
        cell, load = access_of(way.access).cell, load_of(way)
        register = None if load is None else load.register
        if not uses_old(way.written):
            return Exchange(register, cell, way.written, at=self.at)
        match way.written:
            case Binary("+", left, right) if OLD in (left, right):
                added = right if left == OLD else left
            case Binary("-", left, right) if left == OLD:
                added = Unary("-", right)
            case _:
                return None
        return None if uses_old(added) else FetchAdd(register, cell, added, at=self.at)

    def _guarded(self, way: SectionPath) -> tuple[Instruction, ...]:
        """The steps before the access, with the checks done there too."""
        return (*way.before, *(Assume(check, at=self.at) for check in way.checks))


def _is_failure(way: SectionPath, success: SectionPath) -> bool:
    """Whether the two are the outcomes of one compare-and-exchange."""
    expected = success.expected()
    if expected is None or success.given(expected).checks:
        return False
    return (way.before, way.access) == (success.before, success.access) and way.excludes(expected)
