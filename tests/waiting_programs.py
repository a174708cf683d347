"""Random programs in which threads often wait for ever: some loads become waits, some stores `BCAS`, and some
programs do nothing but take locks. As in `tests.strategies`, drawn by Hypothesis or, faster, from a seed."""

from random import Random

from hypothesis import strategies as st
from msgspec.structs import replace

from fencepost.program import (
    BlockingCompareExchange,
    Cell,
    Constant,
    Instruction,
    Load,
    Location,
    Mode,
    Position,
    Program,
    Store,
    Thread,
    Wait,
)
from tests.strategies import Choices, DrawnChoices, RandomChoices, programs, random_program


def waiting_program(seed: int, *, loop_free: bool = True) -> Program:
    source = Random(seed)
    choices = RandomChoices(source)
    if choices.chance(25):
        return _locking(choices)
    return _waiting(choices, random_program(source, loop_free=loop_free, threads=(2, 3), most_accesses=3))


@st.composite
def waiting_programs(draw: st.DrawFn, *, loop_free: bool = True) -> Program:
    choices = DrawnChoices(draw)
    if choices.chance(25):
        return _locking(choices)
    return _waiting(choices, draw(programs(loop_free=loop_free, threads=(2, 3), most_accesses=3)))


def _waiting(choices: Choices, program: Program) -> Program:
    codes: dict[str, tuple[Instruction, ...]] = {}  # by family: copies of a thread stay equal
    for thread in program.threads:
        if thread.family not in codes:
            codes[thread.family] = tuple(_perhaps_waiting(choices, program, i) for i in thread.code)
    threads = tuple(replace(thread, code=codes[thread.family]) for thread in program.threads)
    return replace(program, threads=threads, tracking=())


def _perhaps_waiting(choices: Choices, program: Program, instruction: Instruction) -> Instruction:
    value = Constant(choices.between(0, program.max_value))
    match instruction:
        case Load(register, cell, mode) if mode is not Mode.NA and choices.chance(40):
            return Wait(register, cell, (value,), mode, at=instruction.at)
        case Store(cell, written, mode) if mode is not Mode.NA and choices.chance(30):
            return BlockingCompareExchange(cell, value, written, Mode.ACQ, Mode.REL, at=instruction.at)
        case _:
            return instruction


def _locking(choices: Choices) -> Program:
    """Each thread takes two locks in an order of its own, and gives most of them back."""
    names = "abc"[: choices.between(2, 3)]
    threads = []
    for place in range(choices.between(2, 3)):
        first = choices.below(len(names))
        taken = (names[first], names[(first + choices.between(1, len(names) - 1)) % len(names)])
        steps = [(name, True) for name in taken] + [(name, False) for name in taken if choices.chance(85)]
        code = tuple(
            BlockingCompareExchange(Cell(name), Constant(0), Constant(1), at=Position(place + 1, pc + 1))
            if takes
            else Store(Cell(name), Constant(0), at=Position(place + 1, pc + 1))
            for pc, (name, takes) in enumerate(steps)
        )
        threads.append(Thread(f"t{place}", code, ()))
    return Program(tuple(Location(name) for name in names), tuple(threads), 1)
