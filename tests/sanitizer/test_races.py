"""Mode races: ThreadSanitizer hears of exactly the synchronisation that C++20 has, fences included."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.sanitizer.building import PROGRAMS, Shell, Toolchain, with_each_compiler
from tests.sanitizer.race_scripts import RaceBook, races, random_passing_script, random_race_script
from tests.sanitizer.scripts import Script, parse

# Each thread's part is in the order of the run. All of them are about `d`, which is not atomic.
WITHOUT_RACE = {
    "release and acquire": "0: write d; 0: store x 1 release; 1: load x acquire; 1: write d",
    "seq_cst accesses": "0: write d; 0: store x 1 seq_cst; 1: load x seq_cst; 1: write d",
    "two fences": "0: write d; 0: fence release; 0: store x 1; 1: load x; 1: fence acquire; 1: write d",
    "release fence, acquire read": "0: write d; 0: fence release; 0: store x 1; 1: load x acquire; 1: read d",
    "release write, acquire fence": (
        "0: write d; 0: store x 1 release; 1: load x; 1: fence acquire;1: read d"
    ),
    "two SC fences": "0: write d; 0: fence seq_cst; 0: store x 1; 1: load x; 1: fence seq_cst; 1: write d",
    "one fence for several flags": (
        "0: write d; 0: fence release; 0: store x 1; 0: store y 1;"
        "1: load x; 2: load y; 1: fence acquire; 2: fence acquire; 1: read d; 2: read d"
    ),
    "one fence for several reads": (
        "0: write d; 0: store x 1 release; 1: write e; 1: store y 1 release;"
        "2: load x; 2: load y; 2: fence acquire; 2: write d; 2: write e"
    ),
    "an old message is remembered": (
        "0: write d; 0: store x 1 release; 1: load x; 0: store x 2; 1: fence acquire; 1: write d"
    ),
    "an old message is remembered over newer ones": (
        "0: write d; 0: store x 1 release; 1: load x; 2: store x 2 release; 2: store x 3 release;"
        "1: fence acquire; 1: write d"
    ),
    "release sequence of another thread's RMW": (
        "0: write d; 0: store x 1 release; 1: add x 1; 2: load x acquire; 2: write d"
    ),
    "release sequence of a relaxed exchange": (
        "0: write d; 0: fence release; 0: store x 1; 1: exchange x 7; 2: load x; 2: fence acquire; 2: write d"
    ),
    "releases that add up": (
        "0: write d; 0: add x 1 release; 1: write e; 1: add x 1 release; 2: load x acquire;"
        "2: write d; 2: write e"
    ),
    "fences that add up": (
        "0: write d; 0: fence release; 0: add x 1; 1: write e; 1: fence release; 1: add x 1;"
        "2: load x; 2: fence acquire; 2: write d; 2: write e"
    ),
    "through a third thread": (
        "0: write d; 0: store x 1 release; 1: load x acquire; 1: store y 1 release;"
        "2: load y acquire; 2: write d"
    ),
    "mutex": "0: lock m; 0: write d; 0: unlock m; 1: lock m; 1: write d; 1: unlock m",
}
WITH_RACE = {
    "a message that is newer than the one that was read": (
        "0: store x 1 release; 1: load x; 2: write d; 2: store x 2 release; 1: fence acquire; 1: write d"
    ),
    "a release that is added after the read": (
        "0: store x 1 release; 1: load x; 2: write d; 2: add x 1 release; 1: fence acquire; 1: write d"
    ),
    "an RMW of a write that has ended a release sequence": (
        "0: write d; 0: store x 1 release; 0: store x 2; 1: add x 1 acq_rel; 1: write d"
    ),
    "relaxed flag": "0: write d; 0: store x 1; 1: load x; 1: write d",
    "relaxed write": "0: write d; 0: store x 1; 1: load x acquire; 1: write d",
    "relaxed read": "0: write d; 0: store x 1 release; 1: load x; 1: write d",
    "release fence too late": "0: write d; 0: store x 1; 0: fence release; 1: load x acquire; 1: write d",
    "access after the release fence": (
        "0: fence release; 0: write d; 0: store x 1; 1: load x acquire;1: read d"
    ),
    "acquire fence too early": "0: write d; 0: store x 1 release; 1: fence acquire; 1: load x; 1: write d",
    "fences of the wrong kind": (
        "0: write d; 0: fence acquire; 0: store x 1; 1: load x; 1: fence release; 1: write d"
    ),
    "only the first of two fences counts": (
        "0: fence release; 0: store x 1; 0: write d; 0: fence release; 0: store y 1;"
        "1: load x acquire; 1: write d"
    ),
    "a later message was not read": (
        "0: store x 1 release; 1: load x; 0: write d; 0: store x 2 release; 1: fence acquire; 1: write d"
    ),
    "SC fences with no atomic between": "0: write d; 0: fence seq_cst; 1: fence seq_cst; 1: write d",
    "seq_cst accesses of two locations": "0: write d; 0: store x 1 seq_cst; 1: load y seq_cst; 1: write d",
    "broken release sequence": (
        "0: write d; 0: store x 1 release; 1: store x 2; 2: load x acquire;2: write d"
    ),
    "release sequence broken by its own thread": (
        "0: write d; 0: store x 1 release; 0: store x 2; 1: load x acquire; 1: write d"
    ),
    "two mutexes are not one": ("0: lock m; 0: write d; 0: unlock m; 1: lock n; 1: write d; 1: unlock n"),
}

# Programs that use threads in all ways: nothing is to be found in them.
SOBER = (PROGRAMS / "single/no_races.cpp").read_text(encoding="utf-8")
SOBER_PARTS = tuple(re.findall(r'\{"(\w+)", ', SOBER))

# A race, and a robustness violation in the same run.
BOTH = """#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>
static atomic_int x, y;
static int plain;
static void *left(void *unused) {
    atomic_store_explicit(&x, 1, memory_order_release);
    plain++;
    atomic_load_explicit(&y, memory_order_acquire);
    return unused;
}
static void *right(void *unused) {
    atomic_store_explicit(&y, 1, memory_order_release);
    plain++;
    atomic_load_explicit(&x, memory_order_acquire);
    return unused;
}
int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], 0, left, 0);
    usleep(100000);  // if both write before one reads, nothing can be missed
    pthread_create(&threads[1], 0, right, 0);
    pthread_join(threads[0], 0);
    pthread_join(threads[1], 0);
    return 3;
}
"""
LEAK = """#include <pthread.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
int main(void) {
    pthread_mutex_lock(&mutex);
    pthread_mutex_destroy(&mutex);
    return 0;
}
"""
# A location is freed between the relaxed read of it and the acquire fence.
FREED = (PROGRAMS / "single/freed.c").read_text(encoding="utf-8")
# A fence that is passed often and has a relaxed write after it at last. What is done between the two is not
# published by them.
RARELY_TOLD = (PROGRAMS / "single/rarely_told.c").read_text(encoding="utf-8")

pytestmark = with_each_compiler


@pytest.fixture
def shell(tmp_path: Path, toolchain: Toolchain) -> Shell:
    return Shell(tmp_path, toolchain)


def built(shell: Shell, text: str) -> None:
    shell.write("program.c", text)
    shell.ok("fencepost-cc", "--mode", "races", "-O1", "program.c", "-o", "program")


def test_well_known_shapes(shell: Shell) -> None:
    shapes: dict[str, Script] = {name: parse(text) for name, text in (WITHOUT_RACE | WITH_RACE).items()}
    book = RaceBook(list(shapes.values()))
    program = book.compile(shell)
    for number, (name, script) in enumerate(shapes.items()):
        found = book.run(shell, program, number)
        assert bool(found) == (name in WITH_RACE), name
        assert found <= races(script), name


def test_thread_sanitizer_alone_does_not_know_fences(shell: Shell, toolchain: Toolchain) -> None:
    text = RaceBook([parse(WITHOUT_RACE["two fences"]), parse(WITH_RACE["broken release sequence"])]).text
    shell.write("book.c", text)
    shell.ok(toolchain.cc, "-fsanitize=thread", "-w", "-O1", "-pthread", "book.c", "-o", "book")
    assert "WARNING: ThreadSanitizer: data race" in shell.run("./book", "0").stderr
    assert shell.ok("./book", "1") == ""


def test_what_was_heard_of_a_location_outlives_it(shell: Shell) -> None:
    built(shell, FREED)
    done = shell.run("./program")
    assert (done.returncode, done.stderr) == (3, "")


def test_a_fence_with_a_relaxed_write_after_long(shell: Shell) -> None:
    built(shell, RARELY_TOLD)
    answer = json.loads(shell.run("fencepost", "run", "--json", "./program").stdout)
    found = [one for one in answer["findings"] if one["kind"] == "race"]
    assert [one["location"]["name"] for one in found] == ["between"]


@pytest.mark.parametrize("seed", [0, 1])
def test_random_scripts(shell: Shell, seed: int) -> None:
    compare_random_scripts(shell, range(1000 * seed, 1000 * seed + 50))


def test_random_scripts_that_hang_on_each_operation(shell: Shell) -> None:
    compare_random_scripts(shell, range(50), random_passing_script)


@pytest.mark.slow
def test_many_random_scripts(shell: Shell) -> None:
    compare_random_scripts(shell, range(10_000, 12_000))


def compare_random_scripts(
    shell: Shell, seeds: range, generator: Callable[[int], Script] = random_race_script
) -> None:
    """No race is invented, and one is found wherever there are some."""
    scripts = [generator(seed) for seed in seeds]
    book = RaceBook(scripts)
    program = book.compile(shell)
    racy = 0
    for number, script in enumerate(scripts):
        expected, found = races(script), book.run(shell, program, number)
        assert found <= expected, f"seed {seeds[number]}"
        assert bool(found) == bool(expected), f"seed {seeds[number]}"
        racy += bool(expected)
    assert racy > len(scripts) / 5


def test_threads_used_well_are_silent_and_keep_the_exit_code(shell: Shell) -> None:
    shell.write("sober.cpp", SOBER)
    shell.ok("fencepost-c++", "--mode", "races", "-std=c++20", "-O1", "sober.cpp", "-o", "sober")
    for part in SOBER_PARTS:
        done = shell.run("./sober", part)
        assert (done.returncode, done.stderr) == (5, ""), part


class TestReports:
    def test_both_kinds_in_one_run(self, shell: Shell) -> None:
        """The race is seen in every run, the robustness violation only where one thread overtakes."""
        built(shell, BOTH)
        done = shell.run("fencepost", "run", "--runs", "50", "--json", "./program")
        assert done.returncode == 1
        answer = json.loads(done.stdout)
        kinds = {finding["kind"]: finding for finding in answer["findings"]}
        assert set(kinds) == {"robustness", "race"}
        assert answer["verdict"] == "not-robust"
        race = kinds["race"]
        assert race["location"]["name"] == "plain"
        assert {race["access"]["what"], race["missed"]["what"]} <= {"read", "write"}
        assert {race["access"]["stack"][0]["line"], race["missed"]["stack"][0]["line"]} == {8, 14}
        assert {len(race["access"]["stack"]), len(race["missed"]["stack"])} == {1}

    def test_text_of_a_race(self, shell: Shell) -> None:
        built(shell, BOTH)
        done = shell.run("fencepost", "run", "./program")
        assert "WARNING: fencepost: data race\n" in done.stdout
        assert "Location is global 'plain' of size 4" in done.stdout
        assert "1 data race in 1 run" in done.stdout
        assert "ThreadSanitizer" not in done.stdout + done.stderr

    def test_the_place_of_an_atomic_access_is_the_programs(self, shell: Shell) -> None:
        built(shell, BOTH.replace("    plain++;", "    *(volatile int *)&y;", 1))
        answer = json.loads(shell.run("fencepost", "run", "--json", "./program").stdout)
        races_found = [one for one in answer["findings"] if one["kind"] == "race"]
        accesses = [one[side] for one in races_found for side in ("access", "missed")]
        assert {"atomic write"} == {one["what"] for one in accesses if one["stack"][0]["line"] == 13}

    def test_a_wrong_use_of_a_mutex(self, shell: Shell) -> None:
        built(shell, LEAK)
        done = shell.run("fencepost", "run", "./program")
        assert done.returncode == 1
        assert "wrong use of threads: locked-mutex-destroy" in done.stdout

    def test_a_race_can_be_suppressed(self, shell: Shell) -> None:
        built(shell, BOTH)
        shell.write("quiet", "race:^plain$\nrobustness:*\n")
        done = shell.run("fencepost", "run", "--suppressions", "quiet", "./program")
        assert done.returncode == 0, done.stdout
        assert "suppressed" in done.stdout

    def test_started_directly(self, shell: Shell) -> None:
        built(shell, BOTH)
        done = shell.run("setarch", "-R", "./program")
        assert done.returncode == 66
        assert "WARNING: ThreadSanitizer: data race" in done.stderr
        assert "WARNING: fencepost: not robust" in done.stderr

    def test_exit_code_of_its_own_on_request(self, shell: Shell) -> None:
        built(shell, BOTH)
        done = shell.run("./program", FENCEPOST_OPTIONS="exitcode=0", TSAN_OPTIONS="exitcode=0")
        assert done.returncode == 3

    def test_schedules_are_refused(self, shell: Shell) -> None:
        built(shell, BOTH)
        done = shell.run("fencepost", "run", "--schedule", "random", "--runs", "2", "./program")
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.count("\n") == 1
        assert "a program built with --mode races has no schedules" in done.stderr
        alone = shell.run("./program", FENCEPOST_OPTIONS="schedule=random")
        assert (alone.returncode, alone.stdout) == (2, "")
        assert "a program built with --mode races has no schedules" in alone.stderr


PLUG_IN = """#include <stdatomic.h>
static atomic_int x;
static int plain;
void touch(void) {
    plain++;
    atomic_fetch_add_explicit(&x, 1, memory_order_relaxed);
}
"""
HOST = """#include <dlfcn.h>
#include <pthread.h>
static void (*touch)(void);
static void *body(void *unused) { touch(); return unused; }
int main(void) {
    touch = (void (*)(void))dlsym(dlopen("./plug.so", RTLD_NOW), "touch");
    pthread_t one, two;
    pthread_create(&one, 0, body, 0);
    pthread_create(&two, 0, body, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return 0;
}
"""
FORK = """#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>
static atomic_int x;
int main(void) {
    atomic_fetch_add(&x, 1);
    if (fork() == 0) _exit(atomic_load(&x));
    int status;
    wait(&status);
    return WEXITSTATUS(status) == 1 ? 0 : 2;
}
"""
SIGNAL = """#include <signal.h>
#include <stdatomic.h>
#include <sys/time.h>
static atomic_int came, other;
static void note(int signal) { (void)signal; came = 1; }
int main(void) {
    signal(SIGALRM, note);
    struct itimerval const soon = {{0, 0}, {0, 10000}};
    setitimer(ITIMER_REAL, &soon, 0);
    while (!atomic_load_explicit(&came, memory_order_relaxed)) {
        atomic_fetch_add_explicit(&other, 1, memory_order_relaxed);
        atomic_store_explicit(&other, 0, memory_order_relaxed);
    }
    return 7;
}
"""


def test_a_plug_in_is_watched(shell: Shell) -> None:
    shell.write("plug.c", PLUG_IN)
    shell.write("host.c", HOST)
    shell.ok("fencepost-cc", "--mode", "races", "-fPIC", "-shared", "plug.c", "-o", "plug.so")
    shell.ok("fencepost-cc", "--mode", "races", "host.c", "-o", "host")
    # ThreadSanitizer does not see a race of two accesses at the very same time.
    answer = json.loads(shell.run("fencepost", "run", "--runs", "20", "--json", "./host").stdout)
    assert [one["kind"] for one in answer["findings"]] == ["race"]
    assert answer["atomics"] == 2 * 20


def test_the_child_of_a_fork_goes_on(shell: Shell) -> None:
    built(shell, FORK)
    done = shell.run("./program")
    assert (done.returncode, done.stderr) == (0, "")


def test_signals_that_are_kept_back_come_while_the_program_only_uses_atomics(shell: Shell) -> None:
    built(shell, SIGNAL)
    done = shell.run("./program")
    assert (done.returncode, done.stderr) == (7, "")
