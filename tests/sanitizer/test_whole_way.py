"""From a C or C++ source to a report, with the real compiler, the real library and the real schedules."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.sanitizer.building import Shell, Toolchain, with_each_compiler

# The order of the two threads is the same in all runs, and does not matter: the check looks ahead.
MESSAGE_PASSING = """#include <pthread.h>
#include <stdatomic.h>
static atomic_int data, ready;
static int get(atomic_int *x) {
    return atomic_load_explicit(x, memory_order_ACQUIRE);
}
static void *writer(void *unused) {
    atomic_store_explicit(&data, 1, memory_order_relaxed);
    atomic_store_explicit(&ready, 1, memory_order_RELEASE);
    return unused;
}
static void *reader(void *unused) {
    if (get(&ready)) return get(&data) ? unused : 0;
    return unused;
}
int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], 0, writer, 0);
    pthread_create(&threads[1], 0, reader, 0);
    pthread_join(threads[0], 0);
    pthread_join(threads[1], 0);
    return 0;
}
"""
STORE_BUFFERING = """#include <atomic>
#include <thread>
struct Flags { std::atomic<int> mine{0}, yours{0}; } flags;
int enter(std::atomic<int> &mine, std::atomic<int> &yours) {
    mine.store(1, std::memory_order_release);
    return yours.load(std::memory_order_acquire);
}
int main() {
    std::thread left([] { enter(flags.mine, flags.yours); });
    std::thread right([] { enter(flags.yours, flags.mine); });
    left.join();
    right.join();
}
"""
# std::atomic<Word>::load is a function of its own without optimisation, here for a loop that waits as well.
WAITING_AND_STORE_BUFFERING = """#include <atomic>
#include <thread>
struct Word { int value; };
std::atomic<Word> go, mine, yours;
void enter(std::atomic<Word> &own, std::atomic<Word> &other) {
    while (go.load(std::memory_order_acquire).value == 0) continue;
    for (int i = 0; i < 9; i++) {
        own.store({i}, std::memory_order_release);
        other.load(std::memory_order_acquire);
    }
}
int main() {
    std::thread left([] { enter(mine, yours); });
    std::thread right([] { enter(yours, mine); });
    for (int i = 0; i < 50; i++) std::this_thread::yield();
    go.store({1}, std::memory_order_release);
    left.join();
    right.join();
}
"""
DEADLOCK = """#include <pthread.h>
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static void *backwards(void *unused) {
    pthread_mutex_lock(&b);
    pthread_mutex_lock(&a);
    pthread_mutex_unlock(&a);
    pthread_mutex_unlock(&b);
    return unused;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, backwards, 0);
    pthread_mutex_lock(&a);
    pthread_mutex_lock(&b);
    pthread_mutex_unlock(&b);
    pthread_mutex_unlock(&a);
    pthread_join(thread, 0);
    return 0;
}
"""
RANDOM = ("--schedule", "random", "--runs", "20")


@pytest.fixture
def shell(tmp_path: Path, toolchain: Toolchain) -> Shell:
    return Shell(tmp_path, toolchain)


def build_message_passing(shell: Shell, *, release: str, acquire: str, optimised: str = "-O2") -> None:
    text = MESSAGE_PASSING.replace("RELEASE", release).replace("ACQUIRE", acquire)
    shell.write("mp.c", text)
    shell.ok("fencepost-cc", "-Wall", "-Wextra", "-Werror", optimised, "mp.c", "-o", "mp")


def answer(shell: Shell, *arguments: str) -> dict[str, Any]:
    return dict(json.loads(shell.run("fencepost", "run", "--json", *arguments).stdout))


@with_each_compiler
class TestMessagePassing:
    def test_release_and_acquire_order_the_payload(self, shell: Shell) -> None:
        build_message_passing(shell, release="release", acquire="acquire")
        done = shell.run("fencepost", "run", *RANDOM, "./mp")
        assert done.returncode == 0
        last = "./mp: nothing seen in 20 runs (schedule random, seeds 1 to 20)"
        assert done.stdout.splitlines()[-1].startswith(last)

    @pytest.mark.parametrize("optimised", ["-O0", "-O2"])
    def test_relaxed_flag_does_not_order_the_payload(self, shell: Shell, optimised: str) -> None:
        build_message_passing(shell, release="relaxed", acquire="acquire", optimised=optimised)
        told = answer(shell, *RANDOM, "./mp")
        (finding,) = told["findings"]
        assert told["verdict"] == "not-robust"
        assert 0 < finding["runs"] < 20
        assert finding["location"]["name"] == "data"
        assert (finding["could"], finding["access"]["order"]) == (0, "acquire")
        functions = [(frame["function"], frame["line"]) for frame in finding["access"]["stack"]]
        assert functions[:2] == [("get", 5), ("reader", 13)]  # gcc may split reader
        functions = [(frame["function"], frame["line"]) for frame in finding["missed"]["stack"]]
        assert functions == [("writer", 8)]

    def test_relaxed_payload_load_after_a_relaxed_flag_load(self, shell: Shell) -> None:
        build_message_passing(shell, release="release", acquire="relaxed")
        assert len(answer(shell, *RANDOM, "./mp")["findings"]) == 1


@with_each_compiler
class TestStoreBuffering:
    @pytest.mark.parametrize("schedule", ["os", "random", "pct"])
    def test_found_by_any_schedule(self, shell: Shell, schedule: str) -> None:
        """Not in a run where both threads write before either reads; of fifty not all are like that."""
        shell.write("sb.cpp", STORE_BUFFERING)
        shell.ok("fencepost-c++", "-std=c++20", "-O1", "sb.cpp", "-o", "sb")
        told = answer(shell, "--schedule", schedule, "--runs", "50", "./sb")
        assert told["findings"]
        for finding in told["findings"]:
            assert finding["location"]["name"] in ("flags.mine", "flags.yours")
            stack = finding["access"]["stack"]
            lines = [frame["line"] for frame in stack if frame["file"].endswith("sb.cpp")]
            assert lines[0] == 6

    def test_the_chain_leads_to_the_access_and_not_through_it(self, shell: Shell) -> None:
        """Where the load reads a still newer write, it learns of the missed one from there, but too late."""
        again = "for (int i = 0; i < 9; i++) enter"
        shell.write("sb.cpp", STORE_BUFFERING.replace("{ enter", "{ " + again))
        shell.ok("fencepost-c++", "-std=c++20", "-O1", "sb.cpp", "-o", "sb")
        findings = answer(shell, "--schedule", "random", "--runs", "20", "./sb")["findings"]
        assert findings
        for finding in findings:
            read, written = finding["chain"]
            assert read["thread"] == finding["missed"]["thread"]
            assert written["thread"] == finding["access"]["thread"]
            assert (read["what"].split()[0], written["what"].split()[0]) == ("read", "write")
            assert finding["address"] not in read["what"] + written["what"]

    @pytest.mark.parametrize("optimised", ["-O0", "-O1"])
    def test_accesses_are_told_apart_where_atomic_is_not_inlined(self, shell: Shell, optimised: str) -> None:
        shell.write("sb.cpp", WAITING_AND_STORE_BUFFERING)
        shell.ok("fencepost-c++", "-std=c++20", optimised, "sb.cpp", "-o", "sb")
        findings = answer(shell, *RANDOM, "./sb")["findings"]
        assert sum(finding["runs"] for finding in findings) >= 20
        for finding in findings:
            frames = [frame for frame in finding["access"]["stack"] if frame["file"].endswith("sb.cpp")]
            assert frames[0]["line"] == 9
            named = [repair[key] for repair in finding["repair"] for key in ("after", "before")]
            assert {place["line"] for place in named if place and place["file"].endswith("sb.cpp")} == {8, 9}

    def test_inlined_atomics_are_told_apart_in_the_programs_own_report(self, shell: Shell) -> None:
        """Both loads come from the same line of <atomic>; only the one of line 6 waits."""
        text = WAITING_AND_STORE_BUFFERING.replace("struct Word { int value; };", "using Word = int;")
        shell.write("sb.cpp", text.replace(".value", ""))
        shell.ok("fencepost-c++", "-std=c++20", "-O2", "sb.cpp", "-o", "sb")
        done = shell.run("./sb", FENCEPOST_OPTIONS="schedule=random")
        assert "WARNING: fencepost: not robust" in done.stderr
        assert "sb.cpp:9" in done.stderr

    def test_the_programs_own_report_names_lines_of_the_program(self, shell: Shell) -> None:
        """And not those of <atomic>, where it is inlined, except in stacks."""
        shell.write("sb.cpp", STORE_BUFFERING)
        shell.ok("fencepost-c++", "-std=c++20", "-O2", "sb.cpp", "-o", "sb")
        report = shell.run("./sb", FENCEPOST_OPTIONS="schedule=random").stderr
        told = [line for line in report.splitlines() if not line.strip().startswith("#")]
        sentences = " ".join(" ".join(told).split())
        assert re.search(r"seq_cst\)` after sb\.cpp:5(:\d+)? and before sb\.cpp:6(:\d+)?\.", sentences)
        assert any(
            line.startswith("SUMMARY") and line.endswith("in enter(std::atomic<int>&, std::atomic<int>&)")
            for line in told
        )
        assert not any("atomic_base.h" in line for line in told)

    def test_a_finding_is_had_again_from_its_report(self, shell: Shell) -> None:
        shell.write("sb.cpp", STORE_BUFFERING)
        shell.ok("fencepost-c++", "sb.cpp", "-o", "sb")
        report = answer(shell, *RANDOM, "--seed", "5", "./sb")
        assert report["findings"][0]["schedule"]["decisions"]
        shell.write("report.json", json.dumps(report))
        again = answer(shell, "--replay", "report.json")
        assert {one["id"] for one in again["findings"]} == {one["id"] for one in report["findings"]}


@with_each_compiler
def test_a_deadlock_is_reported_with_its_threads(shell: Shell) -> None:
    shell.write("dead.c", DEADLOCK)
    shell.ok("fencepost-cc", "dead.c", "-o", "dead")
    told = answer(shell, *RANDOM, "./dead")
    (deadlock,) = told["deadlocks"]
    assert told["verdict"] == "not-seen"
    assert 0 < deadlock["runs"] < 20
    assert {thread["thread"] for thread in deadlock["threads"]} == {0, 1}
    assert {thread["what"] for thread in deadlock["threads"]} == {"mutex"}
    assert {thread["thread"]: thread["holder"] for thread in deadlock["threads"]} == {0: 1, 1: 0}
    assert {thread["object"] for thread in deadlock["threads"]} == {"a", "b"}
    for thread in deadlock["threads"]:
        assert thread["stack"][0]["file"].endswith("dead.c")


@with_each_compiler
def test_without_findings_the_program_is_as_it_was(shell: Shell) -> None:
    shell.write("a.c", '#include <stdio.h>\nint main(void) { puts("out"); return 7; }\n')
    shell.ok("fencepost-cc", "a.c", "-o", "a")
    done = shell.run("./a")
    assert (done.returncode, done.stdout, done.stderr) == (7, "out\n", "")
