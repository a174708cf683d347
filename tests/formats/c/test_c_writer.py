"""How programs look in C, that compilers have no warning about them, and that they compute as TPL does."""

from __future__ import annotations

import random
import re
from itertools import chain
from pathlib import Path
from textwrap import dedent

import pytest

from fencepost.errors import InputError
from fencepost.formats import load, tpl, write
from fencepost.formats.text.names import is_c_name, spellings
from fencepost.program import (
    Assert,
    Assign,
    Binary,
    Constant,
    DivisionByZeroError,
    Expression,
    Instruction,
    Position,
    Program,
    Register,
    Thread,
    ThreadId,
    Unary,
    evaluate,
)
from tests.sanitizer.building import Shell, Toolchain, with_each_compiler
from tests.strategies import random_program

EXAMPLES = Path(__file__).parents[3] / "examples"
HEADERS = ("fencepost", "pthread", "stdatomic", "stdint", "stdio", "stdlib")
OPERATORS = ("+", "-", "*", "/", "%", "<", "<=", "==", "!=", ">", ">=", "&&", "||", "&", "^", "|")


def body(text: str, declarations: str = "global x, y, a[3]; na d;") -> str:
    """The statements that are written for those of a TPL function with locals r and s."""
    written = write(tpl.read(f"{declarations} fn worker {{ local r, s; {text} }}"), "c")
    lines = written.split("(void)argument; (void)r; (void)s;\n")[1].split("    return (void *)failed;\n}")[0]
    return dedent("\n".join(line for line in lines.splitlines() if not line.startswith("#line")))


def compiled(shell: Shell, toolchain: Toolchain, text: str, name: str = "program") -> Path:
    """The executable of a program that is not watched; no warning is allowed."""
    shell.write(f"{name}.c", text)
    include = shell.ok("fencepost", "flags", "--include").split()
    command = (toolchain.cc, "-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", *include)
    shell.ok(*command, f"{name}.c", "-o", name, "-pthread")
    return shell.directory / name


