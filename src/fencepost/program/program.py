"""The one representation of a concurrent program, and the check that it can run.

Readers of file formats build a `Program`; every analysis takes one. Building a `Program` validates it, so an
analysis never meets an unknown name, a jump into nowhere, or a constant outside the value domain.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from fencepost import notebook
from fencepost.errors import FixedThreadsError, InputError
from fencepost.program.expressions import Constant, Expression, Register, ThreadId, subexpressions
from fencepost.program.instructions import (
    FENCE_MODES,
    FETCH_OPERATORS,
    LOAD_MODES,
    STORE_MODES,
    Cell,
    CellAccess,
    Choose,
    CompareExchange,
    Fence,
    FetchAdd,
    Instruction,
    Load,
    Mode,
    Placed,
    Position,
    Store,
    Wait,
    expressions_of,
    jump_targets,
    registers_of,
)

if TYPE_CHECKING:
    from fencepost.program.conditions import FinalCondition

DEFAULT_MAX_VALUE = 255
LARGEST_MAX_VALUE = 2**64 - 1
MOST_THREADS = 64
MOST_CELLS = 256


class Location(Placed, frozen=True):
    """A declared location: one cell, or with `is_array` as many as it has initial values."""

    name: str
    initial: tuple[int, ...] = (0,)
    atomic: bool = True
    is_array: bool = False

    def cell_names(self) -> tuple[str, ...]:
        if not self.is_array:
            return (self.name,)
        return tuple(f"{self.name}[{i}]" for i in range(len(self.initial)))


class Thread(Placed, frozen=True):
    """One thread. Copies of a replicated thread share `family` and `code` and differ in `tid`.

    With `least`, it is a template: it stands for any number of threads with its code, at least so many.
    """

    family: str
    code: tuple[Instruction, ...]
    registers: tuple[str, ...] = ()
    labels: Mapping[str, int] = msgspec.field(default_factory=dict)
    tid: int = 0
    copies: int | None = None
    least: int | None = None

    @property
    def name(self) -> str:
        if self.least is not None:
            return f"{self.family}[*]"
        return self.family if self.copies is None else f"{self.family}[{self.tid}]"

    def __hash__(self) -> int:
        """As for all that is placed; `labels` is a mapping, which has no hash of its own."""
        labels = frozenset(self.labels.items())
        return hash((self.family, self.code, self.registers, labels, self.tid, self.copies))


class Tracking(Placed, frozen=True):
    """A `track` declaration: the values of `location` to tell apart, all of them if `values` is None."""

    location: str
    values: tuple[int, ...] | None


class Program(msgspec.Struct, frozen=True, dict=True):
    """Threads over shared locations. Stored values are taken modulo `max_value` + 1.

    Where `wraps` is false, values have no bound in the program's own language: `max_value` is then only how
    far fencepost follows them, and a search that meets a value outside 0..`max_value` ends undecided.
    `warnings` is what its reader noticed and the user should know. `format` is the name of the language of
    `source`, which it was read from.
    """

    locations: tuple[Location, ...]
    threads: tuple[Thread, ...]
    max_value: int = DEFAULT_MAX_VALUE
    tracking: tuple[Tracking, ...] = ()
    condition: FinalCondition | None = None
    wraps: bool = True
    warnings: tuple[str, ...] = ()
    file: str = "<program>"
    source: str | None = None
    format: str | None = None

    def __post_init__(self) -> None:
        _validate(self)

    def __eq__(self, other: object) -> bool:
        """Whether they are the same program, wherever they come from."""
        if not isinstance(other, Program):
            return NotImplemented
        return self.content == other.content

    def __hash__(self) -> int:
        return hash(self.content)

    @property
    def content(self) -> tuple[object, ...]:
        """All that makes it this program, whatever it was read from."""
        return self.locations, self.threads, self.max_value, self.tracking, self.condition, self.wraps

    def _repr_html_(self) -> str:
        return notebook.program_html(self)

    @property
    def modulus(self) -> int:
        """Stored values are taken modulo this."""
        return self.max_value + 1

    @cached_property
    def location_named(self) -> dict[str, Location]:
        return {location.name: location for location in self.locations}

    @cached_property
    def cells(self) -> tuple[str, ...]:
        """The name of every memory cell, in declaration order: `x`, `a[0]`, `a[1]`."""
        return tuple(name for location in self.locations for name in location.cell_names())

    @cached_property
    def initial_memory(self) -> tuple[int, ...]:
        """The initial value of every cell, in the order of `cells`."""
        return tuple(value for location in self.locations for value in location.initial)

    @cached_property
    def first_cell(self) -> dict[str, int]:
        """The index in `cells` of each location's first cell."""
        first, result = 0, {}
        for location in self.locations:
            result[location.name] = first
            first += len(location.initial)
        return result

    @cached_property
    def atomic_cells(self) -> tuple[bool, ...]:
        """For every cell, whether it is atomic, in the order of `cells`."""
        return tuple(location.atomic for location in self.locations for _ in location.initial)

    @cached_property
    def has_sc_fence(self) -> bool:
        """Whether some thread has an SC fence, so that models need a cell for them."""
        fences = (i for thread in self.threads for i in thread.code if isinstance(i, Fence))
        return any(fence.mode is Mode.SC for fence in fences)

    @cached_property
    def sc_access(self) -> CellAccess | None:
        """The first seq_cst access; a compare-exchange that is so only where it fails is one."""
        accesses = (i for thread in self.threads for i in thread.code if isinstance(i, CellAccess))
        return next((access for access in accesses if is_sc_access(access)), None)

    @cached_property
    def templates(self) -> tuple[Thread, ...]:
        """The threads of which there is any number."""
        return tuple(thread for thread in self.threads if thread.least is not None)

    def with_instances(self, copies: int) -> Program:
        """The program with so many copies of each template, or with the least number of them if that is
        more."""
        threads: list[Thread] = []
        for thread, numbers in zip(self.threads, self.instance_numbers(copies), strict=True):
            if thread.least is None:
                threads.append(thread)
                continue
            count = len(numbers)
            threads += [replace(thread, tid=tid, copies=count, least=None) for tid in range(count)]
        return replace(self, threads=tuple(threads))

    def instance_numbers(self, copies: int) -> list[range]:
        """For each thread, which threads of `with_instances(copies)` it becomes."""
        numbers: list[range] = []
        first = 0
        for thread in self.threads:
            count = 1 if thread.least is None else max(copies, thread.least)
            numbers.append(range(first, first + count))
            first += count
        return numbers

    def require_fixed_threads(self, what: str = "this question") -> None:
        """Raises `FixedThreadsError` if the program has a template."""
        for thread in self.templates:
            message = (
                f"{what} needs a fixed number of threads, and `{thread.name}` is any number; "
                "`--instances N` takes N copies of it"
            )
            raise self.mistake(message, thread.at, FixedThreadsError)

    def mistake(self, message: str, at: Position, kind: type[InputError] = InputError) -> InputError:
        """What to raise about the place `at` in the program's source."""
        line, column = max(at.line, 1), max(at.column, 1)
        return kind(message, self.file, line, column, self.source_line(at.line))

    def source_line(self, line: int) -> str | None:
        """Line `line` of the source text, counted from 1."""
        if self.source is None or line < 1:
            return None
        return self._lines[line - 1] if line <= len(self._lines) else None

    @cached_property
    def _lines(self) -> list[str]:
        return [] if self.source is None else self.source.split("\n")


