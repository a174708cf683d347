"""Asks one question again and again, and lets one allocation of the engine fail each time, another one.

    LD_PRELOAD=failing_allocator.so python -m tests.faults.out_of_memory QUESTION COUNT STEP

COUNT allocations fail from that one on. Of the allocations each STEPth is tried. Prints how many were tried,
and how often there was no verdict. Whatever is not the verdict or "unknown" with the reason is a mistake.
"""

from __future__ import annotations

import ctypes
import gc
import sys
from collections.abc import Callable
from tempfile import gettempdir

from msgspec.structs import replace

from fencepost.batch.jobs import Job, Listing, Outcome, Question, Safety, run_job
from fencepost.engine.search import EVERY_STATE, REDUCED, Limits, Tactics

SB = """global x, y;
fn t1 { local a; x.store(1); a = y.load(); }
fn t2 { local b; y.store(1); b = x.load(); }
"""
LOCK = """max_value 1; global l; na d;
fn t[2] { local r; BCAS(l, 0, 1); r = d.naload(); d.nastore(r + 1); l.store(0); }
"""
ANY_NUMBER = LOCK.replace("t[2]", "t[*]")
COUNTERS = """max_value 3; global a, b;
fn p { while (1) { FADD(a, 1); FADD(b, 1); } }
fn q { while (1) { FADD(b, 1); FADD(a, 2); } }
fn r { local v; while (1) { v = a.load(); a.store(v); } }
"""
MUTEX = "max_value 1; global l; fn t[2] { BCAS(l, 0, 1); cs: skip; l.store(0); }"
LITMUS = SB + "exists (t1:a == 0 && t2:b == 0)\n"
_MEGABYTES = Limits(memory_mb=1000)


def _robust(text: str, model: str, order: str, tactics: Tactics, limits: Limits = _MEGABYTES) -> Job:
    return Job("a.tpl", Question("robust", model), limits, order, tactics, text=text)


def _searched(text: str) -> dict[str, Job]:
    """All kinds of searches and stores."""
    four = replace(REDUCED, threads=4)
    return {
        "breadth-first": _robust(text, "ra", "breadth-first", REDUCED),
        "depth-first": _robust(text, "rc20", "depth-first", EVERY_STATE),
        "compressed": _robust(text, "cpp20", "breadth-first", replace(REDUCED, compress=True)),
        "thrifty": _robust(text, "ra", "depth-first", EVERY_STATE, Limits(memory_mb=1.5)),
        "disk": _robust(text, "ra", "breadth-first", replace(REDUCED, directory=gettempdir())),
        "bitstate": _robust(text, "ra", "depth-first", replace(REDUCED, bitstate=True, bitstate_mb=1)),
        "by-location": _robust(text, "rc20", "by-location", REDUCED),
        "by-location-4": _robust(text, "rc20", "by-location", four),
        "parallel": _robust(text, "ra", "breadth-first", four),
        "shared": _robust(text, "ra", "breadth-first", replace(EVERY_STATE, threads=4)),
        "shared-thrifty": _robust(
            text, "ra", "depth-first", replace(EVERY_STATE, threads=2), Limits(memory_mb=1.04)
        ),
    }


QUESTIONS: dict[str, Job] = {
    **_searched(LOCK),
    **{f"{name}-counters": job for name, job in _searched(COUNTERS).items()},
    "not-robust": _robust(SB, "ra", "auto", REDUCED),
    "persist": Job("a.tpl", Question("persist"), _MEGABYTES, text=SB),
    "tso": Job("a.tpl", Question("robust", "tso", "trf"), _MEGABYTES, text=LOCK),
    "any-number": Job("a.tpl", Question("robust", "rc20"), _MEGABYTES, text=ANY_NUMBER),
    "races": Job("a.tpl", Question("races", "rc20", "data"), _MEGABYTES, text=LOCK),
    "outcomes": Job("a.tpl", Question("outcomes"), _MEGABYTES, listing=Listing(), text=SB),
    **{
        f"verify-{model}": Job(
            "a.tpl", Question("verify", model), _MEGABYTES, safety=Safety(mutex=("cs",)), text=MUTEX
        )
        for model in ("sc", "tso", "sra", "ra", "rc20", "cpp20")
    },
}
_library = ctypes.CDLL(None)


def _with_failing(after: int, count: int, do: Callable[[], Outcome]) -> tuple[Outcome, bool]:
    """Also whether any failed."""
    _library.fencepost_fail(ctypes.c_long(after), ctypes.c_long(count))
    try:
        outcome = do()
    finally:
        asked = _library.fencepost_asked()
        _library.fencepost_fail(ctypes.c_long(-1), ctypes.c_long(0))
    return outcome, asked > after


def main() -> None:
    name, count, step = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    job = QUESTIONS[name]
    expected = run_job(job)
    assert expected.answer is not None, expected.error
    gc.disable()
    tried = unknown = 0
    while True:
        outcome, failed = _with_failing(tried * step, count, lambda: run_job(job))
        if not failed:
            break
        tried += 1
        answer = outcome.answer
        assert answer is not None, outcome.error
        if answer.verdict != expected.answer.verdict:
            assert answer.verdict == "unknown", (tried, answer)
            assert "memory" in answer.why or "thread" in answer.why, (tried, answer.why)
            unknown += 1
    again = run_job(job).answer
    assert again is not None
    assert again.verdict == expected.answer.verdict
    print(expected.answer.verdict, tried, unknown)


if __name__ == "__main__":
    main()
