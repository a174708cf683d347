"""Programs are written in the language of Figure 8 of persist-2015, and its texts are edited in place."""

from __future__ import annotations

import random

import pytest

from fencepost.analyses.repair.changes import Change, apply, candidates
from fencepost.analyses.repair.edits import repaired_text
from fencepost.errors import InputError
from fencepost.formats import automata, persist, tpl, write
from fencepost.models.explore import LimitReachedError
from fencepost.program import Program
from tests.formats.automata.test_automata_semantics import Drawing, changes_of, text_of
from tests.formats.persist.test_persist_reader import SIMPLE
from tests.strategies import random_program


def test_the_program_of_figure_2() -> None:
    program = persist.read(SIMPLE, "simple.persist")
    assert write(program, "persist") == (
        "program simple\n"
        "vars x, y, z, t\n"
        "procs\n"
        "\n"
        "process p1\n"
        "regs $r1\n"
        "init q1\n"
        "begin\n"
        "    q1: t = 1; goto q2\n"
        "    q2: x = 2; goto q2\n"
        "    q2: z = 1; goto q3\n"
        "    q3: $r1 = x; goto q4\n"
        "end\n"
        "\n"
        "process p2\n"
        "regs $r2\n"
        "init s1\n"
        "begin\n"
        "    s1: t = 1; goto s2\n"
        "    s2: y = 1; goto s3\n"
        "    s3: $r2 = t; goto s4\n"
        "    s4: x = $r2; goto s5\n"
        "end\n"
    )
    assert persist.read(persist.write(program)) == program


def written(body: str) -> list[str]:
    """The instructions of a TPL function with that body."""
    text = persist.write(tpl.read(f"max_value 1; global x, a[2]; fn t {{ local r, s; {body} }}"))
    return text.partition("begin\n")[2].removesuffix("end\n").replace("    ", "").splitlines()


@pytest.mark.parametrize(
    ("body", "instructions"),
    [
        ("x.store(r);", ["s0: x = r; goto s1"]),
        ("r = a[1].load();", ["s0: r = a_1; goto s1"]),
        ("r = r * (s - 1);", ["s0: r = r * (s - 1) & 1; goto s1"]),
        ("r = r + 1;", ["s0: r = r + 1 & 1; goto s1"]),
        ("BCAS(x, 0, 1);", ["s0: arw(x, 0, 1); goto s1"]),
        ("exchange(x, r);", ["s0: arw(x, 0, r); goto s1", "s0: arw(x, 1, r); goto s1"]),
        (
            "r = FADD(x, 1);",
            [
                "s0: arw(x, 0, 0 + 1); goto s1",
                "s1: r = 0; goto s2",
                "s0: arw(x, 1, 1 + 1 & 1); goto s3",
                "s3: r = 1; goto s2",
            ],
        ),
        ("fence; skip; assume(r);", ["s0: fence; goto s1", "s1: skip; goto s2", "s2: assume r; goto s3"]),
        ("l: if (r) goto l;", ["l: assume r; goto l", "l: assume !r; goto s0"]),
    ],
)
def test_single_statements(body: str, instructions: list[str]) -> None:
    assert written(body) == instructions


def test_copies_are_processes_of_their_own() -> None:
    text = persist.write(tpl.read("global x; fn t[2] { x.store(1); }"))
    assert "process t_0\n" in text
    assert "process t_1\n" in text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("global x; fn t { CAS(x, 0, 1); }", "`CAS(x, 0, 1)` has no counterpart in Persist programs"),
        ("global x; fn t { FADD(x, 1); }", "`FADD(x, 1)` has no counterpart in Persist programs"),
        ("global x; fn t { wait(x, 1); }", "`wait(x, 1)` has no counterpart in Persist programs"),
        (
            "max_value 1; global a[2]; fn t { local r; a[r].store(1); }",
            "`a[r].store(1)` has no counterpart in Persist programs",
        ),
        ("global x=1; fn t { skip; }", "x is not 0 at the start, as all variables of Persist programs are"),
    ],
)
def test_what_cannot_be_said(text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        persist.write(tpl.read(text))
    assert caught.value.message == message


def survives(program: Program) -> bool | None:
    """Whether memory changes in the same ways after writing and reading; None if that cannot be told."""
    try:
        text = persist.write(program)
        expected = changes_of(program)
    except (InputError, LimitReachedError):
        return None
    assert changes_of(persist.read(text)) == expected, text
    return True


def test_random_programs_do_the_same_after_writing_and_reading() -> None:
    answers = [survives(random_program(random.Random(seed), loop_free=seed % 2 == 0)) for seed in range(250)]
    assert answers.count(True) > 60


@pytest.mark.slow
def test_many_random_programs_do_the_same_after_writing_and_reading() -> None:
    seeds = range(1_000, 9_000)
    answers = [survives(random_program(random.Random(seed), loop_free=seed % 2 == 0)) for seed in seeds]
    assert answers.count(True) > 2_500


# --- edits in place


def test_a_fence_after_an_instruction() -> None:
    program = persist.read(SIMPLE)
    assert repaired_text(program, [Change("sc-fence", (1,), 1, "after")]).text == SIMPLE.replace(
        "s2: y=1; goto s3\n", "s2: y=1; goto s2_f\ns2_f: fence; goto s3\n"
    )


def test_a_fence_before_an_instruction() -> None:
    program = persist.read(SIMPLE)
    assert repaired_text(program, [Change("sc-fence", (0,), 4, "before")]).text == SIMPLE.replace(
        "q2: z=1; goto q3\n", "q2: fence; goto q2_f\nq2_f: z=1; goto q3\n"
    )


def test_a_fence_before_a_choice() -> None:
    program = persist.read(SIMPLE)
    assert repaired_text(program, [Change("sc-fence", (0,), 1, "before")]).text == SIMPLE.replace(
        "q2: x=2; goto q2\nq2: z=1; goto q3\n",
        "q2: fence; goto q2_f\nq2_f: x=2; goto q2\nq2_f: z=1; goto q3\n",
    )


def test_random_fences_are_put_into_random_texts() -> None:
    tried = 0
    for seed in range(150):
        try:
            program = persist.read(persist.write(automata.read(text_of(Drawing(seed).threads()))))
        except InputError:
            continue
        offered = candidates(program, "tso")
        if offered:
            fences = random.Random(seed).sample(offered, min(2, len(offered)))
            found = persist.read(repaired_text(program, fences).text)
            expected = apply(program, fences).program
            assert [t.code for t in found.threads] == [t.code for t in expected.threads]
            tried += 1
    assert tried > 60
