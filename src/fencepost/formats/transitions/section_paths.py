"""What an atomic section does on one way through it, as seen from its first access to memory.

Expressions are followed through the section, so that what is checked and written is told over the registers
as they are at the access, and over the value that the access finds, `OLD`. Which instructions do that is left
to `sections.py`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import islice

from fencepost.formats.transitions.automaton import Lock, State, Transition, Unlock
from fencepost.program import (
    Assign,
    Assume,
    Binary,
    Cell,
    Constant,
    Expression,
    Fence,
    Instruction,
    Load,
    Register,
    Skip,
    Store,
    Unary,
    evaluate,
    registers_in,
    subexpressions,
    with_operands,
)

# The value that a section finds in its cell.
OLD = Register("#old")

_MOST_PARTS = 100  # of an expression that is put together from several steps


class UnsupportedError(Exception):
    """What a section does that no instruction can do."""


@dataclass(frozen=True, slots=True)
class SectionPath:
    """What happens on one way through a section, told at its first access to memory.

    `before` and `after` are its local steps. `checks` and `written` are over the registers as they are at the
    access, and over `OLD`.
    """

    before: tuple[Instruction, ...]
    access: Transition | None
    after: tuple[Instruction, ...]
    checks: tuple[Expression, ...]
    written: Expression | None
    target: State

    def expected(self) -> Expression | None:
        """The value that the cell must have on this way, if a check names it."""
        return next(
            (e for operator, e in filter(None, map(_comparison, self.checks)) if operator == "=="), None
        )

    def excludes(self, value: Expression) -> bool:
        """Whether a check says that the cell has another value."""
        return ("!=", value) in map(_comparison, self.checks)

    def given(self, old: Expression) -> SectionPath:
        """The same where the cell holds `old`, without checks that are then true."""
        values = {OLD.name: old}
        checks = [_replaced(check, values) for check in self.checks]
        written = None if self.written is None else _computed(_replaced(self.written, values))
        return replace(self, checks=tuple(c for c in checks if _truth(c) is not True), written=written)

    def is_possible(self) -> bool:
        return all(_truth(check) is not False for check in self.checks)

    def locals_after(self) -> tuple[Instruction, ...]:
        """The local steps after the access, without the checks."""
        return tuple(step for step in self.after if not isinstance(step, Assume))


def section_path(transitions: tuple[Transition, ...]) -> SectionPath:
    before: list[Instruction] = []
    after: list[Instruction] = []
    checks: list[Expression] = []
    access: Transition | None = None
    cell: Cell | None = None
    held: Expression = OLD
    written: Expression | None = None
    values: dict[str, Expression] = {}  # of registers that changed since the access
    for transition in transitions[:-1]:
        step = transition.step
        match step:
            case Load(_, used) | Store(used):
                used = _cell(used, values)
                if cell is not None and used != cell:
                    raise UnsupportedError("uses several addresses")
                if isinstance(step, Store):
                    held = written = _replaced(step.value, values)
                elif access is not None:
                    after.append(Assign(step.register, _spelled(held, values), at=step.at))
                if isinstance(step, Load):
                    values[step.register] = held
                access, cell = access or transition, used
            case Skip() | Fence() | Lock() | Unlock():
                pass
            case _ if access is None:
                before.append(step)
            case Assign(register, value):
                after.append(step)
                values[register] = _replaced(value, values)
            case Assume(condition):
                after.append(step)
                checks.append(_replaced(condition, values))
    return SectionPath(tuple(before), access, tuple(after), tuple(checks), written, transitions[-1].target)


def _cell(cell: Cell, values: dict[str, Expression]) -> Cell:
    return cell if cell.index is None else Cell(cell.name, _replaced(cell.index, values))


def _spelled(held: Expression, values: dict[str, Expression]) -> Expression:
    """The value that the cell holds, over the registers as they are now."""
    for register, value in values.items():
        if value == held:
            return Register(register)
    if any(part in values or part == OLD.name for part in registers_in(held)):
        raise UnsupportedError("reads a value again that it has changed in between")
    return held


def access_of(transition: Transition) -> Load | Store:
    assert isinstance(transition.step, Load | Store)
    return transition.step


def load_of(way: SectionPath) -> Load | None:
    step = None if way.access is None else way.access.step
    return step if isinstance(step, Load) else None


# --- expressions


def uses_old(expression: Expression) -> bool:
    return OLD.name in registers_in(expression)


def _comparison(check: Expression) -> tuple[str, Expression] | None:
    """`("==", e)` or `("!=", e)` if the check compares the value that the section finds with e."""
    match check:
        case Register():
            return ("!=", Constant(0)) if check == OLD else None
        case Unary("!", operand):
            inner = _comparison(operand)
            return None if inner is None else ("!=" if inner[0] == "==" else "==", inner[1])
        case Binary("==" | "!=" as operator, left, right) if OLD in (left, right):
            other = right if left == OLD else left
            return None if uses_old(other) else (operator, other)
    return None


def _computed(expression: Expression) -> Expression:
    """The number that the expression is, if it does not depend on registers."""
    value = -1 if any(registers_in(expression)) else evaluate(expression, {})
    return expression if value < 0 else Constant(value)


def _truth(check: Expression) -> bool | None:
    """Whether the check holds, if that does not depend on registers."""
    match check:
        case Binary("==" | "!=" as operator, left, right) if left == right:
            return operator == "=="
    return None if any(registers_in(check)) else evaluate(check, {}) != 0


def _replaced(expression: Expression, values: dict[str, Expression]) -> Expression:
    """The expression with these values in place of the registers."""
    result = _with_values(expression, values)
    if values and len(list(islice(subexpressions(result), _MOST_PARTS + 1))) > _MOST_PARTS:
        raise UnsupportedError("computes too much")
    return result


def _with_values(expression: Expression, values: dict[str, Expression]) -> Expression:
    if isinstance(expression, Register):
        return values.get(expression.name, expression)
    return with_operands(expression, lambda operand: _with_values(operand, values))
