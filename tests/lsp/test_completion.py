"""What is offered where something is typed, held against programs that exist and against the reader."""

from __future__ import annotations

from pathlib import Path

import pytest

from fencepost.errors import InputError
from fencepost.formats.tpl import read
from fencepost.lsp.calls import LITMUS_CALLS, TPL_CALLS, TPL_METHODS, open_call
from fencepost.lsp.completion import completions
from fencepost.lsp.languages import LITMUS, TPL
from fencepost.lsp.symbols import LitmusSymbols, Symbols, is_type
from fencepost.program import Mode

EXAMPLES = Path(__file__).parents[2] / "examples"
PROGRAMS = sorted([*EXAMPLES.glob("tutorial/*.tpl"), *EXAMPLES.glob("rocker/*.tpl")])[::3]
TESTS = sorted(EXAMPLES.glob("litmus-c/*.litmus"))[::12]
TEXT = """// mutex: cs
// bad: worker[0]@cs && writer.
global x, flags[2];
na data;
fn writer { local r, old;
    top: r = x.load(acq);
    cs: data.nastore(r);
    goto top;
}
fn worker[2] { local mine; cs: mine = flags[tid].load(acq);
    CAS(x, 0, mine, acq, rel, rlx); wait(x, 1, 2, acq);
    FADD(x, 1, acq_rel, rlx); CAS(x, 1, 0, seq_cst, rlx); }
"""


def offered(before: str, text: str = TEXT, language=TPL) -> list[str]:
    """What is offered right behind the first occurrence of `before`."""
    line = text[: text.index(before) + len(before)].count("\n") + 1
    typed = (text[: text.index(before)] + before).rpartition("\n")[2]
    return [one.text for one in completions(language, language.symbols(text), line, len(typed) + 1, typed)]


@pytest.mark.parametrize("file", [*PROGRAMS, *TESTS], ids=lambda file: file.name)
def test_what_stands_in_a_program_is_offered_there(file):
    """Every word of it but new names, asked for where its first letter has just been typed."""
    language = LITMUS if file.suffix == ".litmus" else TPL
    text = file.read_text(encoding="utf-8")
    lines = text.split("\n")
    symbols = language.symbols(text)
    declared = {symbol.word for symbol in symbols.declared}
    words = [word for word in symbols.words if word.is_name and word not in declared and word.function]
    final = [word.line for word in symbols.words if word.text in ("exists", "forall")]
    for word in words:
        if language is LITMUS and (is_type(word.text) or word.line >= min(final, default=1 << 20)):
            continue
        typed = lines[word.line - 1][: word.column]
        found = completions(language, symbols, word.line, word.column + 1, typed)
        if word.text not in ("fn", "global", "na"):  # where the declaration before it has just ended
            assert word.text in [one.text for one in found], (word, found)


@pytest.mark.parametrize(
    ("before", "texts", "others"),
    [
        ("x.", {"load", "store", "fetch_add", "compare_exchange"}, {"naload", "x"}),
        ("flags[tid].", {"load", "exchange"}, {"nastore"}),
        ("data.", {"naload", "nastore"}, {"load"}),
        ("x.load(", {"rlx", "acq", "seq_cst"}, {"rel", "x"}),
        ("CAS(", {"x", "flags"}, {"acq", "mine"}),
        ("CAS(x, ", {"mine", "tid"}, {"acq", "r"}),
        ("CAS(x, 0, mine, ", {"acq", "rel", "acq_rel"}, {"mine"}),
        ("CAS(x, 0, mine, acq, ", {"rel", "rlx"}, {"acq", "seq_cst"}),
        ("CAS(x, 0, mine, acq, rel, ", {"acq", "rlx"}, {"rel"}),
        ("FADD(x, 1, acq_rel, ", set(), {"acq", "rel"}),
        ("CAS(x, 1, 0, seq_cst, ", {"rlx", "acq"}, {"rel"}),
        ("wait(x, 1, 2, ", {"mine", "acq"}, {"rel"}),
        ("goto ", {"top", "cs"}, {"r", "x"}),
        ("fn writer { ", {"local", "if", "fence", "CAS", "x", "r"}, {"mine", "else", "global"}),
        ("top: r = ", {"x", "r", "CAS", "true"}, {"BCAS", "if"}),
        ("local r, ", set(), {"x", "r"}),
        ("// mutex: ", {"top", "cs"}, {"writer"}),
        ("// bad: ", {"writer", "worker[0]", "worker[1]", "x"}, {"worker", "cs"}),
        ("// bad: worker[0]@", {"cs", "end"}, {"top", "mine"}),
        ("&& writer.", {"r", "old"}, {"mine", "top"}),
        ("}\n", {"fn", "global"}, {"max_value", "x"}),
    ],
)
def test_what_fits_is_offered(before, texts, others):
    found = set(offered(before))
    assert texts <= found
    assert not others & found


