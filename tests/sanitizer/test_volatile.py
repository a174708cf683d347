"""volatile=relaxed: plain accesses to volatile objects do what relaxed atomic ones do.

Random programs are compiled twice, with volatile accesses and with relaxed atomic ones in the same lines. As
both are points of the schedule, the same seed gives the same run, and the same findings.
"""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path

import pytest

from tests.sanitizer.building import INSTALLED, Shell, Toolchain, named, with_each_compiler
from tests.sanitizer.scripts import lines_of

PETERSON = Path(__file__).parents[2] / "examples" / "volatile" / "peterson.c"

HEAD = """\
#include <pthread.h>
#include <stdlib.h>
#ifdef VOLATILE
#define SHARED volatile
#define LOAD(x) (void)x
#define STORE(x, v) x = v
#else
#define SHARED
#define LOAD(x) (void)__atomic_load_n(&x, __ATOMIC_RELAXED)
#define STORE(x, v) __atomic_store_n(&x, v, __ATOMIC_RELAXED)
#endif
#define ADD(x, v, order) (void)__atomic_fetch_add(&x, v, __ATOMIC_##order)
#define CAS(x, v, w) (void)__sync_val_compare_and_swap(&x, v, w)
#define ACQUIRE(x) (void)__atomic_load_n(&x, __ATOMIC_ACQUIRE)
#define RELEASE(x, v) __atomic_store_n(&x, v, __ATOMIC_RELEASE)
SHARED char x; SHARED short y; SHARED int z; SHARED long u;
SHARED struct { int flag[2]; } s;
typedef void* thread(void*);
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
"""
MAIN = """\
int main(int count, char** words) {
    thread* const* const run = programs[count > 1 ? atoi(words[1]) : 0];
    pthread_t handles[8];
    int made = 0;
    STORE(s.flag[1], 7);
    for (; run[made] != NULL; ++made) pthread_create(&handles[made], NULL, run[made], NULL);
    for (int i = 0; i < made; ++i) pthread_join(handles[i], NULL);
    LOAD(s.flag[1]);
}
"""
LOCATIONS = ("x", "y", "z", "u", "s.flag[0]", "s.flag[1]")


def statement(draw: random.Random) -> str:
    x, v = draw.choice(LOCATIONS[: draw.choice((2, 3, 6))]), draw.randrange(4)
    fence = draw.choice(("ACQUIRE", "RELEASE", "ACQ_REL", "SEQ_CST"))
    return draw.choices(
        (
            f"LOAD({x});",
            f"STORE({x}, {v});",
            f"ADD({x}, {v}, {fence});",
            f"CAS({x}, {v}, {v + 1});",
            f"ACQUIRE({x});",
            f"RELEASE({x}, {v});",
            f"__atomic_thread_fence(__ATOMIC_{fence});",
            f"pthread_mutex_lock(&m); STORE({x}, {v}); pthread_mutex_unlock(&m);",
        ),
        (6, 6, 1, 1, 1, 1, 2, 1),
    )[0]


def source(seeds: range) -> str:
    text = [HEAD]
    rows = []
    for seed in seeds:
        draw = random.Random(seed)
        names = [f"p{seed}t{number}" for number in range(draw.randint(2, 3))]
        for name in names:
            text.append(f"static void* {name}(void* _) {{")
            text += [f"    {statement(draw)}" for _ in range(draw.randint(2, 6))]
            text += ["    return _;", "}"]
        rows.append("{" + ", ".join((*names, "NULL")) + "},")
    return "\n".join([*text, "static thread* const programs[][4] = {", *rows, "};", MAIN])


def findings(shell: Shell, program: Path, number: int, options: str) -> list[tuple[int, str, object]]:
    events = shell.directory / "events.json"
    shell.ok(program, str(number), FENCEPOST_OPTIONS=f"{options}:json={events}:quiet=1:exitcode=0")
    lines = [json.loads(line) for line in events.read_text(encoding="utf-8").splitlines()]
    found = [line for line in lines if line["event"] == "finding" and line["kind"] == "robustness"]
    return sorted(
        (line, event["access"], tuple(repair["order"] for repair in event["repair"]))
        for line, event in zip(lines_of(program, found), found, strict=True)
    )


