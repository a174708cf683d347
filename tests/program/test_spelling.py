"""Reports quote a statement as it is written in the source; where there is none, they spell it."""

from __future__ import annotations

import msgspec
import pytest

from fencepost.formats import litmus, tpl
from fencepost.program import Program
from fencepost.program.spelling import statement_text

LITMUS = """C test
{ [x] = 0; [e] = 0; }
P0(atomic_int* x, int* e) {
  int r0 = atomic_compare_exchange_strong_explicit(x, e,
      1, memory_order_acquire, memory_order_relaxed);
  atomic_thread_fence(memory_order_seq_cst);
}
exists (0:r0=0)
"""


def texts(program: Program) -> list[str]:
    return [statement_text(program, instruction) for instruction in program.threads[0].code]


def written(statements: str) -> Program:
    return tpl.read(f"max_value 3;\nglobal x, l;\nfn t {{\n{statements}\n}}\n", "t.tpl")


@pytest.mark.parametrize(
    ("statement", "text"),
    [
        ("BCAS(l,0,1,acq,rlx);", "BCAS(l,0,1,acq,rlx)"),
        ("lock(l);", "lock(l)"),
        ("x.store(1,rlx);", "x.store(1,rlx)"),
        ("x.store(\n  1, // the flag\n  rel);", "x.store(1, rel)"),
        ("local r; r = FADD(x, (1 + 1) % 2) ;", "r = FADD(x, (1 + 1) % 2)"),
        ("fence(seq_cst);", "fence(seq_cst)"),
    ],
)
def test_a_statement_of_tpl(statement: str, text: str) -> None:
    program = written(statement)
    assert texts(program)[0] == text


def test_without_a_source_it_is_spelled() -> None:
    program = msgspec.structs.replace(written("BCAS(l,0,1,acq,rlx);"), source=None)
    assert texts(program)[0] == "lock(l)"


def test_a_call_of_c_over_two_lines() -> None:
    program = litmus.read(LITMUS, "t.litmus")
    call = "atomic_compare_exchange_strong_explicit(x, e, 1, memory_order_acquire, memory_order_relaxed)"
    assert call in texts(program)
    assert "atomic_thread_fence(memory_order_seq_cst)" in texts(program)