def test_an_empty_file_can_begin_with_max_value():
    assert offered("", "") == ["max_value", "global", "na", "fn", "track"]
    assert offered("// just wo", "// just words\n") == []
    assert "bad:" in offered("// ", "// \n")


SB = """C SB
{ x = 0; y = 0; }
P0(atomic_int* x, atomic_int* y) {
  atomic_store_explicit(x, 1, memory_order_release); (* why *)
  int r0 = atomic_load_explicit(y, memory_order_acquire);
}
exists (0:r0 = 0)
"""


def test_litmus_tests_get_functions_and_orders():
    orders = offered("atomic_store_explicit(x, 1, ", SB, LITMUS)
    assert orders == ["memory_order_relaxed", "memory_order_release", "memory_order_seq_cst"]
    assert {"x", "y"} <= set(offered("atomic_load_explicit(", SB, LITMUS))
    assert {"atomic_fetch_add", "int", "r0", "x"} <= set(offered("(* why *)", SB, LITMUS))
    assert offered("(* w", SB, LITMUS) == []


def calls(name, before, orders):
    """A program with the call, its first orders as given."""
    signature = TPL_METHODS[name] if before else TPL_CALLS[name]
    location = "x" if signature.is_atomic else "d"
    values = [
        location if one.kind == "location" else "1" for one in signature.parameters if one.kind != "order"
    ]
    target = f"{location}." if before else ""
    result = "r = " if signature.gives_value else ""
    call = f"{result}{target}{name}({', '.join([*values, *orders])});"
    return f"global x; na d; fn t {{ local r; {call} }}"


@pytest.mark.parametrize(
    ("name", "is_method"),
    [*((name, False) for name in TPL_CALLS), *((name, True) for name in TPL_METHODS)],
)
def test_the_orders_offered_are_those_that_the_reader_takes(name, is_method):
    """At each place with the orders before it as they are usually, one of which is for the read."""
    signature = TPL_METHODS[name] if is_method else TPL_CALLS[name]
    places = [one for one in signature.parameters if one.kind == "order"]
    usual = ["acq", "rel"]
    for number, place in enumerate(places):
        taken = set()
        for mode in (mode.value for mode in Mode if mode is not Mode.NA):
            try:
                read(calls(name, is_method, [*usual[:number], mode]))
            except InputError:
                continue
            taken.add(mode)
        assert set(place.orders) == taken
    if name not in ("assert", "assume", "verify"):
        with pytest.raises(InputError):
            read(calls(name, is_method, [*[*usual, "rlx"][: len(places)], "acq"]))


@pytest.mark.parametrize(
    ("typed", "name", "argument"),
    [
        ("x.store(", "store", 0),
        ("x.store(r + 1, ", "store", 1),
        ("CAS(x, (r + f(1, 2)), ", "CAS", 2),
        ("CAS(a[i", "CAS", 0),
        ("if (x.load(", "load", 0),
        ("x.store(1);", None, 0),
        ("if (1) {", None, 0),
        ("", None, 0),
    ],
)
def test_the_call_that_is_being_typed(typed, name, argument):
    call = open_call(Symbols(typed).words)
    assert (None if call is None else call.name.text) == name
    assert call is None or call.argument == argument


def test_every_call_of_a_litmus_test_has_a_signature():
    assert LITMUS_CALLS["atomic_compare_exchange_strong_explicit"].label == (
        "atomic_compare_exchange_strong_explicit(x, &r, e, order, order if it fails)"
    )
    assert LITMUS_CALLS["atomic_load"].label == "atomic_load(x)"
    assert LITMUS_CALLS["atomic_thread_fence"].label == "atomic_thread_fence(order)"


@pytest.mark.parametrize("end", range(0, len(SB), 3))
def test_a_litmus_test_that_is_being_typed(end):
    """No text is too broken to be looked at."""
    text = SB[:end]
    symbols = LitmusSymbols(text)
    for number, line in enumerate(text.split("\n"), start=1):
        for column in range(1, len(line) + 2):
            completions(LITMUS, symbols, number, column, line[: column - 1])
            word = symbols.word_at(number, column)
            assert word is None or symbols.definition(word) is None or word.is_name
