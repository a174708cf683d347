"""Reading what was written gives the same program; any text at all is a program or an `InputError`."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fencepost.errors import InputError
from fencepost.formats import tpl
from fencepost.program import (
    Assign,
    Binary,
    Branch,
    Cell,
    Choose,
    Constant,
    Expression,
    Goto,
    Instruction,
    Load,
    Location,
    Mode,
    Program,
    Register,
    Skip,
    Store,
    Thread,
    Unary,
)
from tests.formats.tpl.tpl_texts import mutations, programs


@given(programs())
@settings(max_examples=100, deadline=None)
def test_reading_what_was_written_gives_the_same_program(text: str) -> None:
    program = tpl.read(text)
    written = tpl.write(program)
    assert tpl.read(written) == program
    assert tpl.write(tpl.read(written)) == written


@given(programs(jumps=False))
@settings(max_examples=60, deadline=None)
def test_structured_programs_are_written_without_gotos(text: str) -> None:
    written = tpl.write(tpl.read(text))
    assert "goto" not in written
    assert ":" not in written.replace("track x:", "")


FLAT_CONDITIONS: list[Expression] = [
    Register("r"),
    Unary("!", Register("r")),
    Unary("!", Unary("!", Register("s"))),
    Binary("-", Register("r"), Binary("-", Constant(3), Unary("-", Register("s")))),
    Unary("!", Binary("||", Register("r"), Register("s"))),
]


@st.composite
def flat_programs(draw: st.DrawFn) -> Program:
    """Code with jumps from anywhere to anywhere, as other formats and analyses may make it."""
    length = draw(st.integers(0, 12))
    target = st.integers(0, length)
    conditions = st.sampled_from(FLAT_CONDITIONS)
    instruction: st.SearchStrategy[Instruction] = st.one_of(
        st.builds(Branch, conditions, target),
        st.builds(Goto, target),
        st.builds(Choose, st.lists(target, min_size=1, max_size=4).map(tuple)),
        st.builds(Assign, st.just("r"), conditions),
        st.builds(Load, st.just("s"), st.just(Cell("x")), st.just(Mode.ACQ)),
        st.builds(Store, st.just(Cell("x")), conditions),
        st.just(Skip()),
    )
    code = tuple(draw(st.lists(instruction, min_size=length, max_size=length)))
    labels = draw(st.dictionaries(st.sampled_from(["l", "m", "n"]), target))
    return Program((Location("x"),), (Thread("t", code, ("r", "s"), labels),))


@given(flat_programs())
@settings(max_examples=150, deadline=None)
def test_flat_code_of_any_shape_survives_writing_and_reading(program: Program) -> None:
    assert tpl.read(tpl.write(program)) == program


@given(mutations())
@settings(max_examples=100, deadline=None)
def test_a_mutated_program_is_read_or_rejected_with_a_place(text: str) -> None:
    check_read_or_rejected(text)


@given(st.text() | st.text(alphabet="fnloca{}()[];=!<&|.,:01rx /\n\t\r\0é"))
@settings(max_examples=100, deadline=None)
def test_any_text_is_read_or_rejected_with_a_place(text: str) -> None:
    check_read_or_rejected(text)


def check_read_or_rejected(text: str) -> None:
    error = None
    try:
        program = tpl.read(text, "f.tpl")
    except InputError as caught:
        error = caught
    if error is None:
        assert tpl.read(tpl.write(program)) == program
        return
    assert 1 <= error.line <= text.count("\n") + text.count("\r") + 1
    assert error.column >= 1
    assert str(error).startswith("f.tpl:")
    own_words = re.sub("`.*?`", "", error.message)
    for name in ("Token", "LBRACE", "RPAR", "SEMICOLON", "_ASSIGN", "$END"):
        assert name not in own_words


@pytest.mark.parametrize(
    "body",
    [
        "l: if (r) { skip; if (s) { skip; goto l; } }",
        "if (r) { goto l; } while (s) { skip; l: skip; }",
        "if (r) { oneof({skip;}{}); }",
        "if (r) { skip; } else {}",
        "if (!r) { skip; } else { l: skip; } goto l;",
        "oneof({a: skip;}{b: skip;}{goto a;});",
        "oneof({goto b;}{a: skip;}{b: skip;});",
        "oneof({});",
        "oneof({}{}{});",
        "while (!!r) {}",
        "if (!!!r) { skip; }",
        "if (!!r) goto l; skip; l:",
        "l: l2: l3:",
        "l: goto l;",
        "while (1) { l: } goto l;",
    ],
)
def test_odd_shapes_survive(body: str) -> None:
    program = tpl.read(f"fn w {{ local r, s; {body} }}")
    assert tpl.read(tpl.write(program)) == program


def test_nesting_made_of_gotos_stays_within_what_the_reader_takes() -> None:
    gotos = "if (!r) goto end; skip; " * 300
    program = tpl.read(f"fn w {{ local r; {gotos} end: skip; }}")
    assert tpl.read(tpl.write(program)) == program


def test_the_deepest_program_survives() -> None:
    body = "oneof({" * 99 + "r = " + "!(1 + " * 50 + "1" + ")" * 50 + ";" + "});" * 99
    program = tpl.read(f"fn w {{ local r; {body} }}")
    assert tpl.read(tpl.write(program)) == program


def test_a_long_chain_of_else_ifs_survives() -> None:
    chain = " else ".join(f"if (r == {n % 200}) {{ r = {n % 200}; }}" for n in range(400))
    program = tpl.read(f"fn w {{ local r; {chain} }}")
    assert tpl.read(tpl.write(program)) == program
