"""Which values a C litmus test needs, and how its numbers are those of a `Program`.

The numbers of C are signed and, as far as a litmus test goes, unbounded; those of a `Program` are
0..max_value and stored modulo max_value + 1. The domain is the smallest 2**k values that hold

- every number in the code, the initial values and the final condition, and
- everything that arithmetic can store: an instruction outside of loops adds to that once, and a value that
  can grow without end in a loop, or beyond 2**32, wraps around in a domain of at least 256 values.

If some stored value may be negative, the domain has a half for those: -1 is stored as max_value, and so on.
Equality of what is stored needs no care then. Where a register that may be negative meets another operator
that looks at more than the value modulo max_value + 1, `to_program` turns it back into a signed number: `r`
becomes `r - (r > h) * (max_value + 1)`, h the largest number of the positive half. `from_program` undoes it.

A header line `MaxValue=n`, which is ours, sets the domain; then all numbers are those of a `Program`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

from fencepost.program import (
    Assert,
    Assign,
    Assume,
    Binary,
    BlockingCompareExchange,
    Branch,
    Cell,
    CompareExchange,
    Constant,
    Exchange,
    Expression,
    FetchAdd,
    Instruction,
    Load,
    Register,
    Store,
    Unary,
    Wait,
    constants_in,
    with_expressions,
    with_operands,
)
from fencepost.static.flow import in_loops
from fencepost.static.intervals import ZERO, Interval, combined, interval_of

Code = tuple[Instruction, ...]

_WRAPPING_BITS = 8
_LARGEST_SUM = 2**32
_FEWEST_ROUNDS, _MOST_ROUNDS = 8, 100
_MOST_STEPS = 100_000

# A cell, or a register and the number of its thread.
_Variable = str | tuple[int, str]

# Their value modulo 2**k needs no more of their operands.
_REMAINDER_OPERATORS = ("+", "-", "*", "&", "|", "^")


class Numbers(NamedTuple):
    """A test as C means it: the code of its threads, its initial values, and those it is asked about."""

    threads: tuple[Code, ...]
    initial: Mapping[str, int]
    compared: tuple[int, ...] = ()


class Domain(NamedTuple):
    """The values of a program, whether half of them are negative, and each thread's negative registers."""

    max_value: int
    signed: bool
    negative: tuple[frozenset[str], ...]


def domain_of(numbers: Numbers) -> Domain:
    """The domain that the test needs."""
    ranges = _stored_ranges(numbers.threads, numbers.initial)
    known = [*constants_in(chain(*numbers.threads)), *numbers.initial.values(), *numbers.compared]
    bounds = [bound for stored in ranges.all() for bound in (stored.low, stored.high)]
    finite = [0, *known, *(bound for bound in bounds if abs(bound) < _LARGEST_SUM)]
    low, high = min(finite), max(finite)
    signed = low < 0 or any(bound < 0 for bound in bounds)
    bits = max(high.bit_length(), (-low - 1).bit_length() if low < 0 else 0) + signed
    if any(abs(bound) >= _LARGEST_SUM for bound in bounds):
        bits = max(bits, _WRAPPING_BITS)
    return Domain((1 << max(bits, 1)) - 1, signed, ranges.negative_registers())


def to_program(code: Code, thread: int, domain: Domain) -> Code:
    """The code of thread number `thread` in the arithmetic of a `Program` with that domain."""
    if not domain.signed:
        return code
    arithmetic = _Arithmetic(domain.max_value, domain.negative[thread])
    return tuple(arithmetic.instruction(instruction) for instruction in code)


def from_program(code: Code, max_value: int) -> Code:
    """The code from which `to_program` made this one, if half of the values are negative."""
    return tuple(with_expressions(i, lambda e: _undone(e, max_value)) for i in code)


def signed(value: int, max_value: int) -> int:
    """The number that is stored as `value` where half of the values are negative."""
    return value if value <= max_value >> 1 else value - max_value - 1


class _Arithmetic(NamedTuple):
    """Expressions of C as those of a program with these values, half of them negative."""

    max_value: int
    negative: frozenset[str]

    def instruction(self, instruction: Instruction) -> Instruction:
        convert = self._truth if isinstance(instruction, Branch | Assert | Assume) else self._remainder
        return with_expressions(instruction, convert)

    def _remainder(self, expression: Expression) -> Expression:
        """An expression with the same value modulo max_value + 1."""
        match expression:
            case Constant() | Register():
                return expression
            case Unary("-" | "+"):
                return with_operands(expression, self._remainder)
            case Binary(operator) if operator in _REMAINDER_OPERATORS:
                return with_operands(expression, self._remainder)
            case _:
                return self._exact(expression)

    def _truth(self, expression: Expression) -> Expression:
        """An expression that is 0 exactly where this one is."""
        return expression if isinstance(expression, Register) else self._exact(expression)

    def _exact(self, expression: Expression) -> Expression:
        """An expression with the same value."""
        match expression:
            case Register(name) if name in self.negative:
                return _signed_register(expression, self.max_value)
            case Unary("!") | Binary("&&" | "||"):
                return with_operands(expression, self._truth)
            case Binary("==" | "!=" as operator, left, right):
                first, second = self._stored(left), self._stored(right)
                if first is not None and second is not None:
                    return Binary(operator, first, second)
                return with_operands(expression, self._exact)
            case _:
                return with_operands(expression, self._exact)

    def _stored(self, expression: Expression) -> Expression | None:
        """A register or a number as it is stored; None for all other expressions."""
        match expression:
            case Constant() | Register():
                return expression
            case Unary("-", Constant(value)) if value > 0:
                return Constant(self.max_value + 1 - value)
            case _:
                return None