def _validate(program: Program) -> None:
    """Reject what cannot run, with the place of the mistake."""
    for message, at in _mistakes(program):
        raise program.mistake(message, at)


_Mistakes = Iterator[tuple[str, Position]]


def _mistakes(program: Program) -> _Mistakes:
    if not 1 <= program.max_value <= LARGEST_MAX_VALUE:
        yield (
            f"max_value is {program.max_value}; it must be between 1 and {LARGEST_MAX_VALUE}",
            Position(1, 1),
        )
    yield from _location_mistakes(program)
    if not program.threads:
        yield "the program has no thread", Position(1, 1)
    if len(program.threads) > MOST_THREADS:
        at = program.threads[MOST_THREADS].at
        yield f"the program has {len(program.threads)} threads; at most {MOST_THREADS} are supported", at
    names: set[str] = set()
    for thread in program.threads:
        if thread.name in names:
            yield f"thread `{thread.name}` is declared twice", thread.at
        names.add(thread.name)
        yield from _thread_mistakes(program, thread)


def _location_mistakes(program: Program) -> _Mistakes:
    names: set[str] = set()
    for location in program.locations:
        if location.name in names:
            yield f"location `{location.name}` is declared twice", location.at
        names.add(location.name)
        if not location.initial:
            yield f"array `{location.name}` has no cells", location.at
        for value in location.initial:
            yield from _value_mistakes(program, value, location.at)
    if len(program.cells) > MOST_CELLS:
        at = program.locations[-1].at
        yield f"the program has {len(program.cells)} memory cells; at most {MOST_CELLS} are supported", at
    for tracking in program.tracking:
        if tracking.location not in names:
            yield f"`{tracking.location}` is not a declared location", tracking.at
        for value in tracking.values or ():
            yield from _value_mistakes(program, value, tracking.at)


def _value_mistakes(program: Program, value: int, at: Position) -> _Mistakes:
    if not 0 <= value <= program.max_value:
        yield f"the constant {value} is outside the value domain 0..{program.max_value} (max_value)", at


