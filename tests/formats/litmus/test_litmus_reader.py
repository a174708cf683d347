"""What C litmus tests mean: headers, initial values, processes, and the flat code they become."""

from __future__ import annotations

import subprocess
import sys

import pytest
from msgspec.structs import replace

from fencepost.analyses.robustness import robust
from fencepost.formats import litmus
from fencepost.models.robustness import not_robust_graph
from fencepost.program import (
    Assign,
    Binary,
    Branch,
    Cell,
    Choose,
    CompareExchange,
    Constant,
    Exchange,
    Fence,
    FetchAdd,
    Goto,
    Instruction,
    Load,
    Location,
    Mode,
    Position,
    Program,
    Register,
    Skip,
    Store,
    Thread,
    Unary,
)

X, Y, D, E = Cell("x"), Cell("y"), Cell("d"), Cell("e")
R, S, T1, T2 = Register("r"), Register("s"), Register("_1"), Register("_2")
ZERO, ONE, TWO = Constant(0), Constant(1), Constant(2)
ACQ, REL, RLX = "memory_order_acquire", "memory_order_release", "memory_order_relaxed"


def program(body: str, treat_sc_as: str | None = None) -> Program:
    head = "C test\n{}\nP0(atomic_int* x, atomic_int* y, int* d, volatile int *e) { int r, s;\n"
    return litmus.read(f"{head}{body}\n}}\n", treat_sc_as=treat_sc_as)


def thread(body: str, treat_sc_as: str | None = None) -> Thread:
    return program(body, treat_sc_as).threads[0]


def code(body: str, treat_sc_as: str | None = None) -> tuple[Instruction, ...]:
    return thread(body, treat_sc_as).code


# --- header, comments, initial values, parameters


def test_the_usual_form() -> None:
    test = litmus.read(
        """C MP+rel+acq
"PodWW Rfe PodRR Fre"
Cycle=Rfe PodRR Fre PodWW
URL=http://example.org/(*
(* a comment (* in a comment *) { *)
{ x = 0; [y] = 1; int d = 2; atomic_int z; 1:r7=3; }

P0 (atomic_int* x, int* d) { // {
  *d = 1; (* here *) (*and here*) /* and
  here */ atomic_store_explicit(x, 1, memory_order_release);
}

P1 (atomic_int* x, int* d) {
  int r0 = atomic_load_explicit(x, memory_order_acquire);
  if (r0 == 1) { int r1 = *d; }
}
locations [x; 1:r0;]
exists (1:r0=1 /\\ ~(1:r1=1))
"""
    )
    assert test.locations == (
        Location("x"),
        Location("y", (1,)),
        Location("d", (2,), atomic=False),
        Location("z"),
    )
    p0, p1 = test.threads
    assert (p0.name, p1.name) == ("P0", "P1")
    assert p0.code == (Store(D, ONE, Mode.NA), Store(X, ONE, Mode.REL))
    assert p1.registers == ("r7", "r0", "r1")
    assert p1.code == (
        Assign("r7", Constant(3)),
        Load("r0", X, Mode.ACQ),
        Branch(Unary("!", Binary("==", Register("r0"), ONE)), 4),
        Load("r1", D, Mode.NA),
    )


@pytest.mark.parametrize(
    "text",
    [
        "C a {} P0() {}",
        "\n\n// first\nC a\n{}\nP0() {}",
        '(* first *) C a+b.c "x" {} P0(void) {}',
        "C a\r\n{ }\r\nP0() { ; }\r\n",
        "C a\n{ ; }\nP0() {}",
        "C a\n{ x=1;; y=2 }\nP0() {}",
        "C a\n{}\nvoid P0() {}",
        "C a\nPrefetch=0:x=F,0:y=T\n{}\nP0() {}",
    ],
)
def test_headers_and_frames(text: str) -> None:
    assert [t.name for t in litmus.read(text).threads] == ["P0"]


