"""Every mistake in a text of automata is one clear message at the word that is wrong."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fencepost.errors import InputError
from fencepost.formats import automata


def mistake(text: str) -> InputError:
    with pytest.raises(InputError) as caught:
        automata.read(text, "f.aut")
    return caught.value


NO_OPERAND = "is no number, register or operator (!, ==, !=, <, <=, >, >=, &&, ||, +, -, *, &)"
NEGATIVE = "negative values cannot be stored: fencepost follows values from 0 on"


def in_transition(words: str) -> InputError:
    """The mistake in an instruction, which begins at line 3, column 16."""
    return mistake(f"thread t\ninitial a\ntransition a b {words}\nend")


def assert_at(error: InputError, line: int, column: int, message: str) -> None:
    assert (error.line, error.column, error.message) == (line, column, message)


def test_the_message_starts_with_the_place_and_comes_with_the_line() -> None:
    error = in_transition("wrote 1 0")
    assert str(error).startswith("f.aut:3:16: there is no instruction `wrote`")
    assert error.source_line == "transition a b wrote 1 0"


@pytest.mark.parametrize(
    ("words", "column", "message"),
    [
        ("raed r 0", 16, "there is no instruction `raed`; expected `write`, `read`, `local`, `check`, "
         "`noop`, `mfence`, `lock` or `unlock`; did you mean `read`?"),
        ("write 1", 23, "expected an address after `1`"),
        ("write", 21, "expected a value after `write`"),
        ("read", 20, "expected a register after `read`"),
        ("read 5 0", 21, "expected a register, found `5`"),
        ("local r", 23, "expected a value after `r`"),
        ("local == 0", 22, "expected a register, found `==`"),
        ("check", 21, "expected a condition after `check`"),
        ("check == r", 26, "expected an operand of `==` after `r`"),
        ("check == r 1 2", 29, "unexpected `2`: the instruction `check` is complete"),
        ("noop now", 21, "unexpected `now`: the instruction `noop` is complete"),
        ("check % r 2", 22, f"`%` {NO_OPERAND}"),
        ("check r==0", 22, f"`r==0` {NO_OPERAND}"),
        ("write -1 0", 22, NEGATIVE),
        ("local r - 1 2", 24, NEGATIVE),
        ("read r -1", 23, "an address cannot be negative"),
        ("write 18446744073709551616 0", 22,
         "the number `18446744073709551616` is too large; at most 18446744073709551615 is supported"),
    ],
)  # fmt: skip
def test_mistakes_in_instructions(words: str, column: int, message: str) -> None:
    assert_at(in_transition(words), 3, column, message)


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        ("", 1, 1, "the file is empty; expected a program"),
        ("# nothing", 1, 1, "the program has no thread"),
        ("memory_size 3", 1, 1, "the program has no thread"),
        ("thraed t", 1, 1, "expected `thread` or `memory_size`, found `thraed`; did you mean `thread`?"),
        ("thread", 1, 7, "expected a name, but the file ends here"),
        ("thread t", 1, 9, "expected `initial`, `transition` or `end`, but the file ends here"),
        ("thread t initial", 1, 17, "expected a name, but the file ends here"),
        ("thread t\ninitial a\n", 2, 10, "expected `initial`, `transition` or `end`, but the file ends here"),
        ("thread t initial a transition a", 1, 32, "expected a name, but the file ends here"),
        ("thread t initial a transition a b end", 1, 35, "expected an instruction, found `end`"),
        ("thread t initial a transition a b", 1, 34, "expected an instruction, but the file ends here"),
        ("thread t initial a\nthread u initial a end", 2, 1,
         "expected `end` before `thread`: the thread before it is not closed"),
        ("thread t initial a end end", 1, 24, "expected `thread` or `memory_size`, found `end`"),
        ("thread t initial a #comment\nend", 1, 20,
         "expected `initial`, `transition` or `end`, found `#comment`; a comment starts with `# `"),
        ("thread t initial a transitoin a b noop end", 1, 20,
         "expected `initial`, `transition` or `end`, found `transitoin`; did you mean `transition`?"),
        ("thread t\ntransition a b noop end", 1, 1, "thread `t` has no initial state; expected `initial`"),
        ("thread t initial a initial b end", 1, 28, "thread `t` has two initial states"),
        ("thread t initial strat transition start b noop end", 1, 18,
         "no transition leaves the initial state `strat`; did you mean `start`?"),
        ("thread t initial a end\nthread t initial a end", 2, 8, "thread `t` is declared twice"),
        ("thread t two initial a end", 1, 10, "expected between 1 and 64 copies, found `two`"),
        ("thread t 0 initial a end", 1, 10, "expected between 1 and 64 copies, found `0`"),
        ("thread t 65 initial a end", 1, 10, "expected between 1 and 64 copies, found `65`"),
        ("memory_size many thread t initial a end", 1, 13,
         "expected between 1 and 18446744073709551615 cells, found `many`"),
        ("memory_size 2 memory_size 3 thread t initial a end", 1, 15, "`memory_size` is declared twice"),
        ("memory_size", 1, 12, "expected a number of cells, but the file ends here"),
    ],
)  # fmt: skip
def test_mistakes_around_instructions(text: str, line: int, column: int, message: str) -> None:
    assert_at(mistake(text), line, column, message)


def test_too_many_threads() -> None:
    text = "\n".join(f"thread t{n} initial a end" for n in range(65))
    assert_at(mistake(text), 65, 1, "the program has 65 threads; at most 64 are supported")


# --- hostile input


@pytest.mark.parametrize("operators", ["+ ", "! ", "+ 1 ", "+ r & "])
def test_deep_expressions_are_refused(operators: str) -> None:
    error = in_transition(f"check {operators * 10_000}1")
    assert (error.line, error.column) == (3, 22)
    assert error.message == (
        "the expression is too long: at most 100 operators may be applied on top of each other; "
        "assign a part of it first"
    )


def test_the_deepest_expression_is_read() -> None:
    automata.read(f"thread t initial a transition a b check {'+ 1 ' * 100}r end")
    automata.read(f"thread t initial a transition a b check ! {'+ 1 ' * 100}r end")


def test_endless_numbers_are_refused() -> None:
    assert "is too large" in in_transition(f"write {'9' * 100_000} 0").message
    assert "negative" in in_transition(f"write -{'0' * 100_000}1 0").message


def test_long_words_are_shortened_in_messages() -> None:
    assert len(in_transition("x" * 100_000).message) < 300


def test_a_section_that_computes_without_end_is_refused() -> None:
    doubling = "".join(f" transition d{n} d{n + 1} local r + r r" for n in range(150))
    text = f"thread t initial a transition a b lock transition b d0 read r 0{doubling}"
    error = mistake(f"{text} transition d150 c write r 0 transition c d unlock end")
    assert (error.line, error.column) == (1, 20)
    assert "computes too much" in error.message


WORDS = (
    *("thread", "initial", "transition", "end", "memory_size", "write", "read", "local", "check", "noop"),
    *("mfence", "lock", "unlock", "t", "u", "a", "b", "c", "r", "s", "0", "1", "2", "-1"),
    *("!", "==", "<", "+", "&", "#", "\n"),
)
VALID = """memory_size 4
thread t 2
    initial a
    transition a b write + r 1 0      # comment
    transition b c read r 1
    transition c a check == r 0
    transition c d check != r 0
    transition d e lock
    transition e f read s 2
    transition f g check == s 0
    transition g h write 1 2
    transition h i unlock
    transition f j check != s 0
    transition j d unlock
