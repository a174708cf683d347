"""Threads that hold up a schedule between its points: others go on, and where all stand is said."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.sanitizer.building import PROGRAMS, Shell, Toolchain, head_of, with_each_compiler

STALLS = PROGRAMS / "stalls"
ENDING = [STALLS / "volatile_ping_pong.c", STALLS / "unknown_futex.c"]


def ends(shell: Shell, source: Path, mode: str, *schedules: str) -> None:
    shell.ok("fencepost-cc", "--mode", mode, "-O1", source, "-o", "program")
    for schedule in schedules:
        done = shell.run("./program", FENCEPOST_OPTIONS=f"schedule={schedule}:stall=200:exitcode=0:quiet=1")
        assert (done.returncode, done.stdout, done.stderr) == (0, head_of(source)["prints"], ""), schedule


@pytest.mark.parametrize("source", ENDING, ids=lambda source: source.stem)
def test_a_thread_that_waits_between_points_lets_others_go_on(tmp_path: Path, source: Path) -> None:
    ends(Shell(tmp_path), source, "atomics", "random")


@pytest.mark.slow
@with_each_compiler
@pytest.mark.parametrize("mode", ["atomics", "full"])
@pytest.mark.parametrize("source", ENDING, ids=lambda source: source.stem)
def test_a_thread_that_waits_between_points_lets_others_go_on_everywhere(
    tmp_path: Path, source: Path, toolchain: Toolchain, mode: str
) -> None:
    ends(Shell(tmp_path, toolchain), source, mode, "random", "pct", "random:switch=futex", "pct:switch=futex")


def test_a_run_that_hangs_says_where_its_threads_stand(tmp_path: Path) -> None:
    shell = Shell(tmp_path)
    shell.ok("fencepost-cc", "-O1", STALLS / "never_ends.c", "-o", "hangs")
    done = shell.run(
        *("fencepost", "run", "--schedule", "random", "--runs", "2", "--timeout", "5", "./hangs"),
        FENCEPOST_OPTIONS="stall=1",
    )
    assert done.returncode == 3, done.stdout + done.stderr
    assert "2 of 2 runs did not end within the time limit of 5 s (`--timeout`)" in done.stdout
    assert "fencepost: no step was made for 1 seconds" in done.stdout
    thread = done.stdout.partition("thread T1 has its turn:\n")[2].splitlines()
    # It may be interrupted while a plain access is watched.
    inner = next(number for number, line in enumerate(thread[:6]) if "wait_for_flag" in line)
    assert "never_ends.c:6" in thread[inner]
    assert "holder" in thread[1 + inner]
    assert "main thread" in done.stdout


def test_stalls_need_not_be_watched(tmp_path: Path) -> None:
    shell = Shell(tmp_path)
    shell.ok("fencepost-cc", "-O1", STALLS / "never_ends.c", "-o", "hangs")
    done = shell.run(
        *("fencepost", "run", "--schedule", "random", "--timeout", "3", "--runs", "2", "./hangs"),
        FENCEPOST_OPTIONS="stall=0",
    )
    assert "no step was made" not in done.stdout + done.stderr
