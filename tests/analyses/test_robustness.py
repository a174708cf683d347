"""What `robust` says besides its verdict, and how it keeps to its limits."""

from itertools import count, pairwise
from types import SimpleNamespace
from typing import Any

import pytest

from fencepost.analyses import robustness
from fencepost.analyses.robustness import robust
from fencepost.engine.search import Limits
from fencepost.formats import litmus, tpl
from fencepost.program import Program
from fencepost.verdicts import Robust, Unknown

RELAXED_FLAG = """global data, flag;
fn producer { data.store(1, rlx); flag.store(1, rlx); }
fn consumer { local r; wait(flag, 1, rlx); wait(data, 1, rlx); }
"""
MIXED = "global x;\nfn a { x.store(1, rel); }\nfn b { local r; r = x.load(); }\n"
FENCED = "global x;\nfn a { fence(rel);\nx.store(1); }\nfn b { local r; r = x.load(); }\n"
PLAIN = "global x; // not rlx\nfn a { x.store(1); }\nfn b { local r; r = x.load(); }\n"
STRONG = "global x; na d;\nfn a { d.nastore(1); x.store(1, rel); }\nfn b { local r; r = x.load(acq); }\n"
LOCKED = "global l, x;\nfn a[2] { local r; lock(l); r = x.load(); x.store(1); unlock(l); }\n"
LITMUS = """C relaxed
{}
P0 (atomic_int* x) { atomic_store_explicit(x, 1, memory_order_relaxed); }
P1 (atomic_int* x) { int r0 = atomic_load_explicit(x, memory_order_relaxed); }
exists (1:r0=1)
"""


def said(program: Program, model: str) -> str:
    return " ".join(robust(program, model).warnings)


@pytest.mark.parametrize(("text", "line"), [(RELAXED_FLAG, 2), (MIXED, 3), (FENCED, 2)])
def test_ra_says_that_it_does_not_take_the_modes_as_written(text: str, line: int) -> None:
    program = tpl.read(text, "test.tpl")
    assert f"first in line {line}; `--model rc20`" in said(program, "ra")
    assert said(program, "rc20") == ""


def test_ra_says_so_of_relaxed_accesses_in_c() -> None:
    assert "relaxed accesses as acquire and release" in said(litmus.read(LITMUS, "test.litmus"), "ra")


@pytest.mark.parametrize("text", [PLAIN, STRONG, LOCKED])
def test_nothing_is_said_where_nothing_is_ignored(text: str) -> None:
    assert said(tpl.read(text, "test.tpl"), "ra") == ""


MANY_STATES = "max_value 4294967295; global x;" + "".join(
    f"fn t{n} {{ while (1) {{ FADD(x, {n}); }} }}" for n in (1, 2, 3)
)


def test_an_interrupted_search_says_so() -> None:
    answer = robust(tpl.read(MANY_STATES), "ra", watcher=lambda progress: True)
    assert isinstance(answer, Unknown)
    assert answer.interrupted
    limited = robust(tpl.read(MANY_STATES), "ra", limits=Limits(states=100))
    assert isinstance(limited, Unknown)
    assert not limited.interrupted


def test_all_attempts_together_have_the_time_that_was_given(monkeypatch: pytest.MonkeyPatch) -> None:
    """By a clock that goes on whenever somebody looks at it."""
    given: list[float | None] = []
    real = robustness.explore

    def watched(program: Program, model: str, limits: Limits, *further: Any, **options: Any) -> Any:
        given.append(limits.seconds)
        return real(program, model, limits, *further, **options)

    monkeypatch.setattr(robustness, "explore", watched)
    monkeypatch.setattr(robustness, "NEAR_STATES", 5)
    clock = count()
    monkeypatch.setattr(robustness, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    assert isinstance(robust(tpl.read(LOCKED), "ra", limits=Limits(seconds=1000)), Robust)
    assert len(given) > 2
    assert all(before > after for before, after in pairwise([1000, *given]))