def test_a_whole_program() -> None:
    program = tpl.read(
        dedent("""\
            max_value 3;
            global next, serving=0;
            na owner;
            fn worker[2] {
                local ticket, o;
                again: ticket = FADD(next, 1, acq, rel);
                wait(serving, ticket, acq);
                owner.nastore(tid);
                o = owner.naload();
                assert(o == tid);
                serving.store(ticket + 1, rel);
                if (ticket < 2) goto again;
            }
            fn other { skip; }
            """),
        "some/where/lock.tpl",
    )
    written = write(program, "c")
    assert written.startswith(
        "/* Written by fencepost from lock.tpl. Values are 0 to 3. */\n\n#define _GNU_SOURCE\n"
    )
    assert (
        dedent("""\
            static volatile _Atomic uint8_t next = 0;  /* counts on, and is read modulo 4 */
            static volatile _Atomic uint8_t serving = 0;
            static uint8_t owner = 0;
            """)
        in written
    )
    assert written.endswith(
        dedent("""\
            int main(void) {
                pthread_t threads[3];
                intptr_t failed = 0;
                fp_start(&threads[0], run_worker, 0, "worker[0]");
                fp_start(&threads[1], run_worker, 1, "worker[1]");
                fp_start(&threads[2], run_other, 0, "other");
                for (int i = 0; i < 3; i++) {
                    void *result;
                    pthread_join(threads[i], &result);
                    failed |= (intptr_t)result;
                }
                return failed != 0;
            }

            static void *run_worker(void *argument) {
                const int tid = (int)(intptr_t)argument;
                intptr_t failed = 0;
                int ticket = 0, o = 0;
                (void)tid; (void)ticket; (void)o;
            again:;
            #line 6 "some/where/lock.tpl"
                ticket = atomic_fetch_add_explicit(&next, 1, memory_order_acq_rel) & 3;
            #line 7
                (void)fp_wait(&serving, ticket, memory_order_acquire);
            #line 8
                owner = tid;
            #line 9
                o = owner;
            #line 10
                FP_ASSERT(o == tid);
            #line 11
                atomic_store_explicit(&serving, (ticket + 1) & 3, memory_order_release);
            #line 12
                if (ticket < 2) goto again;
                return (void *)failed;
            }

            static void *run_other(void *argument) {
                intptr_t failed = 0;
                (void)argument;
                return (void *)failed;
            }
            """)
    )


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("r = x.load(acq);", "r = atomic_load_explicit(&x, memory_order_acquire);"),
        ("x.store(r, rel);", "atomic_store_explicit(&x, r, memory_order_release);"),
        ("x.store(1);", "atomic_store_explicit(&x, 1, memory_order_relaxed);"),
        ("r = d.naload(); d.nastore(s);", "r = d;\nd = s;"),
        ("FADD(x, -1, rel);", "(void)atomic_fetch_add_explicit(&x, 255, memory_order_release);"),
        ("r = x.fetch_or(s, acq);", "r = atomic_fetch_or_explicit(&x, s, memory_order_acquire);"),
        ("x.fetch_xor(1);", "(void)atomic_fetch_xor_explicit(&x, 1, memory_order_relaxed);"),
        ("r = exchange(x, s, acq);", "r = atomic_exchange_explicit(&x, s, memory_order_acquire);"),
        ("r = CAS(x, 0, s, acq, rel);", "r = fp_cas(&x, 0, s, memory_order_acq_rel, memory_order_acquire);"),
        (
            "CAS(x, 0, 1, acq, rel, rlx);",
            "(void)fp_cas(&x, 0, 1, memory_order_acq_rel, memory_order_relaxed);",
        ),
        ("CAS(x, 0, 1, rel);", "(void)fp_cas(&x, 0, 1, memory_order_release, memory_order_relaxed);"),
        ("BCAS(x, 0, 1, acq);", "fp_bcas(&x, 0, 1, memory_order_acquire);"),
        ("r = wait(x, 1);", "r = fp_wait(&x, 1, memory_order_relaxed);"),
        ("wait(x, 1, s, acq);", "(void)fp_wait_any(&x, memory_order_acquire, 1, s);"),
        ("fence;", "atomic_thread_fence(memory_order_seq_cst);"),
        ("fence(acq_rel);", "atomic_thread_fence(memory_order_acq_rel);"),
        ("r = s + 1;", "r = (s + 1) & 255;"),
        ("r = s - 1 < 0;", "r = s - 1 < 0;"),
        ("r = s / (r - 1) * 2;", "r = (FP_QUOTIENT(s, r - 1) * 2) & 255;"),
        ("r = s % 3;", "r = s % 3;"),
        ("r = (r & s) == 1 && !s || r > s + 1;", "r = ((r & s) == 1 && (!s)) || r > s + 1;"),
        ("a[2].store(1);", "atomic_store_explicit(&a[2], 1, memory_order_relaxed);"),
        ("r = a[s].load();", "r = atomic_load_explicit(&a[FP_INDEX(s, 3)], memory_order_relaxed);"),
        ("assume(r);", "if (!(r)) return (void *)failed;"),
        ("assert(r == 1);", "FP_ASSERT(r == 1);"),
        ("verify(r); skip;", ""),
        (
            "oneof({ x.store(1); }{});",
            "switch (fp_choose(2)) { case 0: goto at_1; default: goto at_3; }\nat_1:;\n"
            "atomic_store_explicit(&x, 1, memory_order_relaxed);\ngoto at_3;\nat_3:;",
        ),
    ],
)
def test_instructions(text: str, written: str) -> None:
    found = re.sub(r"^\s+", "", body(text), flags=re.MULTILINE).strip()
    assert found == written


