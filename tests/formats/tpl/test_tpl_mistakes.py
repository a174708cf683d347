"""Every mistake in a TPL text is one clear message at the token that is wrong."""

from __future__ import annotations

import time

import pytest

from fencepost.errors import InputError
from fencepost.formats import tpl

HEAD = "global x, flag, a[2]; na d;\n"


def mistake(text: str) -> InputError:
    with pytest.raises(InputError) as caught:
        tpl.read(text, "f.tpl")
    return caught.value


def in_function(body: str) -> InputError:
    """The mistake in a function body, whose first character is at line 3, column 1."""
    return mistake(f"{HEAD}fn w {{ local r, count;\n{body}\n}}\n")


def assert_at(error: InputError, line: int, column: int, *words: str) -> None:
    assert (error.line, error.column) == (line, column), str(error)
    for word in words:
        assert word in error.message


def test_the_message_starts_with_the_place_and_comes_with_the_line() -> None:
    error = in_function("r = x;")
    assert str(error) == "f.tpl:3:5: `x` is a location; load it into a local first"
    assert error.source_line == "r = x;"


# --- syntax


def test_missing_semicolon() -> None:
    assert_at(in_function("r = 1\nskip;"), 4, 1, "expected `;` after the statement, found `skip`")


def test_missing_semicolon_after_a_declaration() -> None:
    assert_at(mistake("max_value 3 fn w {}"), 1, 13, "expected `;` after the declaration")
    assert_at(mistake("global x y; fn w {}"), 1, 10, "expected `,` or `;`, found `y`")


def test_blocks_without_braces() -> None:
    assert_at(in_function("while (r != 2);"), 3, 15, "expected `{`, found `;`; an empty block is `{ }`")
    assert_at(in_function("while (1) { if (r) break; }"), 3, 20, "found `break`; one statement needs braces")
    assert_at(in_function("if (r) { skip; } else skip;"), 3, 23, "found `skip`; one statement needs braces")


def test_a_c_program_is_told_from_a_comment() -> None:
    assert_at(mistake("#include <stdatomic.h>\nint x;"), 1, 1, "this is C", "fencepost-cc")
    assert_at(mistake("# define the locations\nfn w {}"), 1, 1, "comments start with `//`")


def test_missing_operand() -> None:
    assert_at(in_function("r = 1 + ;"), 3, 9, "expected an expression, found `;`")


def test_missing_parenthesis() -> None:
    assert_at(in_function("r = (1 + 2;"), 3, 11, "expected `)`, found `;`")
    assert_at(in_function("assert r;"), 3, 8, "expected `(` after `assert`")
    assert_at(in_function("FADD(x, 1;"), 3, 10, "expected `,` or `)`")


def test_unterminated_block_names_the_line_of_its_brace() -> None:
    error = mistake("fn a {\n  skip;\n  while (1) {\n    skip;\n")
    assert_at(
        error, 4, 10, "expected `}`, but the file ends here", "the block opened on line 3 is not closed"
    )


def test_a_function_inside_a_block_names_the_line_of_the_brace() -> None:
    error = mistake("fn a {\n  skip;\nfn b { skip; }\n")
    assert_at(error, 3, 1, "expected `}` before `fn`: the block opened on line 1 is not closed")


def test_unterminated_parenthesis_names_its_line() -> None:
    assert_at(mistake("fn a {\n skip;\n assert(1"), 3, 10, "the `(` on line 3 is not closed")


def test_brackets_in_comments_do_not_count() -> None:
    assert "opened on line 1 " in mistake("fn a {\n// {\n skip;\n").message


def test_a_brace_too_many() -> None:
    assert_at(mistake("fn a { } }"), 1, 10, "this `}` closes nothing")


@pytest.mark.parametrize("keyword", ["if", "lock", "wait", "acq", "fn", "max_value", "CAS"])
def test_keywords_cannot_be_names(keyword: str) -> None:
    words = f"`{keyword}` is a keyword and cannot be a name"
    assert_at(mistake(f"global {keyword}; fn w {{}}"), 1, 8, words)
    assert_at(mistake(f"fn {keyword} {{}}"), 1, 4, words)
    assert_at(mistake(f"fn w {{ local r, {keyword}; }}"), 1, 17, words)
    assert_at(in_function(f"goto {keyword};"), 3, 6, words)


def test_local_after_a_statement() -> None:
    assert_at(mistake("fn w { skip; local r; }"), 1, 14, "`local` declarations come first")


