"""Expressions in the engine against their definition in `fencepost.program`."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fencepost.engine.search import reachable_states
from fencepost.errors import InputError
from fencepost.program import (
    PRECEDENCE,
    Assign,
    Binary,
    Cell,
    Constant,
    DivisionByZeroError,
    Expression,
    Location,
    Program,
    Register,
    Store,
    Thread,
    ThreadId,
    Unary,
    evaluate,
)
from fencepost.static.intervals import covering_interval

OPERATORS = [operator for level in PRECEDENCE for operator in level]
REGISTERS = ("a", "b", "c")


def values(max_value: int) -> st.SearchStrategy[int]:
    return st.one_of(st.integers(0, min(max_value, 5)), st.integers(0, max_value), st.just(max_value))


def expressions(max_value: int) -> st.SearchStrategy[Expression]:
    leaves = st.one_of(
        st.builds(Constant, values(max_value)), st.sampled_from(REGISTERS).map(Register), st.just(ThreadId())
    )
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            st.builds(Unary, st.sampled_from("-+!"), inner),
            st.builds(Binary, st.sampled_from(OPERATORS), inner, inner),
        ),
        max_leaves=8,
    )


def cases_up_to(max_value: int) -> st.SearchStrategy[tuple[int, Expression, dict[str, int]]]:
    registers = st.fixed_dictionaries({name: values(max_value) for name in REGISTERS})
    return st.tuples(st.just(max_value), expressions(max_value), registers)


CASES = st.one_of(map(cases_up_to, [1, 3, 6, 255, 2**32 - 1, 2**63, 2**64 - 1]))


def in_engine(max_value, expression, registers):
    """What the engine stores in x, or None if the thread ends before."""
    code = (
        *(Assign(name, Constant(value)) for name, value in registers.items()),
        Store(Cell("x"), expression),
    )
    program = Program((Location("x", (1,)),), (Thread("t", code, REGISTERS),), max_value)
    states = reachable_states(program, 10)
    return None if len(states) == 1 else next(s[-1] for s in states if s[0] == len(code))


@given(CASES)
@settings(max_examples=1500, deadline=None)
def test_expressions_have_their_mathematical_value(case):
    max_value, expression, registers = case
    covered = covering_interval(expression, max_value, 0)
    try:
        expected = evaluate(expression, registers) % (max_value + 1)
    except DivisionByZeroError:
        expected = None
    else:
        assert covered.low <= evaluate(expression, registers) <= covered.high
    if covered.fits(128):
        assert in_engine(max_value, expression, registers) == expected
    else:
        with pytest.raises(InputError, match="127 bits"):
            in_engine(max_value, expression, registers)


@pytest.mark.parametrize(
    ("operator", "a", "b", "value"),
    [("/", -7, 2, -3), ("%", -7, 2, -1), ("/", 7, -2, -3), ("%", 7, -2, 1), ("-", 0, 1, -1)],
)
def test_division_rounds_towards_zero(operator, a, b, value):
    def literal(n):
        return Constant(n) if n >= 0 else Unary("-", Constant(-n))

    expression = Binary(operator, literal(a), literal(b))
    assert evaluate(expression, {}) == value
    assert in_engine(255, expression, dict.fromkeys(REGISTERS, 0)) == value % 256


def test_logic_does_not_evaluate_what_it_does_not_need():
    division = Binary("/", Constant(1), Register("a"))
    zero = dict.fromkeys(REGISTERS, 0)
    assert in_engine(255, Binary("&&", Register("a"), division), zero) == 0
    assert in_engine(255, Binary("||", Constant(7), division), zero) == 1
    assert in_engine(255, Binary("||", Constant(0), division), zero) is None
