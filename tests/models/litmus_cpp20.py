"""Litmus tests in which seq_cst accesses decide, with their verdicts under C++20.

The shapes are written with a letter for the mode of each access, in the order of the text, threads apart:
`s` seq_cst, `r` release, `a` acquire, `x` relaxed. A letter `F` between two is an SC fence.
"""

from __future__ import annotations

from fencepost.program import Instruction, Mode, Program
from tests.models.litmus import SC_FENCE, fadd, program, read, write

MODES = {"s": Mode.SC, "r": Mode.REL, "a": Mode.ACQ, "x": Mode.RLX}

SHAPES = {
    "SB": "Wx1 Ry | Wy1 Rx",
    "MP": "Wx1 Wy1 | Ry Rx",
    "2+2W": "Wx1 Wy2 | Wy1 Wx2",
    "R": "Wx1 Wy1 | Wy2 Rx",
    "S": "Wx2 Wy1 | Ry Wx1",
    "IRIW": "Wx1 | Rx Ry | Ry Rx | Wy1",
    "WRC": "Wx1 | Rx Wy1 | Ry Rx",
    "RWC": "Wx1 | Rx Ry | Wy1 Rx",
    "W+RWC": "Wx1 Wz1 | Rz Ry | Wy1 Rx",
    "Z6": "Wx1 Wy1 | Wy2 Wz1 | Rz Rx",
    "Z6.3": "Wx1 Wy1 | Wy2 Wz1 | Wz2 Rx",
}


def shaped(shape: str, modes: str) -> Program:
    """The shape of this name with these modes, as in `shaped("SB", "s s | s s")`."""
    threads = [part.split() for part in modes.split("|")]
    return program(
        *(
            _code(accesses.split(), letters)
            for accesses, letters in zip(SHAPES[shape].split("|"), threads, strict=True)
        )
    )


def _code(accesses: list[str], letters: list[str]) -> list[Instruction]:
    code: list[Instruction] = []
    registers, left = iter("abcd"), iter(accesses)
    for letter in letters:
        if letter == "F":
            code.append(SC_FENCE)
            continue
        access = next(left)
        if access[0] == "W":
            code.append(write(access[1], int(access[2]), MODES[letter]))
        else:
            code.append(read(next(registers), access[1], MODES[letter]))
    assert next(left, None) is None, "a mode for each access"
    return code


_ROBUST = {
    ("SB", "s s | s s"): True,
    ("SB", "x s | x s"): False,
    ("SB", "r s | r s"): False,
    ("SB", "s a | s a"): False,
    ("SB", "s s | r s"): False,
    ("SB", "s s | s a"): False,
    ("SB", "x F x | x F x"): True,
    ("SB", "x F x | s s"): True,
    ("SB", "x F x | r s"): False,
    ("MP", "s s | s s"): True,
    ("MP", "x s | s x"): True,
    ("MP", "s x | x s"): False,
    ("2+2W", "s s | s s"): True,
    ("2+2W", "s s | s r"): False,
    ("2+2W", "s s | r s"): False,
    ("2+2W", "x F x | s s"): True,
    ("R", "s s | s s"): True,
    ("R", "r r | s s"): False,
    ("R", "x F x | x F x"): True,
    ("S", "x s | s x"): True,
    ("S", "s x | x s"): False,
    ("IRIW", "s | s s | s s | s"): True,
    ("IRIW", "s | a s | a s | s"): False,
    ("IRIW", "s | s a | s a | s"): False,
    ("IRIW", "r | s s | s s | r"): True,  # fr ; rf orders the reads of a location in S
    ("IRIW", "x | x F x | x F x | x"): True,
    ("WRC", "s | s s | s s"): True,
    ("WRC", "x | a r | a x"): True,
    ("RWC", "s | s s | s s"): True,
    ("RWC", "s | a s | s s"): False,
    ("W+RWC", "x r | a F x | x F x"): True,
    ("W+RWC", "s r | a s | s s"): True,  # po ; sw ; po is strong
    ("Z6.3", "s s | s s | s s"): True,
    ("Z6.3", "s r | s r | s s"): False,
}
VERDICTS = {
    f"{shape} {modes}": (shaped(shape, modes), verdict) for (shape, modes), verdict in _ROBUST.items()
}

# Read-modify-writes are as strong as their mode: none of them is a fence.
VERDICTS |= {
    "SB with seq_cst RMWs of one cell": (
        program(
            [write("x", 1), fadd("z", 0, Mode.SC, Mode.SC), read("a", "y")],
            [write("y", 1), fadd("z", 0, Mode.SC, Mode.SC), read("a", "x")],
        ),
        True,
    ),
    "SB with seq_cst RMWs of two cells": (
        program(
            [write("x", 1), fadd("z", 0, Mode.SC, Mode.SC), read("a", "y")],
            [write("y", 1), fadd("f", 0, Mode.SC, Mode.SC), read("a", "x")],
        ),
        False,
    ),
    "SB with seq_cst RMWs for stores": (
        program(
            [fadd("x", 1, Mode.SC, Mode.SC), read("a", "y", Mode.SC)],
            [fadd("y", 1, Mode.SC, Mode.SC), read("a", "x", Mode.SC)],
        ),
        True,
    ),
    "the fence of an overwritten write": (
        program(
            [write("y", 1), SC_FENCE, write("x", 1)],
            [write("x", 2)],
            [read("a", "x", Mode.SC), read("b", "y", Mode.SC)],
        ),
        True,
    ),
    "the fence of an overwritten write, and an acquire read": (
        program(
            [write("y", 1), SC_FENCE, write("x", 1)],
            [write("x", 2)],
            [read("a", "x", Mode.SC), read("b", "y", Mode.ACQ)],
        ),
        False,
    ),
}
