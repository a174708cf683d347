"""Where does the value of a register show? (The uses of observational robustness.)

    instruction                              uses
    branch, assume, assert                   the registers of the condition
    access                                   those of the address and of the values to store or compare
    verify(r)                                r
    r := e, where e may divide by zero       those of e: a division by zero ends the thread
    r := e otherwise, fence, goto, …         none: an assignment passes the value on
    the end of the thread                    those that the final condition of the program asks about

An access uses its registers when the thread arrives there, whether or not it can happen.
"""

from __future__ import annotations

from msgspec.structs import replace

from fencepost.program import (
    Assign,
    Binary,
    Constant,
    Expression,
    Instruction,
    Load,
    Mode,
    Program,
    Skip,
    Thread,
    expressions_of,
    subexpressions,
)
from fencepost.static.flow import successors
from fencepost.static.liveness import assigned_register, registers_read


def registers_used(instruction: Instruction) -> frozenset[str]:
    """The registers whose values show when the instruction runs, or when the thread arrives at the access."""
    if isinstance(instruction, Assign) and not may_divide_by_zero(instruction):
        return frozenset()
    return registers_read(instruction)


def registers_used_at_end(program: Program, thread: Thread) -> frozenset[str]:
    """The registers of the thread whose last values the program's final condition asks about."""
    if program.condition is None:
        return frozenset()
    from fencepost.program.conditions import RegisterIs, atoms

    asked = atoms(program.condition.formula)
    return frozenset(a.register for a in asked if isinstance(a, RegisterIs) and a.thread == thread.name)


def taintable_registers(thread: Thread) -> frozenset[str]:
    """The registers that can get the value of a load, from there or from each other."""
    found = frozenset(i.register for i in thread.code if isinstance(i, Load) and i.mode is not Mode.NA)
    passing_on = [i for i in thread.code if isinstance(i, Assign)]
    while more := {i.register for i in passing_on if registers_read(i) & found} - found:
        found |= more
    return found


def without_unused_loads(program: Program) -> Program:
    """The program without the loads whose values show nowhere.

    It has the same observations under every model that has, with a graph, the graph without a load; and under
    sequential consistency a load can be put back anywhere. A load that may fail for its index stays.
    """

    def without(thread: Thread) -> Thread:
        unused = {id(load) for load in unused_loads(program, thread) if load.cell.index is None}
        return replace(thread, code=tuple(Skip(at=i.at) if id(i) in unused else i for i in thread.code))

    return replace(program, threads=tuple(map(without, program.threads)))


def unused_loads(program: Program, thread: Thread) -> list[Load]:
    """The atomic loads whose values show nowhere, whatever the thread does after them.

    Backwards over the code, as `live_registers`; what an assignment reads is needed only if its result is.
    """
    end = len(thread.code)
    at_end = registers_used_at_end(program, thread)
    needed = [at_end] * (end + 1)  # any instruction may be the last one
    changed = True
    while changed:
        changed = False
        for pc in reversed(range(end)):
            instruction = thread.code[pc]
            after = at_end.union(*(needed[target] for target in successors(instruction, pc)))
            before = (after - {assigned_register(instruction)}) | registers_used(instruction)
            if isinstance(instruction, Assign) and instruction.register in after:
                before |= registers_read(instruction)
            if before != needed[pc]:
                needed[pc] = before
                changed = True
    return [
        instruction
        for pc, instruction in enumerate(thread.code)
        if isinstance(instruction, Load) and instruction.mode is not Mode.NA
        if instruction.register not in needed[pc + 1]
    ]


def may_divide_by_zero(instruction: Instruction) -> bool:
    return any(
        _may_be_zero(part.right)
        for expression in expressions_of(instruction)
        for part in subexpressions(expression)
        if isinstance(part, Binary) and part.operator in ("/", "%")
    )


def _may_be_zero(divisor: Expression) -> bool:
    return not isinstance(divisor, Constant) or divisor.value == 0