def test_max_value_after_another_declaration() -> None:
    assert_at(mistake("global x; max_value 3; fn w {}"), 1, 11, "`max_value` comes first")


def test_misspelled_words_are_recognised() -> None:
    assert_at(mistake("golbal x; fn w {}"), 1, 1, "did you mean `global`?")
    assert_at(in_function("cas(x, 0, 1);"), 3, 1, "there is no operation `cas`; did you mean `CAS`?")
    assert_at(in_function("whlie (r) {}"), 3, 1, "did you mean `while`?")
    assert_at(in_function("r = x.laod();"), 3, 7, "did you mean `load`?")


def test_if_and_while_need_blocks() -> None:
    assert_at(in_function("if (r) skip;"), 3, 8, "expected `{` or `goto`, found `skip`")
    assert_at(in_function("while (r) skip;"), 3, 11, "expected `{`, found `skip`")
    assert_at(in_function("else {}"), 3, 1, "expected a statement or `}`, found `else`")


def test_comments_of_other_languages() -> None:
    assert_at(mistake("/* hello */ fn w {}"), 1, 1, "comments start with `//`")
    assert_at(mistake("# hello\nfn w {}"), 1, 1, "comments start with `//`")


def test_characters_outside_the_language() -> None:
    assert_at(in_function("r = @;"), 3, 5, "unexpected character `@`; expected an expression")
    assert_at(in_function("r = \0;"), 3, 5, "`U+0000`")
    assert_at(in_function("r = é;"), 3, 5, "`é`")


def test_nothing_at_all() -> None:
    for text in ("", " \n\t\n"):
        assert_at(mistake(text), 1, 1, "the file is empty; expected a program")


def test_no_function() -> None:
    assert_at(mistake("global x;"), 1, 1, "no thread")


# --- names


def test_unknown_location_with_the_one_that_was_meant() -> None:
    error = in_function("r = falg.load();")
    assert_at(error, 3, 5, "`falg` is not a declared location; did you mean `flag`?")


def test_unknown_local_with_the_one_that_was_meant() -> None:
    assert_at(in_function("r = cuont + 1;"), 3, 5, "`cuont` is not a local of `w`; did you mean `count`?")
    assert_at(in_function("cuont = 1;"), 3, 1, "did you mean `count`?")


def test_location_in_an_expression() -> None:
    words = "is a location; load it into a local first"
    assert_at(in_function("if (r == x) {}"), 3, 10, f"`x` {words}")
    assert_at(in_function("r = a[0];"), 3, 5, f"`a` {words}")
    assert_at(in_function("verify(x);"), 3, 8, f"`x` {words}")
    assert_at(in_function("a[x].store(1);"), 3, 3, f"`x` {words}")


def test_assignment_to_a_location() -> None:
    assert_at(in_function("x = 1;"), 3, 1, "`x` is a location; write it with `x.store(…)`")


def test_local_used_as_location() -> None:
    assert_at(in_function("r = count.load();"), 3, 5, "`count` is a local, not a location")
    assert_at(in_function("CAS(r, 0, 1);"), 3, 5, "`r` is a local, not a location")


def test_duplicates() -> None:
    assert_at(mistake("global x, y; na x; fn w {}"), 1, 17, "location `x` is declared twice")
    assert_at(mistake("fn w {} fn w {}"), 1, 12, "function `w` is declared twice")
    assert_at(mistake("fn w {} fn w[2] {}"), 1, 12, "function `w` is declared twice")
    assert_at(mistake("fn w { local r; local s, r; }"), 1, 26, "local `r` is declared twice")
    assert_at(in_function("l: skip; l: skip;"), 3, 10, "label `l` is defined twice")


def test_local_with_the_name_of_a_location() -> None:
    assert_at(mistake("global x; fn w { local r, x; }"), 1, 27, "local `x` has the name of a location")


def test_goto_into_nowhere_names_the_label() -> None:
    assert_at(in_function("goto nowhere;"), 3, 6, "there is no label `nowhere` in `w`")
    assert_at(in_function("start: if (r) goto strat;"), 3, 20, "did you mean `start`?")


def test_labels_are_local_to_their_function() -> None:
    assert_at(mistake("fn a { l: skip; }\nfn b { goto l; }"), 2, 13, "there is no label `l` in `b`")


def test_tid_outside_replicated_functions() -> None:
    assert_at(in_function("r = tid;"), 3, 5, "`tid` exists only in replicated functions")
    assert_at(mistake("fn w[2] { local tid; }"), 1, 17, "`tid`")
    assert_at(mistake("fn w[2] { tid = 1; }"), 1, 11, "cannot be assigned")


