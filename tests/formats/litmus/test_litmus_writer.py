"""How programs look as C litmus tests, and which have no such form."""

from __future__ import annotations

from textwrap import dedent

import pytest

from fencepost.errors import InputError
from fencepost.formats import litmus, tpl
from fencepost.program import Location, Program, Thread
from fencepost.program.conditions import CellIs, FinalCondition

ACQ, REL, RLX = "memory_order_acquire", "memory_order_release", "memory_order_relaxed"


def body(text: str) -> str:
    """The body of the only process that is written for a TPL function."""
    program = tpl.read(f"global x, y; na d; fn worker {{ local r, s; {text} }}")
    written = litmus.write(program)
    litmus.read(written)
    lines = written.split("{  // worker\n")[1].removesuffix("}\n").splitlines()
    return dedent("\n".join(line for line in lines if not line.startswith("    int ")))


def test_a_whole_test() -> None:
    text = dedent(
        """\
        C MP

        { x = 0; d = 0; int unused = 2; }

        P0(atomic_int* x, int* d) {
            *d = 1;
            atomic_store_explicit(x, 1, memory_order_release);
        }

        P1(atomic_int* x, int* d) {
            int r0, r1;
            r0 = atomic_load_explicit(x, memory_order_acquire);
            if (r0 == 1) {
                r1 = *d;
            }
        }

        ~exists (1:r0=1 /\\ ~(1:r1=1 \\/ d!=0))
        """
    )
    program = litmus.read(text, "some/where/MP.litmus")
    assert litmus.write(program) == text


def test_tests_of_loops_and_branches_have_their_accesses_inside() -> None:
    text = dedent(
        f"""\
        C loops

        {{ x = 0; d = 0; }}

        P0(atomic_int* x, int* d) {{
            int e;
            while (atomic_exchange_explicit(x, 1, {ACQ})) {{
            }}
            if (*d == 1 && e) {{
                *d = 2;
            }} else if (*d != 2) {{
                *d = 3;
            }}
            do {{
                e = 0;
            }} while (!atomic_compare_exchange_weak_explicit(x, &e, 1, {ACQ}, {RLX}));
            while (*d) {{
                if (*d == 3) continue;
                if (*d == 4) break;
                *d = 4;
            }}
            while (1) {{
                *d = 5;
                if (*d) break;
                *d = 6;
            }}
        }}
        """
    )
    assert litmus.write(litmus.read(text, "loops.litmus")) == text


def test_made_up_registers_that_are_needed_are_declared() -> None:
    text = "C a\n{}\nP0(int* d) { int r; r = *d + *d; if (*d) {} }"
    written = litmus.write(litmus.read(text))
    assert "int r, _1, _2;" in written
    assert "if (_1)" in written


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("r = x.load(acq);", f"r = atomic_load_explicit(x, {ACQ});"),
        ("x.store(r + 1, rel);", f"atomic_store_explicit(x, r + 1, {REL});"),
        ("r = d.naload(); d.nastore(2);", "r = *d;\n*d = 2;"),
        ("FADD(x, 1, acq, rel);", "atomic_fetch_add_explicit(x, 1, memory_order_acq_rel);"),
        ("r = FADD(x, -s);", f"r = atomic_fetch_sub_explicit(x, s, {RLX});"),
        ("r = x.fetch_or(s);", f"r = atomic_fetch_or_explicit(x, s, {RLX});"),
        ("r = exchange(x, s, rel);", f"r = atomic_exchange_explicit(x, s, {REL});"),
        ("fence; fence(acq); skip;", None),
        ("r = s * (r - 1); verify(r);", "r = s * (r - 1);"),
        ("while (r) { if (s) { r = 0; } else { s = 1; } }", None),
    ],
)
def test_instructions(text: str, written: str | None) -> None:
    fences = "atomic_thread_fence(memory_order_{});"
    expected = {
        "fence; fence(acq); skip;": "\n".join(map(fences.format, ("seq_cst", "acquire", "relaxed"))),
        "while (r) { if (s) { r = 0; } else { s = 1; } }": dedent(
            """\
            while (r) {
                if (s) {
                    r = 0;
                } else {
                    s = 1;
                }
            }"""
        ),
    }
    assert body(text) == (expected[text] if written is None else written)


def test_a_cas_leaves_the_old_value_in_its_expected_register() -> None:
    call = f"atomic_compare_exchange_strong_explicit(x, &{{}}, {{}}, {RLX}, {RLX});"
    assert body("r = CAS(x, s + 1, 2);") == f"r = s + 1;\n{call.format('r', 2)}"
    assert body("CAS(x, 1, 2);") == f"_1 = 1;\n{call.format('_1', 2)}"
    assert body("r = CAS(x, 1, r);") == f"_1 = 1;\n{call.format('_1', 'r')}\nr = _1;"
    assert body("r = CAS(x, r, r);") == call.format("r", "r")


