"""What the explorer does besides being right: limits, interruption, and the largest programs it takes."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from fencepost.analyses.robustness import robust
from fencepost.engine.search import EVERY_STATE, Limits, explore, reachable_states
from fencepost.errors import InputError
from fencepost.formats.tpl import read
from fencepost.program import (
    Cell,
    CompareExchange,
    Constant,
    FetchAdd,
    Load,
    Location,
    Program,
    Register,
    Store,
    Thread,
)
from fencepost.verdicts import Robust, Unknown
from tests.interrupting import HEED_CONTROL_C, answer_within

# Four threads that count to 255 for ever, each with the next: far too many states to finish, as they tell
# numbers apart.
COUNTERS = read(
    """
    global a, b, c, d;
    fn t1 { local r; while (1) { r = FADD(a, 1); if (r != 9) { FADD(b, 2); } } }
    fn t2 { local r; while (1) { r = FADD(b, 3); if (r != 9) { FADD(c, 4); } } }
    fn t3 { local r; while (1) { r = FADD(c, 5); if (r != 9) { FADD(d, 6); } } }
    fn t4 { local r; while (1) { r = FADD(d, 7); if (r != 9) { FADD(a, 8); } } }
    """
)


@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        (Limits(states=5000), "limit of 5,000 states"),
        (Limits(seconds=0.2), "time limit of 0.2 s"),
        (Limits(memory_mb=8), "memory limit of 8 MB"),
    ],
)
@pytest.mark.parametrize("order", ["breadth-first", "depth-first"])
def test_a_limit_reached_is_unknown(limits, reason, order):
    answer = robust(COUNTERS, limits=limits, order=order)
    assert isinstance(answer, Unknown)
    assert reason in answer.why
    assert answer.exit_code == 3
    assert not answer.exhaustive
    assert answer.stats.states > 1000


def test_the_watcher_can_stop_the_search():
    seen = []

    def stop_at_third(progress):
        seen.append(progress)
        return len(seen) == 3

    answer = robust(COUNTERS, order="breadth-first", watcher=stop_at_third)  # others begin anew
    assert isinstance(answer, Unknown)
    assert answer.interrupted
    assert [p.states for p in seen] == sorted(p.states for p in seen)
    assert answer.stats.states >= seen[-1].states


def test_ctrl_c_ends_the_search_with_what_was_covered():
    """In a process of its own: the signal must not reach pytest."""
    script = (
        f"{HEED_CONTROL_C}\n"
        "from tests.engine.test_explorer import COUNTERS\n"
        "from fencepost import robust\n"
        "answer = robust(COUNTERS, watcher=lambda progress: print('searching', flush=True))\n"
        "print(answer.verdict, answer.interrupted, answer.why)\n"
    )
    root = str(Path(__file__).parents[2])
    path = os.pathsep.join([root, *sys.path])
    command = [sys.executable, "-c", script]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": path}
    ) as p:
        assert p.stdout is not None
        assert p.stdout.readline() == "searching\n"
        p.send_signal(signal.SIGINT)
        *_, last = answer_within(p, 60).splitlines()
    assert last.startswith("unknown True the search was interrupted after ")
    assert p.returncode == 0


def test_an_exception_in_the_watcher_is_the_callers():
    def fail(progress):
        raise RuntimeError("display broke")

    with pytest.raises(RuntimeError, match="display broke"):
        robust(COUNTERS, watcher=fail)


@pytest.mark.parametrize(
    "body",
    [
        "while (1) { r = r; }",
        "while (1) { r = r + 1; }",
        "l: goto l;",
        "l: oneof({ goto l; } { r = r + 1; goto l; });",
        "while (1) { oneof({ skip; } { skip; }); }",
    ],
)
def test_an_endless_local_loop_ends_its_thread(body):
    program = read(
        f"global x; fn spin {{ local r; x.store(1); {body} }} fn other {{ local r; r = x.load(); }}"
    )
    assert isinstance(robust(program, limits=Limits(seconds=60)), Robust)


def test_a_local_loop_too_long_to_follow_is_unknown():
    program = read(
        f"max_value {2**64 - 1}; global x; fn t {{ local r; while (1) {{ r = r + 1; }} x.store(1); }}"
    )
    answer = robust(program)
    assert isinstance(answer, Unknown)
    assert "without a memory access" in answer.why


@pytest.mark.parametrize("start", ["", "x.store(1);"])
def test_too_many_choices_are_unknown(start):
    """Before the first access they multiply over the threads; later each thread's are its own."""
    choices = "oneof({ r = r + 1; } { r = r + 2; });" * (1 if not start else 20)
    program = read(f"max_value 65535; global x; fn t[64] {{ local r; {start} {choices} x.store(r); }}")
    answer = robust(program, limits=Limits(states=100_000, seconds=20))
    assert isinstance(answer, Unknown)


