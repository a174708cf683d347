"""A program that comes to a bad end, or to one without the handlers of `exit`: what was found is told before,
and the end is the one that it would have been without the sanitizer."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest

from tests.sanitizer.building import PROGRAMS, Shell, Toolchain, with_each_compiler

# Store buffering in a fixed order. The load might turn out to be a round of a loop that waits, so it is
# reported only when the program ends.
PROGRAM = (PROGRAMS / "single/ends.c").read_text(encoding="utf-8")

# How it ends, with which exit code (a negative one is a signal), and what it says.
BUILD = ("fencepost-cc", "--mode", "atomics", "-O1", "-Wno-unused-result", "program.c", "-o", "program")
ENDS = {
    "abort": -signal.SIGABRT,
    "assert": -signal.SIGABRT,
    "fault": -signal.SIGSEGV,
    "divide": -signal.SIGFPE,
    "trap": -signal.SIGILL,
    "terminate": -signal.SIGTERM,
    "interrupt": -signal.SIGINT,
    "pipe": -signal.SIGPIPE,
    "handler": -signal.SIGSEGV,
    "group": 5,
    "quick": 5,
    "at once": 5,
    "child": 5,
}

FAULTS = ("fault", "divide", "trap", "child")

# What a program finds when it asks for the action of a signal, and what it sets is what it gets.
ACTIONS = (PROGRAMS / "single/actions.c").read_text(encoding="utf-8")


def events(shell: Shell) -> list[str]:
    """What all processes of a program have told, but for how they use values; the files are gone then."""
    told = []
    for file in sorted(shell.directory.glob("*.json")):
        told += [json.loads(line)["event"] for line in file.read_text(encoding="utf-8").splitlines()]
        file.unlink()
    return [event for event in told if event != "uses"]


@with_each_compiler
@pytest.mark.parametrize("schedule", ["os", "random"])
def test_what_was_found_is_told_before_the_end(tmp_path: Path, toolchain: Toolchain, schedule: str) -> None:
    shell = Shell(tmp_path, toolchain)
    shell.write("program.c", PROGRAM)
    shell.ok(*BUILD)
    for how, code in ENDS.items():
        options = f"json=%p.json:quiet=1:exitcode=0:schedule={schedule}"
        done = shell.run("./program", how, FENCEPOST_OPTIONS=options)
        assert done.returncode == code, how
        told = ["finding", *["crash"] * (how in FAULTS), "end", *["end"] * (how == "child")]
        assert sorted(events(shell)) == sorted(told), how
        assert done.stdout == ("handler" if how == "quick" else ""), how


@with_each_compiler
def test_a_report_in_text_comes_before_the_crash(tmp_path: Path, toolchain: Toolchain) -> None:
    shell = Shell(tmp_path, toolchain)
    shell.write("program.c", PROGRAM)
    shell.ok(*BUILD)
    done = shell.run("./program", "fault")
    assert done.returncode == -signal.SIGSEGV
    assert "WARNING: fencepost: not robust" in done.stderr
    assert "reported 1 warning" in done.stderr


@with_each_compiler
def test_a_crash_in_mode_races(tmp_path: Path, toolchain: Toolchain) -> None:
    """ThreadSanitizer reports a fault itself, and ends the program with an exit code."""
    shell = Shell(tmp_path, toolchain)
    shell.write("program.c", PROGRAM)
    shell.ok("fencepost-cc", "--mode", "races", "-Wno-unused-result", "program.c", "-o", "program")
    for how in ("abort", "assert", "fault", "terminate", "quick"):
        done = shell.run(
            "setarch",
            "-R",
            "./program",
            how,
            FENCEPOST_OPTIONS="json=%p.json:quiet=1:exitcode=0",
            TSAN_OPTIONS="report_bugs=0",
        )
        assert done.returncode == (66 if how == "fault" else ENDS[how]), (how, done.stderr)
        assert events(shell) == ["finding", "end"], how


@with_each_compiler
@pytest.mark.parametrize("mode", ["all", "atomics", "full", "races"])
def test_the_program_sees_no_handlers_but_its_own(tmp_path: Path, toolchain: Toolchain, mode: str) -> None:
    shell = Shell(tmp_path, toolchain)
    for standard in ("gnu11", "c11"):  # `signal` is another function in the second, and holds only once
        once = standard == "c11"
        head = f"#define _XOPEN_SOURCE 700\n#define ONCE {int(once)}\n" if once else "#define ONCE 0\n"
        shell.write("program.c", head + ACTIONS)
        shell.ok("fencepost-cc", f"-std={standard}", "--mode", mode, "program.c", "-o", "program")
        shell.ok("setarch", "-R", "./program")


@with_each_compiler
def test_a_run_that_is_stopped_tells_what_it_has_found(tmp_path: Path, toolchain: Toolchain) -> None:
    shell = Shell(tmp_path, toolchain)
    shell.write("program.c", PROGRAM)
    shell.ok(*BUILD)
    done = shell.run("fencepost", "run", "--timeout", "2", "--json", "./program", "waits")
    answer = json.loads(done.stdout)
    assert answer["verdict"] == "not-robust"
    assert [trouble["why"] for trouble in answer["troubles"]] == [
        "did not end within the time limit of 2 s (`--timeout`)"
    ]