# --- numbers


def test_constants_beyond_max_value_at_the_constant() -> None:
    words = "is outside the value domain 0..3 (max_value)"
    assert_at(mistake("max_value 3; global x, y=4; fn w {}"), 1, 26, f"the constant 4 {words}")
    assert_at(mistake("max_value 3; global x; track x: 0, 5; fn w {}"), 1, 36, f"the constant 5 {words}")


def test_max_value_out_of_range() -> None:
    assert_at(mistake("max_value 0; fn w {}"), 1, 11, "at least 1")
    assert_at(mistake("max_value 18446744073709551616; fn w {}"), 1, 11, "larger than 18446744073709551615")


@pytest.mark.parametrize("digits", ["1" * 100_000, "0x" + "f" * 100_000])
def test_huge_numbers(digits: str) -> None:
    error = mistake(f"global x={digits}; fn w {{}}")
    assert_at(error, 1, 10, "is larger than 18446744073709551615")
    assert len(error.message) < 200


@pytest.mark.parametrize("text", ["12ab", "0x", "0xg", "1_000"])
def test_malformed_numbers(text: str) -> None:
    assert_at(in_function(f"r = {text};"), 3, 5, f"`{text}` is not a number")


def test_sizes() -> None:
    assert_at(mistake("fn w[0] {}"), 1, 6, "between 1 and 64 threads")
    assert_at(mistake("fn w[1000000000] {}"), 1, 6, "between 1 and 64 threads")
    assert_at(mistake("global a[0]; fn w {}"), 1, 10, "between 1 and 256 cells")
    assert_at(mistake("global a[99999999999]; fn w {}"), 1, 10, "between 1 and 256 cells")
    assert_at(mistake("global a[200], b[200]; fn w {}"), 1, 16, "400 memory cells")


def test_initial_values_that_do_not_fit_the_array() -> None:
    assert_at(mistake("global a[3]={0, 1}; fn w {}"), 1, 12, "array `a` has 3 cells but 2 initial values")
    assert_at(mistake("global a={0, 1}; fn w {}"), 1, 9, "`a` is not an array", "`a[2]`")


# --- accesses


def test_modes_that_an_access_cannot_have() -> None:
    assert_at(
        in_function("r = x.load(rel);"), 3, 12, "a load cannot be `rel`; expected `rlx`, `acq` or `seq_cst`"
    )
    assert_at(in_function("x.store(1, acq);"), 3, 12, "a store cannot be `acq`; expected `rlx`, `rel` or")
    assert_at(in_function("CAS(x, 0, 1, rel, acq);"), 3, 14, "the read of `CAS` cannot be `rel`")
    assert_at(in_function("CAS(x, 0, 1, acq, acq);"), 3, 19, "the write of `CAS` cannot be `acq`")
    failing = "the read of a `CAS` that fails cannot be `rel`; expected `rlx`, `acq` or `seq_cst`"
    assert_at(in_function("CAS(x, 0, 1, acq, rel, rel);"), 3, 24, failing)
    assert_at(in_function("FADD(x, 1, acq_rel, rel);"), 3, 21, "`FADD` takes two modes")
    assert_at(in_function("FADD(x, 1, rlx, acq_rel);"), 3, 17, "the write of `FADD` cannot be `acq_rel`")
    assert_at(in_function("x.load(release);"), 3, 8, "a load cannot be `rel`")
    assert_at(in_function("FADD(x, 1, seq_cst, rel);"), 3, 21, "`FADD` takes two modes")
    assert_at(in_function("CAS(x, 0, 1, acq, seq_cst);"), 3, 1, "a read-modify-write is seq_cst as a whole")
    assert_at(in_function("wait(x, 1, rel);"), 3, 12, "a wait cannot be `rel`")
    assert_at(in_function("fence(rlx);"), 3, 7, "a fence cannot be `rlx`")
    assert_at(in_function("fence(r);"), 3, 7, "expected a mode")


def test_modes_where_none_belongs() -> None:
    assert_at(in_function("r = x.load(acq, acq);"), 3, 17, "`load` takes one mode")
    assert_at(in_function("CAS(x, 0, 1, acq, rel, rlx, rlx);"), 3, 29, "`CAS` takes three modes")
    assert_at(in_function("BCAS(x, 0, 1, acq, rel, rlx);"), 3, 25, "`BCAS` takes two modes")
    assert_at(in_function("d.nastore(1, rel);"), 3, 14, "`nastore` takes no mode")
    assert_at(in_function("lock(x, acq);"), 3, 9, "`lock` takes no mode")
    assert_at(in_function("CAS(x, acq, 0, 1);"), 3, 13, "the values of `CAS` come before its modes")


