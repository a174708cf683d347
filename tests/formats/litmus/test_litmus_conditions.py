"""Final conditions: what they say of a final state, and how C litmus tests spell them."""

from __future__ import annotations

import pytest

from fencepost.formats import litmus
from fencepost.program.conditions import (
    Always,
    And,
    CellIs,
    FinalCondition,
    Formula,
    Not,
    Or,
    Quantifier,
    RegisterIs,
    atoms,
    holds,
    is_bad,
)

REGISTERS = {"P0": {"r": 1, "s": 0}, "P1": {"r": 2}}
MEMORY = {"x": 1, "y": 3}
TRUE, FALSE = CellIs("x", 1), CellIs("x", 0)
R0, R1, X1, Y2 = RegisterIs("P0", "r", 1), RegisterIs("P1", "r", 1), CellIs("x", 1), CellIs("y", 2)


@pytest.mark.parametrize(
    ("formula", "value"),
    [
        (RegisterIs("P0", "r", 1), True),
        (RegisterIs("P1", "r", 1), False),
        (RegisterIs("P1", "r", 1, "!="), True),
        (CellIs("y", 3), True),
        (CellIs("y", 3, "!="), False),
        (Always(), True),
        (Not(TRUE), False),
        (And((TRUE, TRUE)), True),
        (And((TRUE, FALSE)), False),
        (And(()), True),
        (Or((FALSE, TRUE)), True),
        (Or((FALSE, Not(TRUE))), False),
        (Or(()), False),
    ],
)
def test_formulas(formula: Formula, value: bool) -> None:
    assert holds(FinalCondition("exists", formula), REGISTERS, MEMORY) == value


@pytest.mark.parametrize(
    ("quantifier", "with_formula", "without"),
    [("exists", True, False), ("~exists", True, False), ("forall", False, True)],
)
def test_the_states_to_look_for(quantifier: Quantifier, with_formula: bool, without: bool) -> None:
    assert is_bad(FinalCondition(quantifier, TRUE), REGISTERS, MEMORY) == with_formula
    assert is_bad(FinalCondition(quantifier, FALSE), REGISTERS, MEMORY) == without


def test_conditions_are_values() -> None:
    condition = FinalCondition("exists", And((R0, X1)))
    assert len({condition, FinalCondition("exists", And((R0, X1)))}) == 1
    assert list(atoms(And((R0, Not(Or((X1, Y2))))))) == [R0, X1, Y2]
    with pytest.raises(AttributeError):
        condition.quantifier = "forall"  # type: ignore[misc]


def asked(clause: str) -> FinalCondition | None:
    head = "C a\n{ x=0; y=2; }\nP0() { int r = 1; }\nP1() { int r; }\n"
    program = litmus.read(head + clause)
    assert litmus.read(litmus.write(program)).condition == program.condition
    return program.condition


@pytest.mark.parametrize(
    ("clause", "condition"),
    [
        ("exists x=1", FinalCondition("exists", X1)),
        ("~exists (x = 1)", FinalCondition("~exists", X1)),
        ("~ exists [x]=1", FinalCondition("~exists", X1)),
        ("not exists (x==1)", FinalCondition("~exists", X1)),
        ("forall *x=1", FinalCondition("forall", X1)),
        ("exists (0:r=1)", FinalCondition("exists", R0)),
        ("exists (P0:r=1)", FinalCondition("exists", R0)),
        ("exists x != 1", FinalCondition("exists", CellIs("x", 1, "!="))),
        ("exists x <> 1", FinalCondition("exists", CellIs("x", 1, "!="))),
        ("exists true", FinalCondition("exists", Always())),
        ("exists false", FinalCondition("exists", Not(Always()))),
        ("exists ~x=1", FinalCondition("exists", Not(X1))),
        ("exists not (x=1)", FinalCondition("exists", Not(X1))),
        ("exists ~~x=1", FinalCondition("exists", X1)),
        (r"exists x=1 /\ 0:r=1 /\ y=2", FinalCondition("exists", And((X1, R0, Y2)))),
        (r"exists x=1 \/ 0:r=1 /\ y=2", FinalCondition("exists", Or((X1, And((R0, Y2)))))),
        (r"exists (x=1 \/ 0:r=1) /\ y=2", FinalCondition("exists", And((Or((X1, R0)), Y2)))),
        (r"exists x=1 /\ (0:r=1 /\ y=2)", FinalCondition("exists", And((X1, And((R0, Y2)))))),
        (r"exists x=1/\*y=2\/~0:r=1", FinalCondition("exists", Or((And((X1, Y2)), Not(R0))))),
        ("locations [x; 0:r; [y];]\nexists (1:r=1) (* comment *)", FinalCondition("exists", R1)),
    ],
)
def test_final_clauses(clause: str, condition: FinalCondition) -> None:
    assert asked(clause) == condition


def test_a_test_without_a_final_clause_asks_nothing() -> None:
    assert asked("") is None
    assert asked("locations [x;]") is None


def test_words_of_final_clauses_are_names_in_processes() -> None:
    program = litmus.read("C a\n{}\nP0(int* x) { int exists = *x, not = 1; }\nexists x=1")
    assert program.threads[0].registers == ("exists", "not")
    assert litmus.read(litmus.write(program)) == program