@pytest.mark.parametrize(
    ("declared", "atomic"),
    [
        ("atomic_int* x", True),
        ("_Atomic int* x", True),
        ("_Atomic(int)* x", True),
        ("atomic_long *x", True),
        ("volatile atomic_uint * x", True),
        ("int* x", False),
        ("volatile int* x", False),
        ("unsigned long const * volatile x", False),
        ("int32_t *x", False),
    ],
)
def test_the_type_of_a_parameter_says_whether_its_location_is_atomic(declared: str, atomic: bool) -> None:
    (location,) = litmus.read(f"C a\n{{}}\nP0({declared}) {{}}").locations
    assert location == Location("x", atomic=atomic)


def test_a_location_accessed_by_atomic_functions_is_atomic_whatever_the_parameter_says() -> None:
    test = litmus.read(f"C a\n{{}}\nP0(int* x) {{ atomic_store_explicit(x, 1, {RLX}); }} P1(int* x) {{}}")
    assert test.locations == (Location("x"),)


def test_a_location_that_no_process_uses_has_the_type_of_its_initial_value() -> None:
    test = litmus.read("C a\n{ int x; atomic_int y = 1; z = 2; }\nP0() {}")
    assert [location.atomic for location in test.locations] == [False, True, True]


def test_initial_values_of_registers_are_assigned_first() -> None:
    test = litmus.read("C a\n{ 0:r=2; int 0:s = 0; P1:r=-1; }\nP0() { int t = r; }\nP1() {}")
    assert test.threads[0].code == (Assign("r", TWO), Assign("t", R))
    assert test.threads[0].registers == ("r", "s", "t")
    assert test.threads[1].code == (Assign("r", Unary("-", ONE)),)


def test_processes_may_have_any_numbers() -> None:
    assert [t.name for t in litmus.read("C a {} P3() {} P0() {}").threads] == ["P3", "P0"]


# --- registers


def test_registers_belong_to_the_thread_wherever_they_are_declared() -> None:
    worker = thread("if (r) { int a = 1; } else { int a = 2, b; } a = 3;")
    assert worker.registers == ("r", "s", "a", "b")


def test_a_register_with_the_name_of_another_threads_location_is_renamed() -> None:
    test = litmus.read("C a\n{}\nP0(int* x) { *x = 1; }\nP1() { int x = 2; }\nexists (1:x=2 /\\ x=1)")
    assert test.threads[1].code == (Assign("x_P1", TWO),)
    assert test.condition is not None
    assert "register='x_P1'" in repr(test.condition)


def test_made_up_registers_are_used_again_and_collide_with_nothing() -> None:
    worker = thread("int _1; r = *d + *e; s = *d + 1; while (*e) {}")
    assert worker.registers == ("r", "s", "_1", "_2", "_3")
    assert [i.register for i in worker.code if isinstance(i, Load)] == ["_2", "_3", "_2", "_2"]


# --- accesses


@pytest.mark.parametrize(
    ("order", "mode"),
    [("relaxed", Mode.RLX), ("acquire", Mode.ACQ), ("consume", Mode.ACQ)],
)
def test_load_orders(order: str, mode: Mode) -> None:
    assert code(f"r = atomic_load_explicit(x, memory_order_{order});") == (Load("r", X, mode),)


@pytest.mark.parametrize(("order", "mode"), [("relaxed", Mode.RLX), ("release", Mode.REL)])
def test_store_orders(order: str, mode: Mode) -> None:
    assert code(f"atomic_store_explicit(x, r + 1, memory_order_{order});") == (
        Store(X, Binary("+", R, ONE), mode),
    )


@pytest.mark.parametrize(
    ("order", "load", "store"),
    [
        ("relaxed", Mode.RLX, Mode.RLX),
        ("consume", Mode.ACQ, Mode.RLX),
        ("acquire", Mode.ACQ, Mode.RLX),
        ("release", Mode.RLX, Mode.REL),
        ("acq_rel", Mode.ACQ, Mode.REL),
    ],
)
def test_read_modify_write_orders(order: str, load: Mode, store: Mode) -> None:
    assert code(f"r = atomic_fetch_add_explicit(x, 2, memory_order_{order});") == (
        FetchAdd("r", X, TWO, load, store),
    )


