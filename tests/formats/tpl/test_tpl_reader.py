"""What TPL texts mean: declarations, statements, and the flat code they become."""

from __future__ import annotations

from textwrap import dedent

import pytest

from fencepost.errors import InputError
from fencepost.formats import tpl
from fencepost.program import (
    Assert,
    Assign,
    Assume,
    Binary,
    BlockingCompareExchange,
    Branch,
    Cell,
    Choose,
    CompareExchange,
    Constant,
    Exchange,
    Expression,
    Fence,
    FetchAdd,
    Goto,
    Instruction,
    Load,
    Location,
    Mode,
    Position,
    Register,
    Skip,
    Store,
    Thread,
    ThreadId,
    Tracking,
    Unary,
    Verify,
    Wait,
)

R, S = Register("r"), Register("s")
X, Y, D = Cell("x"), Cell("y"), Cell("d")
ZERO, ONE, TWO = Constant(0), Constant(1), Constant(2)


def thread(body: str) -> Thread:
    text = f"global x, y, a[2]; na d; fn w {{ local r, s; {body} }}"
    return tpl.read(text).threads[0]


def code(body: str) -> tuple[Instruction, ...]:
    return thread(body).code


def expression(text: str) -> Expression:
    (assign,) = code(f"r = {text};")
    assert isinstance(assign, Assign)
    return assign.value


def test_declarations() -> None:
    program = tpl.read(
        """// a comment
        max_value 7;
        global x, y=1, lck; na d=2, e; global z;
        track x: 0, 1;   track y: all;
        fn worker { } // another
        fn other { skip; }"""
    )
    assert program.max_value == 7
    assert program.locations == (
        Location("x"),
        Location("y", (1,)),
        Location("lck"),
        Location("d", (2,), atomic=False),
        Location("e", atomic=False),
        Location("z"),
    )
    assert program.tracking == (Tracking("x", (0, 1)), Tracking("y", None))
    assert [t.name for t in program.threads] == ["worker", "other"]


def test_max_value_is_255_by_default() -> None:
    assert tpl.read("fn w {}").max_value == 255


def test_max_value_up_to_64_bits() -> None:
    text = "max_value 18446744073709551615; global x=18446744073709551615; fn w {}"
    assert tpl.read(text).locations[0].initial == (2**64 - 1,)


def test_leading_zeros_and_hexadecimal_numbers() -> None:
    assert tpl.read(f"global x=0x1F, y={'0' * 5000}9; fn w {{}}").initial_memory == (31, 9)


def test_arrays() -> None:
    program = tpl.read("global a[4], b[2]=1, c[3]={0,1,2}; na e[2]={5, 6}; fn w {}")
    assert program.locations == (
        Location("a", (0,) * 4, is_array=True),
        Location("b", (1, 1), is_array=True),
        Location("c", (0, 1, 2), is_array=True),
        Location("e", (5, 6), atomic=False, is_array=True),
    )


def test_array_cells_in_accesses() -> None:
    index = Binary("+", R, ONE)
    assert code("r = a[r + 1].load(); a[0].store(r); CAS(a[s], 0, 1); lock(a[1]);") == (
        Load("r", Cell("a", index)),
        Store(Cell("a", ZERO), R),
        CompareExchange(None, Cell("a", S), ZERO, ONE),
        BlockingCompareExchange(Cell("a", ONE), ZERO, ONE, Mode.ACQ, Mode.RLX),
    )


def test_replicated_functions_make_one_thread_per_copy() -> None:
    threads = tpl.read("fn main {} fn worker[3] { local r; r = tid; }").threads
    assert [t.name for t in threads] == ["main", "worker[0]", "worker[1]", "worker[2]"]
    assert [(t.family, t.tid, t.copies) for t in threads[1:]] == [("worker", i, 3) for i in range(3)]
    assert all(t.code == (Assign("r", ThreadId()),) for t in threads[1:])