end
"""


def check_read_or_rejected(text: str) -> None:
    error = None
    try:
        automata.read(text, "f.aut")
    except InputError as caught:
        error = caught
    if error is not None:
        assert 1 <= error.line <= text.count("\n") + text.count("\r") + 1
        assert error.column >= 1
        own_words = re.sub("`.*?`", "", error.message)
        for name in ("Token", "_END", "WORD", "NAME", "SIZE", "$END", "Unexpected"):
            assert name not in own_words


@given(st.lists(st.sampled_from(WORDS), max_size=60).map(" ".join))
@settings(max_examples=300, deadline=None)
def test_any_words_are_read_or_rejected_with_a_place(text: str) -> None:
    check_read_or_rejected(text)


@given(st.text() | st.text(alphabet="thread ini#\n\t\r\0é01+-=!"))
@settings(max_examples=150, deadline=None)
def test_any_text_is_read_or_rejected_with_a_place(text: str) -> None:
    check_read_or_rejected(text)


@given(st.lists(st.tuples(st.integers(0, 90), st.sampled_from(["", *WORDS])), min_size=1, max_size=4))
@settings(max_examples=300, deadline=None)
def test_a_mutated_program_is_read_or_rejected_with_a_place(mutations: list[tuple[int, str]]) -> None:
    words = VALID.replace("\n", " \n ").split(" ")
    for place, word in mutations:
        words[place % len(words)] = word
    check_read_or_rejected(" ".join(words))
