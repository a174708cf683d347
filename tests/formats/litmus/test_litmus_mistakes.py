"""Every mistake in a C litmus test is one clear message at the token that is wrong."""

from __future__ import annotations

import time

import pytest

from fencepost.errors import InputError
from fencepost.formats import litmus

RLX = "memory_order_relaxed"


def mistake(text: str, treat_sc_as: str | None = None) -> InputError:
    with pytest.raises(InputError) as caught:
        litmus.read(text, "f.litmus", treat_sc_as=treat_sc_as)
    return caught.value


def in_process(body: str, after: str = "") -> InputError:
    """The mistake in a process, whose first character is at line 4, column 1."""
    head = "C test\n{ x=0; }\nP0(atomic_int* x, int* d, atomic_int* flag) { int r, count;\n"
    return mistake(f"{head}{body}\n}}\n{after}")


def assert_at(error: InputError, line: int, column: int, *words: str) -> None:
    assert (error.line, error.column) == (line, column), str(error)
    for word in words:
        assert word in error.message


def test_the_message_starts_with_the_place_and_comes_with_the_line() -> None:
    error = in_process("r = x; // here")
    assert str(error) == "f.litmus:4:5: `x` is a pointer; its location is `*x`"
    assert error.source_line == "r = x; // here"


# --- the frame


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("AArch64 MP\n{}", "an AArch64 assembly litmus test; fencepost reads C litmus tests"),
        ("X86 SB\n{}", "an X86 assembly litmus test; fencepost reads C litmus tests"),
        ("PPC SB\n{}", "a PPC assembly litmus test; fencepost reads C litmus tests"),
        ("LISA SB\n{}", "a LISA litmus test; fencepost reads C litmus tests"),
        ("Java SB\n{}", "a Java litmus test; fencepost reads C litmus tests"),
        ("global x;", "expected `C` and the name of the test, found `global`"),
        ("", "the file is empty; expected a program"),
    ],
)
def test_other_languages(text: str, message: str) -> None:
    error = mistake(text)
    assert_at(error, 1, 1)
    assert error.message == message


def test_incomplete_frames() -> None:
    assert_at(mistake("C"), 1, 2, "expected the name of the test")
    assert_at(mistake("C a\n"), 2, 1, "expected the initial values", "the file ends here")
    assert_at(mistake("C a\nfoo\n{}"), 2, 1, "expected the initial values", "found `foo`")
    assert_at(mistake('C a\n"foo\n{}'), 2, 1, "this description is not closed")
    assert_at(mistake("C a\n{ x=1;"), 2, 7, "the block opened on line 2 is not closed")
    assert_at(mistake("C a\n{}"), 2, 3, "the test has no process")
    assert_at(mistake("C a\n{}\nexists x=1"), 3, 11, "the test has no process")


def test_unclosed_comments() -> None:
    assert_at(mistake("C a\n{}\n(* (* *)\nP0() {}"), 3, 1, "this comment is not closed; expected `*)`")
    assert_at(in_process("r = 1; /* r"), 4, 8, "this comment is not closed; expected `*/`")


def test_what_may_be_a_comment_or_not() -> None:
    error = in_process("if (* d == 1) { (* here *) }")
    assert_at(error, 4, 4, "cannot tell whether `(*` starts a comment")


def test_initial_values() -> None:
    assert_at(mistake("C a\n{ x=y; }\nP0() {}"), 2, 5, "expected a number, found `y`")
    assert_at(mistake("C a\n{ p=&y; }\nP0() {}"), 2, 5, "expected a number, found `&y`")
    assert_at(mistake("C a\n{ int x[3]; }\nP0() {}"), 2, 7, "`x` is an array")
    assert_at(mistake("C a\n{ int *p; }\nP0() {}"), 2, 8, "`p` is a pointer; locations hold whole numbers")
    assert_at(mistake("C a\n{ float x; }\nP0() {}"), 2, 3, "a location cannot be `float`")
    assert_at(mistake("C a\n{ x=1; [x]=2; }\nP0() {}"), 2, 8, "location `x` has two initial values")
    assert_at(mistake("C a\n{ 0:r=1; 0:r=2; }\nP0() {}"), 2, 10, "register `r` of P0 has two initial values")
    assert_at(mistake("C a\n{ 1:r=1; }\nP0() {}"), 2, 5, "there is no process P1")
    assert_at(mistake("C a\n{ x 1; }\nP0() {}"), 2, 5, "found `1`")