def both(shell: Shell, mode: str, *options: str) -> tuple[Path, Path]:
    command = ("fencepost-cc", "--mode", mode, "-O1", *options, "programs.c")
    shell.ok(*command, "-DVOLATILE", "-o", "volatile")
    shell.ok(*command, "-o", "atomic")
    return shell.directory / "volatile", shell.directory / "atomic"


def compare(shell: Shell, mode: str, seeds: range, runs: int) -> int:
    shell.write("programs.c", source(seeds))
    with_volatile, with_atomic = both(shell, mode)
    found = 0
    for number in range(len(seeds)):
        for seed in range(1, runs + 1):
            options = f"schedule={('random', 'pct')[seed % 2]}:seed={seed}:volatile=relaxed"
            expected = findings(shell, with_atomic, number, options)
            assert findings(shell, with_volatile, number, options) == expected, (number, options)
            found += len(expected)
    return found


@with_each_compiler
def test_volatile_accesses_are_relaxed_ones_in_mode_full(tmp_path: Path, toolchain: Toolchain) -> None:
    assert compare(Shell(tmp_path, toolchain), "full", range(20), 2) > 5


@pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")
def test_volatile_accesses_are_relaxed_ones_in_mode_atomics_of_gcc(tmp_path: Path) -> None:
    assert compare(Shell(tmp_path, named("gcc")), "atomics", range(20, 40), 1) > 2


@pytest.mark.slow
@pytest.mark.parametrize("part", range(1, 11))
def test_volatile_accesses_are_relaxed_ones_in_many_programs(tmp_path: Path, part: int) -> None:
    shell = Shell(tmp_path, INSTALLED[part % len(INSTALLED)])
    assert compare(shell, "all", range(part * 1000, part * 1000 + 200), 3) > 100


@with_each_compiler
def test_an_old_mutual_exclusion_is_judged_by_its_fences(tmp_path: Path, toolchain: Toolchain) -> None:
    shell = Shell(tmp_path, toolchain)
    shell.ok("fencepost-cc", "-O1", "-DNO_FENCES", PETERSON, "-o", "bare")
    shell.ok("fencepost-cc", "-O1", PETERSON, "-o", "fenced")
    relaxed = {"FENCEPOST_OPTIONS": "volatile=relaxed"}
    run = ("fencepost", "run", "--schedule", "random", "--runs", "20", "--json")
    bare = json.loads(shell.run(*run, "./bare", **relaxed).stdout)
    assert {("robustness", "peterson.c", 21)} <= {
        (one["kind"], Path(one["access"]["stack"][0]["file"]).name, one["access"]["stack"][0]["line"])
        for one in bare["findings"]
    }
    assert not any("flag" in one["location"]["name"] for one in bare["findings"] if one["kind"] == "race")
    checked = json.loads(shell.run("fencepost", "check", "--json", "./fenced", **relaxed).stdout)
    assert (checked["verdict"], checked["findings"]) == ("robust", [])


RACE = """\
#include <pthread.h>
volatile int x;
static void* go(void* _) { x = 1; return _; }
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, go, 0);
    int const v = x;
    pthread_join(thread, 0);
    return v - v;
}
"""


@with_each_compiler
def test_thread_sanitizer_takes_volatile_accesses_for_plain_ones(
    tmp_path: Path, toolchain: Toolchain
) -> None:
    """It has no functions for them of its own. The lines are those of the program."""
    shell = Shell(tmp_path, toolchain)
    shell.write("race.c", RACE)
    built = shell.run("fencepost-cc", "-O1", "race.c", "-o", "race")
    assert (built.returncode, built.stderr) == (0, "")
    report = shell.run("setarch", "-R", "./race").stderr
    assert "data race" in report
    assert "race.c:7" in report
    assert "race.c:3" in report
