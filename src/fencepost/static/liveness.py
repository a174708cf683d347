"""Which registers can still matter: the others are set to 0, so that states differing in them are one.

A register is live at an instruction if some way from there reads it before it is assigned. The usual backward
analysis, over the flat code of one thread.
"""

from __future__ import annotations

from fencepost.program import (
    Assign,
    CompareExchange,
    Exchange,
    FetchAdd,
    Instruction,
    Load,
    Thread,
    Verify,
    Wait,
    expressions_of,
    registers_in,
)
from fencepost.static.flow import successors


def live_registers(thread: Thread, live_at_end: frozenset[str]) -> list[frozenset[str]]:
    """For each instruction, and for the end of the thread, the registers that are live before it."""
    end = len(thread.code)
    live = [frozenset[str]()] * end + [live_at_end]
    changed = True
    while changed:
        changed = False
        for pc in reversed(range(end)):
            instruction = thread.code[pc]
            after = successors(instruction, pc)
            # Any instruction may be the thread's last one: an assumption fails, or a division.
            out = live_at_end.union(*(live[target] for target in after))
            before = (out - {assigned_register(instruction)}) | registers_read(instruction) | live_at_end
            if before != live[pc]:
                live[pc] = before
                changed = True
    return live


def registers_read(instruction: Instruction) -> frozenset[str]:
    """The registers on whose values the instruction depends."""
    named = frozenset({instruction.register} if isinstance(instruction, Verify) else ())
    return named.union(*map(registers_in, expressions_of(instruction)))


def assigned_register(instruction: Instruction) -> str | None:
    match instruction:
        case Assign() | Load() | FetchAdd() | Exchange() | CompareExchange() | Wait():
            return instruction.register
        case _:
            return None
