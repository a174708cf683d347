"""Which values a C litmus test needs, and how its numbers are those of a `Program`.

The numbers of C are signed and, as far as a litmus test goes, unbounded; those of a `Program` are 0..max_value
and stored modulo max_value + 1. The domain is the smallest 2**k values that hold

- every number in the code, the initial values and the final condition, and
- everything that arithmetic can store: an instruction outside of loops adds to that once, and a value that
  can grow without end in a loop, or beyond 2**32, wraps around in a domain of at least 256 values.

If some stored value may be negative, the domain has a half for those: -1 is stored as max_value, and so on.
Equality of what is stored needs no care then. Where a register that may be negative meets another operator
that looks at more than the value modulo max_value + 1, `to_program` turns it back into a signed number: `r`
becomes `r - (r > h) * (max_value + 1)`, h the largest number of the positive half. `from_program` undoes this.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import product
from typing import NamedTuple

from holdfast.program import (
    Assert,
    Assign,
    Assume,
    Binary,
    BlockingCompareExchange,
    Branch,
    CellAccess,
    CompareExchange,
    Constant,
    Exchange,
    Expression,
    FetchAdd,
    Goto,
    Instruction,
    Load,
    Register,
    Store,
    ThreadId,
    Unary,
    Wait,
    expressions_of,
    falls_through,
    jump_targets,
    registers_of,
    subexpressions,
)

Code = tuple[Instruction, ...]

_LARGEST_SUM = 2**32
_WRAPPING_BITS = 8


class Numbers(NamedTuple):
    """A test as C means it: its code, and the numbers in its initial values and its final condition."""

    threads: tuple[Code, ...]
    initial: dict[str, int]
    compared: tuple[int, ...] = ()


class Domain(NamedTuple):
    """The values of a program, and for each thread the registers that may be negative."""

    max_value: int
    negative: tuple[frozenset[str], ...]

    @property
    def signed(self) -> bool:
        return bool(self.half)

    @property
    def half(self) -> int:
        """The largest number of the positive half; 0 if there are no negative numbers."""
        return 0


class _Unused:
    pass
