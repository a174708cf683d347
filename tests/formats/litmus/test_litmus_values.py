"""The value domain of a C litmus test, and the outcomes that its numbers lead to."""

from __future__ import annotations

import pytest

from fencepost.formats import litmus
from fencepost.models.sc import reachable_states
from fencepost.program import Program
from fencepost.program.conditions import holds

RLX = "memory_order_relaxed"


def c_test(*bodies: str, initial: str = "", asked: str = "") -> Program:
    processes = "\n".join(
        f"P{number}(atomic_int* x, atomic_int* y, int* d) {{ int r, s; {body} }}"
        for number, body in enumerate(bodies)
    )
    return litmus.read(f"C a\n{{ {initial} }}\n{processes}\n{asked}")


def add(location: str = "x", amount: str = "1") -> str:
    return f"atomic_fetch_add_explicit({location}, {amount}, {RLX})"


def subtract(location: str = "x", amount: str = "1") -> str:
    return f"atomic_fetch_sub_explicit({location}, {amount}, {RLX})"


@pytest.mark.parametrize(
    ("bodies", "max_value"),
    [
        (["*d = 1;"], 1),
        ([""], 1),
        (["*d = 2;"], 3),
        (["*d = 3;"], 3),
        (["if (*d == 100) {}"], 127),
        (["r = 1 + 2 + 3;"], 7),
        ([f"{add()};", f"{add()};"], 3),
        ([f"{add()};"] * 4, 7),
        ([f"r = {add()}; *d = r + 1;"], 3),
        ([f"*d = atomic_load_explicit(x, {RLX}) + 1; r = *d + 1;"], 3),
        (["r = 3; s = r * r;"], 15),
        (["*d = -1;"], 3),
        (["r = 3; s = r - 4;"], 15),
        ([f"{subtract()};"] * 2, 3),
        (["r = 3 == 3; s = !r + (r && s);"], 3),
    ],
)
def test_the_domain_is_the_smallest_that_holds_every_value(bodies: list[str], max_value: int) -> None:
    assert c_test(*bodies).max_value == max_value


def test_initial_values_and_the_final_condition_count() -> None:
    assert c_test("", initial="x=6;").max_value == 7
    assert c_test("", initial="0:r=9;").max_value == 15
    assert c_test("", asked="exists x=4").max_value == 7
    assert c_test("", initial="x=-1;").max_value == 1
    assert c_test("", initial="x=-1; y=1;").max_value == 3
    assert c_test("", asked="exists x=-5").max_value == 15


def test_what_grows_in_a_loop_wraps_around_in_a_byte() -> None:
    assert c_test("while (1) { r = r + 1; }").max_value == 255
    assert c_test(f"while (*d) {{ {add()}; }}").max_value == 255
    assert c_test("while (1) { r = r + 1; } s = 1000;").max_value == 1023


def test_what_does_not_grow_in_a_loop_needs_no_byte() -> None:
    assert c_test(f"while (atomic_load_explicit(x, {RLX}) != 1) {{ r = !r; s = *d; *d = 1; }}").max_value == 1
    assert c_test(f"while (*d) {{}} {add()};", f"while (*d) {{}} {add()};").max_value == 3


def test_a_stated_maximum_is_used() -> None:
    program = litmus.read("C a\nMaxValue=5\n{ x=-1; } P0(int* x) { int r; r = r - 1; } exists x=-1 /\\ 0:r=5")
    assert program.max_value == 5
    assert program.initial_memory == (5,)
    assert "value=5" in repr(program.condition)


# --- outcomes under SC


def outcomes(program: Program) -> set[tuple[int, ...]]:
    """The final values of the registers r and s of the first thread, and of d."""
    found = set()
    thread = program.threads[0]
    for state in reachable_states(program, 100_000):
        if all(at.pc == len(t.code) for at, t in zip(state.threads, program.threads, strict=True)):
            values = dict(zip(thread.registers, state.threads[0].registers, strict=True))
            values.update(zip(program.cells, state.memory, strict=True))
            found.add((values["r"], values["s"], values["d"]))
    return found


