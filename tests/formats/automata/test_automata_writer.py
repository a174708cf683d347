"""Programs are written as automata that do the same, or refused at what automata cannot say."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest

from fencepost.errors import InputError
from fencepost.formats import automata, tpl, write
from fencepost.models.explore import LimitReachedError
from fencepost.program import Program
from tests.formats.automata.test_automata_semantics import Drawing, changes_of, text_of
from tests.strategies import random_program


def written(body: str, head: str = "max_value 3; global x, y;") -> str:
    """The transitions of a TPL function with that body."""
    text = automata.write(tpl.read(f"{head} fn t {{ local r, s; {body} }}"))
    return text.partition("thread t\n")[2].removesuffix("end\n").replace("    ", "")


def test_a_program_as_a_whole() -> None:
    text = """max_value 3;
global x, a[2];
fn left[2] { local r; again: x.store(1); r = a[r].load(); if (r == 0) goto again; fence; }
fn right { a[1].store(1); }
"""
    assert write(tpl.read(text), "automata") == (
        "# x is at address 0\n"
        "# a[0] to a[1] are at the addresses 1 to 2\n"
        "memory_size 3\n"
        "\n"
        "thread left 2\n"
        "    initial again\n"
        "    transition again s0 write 1 0\n"
        "    transition s0 s1 read r + 1 r\n"
        "    transition s1 again check == r 0\n"
        "    transition s1 s2 check != r 0\n"
        "    transition s2 s3 mfence\n"
        "end\n"
        "\n"
        "thread right\n"
        "    initial s0\n"
        "    transition s0 s1 write 1 2\n"
        "end\n"
    )


@pytest.mark.parametrize(
    ("statement", "steps"),
    [
        ("x.store(2);", ["write 2 0"]),
        ("r = y.load();", ["read r 1"]),
        ("r = s;", ["local r s"]),
        ("r = s + 1;", ["local r & + s 1 3"]),
        ("r = !s;", ["local r ! s"]),
        ("r = -s;", ["local r & - 0 s 3"]),
        ("r = s - r & 1;", ["local r & - s r 1"]),
        ("assume(r < -1);", ["check < r -1"]),
        ("skip;", ["noop"]),
        ("verify(r);", ["noop"]),
        ("fence;", ["mfence"]),
        ("exchange(x, 1);", ["lock", "write 1 0", "unlock"]),
        ("r = exchange(x, 1);", ["lock", "read r 0", "write 1 0", "unlock"]),
        ("r = exchange(x, r);", ["lock", "read tmp 0", "write r 0", "unlock", "local r tmp"]),
        ("FADD(x, 1);", ["lock", "read tmp 0", "write & + tmp 1 3 0", "unlock"]),
        ("BCAS(x, 0, 1);", ["lock", "read tmp 0", "check == tmp 0", "write 1 0", "unlock"]),
    ],
)
def test_single_statements(statement: str, steps: list[str]) -> None:
    lines = written(statement).splitlines()[1:]
    assert [line.split(" ", 3)[3] for line in lines] == steps
    states = [line.split(" ")[1:3] for line in lines]
    assert all(before[1] == after[0] for before, after in pairwise(states))


def test_a_compare_exchange_has_two_ways() -> None:
    assert written("r = CAS(x, 0, 1);").splitlines() == [
        "initial s0",
        "transition s0 s1 lock",
        "transition s1 s2 read r 0",
        "transition s2 s3 check == r 0",
        "transition s3 s4 write 1 0",
        "transition s4 s5 unlock",
        "transition s2 s6 check != r 0",
        "transition s6 s5 unlock",
    ]


def test_a_choice_offers_what_its_alternatives_begin_with() -> None:
    assert written("oneof({ x.store(1); }{ y.store(1); }{});").splitlines() == [
        "initial s0",
        "transition s0 s1 noop",
        "transition s0 s1 write 1 0",
        "transition s0 s1 write 1 1",
    ]


def test_jumps_are_no_steps() -> None:
    assert written("l: x.store(1); goto l;").splitlines() == ["initial l", "transition l l write 1 0"]
    assert written("goto l; l: goto l;").splitlines() == ["initial l", "transition l l noop"]


def test_copies_that_know_their_number_are_threads_of_their_own() -> None:
    text = automata.write(tpl.read("max_value 3; global a[2]; fn t[2] { a[tid].store(tid + 1); }"))
    assert "thread t[0]\n" in text
    assert "write + 0 1 0\n" in text
    assert "thread t[1]\n" in text
    assert "write + 1 1 1\n" in text


def test_names_that_are_no_words() -> None:
    program = tpl.read("global x; fn thread { local end, check; end = x.load(); check = end; }")
    assert automata.read(automata.write(program)).threads[0].registers == ("end_", "check")


def test_modes_are_left_out_with_a_comment() -> None:
    text = automata.write(tpl.read("global x; fn t { x.store(1, rel); fence(acq); }"))
    assert text.startswith(
        "# modes and the fences that are not seq_cst are left out: they do nothing on TSO\n"
    )
    assert "transition s1 s2 noop" in text


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("global x; fn t { wait(x, 1); }", 18, "`wait(x, 1)` has no counterpart in automata"),
        ("global x; fn t { assert(1); }", 18, "`assert(1)` has no counterpart in automata"),
        ("global x, y=1; fn t { skip; }", 11, "y is not 0 at the start, as all memory of automata is"),
        ("global x; fn t { local r; r = r % 2; }", 27, "automata have no operator `%`"),
        ("global x; fn t { local r; if (r | 1) { r = 1; } }", 27, "automata have no operator `|`"),
        ("global a[2]; fn t { a[2].store(1); }", 21, "`a[2].store(1)` has no counterpart in automata"),
        (
            "max_value 5; global x; fn t { local r; r = r + 1; }",
            40,
            "r + 1 starts again at 0 after 5, which automata can only say of powers of two",
        ),
    ],
)
def test_what_cannot_be_said(text: str, column: int, message: str) -> None:
    with pytest.raises(InputError) as caught:
        automata.write(tpl.read(text))
    assert (caught.value.line, caught.value.column, caught.value.message) == (1, column, message)


# --- reading what was written


@pytest.mark.parametrize(
    "body",
    [
        "mem[0].store(1); r = mem[1].load(); fence; r = 2; assume(r == 2);",
        "FADD(mem[0], 1); r = FADD(mem[1], s); mem[2].store(r);",
        "exchange(mem[0], 1); r = exchange(mem[1], s); mem[2].store(r);",
        "BCAS(mem[0], 0, 1); BCAS(mem[0], s, 1);",
        "again: r = CAS(mem[0], 0, 1); if (r != 0) goto again; mem[0].store(0);",
        "r = CAS(mem[0], s, 1); if (r == s) { mem[1].store(1); } else { mem[1].store(2); }",
        "while (r < 3) { r = r + 1; mem[r].store(r); }",
        "l: oneof({ goto m; }{ goto n; }); m: mem[0].store(1); goto l; n: mem[1].store(1); goto l;",
    ],
)
def test_programs_survive_exactly(body: str) -> None:
    program = tpl.read(f"max_value 3; global mem[4]; fn t {{ local r, s; {body} }}")
    program = Program(program.locations, program.threads, 3, wraps=False)
    found = automata.read(automata.write(program))
    assert [thread.code for thread in found.threads] == [thread.code for thread in program.threads]
    assert automata.read(automata.write(found)) == found


def survives(program: Program) -> bool | None:
    """Whether memory changes in the same ways after writing and reading; None if that cannot be told."""
    try:
        text = automata.write(program)
        found = automata.read(text)
        expected = changes_of(program)
    except (InputError, LimitReachedError):
        return None
    assert changes_of(found) == expected, text
    return True


def test_random_programs_do_the_same_after_writing_and_reading() -> None:
    answers = [survives(random_program(random.Random(seed), loop_free=seed % 2 == 0)) for seed in range(250)]
    assert answers.count(True) > 80


def test_random_automata_do_the_same_after_writing_and_reading() -> None:
    answers = []
    for seed in range(200):
        text = text_of(Drawing(seed).threads())
        try:
            answers.append(survives(automata.read(text)))
        except InputError:
            continue
    assert answers.count(True) > 120


@pytest.mark.slow
def test_many_random_programs_do_the_same_after_writing_and_reading() -> None:
    seeds = range(1_000, 9_000)
    answers = [survives(random_program(random.Random(seed), loop_free=seed % 2 == 0)) for seed in seeds]
    assert answers.count(True) > 3_000
