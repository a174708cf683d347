"""What the writers of automata and of Persist programs share: a thread as transitions, in their arithmetic.

    Branch(e, l)          a transition to l that checks e, one to the next state that checks the opposite
    Goto(l)               nothing: what leads to it leads to l
    Choose(l, m)          what l and m begin with, or a transition to them that does nothing
    anything else         what the language at hand says, on one or several ways

These languages have unbounded integers: what wraps around in the program is cut to its lower bits, where the
number of values is a power of two. They have no thread numbers. They are about TSO, where modes and the
fences that are not SC do nothing, so those are left out. What a language can say beyond that is left to its
writer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import count
from typing import ClassVar

from fencepost.errors import InputError
from fencepost.formats.transitions.automaton import State, Step, Transition, tree
from fencepost.program import (
    Assign,
    Assume,
    Binary,
    Branch,
    Cell,
    CellAccess,
    Choose,
    Constant,
    Expression,
    Fence,
    FetchAdd,
    Goto,
    Instruction,
    Load,
    Mode,
    Program,
    Skip,
    Store,
    Thread,
    ThreadId,
    Verify,
    access_modes,
    expressions_of,
    negated,
    numbered_code,
    read_mode,
    subexpressions,
)
from fencepost.program.spelling import format_expression, format_instruction
from fencepost.static.flow import reachable, successors
from fencepost.static.intervals import Interval, domain_interval

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
        self._reached = sorted(reachable([self.of(0)], self._following) - {len(code)})
        self._led_to: dict[int, int] = {}
        for index in self._reached:
            for target in self._following(index):
                self._led_to[target] = self._led_to.get(target, 0) + 1

    def of(self, index: int) -> int:
        """Where jumps from `index` on lead: the index of no `Goto`, unless they lead in a cycle."""
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

    def _following(self, index: int) -> list[int]:
        if index == len(self._code):
            return []
        return list(dict.fromkeys(map(self.of, successors(self._code[index], index))))

    def _is_absorbed(self, choice: int, target: int) -> bool:
        """Whether the choice offers what `target` begins with: nothing else leads there, and it cannot end
        the thread, since another alternative might go on."""
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
                    for way, check in ((target, condition), (index + 1, negated(condition))):
                        yield from self._steps(state, Assume(check, at=instruction.at), way)
                case Goto(target):
                    yield Transition(state, self.of(target), Skip(at=instruction.at))
                case _:
                    yield from self._steps(state, instruction, index + 1)

    def _steps(self, state: int, instruction: Instruction, after: int) -> Iterator[Transition]:
        ways = [(way, self.of(after)) for way in self._ways_of(instruction)]
        return tree(state, ways, self._fresh)


class Steps:
    """What a language with unbounded integers does instead of the instructions of a program.

    A language says how it spells a cell, and which steps do what an instruction does beyond reading, writing
    and local computation.
    """

    language: ClassVar[str]
    zero_at_the_start: ClassVar[str]  # what is so, and its verb

    def __init__(self, program: Program) -> None:
        self.program = program
        for location in program.locations:
            if any(location.initial):
                message = f"{location.name} is not 0 at the start, as {self.zero_at_the_start}"
                raise program.mistake(message, location.at)

    def of(self, instruction: Instruction) -> Ways:
        if isinstance(instruction, CellAccess):
            self._check_index(instruction)
        match instruction:
            case Assign(register, value):
                return [(Assign(register, self.stored(value, instruction)),)]
            case Assume():
                return [(instruction,)]
            case Load(register, cell):
                return [(Load(register, self.cell(cell, instruction)),)]
            case Store(cell, value, mode):
                store = Store(self.cell(cell, instruction), self.stored(value, instruction))
                # As on x86: the buffer is empty after a seq_cst store.
                return [(store, Fence())] if mode is Mode.SC else [(store,)]
            case Fence(Mode.SC):
                return [(Fence(),)]
            case Skip() | Verify() | Fence():
                return [(Skip(),)]
        return self.others(instruction)

    def cell(self, cell: Cell, instruction: Instruction) -> Cell:
        """The cell as the language has it."""
        raise NotImplementedError

    def others(self, instruction: Instruction) -> Ways:
        """What to do instead of all other instructions."""
        raise NotImplementedError

    def stored(self, value: Expression, instruction: Instruction) -> Expression:
        """An expression with the value that the program stores, or compares with memory, for `value`."""
        largest = self.program.max_value
        found = self._range(value)
        if not self.program.wraps or (found.low >= 0 and found.high <= largest):
            return value
        if self.program.modulus & largest:
            what = f"{format_expression(value)} starts again at 0 after {largest}"
            raise self.mistake(f"{what}, which {self.language} can only say of powers of two", instruction)
        return Binary("&", value, Constant(largest))

    def combined(self, access: FetchAdd, old: Expression) -> Expression:
        """What the access writes where it finds `old`, not yet as it is stored."""
        added = access.operator == "+"
        return Binary(access.operator, old, access.value if added else self.stored(access.value, access))

    def no_counterpart(self, instruction: Instruction) -> InputError:
        spelled = format_instruction(instruction)
        return self.mistake(f"`{spelled}` has no counterpart in {self.language}", instruction)

    def mistake(self, message: str, instruction: Instruction) -> InputError:
        return self.program.mistake(message, instruction.at)

    def _check_index(self, instruction: CellAccess) -> None:
        """Reject an index that is outside of its array in any case: another cell may be there."""
        size = len(self.program.location_named[instruction.cell.name].initial)
        found = self._range(instruction.cell.index or Constant(0))
        if found.low >= size or found.high < 0:
            raise self.no_counterpart(instruction)

    def _range(self, expression: Expression) -> Interval:
        return domain_interval(expression, self.program.max_value, 0)


def separate_threads(program: Program) -> Iterator[tuple[Thread, int | None]]:
    """Each thread without thread numbers in its code, and how many copies of it there are.

    Copies that need no number are given once; others are threads of their own, without copies.
    """
    start = 0
    while start < len(program.threads):
        thread = program.threads[start]
        copies = thread.copies or 0
        group = program.threads[start : start + copies]
        alike = [t for tid, t in enumerate(group) if (t.name, t.code) == (f"{t.family}[{tid}]", thread.code)]
        if copies and len(alike) == copies and not _uses_number(thread):
            yield thread, copies
            start += copies
        else:
            code = numbered_code(thread.code, thread.tid)
            yield Thread(thread.name, code, thread.registers, thread.labels, at=thread.at), None
            start += 1


def forgets_modes(program: Program) -> bool:
    """Whether the program has modes or fences that are left out."""
    for thread in program.threads:
        for instruction in thread.code:
            if isinstance(instruction, CellAccess):
                modes = (*access_modes(instruction), read_mode(instruction, writes=False))
                if not set(modes) <= {None, Mode.RLX}:
                    return True
            elif isinstance(instruction, Fence) and instruction.mode is not Mode.SC:
                return True
    return False


def _uses_number(thread: Thread) -> bool:
    expressions = (e for instruction in thread.code for e in expressions_of(instruction))
    return any(
        isinstance(part, ThreadId) for expression in expressions for part in subexpressions(expression)
    )
