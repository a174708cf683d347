"""The settings of FENCEPOST_OPTIONS, as the library in a program that is started directly heeds them."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.sanitizer.building import INSTALLED, PROGRAMS, Shell

PROGRAM = (PROGRAMS / "single/three_pairs.c").read_text(encoding="utf-8")
WAITS = (PROGRAMS / "single/waits.c").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the program and its source."""
    shell = Shell(tmp_path_factory.mktemp("settings"), INSTALLED[-1])
    shell.write("program.c", PROGRAM)
    shell.ok("fencepost-cc", "--mode", "atomics", "-O1", "program.c", "-o", "program")
    return shell.directory


@pytest.fixture
def shell(tmp_path: Path, built: Path) -> Shell:
    shell = Shell(tmp_path, INSTALLED[-1])
    shutil.copytree(built, shell.directory, dirs_exist_ok=True)
    return shell


def warnings(text: str) -> int:
    return text.count("WARNING: fencepost: not robust")


def events(shell: Shell, name: str = "events.json") -> list[dict[str, Any]]:
    lines = (shell.directory / name).read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def told(shell: Shell, settings: str) -> int:
    """How many findings the program tells, and counts in its last event."""
    shell.run("./program", FENCEPOST_OPTIONS=f"{settings}:json=events.json")
    *others, last = events(shell)
    found = [event for event in others if event["event"] == "finding"]
    assert last["event"] == "end"
    assert last["findings"] >= len(found)
    return len(found)


def test_by_default_all_is_told_and_the_exit_code_says_so(shell: Shell) -> None:
    done = shell.run("./program")
    assert (done.returncode, done.stdout) == (66, "end\n")
    assert warnings(done.stderr) == 3
    assert re.search(r"^fencepost: reported 3 warnings \(pid=\d+\)\n\Z", done.stderr, re.MULTILINE)


@pytest.mark.parametrize(("code", "wanted"), [("0", 7), ("9", 9)])
def test_exit_code(shell: Shell, code: str, wanted: int) -> None:
    assert shell.run("./program", FENCEPOST_OPTIONS=f"exitcode={code}").returncode == wanted


def test_halt_on_error_ends_the_program_at_the_first_finding(shell: Shell) -> None:
    """Without loops that wait, nothing has to wait until the end of the program."""
    done = shell.run("./program", FENCEPOST_OPTIONS="halt_on_error=1:await_loops=0")
    assert (done.returncode, done.stdout, warnings(done.stderr)) == (66, "", 1)
    assert shell.run("./program", FENCEPOST_OPTIONS="halt_on_error=1:exitcode=5").returncode == 5


def test_log_path_takes_the_reports_out_of_the_way(shell: Shell) -> None:
    done = shell.run("./program", FENCEPOST_OPTIONS="log_path=log.%p")
    (log,) = shell.directory.glob("log.*")
    assert log.name.removeprefix("log.").isdigit()
    assert (done.stderr, warnings(log.read_text(encoding="utf-8"))) == ("", 3)


def test_a_log_that_cannot_be_written_leaves_the_reports_where_they_were(shell: Shell) -> None:
    done = shell.run("./program", FENCEPOST_OPTIONS="log_path=none/log")
    assert "fencepost: cannot write none/log, named in FENCEPOST_OPTIONS" in done.stderr
    assert warnings(done.stderr) == 3


def test_quiet_keeps_the_exit_code(shell: Shell) -> None:
    done = shell.run("./program", FENCEPOST_OPTIONS="quiet=1")
    assert (done.returncode, done.stderr) == (66, "")


def test_json_lines(shell: Shell) -> None:
    assert told(shell, "quiet=1") == 3
    assert {event["kind"] for event in events(shell) if event["event"] == "finding"} == {"robustness"}


def test_more_than_max_findings_are_counted_only(shell: Shell) -> None:
    assert told(shell, "quiet=1:max_findings=2") == 2
    assert events(shell)[-1]["findings"] == 3
    done = shell.run("./program", FENCEPOST_OPTIONS="max_findings=1")
    assert (done.returncode, warnings(done.stderr)) == (66, 1)


@pytest.mark.parametrize(
    ("line", "left"),
    [
        ("robustness:second_pair", 2),
        ("robustness:^second_pair$", 2),
        ("  robustness:^first\r", 2),
        ("robustness:^pair", 3),
        ("robustness:second$", 3),
        ("robustness:f*pair", 2),
        ("robustness:^x$", 2),
        ("robustness:program.c", 0),
        ("robustness:program$", 0),
        ("race:second_pair", 3),
        ("deadlock:*", 3),
        ("# robustness:*", 3),
    ],
)
def test_suppressions(shell: Shell, line: str, left: int) -> None:
    shell.write("unwanted", f"\n{line}\n")
    done = shell.run("./program", FENCEPOST_OPTIONS="suppressions=unwanted")
    assert warnings(done.stderr) == left
    assert done.returncode == (66 if left else 7)
    assert "expected" not in done.stderr


def test_fencepost_run_counts_what_it_suppresses(shell: Shell) -> None:
    shell.write("unwanted", "robustness:^first_pair\nrobustness:^third_pair\n")
    done = shell.run("fencepost", "run", "--suppressions", "unwanted", "./program")
    assert done.returncode == 1
    assert done.stdout.count("WARNING: fencepost") == 1
    assert "2 suppressed" in done.stdout


@pytest.mark.parametrize(
    ("settings", "warning"),
    [
        ("suppressions=none", "fencepost: cannot read the suppressions none"),
        ("suppressions=program.c", "expected robustness:PATTERN, found "),
        ("halt_on_error=yes", 'bad value of "halt_on_error": "yes"'),
        ("exitcode=", 'bad value of "exitcode": ""'),
        ("exit_code=3", 'no option is called "exit_code"'),
        ("quiet", 'bad value of "quiet": ""'),
    ],
)
def test_a_mistake_is_told_and_the_program_runs(shell: Shell, settings: str, warning: str) -> None:
    done = shell.run("./program", FENCEPOST_OPTIONS=settings)
    assert warning in done.stderr
    assert warnings(done.stderr) == 3


def test_loops_that_wait_are_recognised_unless_switched_off(shell: Shell) -> None:
    shell.write("program.c", WAITS)
    shell.ok("fencepost-cc", "--mode", "atomics", "-O1", "program.c", "-o", "program")
    assert told(shell, "quiet=1") == 0
    assert told(shell, "quiet=1:await_loops=0") == 1
