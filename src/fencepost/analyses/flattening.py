"""A coarser program in which one thread can meet at least what it meets in the given one (persist-2015, §10).

Flattening keeps one thread, the pivot, as it is, and of every other thread the first k accesses. After those,
only writes and read-modify-writes of the cells that matter are left, in any order that the control flow
allows whatever the values; of a thread that writes none of them, nothing is left at all. If no read of the
pivot can race there in the way that persistence forbids, none can in the program itself; so a program is
persistent if it is so for each of its threads as pivot.

The paper keeps written values as they are and takes the cells that the pivot reads for those that matter.
Both are too few where a thread's later writes depend on what it read, or where the first steps of another
thread read what a third one writes later. Here a value that depends on registers may be any that the thread
can compute, and the cells that the kept steps read matter too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate, product

from msgspec.structs import replace

from fencepost.engine._native import is_safe_pivot
from fencepost.engine.lower import Lowering
from fencepost.program import (
    BlockingCompareExchange,
    Branch,
    Cell,
    CellAccess,
    Choose,
    CompareExchange,
    Constant,
    Exchange,
    Expression,
    FetchAdd,
    Goto,
    Instruction,
    Program,
    Store,
    Thread,
    ThreadId,
    access_modes,
    expressions_of,
    moved,
    subexpressions,
)
from fencepost.static.flow import successors
from fencepost.static.possible_values import PossibleValues, Values

MOST_VARIANTS = 64  # of one access, by its values and its cell
MOST_STATES_ALONE = 100_000
_END = -1  # in place of a piece of code


class TooManyValuesError(Exception):
    """A value or an index could be almost anything, so that flattening is of no use."""


# One cell: the location's name and the index in it.
_CellId = tuple[str, int]


def flattened(program: Program, pivot: int, k: int) -> Program:
    """The coarser program; raises `TooManyValuesError`."""
    return _Flattening(program, pivot, k).program()


def unlike_threads(program: Program) -> list[int]:
    """One thread of each kind. Threads are alike if they have the same code and it does not ask for the
    thread's number; what holds with one of them as pivot holds with the others."""
    found: dict[object, int] = {}
    for number, thread in enumerate(program.threads):
        parts = (part for i in thread.code for e in expressions_of(i) for part in subexpressions(e))
        tid = thread.tid if any(isinstance(part, ThreadId) for part in parts) else None
        found.setdefault((thread.code, tid), number)
    return list(found.values())


def is_safe_alone(program: Program, pivot: int) -> bool:
    """Whether the pivot is safe even if the cells that the others write change at any time to any value that
    they write: the coarsest program of all. Raises `TooManyValuesError`."""
    written, held = _Flattening(program, pivot, 0).values_of_cells()
    cells = [(sorted(others), sorted(others | all_)) for others, all_ in zip(written, held, strict=True)]
    code = Lowering(program, monitored=False, store_buffers=True).plain
    return is_safe_pivot(code, pivot, [*cells, ([], [])], MOST_STATES_ALONE)


