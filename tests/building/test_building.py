"""Programs built in Python are the programs that their text says."""

import pytest

import fencepost
from fencepost.building import Program, all_of, any_of, not_
from fencepost.errors import InputError
from fencepost.formats.tpl import read
from fencepost.program import Binary, Constant, Register, Unary


def store_buffering(*, fenced=False):
    program = Program("sb", max_value=1)
    x, y = program.atomic("x"), program.atomic("y")
    for name, own, other in (("left", x, y), ("right", y, x)):
        with program.thread(name) as thread:
            thread.store(own, 1, "rel")
            if fenced:
                thread.fence()
            thread.load(other, "acq", into="r")
    return program


def test_a_built_program_is_the_one_that_a_file_would_have():
    assert store_buffering().build() == fencepost.load("examples/tutorial/sb.tpl")


def test_answers_about_it_have_lines_and_repairs_a_text():
    answer = fencepost.robust(store_buffering().build())
    assert answer.file == "sb.tpl"
    lines = store_buffering().text().split("\n")
    assert lines[answer.witness.access.line - 1].strip() == "r = x.load(acq);"
    repaired = fencepost.fix(store_buffering().build())
    assert repaired.repaired == store_buffering(fenced=True).text()


EVERYTHING = """max_value 7;
global x = 1;
global a[3];
global b[2] = {1, 2};
na d[2] = 5;

fn worker[2] {
    local r0, n, old;
    r0 = d[tid].naload();
    d[tid].nastore(r0 + 1);
    n = 3;
    n = FADD(x, n - 1, acq, rel);
    exchange(a[n % 3], tid, rel);
    old = CAS(b[1], 2, 3, acq);
    CAS(x, 0, 1, acq, rel, rlx);
    BCAS(x, 1, 0, acq);
    old = wait(x, 0, 1, acq);
    fence(acq_rel);
    fence;
    assert(old == 0 || old == 1 && !(n > 3));
    if (n == 0) {
        assume(1);
    } else {
        while (n != 0) {
            n = n - 1;
        }
    }
    again:
    oneof({
        x.store(1);
    }{
        goto again;
    });
}
"""


def everything():
    program = Program("everything", max_value=7)
    x = program.atomic("x", 1)
    a = program.atomic("a", size=3)
    b = program.atomic("b", (1, 2))
    d = program.non_atomic("d", 5, size=2)
    t = program.thread("worker", copies=2)
    r = t.load(d[t.tid])
    t.store(d[t.tid], r + 1)
    n = t.local("n", 3)
    t.fetch_add(x, n - 1, "acq_rel", into=n)
    t.exchange(a[n % 3], t.tid, "rel")
    old = t.compare_exchange(b[1], 2, 3, "acq", into="old")
    t.compare_exchange(x, 0, 1, "acq_rel", failure="rlx")
    t.wait_and_exchange(x, 1, 0, "acq")
    t.wait(x, 0, 1, mode="acq", into=old)
    t.fence("acq_rel")
    t.fence()
    t.assert_that(any_of(old == 0, all_of(old == 1, not_(n > 3))))
    with t.if_(n == 0):
        t.assume(1)
    with t.else_(), t.while_(n != 0):
        t.assign(n, n - 1)
    t.label("again")
    t.one_of(lambda: t.store(x, 1), lambda: t.goto("again"))
    return program


def test_every_statement():
    assert everything().text() == EVERYTHING
    assert everything().build() == read(EVERYTHING)


def test_any_number_of_threads():
    program = Program("lock", max_value=1)
    x = program.atomic("x")
    with program.thread("worker", at_least=1) as t:
        t.wait_and_exchange(x, 0, 1, "acq")
        t.store(x, 0, "rel")
    with program.thread("other", at_least=2) as t:
        t.load(x, "acq")
    assert "fn worker[*] {" in program.text()
    built = program.build()
    assert [thread.least for thread in built.templates] == [1, 2]
    assert fencepost.robust(built, "rc20").any_number.k >= 1


def test_threads_of_any_number_have_no_number():
    program = Program("numbered")
    x = program.atomic("x")
    with program.thread("worker", at_least=1) as t:
        t.store(x, t.tid)
    with pytest.raises(InputError, match="there is no `tid` in"):
        program.build()
    with pytest.raises(ValueError, match="not both"):
        program.thread("both", copies=2, at_least=1)


