"""Which of the conditions that guard several transitions can hold together?

Conditions mostly compare registers with numbers and with each other. What they then say depends only on the
order of the registers among each other and with those numbers, so trying enough values around each number
finds every case. Other arithmetic counts as a register of its own, with any value, which can only add cases.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from fencepost.formats.transitions.form import NEGATED
from fencepost.program import Binary, Constant, Expression, Register, Unary, evaluate, subexpressions

Outcome = tuple[bool, ...]

_MOST_GUARDS = 32
_MOST_TRIALS = 5_000


def outcomes(guards: Sequence[Expression]) -> frozenset[Outcome] | None:
    """The possible truth values of all the guards, None if there is too much to try."""
    if len(guards) > _MOST_GUARDS:
        return None
    terms: dict[Expression, Register] = {}
    formulas = [_over_terms(guard, terms) for guard in guards]
    numbers = {0}
    for formula in formulas:
        numbers |= {part.value for part in subexpressions(formula) if isinstance(part, Constant)}
    # As many values between two numbers as there are terms, so that those can be there in any order.
    reach = range(-len(terms), len(terms) + 1)
    values = {number + distance for number in numbers for distance in reach}
    if len(values) ** len(terms) > _MOST_TRIALS:
        return None
    choices = [[(name.name, v) for v in values if v >= 0 or term != name] for term, name in terms.items()]
    return frozenset(
        tuple(evaluate(formula, dict(trial)) != 0 for formula in formulas) for trial in product(*choices)
    )


def _over_terms(expression: Expression, terms: dict[Expression, Register]) -> Expression:
    """The expression with each part that is not about order replaced by the register in `terms` for it."""
    match expression:
        case Constant():
            return expression
        case Unary("!", operand):
            return Unary("!", _over_terms(operand, terms))
        case Binary(operator, left, right) if operator in (*NEGATED, "&&", "||"):
            return Binary(operator, _over_terms(left, terms), _over_terms(right, terms))
        case Register():
            return terms.setdefault(expression, expression)
        case _:
            return terms.setdefault(expression, Register(f"#{len(terms)}"))
