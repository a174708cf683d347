"""What real programs do, and the sanitizer survives.

Each program of `programs/survival` is robust and checks itself. It must exit with its own code and print
nothing but its own words, as without the sanitizer. Its head says what it `prints` (nothing), its `exit code`
(0), the `schedules` (all three), and the `compiler options` and `library options` that it needs. What
`ThreadSanitizer cannot` do is done in mode atomics only.
"""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest

from tests.sanitizer.building import PROGRAMS, Shell, Toolchain, head_of, with_each_compiler

SURVIVORS = sorted(path for path in (PROGRAMS / "survival").iterdir() if path.suffix != ".h")
SINGLE = PROGRAMS / "single"


def build(shell: Shell, source: Path, *options: str, name: str = "program") -> Path:
    wrapper, standard = ("fencepost-c++", "c++20") if source.suffix == ".cpp" else ("fencepost-cc", "gnu11")
    shell.ok(wrapper, f"-std={standard}", "-O1", *options, source, "-o", name)
    return shell.directory / name


def survives(shell: Shell, source: Path, mode: str) -> None:
    head = head_of(source)
    program = build(shell, source, "--mode", mode, *head.get("compiler options", "").split())
    expected = (int(head.get("exit code", "0")), head.get("prints", ""), "")
    for schedule in head.get("schedules", "os random pct").split():
        # Without a schedule mode full says that it does not watch plain accesses. It is also what a program
        # in mode all becomes if it has a malloc of its own.
        is_full = mode == "full" or source.stem == "an_instrumented_malloc"
        quiet = "quiet=1:" if is_full and schedule == "os" else ""
        options = f"schedule={schedule}:{quiet}{head.get('library options', '')}"
        done = shell.run(program, FENCEPOST_OPTIONS=options)
        assert (done.returncode, done.stdout, done.stderr) == expected, schedule


@with_each_compiler
@pytest.mark.parametrize("source", SURVIVORS, ids=lambda source: source.stem)
def test_a_robust_program_runs_as_without_the_sanitizer(
    tmp_path: Path, source: Path, toolchain: Toolchain
) -> None:
    survives(
        Shell(tmp_path, toolchain),
        source,
        "atomics" if "ThreadSanitizer cannot" in head_of(source) else "all",
    )


@pytest.mark.slow
@with_each_compiler
@pytest.mark.parametrize("mode", ["atomics", "full"])
@pytest.mark.parametrize("source", SURVIVORS, ids=lambda source: source.stem)
def test_a_robust_program_runs_in_each_mode_as_without_the_sanitizer(
    tmp_path: Path, source: Path, toolchain: Toolchain, mode: str
) -> None:
    survives(Shell(tmp_path, toolchain), source, mode)


@with_each_compiler
def test_an_instrumented_plug_in(tmp_path: Path, toolchain: Toolchain) -> None:
    shell = Shell(tmp_path, toolchain)
    build(shell, SINGLE / "plug_in.c", "-shared", "-fPIC", name="plug_in.so")
    program = build(shell, SINGLE / "plug_in_host.c")
    for schedule in ("os", "random", "pct"):
        done = shell.run(program, FENCEPOST_OPTIONS=f"schedule={schedule}")
        assert (done.returncode, done.stdout, done.stderr) == (0, "300", ""), schedule


@with_each_compiler
@pytest.mark.parametrize("writes", [1_000_000, pytest.param(10_000_000, marks=pytest.mark.slow)])
def test_memory_does_not_grow_with_the_length_of_the_run(
    tmp_path: Path, writes: int, toolchain: Toolchain
) -> None:
    shell = Shell(tmp_path, toolchain)
    program = build(shell, SINGLE / "many_writes.c", "--mode", "atomics")
    few, many = int(shell.ok(program, "10000")), int(shell.ok(program, str(writes)))
    assert many < few + 1024, f"{few} KiB for 10,000 writes, {many} KiB for {writes:,}"


@with_each_compiler
def test_findings_are_written_before_a_crash(tmp_path: Path, toolchain: Toolchain) -> None:
    shell = Shell(tmp_path, toolchain)
    program = build(shell, SINGLE / "killed.c", "--mode", "atomics")
    done = shell.run(program, FENCEPOST_OPTIONS="json=events.json:quiet=1")
    assert done.returncode == -signal.SIGKILL
    events = [json.loads(line) for line in (shell.directory / "events.json").read_text().splitlines()]
    assert [event["event"] for event in events] == ["finding"]