def test_tid_is_a_plain_name_in_functions_declared_once() -> None:
    (only,) = tpl.read("fn w { local tid; tid = tid + 1; }").threads
    assert only.code == (Assign("tid", Binary("+", Register("tid"), ONE)),)


def test_method_names_and_all_are_no_keywords() -> None:
    assert tpl.read("global load, store, all; fn all { local naload; naload = load.load(); }").threads


@pytest.mark.parametrize(
    ("statement", "instruction"),
    [
        ("r = s;", Assign("r", S)),
        ("r = x.load();", Load("r", X)),
        ("r = x.load(rlx);", Load("r", X)),
        ("r = x.load(acq);", Load("r", X, Mode.ACQ)),
        ("x.store(1);", Store(X, ONE)),
        ("x.store(r, rlx);", Store(X, R)),
        ("x.store(r, rel);", Store(X, R, Mode.REL)),
        ("r = d.naload();", Load("r", D, Mode.NA)),
        ("d.nastore(1);", Store(D, ONE, Mode.NA)),
        ("FADD(x, 1);", FetchAdd(None, X, ONE)),
        ("r = FADD(x, 1, acq, rel);", FetchAdd("r", X, ONE, Mode.ACQ, Mode.REL)),
        ("r = FADD(x, 1, rlx, rel);", FetchAdd("r", X, ONE, Mode.RLX, Mode.REL)),
        ("r = exchange(x, s);", Exchange("r", X, S)),
        ("exchange(x, s, acq);", Exchange(None, X, S, Mode.ACQ, Mode.RLX)),
        ("r = XCHG(x, s, rel);", Exchange("r", X, S, Mode.RLX, Mode.REL)),
        ("r = CAS(x, 0, 1);", CompareExchange("r", X, ZERO, ONE)),
        ("CAS(x, 0, 1, acq, rlx);", CompareExchange(None, X, ZERO, ONE, Mode.ACQ)),
        ("CAS(x, 0, 1, rlx);", CompareExchange(None, X, ZERO, ONE)),
        ("CAS(x, 0, 1, rel);", CompareExchange(None, X, ZERO, ONE, Mode.RLX, Mode.REL, Mode.RLX)),
        ("CAS(x, 0, 1, acq, rlx, rlx);", CompareExchange(None, X, ZERO, ONE, Mode.ACQ, Mode.RLX, Mode.RLX)),
        ("CAS(x, 0, 1, acq, rel);", CompareExchange(None, X, ZERO, ONE, Mode.ACQ, Mode.REL, Mode.ACQ)),
        ("BCAS(x, 1, 2);", BlockingCompareExchange(X, ONE, TWO)),
        ("BCAS(x, 1, 2, acq, rel);", BlockingCompareExchange(X, ONE, TWO, Mode.ACQ, Mode.REL)),
        ("wait(x, 1);", Wait(None, X, (ONE,))),
        ("r = wait(x, 1, s, acq);", Wait("r", X, (ONE, S), Mode.ACQ)),
        ("r = x.load(seq_cst);", Load("r", X, Mode.SC)),
        ("x.store(1, seq_cst);", Store(X, ONE, Mode.SC)),
        ("FADD(x, 1, seq_cst);", FetchAdd(None, X, ONE, Mode.SC, Mode.SC)),
        ("CAS(x, 0, 1, seq_cst);", CompareExchange(None, X, ZERO, ONE, Mode.SC, Mode.SC, Mode.SC)),
        ("CAS(x, 0, 1, seq_cst, acq);", CompareExchange(None, X, ZERO, ONE, Mode.SC, Mode.SC, Mode.ACQ)),
        (
            "CAS(x, 0, 1, acq, rel, seq_cst);",
            CompareExchange(None, X, ZERO, ONE, Mode.ACQ, Mode.REL, Mode.SC),
        ),
        ("BCAS(x, 1, 2, seq_cst);", BlockingCompareExchange(X, ONE, TWO, Mode.SC, Mode.SC)),
        ("wait(x, 1, seq_cst);", Wait(None, X, (ONE,), Mode.SC)),
        ("fence;", Fence(Mode.SC)),
        ("fence(acq);", Fence(Mode.ACQ)),
        ("fence(rel);", Fence(Mode.REL)),
        ("fence(acq_rel);", Fence(Mode.ACQ_REL)),
        ("fence(seq_cst);", Fence(Mode.SC)),
        ("lock(x);", BlockingCompareExchange(X, ZERO, ONE, Mode.ACQ, Mode.RLX)),
        ("unlock(x);", Store(X, ZERO, Mode.REL)),
        ("assert(r);", Assert(R)),
        ("assume(r);", Assume(R)),
        ("skip;", Skip()),
        ("verify(r);", Verify("r")),
    ],
)
def test_statement(statement: str, instruction: Instruction) -> None:
    assert code(statement) == (instruction,)