def _signed_register(register: Register, max_value: int) -> Expression:
    is_negative = Binary(">", register, Constant(max_value >> 1))
    return Binary("-", register, Binary("*", is_negative, Binary("+", Constant(max_value), Constant(1))))


def _undone(expression: Expression, max_value: int) -> Expression:
    match expression:
        case Binary("-", Register() as register, _) if expression == _signed_register(register, max_value):
            return register
        case Constant(value) if value > max_value >> 1:
            return Unary("-", Constant(max_value + 1 - value))
        case _:
            return with_operands(expression, lambda operand: _undone(operand, max_value))


# --- between which numbers does everything lie that is stored?
#
# The order of instructions is ignored, except that one outside of loops runs at most once. So what is stored
# comes from the initial values by copying, by any number of computations inside loops, and by at most as many
# computations outside of loops as there are. Intervals that do not settle soon are widened to `_LARGEST_SUM`.


class _StoredRanges:
    def __init__(self, threads: int, ranges: Mapping[_Variable, Interval]) -> None:
        self._threads = threads
        self._ranges = ranges

    def all(self) -> Iterator[Interval]:
        return iter(self._ranges.values())

    def negative_registers(self) -> tuple[frozenset[str], ...]:
        """For each thread the registers that may be negative."""
        found: list[set[str]] = [set() for _ in range(self._threads)]
        for variable, stored in self._ranges.items():
            if isinstance(variable, tuple) and stored.low < 0:
                found[variable[0]].add(variable[1])
        return tuple(map(frozenset, found))


def _stored_ranges(threads: Sequence[tuple[Instruction, ...]], initial: Mapping[str, int]) -> _StoredRanges:
    once: list[_Update] = []
    freely: list[_Update] = []
    for number, code in enumerate(threads):
        looping = in_loops(code)
        for index, instruction in enumerate(code):
            for update in _updates(number, instruction):
                copies = update.added_to is None and isinstance(
                    update.value, Constant | Register | _CellValue
                )
                (freely if copies or index in looping else once).append(update)
    analysis = _Analysis(initial)
    analysis.run(once, list(dict.fromkeys(freely)))
    return _StoredRanges(len(threads), analysis.ranges)


class _CellValue(NamedTuple):
    """The value of a cell, which the expressions of a program cannot name."""

    name: str


class _Update(NamedTuple):
    """`variable` gets the value of an expression in that thread, combined with that of `added_to` if any."""

    variable: _Variable
    thread: int
    value: Expression | _CellValue
    added_to: _Variable | None = None
    operator: str = "+"


def _updates(thread: int, instruction: Instruction) -> Iterator[_Update]:
    match instruction:
        case Assign(register, value):
            yield _Update((thread, register), thread, value)
        case Load(str(register), cell) | Wait(str(register), cell):
            yield _read(thread, register, cell)
        case Store(cell, value):
            yield _Update(cell.name, thread, value)
        case FetchAdd(register, cell, value, _, _, operator):
            if register is not None:
                yield _read(thread, register, cell)
            yield _Update(cell.name, thread, value, cell.name, operator)
        case Exchange(register, cell, value) | CompareExchange(register, cell, _, value):
            if register is not None:
                yield _read(thread, register, cell)
            yield _Update(cell.name, thread, value)
        case BlockingCompareExchange(cell, _, value):
            yield _Update(cell.name, thread, value)


def _read(thread: int, register: str, cell: Cell) -> _Update:
    return _Update((thread, register), thread, _CellValue(cell.name))


class _Analysis:
    def __init__(self, initial: Mapping[str, int]) -> None:
        self.ranges: dict[_Variable, Interval] = {
            name: Interval(value, value).limited(_LARGEST_SUM) for name, value in initial.items()
        }

    def run(self, once: list[_Update], freely: list[_Update]) -> None:
        self._settle(freely)
        times, once = len(once), list(dict.fromkeys(once))
        most = _rounds([*once, *freely])
        for _ in range(min(times, most)):
            if not self._apply(once):
                return
            self._settle(freely)
        if times > most:
            self._settle([*once, *freely])

    def _settle(self, updates: list[_Update]) -> None:
        rounds, most = 0, min(len(updates), _rounds(updates))
        while self._apply(updates, widen=rounds > most):
            rounds += 1

    def _apply(self, updates: list[_Update], *, widen: bool = False) -> bool:
        """Let every update happen once, all from the same state; whether that changed anything."""
        found: dict[_Variable, Interval] = {}
        for update in updates:
            before = self._stored(update.variable)
            after = found.get(update.variable, before).joined(self._result(update))
            found[update.variable] = after.widened(before, _LARGEST_SUM) if widen else after
        changed = any(self._stored(variable) != after for variable, after in found.items())
        self.ranges.update(found)
        return changed

    def _stored(self, variable: _Variable) -> Interval:
        return self.ranges.get(variable, ZERO)

    def _result(self, update: _Update) -> Interval:
        value = update.value
        if isinstance(value, _CellValue):
            return self._stored(value.name)
        result = interval_of(
            value, lambda register: self._stored((update.thread, register)), bound=_LARGEST_SUM
        )
        if update.added_to is None:
            return result
        return combined(update.operator, self._stored(update.added_to), result).limited(_LARGEST_SUM)


def _rounds(updates: list[_Update]) -> int:
    """How many rounds these updates get to settle in."""
    return min(max(_MOST_STEPS // max(len(updates), 1), _FEWEST_ROUNDS), _MOST_ROUNDS)
