"""`lock` … `unlock` is read as the read-modify-write it is, or refused at the `lock`."""

from __future__ import annotations

from itertools import pairwise

import pytest

from fencepost.errors import InputError
from fencepost.formats import automata
from fencepost.program import (
    Assign,
    Assume,
    Binary,
    BlockingCompareExchange,
    Branch,
    Cell,
    Choose,
    CompareExchange,
    Constant,
    Exchange,
    Expression,
    Fence,
    FetchAdd,
    Goto,
    Instruction,
    Load,
    Position,
    Program,
    Register,
    Skip,
    Store,
    Unary,
)

R, S = Register("r"), Register("s")
ZERO, ONE, TWO = Constant(0), Constant(1), Constant(2)


def read(*transitions: str) -> Program:
    """A thread with these transitions, which starts at `a`; the first of them is in line 3."""
    body = "\n".join(f"transition {transition}" for transition in transitions)
    return automata.read(f"thread t\ninitial a\n{body}\nend", "f.aut")


def section(*instructions: str, end: str = "z") -> list[str]:
    """The transitions of a section at `a` that does these one after the other and leads to `end`."""
    states = ["a", *(f"i{n}" for n in range(len(instructions) + 1)), end]
    steps = ["lock", *instructions, "unlock"]
    return [f"{a} {b} {step}" for a, b, step in zip(states, states[1:], steps, strict=False)]


def code_of(*transitions: str) -> tuple[Instruction, ...]:
    return read(*transitions).threads[0].code


def cell(address: int) -> Cell:
    return Cell("mem", Constant(address))


def unequal(left: Expression, right: Expression) -> Expression:
    return Binary("!=", left, right)


# Makes the value of r matter after the section.
USE_R = "z y write r 1"
USED_R = Store(cell(1), R)


def test_a_write_is_an_exchange() -> None:
    assert code_of(*section("write 1 0")) == (Exchange(None, cell(0), ONE),)


def test_read_and_write_is_an_exchange() -> None:
    assert code_of(*section("read r 0", "write 1 0"), USE_R) == (Exchange("r", cell(0), ONE), USED_R)


def test_the_result_is_left_out_if_nobody_reads_it() -> None:
    program = read(*section("read r 0", "write 1 0"))
    assert program.threads[0].code == (Exchange(None, cell(0), ONE),)
    assert program.threads[0].registers == ()


@pytest.mark.parametrize(
    ("written", "added"),
    [("+ r 1", ONE), ("+ s r", S), ("- r 1", Unary("-", ONE)), ("+ r + s 1", Binary("+", S, ONE))],
)
def test_an_addition(written: str, added: Expression) -> None:
    assert code_of(*section("read r 0", f"write {written} 0"), USE_R) == (
        FetchAdd("r", cell(0), added),
        USED_R,
    )


def test_an_addition_over_another_register() -> None:
    code = code_of(*section("read r 0", "local s + r 1", "write s 0"), "z y write s 1")
    assert code == (FetchAdd("r", cell(0), ONE), Assign("s", Binary("+", R, ONE)), Store(cell(1), S))


def test_a_check_that_blocks_is_a_blocking_compare_exchange() -> None:
    code = code_of(*section("read r 0", "check == r 0", "write 1 0"))
    assert code == (BlockingCompareExchange(cell(0), ZERO, ONE),)


def test_the_result_of_a_blocking_compare_exchange_is_known() -> None:
    code = code_of(*section("read r 0", "check == s r", "write 1 0"), USE_R)
    assert code == (BlockingCompareExchange(cell(0), S, ONE), Assign("r", S), USED_R)


@pytest.mark.parametrize("check", ["! r", "== r 0", "== 0 r", "! != r 0", "! ! ! r"])
def test_spellings_of_a_comparison(check: str) -> None:
    code = code_of(*section("read r 0", f"check {check}", "write 1 0"))
    assert code == (BlockingCompareExchange(cell(0), ZERO, ONE),)


def test_what_is_written_where_the_value_is_known() -> None:
    code = code_of(*section("read r 0", "check == r 1", "write + r 1 0"))
    assert code == (BlockingCompareExchange(cell(0), ONE, TWO),)


COMPARE_EXCHANGE = [
    "a b lock",
    "b c read r 0",
    "c d check == r 0",
    "d e write 1 0",
    "e won unlock",
    "c f check != r 0",
    "f lost unlock",
]


def test_two_outcomes_are_a_compare_exchange() -> None:
    assert code_of(*COMPARE_EXCHANGE, "won z write 1 1", "lost a noop") == (
        CompareExchange("r", cell(0), ZERO, ONE),
        Branch(Binary("==", R, ZERO), 4),
        Skip(),
        Goto(0),
        Store(cell(1), ONE),
    )


def test_the_expected_value_may_be_a_register() -> None:
    transitions = [
        transition.replace("r 0", "r s").replace("read r s", "read r 0") for transition in COMPARE_EXCHANGE
    ]
    assert code_of(*transitions)[0] == CompareExchange("r", cell(0), S, ONE)


