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
    key = id(thread.code), live_at_end
    code, live = _recent.get(key, (None, []))
    if code is not thread.code:
        live = _live_registers(thread.code, live_at_end)
        if len(_recent) >= _MOST_RECENT:
            _recent.clear()
        _recent[key] = thread.code, live
    return list(live)


# Several analyses ask about the same code. To look for equal code would take longer than to analyse it.
_recent: dict[tuple[int, frozenset[str]], tuple[tuple[Instruction, ...], list[frozenset[str]]]] = {}
_MOST_RECENT = 32


def _live_registers(code: tuple[Instruction, ...], live_at_end: frozenset[str]) -> list[frozenset[str]]:
    live = [frozenset[str]()] * len(code) + [live_at_end]
    # Any instruction may be the thread's last one: an assumption fails, or a division.
    flow = [
        (pc, successors(i, pc), {assigned_register(i)} - live_at_end, registers_read(i) | live_at_end)
        for pc, i in enumerate(code)
    ]
    flow.reverse()
    changed = True
    while changed:
        changed = False
        for pc, after, assigned, read in flow:
            before = read.union(*[live[target] - assigned for target in after])
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
