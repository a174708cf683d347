"""How programs and single instructions are spelled in TPL."""

from __future__ import annotations

from textwrap import dedent

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

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
    Program,
    Register,
    Skip,
    Store,
    Thread,
    ThreadId,
    Unary,
)

R, S, ONE = Register("r"), Register("s"), Constant(1)


def written_again(text: str) -> str:
    return tpl.write(tpl.read(text))


def test_a_program_is_written_in_the_usual_layout() -> None:
    text = dedent("""\
        max_value 7;
        global x, y=1, a[4], b[2]=1, c[3]={0, 1, 2};
        na d=2, e;
        global lck;
        track x: 0, 1;
        track y: all;

        fn writer {
            local r, s;
            x.store(1, rel);
            top: while (r != 1) {
                r = y.load(acq);
                if (!r) {
                    skip;
                } else if (r == 2) {
                    goto top;
                } else {
                    s = a[r].load();
                }
                again:
            }
            if (r == s) goto done;
            oneof({
                x.store(1);
            }{ goto top; }{
                lock(lck);
                lck.store(0, rel);
            }{});
            done: fence;
            end:
        }

        fn worker[2] {
            b[tid].store(tid + 1);
        }
        """)
    assert written_again(text) == text


def test_an_empty_function() -> None:
    assert written_again("fn w {}") == "fn w {\n}\n"


@pytest.mark.parametrize(
    "statement",
    [
        "flag.store(1, rel)",
        "flag.store(r)",
        "r = flag.load()",
        "r = flag.load(acq)",
        "r = d.naload()",
        "d.nastore(r + 1)",
        "r = CAS(flag, 0, 1)",
        "CAS(flag, 0, 1, acq)",
        "CAS(flag, 0, 1, rel)",
        "CAS(flag, 0, 1, acq, rel, rlx)",
        "CAS(flag, 0, 1, rlx, rlx, acq)",
        "r = FADD(a[r + 1], 1, acq, rel)",
        "exchange(flag, 2)",
        "BCAS(flag, 1, 2)",
        "lock(flag)",
        "wait(flag, 1)",
        "r = wait(flag, 1, 2, acq)",
        "fence",
        "fence(acq)",
        "assert(r == 1 && !s)",
        "assume(r)",
        "skip",
        "verify(r)",
        "r = s",
    ],
)
def test_an_instruction_is_spelled_as_in_the_file(statement: str) -> None:
    text = f"global flag, a[3]; na d; fn w {{ local r, s; {statement}; }}"
    (instruction,) = tpl.read(text).threads[0].code
    assert tpl.format_instruction(instruction) == statement


@pytest.mark.parametrize(
    ("instruction", "text"),
    [
        (Branch(Binary("==", R, ONE), 3), "if (r == 1) goto …"),
        (Goto(3), "goto …"),
        (Choose((1, 2)), "oneof(…)"),
    ],
)
def test_jumps_in_reports(instruction: Instruction, text: str) -> None:
    assert tpl.format_instruction(instruction) == text


@pytest.mark.parametrize(
    "text",
    [
        "r + s * 1",
        "(r + s) * 1",
        "r - (s - 1)",
        "r - s - 1",
        "!(r == s)",
        "!r == s",
        "-(r + 1)",
        "- -r",
        "!!r",
        "r && (s || 1)",
        "(r & s) == 1",
        "r & s == 1",
        "r * (s / 1)",
        "tid + 1",
    ],
)
def test_expressions_have_no_more_parentheses_than_needed(text: str) -> None:
    (assign,) = tpl.read(f"fn w[2] {{ local r, s; r = {text}; }}").threads[0].code
    assert isinstance(assign, Assign)
    assert tpl.format_expression(assign.value) == text


def expressions() -> st.SearchStrategy[Expression]:
    operators = st.sampled_from(
        ["+", "-", "*", "/", "%", "<", "<=", "==", "!=", ">", ">=", "&&", "||", "&", "^", "|"]
    )
    return st.recursive(
        st.sampled_from([R, S, ONE, Constant(0)]),
        lambda inner: st.one_of(
            st.builds(Unary, st.sampled_from("!-+"), inner), st.builds(Binary, operators, inner, inner)
        ),
        max_leaves=8,
    )


@given(expressions())
@settings(max_examples=200, deadline=None)
def test_a_spelled_expression_is_read_as_itself(expression: Expression) -> None:
    text = tpl.format_expression(expression)
    (assign,) = tpl.read(f"fn w {{ local r, s; r = {text}; }}").threads[0].code
    assert assign == Assign("r", expression)


def test_places_without_a_label_get_one_where_a_goto_needs_it() -> None:
    code = (Skip(), Branch(R, 0), Goto(0), Skip())
    program = Program((), (Thread("t", code, ("r",)),))
    assert tpl.write(program) == dedent("""\
        fn t {
            local r;
            __0: skip;
            if (r) goto __0;
            goto __0;
            skip;
        }
        """)


def test_a_loop_with_a_jump_out_of_it_stays_a_loop() -> None:
    code = (Branch(Unary("!", R), 4), Skip(), Branch(S, 5), Goto(0), Skip(), Skip())
    assert tpl.write(Program((), (Thread("t", code, ("r", "s")),))) == dedent("""\
        fn t {
            local r, s;
            while (r) {
                skip;
                if (s) goto __5;
            }
            skip;
            __5: skip;
        }
        """)


def test_a_goto_over_statements_to_a_label_stays_a_goto() -> None:
    text = "fn w {\n    local r;\n    if (r) goto end;\n    skip;\n    end: skip;\n}\n"
    assert written_again(text) == text


def test_names_that_tpl_cannot_spell_are_replaced() -> None:
    code = (Load("0:r", Cell("if")), Store(Cell("x.y"), Register("x_y")))
    thread = Thread("P 0", code, ("0:r", "x_y"), {"3": 1})
    program = Program((Location("if"), Location("x.y"), Location("x_y_")), (thread,))
    assert tpl.write(program) == dedent("""\
        global if_, x_y, x_y_;

        fn P_0 {
            local v_0_r, x_y__;
            v_0_r = if_.load();
            v_3: x_y.store(x_y__);
        }
        """)


def test_single_copies_of_replicated_functions_are_written_with_their_number() -> None:
    code = (Assign("r", ThreadId()),)
    threads = tuple(Thread("w", code, ("r",), tid=tid, copies=3) for tid in (0, 2))
    written = tpl.write(Program((), threads))
    assert "fn w_0 {\n    local r;\n    r = 0;" in written
    assert "fn w_2 {\n    local r;\n    r = 2;" in written
