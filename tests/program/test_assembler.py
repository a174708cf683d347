"""Jumps lead to the places of their labels, wherever those come."""

from __future__ import annotations

from fencepost.program import NOWHERE, Branch, Choose, Constant, Goto, Register, Skip, Unary
from fencepost.program.assembler import Assembler, guarding, skipping


def test_labels_before_and_after_their_jumps() -> None:
    code = Assembler()
    top, end = code.label(), code.label()
    assert code.place(top) == -1
    code.here(top)
    code.branch(Constant(1), end, NOWHERE)
    code.add(Skip())
    code.choose((end, top, end), NOWHERE)
    code.goto(top, NOWHERE)
    code.here(end)
    assert code.code() == (Branch(Constant(1), 4), Skip(), Choose((4, 0, 4)), Goto(0))
    assert (code.place(top), code.place(end), len(code)) == (0, 4, 4)


def test_an_instruction_is_taken_back() -> None:
    code = Assembler()
    code.add(Skip())
    code.goto(code.label(), NOWHERE)
    code.remove_last()
    assert code.code() == (Skip(),)


def test_the_guard_of_a_block_and_the_jump_over_it_belong_together() -> None:
    condition = Register("r")
    for _ in range(4):
        assert skipping(guarding(condition)) == condition
        condition = Unary("!", condition)
