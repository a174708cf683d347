"""How the values of a program are kept in C: types, and locations that wrap around where C's would not.

Registers are signed numbers of the smallest type that holds every intermediate value of every expression, so
that C computes as TPL does, mathematically; what is stored is taken modulo `max_value` + 1. Locations are
unsigned. C's fetch-add wraps around at the end of its type, TPL's FADD at the end of the domain, so that a
location that FADD can take out of its domain is kept otherwise:

    exact     the value itself
    counted   any number that is the value modulo `max_value` + 1; reads reduce it
    shifted   the value in the upper bits of the type, where both ends are one; the domain is a power of two

Reads and writes alone would do with `counted`. Instructions that compare need one number for one value.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from typing import NamedTuple

from fencepost.program import (
    BlockingCompareExchange,
    CellAccess,
    CompareExchange,
    Exchange,
    Expression,
    FetchAdd,
    Location,
    Program,
    Store,
    Thread,
    Wait,
    expressions_of,
)
from fencepost.program.spelling import format_instruction
from fencepost.static.flow import in_loops
from fencepost.static.intervals import Interval, covering_interval, domain_interval

# The largest domain whose sums 64 bits hold for as long as one would wait.
_MOST_COUNTED = 1 << 32


class Kept(NamedTuple):
    """How a location is kept: its type, whether reads reduce it, and by how much values are multiplied."""

    type: str
    counted: bool = False
    unit: int = 1


class Values:
    """The types and ranges of one program."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.modulus = program.modulus
        self.wraps_by_mask = self.modulus & (self.modulus - 1) == 0
        self.number = self._number_type()

    def literal(self, value: int) -> str:
        """`value` as a number of the registers' type."""
        match self.number:
            case "int":
                return str(value)
            case "long long":
                return f"{value}LL"
            case _:
                return f"(__int128){value}ULL"

    def range(self, expression: Expression, threads: tuple[Thread, ...]) -> Interval:
        """The values that `expression` can have in the code that `threads` share."""
        ranges = (domain_interval(expression, self.program.max_value, thread.tid) for thread in threads)
        return reduce(Interval.joined, ranges)

    def kept(self, location: Location) -> Kept:
        """How to keep `location`; raises `InputError` if C has no fetch-add that does what its FADD does."""
        bits = _bits(self.program.max_value)
        exact = Kept(f"uint{bits}_t")
        fetches = [i for _, i in self._accesses(location) if isinstance(i, FetchAdd)]
        adding = [i for i in fetches if i.operator == "+"]
        combining = [i for i in fetches if i.operator not in "+&" or (i.operator == "&" and adding)]
        if combining and not self.wraps_by_mask:
            spelled = format_instruction(combining[0])
            message = f"in C, `{spelled}` needs a max_value that is a power of two less one"
            raise self.program.mistake(message, combining[0].at)
        if not adding or self.modulus == 1 << bits or self._stays_inside(location):
            return exact
        comparing = (CompareExchange, BlockingCompareExchange, Wait)
        if not any(isinstance(i, comparing) for _, i in self._accesses(location)):
            if self.wraps_by_mask:
                return exact._replace(counted=True)
            if self.modulus <= _MOST_COUNTED:
                return Kept("uint64_t", counted=True)
        if self.wraps_by_mask:
            return exact._replace(unit=(1 << bits) // self.modulus)
        message = (
            f"`{location.name}` wraps around at {self.modulus}, which C's atomic_fetch_add cannot do; "
            "use a max_value that is a power of two less one"
        )
        raise self.program.mistake(message, adding[0].at)

    def _accesses(self, location: Location) -> Iterator[tuple[Thread, CellAccess]]:
        for thread in self.program.threads:
            for instruction in thread.code:
                if isinstance(instruction, CellAccess) and instruction.cell.name == location.name:
                    yield thread, instruction

    def _stays_inside(self, location: Location) -> bool:
        """Whether all additions together, each made once, cannot leave the domain."""
        highest, added = max(location.initial), 0
        for thread, access in self._accesses(location):
            match access:
                case FetchAdd(_, _, _, _, _, "|" | "^"):
                    return False
                case FetchAdd(_, _, _, _, _, "&"):
                    pass
                case FetchAdd(_, _, value):
                    if in_loops(thread.code):
                        return False
                    added += self._highest(value, thread)
                case Store(_, value) | Exchange(_, _, value):
                    highest = max(highest, self._highest(value, thread))
                case CompareExchange(_, _, _, value) | BlockingCompareExchange(_, _, value):
                    highest = max(highest, self._highest(value, thread))
        return highest + added <= self.program.max_value

    def _highest(self, expression: Expression, thread: Thread) -> int:
        """The highest number that storing the value of `expression` can store."""
        found = self.range(expression, (thread,))
        return found.high if found.low >= 0 else self.program.max_value

    def _number_type(self) -> str:
        covered = Interval(0, self.modulus)
        for thread in self.program.threads:
            for instruction in thread.code:
                for expression in expressions_of(instruction):
                    found = covering_interval(expression, self.program.max_value, thread.tid)
                    covered = covered.joined(found)
                    if not covered.fits(128):
                        message = (
                            "the value of this expression can exceed 127 bits; lower max_value or simplify it"
                        )
                        raise self.program.mistake(message, instruction.at)
        return "int" if covered.fits(32) else "long long" if covered.fits(64) else "__int128"


def _bits(max_value: int) -> int:
    return next(bits for bits in (8, 16, 32, 64) if max_value < 1 << bits)