def test_made_up_labels_are_none_of_the_program() -> None:
    text = body("if (r) { s = 1; } r = 1; at_2: s = 2; if (s) goto at_2;")
    assert re.findall(r"^(\w+):;", text, re.MULTILINE) == ["at_2_", "at_2"]


def test_registers_have_a_type_that_holds_every_intermediate_value() -> None:
    for declarations, expression, kind in (
        ("max_value 1000;", "r * s", "int"),
        ("max_value 100000;", "r * s", "long long"),
        ("max_value 5000000000;", "r * s", "__int128"),
    ):
        written = write(tpl.read(f"{declarations} fn w {{ local r, s; r = {expression}; }}"), "c")
        assert f"    {kind} r = 0, s = 0;" in written


def test_locations_have_the_smallest_type_that_holds_their_values() -> None:
    for max_value, bits in ((255, 8), (256, 16), (65536, 32), (2**64 - 1, 64)):
        written = write(tpl.read(f"max_value {max_value}; global x; fn w {{ x.store(1); }}"), "c")
        assert f"static volatile _Atomic uint{bits}_t x = 0;\n" in written


def test_additions_that_cannot_wrap_around_leave_a_location_as_it_is() -> None:
    written = body("FADD(x, 1); FADD(x, 1); wait(x, 2);", "max_value 2; global x;")
    assert "fp_wait(&x, 2," in written
    written = body("x.store(-1); FADD(x, 1); wait(x, 2);", "max_value 3; global x;")
    assert "fp_wait(&x, 2 * 64," in written


def test_a_location_that_is_added_to_and_compared_is_kept_in_its_upper_bits() -> None:
    written = body("FADD(x, -1); r = CAS(x, 3, 1);", "max_value 3; global x=1;")
    assert "atomic_fetch_add_explicit(&x, 3 * 64, memory_order_relaxed);" in written
    assert "r = fp_cas(&x, 3 * 64, 1 * 64, memory_order_relaxed, memory_order_relaxed) / 64;" in written


def test_bitwise_read_modify_writes_need_a_power_of_two() -> None:
    for body in ("x.fetch_or(1);", "x.fetch_xor(1);", "x.fetch_and(1); FADD(x, 1);"):
        text = f"max_value 2; global x; fn w {{ {body} }}"
        with pytest.raises(InputError, match="needs a max_value that is a power of two less one"):
            write(tpl.read(text), "c")
    assert "fetch_and" in write(tpl.read("max_value 2; global x; fn w { x.fetch_and(1); }"), "c")


def test_a_location_that_wraps_around_where_c_cannot_is_told_with_its_place() -> None:
    program = tpl.read("max_value 2; global x;\nfn w { wait(x, 1); FADD(x, 2); FADD(x, 2); }", "f.tpl")
    with pytest.raises(InputError) as caught:
        write(program, "c")
    assert (caught.value.line, caught.value.column) == (2, 20)
    assert "`x` wraps around at 3" in caught.value.message


def test_an_expression_that_is_too_large_is_told_with_its_place() -> None:
    program = tpl.read("max_value 18446744073709551615; fn w { local r;\nr = r * r * r; }")
    with pytest.raises(InputError, match="can exceed 127 bits") as caught:
        write(program, "c")
    assert caught.value.line == 2


def test_c_is_written_only() -> None:
    with pytest.raises(InputError, match="there is no format `c`"):
        load(EXAMPLES / "c" / "dekker.c", format="c")


def test_names_that_c_has_taken_are_spelled_otherwise() -> None:
    names = ["x", "int", "y", "printf", "int_", "_t", "fp_x", "a.b", "0:r", "size_t", "thread_1"]
    assert spellings(names, is_c_name, taken={"y"}) == {
        "x": "x",
        "int": "int__",
        "y": "y_",
        "printf": "printf_",
        "int_": "int_",
        "_t": "t",
        "fp_x": "v_fp_x",
        "a.b": "a_b",
        "0:r": "v_0_r_",
        "size_t": "size_t_",
        "thread_1": "v_thread_1",
    }


