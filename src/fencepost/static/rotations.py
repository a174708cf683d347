"""Values that wrap around and can all be moved on together: tickets, sequence numbers, indices of buffers.

A rotation is a renaming of values, `v` to `(v + step) % modulus`, in all cells and registers of one sort,
that maps the program to itself; the engine then needs only one of the states that it maps to each other.
Cells and registers between which values are moved, or whose values are compared, have one sort. Registers are
told apart by where they are, as in `symmetry`. If values of the sort are indices of an array, its cells are
moved on with them, unless they come back to the same cell.

How sorts are guessed does not matter for soundness: `_Check` evaluates every expression that reads values of
the sort with all of them, and with all of them moved on.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from functools import reduce
from math import prod

import msgspec
from msgspec.structs import replace

from fencepost.program import (
    Assert,
    Assign,
    Assume,
    Binary,
    Branch,
    Cell,
    CellAccess,
    Constant,
    DivisionByZeroError,
    Expression,
    Fence,
    FetchAdd,
    Instruction,
    Program,
    Register,
    Skip,
    Thread,
    ThreadId,
    Unary,
    evaluate,
    expressions_of,
    registers_in,
    subexpressions,
)
from fencepost.static.critical_values import StaleClasses, ValueClasses, stale_classes
from fencepost.static.flow import successors
from fencepost.static.liveness import assigned_register, live_registers
from fencepost.static.sorts import JoinedNodes, written_or_compared
from fencepost.static.symmetry import ThreadExchange

_LARGEST_MODULUS = 256
_MOST_EVALUATIONS = 1 << 16


class Rotation(msgspec.Struct, frozen=True):
    """The values of some cells, and of some registers at some instructions, moved on by `step`."""

    modulus: int
    step: int
    pivot: int  # the cell that says how far they have been moved
    cells: tuple[int, ...]
    registers: tuple[tuple[int, int, int], ...]  # thread, pc, register
    arrays: tuple[tuple[int, int], ...]  # first cell and size, of arrays whose cells are moved on

    def moved(self, value: int) -> int:
        return _moved_on(value, self.step, self.modulus)


def _moved_on(value: int, step: int, modulus: int) -> int:
    return (value + step) % modulus if value < modulus else value


def rotations(
    program: Program, stale: dict[str, StaleClasses], exchanges: Iterable[ThreadExchange] = ()
) -> list[Rotation]:
    """The finest rotation of each sort that has one, but for sorts in which `exchanges` rename values."""
    if not _computes_values(program):
        return []
    sorts = Sorts(program)
    kept = {x for exchange in exchanges for pair in exchange.cells for x in pair}
    renamed = {x for exchange in exchanges for values in exchange.values for x in values.cells}
    found: list[Rotation] = []
    for sort in sorts.computed():
        # No renaming may move the pivot of another.
        still = kept | {x for other in found for x in (other.pivot, *_moved_cells(other.arrays))}
        rotation = _finest(program, stale, sorts, sort, still)
        if rotation is None or renamed & set(rotation.cells):
            continue
        if not any(other.pivot in _moved_cells(rotation.arrays) for other in found):
            found.append(rotation)
    return found


def without_bounds(program: Program) -> Program | None:
    """The program without assumptions that tell how far values of a sort have come, if nothing else keeps the
    values from rotating. It has all runs of the program, and more."""
    assumes = any(isinstance(i, Assume) for thread in program.threads for i in thread.code)
    if not assumes or not _computes_values(program):
        return None
    stale = stale_classes(program)
    sorts = Sorts(program)
    bounds: dict[tuple[int, int], Instruction] = {}
    for sort in sorts.computed():
        found = _check_of(program, stale, sorts, sort, free=True)
        if found is not None:
            bounds |= found.bounds
    threads = tuple(
        replace(thread, code=tuple(bounds.get((t, pc), i) for pc, i in enumerate(thread.code)))
        for t, thread in enumerate(program.threads)
    )
    return replace(program, threads=threads) if bounds else None


def _moved_cells(arrays: Iterable[tuple[int, int]]) -> set[int]:
    return {x for first, size in arrays for x in range(first, first + size)}


def _computes_values(program: Program) -> bool:
    """Whether there may be sorts in which values are computed with: `Sorts` takes long to find that out."""
    return any(_computes(instruction) for thread in program.threads for instruction in thread.code)


def _computes(instruction: Instruction) -> bool:
    match instruction:
        case FetchAdd():
            return True
        case Assign(_, value):
            return isinstance(value, Binary)
        case _ if isinstance(instruction, CellAccess):
            return any(isinstance(value, Binary) for value in written_or_compared(instruction))
        case _:
            return False


class Sorts:
    """Which locations and registers have one sort: those between which values seem to be moved."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._joined = JoinedNodes()
        self._moduli: list[tuple[Hashable, int]] = []
        self._computed: list[Hashable] = []
        self.live = [live_registers(thread, frozenset()) for thread in program.threads]
        for t, thread in enumerate(program.threads):
            for pc, instruction in enumerate(thread.code):
                self._flow(t, pc, instruction)
                self._instruction(t, pc, instruction)

    def of_location(self, name: str) -> Hashable:
        return self._joined.of(("location", name))

    def of_result(self, t: int, pc: int, name: str) -> Hashable:
        return self._joined.of((t, pc, "result", name))

    def of_register(self, t: int, pc: int, name: str) -> Hashable:
        return self._joined.of((t, pc, name))

    def computed(self) -> list[Hashable]:
        """Sorts of locations in which values are computed with."""
        sorts = {self._joined.of(node) for node in self._computed}
        of_locations = dict.fromkeys(self.of_location(x.name) for x in self._program.locations)
        return [sort for sort in of_locations if sort in sorts]

    def moduli(self, sort: Hashable) -> list[int]:
        """With which values of a sort could wrap around, the largest first."""
        found = {modulus for node, modulus in self._moduli if self._joined.of(node) == sort}
        return sorted({self._program.modulus, *found}, reverse=True)

    def _join(self, nodes: Iterable[Hashable]) -> None:
        for a, b in itertools.pairwise(nodes):
            self._joined.join(a, b)

    def _flow(self, t: int, pc: int, instruction: Instruction) -> None:
        assigned = assigned_register(instruction)
        for after in successors(instruction, pc):
            for name in self.live[t][after]:
                source = (t, pc, "result", name) if name == assigned else (t, pc, name)
                self._join([source, (t, after, name)])

    def _instruction(self, t: int, pc: int, instruction: Instruction) -> None:
        for expression in expressions_of(instruction):
            for part in subexpressions(expression):
                if isinstance(part, Binary) and part.operator not in {"&&", "||"}:
                    self._compare(t, pc, part)
        if isinstance(instruction, Assign):
            self._move(t, pc, instruction.value, (t, pc, "result", instruction.register))
        if not isinstance(instruction, CellAccess):
            return
        location = ("location", instruction.cell.name)
        register = assigned_register(instruction)
        if register is not None:
            self._join([location, (t, pc, "result", register)])
        for value in written_or_compared(instruction):
            self._move(t, pc, value, location)
        if isinstance(instruction, FetchAdd) and instruction.value != Constant(0):
            self._computed.append(location)

    def _compare(self, t: int, pc: int, part: Binary) -> None:
        """The two sides of a comparison or a difference; and `x % modulus`, or `x & mask`."""
        if part.operator in ("==", "!=", "<", "<=", ">", ">=", "-"):
            self._join([*self._sources(t, pc, part.left), *self._sources(t, pc, part.right)])
        if part.operator in {"%", "&"} and isinstance(part.right, Constant):
            modulus = part.right.value + (part.operator == "&")
            self._moduli += [(node, modulus) for node in self._sources(t, pc, part.left)]

    def _move(self, t: int, pc: int, value: Expression, to: Hashable) -> None:
        sources = self._sources(t, pc, value)
        self._join([to, *sources])
        if sources and not isinstance(value, Register):
            self._computed.append(to)

    def _sources(self, t: int, pc: int, expression: Expression) -> list[Hashable]:
        """The register that the expression moves on, if it looks like that."""
        match expression:
            case Register(name):
                return [(t, pc, name)]
            case Binary("+", left, right):
                return self._sources(t, pc, left) or self._sources(t, pc, right)
            case Binary("-", left, right) if not any(registers_in(right)):
                return self._sources(t, pc, left)
            case Binary("%" | "&", Binary(), Constant()):  # `r % 2` alone looks at a value
                return self._sources(t, pc, expression.left)
            case _:
                return []