CAS = "atomic_compare_exchange_{}_explicit(x, {}, {}, memory_order_relaxed, memory_order_relaxed)"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("r = -1; if (r < 0) s = 1;", (-1, 1, 0)),
        ("r = -1; if (r == -1) s = 1; else s = 9;", (-1, 1, 0)),
        ("r = -1; s = r + 1 == 0;", (-1, 1, 0)),
        ("r = -7; s = r / 2;", (-7, -3, 0)),
        ("r = -7; s = r % 2;", (-7, -1, 0)),
        ("r = -2; s = !(r + 2) && r;", (-2, 1, 0)),
        ("r = -2; s = r & 3;", (-2, 2, 0)),
        ("*d = -3; r = *d * *d; s = *d > -4 && *d <= -3;", (9, 1, -3)),
        ("r = 3; while (r > -2) { r--; s++; }", (-2, 5, 0)),
        (f"r = {subtract()}; s = {subtract()}; *d = atomic_load_explicit(x, {RLX});", (0, -1, -2)),
        ("for (int i = 0; i < 4; i++) { if (i == 1) continue; if (i == 3) break; r += i; s++; }", (2, 2, 0)),
        ("do { r++; if (r == 2) continue; s++; } while (r < 3);", (3, 2, 0)),
        ("r = 0 && (s = 1); *d = 1 || (s = 1);", (0, 0, 1)),
        ("r = s = 2; *d = r = r + s;", (4, 2, 4)),
        (f"r = {CAS.format('strong', '&s', 5)}; *d = {CAS.format('strong', '&s', 7)};", (1, 5, 0)),
        (f"r = {CAS.format('strong', 'd', 5)};", (1, 0, 0)),
        (f"*d = 2; r = {CAS.format('strong', 'd', 5)};", (0, 0, 0)),
        (f"{CAS.format('strong', '&r', 5)}; {CAS.format('strong', '&r', 6)};", (5, 0, 0)),
        (f"do {{ s++; r = 0; }} while (!{CAS.format('strong', '&r', 1)});", (0, 1, 0)),
    ],
)
def test_a_single_thread_computes_what_c_says(body: str, expected: tuple[int, ...]) -> None:
    program = c_test(body)
    assert outcomes(program) == {tuple(value % program.modulus for value in expected)}


def test_a_weak_compare_exchange_has_both_outcomes() -> None:
    assert outcomes(c_test(f"r = {CAS.format('weak', '&s', 1)};")) == {(1, 0, 0), (0, 0, 0)}


def finally_holds(program: Program) -> bool:
    """Whether some final state under SC satisfies the formula."""
    assert program.condition is not None
    for state in reachable_states(program, 100_000):
        registers = {
            thread.name: dict(zip(thread.registers, at.registers, strict=True))
            for thread, at in zip(program.threads, state.threads, strict=True)
        }
        ended = all(at.pc == len(t.code) for at, t in zip(state.threads, program.threads, strict=True))
        if ended and holds(program.condition, registers, dict(zip(program.cells, state.memory, strict=True))):
            return True
    return False


def test_conditions_ask_about_final_states() -> None:
    def store_buffering(asked: str) -> Program:
        body = "atomic_store_explicit({}, 1, {o}); r = atomic_load_explicit({}, {o});"
        return c_test(body.format("x", "y", o=RLX), body.format("y", "x", o=RLX), asked=asked)

    assert not finally_holds(store_buffering(r"exists (0:r=0 /\ 1:r=0)"))
    assert finally_holds(store_buffering(r"exists (0:r=0 /\ 1:r=1)"))
    assert finally_holds(store_buffering(r"exists (0:r!=0 /\ x=1 /\ ~(1:r=0 \/ y=0))"))
    assert not finally_holds(store_buffering(r"exists 0:r=2"))
    assert not finally_holds(store_buffering(r"exists 0:r=-1"))