def test_a_spin_lock() -> None:
    spinning = [transition.replace("f lost", "f a") for transition in COMPARE_EXCHANGE]
    assert code_of(*spinning, "won z write 0 0") == (
        CompareExchange("r", cell(0), ZERO, ONE),
        Branch(unequal(R, ZERO), 0),
        Store(cell(0), ZERO),
    )


def test_both_outcomes_leading_to_the_same_state_need_no_branch() -> None:
    joined = [transition.replace("lost", "won") for transition in COMPARE_EXCHANGE]
    assert code_of(*joined, "won z write r 1") == (CompareExchange("r", cell(0), ZERO, ONE), USED_R)


def test_a_read_is_a_fence_and_a_load() -> None:
    assert code_of(*section("read r 0")) == (Fence(), Load("r", cell(0)))


def test_a_section_without_memory_is_a_fence() -> None:
    assert code_of(*section()) == (Fence(),)
    assert code_of(*section("local r 1"), USE_R) == (Assign("r", ONE), Fence(), USED_R)


def test_local_steps_stay() -> None:
    code = code_of(
        *section("local s 2", "read r 0", "local q + r s", "write s 0", "mfence", "noop"), "z y write q 1"
    )
    assert code == (
        Assign("s", TWO),
        Exchange("r", cell(0), S),
        Assign("q", Binary("+", R, S)),
        Store(cell(1), Register("q")),
    )


def test_a_check_of_another_register_is_made_before() -> None:
    code = code_of(*section("read r 0", "check == s 1", "write 2 0"))
    assert code == (Assume(Binary("==", S, ONE)), Exchange(None, cell(0), TWO))


def test_reading_what_was_written() -> None:
    code = code_of(*section("write 2 0", "read r 0"), USE_R)
    assert code == (Exchange(None, cell(0), TWO), Assign("r", TWO), USED_R)


def test_the_last_write_counts() -> None:
    assert code_of(*section("write 2 0", "write 1 0")) == (Exchange(None, cell(0), ONE),)


def test_other_computations_are_taken_apart_by_values() -> None:
    assert code_of(*section("read r 0", "write - 1 r 0"), USE_R) == (
        Choose((1, 5)),
        BlockingCompareExchange(cell(0), ZERO, ONE),
        Assign("r", ZERO),
        USED_R,
        Goto(8),
        BlockingCompareExchange(cell(0), ONE, ZERO),
        Assign("r", ONE),
        Goto(3),
    )


def test_other_checks_are_taken_apart_by_values() -> None:
    code = code_of(*section("read r 0", "check < r 2", "write + r 1 0", end="a"))
    exchanged = [(i.expected, i.desired) for i in code if isinstance(i, BlockingCompareExchange)]
    assert exchanged == [(ZERO, ONE), (ONE, TWO)]


def test_sections_stand_at_their_lock() -> None:
    program = read("a a2 mfence", *section("read r 0", "write 1 0")[1:], "a2 i0 lock")
    assert [instruction.at for instruction in program.threads[0].code] == [Position(3, 1), Position(7, 1)]


def test_two_locks_may_lead_to_the_same_section() -> None:
    code = code_of("a b mfence", "b i0 lock", *section("write 1 0", end="c")[1:], "c i0 lock")
    assert code == (Fence(), Exchange(None, cell(0), ONE), Exchange(None, cell(0), ONE), Goto(2))


# --- what is refused


def refusal(*transitions: str) -> InputError:
    with pytest.raises(InputError) as caught:
        read(*transitions)
    return caught.value


MANY_WAYS = [
    "a b lock",
    *(f"{s} {t} {step}" for s, t in pairwise("bcdefghi") for step in ("noop", "check r")),
]


@pytest.mark.parametrize(
    ("transitions", "why"),
    [
        (section("read r 0", "write r 1"), "uses several addresses"),
        (section("read r r", "write 1 r"), "uses several addresses"),
        (["a b lock", "b c write 1 0"], "has a way without `unlock`"),
        (section("write 1 0", "lock"), "has another `lock` in it"),
        (["a b lock", "b c write 1 0", "c b noop", "c d unlock"], "has a loop in it"),
        ([*MANY_WAYS, "i z unlock"], "has more than 64 ways"),
        (section(*["noop"] * 300), "or 200 steps"),
        (section("read r 0", "write * r r 0"), "can be one of more than 16 values"),
        (section("read r 0", "local r + r r", "write + r 1 0", "read s 0"), "reads a value again"),
    ],
)
def test_other_sections_are_refused_at_their_lock(transitions: list[str], why: str) -> None:
    writes = ["z y write 2 0", "y x write 300 0"]
    error = refusal(*transitions, *writes)
    assert (error.line, error.column) == (3, 1)
    assert why in error.message
    assert (
        "supported is an exchange, an addition, a compare-and-exchange or a read of one address"
        in error.message
    )


def test_unlock_without_lock() -> None:
    error = refusal("a b write 1 0", "b c unlock")
    assert (error.line, error.column) == (4, 1)
    assert error.message == "this `unlock` has no `lock` before it"


def test_sections_that_cannot_be_reached_may_be_anything() -> None:
    assert code_of("a z mfence", "x y lock", "y x lock") == (Fence(),)