@with_each_compiler
def test_every_name_that_the_headers_declare_is_known_as_taken(tmp_path: Path, toolchain: Toolchain) -> None:
    shell = Shell(tmp_path, toolchain)
    text = "#define _GNU_SOURCE\n" + "".join(f"#include <{header}.h>\n" for header in HEADERS)
    shell.write("headers.c", text)
    include = shell.ok("fencepost", "flags", "--include").split()
    macros = shell.ok(toolchain.cc, "-E", "-dM", *include, "headers.c")
    declarations = shell.ok(toolchain.cc, "-E", "-P", *include, "headers.c")
    functions = re.findall(r"\b(\w+) \((?!\*)", declarations)
    objects = re.findall(r"^extern [^(;]*?\b(\w+)(?:\[\d*\])?;", declarations, re.MULTILINE)
    types = re.findall(r"\b(\w+);", "".join(re.findall(r"^typedef .*;$", declarations, re.MULTILINE)))
    names = {*re.findall(r"^#define (\w+)", macros, re.MULTILINE), *functions, *objects, *types}
    assert {"printf", "stdout", "size_t", "EOF", "pthread_create"} <= names
    assert {name for name in names if is_c_name(name)} == set()


@with_each_compiler
def test_names_of_the_c_library_can_be_names_of_a_program(tmp_path: Path, toolchain: Toolchain) -> None:
    text = (
        "global read, main, int, y1, linux; na printf; fn exit { local stdout, tid1, failed;"
        " stdout = read.load(); main.store(stdout); int.store(1); y1.store(1); linux.store(failed);"
        " printf.nastore(tid1); auto: if (stdout) goto auto; } fn abort[2] { local r; r = tid; }"
    )
    executable = compiled(Shell(tmp_path, toolchain), toolchain, write(tpl.read(text), "c"))
    assert executable.exists()


@with_each_compiler
def test_compilers_do_not_warn_about_the_examples(tmp_path: Path, toolchain: Toolchain) -> None:
    shell = Shell(tmp_path, toolchain)
    files = sorted(chain(EXAMPLES.glob("rocker/*.tpl"), EXAMPLES.glob("tutorial/*.tpl")))
    assert files
    _all_compile(shell, toolchain, [load(file) for file in files])


@with_each_compiler
def test_compilers_do_not_warn_about_random_programs(tmp_path: Path, toolchain: Toolchain) -> None:
    _all_compile(Shell(tmp_path, toolchain), toolchain, list(_random_programs(40)))


@pytest.mark.slow
@with_each_compiler
def test_compilers_do_not_warn_about_many_random_programs(tmp_path: Path, toolchain: Toolchain) -> None:
    _all_compile(Shell(tmp_path, toolchain), toolchain, list(_random_programs(300)))


def _random_programs(count: int) -> list[Program]:
    return [random_program(random.Random(n), modes=True, loop_free=n % 2 == 0) for n in range(count)]


def _all_compile(shell: Shell, toolchain: Toolchain, programs: list[Program]) -> None:
    """One call of the compiler for all of them."""
    files = []
    for number, program in enumerate(programs):
        try:
            files.append(shell.write(f"p{number}.c", write(program, "c")).name)
        except InputError as error:
            assert "wraps around" in error.message or "in C, `" in error.message  # noqa: PT017
    include = shell.ok("fencepost", "flags", "--include").split()
    shell.ok(toolchain.cc, "-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", *include, "-c", *files)