def test_other_read_modify_writes_and_results_that_nobody_wants() -> None:
    assert code(
        f"atomic_fetch_sub_explicit(x, s, {RLX}); r = atomic_exchange_explicit(x, 1, {ACQ});"
        f"atomic_exchange_explicit(y, 1, {REL}); (void)atomic_fetch_add_explicit(y, 1, {RLX});"
    ) == (
        FetchAdd(None, X, Unary("-", S)),
        Exchange("r", X, ONE, Mode.ACQ),
        Exchange(None, Y, ONE, Mode.RLX, Mode.REL),
        FetchAdd(None, Y, ONE),
    )


def test_bitwise_read_modify_writes() -> None:
    assert code(
        f"atomic_fetch_or_explicit(x, 2, {RLX}); r = atomic_fetch_and_explicit(x, s, memory_order_acq_rel);"
        f"(void)atomic_fetch_xor_explicit(y, 1, {REL});"
    ) == (
        FetchAdd(None, X, TWO, operator="|"),
        FetchAdd("r", X, S, Mode.ACQ, Mode.REL, "&"),
        FetchAdd(None, Y, ONE, Mode.RLX, Mode.REL, "^"),
    )


def test_fences() -> None:
    orders = ("relaxed", "consume", "acquire", "release", "acq_rel", "seq_cst")
    assert code("".join(f"atomic_thread_fence(memory_order_{order});" for order in orders)) == (
        Skip(),
        Fence(Mode.ACQ),
        Fence(Mode.ACQ),
        Fence(Mode.REL),
        Fence(Mode.ACQ_REL),
        Fence(Mode.SC),
    )


def test_plain_accesses_through_a_plain_pointer_are_not_atomic() -> None:
    assert code("*d = 1; r = *e; *e = *d + r;") == (
        Store(D, ONE, Mode.NA),
        Load("r", E, Mode.NA),
        Load("_1", D, Mode.NA),
        Store(E, Binary("+", T1, R), Mode.NA),
    )


SC_ACCESSES = {
    "*x = 1;": Store(X, ONE, Mode.REL),
    "r = *x;": Load("r", X, Mode.ACQ),
    "atomic_store(x, 1);": Store(X, ONE, Mode.REL),
    "r = atomic_load(x);": Load("r", X, Mode.ACQ),
    "r = atomic_load_explicit(x, memory_order_seq_cst);": Load("r", X, Mode.ACQ),
    "atomic_fetch_add(x, 1);": FetchAdd(None, X, ONE, Mode.ACQ, Mode.REL),
    "atomic_fetch_or(x, 1);": FetchAdd(None, X, ONE, Mode.ACQ, Mode.REL, "|"),
    "r = atomic_exchange(x, 1);": Exchange("r", X, ONE, Mode.ACQ, Mode.REL),
    "atomic_compare_exchange_strong(x, &r, 1);": CompareExchange("r", X, R, ONE, Mode.ACQ, Mode.REL),
}


def _seq_cst(access: Instruction) -> Instruction:
    modes = [name for name in access.__struct_fields__ if name.endswith("mode")]
    return replace(access, **dict.fromkeys(modes, Mode.SC))


def test_each_order_of_a_compare_exchange_counts() -> None:
    assert code(cas("strong", "x, &r, 1", RLX, "memory_order_seq_cst") + ";") == (
        CompareExchange("r", X, R, ONE, failure_mode=Mode.SC),
    )
    assert code(cas("strong", "x, &r, 1", "memory_order_seq_cst", ACQ) + ";") == (
        CompareExchange("r", X, R, ONE, Mode.SC, Mode.SC, Mode.ACQ),
    )