def test_heads_of_processes() -> None:
    assert_at(mistake("C a\n{}\nQ0() {}"), 3, 1, "`Q0` is no process; they are called P0, P1, …")
    assert_at(mistake("C a\n{}\nP0() {}\nP0() {}"), 4, 1, "process P0 is defined twice")
    assert_at(mistake("C a\n{}\nP0(int x) {}"), 3, 8, "`x` is no pointer", "`atomic_int* x`")
    assert_at(mistake("C a\n{}\nP0(int** x) {}"), 3, 4, "pointers to pointers")
    assert_at(mistake("C a\n{}\nP0(int*) {}"), 3, 4, "expected the name of the parameter")
    assert_at(mistake("C a\n{}\nP0(int* x, int* x) {}"), 3, 17, "`x` is a parameter of P0 twice")
    assert_at(mistake("C a\n{}\nP0(atomic_t* x) {}"), 3, 4, "there is no type `atomic_t`")
    assert_at(mistake("C a\n{}\nP0(double* x) {}"), 3, 4, "a location cannot be `double`")


def test_too_many_processes() -> None:
    processes = "\n".join(f"P{n}() {{}}" for n in range(65))
    assert_at(mistake(f"C a\n{{}}\n{processes}"), 67, 1, "65 threads; at most 64")


# --- syntax


def test_missing_tokens() -> None:
    assert_at(in_process("r = 1\nr = 2;"), 5, 1, "expected `;`, found `r`")
    assert_at(in_process("r = ;"), 4, 5, "expected an expression, found `;`")
    assert_at(in_process("r = (1;"), 4, 7, "expected `)`, found `;`")
    assert_at(in_process("if r r = 1;"), 4, 4, "expected `(` after `if`")
    assert_at(in_process("do { } r = 1;"), 4, 8, "expected `while`")
    assert_at(in_process("int = 1;"), 4, 5, "expected a name, found `=`")
    assert_at(in_process("else r = 1;"), 4, 1, "this `else` belongs to no `if`")


def test_brackets() -> None:
    assert_at(in_process("while (r) {"), 5, 2, "expected `}`", "the block opened on line 3 is not closed")
    assert_at(in_process("}"), 5, 1, "this `}` closes nothing")
    assert_at(in_process("", "exists (x=1"), 6, 12, "the `(` on line 6 is not closed")


def test_what_c_has_and_litmus_tests_do_not() -> None:
    assert_at(in_process("goto end;"), 4, 1, "`goto` is not supported")
    assert_at(in_process("struct s t;"), 4, 1, "`struct` is not supported")
    assert_at(in_process("r = count ? 1 : 2;"), 4, 11, "`?:` is not supported")
    assert_at(in_process("r = ~count;"), 4, 5, "the operator `~` is not supported")
    assert_at(in_process("r = 1 << count;"), 4, 7, "the operator `<<` is not supported")
    assert_at(in_process("r = count++;"), 4, 10, "`++` must be a statement of its own")
    assert_at(in_process("int *p = x;"), 4, 6, "`p` is a pointer; only parameters can be pointers")
    assert_at(in_process("int a[3];"), 4, 5, "`a` is an array")
    assert_at(in_process("atomic_int a;"), 4, 1, "`a` is local; only parameters can be atomic")
    assert_at(in_process("float f;"), 4, 1, "a register cannot be `float`")
    assert_at(in_process("r = (int*) x;"), 4, 5, "a cast to `int*` is not supported")
    assert_at(in_process("r = &count;"), 4, 5, "`&` is only supported for the expected value")


def test_jumps_outside_of_loops() -> None:
    assert_at(in_process("if (r) { break; }"), 4, 10, "`break` outside of a loop")
    assert_at(in_process("continue;"), 4, 1, "`continue` outside of a loop")


@pytest.mark.parametrize("number", ["1a", "0b1", "1.5", "0x"])
def test_what_is_no_number(number: str) -> None:
    assert in_process(f"r = {number};").line == 4


def test_numbers() -> None:
    assert_at(in_process("r = 010;"), 4, 5, "octal in C and decimal in herd")
    assert_at(in_process("r = 9223372036854775808;"), 4, 5, "larger than 9223372036854775807")
    assert_at(in_process(f"r = {'9' * 5000};"), 4, 5, "larger than 9223372036854775807")


# --- names


