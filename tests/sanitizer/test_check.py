"""`fencepost check`: every execution, each once, with what the rules say about them."""

from __future__ import annotations

import contextlib
import json
import random
import re
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from fencepost.memory_models import EXIT_UNDECIDED, EXIT_VIOLATED, EXIT_WRONG_INPUT
from tests.native.building import SANITIZED, build
from tests.sanitizer.building import PROGRAMS, Shell, head_of
from tests.sanitizer.check_scripts import Collection, Program, expected, random_program
from tests.sanitizer.scripts import lines_of


def _explored(shell: Shell, program: Path, *arguments: str, **options: object) -> list[dict[str, Any]]:
    """What was told, the end last."""
    events = shell.directory / "events.json"
    for file in shell.directory.glob("events.json*"):
        file.unlink()
    settings = {"schedule": "explore", "json": events, "quiet": 1, "exitcode": 0, "await_loops": 0, **options}
    shell.ok(program, *arguments, FENCEPOST_OPTIONS=":".join(f"{k}={v}" for k, v in settings.items()))
    files = sorted(shell.directory.glob("events.json*"), reverse=True)
    return [json.loads(line) for file in files for line in file.read_text(encoding="utf-8").splitlines()]


# How an execution begins: in a process of its own, in one that has gone back, and with others at work.
_WAYS: tuple[dict[str, object], ...] = ({"restart": "fork"}, {"restart": "memory"}, {"walks": 3}, {})


def _disagreements(shell: Shell, programs: list[Program]) -> Iterable[str]:
    collection = Collection(programs)
    binary = collection.compile(shell)
    for number, program in enumerate(programs):
        events = _explored(shell, binary, str(number), **_WAYS[number % len(_WAYS)])
        end = events[-1]
        found = [event for event in events if event["event"] == "finding"]
        violations = {collection.places[line][1:] for line in lines_of(binary, found)}
        wanted = expected(program)
        counts = end["executions"], end["in_vain"], end["cut"], end["why"]
        if counts != (wanted.graphs, 0, 0, "") or violations != wanted.violations:
            yield f"{program}: {wanted}, but {counts} and {violations}"


def _agree(shell: Shell, first: int, count: int) -> None:
    programs = [random_program(seed) for seed in range(first, first + count)]
    wrong = list(_disagreements(shell, programs))
    assert not wrong, f"{len(wrong)} of {count}:\n" + "\n".join(wrong[:5])


def test_each_graph_of_random_programs_is_run_once_and_findings_are_those_of_the_rules(
    tmp_path: Path,
) -> None:
    _agree(Shell(tmp_path), 1, 100)


@pytest.mark.slow
def test_each_graph_of_many_random_programs_is_run_once(tmp_path: Path) -> None:
    _agree(Shell(tmp_path), 1_000, 2_000)


