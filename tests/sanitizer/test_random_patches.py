"""Random sources with random changes: the patched source compiles without a warning, and read again, its
operations have exactly the orders and fences that were asked for."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from fencepost.sanitizer.sources import patch_sources
from fencepost.sanitizer.sources.operations import File
from fencepost.sanitizer.sources.orders import (
    ORDERS,
    failure_of,
    is_allowed,
    is_allowed_failure,
    strong_enough,
)
from fencepost.sanitizer.sources.units import Unit
from fencepost.verdicts.sites import Site, SiteChange, SiteOperation, SiteOrder
from tests.sanitizer.test_patches import build_of, compile_strictly

pytest.importorskip("clang.cindex", reason="libclang is not installed")

Orders = tuple[SiteOrder, SiteOrder | None]

# `@` stands for the operation. How many fences one behind it takes; 0: that is left to be done by hand.
FRAMES = (
    ("  @;", 1),
    ("  r = @ + 1;", 1),
    ("  int v# = @; r += v#;", 1),
    ("  r++; r += @; r--;", 1),
    ("  if (r) r = @;", 1),
    ("  if (r)\n    r = @;\n  else\n    r = 3;", 1),
    ("  for (r = 0; r < 2; r++) { r += @; }", 1),
    ("  {\n    r += @;  // a comment\n  }", 1),
    ("  switch (r) {\n    case 1: r = @; break;\n    default: break;\n  }", 1),
    ("  if (@ == r) {\n    r++;\n  }", 2),
    ("  if (@ == r) {\n    r++;\n  } else {\n    r--;\n  }", 2),
    ("  while (@ == r) {\n  }", 2),
    ("  while (@ == r) r++;", 0),
    ("  if (r && @ == r) r++;", 0),
    ("  r = r ? @ : 2;", 0),
    ("  do r++; while (@ == r);", 0),
    ("  for (r = 0; @ == r; r++) {\n  }", 0),
    ("  r += g(@);", 0),
    ("  if (r == 7) return @;", 0),
)
VOID = (
    "  @;",
    "  if (r) @;",
    "  if (r)\n    @;\n  else\n    r = 1;",
    "  r++; @; r--;",
    "  { @; }",
    "  { @;\n  r++; }",
)


class Written(NamedTuple):
    """A way to write an operation; `%` stands for its orders, with a comma before them."""

    operation: SiteOperation
    text: str
    is_void: bool = False
    has_order: bool = True


MEMBERS = (
    Written("load", "x.load(%)"),
    Written("load", "p->load(%)"),
    Written("load", "x", has_order=False),
    Written("load", "*p", has_order=False),
    Written("store", "x.store(1%)", is_void=True),
    Written("store", "x = 2", is_void=True, has_order=False),
    Written("store", "*p = 2", is_void=True, has_order=False),
    Written("store", "std::atomic_store(&x, 3)", is_void=True, has_order=False),
    Written("exchange", "x.exchange(4%)"),
    Written("fetch", "x.fetch_add(5%)"),
    Written("fetch", "x++", has_order=False),
    Written("fetch", "--x", has_order=False),
    Written("fetch", "x |= 2", is_void=True, has_order=False),
    Written("compare_exchange", "x.compare_exchange_strong(e, 6%)"),
    Written("compare_exchange", "p->compare_exchange_weak(e, 7%)"),
    Written("exchange", "flag.test_and_set(%)"),
    Written("store", "flag.clear(%)", is_void=True),
    Written("fence", "std::atomic_thread_fence(%)", is_void=True),
)
GENERIC = (
    Written("load", "atomic_load(&x)", has_order=False),
    Written("load", "atomic_load_explicit(&x%)"),
    Written("load", "x", has_order=False),
    Written("load", "*p", has_order=False),
    Written("store", "atomic_store(p, 1)", is_void=True, has_order=False),
    Written("store", "atomic_store_explicit(&x, 1%)", is_void=True),
    Written("store", "x = 2", is_void=True, has_order=False),
    Written("exchange", "atomic_exchange(&x, 4)", has_order=False),
    Written("fetch", "atomic_fetch_add_explicit(&x, 5%)"),
    Written("fetch", "x++", has_order=False),
    Written("fetch", "--x", has_order=False),
    Written("fetch", "x |= 2", is_void=True, has_order=False),
    Written("compare_exchange", "atomic_compare_exchange_strong(&x, &e, 6)", has_order=False),
    Written("compare_exchange", "atomic_compare_exchange_weak_explicit(&x, &e, 6%)"),
    Written("exchange", "atomic_flag_test_and_set_explicit(&flag%)"),
    Written("store", "__atomic_store_n(&plain, 1%)", is_void=True),
    Written("fetch", "__atomic_fetch_or(&plain, 1%)"),
    Written("fence", "atomic_thread_fence(%)", is_void=True),
)
HEADS = {
    "cpp": (
        "#include <atomic>\nstatic std::atomic<int> x;\nstatic std::atomic_flag flag = ATOMIC_FLAG_INIT;\n"
        "int g(int v);\nint f(std::atomic<int> *p, int r);\n"
        "int f(std::atomic<int> *p, int r) {\n  int e = 0;\n"
    ),
    "c": (
        "#include <stdatomic.h>\nstatic atomic_int x;\nstatic atomic_flag flag = ATOMIC_FLAG_INIT;\n"
        "int plain;\n"
        "int g(int v);\nint f(atomic_int *p, int r);\nint f(atomic_int *p, int r) {\n  int e = 0;\n"
    ),
}
FOOT = "  (void)flag, (void)e, (void)p;\n  return r;\n}\n"


class Statement(NamedTuple):
    written: Written
    frame: str
    after: int  # how many fences a fence after the operation takes; 0: it is left to be done by hand
    orders: Orders
    asked: Orders | None
    before: SiteOrder | None
    behind: SiteOrder | None
    removed: bool


@st.composite
def statements(draw: st.DrawFn, ways: Sequence[Written], plus: bool) -> Statement:
    written = draw(st.sampled_from(ways))
    if written.is_void:
        frame, after = draw(st.sampled_from(VOID)), 1
    else:
        frame, after = draw(st.sampled_from(FRAMES))
        if not written.has_order and written.operation == "load" and (frame == "  @;" or "?" in frame):
            frame, after = "  r = @;", 1  # neither a statement, nor beside a number in C++
    now = draw(orders_of(written.operation, plus)) if written.has_order else _seq_cst(written.operation)
    asked = draw(st.none() | orders_of(written.operation, plus))
    fence = st.none() | st.sampled_from([order for order in ORDERS if is_allowed("fence", order)])
    removed = written.operation == "fence" and draw(st.booleans())
    before, behind = (None, None) if removed else (draw(fence), draw(fence) if after else None)
    return Statement(written, frame, after, now, None if removed else asked, before, behind, removed)


def orders_of(operation: SiteOperation, plus: bool) -> st.SearchStrategy[Orders]:
    allowed = [order for order in ORDERS if is_allowed(operation, order) and order != "consume"]
    if operation != "compare_exchange":
        return st.sampled_from(allowed).map(lambda order: (order, None))
    failures = [order for order in allowed if is_allowed_failure(order)]
    pairs = st.tuples(st.sampled_from(allowed), st.sampled_from(failures))
    return pairs.map(lambda pair: (strong_enough(*pair), pair[1]))


def _seq_cst(operation: SiteOperation) -> Orders:
    return "seq_cst", "seq_cst" if operation == "compare_exchange" else None


def spelled(statement: Statement, plus: bool) -> str:
    """The operation, with its orders. One that can be left out is, every other time."""
    text = statement.written.text
    order, failure = statement.orders
    prefix = "__ATOMIC_" if text.startswith("__") else "std::memory_order_" if plus else "memory_order_"
    names = [name.upper() if prefix == "__ATOMIC_" else name for name in (order, failure) if name]
    if plus and failure == failure_of(order):
        names = names[:1]
    if plus and names == ["seq_cst"] and statement.written.operation != "fence" and statement.after % 2:
        names = []
    orders = "".join(f", {prefix}{name}" for name in names)
    return text.replace("(%", f"({orders[2:]}").replace("%", orders)


def check(body: Sequence[Statement], suffix: str) -> None:
    plus = suffix == "cpp"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"source.{suffix}"
        text, changes, expected = HEADS[suffix], [], []
        for number, statement in enumerate(body):
            operation = spelled(statement, plus)
            frame = statement.frame.replace("#", str(number))
            at = len(text) + frame.index("@")
            text += frame.replace("@", operation) + "\n"
            site = Site(
                file=str(path),
                line=text.count("\n", 0, at) + 1,
                column=at - text.rfind("\n", 0, at),
                function="f",
                operation=statement.written.operation,
                order=statement.orders[0],
                failure_order=statement.orders[1],
            )
            changes.append(change_of(statement, site))
            expected += operations_after(statement)
        path.write_text(text + FOOT, encoding="utf-8")
        compile_strictly(path)
        build = build_of(path)
        patch = patch_sources(changes, [build])
        assert not patch.by_hand, (text, patch.by_hand)
        path.write_bytes(patch.texts.get(str(path), path.read_bytes()))
        compile_strictly(path)
        assert read_again(path) == expected, (text, patch.diff)


def change_of(statement: Statement, site: Site) -> SiteChange:
    order, failure = statement.asked or (None, None)
    return SiteChange(
        site=site,
        order=order,
        failure_order=failure,
        fence_before=statement.before,
        fence_after=statement.behind,
        remove=statement.removed,
    )


def operations_after(statement: Statement) -> list[tuple[str, str | None, str | None]]:
    """What is to be there, in the order of the text."""
    own = (statement.written.operation, *(statement.asked or statement.orders))
    before = [("fence", statement.before, None)] if statement.before else []
    behind = [("fence", statement.behind, None)] * statement.after if statement.behind else []
    return [] if statement.removed else [*before, own, *behind]


def read_again(path: Path) -> list[tuple[str, str | None, str | None]]:
    build = build_of(path)
    file = File(Unit(build), build.path, path.read_bytes())
    # C++ reads the variable of `(fence, x)` at the end, as the conversion of all of it.
    found = sorted(file.operations, key=lambda one: one.end)
    return [(one.operation, one.order, one.failure_order) for one in found]


def try_random_patches(suffix: str, examples: int) -> None:
    ways = MEMBERS if suffix == "cpp" else GENERIC

    @given(st.lists(statements(ways, suffix == "cpp"), min_size=30, max_size=30))
    @settings(
        max_examples=examples,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        phases=(Phase.explicit, Phase.reuse, Phase.generate),  # each try starts compilers
    )
    def run(body: Sequence[Statement]) -> None:
        check(body, suffix)

    run()


@pytest.mark.parametrize(("suffix", "examples"), [("c", 12), ("cpp", 3)])
def test_random_patches_compile_and_are_what_was_asked(suffix: str, examples: int) -> None:
    try_random_patches(suffix, examples)


@pytest.mark.slow
@pytest.mark.parametrize(("suffix", "examples"), [("c", 500), ("cpp", 100)])
def test_many_random_patches(suffix: str, examples: int) -> None:
    try_random_patches(suffix, examples)