def _conjuncts(condition: Expression) -> Iterator[Expression]:
    if isinstance(condition, Binary) and condition.operator == "&&":
        yield from _conjuncts(condition.left)
        yield from _conjuncts(condition.right)
    else:
        yield condition


def _finest(
    program: Program, stale: dict[str, StaleClasses], sorts: Sorts, sort: Hashable, still: set[int]
) -> Rotation | None:
    """The rotation of a sort with the smallest step; its pivot is none of the cells to be left alone."""
    found = _check_of(program, stale, sorts, sort)
    return None if found is None else found.rotation(still)


def _check_of(
    program: Program, stale: dict[str, StaleClasses], sorts: Sorts, sort: Hashable, *, free: bool = False
) -> _Check | None:
    """With the smallest step with which values of the sort can be moved on; if they are to be `free`, without
    the assumptions that keep them from it."""
    for modulus in sorts.moduli(sort):
        if not 2 <= modulus <= min(_LARGEST_MODULUS, program.modulus):
            continue
        for step in (n for n in range(1, modulus // 2 + 1) if modulus % n == 0):
            check = _Check(program, sorts, sort, modulus, step)
            check.frees = free
            if check.maps_program_to_itself(stale):
                return check
    return None


def _cells_of(program: Program, name: str) -> range:
    first = program.first_cell[name]
    return range(first, first + len(program.location_named[name].initial))


class _FailsError(Exception):
    """An expression has no value, or one that is not followed."""


class _Check:
    """Whether a program stays the same if the values of a sort are moved on.

    Values of the sort are always below the modulus: those that are there at first, and those that any
    instruction makes of them.
    """

    def __init__(self, program: Program, sorts: Sorts, sort: Hashable, modulus: int, step: int) -> None:
        self._program = program
        self._sorts = sorts
        self._sort = sort
        self._modulus = modulus
        self._step = step
        self.locations = [x for x in program.locations if sorts.of_location(x.name) == sort]
        self._names = {location.name for location in self.locations}
        self.moved_arrays: set[str] = set()
        self.frees = False  # assumptions that the values do not keep are left out, and collected
        self.bounds: dict[tuple[int, int], Instruction] = {}
        self._thread: Thread = program.threads[0] if program.threads else Thread("", (), ())
        self._rotating: frozenset[str] = frozenset()
        self._at = (0, 0)
        self._known: dict[Hashable, bool] = {}

    def rotation(self, still: set[int]) -> Rotation | None:
        """With a cell for its pivot that stays where it is and is none of `still`, if there is one."""
        cells = tuple(x for location in self.locations for x in _cells_of(self._program, location.name))
        moved = [_cells_of(self._program, name) for name in sorted(self.moved_arrays)]
        arrays = tuple((of.start, len(of)) for of in moved)
        pivot = next((x for x in cells if x not in still | _moved_cells(arrays)), None)
        if pivot is None:
            return None
        return Rotation(self._modulus, self._step, pivot, cells, tuple(self._registers()), arrays)

    def _registers(self) -> Iterator[tuple[int, int, int]]:
        """Those of the sort that are live before an access."""
        for t, thread in enumerate(self._program.threads):
            for pc, instruction in enumerate(thread.code):
                if isinstance(instruction, CellAccess | Fence):
                    rotating = self._rotating_at(t, pc)
                    yield from ((t, pc, n) for n, name in enumerate(thread.registers) if name in rotating)

    def maps_program_to_itself(self, stale: dict[str, StaleClasses]) -> bool:
        if any(value >= self._modulus for location in self.locations for value in location.initial):
            return False
        for location in self.locations:
            classes = stale.get(location.name, StaleClasses())
            if not (self._keeps_classes(classes.plain) and self._keeps_classes(classes.free)):
                return False
        try:
            self.moved_arrays = {
                instruction.cell.name
                for instruction in self._each_instruction()
                if isinstance(instruction, CellAccess)
                and instruction.cell.index is not None
                and not self._finds_cell(instruction.cell, 0)
            }
            return all(self._keeps(instruction) for instruction in self._each_instruction())
        except _FailsError:
            return False

    def _each_instruction(self) -> Iterator[Instruction]:
        """One after the other; meanwhile expressions and registers are those there."""
        for t, thread in enumerate(self._program.threads):
            self._thread = thread
            for pc, instruction in enumerate(thread.code):
                self._rotating = self._rotating_at(t, pc)
                self._at = (t, pc)
                yield instruction

    def _must_rotate(self, register: str) -> bool | None:
        """Whether what the instruction assigns to the register is of the sort; None if nobody asks."""
        t, pc = self._at
        after = successors(self._program.threads[t].code[pc], pc)
        if not any(register in self._sorts.live[t][next_pc] for next_pc in after):
            return None
        return self._sorts.of_result(t, pc, register) == self._sort

    def _rotating_at(self, t: int, pc: int) -> frozenset[str]:
        live = self._sorts.live[t][pc]
        return frozenset(name for name in live if self._sorts.of_register(t, pc, name) == self._sort)

    def _keeps_classes(self, classes: ValueClasses) -> bool:
        return {self._moved(v) for v in classes.tracked} == set(classes.tracked)

    def _moved(self, value: int) -> int:
        return _moved_on(value, self._step, self._modulus)

    # Instructions.

    def _keeps(self, instruction: Instruction) -> bool:
        match instruction:
            case Assign(register, value):
                return (rotates := self._must_rotate(register)) is None or self._gives(value, rotates)
            case Assume(condition) if self.frees:
                self._free(condition)
                return True
            case Branch(condition) | Assert(condition) | Assume(condition):
                return self._decides(condition)
            case _ if isinstance(instruction, CellAccess):
                return self._keeps_access(instruction)
            case _:
                return True

    def _free(self, condition: Expression) -> None:
        """Of an assumption only that part is left which stays the same when the values are moved on."""
        parts = list(_conjuncts(condition))
        kept = [part for part in parts if self._decides(part)]
        if len(kept) == len(parts):
            return
        together = reduce(lambda left, right: Binary("&&", left, right), kept) if kept else None
        self.bounds[self._at] = Skip() if together is None else Assume(together)

    def _keeps_access(self, access: CellAccess) -> bool:
        cell = access.cell
        is_array = cell.index is not None or cell.name in self.moved_arrays
        if is_array and not self._finds_cell(cell, self._step if cell.name in self.moved_arrays else 0):
            return False
        rotates = cell.name in self._names
        if isinstance(access, FetchAdd):
            return self._adds(access) if rotates else self._gives(access.value, False)
        return all(self._gives(value, rotates) for value in written_or_compared(access))

    # Expressions.

    def _is_fixed(self, expression: Expression) -> bool:
        return self._rotating.isdisjoint(registers_in(expression))

    def _gives(self, expression: Expression, rotates: bool) -> bool:
        """Whether its value, as it is stored, is moved on; or if it does not rotate, stays the same."""
        if self._is_fixed(expression):
            return not rotates
        if isinstance(expression, Register):
            return rotates

        def same(value: int, after: int) -> bool:
            value, after = self._stored(value), self._stored(after)
            return value < self._modulus and after == self._moved(value) if rotates else after == value

        return self._holds(("gives", rotates), expression, same)

    def _is_exact(self, expression: Expression) -> bool:
        """Whether its value is moved on before it is taken modulo the value domain."""
        if self._is_fixed(expression):
            return False
        if isinstance(expression, Register):
            return True
        return self._holds(
            "exact", expression, lambda v, after: 0 <= v < self._modulus and after == self._moved(v)
        )

    def _decides(self, condition: Expression) -> bool:
        """Whether the condition is true after all values were moved on if it was true before."""
        if self._is_fixed(condition):
            return True
        match condition:
            case Unary("!", operand):
                return self._decides(operand)
            case Binary("&&" | "||", left, right):
                return self._decides(left) and self._decides(right)
            case Binary("==" | "!=", left, right) if self._is_exact(left) and self._is_exact(right):
                return True
            case _:
                return self._holds("decides", condition, lambda v, after: (v != 0) == (after != 0))

    def _finds_cell(self, cell: Cell, step: int) -> bool:
        """Whether the index finds the same cell, or the one that many cells further on."""
        size = len(self._program.location_named[cell.name].initial)
        if cell.index is None or self._is_fixed(cell.index):
            return step % size == 0
        if step != 0 and self._modulus % size != 0:
            return False

        def same(index: int, after: int) -> bool:
            if not 0 <= index < size:
                return not 0 <= after < size
            return after == (index + step) % size

        return self._holds(("finds", size, step), cell.index, same)

    def _adds(self, access: FetchAdd) -> bool:
        """Whether the sum with a value of the sort is moved on with that value."""
        if not self._is_fixed(access.value):
            return False
        if access.operator == "+" and self._modulus == self._program.modulus and self._program.wraps:
            return True

        def same(added: int, _: int) -> bool:
            added = self._stored(added)
            for old in range(self._modulus):
                value = self._stored(access.combined(old, added))
                after = self._stored(access.combined(self._moved(old), added))
                if value >= self._modulus or after != self._moved(value):
                    return False
            return True

        return self._holds(("adds", access.operator), access.value, same)

    def _stored(self, value: int) -> int:
        if self._program.wraps:
            return value % self._program.modulus
        if not 0 <= value <= self._program.max_value:
            raise _FailsError
        return value

    def _holds(self, what: Hashable, expression: Expression, same: Callable[[int, int], bool]) -> bool:
        """Whether a relation holds between the values of an expression before and after values are moved on,
        whatever they are. Where one of the two has no value, neither may have one."""
        names = tuple(sorted(set(registers_in(expression))))
        rotating = tuple(name in self._rotating for name in names)
        key = (what, expression, rotating, self._tid(expression))
        if key not in self._known:
            self._known[key] = self._try_all(expression, names, rotating, same)
        return self._known[key]

    def _tid(self, expression: Expression) -> int:
        return self._thread.tid if any(isinstance(p, ThreadId) for p in subexpressions(expression)) else 0

    def _try_all(
        self,
        expression: Expression,
        names: Sequence[str],
        rotating: Sequence[bool],
        same: Callable[[int, int], bool],
    ) -> bool:
        ranges = [range(self._modulus if rotates else self._program.modulus) for rotates in rotating]
        if prod(map(len, ranges)) > _MOST_EVALUATIONS:
            return False
        for values in itertools.product(*ranges):
            after = [self._moved(v) if rotates else v for v, rotates in zip(values, rotating, strict=True)]
            v, w = (self._value(expression, dict(zip(names, of, strict=True))) for of in (values, after))
            if v is None or w is None:
                if v is not w:
                    return False
            elif not same(v, w):
                return False
        return True

    def _value(self, expression: Expression, registers: dict[str, int]) -> int | None:
        try:
            return evaluate(expression, registers, self._thread.tid)
        except DivisionByZeroError:
            return None
