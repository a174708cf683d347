"""Mode full: our own detector finds the data races of plain accesses under schedules, and makes none up."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.sanitizer.building import PROGRAMS, Shell, Toolchain, with_each_compiler
from tests.sanitizer.race_scripts import RaceBook, races, random_passing_script, random_race_script
from tests.sanitizer.scripts import Script, parse
from tests.sanitizer.test_races import BOTH, FREED, RARELY_TOLD, SOBER, SOBER_PARTS, WITH_RACE, WITHOUT_RACE

EXAMPLES = Path(__file__).parents[2] / "examples" / "c"
PLAIN_ACCESSES = PROGRAMS / "single/plain_accesses.cpp"
WAYS = re.findall(r'\{"(\w+)", ', PLAIN_ACCESSES.read_text(encoding="utf-8").partition("// No races")[0])
HARMLESS = re.findall(r'\{"(\w+)", ', PLAIN_ACCESSES.read_text(encoding="utf-8").partition("// No races")[2])

pytestmark = with_each_compiler


@pytest.fixture
def shell(tmp_path: Path, toolchain: Toolchain) -> Shell:
    return Shell(tmp_path, toolchain)


def built(shell: Shell, text: str, mode: str = "full") -> None:
    shell.write("program.c", text)
    shell.ok("fencepost-cc", "--mode", mode, "-O1", "program.c", "-o", "program")


def events_of(shell: Shell, *command: str, options: str = "schedule=random") -> list[dict[str, Any]]:
    """What the library tells of a run that ends."""
    path = shell.directory / "events.json"
    shell.ok(*command, FENCEPOST_OPTIONS=f"{options}:json={path}:quiet=1:exitcode=0")
    events = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert events[-1]["event"] == "end"
    return events


def has_race(events: list[dict[str, Any]]) -> bool:
    assert events[-1]["plain"] == "all"
    return any(event.get("kind") == "race" for event in events)


class TestScripts:
    """Against the definition of happens-before."""

    def test_well_known_shapes(self, shell: Shell) -> None:
        shapes: dict[str, Script] = {name: parse(text) for name, text in (WITHOUT_RACE | WITH_RACE).items()}
        book = RaceBook(list(shapes.values()), mode="full")
        program = book.compile(shell)
        for number, (name, script) in enumerate(shapes.items()):
            found = book.run(shell, program, number)
            assert bool(found) == (name in WITH_RACE), name
            assert found <= races(script), name

    def test_random_scripts(self, shell: Shell) -> None:
        compare_random_scripts(shell, random_passing_script, range(75))
        compare_random_scripts(shell, random_race_script, range(25))

    @pytest.mark.slow
    def test_many_random_scripts(self, shell: Shell) -> None:
        compare_random_scripts(shell, random_passing_script, range(20_000, 21_000))
        compare_random_scripts(shell, random_race_script, range(20_000, 21_000))


def compare_random_scripts(shell: Shell, generator: Callable[[int], Script], seeds: range) -> None:
    """No race is invented, and one is found at each place that has some.

    More than in mode races: nothing is forgotten at a place, so each of the two is looked at on its own.
    """
    scripts = [generator(seed) for seed in seeds]
    book = RaceBook(scripts, mode="full")
    program = book.compile(shell)
    racy = 0
    for number, script in enumerate(scripts):
        expected, found = races(script), book.run(shell, program, number)
        assert found <= expected, f"seed {seeds[number]}"
        places = {script[position].location for position, _ in expected}
        assert {script[position].location for position, _ in found} == places, f"seed {seeds[number]}"
        racy += bool(expected)
    assert racy > len(scripts) / 5


class TestAccesses:
    """All ways in which compilers and the C library touch memory."""

    def test_each_way_races_unless_it_is_ordered(self, shell: Shell) -> None:
        shell.ok("fencepost-c++", "--mode", "full", "-std=c++20", "-O1", PLAIN_ACCESSES, "-o", "program")
        assert shell.ok("./program", FENCEPOST_OPTIONS="quiet=1").split() == WAYS
        for way in WAYS:
            assert has_race(events_of(shell, "./program", way, "relaxed")), way
            assert not has_race(events_of(shell, "./program", way, "ordered")), way
        for way in (*HARMLESS, "pipe"):
            assert not has_race(events_of(shell, "./program", way, "relaxed")), way

    def test_threads_used_well_are_silent_and_keep_the_exit_code(self, shell: Shell) -> None:
        shell.write("sober.cpp", SOBER)
        shell.ok("fencepost-c++", "--mode", "full", "-std=c++20", "-O1", "sober.cpp", "-o", "sober")
        for part in SOBER_PARTS:
            for schedule in ("random", "pct"):
                done = shell.run("./sober", part, FENCEPOST_OPTIONS=f"schedule={schedule}")
                assert (done.returncode, done.stderr) == (5, ""), (part, schedule)

    def test_members_of_local_variables_are_watched(self, shell: Shell) -> None:
        shell.write("local.c", LOCAL_MEMBER)
        shell.ok("fencepost-cc", "-O2", "local.c", "-o", "local")
        assert has_race(events_of(shell, "./local"))

    def test_what_was_heard_of_a_location_outlives_it(self, shell: Shell) -> None:
        built(shell, FREED)
        done = shell.run("./program", FENCEPOST_OPTIONS="schedule=random")
        assert (done.returncode, done.stderr) == (3, "")

    def test_a_fence_with_a_relaxed_write_after_long(self, shell: Shell) -> None:
        built(shell, RARELY_TOLD)
        command = ("fencepost", "run", "--schedule", "random", "--runs", "1", "--json", "./program")
        answer = json.loads(shell.run(*command).stdout)
        found = [one for one in answer["findings"] if one["kind"] == "race"]
        assert [one["location"]["name"] for one in found] == ["between"]


LOCAL_MEMBER = """#include <pthread.h>
struct box { long other; int value; };
static void* fill(void* box) { ((struct box*)box)->value = 1; return 0; }
int main(void) {
    struct box box = {0, 0};
    pthread_t thread;
    pthread_create(&thread, 0, fill, &box);
    int seen = box.value;
    pthread_join(thread, 0);
    return seen & 2;
}
"""

# Locks of examples/c around a counter that is not atomic.
LOCKS = ("spinlock", "ticket-lock", "futex-mutex", "mcs-lock")


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_protects_plain_data_unless_it_is_relaxed(shell: Shell, lock: str) -> None:
    folder = with_plain_counters(shell)
    for name in (lock, f"{lock}-relaxed"):
        found = racy_locations(shell, folder, name, "full", "--schedule", "random", "--runs", "5")
        assert found == ({"counter"} if name.endswith("-relaxed") else set()), name


@pytest.mark.slow
@pytest.mark.parametrize("lock", LOCKS)
def test_thread_sanitizer_says_the_same_of_the_locks(shell: Shell, lock: str) -> None:
    """It needs luck: without a schedule, threads that meet at a lock are rare."""
    folder = with_plain_counters(shell)
    assert racy_locations(shell, folder, lock, "races", "--runs", "200") == set()
    assert racy_locations(shell, folder, f"{lock}-relaxed", "races", "--runs", "200") == {"counter"}


def racy_locations(shell: Shell, folder: Path, name: str, mode: str, *options: str) -> set[str]:
    program = folder / mode / name
    shell.ok("make", "--silent", "-C", folder, f"BUILD={program.parent}", program, FENCEPOST_MODE=mode)
    answer = json.loads(shell.run("fencepost", "run", "--json", *options, program).stdout)
    assert answer["plain"] == "all"
    names = {one["location"]["name"] for one in answer["findings"] if one["kind"] == "race"}
    return {name.rpartition("::")[2] for name in names}


def with_plain_counters(shell: Shell) -> Path:
    """A copy of the examples."""
    folder = shell.directory / "examples"
    shutil.copytree(EXAMPLES, folder, ignore=shutil.ignore_patterns("build"))
    for name in ("guarded.h", "spinlock.cpp"):
        path = folder / name
        path.write_text(with_plain_counter(path.read_text(encoding="utf-8")), encoding="utf-8")
    return folder


def with_plain_counter(text: str) -> str:
    for pattern, plain in (
        (r"static atomic_int counter", "static int counter"),
        (r"std::atomic<int> counter", "int counter"),
        (r"atomic_load_explicit\(&counter, memory_order_relaxed\)", "counter"),
        (r"atomic_store_explicit\(&counter, (.*), memory_order_relaxed\)", r"counter = \1"),
        (r"counter\.load\(.*?\)", "counter"),
        (r"counter\.store\((.*), .*?\)", r"counter = \1"),
    ):
        text = re.sub(pattern, plain, text)
    return text


class TestReports:
    def test_both_kinds_in_one_run(self, shell: Shell) -> None:
        built(shell, BOTH)
        answer = json.loads(
            shell.run("fencepost", "run", "--schedule", "random", "--json", "./program").stdout
        )
        kinds = {finding["kind"]: finding for finding in answer["findings"]}
        assert set(kinds) == {"robustness", "race"}
        assert (answer["mode"], answer["plain"], answer["verdict"]) == ("full", "all", "not-robust")
        race = kinds["race"]
        assert race["location"]["name"] == "plain"
        assert {race["access"]["what"], race["missed"]["what"]} <= {"read", "write"}
        assert {race["access"]["stack"][0]["line"], race["missed"]["stack"][0]["line"]} == {8, 14}
        assert {len(race["access"]["stack"]), len(race["missed"]["stack"])} == {1}

    def test_a_race_is_seen_again_in_a_replay(self, shell: Shell) -> None:
        built(shell, BOTH)
        report = shell.run(
            "fencepost", "run", "--schedule", "pct", "--runs", "10", "--json", "./program"
        ).stdout
        shell.write("report.json", report)
        again = json.loads(shell.run("fencepost", "run", "--replay", "report.json", "--json").stdout)
        assert {one["id"] for one in again["findings"]} == {
            one["id"] for one in json.loads(report)["findings"]
        }

    def test_both_faces_print_the_same(self, shell: Shell) -> None:
        source = PROGRAMS / "first_hour/spin_lock.c"
        built(shell, source.read_text(encoding="utf-8"))
        done = shell.run("setarch", "-R", "./program", FENCEPOST_OPTIONS="schedule=random:seed=1")
        assert done.returncode == 66
        command = ("fencepost", "run", "--schedule", "random", "--runs", "1", "./program")
        by_run = re.sub(r"\n\n  Seen in .*", "", shell.run(*command).stdout)
        rule = "==================\n"
        direct, run = (text[text.index(rule) : text.rindex(rule)] for text in (done.stderr, by_run))
        assert direct == run
        assert "Repair: In thread" in direct

    def test_a_race_can_be_suppressed(self, shell: Shell) -> None:
        built(shell, BOTH)
        shell.write("quiet", "race:^plain$\nrobustness:*\n")
        command = ("fencepost", "run", "--schedule", "random", "--suppressions", "quiet", "./program")
        done = shell.run(*command)
        assert done.returncode == 0, done.stdout
        alone = shell.run("./program", FENCEPOST_OPTIONS="schedule=random:suppressions=quiet")
        assert (alone.returncode, alone.stderr) == (3, "")

    def test_the_first_finding_ends_the_program_on_request(self, shell: Shell) -> None:
        built(shell, BOTH.replace("return 3", 'write(1, "end", 3); return 3'))
        done = shell.run("./program", FENCEPOST_OPTIONS="schedule=random:halt_on_error=1")
        assert (done.returncode, done.stdout) == (66, "")


class TestWhatWasWatched:
    def test_nothing_without_a_schedule(self, shell: Shell) -> None:
        built(shell, BOTH)
        done = shell.run("fencepost", "run", "./program")
        assert "data race" not in done.stdout
        answer = json.loads(shell.run("fencepost", "run", "--json", "./program").stdout)
        assert (answer["mode"], answer["plain"]) == ("full", "none")
        alone = shell.run("./program")
        assert "fencepost: plain accesses were not watched, because there was no schedule" in alone.stderr

    def test_a_thread_beside_the_schedule_ends_the_watch(self, shell: Shell) -> None:
        """It is started by the C library itself, which passes us by."""
        built(shell, (PROGRAMS / "single/beside.c").read_text(encoding="utf-8"))
        assert events_of(shell, "./program")[-1]["plain"] == "part"
        alone = shell.run("./program", FENCEPOST_OPTIONS="schedule=random")
        assert "fencepost: plain accesses were watched in part" in alone.stderr
