"""The instructions of a thread.

A thread is a flat list of instructions; control flow is by index into that list, and an index equal to its
length is the end of the thread. Structured statements of a file format are lowered to this by its reader.
Every instruction carries its place in the source, which does not take part in equality.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import Enum

import msgspec
from msgspec.structs import force_setattr, replace

from fencepost.program.expressions import (
    STRICT_BINARY,
    Constant,
    Expression,
    numbered,
    subexpressions,
)


class Mode(Enum):
    """How strongly an access or a fence orders; the value is its spelling in files."""

    NA = "na"  # not atomic: a race on it is an error
    RLX = "rlx"
    ACQ = "acq"
    REL = "rel"
    ACQ_REL = "acq_rel"
    SC = "seq_cst"


# A read-modify-write is seq_cst as a whole, one event of the total order S: both of its modes are `SC`, or
# neither is. A compare-exchange that fails is another event: its mode can be any of those of loads.
LOAD_MODES = (Mode.RLX, Mode.ACQ, Mode.SC)
STORE_MODES = (Mode.RLX, Mode.REL, Mode.SC)
# The operators of `FetchAdd`, and what the access is called.
FETCH_OPERATORS = {"+": "fetch_add", "&": "fetch_and", "|": "fetch_or", "^": "fetch_xor"}
FENCE_MODES = (Mode.ACQ, Mode.REL, Mode.ACQ_REL, Mode.SC)


class Position(msgspec.Struct, frozen=True):
    """A place in a source file, both numbers counted from 1; (0, 0) for what was built without a file."""

    line: int
    column: int


NOWHERE = Position(0, 0)


class Cell(msgspec.Struct, frozen=True):
    """A memory location as an instruction names it: `x`, or `a[index]` in an array."""

    name: str
    index: Expression | None = None


class Placed(msgspec.Struct, frozen=True, kw_only=True):
    """What stands somewhere in a source file; the place does not take part in equality."""

    at: Position = NOWHERE

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Placed) or type(self) is not type(other):
            return NotImplemented
        return self._content() == other._content()

    def __hash__(self) -> int:
        return hash((type(self), *self._content()))

    def _content(self) -> list[object]:
        names: tuple[str, ...] = type(self).__match_args__  # without `at`
        return [getattr(self, name) for name in names]


class Assign(Placed, frozen=True):
    """`register` = `value`, taken modulo the value domain."""

    register: str
    value: Expression


class Branch(Placed, frozen=True):
    """Jump to `target` if `condition` is not 0, else go on with the next instruction."""

    condition: Expression
    target: int


class Goto(Placed, frozen=True):
    """Jump to `target`."""

    target: int


class Choose(Placed, frozen=True):
    """Jump to any one of `targets`."""

    targets: tuple[int, ...]


class Assert(Placed, frozen=True):
    """Report the run if `condition` is 0, and go on."""

    condition: Expression


class Assume(Placed, frozen=True):
    """End the thread here if `condition` is 0."""

    condition: Expression


class Skip(Placed, frozen=True):
    """Do nothing."""


class Verify(Placed, frozen=True):
    """Says that the value of `register` matters to the program; does nothing when it runs."""

    register: str


class Load(Placed, frozen=True):
    """Read the cell into `register`."""

    register: str
    cell: Cell
    mode: Mode = Mode.RLX


class Store(Placed, frozen=True):
    """Write `value` to the cell."""

    cell: Cell
    value: Expression
    mode: Mode = Mode.RLX


class FetchAdd(Placed, frozen=True):
    """Add `value` to the cell, or combine them by another `operator`; `register`, if any, gets the old value.

    The operator is one of `FETCH_OPERATORS`. Both `value` and the result are taken modulo the value domain.
    """

    register: str | None
    cell: Cell
    value: Expression
    load_mode: Mode = Mode.RLX
    store_mode: Mode = Mode.RLX
    operator: str = "+"

    def combined(self, old: int, value: int) -> int:
        """What the cell gets where it held `old`, before that is taken modulo the value domain."""
        return STRICT_BINARY[self.operator](old, value)


class Exchange(Placed, frozen=True):
    """Write `value` to the cell; `register`, if any, gets the old value."""

    register: str | None
    cell: Cell
    value: Expression
    load_mode: Mode = Mode.RLX
    store_mode: Mode = Mode.RLX


class CompareExchange(Placed, frozen=True):
    """A strong CAS; `register` gets the old value. Failing, it is a read with `failure_mode`."""

    register: str | None
    cell: Cell
    expected: Expression
    desired: Expression
    load_mode: Mode = Mode.RLX
    store_mode: Mode = Mode.RLX
    failure_mode: Mode = None  # type: ignore[assignment]  # if not given, `load_mode`

    def __post_init__(self) -> None:
        if self.failure_mode is None:
            force_setattr(self, "failure_mode", self.load_mode)


class BlockingCompareExchange(Placed, frozen=True):
    """BCAS: waits until the cell holds `expected`, and replaces it by `desired` in the same step."""

    cell: Cell
    expected: Expression
    desired: Expression
    load_mode: Mode = Mode.RLX
    store_mode: Mode = Mode.RLX


class Wait(Placed, frozen=True):
    """Waits until the cell holds one of `values`; `register`, if any, gets the one it read."""

    register: str | None
    cell: Cell
    values: tuple[Expression, ...]
    mode: Mode = Mode.RLX


class Fence(Placed, frozen=True):
    """Order the accesses before it and after it."""

    mode: Mode = Mode.SC


# The fields that are one expression each.
_EXPRESSIONS: dict[type, tuple[str, ...]] = {
    **dict.fromkeys((Branch, Assert, Assume), ("condition",)),
    **dict.fromkeys((Assign, Store, FetchAdd, Exchange), ("value",)),
    **dict.fromkeys((CompareExchange, BlockingCompareExchange), ("expected", "desired")),
}

LocalInstruction = Assign | Branch | Goto | Choose | Assert | Assume | Skip | Verify
ReadModifyWrite = FetchAdd | Exchange | CompareExchange | BlockingCompareExchange
CellAccess = Load | Store | Wait | ReadModifyWrite
Instruction = LocalInstruction | CellAccess | Fence


def jump_targets(instruction: Instruction) -> tuple[int, ...]:
    match instruction:
        case Branch(_, target) | Goto(target):
            return (target,)
        case Choose(targets):
            return targets
        case _:
            return ()


def falls_through(instruction: Instruction) -> bool:
    return not isinstance(instruction, Goto | Choose)


def expressions_of(instruction: Instruction) -> Iterator[Expression]:
    """Every expression that the instruction evaluates, the index of its cell first."""
    if isinstance(instruction, CellAccess) and instruction.cell.index is not None:
        yield instruction.cell.index
    match instruction:
        case Assign(_, value) | Store(_, value) | FetchAdd(_, _, value) | Exchange(_, _, value):
            yield value
        case Branch(condition, _) | Assert(condition) | Assume(condition):
            yield condition
        case CompareExchange(_, _, expected, desired) | BlockingCompareExchange(_, expected, desired):
            yield expected
            yield desired
        case Wait(_, _, values):
            yield from values


def constants_in(code: Iterable[Instruction]) -> Iterator[int]:
    """Every number that the code mentions."""
    for instruction in code:
        for expression in expressions_of(instruction):
            yield from (part.value for part in subexpressions(expression) if isinstance(part, Constant))


def registers_of(instruction: Instruction) -> Iterator[str]:
    """The registers the instruction names outside its expressions."""
    match instruction:
        case Assign(register) | Verify(register) | Load(register):
            yield register
        case FetchAdd(register) | Exchange(register) | CompareExchange(register) | Wait(register) if (
            register is not None
        ):
            yield register


def with_expressions(instruction: Instruction, change: Callable[[Expression], Expression]) -> Instruction:
    """The instruction with `change` made to every expression that it evaluates."""
    changed: dict[str, object] = {
        name: change(getattr(instruction, name)) for name in _EXPRESSIONS.get(type(instruction), ())
    }
    if isinstance(instruction, Wait):
        changed["values"] = tuple(map(change, instruction.values))
    if isinstance(instruction, CellAccess) and instruction.cell.index is not None:
        changed["cell"] = Cell(instruction.cell.name, change(instruction.cell.index))
    return replace(instruction, **changed) if changed else instruction


def numbered_code(code: Sequence[Instruction], tid: int) -> tuple[Instruction, ...]:
    """The code as the thread with this number runs it."""
    return tuple(
        with_expressions(instruction, lambda expression: numbered(expression, tid)) for instruction in code
    )


def moved(instruction: Instruction, starts: Sequence[int]) -> Instruction:
    """The instruction in code where the instruction at pc is now at starts[pc]."""
    match instruction:
        case Branch(_, target) | Goto(target):
            return replace(instruction, target=starts[target])
        case Choose(targets):
            return replace(instruction, targets=tuple(starts[target] for target in targets))
        case _:
            return instruction