def test_other_read_modify_writes():
    program = Program("fetches", max_value=7)
    x = program.atomic("x")
    t = program.thread("t")
    t.fetch_sub(x, 2, "acq", into="r")
    t.fetch_and(x, 1)
    t.fetch_or(x, t.local("r"), "acq_rel", into="r")
    t.fetch_xor(x, 3, "rel")
    plain = """max_value 7; global x; fn t { local r;
        r = FADD(x, -2, acq); x.fetch_and(1); r = x.fetch_or(r, acq, rel); x.fetch_xor(3, rel); }"""
    assert program.build() == read(plain)


@pytest.mark.parametrize(
    ("made", "operator"),
    [
        (lambda r: r + 2, "+"),
        (lambda r: r - 2, "-"),
        (lambda r: r * 2, "*"),
        (lambda r: r / 2, "/"),
        (lambda r: r % 2, "%"),
        (lambda r: r & 2, "&"),
        (lambda r: r | 2, "|"),
        (lambda r: r ^ 2, "^"),
        (lambda r: r < 2, "<"),
        (lambda r: r <= 2, "<="),
        (lambda r: r > 2, ">"),
        (lambda r: r >= 2, ">="),
        (lambda r: r == 2, "=="),
        (lambda r: r != 2, "!="),
        (lambda r: all_of(r, 2), "&&"),
        (lambda r: any_of(r, 2), "||"),
    ],
)
def test_operators(made, operator):
    r = Program().thread("t").local("r")
    assert made(r).expression == Binary(operator, Register("r"), Constant(2))


@pytest.mark.parametrize(
    ("made", "operator"),
    [
        (lambda r: 2 + r, "+"),
        (lambda r: 2 - r, "-"),
        (lambda r: 2 * r, "*"),
        (lambda r: 2 / r, "/"),
        (lambda r: 2 % r, "%"),
        (lambda r: 2 & r, "&"),
        (lambda r: 2 | r, "|"),
        (lambda r: 2 ^ r, "^"),
    ],
)
def test_a_number_on_the_left(made, operator):
    r = Program().thread("t").local("r")
    assert made(r).expression == Binary(operator, Constant(2), Register("r"))


def test_signs():
    r = Program().thread("t").local("r")
    assert repr(-r * (r + 1)) == "<-r * (r + 1)>"
    assert (-r).expression == Unary("-", Register("r"))
    assert (r + -1).expression == Binary("+", Register("r"), Unary("-", Constant(1)))


class TestMistakes:
    def test_a_value_is_no_condition_of_python(self):
        r = Program().thread("t").local("r")
        with pytest.raises(TypeError, match=r"with thread\.if_"):
            bool(r == 1)

    @pytest.mark.parametrize("name", ["", "a b", "x;", "1x", "ä", "while", "acq"])
    @pytest.mark.parametrize("part", ["atomic", "non_atomic", "thread"])
    def test_a_name_must_be_one(self, part, name):
        with pytest.raises(ValueError, match=r"is no name|keyword"):
            getattr(Program(), part)(name)

    @pytest.mark.parametrize("part", ["local", "label", "goto"])
    def test_in_threads_too(self, part):
        with pytest.raises(ValueError, match="is no name"):
            getattr(Program().thread("t"), part)("x; fence")

    def test_an_unknown_order_is_told_with_those_that_there_are(self):
        program = Program()
        with pytest.raises(ValueError, match="'release'; expected one of rlx, acq, rel, acq_rel, seq_cst"):
            program.thread("t").store(program.atomic("x"), 1, "release")

    def test_else_needs_its_if(self):
        thread = Program().thread("t")
        with thread.while_(1):
            thread.fence()
        with pytest.raises(ValueError, match="directly after the block of an `if_`"), thread.else_():
            pass

    def test_what_is_no_number_is_refused(self):
        program = Program()
        with pytest.raises(TypeError, match="not str"):
            program.thread("t").store(program.atomic("x"), "1")

    def test_what_only_the_whole_program_tells_is_an_input_error(self):
        program = Program("late", max_value=1)
        program.thread("t").store(program.atomic("x"), 2)
        with pytest.raises(
            fencepost.InputError, match=r"late\.tpl:5:13: the constant 2 is outside the value domain"
        ):
            program.build()