@pytest.mark.parametrize("body", SC_ACCESSES)
def test_seq_cst_accesses_can_be_treated_as_weaker_or_fenced_ones(body: str) -> None:
    assert code(body, "acq-rel") == (SC_ACCESSES[body],)
    assert code(body) == (_seq_cst(SC_ACCESSES[body]),)
    assert code(body, "fence") == (Fence(Mode.SC), SC_ACCESSES[body])


def test_the_fence_of_a_seq_cst_access_comes_after_the_accesses_in_its_arguments() -> None:
    assert code("atomic_store(x, *d);", "fence") == (
        Load("_1", D, Mode.NA),
        Fence(Mode.SC),
        Store(X, T1, Mode.REL),
    )


# --- compare-exchange


def cas(kind: str, arguments: str, success: str = RLX, failure: str = RLX) -> str:
    return f"atomic_compare_exchange_{kind}_explicit({arguments}, {success}, {failure})"


def test_the_expected_register_gets_the_old_value() -> None:
    assert code(cas("strong", "x, &r, s + 1") + ";") == (CompareExchange("r", X, R, Binary("+", S, ONE)),)


def test_an_expected_register_that_is_known_to_be_a_constant_is_one() -> None:
    assert code(f"r = 0; {cas('strong', 'x, &r, 1')};") == (
        Assign("r", ZERO),
        CompareExchange("r", X, ZERO, ONE),
    )
    assert code(f"r = 0; if (s) {{ r = 1; }} {cas('strong', 'x, &r, 1')};")[-1] == CompareExchange(
        "r", X, R, ONE
    )
    assert code(f"r = 0; while (s) {{ {cas('strong', 'x, &r, 1')}; }}")[2] == CompareExchange("r", X, R, ONE)


def test_the_result_tells_whether_it_succeeded() -> None:
    assert code(f"s = {cas('strong', 'x, &r, 1')};") == (
        Assign("s", R),
        CompareExchange("r", X, R, ONE),
        Assign("s", Binary("==", R, S)),
    )
    assert code(f"r = 2; s = {cas('strong', 'x, &r, 1')};")[1:] == (
        CompareExchange("r", X, TWO, ONE),
        Assign("s", Binary("==", R, TWO)),
    )


def test_a_result_that_replaces_an_operand_waits_until_the_end() -> None:
    assert code(f"r = {cas('strong', 'x, &r, 1')};") == (
        Assign("_1", R),
        CompareExchange("r", X, R, ONE),
        Assign("_1", Binary("==", R, T1)),
        Assign("r", T1),
    )


def test_a_weak_one_may_fail_for_no_reason() -> None:
    assert code(f"s = {cas('weak', 'x, &r, 1', ACQ)};") == (
        Assign("s", R),
        Choose((2, 5)),
        CompareExchange("r", X, R, ONE, Mode.ACQ, failure_mode=Mode.RLX),
        Assign("s", Binary("==", R, S)),
        Goto(7),
        Load("r", X, Mode.RLX),
        Assign("s", ZERO),
    )
    assert code(f"{cas('weak', 'x, &r, 1')};") == (
        Choose((1, 3)),
        CompareExchange("r", X, R, ONE),
        Goto(4),
        Load("r", X),
    )


def test_an_expected_location_is_read_and_written_back_on_failure() -> None:
    assert code(f"s = {cas('strong', 'x, d, 1')};") == (
        Load("_1", D, Mode.NA),
        Assign("s", T1),
        CompareExchange("_1", X, T1, ONE),
        Assign("s", Binary("==", T1, S)),
        Branch(S, 6),
        Store(D, T1, Mode.NA),
    )