class _Flattening:
    def __init__(self, program: Program, pivot: int, k: int) -> None:
        self._program = program
        self._pivot = pivot
        self._k = k
        self._values = PossibleValues(program)
        self._matter: set[_CellId] = set()
        self._take_part = {pivot}  # threads
        while self._grows():
            pass

    def program(self) -> Program:
        threads = tuple(self._flat(number, thread) for number, thread in enumerate(self._program.threads))
        return replace(self._program, threads=threads)

    def _grows(self) -> bool:
        """Add the cells that are read in kept accesses of threads which take part, and the threads that write
        such cells. Returns whether there were any."""
        before = len(self._matter), len(self._take_part)
        for number, thread in enumerate(self._program.threads):
            if number in self._take_part:
                kept = range(len(thread.code)) if number == self._pivot else _first_accesses(thread, self._k)
                self._matter |= self._cells_of(thread, kept, part=0)
            elif self._cells_of(thread, range(len(thread.code)), part=1) & self._matter:
                self._take_part.add(number)
        return before != (len(self._matter), len(self._take_part))

    def _cells_of(self, thread: Thread, pcs: Iterable[int], part: int) -> set[_CellId]:
        """The cells that these instructions read (part 0) or write (part 1)."""
        accesses = (thread.code[pc] for pc in pcs)
        return {
            cell
            for access in accesses
            if isinstance(access, CellAccess) and access_modes(access)[part] is not None
            for cell in self._cells(thread, access.cell)
        }

    def values_of_cells(self) -> tuple[list[set[int]], list[set[int]]]:
        """Per cell, what threads other than the pivot write to it, and its initial value with what the pivot
        writes."""
        written: list[set[int]] = [set() for _ in self._program.cells]
        held: list[set[int]] = [{initial} for initial in self._program.initial_memory]
        for number, thread in enumerate(self._program.threads):
            values = held if number == self._pivot else written
            for access in thread.code:
                if isinstance(access, CellAccess) and access_modes(access)[1] is not None:
                    for name, index in self._cells(thread, access.cell):
                        values[self._program.first_cell[name] + index].update(self._written(thread, access))
        return written, held

    def _written(self, thread: Thread, access: CellAccess) -> Iterable[int]:
        match access:
            case Store(_, value) | Exchange(_, _, value):
                return self._possible(thread, value)
            case CompareExchange(_, _, _, desired) | BlockingCompareExchange(_, _, desired):
                return self._possible(thread, desired)
            case _:  # a sum
                return self._all_of(self._values.of_location(access.cell.name))

    def _cells(self, thread: Thread, cell: Cell) -> list[_CellId]:
        cells = len(self._program.location_named[cell.name].initial)
        if cell.index is None:
            return [(cell.name, 0)]
        values = self._values.of_expression(thread, cell.index)
        indices = range(cells) if values is None else (index for index in values if index < cells)
        return [(cell.name, index) for index in indices]

    def _flat(self, number: int, thread: Thread) -> Thread:
        """The thread as its first accesses and then a choice of writes; nothing if it takes no part."""
        if number == self._pivot:
            return thread
        if number not in self._take_part:
            return replace(thread, code=(), labels={})
        writes = [self._variants(thread, instruction) for instruction in thread.code]
        return replace(thread, code=_FlatCode(thread.code, self._k, writes).finished(), labels={})

    def _variants(self, thread: Thread, instruction: Instruction) -> list[Instruction]:
        """What is left of the instruction: the writes it may do to cells that matter."""
        if not isinstance(instruction, CellAccess) or access_modes(instruction)[1] is None:
            return []
        cells = [cell for cell in self._cells(thread, instruction.cell) if cell in self._matter]
        if not cells:
            return []
        match instruction:
            case Store(_, value) | FetchAdd(_, _, value) | Exchange(_, _, value):
                operands = [self._possible(thread, value)]
            case CompareExchange(_, _, expected, desired) | BlockingCompareExchange(_, expected, desired):
                operands = [self._possible(thread, expected), self._possible(thread, desired)]
            case _:
                raise AssertionError(f"{instruction} does not write")
        variants = list(product(cells, product(*operands)))
        if len(variants) > MOST_VARIANTS:
            raise TooManyValuesError
        return [self._variant(instruction, cell, values) for cell, values in variants]

    def _variant(self, access: CellAccess, at: _CellId, values: Sequence[int]) -> Instruction:
        name, index = at
        array = self._program.location_named[name].is_array
        cell = Cell(name, Constant(index) if array else None)
        constants = [Constant(value) for value in values]
        match access:
            case Store():
                return replace(access, cell=cell, value=constants[0])
            case FetchAdd() | Exchange():
                return replace(access, register=None, cell=cell, value=constants[0])
            case _:  # one that fails is a read
                expected, desired = constants
                return BlockingCompareExchange(cell, expected, desired, at=access.at)

    def _possible(self, thread: Thread, expression: Expression) -> list[int]:
        return self._all_of(self._values.of_expression(thread, expression))

    def _all_of(self, values: Values) -> list[int]:
        if values is None:
            if self._program.modulus > MOST_VARIANTS:
                raise TooManyValuesError
            values = frozenset(range(self._program.modulus))
        return sorted(values)


