"""Flat code while it grows: labels that a jump can name before their place is known.

The conditions of jumps over blocks stand here too: readers and writers of structured languages must agree on
them.
"""

from __future__ import annotations

from fencepost.program.expressions import Expression, Unary
from fencepost.program.instructions import Branch, Choose, Goto, Instruction, Position, moved

Label = int


class Assembler:
    """The code so far. Its jumps lead to labels; `code` puts in the places of the labels."""

    def __init__(self) -> None:
        self._code: list[Instruction] = []
        self._places: list[int] = []

    def __len__(self) -> int:
        return len(self._code)

    def code(self) -> tuple[Instruction, ...]:
        return tuple(moved(instruction, self._places) for instruction in self._code)

    def label(self) -> Label:
        """A new label, which has no place yet."""
        self._places.append(-1)
        return len(self._places) - 1

    def here(self, *labels: Label) -> None:
        """This is the place of these labels."""
        for label in labels:
            self._places[label] = len(self._code)

    def place(self, label: Label) -> int:
        """The index of the instruction after the label; -1 if it has no place yet."""
        return self._places[label]

    def add(self, instruction: Instruction) -> None:
        """An instruction that does not jump."""
        self._code.append(instruction)

    def goto(self, label: Label, at: Position) -> None:
        self._code.append(Goto(label, at=at))

    def branch(self, condition: Expression, label: Label, at: Position) -> None:
        self._code.append(Branch(condition, label, at=at))

    def choose(self, labels: tuple[Label, ...], at: Position) -> None:
        self._code.append(Choose(labels, at=at))

    def remove_last(self) -> None:
        """Take back the instruction that was added last."""
        self._code.pop()


def skipping(condition: Expression) -> Expression:
    """The condition of the branch that jumps over a block guarded by `condition`."""
    match condition:
        case Unary("!", operand):
            return operand
        case _:
            return Unary("!", condition)


def guarding(condition: Expression) -> Expression:
    """The guard of the block that a branch with `condition` jumps over: `skipping(guarding(c)) == c`."""
    match condition:
        case Unary("!", operand) if not (isinstance(operand, Unary) and operand.operator == "!"):
            return operand
        case _:
            return Unary("!", condition)
