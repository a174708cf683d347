"""Which registers of a thread can still matter at each instruction; the others count as 0.

A register matters where some way leads to an instruction that reads it, and nothing assigns it before. The
registers that a question speaks of matter everywhere.
"""

from __future__ import annotations

from fencepost.program import (
    Instruction,
    Register,
    Thread,
    Verify,
    expressions_of,
    falls_through,
    jump_targets,
    registers_of,
    subexpressions,
)


def live_slots(thread: Thread, kept: frozenset[str]) -> tuple[tuple[bool, ...], ...]:
    """For each instruction, and for the end, which registers matter before it, in their order."""
    live = [_live_places(thread, name) for name in thread.registers]
    return tuple(
        tuple(name in kept or pc in places for name, places in zip(thread.registers, live, strict=True))
        for pc in range(len(thread.code) + 1)
    )


def _live_places(thread: Thread, register: str) -> set[int]:
    """The instructions before which `register` matters: found backwards from those that read it."""
    before: list[list[int]] = [[] for _ in range(len(thread.code) + 1)]
    for pc, instruction in enumerate(thread.code):
        for target in (*jump_targets(instruction), *([pc + 1] if falls_through(instruction) else [])):
            before[target].append(pc)
    frontier = [pc for pc, instruction in enumerate(thread.code) if _reads(instruction, register)]
    places: set[int] = set()
    while frontier:
        pc = frontier.pop()
        if pc not in places:
            places.add(pc)
            frontier += [last for last in before[pc] if not _assigns(thread.code[last], register)]
    return places


def _reads(instruction: Instruction, register: str) -> bool:
    if isinstance(instruction, Verify):
        return instruction.register == register
    parts = (part for expression in expressions_of(instruction) for part in subexpressions(expression))
    return Register(register) in parts


def _assigns(instruction: Instruction, register: str) -> bool:
    return not isinstance(instruction, Verify) and register in registers_of(instruction)