def _first_accesses(thread: Thread, k: int) -> set[int]:
    """The accesses that can be among the first k of the thread."""
    found: set[int] = set()
    now = {0}
    for _ in range(k):
        accesses = _met_first(thread.code, now, lambda pc: isinstance(thread.code[pc], CellAccess))
        found |= accesses
        now = {pc + 1 for pc in accesses}
    return found


def _met_first(code: Sequence[Instruction], starts: set[int], counts: Callable[[int], bool]) -> set[int]:
    """The instructions that count which are met first from `starts` on, whatever the values."""
    seen: set[int] = set()
    found: set[int] = set()
    todo = list(starts)
    while todo:
        pc = todo.pop()
        if pc in seen or pc == len(code):
            continue
        seen.add(pc)
        if counts(pc):
            found.add(pc)
        if not counts(pc) or isinstance(code[pc], CompareExchange):  # which may fail
            todo += successors(code[pc], pc)
    return found


# A piece of flat code: the instruction at a pc after so many accesses, or one of the writes that follow it.
_Piece = tuple[int, int] | tuple[int, int, int]


class _FlatCode:
    """The code of a flattened thread, written piece by piece, each when something jumps to it."""

    def __init__(self, code: Sequence[Instruction], k: int, writes: Sequence[Sequence[Instruction]]) -> None:
        self._code = code
        self._k = k
        self._writes = writes  # what is left of each instruction
        self._numbers: dict[_Piece, int] = {}
        self._todo: list[_Piece] = []

    def finished(self) -> tuple[Instruction, ...]:
        """All pieces one after the other, with the jumps between them in place."""
        self._at(0, 0)
        pieces = [self._written(piece) for piece in self._todo]  # grows on the way
        starts = [0, *accumulate(map(len, pieces))]
        return tuple(moved(instruction, starts) for piece in pieces for instruction in piece)

    def _at(self, accesses: int, pc: int) -> int:
        """The number of the piece that goes on at `pc` after so many accesses."""
        return _END if pc == len(self._code) else self._number((accesses, pc))

    def _number(self, piece: _Piece) -> int:
        if piece not in self._numbers:
            self._numbers[piece] = len(self._todo)
            self._todo.append(piece)
        return self._numbers[piece]

    def _written(self, piece: _Piece) -> Sequence[Instruction]:
        match piece:
            case (accesses, pc):
                return self._exactly(accesses, pc) if accesses < self._k else self._choice(pc)
            case (_, pc, number):
                return [self._writes[pc][number], Goto(self._at(self._k, pc + 1))]

    def _exactly(self, accesses: int, pc: int) -> Sequence[Instruction]:
        match self._code[pc]:
            case Goto(target):
                return [Goto(self._at(accesses, target))]
            case Choose(targets):
                return [Choose(tuple(self._at(accesses, target) for target in targets))]
            case Branch(condition, target):
                return [Branch(condition, self._at(accesses, target)), Goto(self._at(accesses, pc + 1))]
            case instruction:
                more = isinstance(instruction, CellAccess)
                return [instruction, Goto(self._at(accesses + more, pc + 1))]

    def _choice(self, pc: int) -> Sequence[Instruction]:
        """Any of the writes that can come next; each is followed by the same from there on."""
        following = _met_first(self._code, {pc}, lambda at: bool(self._writes[at]))
        writes = [
            (self._k, at, number) for at in sorted(following) for number in range(len(self._writes[at]))
        ]
        return [Choose(tuple(map(self._number, writes)))] if writes else [Goto(_END)]