@pytest.mark.parametrize(
    ("text", "grouped"),
    [
        ("r + s * 2", "r + (s * 2)"),
        ("r - s - 1", "(r - s) - 1"),
        ("r / s * 2 % 3", "((r / s) * 2) % 3"),
        ("r < s + 1", "r < (s + 1)"),
        ("r == s < 2", "r == (s < 2)"),
        ("r & s == 1", "r & (s == 1)"),
        ("r ^ s & 1", "r ^ (s & 1)"),
        ("r | s ^ 1", "r | (s ^ 1)"),
        ("r && s | 1", "r && (s | 1)"),
        ("r || s && 1", "r || (s && 1)"),
        ("r || s || 1", "(r || s) || 1"),
        ("!r == s", "(!r) == s"),
        ("-r * +s", "(-r) * (+s)"),
        ("!-!r", "!(-(!r))"),
        ("-(r + s)", "-((r + (s)))"),
        ("r >= s != 1 <= 2 > 0", "(r >= s) != ((1 <= 2) > 0)"),
    ],
)
def test_operators_group_as_in_c(text: str, grouped: str) -> None:
    assert expression(text) == expression(grouped)


def test_parentheses_override_precedence() -> None:
    assert expression("(r + s) * 2") == Binary("*", Binary("+", R, S), TWO)


def test_if_with_goto_is_one_branch() -> None:
    assert code("if (r == 1) goto l; skip; l: skip;") == (Branch(Binary("==", R, ONE), 2), Skip(), Skip())


def test_if_jumps_over_its_block() -> None:
    assert code("if (r) { skip; } fence;") == (Branch(Unary("!", R), 2), Skip(), Fence())


def test_if_with_else() -> None:
    assert code("if (r) { skip; } else { fence; }") == (Branch(Unary("!", R), 3), Skip(), Goto(4), Fence())


def test_else_if_is_an_if_inside_the_else() -> None:
    chain = "if (r) { skip; } else if (s) { fence; } else { r = 1; }"
    nested = "if (r) { skip; } else { if (s) { fence; } else { r = 1; } }"
    assert code(chain) == code(nested)


def test_a_negated_condition_loses_its_negation_instead_of_getting_another() -> None:
    assert code("if (!r) { skip; }") == (Branch(R, 2), Skip())


def test_while_jumps_back_to_its_condition() -> None:
    assert code("while (r) { skip; }") == (Branch(Unary("!", R), 3), Skip(), Goto(0))


def test_oneof_chooses_between_its_blocks() -> None:
    assert code("oneof({ skip; }{ fence; }{ });") == (Choose((1, 3, 5)), Skip(), Goto(5), Fence(), Goto(5))


def test_a_lone_goto_in_oneof_is_a_target_of_the_choice() -> None:
    assert code("l: oneof({ goto l; }{ skip; });") == (Choose((0, 1)), Skip())


def test_labels_stand_before_statements_and_at_the_end_of_blocks() -> None:
    read = thread("a: b: while (r) { skip; c: } d: e:")
    assert read.labels == {"a": 0, "b": 0, "c": 2, "d": 3, "e": 3}


def test_gotos_lead_into_and_out_of_blocks() -> None:
    assert code("goto l; while (r) { l: skip; goto m; } m:")[0] == Goto(2)