@pytest.mark.parametrize(
    ("success", "failure", "modes"),
    [
        ("acq_rel", "relaxed", (Mode.ACQ, Mode.REL, Mode.RLX)),
        ("acq_rel", "acquire", (Mode.ACQ, Mode.REL, Mode.ACQ)),
        ("release", "acquire", (Mode.RLX, Mode.REL, Mode.ACQ)),
        ("relaxed", "acquire", (Mode.RLX, Mode.RLX, Mode.ACQ)),
        ("release", "relaxed", (Mode.RLX, Mode.REL, Mode.RLX)),
        ("relaxed", "consume", (Mode.RLX, Mode.RLX, Mode.ACQ)),
    ],
)
def test_orders_of_a_compare_exchange(success: str, failure: str, modes: tuple[Mode, ...]) -> None:
    call = cas("strong", "x, &r, 1", f"memory_order_{success}", f"memory_order_{failure}")
    assert code(f"{call};") == (CompareExchange("r", X, R, ONE, *modes),)


def test_message_passing_through_a_failing_compare_exchange_is_not_robust() -> None:
    text = """C failure
        {{ x = 0; d = 0; }}
        P0(atomic_int* x, atomic_int* d) {{
            atomic_store_explicit(d, 1, memory_order_relaxed);
            atomic_store_explicit(x, 1, memory_order_release);
        }}
        P1(atomic_int* x, atomic_int* d) {{
            int e = 0;
            atomic_compare_exchange_strong_explicit(x, &e, 7, memory_order_acq_rel, memory_order_{});
            int r = atomic_load_explicit(d, memory_order_relaxed);
        }}
        exists (1:e=1 /\\ 1:r=0)"""
    for failure, holds in (("relaxed", False), ("acquire", True)):
        program = litmus.read(text.format(failure), "failure.litmus")
        assert robust(program, "rc20").holds is holds
        assert (not_robust_graph(program, "rc20") is None) is holds


# --- expressions


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1 + 2 * r", Binary("+", ONE, Binary("*", TWO, R))),
        ("r - s - 1", Binary("-", Binary("-", R, S), ONE)),
        ("(r) - (s - 1)", Binary("-", R, Binary("-", S, ONE))),
        ("!r == -s", Binary("==", Unary("!", R), Unary("-", S))),
        ("r || s && r", Binary("||", R, Binary("&&", S, R))),
        ("(int) r & 0x2u", Binary("&", R, TWO)),
        ("r<1L", Binary("<", R, ONE)),
    ],
)
def test_expressions(text: str, value: object) -> None:
    (assign,) = code(f"r = {text};")
    assert assign == Assign("r", value)  # type: ignore[arg-type]


def test_accesses_in_expressions_happen_from_left_to_right() -> None:
    call = f"atomic_load_explicit(x, {ACQ})"
    assert code(f"r = *d + {call} * atomic_fetch_add_explicit(y, *e, {RLX});") == (
        Load("_1", D, Mode.NA),
        Load("_2", X, Mode.ACQ),
        Load("_4", E, Mode.NA),
        FetchAdd("_3", Y, Register("_4")),
        Assign("r", Binary("+", T1, Binary("*", T2, Register("_3")))),
    )


def test_the_right_side_of_and_is_only_accessed_if_the_left_one_is_true() -> None:
    assert code("r = s && *d == 1;") == (
        Assign("_1", Binary("!=", S, ZERO)),
        Branch(Unary("!", T1), 4),
        Load("_2", D, Mode.NA),
        Assign("_1", Binary("==", T2, ONE)),
        Assign("r", T1),
    )


def test_the_right_side_of_or_is_only_accessed_if_the_left_one_is_false() -> None:
    assert code("if (s == 1 || *d) r = 1;") == (
        Assign("_1", Binary("==", S, ONE)),
        Branch(T1, 4),
        Load("_2", D, Mode.NA),
        Assign("_1", Binary("!=", T2, ZERO)),
        Branch(Unary("!", T1), 6),
        Assign("r", ONE),
    )


def test_assignments_are_expressions() -> None:
    assert code("r = s = 1; while ((r = *d) != 1) {}") == (
        Assign("s", ONE),
        Assign("r", S),
        Load("r", D, Mode.NA),
        Branch(Unary("!", Binary("!=", R, ONE)), 5),
        Goto(2),
    )


