"""Random programs in which some threads are alike: copies of one, with other locations or values."""

from __future__ import annotations

import random
from typing import TypeVar

import msgspec
from msgspec.structs import replace

from fencepost.program import Cell, Constant, Position, Program, Thread
from tests.strategies import random_program

T = TypeVar("T")


def program_with_copies(
    source: random.Random, *, loop_free: bool, modes: bool, sc_accesses: bool = False
) -> Program:
    """Two or three copies of a thread, and often one that is different. In a copy the first two locations may
    have changed places, and so may two values."""
    drawn = random_program(
        source,
        loop_free=loop_free,
        threads=(1, 2),
        most_accesses=3,
        modes=modes,
        sc_accesses=sc_accesses,
    )
    original, *others = drawn.threads
    names = [location.name for location in drawn.locations if location.atomic and not location.is_array]
    cells = dict(zip(names[:2], reversed(names[:2]), strict=True)) if source.random() < 0.4 else {}
    copies = source.choice([2, 2, 3])
    shift = source.random() < 0.4
    modulus = drawn.max_value + 1
    threads = [
        Thread(
            f"c{n}",
            renamed(
                original.code,
                cells if n % 2 else {},
                {v: (v + n) % modulus for v in range(modulus)} if shift else {},
            ),
            original.registers,
        )
        for n in range(copies)
    ]
    return replace(drawn, threads=(*threads, *others[:1]))


def renamed(part: T, cells: dict[str, str], values: dict[int, int]) -> T:
    """A piece of a program with other names for cells and other constants."""
    match part:
        case Constant(value):
            return Constant(values.get(value, value))
        case Cell(name, index):
            return Cell(cells.get(name, name), index)
        case tuple():
            return tuple(renamed(piece, cells, values) for piece in part)
        case _ if isinstance(part, msgspec.Struct) and not isinstance(part, Position):
            pieces = {name: renamed(getattr(part, name), cells, values) for name in part.__struct_fields__}
            return replace(part, **pieces)
        case _:
            return part