def test_empty_functions_and_blocks() -> None:
    assert tpl.read("fn w {}").threads[0].code == ()
    assert code("while (r) {}") == (Branch(Unary("!", R), 2), Goto(0))


def test_the_writers_own_labels_are_not_kept() -> None:
    assert thread("goto __7; __7: skip;") == thread("goto __1; __1: skip;")
    assert thread("goto __7; __7: skip;").labels == {}


def test_every_instruction_knows_where_its_statement_starts() -> None:
    text = dedent("""\
        global x;
        fn w {
          local r;
          r = x.load(); l: skip;
          if (r) {
            r = 1;
          } else if (!r) {
            x.store(1);
          }
          while (r) { goto l; }
          oneof({skip;}{skip;});
        }
        """)
    program = tpl.read(text)
    (only,) = program.threads
    places = [(i.at.line, i.at.column) for i in only.code]
    assert places == [
        *[(4, 3), (4, 20)],
        *[(5, 3), (6, 5), (5, 3), (7, 10), (8, 5)],
        *[(10, 3), (10, 15), (10, 3)],
        *[(11, 3), (11, 10), (11, 3), (11, 17)],
    ]
    assert only.at == Position(2, 1)
    assert program.locations[0].at == Position(1, 8)


def test_lines_end_as_on_any_system() -> None:
    for end in ("\n", "\r\n", "\r"):
        program = tpl.read(end.join(["// \u2028 \f odd", "fn w {", " skip; }"]))
        assert program.threads[0].code[0].at == Position(3, 2)
        assert program.source_line(3) == " skip; }"


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("global a[2]; fn w {}", "arrays are"),
        ("fn w[2] {}", "replicated threads are"),
        ("global x; fn w { local r; r = XCHG(x, 1); }", "`XCHG` is"),
        ("fn w { if (1) {} else if (1) {} }", "`else if` is"),
        ("global x=0x1; fn w {}", "hexadecimal numbers are"),
        ("fn w { l: }", "a label without a statement is"),
    ],
)
def test_strict_tpl_rejects_our_extensions(text: str, what: str) -> None:
    assert tpl.read(text)
    with pytest.raises(InputError) as caught:
        tpl.read(text, strict_tpl=True)
    assert caught.value.message == f"{what} a fencepost extension; not allowed with --strict-tpl"


def test_strict_tpl_reads_the_documented_language() -> None:
    text = "max_value 2; global x; na d; track x: all; fn w { local r; l: r = CAS(x, 0, 1, acq, rlx);"
    assert tpl.read(
        text + " if (r) { goto l; } else { oneof({ skip; }{ d.nastore(1); }); } }", strict_tpl=True
    )


# --- what people type: each reads to the same code as its plain form