def test_wrong_number_of_values() -> None:
    assert_at(in_function("x.store();"), 3, 3, "too few values for `store`; it is used as `x.store(e)`")
    assert_at(in_function("x.store(1, 2);"), 3, 12, "too many values for `store`")
    assert_at(in_function("CAS(x, 0);"), 3, 1, "too few values for `CAS`; it is used as `CAS(x, e1, e2)`")
    assert_at(in_function("wait(x);"), 3, 1, "too few values for `wait`")
    assert_at(in_function("verify(r, r);"), 3, 8, "expected one local, as in `verify(r)`")


def test_calls_without_a_location() -> None:
    assert_at(in_function("CAS();"), 3, 1, "expected a location first")
    assert_at(in_function("CAS(1, 0, 1);"), 3, 5, "expected a location first")
    assert_at(in_function("FADD(acq, 1);"), 3, 6, "expected a location first")


def test_values_that_are_not_there_and_values_that_are_lost() -> None:
    assert_at(in_function("r = BCAS(x, 0, 1);"), 3, 1, "`BCAS` gives no value to assign")
    assert_at(in_function("r = x.store(1);"), 3, 1, "`store` gives no value to assign")
    assert_at(in_function("x.load();"), 3, 3, "expected a local for the value, as in `r = x.load()`")


def test_atomic_access_to_a_non_atomic_location_and_the_reverse() -> None:
    assert_at(in_function("r = d.load();"), 3, 7, "`d` is non-atomic; use `naload`")
    assert_at(in_function("d.store(1);"), 3, 3, "`d` is non-atomic; use `nastore`")
    assert_at(in_function("r = x.naload();"), 3, 7, "`x` is atomic; use `load`")
    assert_at(
        in_function("CAS(d, 0, 1);"), 3, 5, "`d` is non-atomic; `CAS` needs a location declared with `global`"
    )


def test_indices_where_none_belongs_and_none_where_one_belongs() -> None:
    assert_at(in_function("r = a.load();"), 3, 5, "`a` is an array; an access needs an index")
    assert_at(in_function("r = x[0].load();"), 3, 5, "`x` is not an array; it takes no index")
    assert_at(in_function("r = r[0];"), 3, 5, "`r` is a local; it takes no index")


def test_tracking_of_unknown_locations_and_values() -> None:
    assert_at(mistake("global flag; track falg: 0; fn w {}"), 1, 20, "did you mean `flag`?")
    assert_at(mistake("global x; track x: some; fn w {}"), 1, 20, "expected values or `all`, found `some`")


# --- what belongs to other languages


@pytest.mark.parametrize(
    ("body", "column", "words"),
    [
        ("x++;", 2, "there is no `++`; write `r += 1` for a local, `x.fetch_add(1)` for a location"),
        ("--r;", 1, "there is no `--`; write `r -= 1` for a local, `x.fetch_sub(1)` for a location"),
        ("r = x++;", 6, "there is no `++`"),
        ("for (r = 0; r < 3; r++) {}", 21, "there is no `++`"),
        ("for (int i = 0; r < 3; r += 1) {}", 6, "no types such as `int`; declare locals with `local r;`"),
        ("x += 1;", 1, "`x` is a location; write `x.fetch_add(…)`"),
        ("x *= 2;", 1, "`x` is a location; load it into a local first"),
        ("r = &x;", 5, "there are no addresses; write the name of the location without `&`"),
        ("r = *x;", 5, "there are no pointers"),
        ("CAS(&x, 0, 1);", 5, "there are no addresses"),
        ("int r;", 1, "there are no types such as `int`; declare locals with `local r;`"),
        ("unsigned int s = 0;", 1, "there are no types such as `unsigned`"),
        ("uint32_t s = 0;", 1, "there are no types such as `uint32_t`"),
        ("atomic_store(x, 1);", 1, "there is no `atomic_store`; write `x.store(e)`"),
        ("r = atomic_load(x);", 5, "there is no `atomic_load`; write `r = x.load()`"),
        ("r = atomic_load_explicit(&x, acq);", 5, "write `r = x.load()`"),
        ("r = atomic_fetch_or(x, 1);", 5, "write `r = x.fetch_or(e)`"),
        ("atomic_thread_fence(memory_order_seq_cst);", 1, "write `fence;`"),
        ("switch (r) { }", 1, "there is no `switch`; write `if (…) { … } else if (…) { … }`"),
        ("return;", 1, "there is no `return`; write `goto end;`"),
        ("return 0;", 1, "there is no `return`"),
        ("r = r ? 1 : 2;", 7, "there is no `?:`; write `if (…) { … } else { … }`"),
        ("r = r << 1;", 8, "there is no `<<`; multiply or divide by a power of two"),
        ("r = ~r;", 5, "there is no `~`"),
        ("r = x.compare_exchange_strong(r, 1);", 7, "write `r = x.compare_exchange(e1, e2)`"),
        ("x.lock();", 3, "write `lock(x)`"),
        ("r = x.load(std::memory_order_acquire);", 15, "there are no namespaces; write modes as `rlx`"),
        ("if (r = 1) {}", 7, "to compare, write `==`"),
    ],
)
def test_words_of_c_are_told_what_to_write(body: str, column: int, words: str) -> None:
    assert_at(in_function(body), 3, column, words)


