"""Reading what was written gives the same program; any text at all is a program or an `InputError`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fencepost.errors import InputError
from fencepost.formats import litmus
from fencepost.models.explore import LimitReachedError
from fencepost.models.sc import reachable_states
from fencepost.program import Program
from tests.strategies import mutated
from tests.strategies import programs as any_programs

EXAMPLES = Path(__file__).parents[3] / "examples"

# --- random tests, as texts

_TOKEN = r"\s+|\w+|[<>=!]=|&&|\|\||/\\|\\/|."
_EXPRESSIONS = (
    "r",
    "0",
    "2",
    "!s",
    "-1",
    "r == 1",
    "*d",
    "*d == *e",
    "r + 1 - s",
    "(r - 1) * 2",
    "r < 1 && s >= 2",
    "r / 3 + s % 2",
    "s && *d == 1",
    "*e || r",
    "atomic_load_explicit({l}, {lo})",
    "atomic_load_explicit({l}, {lo}) == 1",
    "atomic_fetch_add_explicit({l}, 1, {o})",
    "!atomic_exchange_explicit({l}, r, {o})",
    "atomic_compare_exchange_{k}_explicit({l}, &{r}, 1, {o}, {lo})",
    "!atomic_compare_exchange_{k}_explicit({l}, {n}, s, {o}, {lo})",
    "(r = *e) != 1",
)
_STATEMENTS = (
    "{r} = {x};",
    "int {r} = {x};",
    "*{n} = {x};",
    "{r} = 0;",
    "{r} = *{n};",
    "{x};",
    "{r} += {x};",
    "{r}--;",
    ";",
    "atomic_store_explicit({l}, {x}, {so});",
    "atomic_fetch_sub_explicit({l}, s, {o});",
    "{r} = atomic_fetch_or_explicit({l}, s, {o});",
    "atomic_fetch_and_explicit({l}, 1, {o});",
    "{r} = atomic_exchange_explicit({l}, {x}, {o});",
    "{r} = atomic_compare_exchange_{k}_explicit({l}, &{q}, {x}, {o}, {lo});",
    "atomic_compare_exchange_{k}_explicit({l}, &{q}, 2, {o}, {lo});",
    "atomic_compare_exchange_{k}_explicit({l}, {n}, 2, {o}, {lo});",
    "atomic_thread_fence({f});",
)
_BLOCKS = (
    "if ({x}) {b}",
    "if ({x}) {b} else {b}",
    "if ({x}) {b} else if ({x}) {b}",
    "while ({x}) {b}",
    "while (1) {b}",
    "do {b} while ({x});",
    "for (int i = 0; i < 2; i++) {b}",
    "for (; {x}; {r} = {x}) {b}",
    "{b}",
)
_JUMPS = ("break;", "continue;", "if ({x}) break;", "if ({x}) continue;", "if ({x}) {{ r = 1; break; }}")
_FIELD = re.compile(r"\{(\w+)\}")
_CONDITIONS = (
    "",
    "exists (0:r=1)",
    r"~exists (x=1 /\ ~(0:s!=2 \/ d=0))",
    "forall (0:r=-1)",
    r"exists (0:r=1 \/ (x=1 /\ y!=3) \/ true)",
)


class _Process:
    """Draws the text of one process."""

    def __init__(self, draw: st.DrawFn) -> None:
        self._draw = draw

    def statements(self, depth: int, *, in_loop: bool = False) -> str:
        return " ".join(self._statement(depth, in_loop) for _ in range(self._draw(st.integers(0, 3))))

    def _statement(self, depth: int, in_loop: bool) -> str:
        forms = _STATEMENTS + (_BLOCKS * 2 if depth else ()) + (_JUMPS if in_loop else ())
        form = self._draw(st.sampled_from(forms))
        loops = in_loop or form.startswith(("while", "do", "for"))
        return self._filled(form, depth, loops).replace("{{", "{").replace("}}", "}")

    def _filled(self, form: str, depth: int, in_loop: bool) -> str:
        return _FIELD.sub(lambda match: self._field(match[1], depth, in_loop), form)

    def _field(self, field: str, depth: int, in_loop: bool) -> str:
        orders = {
            "lo": ("relaxed", "acquire", "consume"),
            "so": ("relaxed", "release"),
            "o": ("relaxed", "acquire", "release", "acq_rel"),
            "f": ("relaxed", "acquire", "release", "acq_rel", "seq_cst"),
        }
        if field in orders:
            return "memory_order_" + self._draw(st.sampled_from(orders[field]))
        if field == "x":
            return self._filled(self._draw(st.sampled_from(_EXPRESSIONS)), depth, in_loop)
        if field == "b":
            return f"{{ {self.statements(depth - 1, in_loop=in_loop)} }}"
        choices = {"l": "xy", "n": "de", "r": "rst", "q": "rs", "k": ("strong", "weak")}
        return self._draw(st.sampled_from(choices[field]))


@st.composite
def litmus_tests(draw: st.DrawFn) -> str:
    """A valid C litmus test with all of the language."""
    processes = [
        f"P{number}(atomic_int* x, _Atomic int* y, int* d, volatile int* e) "
        f"{{ int r, s, t; {_Process(draw).statements(3)} }}"
        for number in range(draw(st.integers(1, 2)))
    ]
    condition = draw(st.sampled_from(_CONDITIONS))
    return "\n".join(
        ['C test\n"random"\nKey=value\n{ x=1; [y]=2; int unused; 0:s=3; }', *processes, condition]
    )


# --- the same program again


def check_round_trip(program: Program) -> None:
    written = litmus.write(program)
    again = litmus.read(written, program.file)
    assert again == program
    assert litmus.write(again) == written


@given(litmus_tests())
@settings(max_examples=100, deadline=None)
def test_reading_what_was_written_gives_the_same_program(text: str) -> None:
    check_round_trip(litmus.read(text))


@given(litmus_tests())
@settings(max_examples=50, deadline=None)
def test_tests_need_no_stated_maximum(text: str) -> None:
    assert "MaxValue" not in litmus.write(litmus.read(text))


@pytest.mark.parametrize("path", sorted(EXAMPLES.rglob("*.litmus")), ids=lambda path: path.stem)
def test_examples_survive(path: Path) -> None:
    check_round_trip(litmus.read(path.read_text(encoding="utf-8"), str(path), treat_sc_as="fence"))


@pytest.mark.parametrize(
    "body",
    [
        "while (1) { while (r) { s = 1; } s = 2; }",
        "while (r) { while (s) { break; } continue; }",
        "do { while (*d) {} r = 1; } while (*d);",
        "do { do { r = 1; } while (r); } while (s);",
        "do {} while (0);",
        "do { break; } while (1);",
        "while (0) { r = 1; }",
        "while (!0) { if (r) { if (s) break; else continue; } }",
        "while (1) { r = 1; if (r) { if (s) break; } }",
        "if (r) { if (s) {} else {} } else { r = 1; }",
        "if (r) { while (s) {} } else { while (r) {} }",
        "if (r) ; else if (s) ; else { if (r) s = 1; s = 2; }",
        "while (r) { if (s) { r = 1; break; } else { r = 2; continue; } r = 3; }",
        "for (;;) { for (;;) { break; } break; r = 1; }",
        "if (!!r) { s = !!!s; }",
        "r = s; atomic_compare_exchange_strong_explicit(x, &s, 1, {o}, {o}); r = s == r;",
        "s = 1; atomic_compare_exchange_strong_explicit(x, &s, 1, {o}, {o}); r = s == 1;",
        "s = 1; while (r) { r = atomic_compare_exchange_weak_explicit(x, &s, r, {o}, {o}); }",
        "int _1 = 4; if (*d) { _1 = *d + *d; }",
        "*d; r = *d + 1; while (*d) {}",
    ],
)
def test_odd_shapes_survive(body: str) -> None:
    text = body.replace("{o}", "memory_order_relaxed")
    check_round_trip(litmus.read(f"C a {{}} P0(atomic_int* x, int* d) {{ int r, s; {text} }}"))


def test_large_tests_survive() -> None:
    chain = " else ".join(f"if (*d == {n}) {{ r = {n}; }}" for n in range(200))
    deep = "if (r) {" * 58 + "r = " + "!(1 + " * 49 + "*d" + ")" * 49 + ";" + "}" * 58
    check_round_trip(litmus.read(f"C a {{}} P0(int* d) {{ int r; {chain} {deep} }}"))


# --- programs from elsewhere


@given(any_programs(threads=(1, 2), most_accesses=3))
@settings(max_examples=80, deadline=None)
def test_other_programs_end_in_the_same_states_or_cannot_be_written(program: Program) -> None:
    try:
        written = litmus.write(program)
    except InputError:
        return
    again = litmus.read(written)
    try:
        expected, found = set(final_states(program, program)), set(final_states(again, program))
    except LimitReachedError:
        return
    assert found == expected


def final_states(program: Program, like: Program) -> Iterator[tuple[tuple[int, ...], ...]]:
    """Memory and the registers that `like` has, wherever all threads have ended."""
    for state in reachable_states(program, 20_000):
        if all(at.pc == len(t.code) for at, t in zip(state.threads, program.threads, strict=True)):
            registers = [
                tuple(dict(zip(thread.registers, at.registers, strict=True))[r] for r in other.registers)
                for at, thread, other in zip(state.threads, program.threads, like.threads, strict=True)
            ]
            yield (state.memory, *registers)


# --- any text at all


@given(mutated(litmus_tests(), _TOKEN))
@settings(max_examples=150, deadline=None)
def test_a_mutated_test_is_read_or_rejected_with_a_place(text: str) -> None:
    check_read_or_rejected(text)


@given(st.text() | st.text(alphabet="CP01x(){}*;=/\\~:[]\"'!&|+-,. \n\t\r\0é"))
@settings(max_examples=100, deadline=None)
def test_any_text_is_read_or_rejected_with_a_place(text: str) -> None:
    check_read_or_rejected(text)
    check_read_or_rejected(f"C a\n{{}}\n{text}")
    check_read_or_rejected(f"C a\n{{}}\nP0(int* x) {{ {text} }}")


def check_read_or_rejected(text: str) -> None:
    error = None
    try:
        program = litmus.read(text, "f.litmus", treat_sc_as="fence")
    except InputError as caught:
        error = caught
    if error is None:
        check_round_trip(program)
        return
    assert 1 <= error.line <= text.count("\n") + text.count("\r") + 1
    assert error.column >= 1
    assert str(error).startswith("f.litmus:")
    for name in ("Token", "LBRACE", "RPAR", "SEMICOLON", "_WHILE", "ASSIGN", "$END"):
        assert name not in error.message
