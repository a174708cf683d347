"""Random programs without loops in which values are used: by conditions, or because `verify` says so.

`with_uses` adds uses to programs of `tests.strategies`. `validated_reads` are like sequence locks, often with
a step too weak, too many, or missing: writers change data between two stores to a counter, and readers use
the data they have read if the counter has not moved.
"""

import random

from msgspec.structs import replace

from fencepost.formats.tpl import read
from fencepost.memory_models import MODELS
from fencepost.program import (
    Assign,
    Assume,
    Binary,
    Cell,
    Constant,
    Fence,
    FetchAdd,
    Instruction,
    Load,
    Location,
    Mode,
    Program,
    Register,
    Skip,
    Store,
    Thread,
    Verify,
)
from tests.strategies import random_program

# What can be done with the register r into which a load has read.
USES = [
    "verify(r);",
    "assert(r == r);",
    "assume(r == 0);",
    "if (r == 1) { skip; }",
    "r = 1 / (r + 1) + r / (2 - r);",
    "z.store(r);",
    "a[r].store(1);",
    "CAS(z, r, 1);",
    "wait(z, r);",
    "r = r + 1; verify(r);",
]
NO_USES = ["skip;", "r = 1; verify(r);", "r = r + 1;", "r = r / 1;", "r = z.load(); verify(r);"]


def store_buffering(left: str = "", right: str | None = None, *, stored: int = 1) -> Program:
    """Two threads that may both miss the other's store, and what they do with what they have read: both the
    same unless it is said for each."""
    return read(f"""
max_value 1;
global x, y, z, a[2];
fn left {{ local r; x.store({stored}, rel); r = y.load(acq); {left} }}
fn right {{ local r; y.store({stored}, rel); r = x.load(acq); {left if right is None else right} }}
""")


def observed_program(seed: int, model: str) -> Program:
    """For models that tell modes apart, most programs are drawn so that modes matter."""
    source, row = random.Random(seed), MODELS[model]
    if seed % 2:
        return validated_reads(source, sc_accesses=row.ordered_by_s)
    modes = not row.synchronises and seed % 8 != 0
    return with_uses(random_program(source, modes=modes, sc_accesses=row.ordered_by_s), source)


def with_uses(program: Program, source: random.Random) -> Program:
    code: dict[str, tuple[Instruction, ...]] = {}  # of each family: copies have the same
    for thread in program.threads:
        code.setdefault(thread.family, (*thread.code, *_uses(source, thread.registers)))
    threads = tuple(replace(thread, code=code[thread.family]) for thread in program.threads)
    return replace(program, threads=threads)


def _uses(source: random.Random, registers: tuple[str, ...]) -> list[Instruction]:
    uses: list[Instruction] = []
    for name in registers:
        match source.randrange(10):
            case 0 | 1 | 2 | 3:
                uses.append(Verify(name))
            case 4:
                uses.append(Assume(Binary("==", Register(name), Constant(source.randrange(2)))))
            case 5:
                uses.append(Assign(source.choice(registers), Register(name)))
    return uses


def validated_reads(source: random.Random, *, sc_accesses: bool) -> Program:
    data = ("x", "y") if source.random() < 0.6 else ("x",)
    writers = 2 if source.random() < 0.2 else 1
    readers = 2 if writers == 1 and source.random() < 0.25 else 1
    threads = [_Writer(source, data, sc_accesses).thread(f"w{n}") for n in range(writers)]
    threads += [_Reader(source, data, sc_accesses).thread(f"r{n}") for n in range(readers)]
    return Program(tuple(Location(name) for name in ("s", *data)), tuple(threads), max_value=2)


class _Writer:
    registers: tuple[str, ...] = ()

    def __init__(self, source: random.Random, data: tuple[str, ...], sc_accesses: bool) -> None:
        self.source = source
        self.data = data
        self.strongest = 0.25 if sc_accesses else 0
        self.code: list[Instruction] = []

    def thread(self, name: str) -> Thread:
        self.write()
        return Thread(name, tuple(self.code) or (Skip(),), self.registers)

    def write(self) -> None:
        self.perhaps(0.7, self.store("s", 1), fence=0.3)
        for name in self.data:
            self.perhaps(0.85, self.store(name, 1 if self.chance(0.8) else 2), fence=0.3)
        self.perhaps(0.85, self.store("s", 2))

    def perhaps(self, chance: float, *instructions: Instruction, fence: float = 0) -> None:
        if self.chance(chance):
            self.code += instructions
            if self.chance(fence):
                self.code.append(Fence(self.source.choice([Mode.ACQ, Mode.REL, Mode.ACQ_REL, Mode.SC])))

    def store(self, name: str, value: int) -> Store:
        return Store(Cell(name), Constant(value), self.released())

    def acquired(self) -> Mode:
        return self.mode(Mode.ACQ)

    def released(self) -> Mode:
        return self.mode(Mode.REL)

    def mode(self, strong: Mode) -> Mode:
        if self.strongest and self.chance(self.strongest):
            return Mode.SC
        return strong if self.chance(0.5) else Mode.RLX

    def chance(self, chance: float) -> bool:
        return self.source.random() < chance


class _Reader(_Writer):
    registers = ("before", "b", "c", "after")

    def write(self) -> None:
        before, after = Register("before"), Register("after")
        self.perhaps(0.9, self.load("before", "s"), fence=0.3)
        self.perhaps(0.5, Assume(Binary("!=", before, Constant(1))))
        for register, name in zip("bc", self.data, strict=False):
            self.perhaps(0.9, self.load(register, name), fence=0.3)
        self.perhaps(0.2, Assign(self.source.choice(self.registers), Register(self.source.choice("bc"))))
        modes = self.acquired(), self.released()
        if Mode.SC in modes:  # then as a whole
            modes = Mode.SC, Mode.SC
        again = FetchAdd("after", Cell("s"), Constant(0), *modes)
        self.perhaps(0.9, again if self.chance(0.33) else self.load("after", "s"))
        self.perhaps(0.8, Assume(Binary("==", before, after)))
        self.perhaps(0.8, Verify("b"))
        self.perhaps(0.8, Verify("c"))
        self.perhaps(0.15, self.store(self.source.choice(("s", *self.data)), 1))

    def load(self, register: str, name: str) -> Load:
        return Load(register, Cell(name), self.acquired())