def test_unknown_names() -> None:
    assert_at(in_process("r = cuont;"), 4, 5, "`cuont` is not declared in P0; did you mean `count`?")
    assert_at(in_process("z = 1;"), 4, 1, "`z` is not declared in P0")
    assert_at(in_process("*falg = 1;"), 4, 2, "`falg` is not a parameter of P0; did you mean `flag`?")
    assert_at(in_process("*r = 1;"), 4, 2, "`r` is a register, not a pointer")
    assert_at(in_process("1 = r;"), 4, 1, "expected a register or `*x` left of the assignment")
    assert_at(in_process("r = **d;"), 4, 5, "only a parameter of P0 can come after `*`")
    assert_at(in_process("int d;"), 4, 5, "`d` is a parameter of P0 already")


def test_a_location_that_is_no_parameter() -> None:
    error = mistake("C a\n{ x=1; }\nP0() { *x = 1; }")
    assert_at(error, 3, 9, "`x` is not a parameter of P0; add `atomic_int* x`")


def test_functions() -> None:
    error = in_process(f"r = atomic_laod_explicit(x, {RLX});")
    assert_at(error, 4, 5, "no function `atomic_laod_explicit`; did you mean `atomic_load_explicit`?")
    assert_at(in_process("WRITE_ONCE(*d, 1);"), 4, 1, "`WRITE_ONCE` belongs to the Linux kernel")
    assert_at(in_process("smp_mb();"), 4, 1, "`smp_mb` belongs to the Linux kernel")
    assert_at(in_process(f"atomic_fetch_nand(x, 1, {RLX});"), 4, 1, "no function `atomic_fetch_nand`")
    assert_at(in_process(f"r = atomic_store_explicit(x, 1, {RLX});"), 4, 5, "gives no value")
    assert_at(in_process(f"r = 1 + atomic_store_explicit(x, 1, {RLX});"), 4, 9, "gives no value")


def test_arguments() -> None:
    error = in_process("r = atomic_load_explicit(x);")
    assert_at(error, 4, 5, "too few arguments", "`atomic_load_explicit(x, memory_order_acquire)`")
    error = in_process("atomic_thread_fence();")
    assert_at(error, 4, 1, "too few arguments", "`atomic_thread_fence(memory_order_acq_rel)`")
    assert_at(in_process(f"r = atomic_load(x, {RLX});"), 4, 5, "too many arguments", "`atomic_load(x)`")
    error = in_process(f"atomic_store_explicit(1, 1, {RLX});")
    assert_at(error, 4, 23, "expected a parameter of P0 as the first argument")
    assert_at(in_process(f"atomic_store_explicit(r, 1, {RLX});"), 4, 23, "`r` is a register")


def test_orders() -> None:
    error = in_process("r = atomic_load_explicit(x, memory_order_release);")
    assert_at(error, 4, 29, "`memory_order_release` is no order for this argument", "`memory_order_acquire`")
    error = in_process("atomic_store_explicit(x, 1, memory_order_relase);")
    assert_at(error, 4, 29, "expected a memory order", "did you mean `memory_order_release`?")
    assert_at(in_process("atomic_store_explicit(x, 1, r + 1);"), 4, 29, "expected a memory order")


def test_expected_values() -> None:
    def cas(expected: str, failure: str = RLX) -> InputError:
        call = f"atomic_compare_exchange_strong_explicit(x, {expected}, 1, {RLX}, {failure});"
        return in_process(call)

    assert_at(cas("r"), 4, 44, "expected a pointer to the expected value, as in `&r`")
    assert_at(cas("0"), 4, 44, "expected a pointer to the expected value, as in `&r`")
    assert_at(cas("&d"), 4, 45, "`d` is a pointer")
    assert_at(cas("flag"), 4, 44, "must be a plain `int`; `flag` points to an atomic")
    assert_at(cas("&r", "memory_order_release"), 4, 73, "`memory_order_release` is no order")


# --- seq_cst


def test_seq_cst_can_only_be_treated_in_ways_that_exist() -> None:
    assert "expected fence or acq-rel" in mistake("C a {} P0() {}", treat_sc_as="sc").message


def test_an_atomic_cannot_be_updated_by_an_operator() -> None:
    assert_at(in_process("*x += 1;"), 4, 1, "`x` points to an atomic; use atomic_fetch_add_explicit")


