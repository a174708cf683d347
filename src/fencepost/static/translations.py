"""Values of which only differences matter, and which only grow on the whole: indices of queues and deques.

From a program, one with more runs is made in which such values can be moved back together after each step, so
that how far they have come does not matter. It is good for a proof that nothing is found: what is found
there may need runs that the program does not have. `docs/engine.md`, "Translation", has the rules, in the
order of this file, and says why they are enough.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import reduce

import msgspec
from msgspec.structs import replace

from fencepost.program import (
    Assert,
    Assign,
    Assume,
    Binary,
    Branch,
    CellAccess,
    Choose,
    CompareExchange,
    Constant,
    Expression,
    Fence,
    Instruction,
    Load,
    Location,
    Program,
    Register,
    Skip,
    Store,
    Thread,
    Unary,
    Verify,
    constants_in,
    expressions_of,
    negated,
    registers_in,
)
from fencepost.static.constants import with_constants
from fencepost.static.flow import successors
from fencepost.static.intervals import Interval, interval_of
from fencepost.static.liveness import assigned_register, live_registers
from fencepost.static.register_uses import may_divide_by_zero
from fencepost.static.rewriting import Flow, with_early_branches
from fencepost.static.rotations import Sorts

_LARGEST_MODULUS = 256
# How far below the pivot values are fresh: they stand for themselves.
_FRESH = 2


class Translation(msgspec.Struct, frozen=True):
    """A program whose values in some cells and registers are moved back after each step, so that the `pivot`
    is `base` again. Up to `stale`, values that differ by multiples of `period` are alike."""

    program: Program
    base: int
    stale: int
    period: int
    pivot: int
    cells: tuple[int, ...]
    registers: tuple[tuple[int, int, int], ...]  # thread, pc, register
    arrays: tuple[tuple[int, int], ...]  # first cell and size, of arrays whose cells are moved on


def translation(program: Program) -> Translation | None:
    """With the first pivot that is one, if any is."""
    if program.templates or not program.wraps:
        return None
    simpler = _simplified(program)
    sorts = Sorts(simpler)
    for sort in sorts.computed():
        for location in simpler.locations:
            if location.is_array or sorts.of_location(location.name) != sort:
                continue
            try:
                return _Attempt(simpler, sorts, location).translation()
            except _NoneError:
                continue
    return None


class _NoneError(Exception):
    """The values of the sort cannot be moved."""


def _require(holds: bool) -> None:
    if not holds:
        raise _NoneError


# What does not matter for robustness is left out.


def _simplified(program: Program) -> Program:
    """Without assertions, assignments and branches that nothing depends on, and values that nobody uses."""
    program = replace(with_constants(program), condition=None, tracking=())
    threads = tuple(_without_assertions(thread) for thread in program.threads)
    while True:
        program = _without_unused_values(replace(program, threads=threads))
        threads = tuple(_without_dead_code(thread) for thread in program.threads)
        if threads == program.threads:
            break
    threads = tuple(map(with_early_branches, threads))
    return replace(program, threads=tuple(map(_without_dead_code, threads)))


def _without_assertions(thread: Thread) -> Thread:
    code = tuple(
        Skip(at=i.at) if isinstance(i, Assert) and not may_divide_by_zero(i) else i for i in thread.code
    )
    return replace(thread, code=code)


def _without_dead_code(thread: Thread) -> Thread:
    live = live_registers(thread, frozenset())
    code = tuple(
        Skip(at=i.at)
        if isinstance(i, Assign) and i.register not in live[pc + 1] and not may_divide_by_zero(i)
        else i
        for pc, i in enumerate(thread.code)
    )
    return Flow(replace(thread, code=code)).thread()


def _without_unused_values(program: Program) -> Program:
    """Where nobody uses what is read from a location, nothing but 0 is written to it."""
    used: set[str] = set()
    for thread in program.threads:
        live = live_registers(thread, frozenset())
        for pc, i in enumerate(thread.code):
            if not isinstance(i, CellAccess) or isinstance(i, Store):
                continue
            if not isinstance(i, Load) or i.register in live[pc + 1]:
                used.add(i.cell.name)

    def without(i: Instruction) -> Instruction:
        unused = (
            isinstance(i, Store) and i.cell.name not in used and not may_divide_by_zero(Assign("", i.value))
        )
        return replace(i, value=Constant(0)) if unused else i

    locations = tuple(
        x if x.name in used else replace(x, initial=(0,) * len(x.initial)) for x in program.locations
    )
    threads = tuple(replace(t, code=tuple(map(without, t.code))) for t in program.threads)
    return replace(program, locations=locations, threads=threads)


# Sums.


class _Sum(msgspec.Struct, frozen=True):
    """A sum of registers, each with a factor other than 0, and a constant."""

    factors: tuple[tuple[str, int], ...]
    constant: int


def _sum(expression: Expression) -> _Sum | None:
    match expression:
        case Constant(value):
            return _Sum((), value)
        case Register(name):
            return _Sum(((name, 1),), 0)
        case Unary("-", operand):
            return None if (of := _sum(operand)) is None else _added(_Sum((), 0), of, -1)
        case Unary("+", operand):
            return _sum(operand)
        case Binary("+" | "-", left, right):
            a, b = _sum(left), _sum(right)
            return None if a is None or b is None else _added(a, b, 1 if expression.operator == "+" else -1)
        case _:
            return None


def _added(a: _Sum, b: _Sum, times: int) -> _Sum:
    factors = dict(a.factors)
    for name, factor in b.factors:
        factors[name] = factors.get(name, 0) + times * factor
    kept = tuple((name, factor) for name, factor in sorted(factors.items()) if factor != 0)
    return _Sum(kept, a.constant + times * b.constant)


_COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")


class _Attempt:
    def __init__(self, program: Program, sorts: Sorts, pivot: Location) -> None:
        self._pivot = pivot
        self._take(program, sorts)
        self._names = {x.name for x in program.locations if sorts.of_location(x.name) == self._sort}
        self._moved: dict[str, int] = {}  # arrays
        self._reach = 0  # the largest number that a difference is compared with

    def _take(self, program: Program, sorts: Sorts) -> None:
        self._program = program
        self._sorts = sorts
        self._sort = sorts.of_location(self._pivot.name)

    def translation(self) -> Translation:
        for t, thread in enumerate(self._program.threads):
            _require(not self._of_sort(t, 0) if thread.code else True)
            _Overflow(self, t, thread).check()
        for t, pc, i in self._each():
            self._check(t, pc, i)
        for name, size in self._moved.items():
            location = self._program.location_named[name]
            _require(len(set(location.initial)) == 1 and len(location.initial) == size)
            _require(
                all(
                    i.cell.name != name or self._residue(t, pc, i.cell.index) is not None
                    for t, pc, i in self._each()
                    if isinstance(i, CellAccess)
                )
            )
        return self._translated()

    def _each(self) -> Iterator[tuple[int, int, Instruction]]:
        for t, thread in enumerate(self._program.threads):
            for pc, i in enumerate(thread.code):
                yield t, pc, i

    def _of_sort(self, t: int, pc: int) -> frozenset[str]:
        """The live registers with values of the sort."""
        if pc >= len(self._sorts.live[t]):
            return frozenset()
        live = self._sorts.live[t][pc]
        return frozenset(name for name in live if self._sorts.of_register(t, pc, name) == self._sort)

    def _reads(self, t: int, pc: int, expression: Expression) -> bool:
        return not self._of_sort(t, pc).isdisjoint(registers_in(expression))

    # Every use of values of the sort is one of those that are followed.

    def _check(self, t: int, pc: int, i: Instruction) -> None:
        register = assigned_register(i)
        live_after = any(register in self._sorts.live[t][n] for n in successors(i, pc))
        gets = live_after and self._sorts.of_result(t, pc, register or "") == self._sort
        match i:
            case Assign(_, value):
                if gets:
                    self._made(t, pc, value)
                else:
                    _require(not self._reads(t, pc, value))
            case Branch(condition) | Assume(condition):
                for atom in _atoms(condition):
                    self._compared(t, pc, atom)
            case Verify(name):
                _require(name not in self._of_sort(t, pc))
            case Assert(condition):
                _require(not self._reads(t, pc, condition))
            case _ if isinstance(i, CellAccess):
                self._access(t, pc, i, gets=gets)
            case _:
                pass

    def _access(self, t: int, pc: int, i: CellAccess, *, gets: bool) -> None:
        of_sort = i.cell.name in self._names
        if i.cell.index is not None and self._reads(t, pc, i.cell.index):
            size = self._residue(t, pc, i.cell.index)
            _require(size == len(self._program.location_named[i.cell.name].initial))
            assert size is not None
            self._moved[i.cell.name] = size
        if not of_sort:
            others = [e for e in expressions_of(i) if e is not i.cell.index]
            _require(not gets and not any(self._reads(t, pc, e) for e in others))
            return
        match i:
            case Load():
                pass
            case Store(_, value):
                _require(i.cell.name != self._pivot.name)
                self._made(t, pc, value)
            case CompareExchange(_, _, Register(name), desired):
                _require(i.cell.name == self._pivot.name and name in self._of_sort(t, pc))
                by = _sum(desired)
                _require(by is not None and by.factors == ((name, 1),) and by.constant == 1)
            case _:
                raise _NoneError

    def _made(self, t: int, pc: int, value: Expression) -> int:
        """A value of the sort, with a constant added: which one."""
        of = _sum(value)
        if of is None or len(of.factors) != 1:
            raise _NoneError
        ((name, factor),) = of.factors
        _require(factor == 1 and name in self._of_sort(t, pc))
        return of.constant

    def _residue(self, t: int, pc: int, index: Expression | None) -> int | None:
        match index:
            case Binary("%", Register(name), Constant(size)) if name in self._of_sort(t, pc) and size > 0:
                return size
            case _:
                return None

    def _compared(self, t: int, pc: int, atom: Expression) -> _Sum | None:
        """The difference that a comparison asks for; none if its answer depends on how far values have come,
        or on none of the sort."""
        if not self._reads(t, pc, atom):
            return None
        if not isinstance(atom, Binary) or atom.operator not in _COMPARISONS:
            return None
        left, right = _sum(atom.left), _sum(atom.right)
        if left is None or right is None:
            return None
        difference = _added(left, right, -1)
        of_sort = self._of_sort(t, pc)
        factors = [factor for name, factor in difference.factors if name in of_sort]
        if sum(factors) != 0 or any(abs(factor) != 1 for factor in factors) or len(factors) != 2:
            return None
        if any(name not in of_sort for name, _ in difference.factors):
            return None
        self._reach = max(self._reach, abs(difference.constant))
        return difference

    # The program with more runs.

    def _translated(self) -> Translation:
        freed = self._rewritten(self._free)
        self._take(freed, Sorts(freed))
        period = reduce(max, self._moved.values(), 1)
        _require(all(period % size == 0 for size in self._moved.values()))
        stale = period - 1
        self._base = base = stale + _FRESH
        self._stale = stale
        first = self._pivot.initial[0]
        self._first = first
        reach = max(self._reach, period) + _FRESH + 1
        largest = max((c for _, _, i in self._each() for c in constants_in([i])), default=0)
        modulus = base + reach
        modulus = max(modulus, largest + 1)
        modulus = (modulus + period - 1) // period * period
        # Where other values wrap around in the program, they leave the range here.
        _require(modulus <= min(_LARGEST_MODULUS, self._program.modulus))

        def initial(x: Location) -> Location:
            if x.name not in self._names:
                _require(max(x.initial) < modulus)
                return x
            values = tuple(value - first + base for value in x.initial)
            _require(min(values) >= 0 and max(values) < modulus)
            return replace(x, initial=values)

        locations = tuple(map(initial, self._program.locations))
        checked = self._rewritten(self._checks)
        checked = replace(checked, locations=locations, max_value=modulus - 1, wraps=False)
        self._take(checked, Sorts(checked))
        first_cell = checked.first_cell
        cells = [
            first_cell[x.name] + n for x in locations if x.name in self._names for n in range(len(x.initial))
        ]
        registers = [
            (t, pc, n)
            for t, pc, i in self._each()
            if isinstance(i, CellAccess | Fence)
            for n, name in enumerate(checked.threads[t].registers)
            if name in self._of_sort(t, pc)
        ]
        arrays = [(first_cell[name], size) for name, size in sorted(self._moved.items())]
        pivot = first_cell[self._pivot.name]
        return Translation(checked, base, stale, period, pivot, tuple(cells), tuple(registers), tuple(arrays))

    def _rewritten(self, rewrite: Callable[[Flow, int, int], None]) -> Program:
        threads = []
        for t, thread in enumerate(self._program.threads):
            flow = Flow(thread)
            self._registers = list(thread.registers)
            for node in list(flow.instruction):
                rewrite(flow, t, node)
            threads.append(replace(flow.thread(), registers=tuple(self._registers)))
        return replace(self._program, threads=tuple(threads))

    def _free(self, flow: Flow, t: int, node: int) -> None:
        """Where a condition asks how far values have come, either answer is given."""
        match flow.instruction[node]:
            case Branch(condition) as branch:
                must, may = (self._loosened(t, node, condition, to) for to in (False, True))
                if must == may:
                    return
                target, after = flow.after[node]
                either = flow.add(Choose((0, 0), at=branch.at), (target, after))
                never = flow.add(replace(branch, condition=Unary("!", may)), (after, either))
                flow.instruction[node] = replace(branch, condition=must)
                flow.after[node] = (target, never)
            case Assume(condition) as assume:
                flow.instruction[node] = replace(assume, condition=self._loosened(t, node, condition, True))
            case _:
                pass

    def _loosened(self, t: int, pc: int, condition: Expression, to: bool) -> Expression:
        match condition:
            case Unary("!", operand):
                return Unary("!", self._loosened(t, pc, operand, not to))
            case Binary("&&" | "||", left, right):
                a, b = (self._loosened(t, pc, side, to) for side in (left, right))
                return Binary(condition.operator, a, b)
            case _ if self._reads(t, pc, condition) and self._compared(t, pc, condition) is None:
                return Constant(int(to))
            case _:
                return condition

    # What must hold is asserted.

    def _checks(self, flow: Flow, t: int, node: int) -> None:
        match flow.instruction[node]:
            case Branch(condition) | Assume(condition):
                flow.put_before(
                    node, [Assert(e) for a in _atoms(condition) for e in self._agreeing(t, node, a)]
                )
            case Assign(_, value) if self._reads(t, node, value):
                flow.put_before(node, map(Assert, self._making(value)))
            case Store(cell, value) as store if cell.name in self._names and not isinstance(value, Register):
                name = f"{cell.name}'"
                if name not in self._registers:
                    self._registers.append(name)
                flow.instruction[node] = replace(store, value=Register(name))
                flow.put_before(node, [*map(Assert, self._making(value)), Assign(name, value)])
            case _:
                pass

    def _is_stale(self, name: str) -> Expression:
        return Binary("<=", Register(name), Constant(self._stale))

    def _making(self, value: Expression) -> Iterator[Expression]:
        of = _sum(value)
        assert of is not None
        ((name, _),) = of.factors
        if of.constant != 0:
            yield Unary("!", self._is_stale(name))
        if of.constant < 0:
            yield Binary(">=", value, Constant(self._base - self._first))

    def _agreeing(self, t: int, pc: int, atom: Expression) -> Iterator[Expression]:
        """Where a register is stale, the answer is the same for all values that it stands for."""
        difference = self._compared(t, pc, atom)
        if difference is None:
            return
        assert isinstance(atom, Binary)
        value = Binary("-", atom.left, atom.right)
        for name, factor in difference.factors:
            weakly = atom.operator in (("<=", ">") if factor > 0 else ("<", ">="))
            sign = ("<" if factor > 0 else ">") + ("=" if weakly else "")
            yield Binary("||", Unary("!", self._is_stale(name)), Binary(sign, value, Constant(0)))
        first, second = (self._is_stale(name) for name, _ in difference.factors)
        yield Unary("!", Binary("&&", first, second))


def _atoms(condition: Expression) -> Iterator[Expression]:
    match condition:
        case Unary("!", operand):
            yield from _atoms(operand)
        case Binary("&&" | "||", left, right):
            yield from _atoms(left)
            yield from _atoms(right)
        case _:
            yield condition


class _Overflow:
    """Whether no value that a thread makes of the sort is above the domain, by the conditions that it has
    passed: how large each register can be at most."""

    def __init__(self, attempt: _Attempt, t: int, thread: Thread) -> None:
        self._attempt = attempt
        self._t = t
        self._thread = thread
        self._max = attempt._program.max_value
        self._most: list[dict[str, int] | None] = [None] * (len(thread.code) + 1)

    def check(self) -> None:
        todo = [0]
        self._most[0] = dict.fromkeys(self._thread.registers, self._max)
        while todo:
            pc = todo.pop()
            if pc == len(self._thread.code):
                continue
            for after, most in self._steps(pc):
                known = self._most[after]
                joined = most if known is None else {r: max(n, known[r]) for r, n in most.items()}
                if joined != known:
                    self._most[after] = joined
                    todo.append(after)

    def _steps(self, pc: int) -> Iterator[tuple[int, dict[str, int]]]:
        most = self._most[pc]
        assert most is not None
        match self._thread.code[pc]:
            case Branch(condition, target):
                yield target, self._refined(most, condition, True)
                yield pc + 1, self._refined(most, condition, False)
            case i:
                for value in self._made(pc, i):
                    _require(self._high(most, value) <= self._max)
                register = assigned_register(i)
                after = dict(most)
                if isinstance(i, Assume):
                    after = self._refined(most, i.condition, True)
                elif isinstance(i, Assign):
                    after[i.register] = min(self._high(most, i.value), self._max)
                    if self._high(most, i.value) > self._max or not self._attempt._reads(
                        self._t, pc, i.value
                    ):
                        after[i.register] = self._max
                elif register is not None:
                    after[register] = self._max
                for to in successors(i, pc):
                    yield to, after

    def _made(self, pc: int, i: Instruction) -> Iterator[Expression]:
        attempt = self._attempt
        match i:
            case Assign(_, value) if attempt._reads(self._t, pc, value):
                yield value
            case Store(cell, value) if cell.name in attempt._names:
                yield value
            case CompareExchange(_, cell, _, desired) if cell.name in attempt._names:
                yield desired
            case _:
                pass

    def _high(self, most: dict[str, int], value: Expression) -> int:
        return interval_of(value, lambda name: Interval(0, most[name])).high

    def _refined(self, most: dict[str, int], condition: Expression, truth: bool) -> dict[str, int]:
        match condition:
            case Unary("!", operand):
                return self._refined(most, operand, not truth)
            case Binary("&&" | "||", left, right) if (condition.operator == "&&") == truth:
                return self._refined(self._refined(most, left, truth), right, truth)
            case Binary(operator, left, right) if operator in _COMPARISONS:
                if not truth:
                    denied = negated(condition)
                    assert isinstance(denied, Binary)
                    operator = denied.operator
                refined = dict(most)
                for a, b, less, sharply in ((left, right, "<", "<="), (right, left, ">", ">=")):
                    if isinstance(a, Register) and operator in (less, sharply, "=="):
                        high = self._high(most, b) - (operator == less)
                        refined[a.name] = min(refined[a.name], high)
                return refined
            case _:
                return most
