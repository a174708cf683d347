"""Stronger and weaker versions of a program: the same accesses, other modes and fences."""

from __future__ import annotations

import random
from collections.abc import Callable

from msgspec.structs import replace

from fencepost.program import (
    BlockingCompareExchange,
    CompareExchange,
    Exchange,
    Fence,
    FetchAdd,
    Instruction,
    Load,
    Mode,
    Program,
    Skip,
    Store,
    Wait,
)


def release_acquire(program: Program) -> Program:
    """All reads acquire and all writes release; weak fences are not needed then, and left out."""
    return _with_code(program, _strengthened)


def weakened(program: Program, source: random.Random, percent: int = 50) -> Program:
    """Some accesses and weak fences are weaker, or gone. SC fences stay, as SC orders them itself."""
    return _with_code(program, lambda i: _weakened(i, source) if source.randrange(100) < percent else i)


def weakened_from_sc(program: Program, source: random.Random) -> Program:
    """As `weakened`, of a program for C++20: half of what is seq_cst acquires and releases instead."""
    return _with_code(weakened(program, source, 20), lambda i: _not_sc(i) if source.randrange(2) else i)


def _not_sc(instruction: Instruction) -> Instruction:
    match instruction:
        case Fence(Mode.SC):
            return replace(instruction, mode=Mode.ACQ_REL)
        case Load(mode=Mode.SC) | Wait(mode=Mode.SC):
            return replace(instruction, mode=Mode.ACQ)
        case Store(mode=Mode.SC):
            return replace(instruction, mode=Mode.REL)
        case CompareExchange(failure_mode=Mode.SC):
            return _not_sc(replace(instruction, failure_mode=Mode.ACQ))
        case (
            FetchAdd(load_mode=Mode.SC)
            | Exchange(load_mode=Mode.SC)
            | CompareExchange(load_mode=Mode.SC)
            | BlockingCompareExchange(load_mode=Mode.SC)
        ):
            return replace(instruction, load_mode=Mode.ACQ, store_mode=Mode.REL)
        case _:
            return instruction


def _with_code(program: Program, change: Callable[[Instruction], Instruction]) -> Program:
    threads = (replace(thread, code=tuple(map(change, thread.code))) for thread in program.threads)
    return replace(program, threads=tuple(threads))


def _strengthened(instruction: Instruction) -> Instruction:
    match instruction:
        case Fence(mode) if mode is not Mode.SC:
            return Skip(at=instruction.at)
        case Load() | Wait() if instruction.mode is not Mode.NA:
            return replace(instruction, mode=Mode.ACQ)
        case Store() if instruction.mode is not Mode.NA:
            return replace(instruction, mode=Mode.REL)
        case FetchAdd() | Exchange() | CompareExchange() | BlockingCompareExchange():
            return replace(instruction, load_mode=Mode.ACQ, store_mode=Mode.REL)
        case _:
            return instruction


def _weakened(instruction: Instruction, source: random.Random) -> Instruction:
    match instruction:
        case Fence(Mode.ACQ_REL):
            return replace(instruction, mode=source.choice([Mode.ACQ, Mode.REL]))
        case Fence(Mode.ACQ | Mode.REL):
            return Skip(at=instruction.at)
        case Load() | Wait() | Store() if instruction.mode is not Mode.NA:
            return replace(instruction, mode=Mode.RLX)
        case FetchAdd() | Exchange() | CompareExchange() | BlockingCompareExchange():
            instruction = _not_sc(instruction)
            return replace(instruction, **{source.choice(["load_mode", "store_mode"]): Mode.RLX})
        case _:
            return instruction