def test_a_location_cannot_be_both_atomic_and_not() -> None:
    error = in_process(f"*d = 1;\natomic_store_explicit(d, 1, {RLX});")
    assert_at(error, 4, 2, "`d` has an atomic access on line 5 and a non-atomic one here")
    threads = f"P0(atomic_int* x) {{ atomic_store_explicit(x, 1, {RLX}); }}\nP1(int* x) {{ *x = 1; }}"
    assert_at(mistake(f"C a\n{{}}\n{threads}"), 4, 15, "`x` has an atomic access on line 3")


# --- the final condition


def test_final_conditions() -> None:
    assert_at(in_process("", "exists (y=1)"), 6, 9, "there is no location `y`")
    assert_at(in_process("", "exists (0:s=1)"), 6, 11, "there is no register `s` in P0")
    assert_at(in_process("", "exists (0:cuont=1)"), 6, 11, "did you mean `count`?")
    assert_at(in_process("", "exists (1:r=1)"), 6, 9, "there is no process P1")
    assert_at(in_process("", "exists (x=d)"), 6, 11, "expected a number, found `d`")
    assert_at(in_process("", "exists (x=1 /\\ )"), 6, 16, "expected a condition")
    assert_at(in_process("", "exists x<1"), 6, 9, "expected `=` or `!=`, found `<`")
    assert_at(in_process("", "exists"), 6, 7, "expected a condition", "the file ends here")
    assert_at(in_process("", "exist (x=1)"), 6, 1, "did you mean `exists`?")
    assert_at(in_process("", "forall x=1\nexists x=1"), 7, 1, "this is the second")
    assert_at(in_process("", "filter (x=1)\nexists x=1"), 6, 1, "`filter` is not supported")


# --- limits


def test_deep_nesting_is_told_and_not_met() -> None:
    assert "nested 60 deep" in in_process("{" * 5000).message
    assert "nested 60 deep" in in_process("if (r) " * 5000 + ";").message
    assert "nested 60 deep" in in_process("while (r) do " * 500 + ";" + " while (r);" * 500).message
    assert "nested 120 deep" in in_process("r = " + "(" * 5000).message
    assert "nested too deeply" in in_process("r = " + "!" * 5000 + "r;").message
    assert "nested too deeply" in in_process("r = " + "1 + " * 5000 + "r;").message
    assert "nested too deeply" in in_process("r = " * 5000 + "1;").message
    assert "nested too deeply" in in_process("r = " + "-(1 + " * 100 + "r" + ")" * 100 + ";").message
    exchange = "atomic_exchange_explicit(x, "
    assert "nested too deeply" in in_process(f"r = {exchange * 50}1{f', {RLX})' * 50};").message


def test_the_deepest_test_is_read() -> None:
    statements = "if (r) {" * 58 + "r = " + "!(1 + " * 49 + "*d" + ")" * 49 + ";" + "}" * 58
    exchanges = "r = " + "atomic_exchange_explicit(x, " * 19 + "1" + f", {RLX})" * 19 + ";"
    condition = "exists " + "(" * 119 + "x=1" + ")" * 119
    litmus.read(f"C a {{}} P0(atomic_int* x, int* d) {{ int r; {statements} {exchanges} }} {condition}")


def test_long_chains_are_not_deep() -> None:
    chain = " else ".join(f"if (r == {n}) {{ r = {n}; }}" for n in range(500))
    condition = " /\\ ".join(["x=1"] * 500) + " /\\ " + "~" * 500 + "x=1"
    litmus.read(f"C a {{}} P0(int* x) {{ int r; {chain} }} exists {condition}")


def test_comments_that_are_not_closed_take_no_time() -> None:
    start = time.monotonic()
    in_process("(* " * 30000)
    in_process("(*d" * 30000)
    assert time.monotonic() - start < 10


def test_a_wrong_maximum() -> None:
    assert_at(mistake("C a\nMaxValue=0\n{} P0() {}"), 2, 1, "MaxValue must be a number between 1 and")
    assert_at(mistake("C a\nMaxValue=x\n{} P0() {}"), 2, 1, "MaxValue must be a number between 1 and")
    assert_at(mistake("C a\nMaxValue=3\n{ x=4; } P0() {}"), 3, 3, "the number 4 is larger than MaxValue=3")
    assert_at(mistake("C a\nMaxValue=3\n{} P0() { int r = 4; }"), 3, 15, "the constant 4 is outside")
    assert_at(
        mistake("C a\nMaxValue=3\n{x=0;} P0() {}\nexists x=4"), 4, 1, "the number 4 is larger than MaxValue=3"
    )