TYPED = [
    ("x.fetch_add(1);", "FADD(x, 1);"),
    ("r = x.fetch_add(1, acq, rel);", "r = FADD(x, 1, acq, rel);"),
    ("r = x.fetch_sub(s);", "r = FADD(x, -s);"),
    ("r = x.exchange(2, acq);", "r = exchange(x, 2, acq);"),
    ("r = a[s].compare_exchange(0, 1, rel);", "r = CAS(a[s], 0, 1, rel);"),
    ("r = CAS(x, 0, 1, acq_rel);", "r = CAS(x, 0, 1, acq, rel);"),
    ("r = CAS(x, 0, 1, acq_rel, rlx);", "r = CAS(x, 0, 1, acq, rel, rlx);"),
    ("x.compare_exchange(0, 1, acq, rel, rlx);", "CAS(x, 0, 1, acq, rel, rlx);"),
    ("FADD(x, 1, memory_order_acq_rel);", "FADD(x, 1, acq, rel);"),
    ("r = x.load(acquire);", "r = x.load(acq);"),
    ("r = x.load(memory_order_consume);", "r = x.load(acq);"),
    ("x.store(1, release);", "x.store(1, rel);"),
    ("x.store(1, memory_order_release);", "x.store(1, rel);"),
    ("wait(x, 1, relaxed);", "wait(x, 1);"),
    ("r = x.load(sc);", "r = x.load(seq_cst);"),
    ("x.store(1, memory_order_seq_cst);", "x.store(1, seq_cst);"),
    ("r = x.exchange(1, sc);", "r = exchange(x, 1, seq_cst);"),
    ("r = x.compare_exchange(0, 1, sc, relaxed);", "r = CAS(x, 0, 1, seq_cst, rlx);"),
    ("fence(acquire);", "fence(acq);"),
    ("fence(memory_order_seq_cst);", "fence;"),
    ("fence(upd);", "fence;"),
    ("r = true; s = !false;", "r = 1; s = !0;"),
    ("r += 1; r -= s * 2; r *= 3; r /= 4; r %= 5; r &= 6; r |= 7; r ^= 8;",
     "r = r + 1; r = r - s * 2; r = r * 3; r = r / 4; r = r % 5; r = r & 6; r = r | 7; r = r ^ 8;"),
    ("r -= s - 1;", "r = r - (s - 1);"),
    ("do { skip; } while (r < 2);", "top: skip; if (r < 2) goto top;"),
    ("for (r = 0; r < 3; r += 1) { skip; }", "r = 0; while (r < 3) { skip; r = r + 1; }"),
    ("for (;;) { skip; }", "top: skip; goto top;"),
    ("while (r) { if (s) { break; } x.store(1); }", "while (r) { if (s) { goto end; } x.store(1); } end:"),
    ("while (r) { if (s) { continue; } skip; }", "top: while (r) { if (s) { goto top; } skip; }"),
    ("do { if (s) { continue; } skip; } while (r);",
     "top: if (s) { goto next; } skip; next: if (r) goto top;"),
    ("for (r = 0; r < 2; r += 1) { if (s) { continue; } skip; }",
     "r = 0; while (r < 2) { if (s) { goto next; } skip; next: r = r + 1; }"),
    ("while (r) { while (s) { break; } break; }",
     "while (r) { while (s) { goto inner; } inner: goto outer; } outer:"),
]  # fmt: skip


@pytest.mark.parametrize(("typed", "plain"), TYPED)
def test_what_people_type_reads_as_its_plain_form(typed: str, plain: str) -> None:
    assert code(typed) == code(plain)


TYPED_ACCESSES = [
    ("if (x.load(acq) == 0) { skip; }", "_1 = x.load(acq); if (_1 == 0) { skip; }"),
    ("if (CAS(x, 0, 1) == 0) goto end; skip; end:", "_1 = CAS(x, 0, 1); if (_1 == 0) goto end; skip; end:"),
    ("if (r) { skip; } else if (x.load()) { skip; }",
     "if (r) { skip; } else { _1 = x.load(); if (_1) { skip; } }"),
    ("while (x.load(acq) == 0) { skip; }",
     "top: _1 = x.load(acq); if (!(_1 == 0)) goto end; skip; goto top; end:"),
    ("while (x.exchange(1, acq)) { while (x.load()) { skip; } }",
     "top: _1 = exchange(x, 1, acq); if (!_1) goto end;"
     " inner: _1 = x.load(); if (!_1) goto next; skip; goto inner; next: goto top; end:"),
    ("while (x.load()) { continue; }", "top: _1 = x.load(); if (!_1) goto end; goto top; goto top; end:"),
    ("do { skip; } while (x.load());", "top: skip; _1 = x.load(); if (_1) goto top;"),
    ("r = x.load() + s;", "_1 = x.load(); r = _1 + s;"),
    ("r += d.naload();", "_1 = d.naload(); r = r + _1;"),
    ("x.store(y.load(acq), rel);", "_1 = y.load(acq); x.store(_1, rel);"),
    ("r = a[x.load()].load();", "_1 = x.load(); r = a[_1].load();"),
    ("assert(x.load() == 1);", "_1 = x.load(); assert(_1 == 1);"),
    ("verify(x.load());", "_1 = x.load(); verify(_1);"),
    ("r = s && x.load();", "if (s) { _1 = x.load(); } r = s && _1;"),
    ("r = s || !x.load();", "if (!s) { _1 = x.load(); } r = s || !_1;"),
    ("r = (s || r) && (s == 1 || 2 < x.load());",
     "if (!(s || r)) goto on; if (s == 1) goto on; _1 = x.load(); on: r = (s || r) && (s == 1 || 2 < _1);"),
    ("r = x.load() && s;", "_1 = x.load(); r = _1 && s;"),
]  # fmt: skip


