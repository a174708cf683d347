"""What must not happen, as files and options say it: the forms that are read, and every mistake with its
place."""

from __future__ import annotations

import pytest

from fencepost.errors import InputError
from fencepost.formats.formula import MOST_NESTED
from fencepost.formats.properties import both, given_property, spelled, stated_property
from fencepost.formats.tpl import read
from fencepost.program import Program
from fencepost.program.conditions import And, Formula, Not, Or, RegisterIs, StandsAt
from fencepost.program.properties import Property

CODE = """max_value 3;
global x;
fn p[2] { local r, s; r = x.load(); cs: x.store(1); out: }
fn q { local t; broken: t = x.load(); }
"""


def program(*comments: str) -> Program:
    return read("".join(f"{comment}\n" for comment in comments) + CODE, "a.tpl")


def bad(formula: str) -> Formula | None:
    return given_property(program(), (), (), (formula,)).bad


IN_CS = StandsAt("p[0]", "cs")
R_IS_2 = RegisterIs("p[1]", "r", 2)
T_IS_0 = RegisterIs("q", "t", 0)


class TestInAFile:
    def test_nothing_is_stated(self) -> None:
        assert (
            stated_property(program("// a comment about mutex: none", "// expect: robust ra=yes"))
            == Property()
        )

    def test_labels_that_exclude_each_other(self) -> None:
        assert stated_property(program("// mutex: cs, broken")) == Property(mutex=("cs", "broken"))

    def test_labels_that_must_not_be_reached(self) -> None:
        stated = stated_property(program("// error-label: broken", "  //error-label:out,cs"))
        assert stated == Property(error_labels=("broken", "out", "cs"))

    def test_several_formulas_are_all_forbidden(self) -> None:
        stated = stated_property(program("// bad: p[0]@cs", "// bad: p[1].r == 2"))
        assert stated == Property(bad=Or((IN_CS, R_IS_2)))

    def test_only_comments_with_a_line_to_themselves_count(self) -> None:
        text = CODE.replace("global x;", "global x; // mutex: nothing")
        assert stated_property(read(text, "a.tpl")) == Property()

    def test_line_ends_of_other_systems(self) -> None:
        assert stated_property(read("// mutex: cs\r\n" + CODE, "a.tpl")) == Property(mutex=("cs",))


class TestFormulas:
    @pytest.mark.parametrize(
        ("text", "formula"),
        [
            ("p[0]@cs", IN_CS),
            ("  p[0] @ cs ", IN_CS),
            ("q.t == 0", T_IS_0),
            ("q.t=0", T_IS_0),
            ("q.t != 3", RegisterIs("q", "t", 3, "!=")),
            ("q.t == 0003", RegisterIs("q", "t", 3)),
            ("!p[0]@cs", Not(IN_CS)),
            ("!!(p[0]@cs)", Not(Not(IN_CS))),
            ("p[0]@cs && p[1].r == 2 && q.t == 0", And((IN_CS, R_IS_2, T_IS_0))),
            ("p[0]@cs || p[1].r == 2 && q.t == 0", Or((IN_CS, And((R_IS_2, T_IS_0))))),
            ("(p[0]@cs || p[1].r == 2) && q.t == 0", And((Or((IN_CS, R_IS_2)), T_IS_0))),
            ("!p[0]@cs && q.t == 0", And((Not(IN_CS), T_IS_0))),
            ("(" * 1000 + "p[0]@cs" + ")" * 1000, IN_CS),
        ],
    )
    def test_they_bind_as_in_c(self, text: str, formula: Formula) -> None:
        assert bad(text) == formula

    @pytest.mark.parametrize(
        "text", ["p[0]@cs", "!(q.t != 1)", "(p[0]@cs || p[1]@cs) && !(q.t == 1 && q@broken)"]
    )
    def test_what_is_spelled_reads_back(self, text: str) -> None:
        wanted = Property(("cs",), ("broken", "out"), bad(text))
        comments = [f"// {line}" for line in spelled(wanted).split("; ")]
        assert stated_property(program(*comments)) == wanted