@with_each_compiler
def test_a_program_whose_assertions_hold_says_nothing(tmp_path: Path, toolchain: Toolchain) -> None:
    text = """
        max_value 7; global x=6, y, z=1, a[2]={1, 2}; na d=3;
        fn t {
            local r, s;
            r = 3 - 5; assert(r == 6); assert(3 - 5 < 0);
            r = -7 / 2; assert(r == 5); r = -7 % 3; assert(r == 7);
            r = FADD(x, 3); assert(r == 6); r = x.load(); assert(r == 1);
            FADD(x, -2); r = CAS(x, 7, 2); assert(r == 7); wait(x, 2);
            r = FADD(y, 7); s = FADD(y, 2); assert(r == 0 && s == 7); r = exchange(y, 4); assert(r == 1);
            r = CAS(z, 2, 3); assert(r == 1); BCAS(z, 1, 5); r = wait(z, 0, 5); assert(r == 5);
            r = a[1].load(); assert(r == 2); a[r - 1].store(7); r = a[1].load(); assert(r == 7);
            r = d.naload(); d.nastore(r + 5); r = d.naload(); assert(r == 0);
            assume(r); assert(0);
        }
    """
    shell = Shell(tmp_path, toolchain)
    executable = compiled(shell, toolchain, write(tpl.read(text), "c"))
    done = shell.run(executable)
    assert (done.returncode, done.stderr) == (0, "")


@with_each_compiler
@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("\nassert(r == 1); assert(s == 0);", "f.tpl:2: assertion failed: r == 1\n"),
        ("r = 1;\n\nr = 3 / s; assert(0);", "f.tpl:3: division by zero\n"),
        ("\nif (1 % r) { skip; }", "f.tpl:2: division by zero\n"),
        ("r = 2;\na[r].store(1); assert(0);", "f.tpl:2: index out of range\n"),
    ],
)
def test_what_goes_wrong_is_told_with_its_line(
    tmp_path: Path, toolchain: Toolchain, text: str, told: str
) -> None:
    program = tpl.read(f"global a[2]; fn t {{ local r, s; {text} }}", "f.tpl")
    shell = Shell(tmp_path, toolchain)
    done = shell.run(compiled(shell, toolchain, write(program, "c")))
    assert (done.returncode, done.stderr) == (1, told)


@with_each_compiler
@pytest.mark.parametrize("max_value", [1, 2, 7, 255, 1000, 2**31 - 1, 2**32, 2**64 - 1])
def test_c_computes_as_tpl_does(tmp_path: Path, toolchain: Toolchain, max_value: int) -> None:
    source = random.Random(max_value)
    code: list[Instruction] = []
    for line in range(1, 60):
        values = {"r": source.randint(0, max_value), "s": source.randint(0, max_value)}
        expression = _expression(source, 3 if max_value < 2**31 else 1, max_value)
        try:
            result = evaluate(expression, values, 1) % (max_value + 1)
        except DivisionByZeroError:
            continue
        at = Position(line, 1)
        code += [Assign(name, Constant(value), at=at) for name, value in values.items()]
        code.append(Assign("t", expression, at=at))
        code.append(Assert(Binary("==", Register("t"), Constant(result)), at=at))
    assert len(code) > 40
    program = Program((), (Thread("t", tuple(code), ("r", "s", "t"), tid=1, copies=2),), max_value)
    shell = Shell(tmp_path, toolchain)
    done = shell.run(compiled(shell, toolchain, write(program, "c")))
    assert (done.returncode, done.stderr) == (0, "")


def _expression(source: random.Random, depth: int, max_value: int) -> Expression:
    kind = source.random()
    if depth == 0 or kind < 0.2:
        constant = Constant(source.choice((0, 1, max_value, source.randint(0, max_value))))
        return source.choice((Register("r"), Register("s"), constant, ThreadId()))
    if kind < 0.35:
        return Unary(source.choice("!-+"), _expression(source, depth - 1, max_value))
    left, right = (_expression(source, depth - 1, max_value) for _ in range(2))
    operators = OPERATORS if max_value < 2**63 else [operator for operator in OPERATORS if operator != "*"]
    return Binary(source.choice(operators), left, right)
