"""Programs as in Figure 8 of persist-2015 are read as the instructions they mean, at their places."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fencepost import load
from fencepost.errors import InputError
from fencepost.formats import persist
from fencepost.program import (
    Assign,
    Assume,
    Binary,
    BlockingCompareExchange,
    Branch,
    Cell,
    Choose,
    Constant,
    Fence,
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

# Figure 2.
SIMPLE = """program simple vars x,y,z,t procs
process p1
regs $r1 init q1
begin
q1: t=1; goto q2
q2: x=2; goto q2
q2: z=1; goto q3
q3: $r1=x; goto q4
end
process p2
regs $r2 init s1
begin
s1: t=1; goto s2
s2: y=1; goto s3
s3: $r2=t; goto s4
s4: x= $r2; goto s5
end
"""

X, Y = Cell("x"), Cell("y")
R, S = Register("$r"), Register("$s")


def read(*instructions: str) -> Program:
    """A process with these instructions, which starts at `q`; the first is in line 2."""
    body = "\n".join(instructions)
    return persist.read(
        f"program p vars x y procs process t regs $r, $s init q begin\n{body}\nend", "f.persist"
    )


def instruction(statement: str) -> Instruction:
    (only,) = read(f"q: {statement}; goto e").threads[0].code
    return only


def test_the_program_of_figure_2() -> None:
    program = persist.read(SIMPLE)
    assert program.cells == ("x", "y", "z", "t")
    assert program.initial_memory == (0, 0, 0, 0)
    assert [thread.name for thread in program.threads] == ["p1", "p2"]
    assert (program.max_value, program.wraps, program.warnings) == (2, False, ())
    p1, p2 = program.threads
    assert p1.code == (
        Store(Cell("t"), Constant(1)),
        Choose((2, 4)),
        Store(X, Constant(2)),
        Goto(1),
        Store(Cell("z"), Constant(1)),
        Load("$r1", X),
    )
    assert p1.labels == {"q1": 0, "q2": 1, "q3": 5, "q4": 6}
    assert p2.code[-2:] == (Load("$r2", Cell("t")), Store(X, Register("$r2")))
    assert [i.at for i in p1.code] == [Position(line, 1) for line in (5, 6, 6, 6, 7, 8)]


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("x = 1", Store(X, Constant(1))),
        ("x = $r + 1", Store(X, Binary("+", R, Constant(1)))),
        ("$r = y", Load("$r", Y)),
        ("$r = $s", Assign("$r", S)),
        ("$r = -$s * ($r - 1) + 7", Assign("$r", Binary(
            "+", Binary("*", Unary("-", S), Binary("-", R, Constant(1))), Constant(7)))),
        ("fence", Fence()),
        ("skip", Skip()),
        ("arw(x, 0, $r)", BlockingCompareExchange(X, Constant(0), R)),
        ("assume $r", Assume(R)),
        ("assume !($r = 1)", Assume(Unary("!", Binary("==", R, Constant(1))))),
        ("assume $r == 1 && $s != 2", Assume(Binary(
            "&&", Binary("==", R, Constant(1)), Binary("!=", S, Constant(2))))),
    ],
)  # fmt: skip
def test_statements(statement: str, expected: Instruction) -> None:
    assert instruction(statement) == expected


def test_assumptions_that_leave_one_label_are_a_branch() -> None:
    program = read("q: $r = x; goto p", "p: assume $r == 0; goto q", "p: assume $r != 0; goto e")
    assert program.threads[0].code == (Load("$r", X), Branch(Binary("==", R, Constant(0)), 0))


def test_what_may_be_left_out_or_added() -> None:
    bare = "program p vars procs process t regs init q begin q: skip; goto q; end"
    assert persist.read(bare).threads[0].code == (Skip(), Goto(0))
    assert persist.read(f"// comment\n# expect: robust tso=yes\n{bare}") == persist.read(bare)
    assert persist.read("program p vars x procs process t regs init q begin end").threads[0].code == ()


def test_values_are_followed_as_far_as_they_go() -> None:
    assert read("q: $r = $r + 1; goto p", "p: assume $r < 7; goto q").max_value == 7
    growing = read("q: $r = $r + 1; goto q")
    assert growing.max_value == 255
    assert growing.warnings == (
        "line 2: no bound was found for the values of register `$r` of `t`; values are followed up to 255",
    )


def test_a_register_that_is_never_assigned_is_a_warning() -> None:
    assert read("q: x = $s; goto e").warnings == ("line 2: register `$s` of `t` is never assigned; it is 0",)


def test_files_are_known_by_their_ending(tmp_path: Path) -> None:
    file = tmp_path / "f.persist"
    file.write_text(SIMPLE, encoding="utf-8")
    assert load(file) == persist.read(SIMPLE)


# --- mistakes


def mistake(text: str) -> InputError:
    with pytest.raises(InputError) as caught:
        persist.read(text, "f.persist")
    return caught.value


NEGATIVE = "negative values cannot be stored: fencepost follows values from 0 on"
STATEMENT = "an assignment, `fence`, `arw`, `skip` or `assume`"


@pytest.mark.parametrize(
    ("line", "column", "message"),
    [
        ("q: $r = z; goto e", 9, "`z` is not a local of `t`"),
        ("q: $q = x; goto e", 4, "`$q` is not a local of `t`"),
        ("q: x = y; goto e", 8, "`y` is a location; load it into a local first"),
        ("q: $r = x + 1; goto e", 9, "`x` is a location; load it into a local first"),
        ("q: arw($r, 0, 1); goto e", 8, "`$r` is not a declared variable"),
        ("q: arw(x, 0); goto e", 12, "expected `,`, found `)`"),
        ("q: x = -1; goto e", 8, NEGATIVE),
        ("q: arw(x, 0, 1 - 2); goto e", 14, NEGATIVE),
        ("q: x == 1; goto e", 6, "expected `=`, found `==`"),
        ("q: x = ; goto e", 8, "expected an expression, found `;`"),
        ("q: ; goto e", 4, f"expected {STATEMENT}, found `;`"),
        ("q: skip goto e", 9, "expected `;`, found `goto`"),
        ("q: skip; e", 10, "expected `goto`, found `e`"),
        ("q: skip; goto end", 15, "`end` is a keyword and cannot be a name"),
        ("q skip; goto e", 3, "expected `:`, found `skip`"),
        ("q: x = 1 @ 2; goto e", 10, "unexpected character `@`; expected `;`"),
        ("begin q: skip; goto e", 1, "expected a label or `end`, found `begin`"),
        ("q: x = 18446744073709551616; goto e", 8,
         "the number `18446744073709551616` is larger than 18446744073709551615"),
    ],
)  # fmt: skip
def test_mistakes_in_instructions(line: str, column: int, message: str) -> None:
    with pytest.raises(InputError) as caught:
        read(line)
    assert (caught.value.line, caught.value.column) == (2, column)
    assert caught.value.message == message


def test_the_initial_label_must_be_one() -> None:
    error = mistake("program p vars procs process t regs init q begin p: skip; goto e end")
    assert (error.line, error.column) == (1, 42)
    assert error.message == "no instruction has the initial label `q`"


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("", 1, "the file is empty; expected a program"),
        ("thread t", 1, "expected `program`, found `thread`"),
        ("program p vars x", 17, "expected `procs` or a name, but the file ends here"),
        ("program p vars x procs", 1, "the program has no thread"),
        ("program p vars x, x procs", 19, "variable `x` is declared twice"),
        ("program p vars x procs process t regs r r init q begin end", 41, "register `r` is declared twice"),
        ("program p vars x procs process t regs x init q begin end", 39,
         "register `x` has the name of a variable"),
        ("program p vars procs process t regs init q begin", 49,
         "expected a label or `end`, but the file ends here"),
        ("program p vars procs process t regs init q begin end end", 54,
         "expected `process`, found `end`"),
        ("program p vars procs process t regs init q begin end process t regs init q begin end", 62,
         "process `t` is declared twice"),
        ("program p vars procs proces t", 22, "expected `process`, found `proces`; did you mean `process`?"),
    ],
)  # fmt: skip
def test_mistakes_around_instructions(text: str, column: int, message: str) -> None:
    error = mistake(text)
    assert (error.line, error.column, error.message) == (1, column, message)


@pytest.mark.parametrize("deep", ["(" * 10_000, "!" * 10_000 + "1", "-" * 10_000 + "1", "1+" * 10_000 + "1"])
def test_deep_expressions_are_refused(deep: str) -> None:
    with pytest.raises(InputError) as caught:
        read(f"q: $r = {deep}; goto e")
    assert caught.value.line == 2


WORDS = re.findall(r"\$?\w+|\S+|\n", SIMPLE + "fence arw ( x , 0 , 1 ) skip assume ! + @ # //")


def check_read_or_rejected(text: str) -> None:
    error = None
    try:
        persist.read(text, "f.persist")
    except InputError as caught:
        error = caught
    if error is not None:
        assert 1 <= error.line <= text.count("\n") + text.count("\r") + 1
        assert error.column >= 1
        own_words = re.sub("`.*?`", "", error.message)
        for name in ("Token", "_END", "NAME", "EQUAL", "LPAR", "Unexpected"):
            assert name not in own_words


@given(st.lists(st.sampled_from(WORDS), max_size=60).map(" ".join) | st.text())
@settings(max_examples=200, deadline=None)
def test_any_text_is_read_or_rejected_with_a_place(text: str) -> None:
    check_read_or_rejected(text)


@given(st.lists(st.tuples(st.integers(0, 200), st.sampled_from(["", *WORDS])), min_size=1, max_size=4))
@settings(max_examples=200, deadline=None)
def test_a_mutated_program_is_read_or_rejected_with_a_place(mutations: list[tuple[int, str]]) -> None:
    words = re.findall(r"\$?\w+|[:=;,]|\n", SIMPLE)
    for place, word in mutations:
        words[place % len(words)] = word
    check_read_or_rejected(" ".join(words))