@pytest.fixture(scope="module")
def exploration(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build("sanitizer/exploration.cpp", tmp_path_factory.mktemp("exploration"), "-O1", *SANITIZED)


def _all_orders(program: Path, count: int, first: int, walks: int = 1) -> None:
    command = [program, str(count), str(first), str(walks)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_exploration_runs_each_graph_once(exploration: Path) -> None:
    _all_orders(exploration, 300, 1)


def test_a_race_between_earlier_events_counts_anew_when_later_ones_change(exploration: Path) -> None:
    """Found by seed 28,722: one graph was missing when only races with a new second event were reversed."""
    _all_orders(exploration, 1, 28_722)


# From here on the programs have threads that are started and waited for; accesses of several sizes to the
# same memory, and locks of which nobody can tell whether they are free.
WITH_STARTS, WITH_SIZES = 1_000_000_000, 2_000_000_000
# One program, run in several ways.
WITH_A_CALL_ON_TWO = 3_000_000_000


@pytest.mark.parametrize("first", [WITH_STARTS, WITH_SIZES])
def test_the_exploration_runs_each_graph_once_of_starts_and_sizes(exploration: Path, first: int) -> None:
    _all_orders(exploration, 500, first)
    _all_orders(exploration, 200, first + 500, walks=3)


@pytest.mark.parametrize("walks", [1, 3])
def test_a_lock_that_perhaps_cannot_come_first_hides_no_other_race(exploration: Path, walks: int) -> None:
    """Before a call that unlocks two mutexes it cannot; before the lock in front of that, it can."""
    _all_orders(exploration, 20, WITH_A_CALL_ON_TWO, walks)


def test_choices_stay_with_the_event_that_they_follow(exploration: Path) -> None:
    _all_orders(exploration, 1, 501_169, walks=3)


def test_choices_follow_all_that_they_need(exploration: Path) -> None:
    """One that came when another thread ended was made before its own thread had come to the join."""
    _all_orders(exploration, 1, 1_000_793_289)


@pytest.mark.parametrize("walks", [2, 5])
def test_walks_that_share_the_work_run_each_graph_once(exploration: Path, walks: int) -> None:
    """The last two failed while a branch could be taken before one that it covers."""
    _all_orders(exploration, 200, 1, walks)
    _all_orders(exploration, 1, 13_435, walks)
    _all_orders(exploration, 1, 18_864, walks)


@pytest.mark.slow
@pytest.mark.parametrize("walks", [1, 2, 5])
def test_the_exploration_runs_each_graph_of_many_programs_once(exploration: Path, walks: int) -> None:
    for first in (100_000, WITH_STARTS + 1_000, WITH_SIZES + 1_000):
        _all_orders(exploration, 50_000, first, walks)


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> Shell:
    return Shell(tmp_path_factory.mktemp("check"))


def _build(shell: Shell, source: Path) -> Path:
    """The program, made once."""
    program = shell.directory / source.stem
    compiler = "fencepost-c++" if source.suffix == ".cpp" else "fencepost-cc"
    if not program.exists():
        shell.ok(compiler, "-O2", "-g", source, "-o", program)
    return program


@pytest.mark.parametrize("source", sorted((PROGRAMS / "check").glob("*.c*")), ids=lambda source: source.stem)
def test_all_executions_of_a_program(shell: Shell, source: Path) -> None:
    """The summary is as the head of the program says, where it was asked for as the head says."""
    head = head_of(source)
    _build(shell, source)
    done = shell.run("fencepost", "check", "--quiet", *head.get("options", "").split(), f"./{source.stem}")
    assert f"./{source.stem}: {head['summary']}" in done.stdout


_REPEATED = [path for path in sorted((PROGRAMS / "check").glob("*.c*")) if path.stem != "by_process_number"]


@pytest.mark.parametrize("source", _REPEATED, ids=lambda source: source.stem)
def test_executions_are_the_same_however_they_begin(shell: Shell, source: Path) -> None:
    program = _build(shell, source)
    options = head_of(source).get("options", "").split()
    names = {"--fail-allocations": "failing", "--rounds": "rounds", "--bound": "bound"}
    settings: dict[str, object] = {
        names[name]: value for name, value in zip(options[::2], options[1::2], strict=True)
    }
    told = [_told(_explored(shell, program, **settings, **way)) for way in _WAYS]
    assert all(one == told[0] for one in told), told


def _told(events: list[dict[str, Any]]) -> tuple[object, ...]:
    end = events[-1]
    seen = {
        (event["event"], event.get("id"), event.get("exit"), event.get("signal"), event.get("trouble"))
        for event in events
        if event["event"] in ("finding", "deadlock")
        or (event["event"] == "execution" and (event["exit"] or event["signal"] or event["trouble"]))
    }
    return end["executions"], end["cut"], end["bounded"], end["why"], tuple(end["untried"]), seen


def test_what_check_finds_is_seen_again_by_run(shell: Shell) -> None:
    shell.ok("fencepost-cc", "-O2", "-g", PROGRAMS / "check" / "store_buffering.c", "-o", "again")
    report = shell.run("fencepost", "check", "--json", "./again")
    assert report.returncode == EXIT_VIOLATED
    found = json.loads(report.stdout)
    assert (found["question"], found["verdict"], found["exhaustive"]) == ("check", "not-robust", True)
    shell.write("report.json", report.stdout)
    again = json.loads(shell.run("fencepost", "run", "--replay", "report.json", "--json").stdout)
    assert {one["id"] for one in again["findings"]} >= {one["id"] for one in found["findings"]}
    assert not again["warnings"]


def test_a_crash_says_where_it_was_and_what_led_there(shell: Shell) -> None:
    """In text, and in a report that can be replayed."""
    _build(shell, PROGRAMS / "check" / "null_pointer.c")
    said = shell.run("fencepost", "check", "./null_pointer").stdout
    assert "an execution was killed by SIGSEGV\n  Fault at address 0x0, in thread T2:\n    #0 follow" in said
    assert "      > 11 |     return *pointer;\n" in said
    assert "    #1 read_value" in said
    assert re.search(r"Turns of the threads: main thread \(.*T2 to the end\.", said)
    report = shell.run("fencepost", "check", "--json", "./null_pointer").stdout
    shell.write("report.json", report)
    again = json.loads(shell.run("fencepost", "run", "--replay", "report.json", "--json").stdout)
    (failure,), (trouble,) = json.loads(report)["failures"], again["troubles"]
    assert failure["crash"]["by"]["thread"] == 2
    assert trouble["crash"] == failure["crash"]


def test_data_races_are_found_in_a_full_build(shell: Shell) -> None:
    """The flag is set relaxed, so what was written before it is not passed on."""
    shell.write(
        "race.c",
        "#include <pthread.h>\n#include <stdatomic.h>\n"
        "int data, seen; atomic_int ready;\n"
        "static void* one(void* _) { data = 1;\n"
        "atomic_store_explicit(&ready, 1, memory_order_relaxed); return _; }\n"
        "int main(void) { pthread_t a; pthread_create(&a, 0, one, 0);\n"
        "if (atomic_load_explicit(&ready, memory_order_acquire)) seen = data; return pthread_join(a, 0); }\n",
    )
    shell.ok("fencepost-cc", "--mode", "full", "-O0", "race.c", "-o", "race")
    done = shell.run("fencepost", "check", "-q", "./race")
    assert done.returncode == EXIT_VIOLATED
    assert "./race: 1 data race in 2 executions, all there are" in done.stdout


def test_a_limit_leaves_the_question_open(shell: Shell) -> None:
    shell.ok("fencepost-cc", "-O2", PROGRAMS / "check" / "test_and_set.c", "-o", "limited")
    done = shell.run("fencepost", "check", "--max-executions", "1", "./limited")
    assert done.returncode == EXIT_UNDECIDED
    assert "undecided: the limit on executions was reached; nothing was seen" in done.stdout


def test_the_first_finding_is_enough(shell: Shell) -> None:
    shell.ok("fencepost-cc", "-O2", PROGRAMS / "check" / "store_buffering.c", "-o", "first")
    done = shell.run("fencepost", "check", "--first", "-q", "./first")
    assert done.returncode == EXIT_VIOLATED
    assert "not robust: 1 finding in 1 execution;" in done.stdout


def test_without_a_finding_the_first_execution_is_not_enough(shell: Shell) -> None:
    shell.ok("fencepost-cc", "-O2", PROGRAMS / "check" / "test_and_set.c", "-o", "none")
    counts = [
        json.loads(shell.run("fencepost", "check", "--json", *options, "./none").stdout)["runs"]
        for options in ((), ("--first",))
    ]
    assert counts[0] == counts[1] > 1


_STACK = """#include <fencepost.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
struct node { _Atomic(struct node*) next; };
_Atomic(struct node*) top;
static void* push(void* _) {
    fp_choose(8);
    for (int i = 0; i < 2; ++i) {
        struct node* const node = malloc(sizeof *node);
        struct node* old = atomic_load_explicit(&top, memory_order_relaxed);
        do atomic_store_explicit(&node->next, old, memory_order_relaxed);
        while (!atomic_compare_exchange_strong(&top, &old, node));
    }
    return _;
}
int main(void) {
    pthread_t a[2];
    for (int i = 0; i < 2; ++i) pthread_create(&a[i], 0, push, 0);
    for (int i = 0; i < 2; ++i) pthread_join(a[i], 0);
}
"""


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_check_that_is_killed_goes_on_where_it_was(shell: Shell, jobs: str) -> None:
    shell.write("stack.c", _STACK)
    shell.ok("fencepost-cc", "-O2", "stack.c", "-o", "stack")
    program = shell.directory / "stack"
    whole = json.loads(shell.run("fencepost", "check", "--json", program).stdout)
    command = ("fencepost", "check", "--json", "-j", jobs, "--resume", f"state-{jobs}", program)
    draw = random.Random(1)
    for _ in range(5):
        killed = subprocess.Popen(
            [shell.programs / command[0], *command[1:]],
            cwd=shell.directory,
            env={**shell.environment, "TMPDIR": str(shell.directory)},
            stdout=subprocess.DEVNULL,
        )
        with contextlib.suppress(subprocess.TimeoutExpired):
            killed.wait(draw.uniform(0.2, 0.8))
        killed.kill()
        killed.wait()
    done = json.loads(shell.run(*command, TMPDIR=str(shell.directory)).stdout)
    assert done["exhaustive"]
    assert (done["verdict"], done["runs"]) == (whole["verdict"], whole["runs"])


def test_what_was_killed_ends_with_the_same_counts(shell: Shell) -> None:
    program = _build(shell, PROGRAMS / "check" / "store_buffering.c")
    state = shell.directory / "few"
    whole = json.loads(shell.run("fencepost", "check", "--json", program).stdout)
    for most in ("1", "2", "3", "4"):
        command = ("fencepost", "check", "--json", "--resume", state, "--max-executions", most, program)
        done = json.loads(shell.run(*command).stdout)
    assert done["runs"] == whole["runs"]
    assert [one["id"] for one in done["findings"]] == [one["id"] for one in whole["findings"]]
    shell.write("report.json", json.dumps(done))
    again = json.loads(shell.run("fencepost", "run", "--replay", "report.json", "--json").stdout)
    assert {one["id"] for one in again["findings"]} >= {one["id"] for one in done["findings"]}


def test_a_state_of_something_else_is_refused(shell: Shell) -> None:
    program = _build(shell, PROGRAMS / "check" / "store_buffering.c")
    shell.write("other", "no state")
    done = shell.run("fencepost", "check", "--resume", "other", program)
    assert done.returncode == EXIT_WRONG_INPUT
    assert "cannot go on from this file: it is no file that `check --resume` has written" in done.stderr
    shell.run("fencepost", "check", "--resume", "state", program)
    done = shell.run("fencepost", "check", "--resume", "state", "--rounds", "3", program)
    assert done.returncode == EXIT_WRONG_INPUT
    assert "written for another program, or for other arguments" in done.stderr


def test_a_program_that_is_not_watched_is_wrong_input(shell: Shell) -> None:
    done = shell.run("fencepost", "check", "/bin/true")
    assert done.returncode == EXIT_WRONG_INPUT
    assert "was not built with fencepost-cc" in done.stderr
