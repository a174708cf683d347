"""The programs whose verdicts the papers state, built directly.

A thread is written as a list of instructions over the locations x, y, z, f, the non-atomic location p and
the registers a, b, c, d.
"""

from __future__ import annotations

from fencepost.program import (
    Binary,
    BlockingCompareExchange,
    Branch,
    Cell,
    CompareExchange,
    Constant,
    Fence,
    FetchAdd,
    Instruction,
    Load,
    Location,
    Mode,
    Program,
    Register,
    Store,
    Thread,
    Wait,
)

REGISTERS = ("a", "b", "c", "d")


def program(
    *threads: list[Instruction], max_value: int = 3, atomic: str = "xyzf", non_atomic: str = ""
) -> Program:
    locations = [Location(name) for name in atomic] + [Location(name, atomic=False) for name in non_atomic]
    return Program(
        tuple(locations),
        tuple(Thread(f"t{place}", tuple(code), REGISTERS) for place, code in enumerate(threads)),
        max_value,
    )


def write(location: str, value: int, mode: Mode = Mode.RLX) -> Instruction:
    return Store(Cell(location), Constant(value), mode)


def read(register: str, location: str, mode: Mode = Mode.RLX) -> Instruction:
    return Load(register, Cell(location), mode)


def na_write(location: str, value: int) -> Instruction:
    return Store(Cell(location), Constant(value), Mode.NA)


def na_read(register: str, location: str) -> Instruction:
    return Load(register, Cell(location), Mode.NA)


def wait(location: str, *values: int, mode: Mode = Mode.RLX) -> Instruction:
    return Wait(None, Cell(location), tuple(Constant(value) for value in values), mode)


def fadd(location: str, value: int = 0, load: Mode = Mode.RLX, store: Mode = Mode.RLX) -> Instruction:
    return FetchAdd(None, Cell(location), Constant(value), load, store)


def cas(register: str, location: str, expected: int, desired: int) -> Instruction:
    return CompareExchange(register, Cell(location), Constant(expected), Constant(desired))


def bcas(location: str, expected: int, desired: int) -> Instruction:
    return BlockingCompareExchange(Cell(location), Constant(expected), Constant(desired))


def jump_unless(register: str, value: int, target: int) -> Instruction:
    return Branch(Binary("!=", Register(register), Constant(value)), target)


SC_FENCE = Fence(Mode.SC)

SB = program([write("x", 1), read("a", "y")], [write("y", 1), read("b", "x")])
SB_OF_ZEROS = program([write("x", 0), read("a", "y")], [write("y", 0), read("b", "x")])
MP = program([write("x", 1), write("y", 1)], [read("a", "y"), read("b", "x")])
IRIW = program(
    [write("x", 1)], [read("a", "x"), read("b", "y")], [read("c", "y"), read("d", "x")], [write("y", 1)]
)
TWO_PLUS_TWO_W = program(
    [write("x", 1), write("y", 2), read("a", "y")], [write("y", 1), write("x", 2), read("a", "x")]
)
TWO_PLUS_TWO_W_WITHOUT_READS = program([write("x", 1), write("y", 2)], [write("y", 1), write("x", 2)])
TWO_RMW = program([cas("a", "x", 0, 1)], [cas("b", "x", 0, 1)])
SB_RMWS = program([write("x", 1), fadd("f"), read("a", "y")], [write("y", 1), fadd("f"), read("b", "x")])
SB_FENCES = program([write("x", 1), SC_FENCE, read("a", "y")], [write("y", 1), SC_FENCE, read("b", "x")])
SB_ONE_FENCE = program([write("x", 1), SC_FENCE, read("a", "y")], [write("y", 1), read("b", "x")])
SB_OTHER_RMWS = program(
    [write("x", 1), fadd("f"), read("a", "y")], [write("y", 1), fadd("z"), read("b", "x")]
)
SB_ACQ_REL_FENCES = program(
    [write("x", 1), Fence(Mode.ACQ_REL), read("a", "y")], [write("y", 1), Fence(Mode.ACQ_REL), read("b", "x")]
)
BARRIER_WAIT = program([write("x", 1), wait("y", 1)], [write("y", 1), wait("x", 1)])
BARRIER_LOOP = program(
    [write("x", 1), read("a", "y"), jump_unless("a", 1, 1)],
    [write("y", 1), read("b", "x"), jump_unless("b", 1, 1)],
)
BARRIER_UNROLLED = program(
    [write("x", 1), read("a", "y"), jump_unless("a", 1, 3), wait("y", 1)],
    [write("y", 1), read("b", "x"), jump_unless("b", 1, 3), wait("x", 1)],
)
LOCK = program(
    [bcas("x", 0, 1), read("a", "y"), write("y", 1), write("x", 0)],
    [bcas("x", 0, 1), read("a", "y"), write("y", 2), write("x", 0)],
)
MP_NON_ATOMIC = program(
    [na_write("p", 1), write("y", 1)], [wait("y", 1), na_read("a", "p")], atomic="y", non_atomic="p"
)
MP_NON_ATOMIC_RACE = program(
    [na_write("p", 1), write("y", 1)], [read("a", "y"), na_read("b", "p")], atomic="y", non_atomic="p"
)

# Whether it is execution-graph robust against RA, and whether it is state robust.
VERDICTS = {
    "SB": (SB, False, False),
    "SB of zeros": (SB_OF_ZEROS, False, True),
    "MP": (MP, True, True),
    "IRIW": (IRIW, False, False),
    "2+2W": (TWO_PLUS_TWO_W, False, False),
    "2+2W without reads": (TWO_PLUS_TWO_W_WITHOUT_READS, False, True),
    "2RMW": (TWO_RMW, True, True),
    "SB+RMWs": (SB_RMWS, True, True),
    "SB+fences": (SB_FENCES, True, True),
    "SB+one fence": (SB_ONE_FENCE, False, False),
    "SB+RMWs on two locations": (SB_OTHER_RMWS, False, False),
    "SB+acq_rel fences": (SB_ACQ_REL_FENCES, False, False),
    "barrier with wait": (BARRIER_WAIT, True, True),
    "barrier unrolled": (BARRIER_UNROLLED, False, False),
    "lock": (LOCK, True, True),
}