@pytest.mark.parametrize("text", ["int x;", "atomic_int x;", "void f() { }", "std::atomic<int> x;"])
def test_declarations_of_c(text: str) -> None:
    assert_at(mistake(text), 1, 1, "there are no types such as", "`global x;`", "`fn t { … }`")


def test_extensions_out_of_place() -> None:
    assert_at(in_function("break;"), 3, 1, "`break` stands in no loop")
    assert_at(in_function("while (r) {} continue;"), 3, 14, "`continue` stands in no loop")
    assert_at(in_function("do { skip; }"), 4, 1, "expected `while`, found `}`")
    assert_at(in_function("do { skip; } while (r)"), 4, 1, "expected `;` after the statement")
    assert_at(in_function("r;"), 3, 2, "expected `=`, `.` or `:` after `r`, found `;`")
    assert_at(in_function("true = 1;"), 3, 1, "`true` is not a local of `w`")


def test_more_than_one_access_in_a_statement() -> None:
    words = "there can be one access among the values of a statement; assign this one to a local first"
    assert_at(in_function("r = x.load() + flag.load();"), 3, 16, words)
    assert_at(in_function("r = CAS(x, flag.load(), x.load());"), 3, 25, words)
    assert_at(in_function("FADD(x.load(), 1);"), 3, 6, "expected a location first, as in `FADD(x, e)`")
    assert_at(in_function("r = BCAS(x, 0, 1) + 1;"), 3, 5, "`BCAS` gives no value")
    assert_at(in_function("if (x.store(1)) {}"), 3, 5, "`store` gives no value")


# --- sizes that would break a naive reader


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("r = " + "(" * 100_000, "parentheses may be nested"),
        ("r = " + "(" * 100_000 + "1" + ")" * 100_000 + ";", "parentheses may be nested"),
        ("r = " + "a[" * 100_000, "parentheses may be nested"),
        ("if (r) {" * 100_000, "blocks may be nested"),
        ("if (r) {" * 50_000 + "}" * 50_000, "blocks may be nested"),
        ("r = " + "1+" * 50_000 + "1;", "the expression is too long"),
        ("r = " + "!" * 100_000 + "1;", "the expression is too long"),
        ("r = " + "1 + (" * 120 + "1" + ")" * 120 + ";", "the expression is too long"),
    ],
)
def test_deep_nesting_is_a_mistake_like_any_other(body: str, words: str) -> None:
    error = in_function(body)
    assert words in error.message
    assert error.line == 3


def test_the_longest_expression_can_be_hashed_compared_and_printed() -> None:
    text = f"fn w {{ local r; r = {' + '.join(['1'] * 101)}; r = {'!' * 101}1; }}"
    program, again = tpl.read(text), tpl.read(text)
    assert program == again
    assert hash(program.threads[0].code) == hash(again.threads[0].code)
    assert repr(program) == repr(again)
    assert tpl.read(tpl.write(program)) == program


def test_long_names_do_not_fill_the_screen() -> None:
    error = in_function(f"r = {'x' * 100_000};")
    assert len(error.message) < 200


def test_a_mistake_at_the_end_of_a_long_file_is_found_in_reasonable_time() -> None:
    start = time.monotonic()
    error = in_function("skip;\n" * 5_000 + "r = foo;")
    assert_at(error, 5_003, 5, "`foo`")
    assert time.monotonic() - start < 30