def _thread_mistakes(program: Program, thread: Thread) -> _Mistakes:
    registers = set(thread.registers)
    for name in thread.registers:
        if name in program.location_named:
            yield f"local `{name}` has the name of a location", thread.at
    if len(registers) != len(thread.registers):
        yield f"thread `{thread.name}` declares a local twice", thread.at
    for label, index in thread.labels.items():
        if not 0 <= index <= len(thread.code):
            yield f"label `{label}` is outside its thread", thread.at
    for instruction in thread.code:
        for target in jump_targets(instruction):
            if not 0 <= target <= len(thread.code):
                yield "jump to outside the thread", instruction.at
        if isinstance(instruction, Choose) and not instruction.targets:
            yield "a choice needs at least one alternative", instruction.at
        for register in registers_of(instruction):
            if register not in registers:
                yield f"`{register}` is not a local of thread `{thread.name}`", instruction.at
        for expression in expressions_of(instruction):
            yield from _expression_mistakes(program, thread, expression, instruction.at)
        yield from _access_mistakes(program, instruction)


def _expression_mistakes(program: Program, thread: Thread, expression: Expression, at: Position) -> _Mistakes:
    for part in subexpressions(expression):
        if isinstance(part, Constant):
            yield from _value_mistakes(program, part.value, at)
        elif isinstance(part, Register) and part.name not in thread.registers:
            yield f"`{part.name}` is not a local of thread `{thread.name}`", at
        elif isinstance(part, ThreadId) and thread.least is not None:
            yield f"a thread of `{thread.name}` has no number, so it cannot use its own", at


def _access_mistakes(program: Program, instruction: Instruction) -> _Mistakes:
    at = instruction.at
    if isinstance(instruction, Fence) and instruction.mode not in FENCE_MODES:
        yield f"a fence cannot be {instruction.mode.value}", at
    if not isinstance(instruction, CellAccess):
        return
    yield from _cell_mistakes(program, instruction.cell, at)
    location = program.location_named.get(instruction.cell.name)
    load_mode, store_mode = access_modes(instruction)
    non_atomic = Mode.NA in (load_mode, store_mode)
    if non_atomic and not isinstance(instruction, Load | Store):
        yield "only loads and stores can be non-atomic", at
    elif load_mode not in (None, Mode.NA, *LOAD_MODES):
        yield f"a load cannot be {load_mode.value}", at
    elif isinstance(instruction, CompareExchange) and instruction.failure_mode not in LOAD_MODES:
        yield f"a compare-exchange that fails cannot be {instruction.failure_mode.value}", at
    elif store_mode not in (None, Mode.NA, *STORE_MODES):
        yield f"a store cannot be {store_mode.value}", at
    elif None not in (load_mode, store_mode) and (load_mode is Mode.SC) != (store_mode is Mode.SC):
        yield "a read-modify-write is seq_cst as a whole; its other mode must be seq_cst too", at
    if location is not None and location.atomic == non_atomic:
        kind, other = ("atomic", "a non-atomic") if location.atomic else ("non-atomic", "an atomic")
        yield f"`{location.name}` is {kind}; it cannot take {other} access", at
    if isinstance(instruction, FetchAdd) and instruction.operator not in FETCH_OPERATORS:
        yield f"there is no read-modify-write with the operator `{instruction.operator}`", at
    if isinstance(instruction, Wait) and not instruction.values:
        yield "wait needs at least one value", at


def _cell_mistakes(program: Program, cell: Cell, at: Position) -> _Mistakes:
    location = program.location_named.get(cell.name)
    if location is None:
        yield f"`{cell.name}` is not a declared location", at
    elif location.is_array and cell.index is None:
        yield f"`{cell.name}` is an array; an access needs an index", at
    elif not location.is_array and cell.index is not None:
        yield f"`{cell.name}` is not an array; it takes no index", at


def access_modes(instruction: CellAccess) -> tuple[Mode | None, Mode | None]:
    """The mode of the read part and of the write part, None where the instruction has no such part.

    For a compare-exchange, this is if it succeeds; `read_mode` knows about failure.
    """
    match instruction:
        case Load() | Wait():
            return instruction.mode, None
        case Store():
            return None, instruction.mode
        case _:
            return instruction.load_mode, instruction.store_mode


def is_sc_access(access: CellAccess) -> bool:
    """Whether it is seq_cst, at least where it fails."""
    return Mode.SC in (*access_modes(access), read_mode(access, writes=False))


def read_mode(access: CellAccess, *, writes: bool) -> Mode | None:
    """The mode of the read part where the access writes, or does not; None if it has no such part."""
    if isinstance(access, CompareExchange) and not writes:
        return access.failure_mode
    return access_modes(access)[0]