class TestOptions:
    def test_each_can_be_given_several_times(self) -> None:
        given = given_property(program(), ["cs", "out, broken"], ["cs", "out"], ["p[0]@cs", "q.t == 0"])
        assert given == Property(("cs", "out", "broken"), ("cs", "out"), Or((IN_CS, T_IS_0)))

    def test_they_add_to_what_the_file_states(self) -> None:
        stated = Property(("cs",), ("out",), IN_CS)
        given = Property(("broken",), (), T_IS_0)
        assert both(stated, given) == Property(("cs", "broken"), ("out",), Or((IN_CS, T_IS_0)))
        assert both(Property(), given) == given


NOT_A_FORMULA = "expected a formula such as `p0@cs && p1.r == 2`"
MISTAKES = [
    ("mutex: nowhere", 11, "`nowhere` is not a label of the program; its labels are: broken, cs, out"),
    ("mutex: cs,  nowhere", 16, "`nowhere` is not a label of the program; its labels are: broken, cs, out"),
    ("mutex: cs,", 14, "`` is not a label of the program; its labels are: broken, cs, out"),
    ("mutex:", 10, "`` is not a label of the program; its labels are: broken, cs, out"),
    ("error-label: cs out", 17, "`cs out` is not a label of the program; its labels are: broken, cs, out"),
    ("bad:", 8, NOT_A_FORMULA),
    ("bad: p[0]", 13, NOT_A_FORMULA),
    ("bad: p[0]@cs &&", 19, NOT_A_FORMULA),
    ("bad: p[0]@cs & q@broken", 17, NOT_A_FORMULA),
    ("bad: (p[0]@cs", 17, NOT_A_FORMULA),
    ("bad: p[0]@cs)", 16, NOT_A_FORMULA),
    ("bad: q.t < 2", 13, NOT_A_FORMULA),
    ("bad: q.t == -1", 16, NOT_A_FORMULA),
    ("bad: x == 1", 9, "a formula about all states names threads; --assert names locations"),
    ("bad: z == 1", 9, "`z` is not a location; the locations are: x"),
    ("assert:", 11, "expected a formula such as `x == 1 && p1.r == 2`"),
    ("assert: x[0] == 1", 12, "`x` is not a location; the locations are: x"),
    ("assert: x == 4", 17, "values are 0..3 (max_value)"),
    ("assert: q@broken", 12, "the formula is about the end, where threads stand at no label"),
    ("bad: q.t == 0 && p@cs", 21, "`p` is not a thread; the threads are: p[0], p[1], q"),
    ("bad: !(q@cs)", 13, "`cs` is not a label of q; its labels are: broken"),
    ("bad: q@broken && q.r == 1", 23, "`r` is not a local of q; its locals are: t"),
    ("bad: q.t == 4", 16, "values are 0..3 (max_value)"),
    ("bad: q.t == " + "9" * 10_000, 16, "values are 0..3 (max_value)"),
    (
        "bad: " + "!" * 10_000 + "q.t == 1",
        9,
        f"a formula may be nested {MOST_NESTED} deep; this one is deeper",
    ),
]


@pytest.mark.parametrize(("comment", "column", "message"), MISTAKES, ids=lambda part: str(part)[:30])
def test_mistakes_are_told_with_their_place(comment: str, column: int, message: str) -> None:
    asked = program("// the second line is wrong", f"// {comment}")
    with pytest.raises(InputError) as caught:
        stated_property(asked)
    error = caught.value
    assert (error.message, error.file, error.line, error.column) == (message, "a.tpl", 2, column)
    assert error.source_line == f"// {comment}"


def test_a_mistake_in_an_option_names_the_option() -> None:
    for option, given, message in [
        ("--mutex", (["cs, nowhere"], [], []), "--mutex:1:5: `nowhere` is not a label"),
        ("--error-label", ([], ["nowhere"], []), "--error-label:1:1: `nowhere` is not a label"),
        ("--bad", ([], [], ["q.t == 0 &&"]), "--bad:1:12: expected a formula"),
    ]:
        with pytest.raises(InputError) as caught:
            given_property(program(), *given)
        assert str(caught.value).startswith(message), option


def test_a_program_without_labels_says_so() -> None:
    with pytest.raises(InputError, match="its labels are: none"):
        stated_property(read("// mutex: cs\nglobal x; fn t { x.store(1); }", "a.tpl"))


def test_a_thread_without_locals_says_so() -> None:
    with pytest.raises(InputError, match="`r` is not a local of t; its locals are: none"):
        stated_property(read("// bad: t.r == 0\nglobal x; fn t { x.store(1); }", "a.tpl"))