def test_blocking_instructions_become_loops_that_say_so() -> None:
    for text, expected in {
        "wait(x, 1, acq);": f"while (atomic_load_explicit(x, {ACQ}) != 1) {{@\n}}",
        "wait(x, 1, 2);": f"do {{@\n    _1 = atomic_load_explicit(x, {RLX});\n}} while (_1 != 1 && _1 != 2);",
        "r = wait(x, s);": f"do {{@\n    r = atomic_load_explicit(x, {RLX});\n}} while (r != s);",
        "r = wait(x, r);": f"_1 = r;\ndo {{@\n    r = atomic_load_explicit(x, {RLX});\n}} while (r != _1);",
        "lock(x);": (
            "do {@\n    _1 = 0;\n}"
            f" while (!atomic_compare_exchange_strong_explicit(x, &_1, 1, {ACQ}, {ACQ}));"
        ),
    }.items():
        note = "  // blocks in the program that this is from; for robustness a loop is not the same"
        assert body(text) == expected.replace("@", note)


def test_loops_made_of_gotos() -> None:
    assert body("l: r = 1; if (s) goto l;") == "do {\n    r = 1;\n} while (s);"
    assert body("l: r = 1; if (r) goto l; if (s) goto l;") == (
        "while (1) {\n    r = 1;\n    if (r) continue;\n    if (!s) break;\n}"
    )
    assert body("l: if (r) goto end; r = 1; goto l; end: skip;").startswith("while (!r) {\n    r = 1;\n}")


def test_names_that_c_cannot_have_are_spelled_otherwise() -> None:
    program = tpl.read(
        "global int, exists; fn for[2] { local do, tid1; do = int.load(); exists.store(tid); }"
    )
    written = litmus.write(program)
    assert "P0(atomic_int* int_, atomic_int* exists_) {  // for[0]" in written
    assert f"do_ = atomic_load_explicit(int_, {RLX});" in written
    assert f"atomic_store_explicit(exists_, 1, {RLX});" in written


@pytest.mark.parametrize(
    ("text", "what", "column"),
    [
        ("assert(r == 1);", "an assertion", 1),
        ("assume(r == 1);", "an assumption", 1),
        ("skip; oneof({r = 1;}{r = 2;});", "a choice", 7),
        ("if (r) goto l; skip; if (s) { l: skip; }", "this jump", 22),
    ],
)
def test_what_cannot_be_written_is_told_with_its_place(text: str, what: str, column: int) -> None:
    program = tpl.read(f"global x; fn worker {{ local r, s;\n{text}\n}}", "f.tpl")
    with pytest.raises(InputError) as caught:
        litmus.write(program)
    assert caught.value.message == f"{what} cannot be written in a C litmus test"
    assert (caught.value.file, caught.value.line, caught.value.column) == ("f.tpl", 2, column)


def test_arrays_cannot_be_written() -> None:
    with pytest.raises(InputError, match="array `a` cannot be written in a C litmus test"):
        litmus.write(tpl.read("global a[2]; fn w { skip; }"))


def test_code_that_is_nested_too_deeply_cannot_be_written() -> None:
    text = "if (!r) goto end; skip; " * 100
    with pytest.raises(InputError, match="nested that deeply"):
        litmus.write(tpl.read(f"fn w {{ local r; {text} end: skip; }}"))


def test_a_domain_that_a_reader_would_not_choose_is_stated() -> None:
    program = tpl.read("max_value 5; global x; fn w { FADD(x, 5); FADD(x, 5); }")
    written = litmus.write(program)
    assert "\nMaxValue=5\n" in written
    assert litmus.read(written).max_value == 5
    assert litmus.write(litmus.read(written)).splitlines()[1:] != []


def test_negative_numbers_are_written_as_such() -> None:
    text = "C a\n{ x=-1; }\nP0(int* x) { int r = *x - 1; if (r == -2) r = r < 0; }\nexists (x=-1 /\\ 0:r=1)"
    written = litmus.write(litmus.read(text))
    assert "{ x = -1; }" in written
    assert "if (r == -2) {" in written
    assert "r = r < 0;" in written
    assert "exists (x=-1 /\\ 0:r=1)" in written
    assert "MaxValue" not in written


def test_a_program_built_by_hand() -> None:
    program = Program(
        (Location("x y"),), (Thread("t", ()),), condition=FinalCondition("forall", CellIs("x y", 0))
    )
    assert (
        litmus.write(program)
        == "C program\nMaxValue=255\n\n{ x_y = 0; }\n\nP0() {  // t\n}\n\nforall (x_y=0)\n"
    )