def test_updates() -> None:
    assert code("r += 2; s++; --r; *d -= s; r *= s + 1;") == (
        Assign("r", Binary("+", R, TWO)),
        Assign("s", Binary("+", S, ONE)),
        Assign("r", Binary("-", R, ONE)),
        Load("_1", D, Mode.NA),
        Store(D, Binary("-", T1, S), Mode.NA),
        Assign("r", Binary("*", R, Binary("+", S, ONE))),
    )


def test_a_load_that_nobody_wants_is_still_done() -> None:
    assert code(f"atomic_load_explicit(x, {ACQ}); *d;") == (Load("_1", X, Mode.ACQ), Load("_1", D, Mode.NA))


# --- control flow


def test_if_and_else() -> None:
    assert code("if (r) s = 1; else if (s) { s = 2; } else { ; }") == (
        Branch(Unary("!", R), 3),
        Assign("s", ONE),
        Goto(5),
        Branch(Unary("!", S), 5),
        Assign("s", TWO),
    )


def test_an_else_belongs_to_the_nearest_if() -> None:
    assert code("if (r) if (s) s = 1; else s = 2;") == code("if (r) { if (s) { s = 1; } else { s = 2; } }")


def test_while() -> None:
    assert code(f"while (atomic_load_explicit(x, {ACQ}) == 0) r = 1;") == (
        Load("_1", X, Mode.ACQ),
        Branch(Unary("!", Binary("==", T1, ZERO)), 4),
        Assign("r", ONE),
        Goto(0),
    )
    assert code("while (1) { r = 1; }") == (Assign("r", ONE), Goto(0))


def test_do_while() -> None:
    assert code("do { r = 1; } while (!s);") == (Assign("r", ONE), Branch(S, 3), Goto(0))


def test_for() -> None:
    assert code("for (int i = 0; i < 2; i++) r = i;") == (
        Assign("i", ZERO),
        Branch(Unary("!", Binary("<", Register("i"), TWO)), 5),
        Assign("r", Register("i")),
        Assign("i", Binary("+", Register("i"), ONE)),
        Goto(1),
    )
    assert code("for (;;) ;") == (Goto(0),)


def test_break_and_continue() -> None:
    assert code("while (r) { if (s) break; if (s == 1) { continue; } break; }") == (
        Branch(Unary("!", R), 5),
        Branch(S, 5),
        Branch(Binary("==", S, ONE), 0),
        Goto(5),
        Goto(0),
    )


def test_continue_does_what_comes_between_the_rounds() -> None:
    assert code("for (; r; r--) { if (s) continue; s = 1; }") == (
        Branch(Unary("!", R), 7),
        Branch(Unary("!", S), 4),
        Assign("r", Binary("-", R, ONE)),
        Goto(0),
        Assign("s", ONE),
        Assign("r", Binary("-", R, ONE)),
        Goto(0),
    )
    assert code("do { if (s) continue; s = 1; } while (r);") == (
        Branch(Unary("!", S), 3),
        Branch(Unary("!", R), 6),
        Goto(0),
        Assign("s", ONE),
        Branch(Unary("!", R), 6),
        Goto(0),
    )


# --- places


def test_every_instruction_has_its_place() -> None:
    worker = thread("r = 1;\n  if (*d == r)\n  { atomic_store_explicit(x, 1, memory_order_relaxed); }")
    assert [i.at for i in worker.code] == [Position(4, 1), Position(5, 7), Position(5, 3), Position(6, 5)]
    assert worker.at == Position(3, 1)


def test_locations_and_the_condition_have_their_places() -> None:
    test = litmus.read("C a\n{ x=1; }\nP0(int* x, int* y) {}\n  exists x=1")
    assert [location.at for location in test.locations] == [Position(2, 3), Position(3, 17)]
    assert test.condition is not None
    assert test.condition.at == Position(4, 3)


def test_importing_the_reader_does_not_import_lark() -> None:
    question = "import sys, fencepost.formats.litmus; sys.exit('lark' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", question], check=False).returncode == 0