@pytest.mark.parametrize(("typed", "plain"), TYPED_ACCESSES)
def test_an_access_in_an_expression_gets_a_local_of_its_own(typed: str, plain: str) -> None:
    text = f"global x, y, a[2]; na d; fn w {{ local r, s, _1; {plain} }}"
    expected = tpl.read(text).threads[0]
    assert thread(typed).code == expected.code
    assert thread(typed).registers == expected.registers


def test_the_local_of_an_access_has_a_free_name() -> None:
    only = tpl.read("global _1; fn w { local _2; _2 = _1.load() + 1; }").threads[0]
    assert only.registers == ("_2", "_3")


def test_bitwise_read_modify_writes() -> None:
    assert code("x.fetch_and(1); r = x.fetch_or(s, acq, rel); r = x.fetch_xor(2, acq_rel);") == (
        FetchAdd(None, X, ONE, operator="&"),
        FetchAdd("r", X, S, Mode.ACQ, Mode.REL, "|"),
        FetchAdd("r", X, TWO, Mode.ACQ, Mode.REL, "^"),
    )


@pytest.mark.parametrize("typed", [typed for typed, _ in (*TYPED, *TYPED_ACCESSES)])
def test_what_people_type_is_refused_in_strict_tpl(typed: str) -> None:
    text = f"global x, y, b; na d; fn w {{ local r, s; {typed} }}".replace("a[s]", "b")
    if typed in ("fence(upd);", "r = true; s = !false;"):  # Rocker has these
        tpl.read(text, strict_tpl=True)
        return
    if "a[" in typed:
        return
    with pytest.raises(InputError, match="a fencepost extension; not allowed with --strict-tpl"):
        tpl.read(text, strict_tpl=True)


def test_the_words_of_extensions_are_no_keywords() -> None:
    words = ("break", "continue", "for", "do", "true", "false", "acquire", "release", "upd", "fetch_add")
    for word in words:
        text = f"global {word}; fn {word} {{ local r; {word}: r = {word}.load(); goto {word}; }}"
        assert tpl.read(text, strict_tpl=True).locations[0].name == word
        own = tpl.read(f"global x; fn w {{ local {word}; {word} = 1; x.store({word}); }}", strict_tpl=True)
        assert own.threads[0].code[1] == Store(X, Register(word))


def test_constants_beyond_max_value_are_taken_modulo_with_a_warning() -> None:
    program = tpl.read("max_value 3; global x; fn w { local r;\n r = 1 + (2 * 9);\nx.store(4); }")
    plain = tpl.read("max_value 3; global x; fn w { local r; r = 1 + (2 * 1); x.store(0); }")
    assert program == plain
    assert program.warnings == (
        "line 2: the constant 9 is larger than max_value; 1 is used, which is 9 modulo 4",
        "line 3: the constant 4 is larger than max_value; 0 is used, which is 4 modulo 4",
    )
    assert not plain.warnings


def test_a_compare_exchange_as_a_condition_is_warned_of() -> None:
    head = "global x; fn w { local r;\n"
    for condition in ("CAS(x, 0, 1)", "!x.compare_exchange(0, 1)"):
        (warning,) = tpl.read(f"{head} if ({condition}) {{ skip; }} }}").warnings
        assert warning.startswith("line 2: ")
        assert "gives the old value" in warning
    assert not tpl.read(f"{head} if (CAS(x, 0, 1) == 0) {{ skip; }} r = CAS(x, 0, 1); }}").warnings
