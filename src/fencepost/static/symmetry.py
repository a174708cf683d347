"""Threads that can be exchanged: equal up to a renaming of the locations and values that are their own.

An exchange of two threads is a renaming of threads, cells and values that maps the program to itself; the
engine then needs only one of two states that it maps to each other. Values are renamed by *sort*: cells and
registers between which values are moved or compared share a sort, and a sort in which values are computed
with is rigid, none of its values is renamed. Registers are told apart by where they are, since one register
often holds values of different sorts one after the other.

How exchanges are guessed does not matter for their soundness: `_is_symmetry` checks each of them on the whole
program.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Sequence
from itertools import pairwise

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
    Choose,
    Constant,
    Expression,
    Fence,
    FetchAdd,
    Goto,
    Instruction,
    Program,
    Register,
    Thread,
    ThreadId,
    Unary,
    Verify,
    access_modes,
    read_mode,
)
from fencepost.static.critical_values import StaleClasses, ValueClasses
from fencepost.static.flow import successors
from fencepost.static.liveness import live_registers
from fencepost.static.sorts import JoinedNodes, written_or_compared

_RIGID: Hashable = "rigid"
_FEW = 8


class RenamedValues(msgspec.Struct, frozen=True):
    """Two values that change places in some cells, and in some registers at some instructions."""

    first: int
    second: int
    cells: tuple[int, ...]
    registers: tuple[tuple[int, int, int], ...]  # thread, pc, register


class ThreadExchange(msgspec.Struct, frozen=True):
    """What changes places when two threads do."""

    first: int
    second: int
    cells: tuple[tuple[int, int], ...]
    values: tuple[RenamedValues, ...]


def exchanges(program: Program, stale: dict[str, StaleClasses]) -> list[ThreadExchange]:
    """Exchanges of neighbours in groups of threads, group by group; all exchanges in a group follow."""
    groups: list[list[int]] = []
    by_form: dict[Hashable, list[int]] = defaultdict(list)
    forms = [_Form(program, number) for number in range(len(program.threads))]
    for number, form in enumerate(forms):
        by_form[form.shape].append(number)

    def is_group(threads: list[int]) -> bool:
        return _found(program, stale, forms, [*groups, threads]) is not None

    if len(by_form) == len(forms):
        return []
    for alike in by_form.values():
        if len(alike) > 1 and is_group(alike):
            groups.append(alike)
        elif 2 < len(alike) <= _FEW:
            groups.extend(_groups_among(alike, is_group))
    return _found(program, stale, forms, groups) or []


def _groups_among(threads: list[int], is_group: Callable[[list[int]], bool]) -> Iterator[list[int]]:
    """Groups of some of them; greedily, since there is seldom more than one."""
    while len(threads) > 1:
        group = threads[:1]
        for other in threads[1:]:
            if is_group([*group, other]):
                group.append(other)
        if len(group) > 1:
            yield group
        threads = [thread for thread in threads if thread not in group]


def _found(
    program: Program, stale: dict[str, StaleClasses], forms: Sequence[_Form], groups: Sequence[list[int]]
) -> list[ThreadExchange] | None:
    sorts = _Sorts(program, forms, groups)
    found = []
    for group in groups:
        own = _own(group, forms, sorts)
        for n, (first, second) in enumerate(pairwise(group)):
            renaming = _Renaming(first, second)
            for cells in own.cells:
                renaming.exchange_cells(cells[n], cells[n + 1])
            for sort, values in own.values:
                renaming.exchange_values(sort, values[n], values[n + 1])
            if not _is_symmetry(renaming, program, stale, forms, sorts):
                return None
            found.append(renaming.as_exchange(program, forms, sorts))
    return found


class _Form:
    """A thread's code as a shape, and what the shape leaves open: its cells and constants in their order.

    Each constant stands at a node; `joined` are pairs of nodes between which values are moved or compared.
    Nodes of a thread are (thread, kind, …); those of cells and `_RIGID` belong to no thread.
    """

    def __init__(self, program: Program, number: int) -> None:
        self._program = program
        self._number = number
        self._thread: Thread = program.threads[number]
        self._pc = 0
        self._register = {name: n for n, name in enumerate(self._thread.registers)}
        self.live = live_registers(self._thread, frozenset())
        self.cells: list[int] = []
        self.constants: list[tuple[Hashable, int]] = []
        self.joined: list[tuple[Hashable, Hashable]] = []
        self.nodes: list[Hashable] = []
        shapes = [self._instruction(pc, i) for pc, i in enumerate(self._thread.code)]
        self.shape: Hashable = (len(self._thread.registers), tuple(shapes))

    def _live(self, pc: int) -> list[str]:
        return [name for name in self._thread.registers if name in self.live[pc]]

    def _node(self, *parts: Hashable) -> Hashable:
        node = (self._number, *parts)
        self.nodes.append(node)
        return node

    def _before(self, pc: int, register: str) -> Hashable:
        return self._node("register", pc, self._register[register])

    def _instruction(self, pc: int, instruction: Instruction) -> Hashable:
        self._pc = pc
        assigned = getattr(instruction, "register", None) if not isinstance(instruction, Verify) else None
        for next_pc in successors(instruction, pc):
            for register in self._live(next_pc):
                source = self._node("result", pc) if register == assigned else self._before(pc, register)
                self.joined.append((source, self._before(next_pc, register)))
        target = None if assigned is None else self._register[assigned]
        return (type(instruction).__name__, target, self._operands(instruction))

    def _operands(self, instruction: Instruction) -> Hashable:
        match instruction:
            case Assign(_, value):
                return self._value(value, self._node("result", self._pc))
            case Branch(condition, target):
                return (self._test(condition), target)
            case Assert(condition) | Assume(condition):
                return self._test(condition)
            case Goto(target):
                return target
            case Choose(targets):
                return targets
            case Fence(mode):
                return mode
            case Verify(register):
                return self._register[register]
            case _ if isinstance(instruction, CellAccess):
                return self._access(instruction)
            case _:
                return None

    def _access(self, access: CellAccess) -> Hashable:
        cell, index = self._cell(access.cell)
        added: Hashable = None
        if isinstance(access, FetchAdd):
            if access.value != Constant(0) or access.operator == "&":
                self.joined.append((cell, _RIGID))
            added = (access.operator, self._test(access.value))
        if getattr(access, "register", None) is not None:
            self.joined.append((cell, self._node("result", self._pc)))
        values = tuple(self._value(value, cell) for value in written_or_compared(access))
        return (index, _modes(access), added, values)

    def _cell(self, cell: Cell) -> tuple[Hashable, Hashable]:
        """Its node, and its shape. An array with a computed index stays as it is."""
        first = self._program.first_cell[cell.name]
        size = len(self._program.location_named[cell.name].initial)
        index = self._thread.tid if isinstance(cell.index, ThreadId) else 0
        if isinstance(cell.index, Constant):
            index = cell.index.value
        if isinstance(cell.index, Constant | ThreadId | None) and index < size:
            self.cells.append(first + index)
            return ("cell", first + index), None
        self.cells.extend(range(first, first + size))
        self.joined.extend((("cell", x), ("cell", first)) for x in range(first, first + size))
        return ("cell", first), (cell.name, None if cell.index is None else self._test(cell.index))

    def _value(self, expression: Expression, node: Hashable) -> Hashable:
        """An expression whose value goes to, or is compared with, what is at the node."""
        match expression:
            case Constant(value):
                return self._constant(node, value)
            case ThreadId():
                return self._constant(node, self._thread.tid)
            case Register(name):
                self.joined.append((node, self._before(self._pc, name)))
                return ("register", self._register[name])
            case _:
                self.joined.append((node, _RIGID))
                return self._test(expression)

    def _test(self, expression: Expression) -> Hashable:
        """An expression with whose value something is computed."""
        match expression:
            case Unary(operator, operand):
                return (operator, self._test(operand))
            case Binary("==" | "!=" as operator, left, right) if _is_atom(left) and _is_atom(right):
                node = self._node("compared", len(self.constants), len(self.joined))
                return (operator, self._value(left, node), self._value(right, node))
            case Binary(operator, left, right):
                return (operator, self._test(left), self._test(right))
            case _:
                return self._value(expression, _RIGID)

    def _constant(self, node: Hashable, value: int) -> Hashable:
        self.constants.append((node if value <= self._program.max_value else _RIGID, value))
        return "constant"


def _modes(access: CellAccess) -> Hashable:
    return (*access_modes(access), read_mode(access, writes=False))


def _is_atom(expression: Expression) -> bool:
    return isinstance(expression, Constant | ThreadId | Register)


class _Sorts:
    """Which nodes have one sort: those that are joined, and those that groups of threads have in common."""

    def __init__(self, program: Program, forms: Sequence[_Form], groups: Sequence[list[int]]) -> None:
        self._joined = JoinedNodes()
        for form in forms:
            for a, b in form.joined:
                self._joined.join(a, b)
        for group in groups:
            first = forms[group[0]]
            for other in (forms[number] for number in group[1:]):
                for a, b in zip(first.nodes, other.nodes, strict=True):
                    self._joined.join(a, b)
                for x, y in zip(first.cells, other.cells, strict=True):
                    self._joined.join(("cell", x), ("cell", y))
        self.of_cells = [self.of(("cell", x)) for x in range(len(program.cells))]

    def of(self, node: Hashable) -> Hashable:
        return self._joined.of(node)

    def is_rigid(self, sort: Hashable) -> bool:
        return sort == self.of(_RIGID)


class _Own(msgspec.Struct):
    """Cells and values of which each thread of a group has its own, in the order of the threads."""

    cells: list[tuple[int, ...]] = msgspec.field(default_factory=list)
    values: list[tuple[Hashable, tuple[int, ...]]] = msgspec.field(default_factory=list)


def _own(group: Sequence[int], forms: Sequence[_Form], sorts: _Sorts) -> _Own:
    own = _Own()
    members = [forms[number] for number in group]
    met: set[tuple[Hashable, int]] = set()

    def is_new(sort: Hashable, entries: tuple[int, ...]) -> bool:
        keys = {(sort, entry) for entry in entries}
        if len(keys) < len(group) or keys & met:
            return False
        met.update(keys)
        return True

    for cells in zip(*(form.cells for form in members), strict=True):
        if is_new("cells", cells):
            own.cells.append(cells)
    for constants in zip(*(form.constants for form in members), strict=True):
        sort = sorts.of(constants[0][0])
        values = tuple(value for _, value in constants)
        if not sorts.is_rigid(sort) and is_new(sort, values):
            own.values.append((sort, values))
    return own


class _Renaming:
    """An exchange of two threads, and what it does to cells and values."""

    def __init__(self, first: int, second: int) -> None:
        self._threads = {first: second, second: first}
        self._cells: dict[int, int] = {}
        self._values: dict[tuple[Hashable, int], int] = {}

    def exchange_cells(self, x: int, y: int) -> None:
        self._cells |= {x: y, y: x}

    def exchange_values(self, sort: Hashable, v: int, w: int) -> None:
        self._values |= {(sort, v): w, (sort, w): v}

    def thread(self, t: int) -> int:
        return self._threads.get(t, t)

    def cell(self, x: int) -> int:
        return self._cells.get(x, x)

    def value(self, sort: Hashable, v: int) -> int:
        return self._values.get((sort, v), v)

    def values(self, sort: Hashable, classes: ValueClasses) -> ValueClasses:
        return replace(classes, tracked=tuple(sorted(self.value(sort, v) for v in classes.tracked)))

    def as_exchange(self, program: Program, forms: Sequence[_Form], sorts: _Sorts) -> ThreadExchange:
        first, second = self._threads
        renamed = tuple(
            RenamedValues(v, w, *_places_of(sort, program, forms, sorts))
            for (sort, v), w in self._values.items()
            if v < w
        )
        cells = tuple((x, y) for x, y in self._cells.items() if x < y)
        return ThreadExchange(first, second, cells, renamed)


def _places_of(
    sort: Hashable, program: Program, forms: Sequence[_Form], sorts: _Sorts
) -> tuple[tuple[int, ...], tuple[tuple[int, int, int], ...]]:
    """The cells of a sort, and its registers that are live before an access."""
    cells = tuple(x for x, own in enumerate(sorts.of_cells) if own == sort)
    registers = tuple(
        (t, pc, n)
        for t, thread in enumerate(program.threads)
        for pc, instruction in enumerate(thread.code)
        if isinstance(instruction, CellAccess | Fence)
        for n, name in enumerate(thread.registers)
        if name in forms[t].live[pc] and sorts.of((t, "register", pc, n)) == sort
    )
    return cells, registers


def _is_symmetry(
    renaming: _Renaming,
    program: Program,
    stale: dict[str, StaleClasses],
    forms: Sequence[_Form],
    sorts: _Sorts,
) -> bool:
    """Whether renaming the program gives the same program.

    Initial values may differ: then a state is replaced by one that the program would reach from other initial
    values, which shows the same.
    """
    for t, form in enumerate(forms):
        image = forms[renaming.thread(t)]
        if form.shape != image.shape or [renaming.cell(x) for x in form.cells] != image.cells:
            return False
        for (node, v), (node_of_image, w) in zip(form.constants, image.constants, strict=True):
            sort = sorts.of(node)
            if sort != sorts.of(node_of_image) or renaming.value(sort, v) != w:
                return False
    locations = [location for location in program.locations for _ in location.initial]
    for x, location in enumerate(locations):
        y, sort = renaming.cell(x), sorts.of_cells[x]
        if location.atomic != locations[y].atomic or sort != sorts.of_cells[y]:
            return False
        before = stale.get(location.name, StaleClasses())
        renamed = StaleClasses(renaming.values(sort, before.plain), renaming.values(sort, before.free))
        if renamed != stale.get(locations[y].name, StaleClasses()):
            return False
    return True