def test_sixty_four_threads_and_256_locations():
    locations = tuple(Location(f"x{i}") for i in range(256))
    threads = tuple(
        Thread(f"t{t}", (Store(Cell(f"x{t}"), Constant(1)), Load("r", Cell(f"x{255 - t}"))), ("r",))
        for t in range(64)
    )
    answer = robust(Program(locations, threads), limits=Limits(states=2000), tactics=EVERY_STATE)
    assert isinstance(answer, Unknown)
    # Alone in its thread, everything is robust: the same locations, one thread.
    every = tuple(Store(Cell(location.name), Constant(1)) for location in locations)
    assert isinstance(robust(Program(locations, (Thread("t", every),))), Robust)


def test_64_bit_values_wrap_around():
    largest = 2**64 - 1
    program = Program(
        (Location("x", (largest,)),),
        (Thread("t", (FetchAdd("r", Cell("x"), Constant(2)),), ("r",)),),
        largest,
    )
    assert reachable_states(program, 10) == {(0, 0, largest), (1, largest, 1)}


def test_too_many_values_to_tell_apart_is_a_clear_error():
    program = read(
        f"max_value {2**64 - 1}; global x; "
        "fn t1 { local r; while (1) { r = FADD(x, 1); } } "
        "fn t2 { local r; r = x.load(); wait(x, r); }"
    )
    with pytest.raises(InputError, match="told apart: lower max_value"):
        robust(program)


def test_a_state_too_large_for_the_engine_is_a_clear_error():
    locations = tuple(Location(f"x{i}") for i in range(256))
    code = tuple(
        instruction
        for cell in (Cell(location.name) for location in locations)
        for instruction in (
            FetchAdd("r", cell, Constant(1)),
            Store(cell, Constant(1)),
            CompareExchange("r", cell, Register("r"), Constant(1)),
        )
    )
    program = Program(locations, tuple(Thread(f"t{i}", code, ("r",)) for i in range(64)))
    with pytest.raises(InputError, match="a state of this program needs"):
        robust(program)


def test_division_by_zero_is_reported_with_its_line():
    program = read("global x;\nfn t {\n local r;\n r = x.load();\n r = 5 / r;\n x.store(1);\n}")
    answer = robust(program)
    assert answer.assertion is not None
    assert answer.assertion.kind == "division-by-zero"
    assert answer.assertion.line == 5
    assert answer.exit_code == 1


def test_an_index_out_of_range_is_reported_with_its_line():
    program = read("global x=2, a[2];\nfn t {\n local r;\n r = x.load();\n a[r].store(1);\n}")
    answer = robust(program)
    assert answer.assertion is not None
    assert answer.assertion.kind == "index-out-of-range"
    assert answer.assertion.line == 5
    assert answer.assertion.registers == {"r": 2}


def test_depth_first_and_breadth_first_store_the_same_states():
    program = read(
        "max_value 3; global x, y; "
        "fn w[3] { local r; while (1) { r = FADD(x, 1); y.store(r); wait(x, r, tid); } }"
    )
    limits = Limits(states=10**6)
    counts = {explore(program, "sc", limits, order).states for order in ("breadth-first", "depth-first")}
    assert len(counts) == 1


def test_breadth_first_witnesses_are_shortest():
    """Store buffering after a detour: the shortest run needs three accesses before the one that leaves SC."""
    program = read(
        """
        global x, y, z;
        fn t1 { local a; while (a < 3) { z.store(a); a = a + 1; } }
        fn t2 { local a; x.store(1); a = y.load(); }
        fn t3 { local a; y.store(1); a = x.load(); }
        """
    )
    witness = robust(program).witness
    assert witness is not None
    assert sum(event.thread is not None for event in witness.events) == 4
