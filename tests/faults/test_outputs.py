"""A full disk, a closed pipe, a standard output that is not there: one line says so, and nothing else."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.faults.devices import full_device

SB = """global x, y;
fn t1 { local a; x.store(1); a = y.load(); }
fn t2 { local b; y.store(1); b = x.load(); }
"""
LOCK = "max_value 1; global l; fn t[2] { BCAS(l, 0, 1); cs: skip; l.store(0); }"
ANSWERS = [
    ("robust", "sb.tpl"),
    ("robust", "--json", "sb.tpl"),
    ("robust", "-q", "--model", "rc20", "sb.tpl"),
    ("robust", "sb.tpl", "lock.tpl"),
    ("persist", "sb.tpl"),
    ("verify", "--mutex", "cs", "lock.tpl"),
    ("outcomes", "sb.tpl"),
    ("fix", "sb.tpl"),
    ("fix", "--json", "sb.tpl"),
    ("relax", "lock.tpl"),
    ("show", "sb.tpl"),
    ("bench", "sb.tpl"),
    ("swarm", "--runs", "2", "sb.tpl"),
    ("completion", "bash"),
    ("--version",),
    ("--help",),
]
# One of each way to print; the others for `make test-all`.
FEW = [ANSWERS[n] for n in (0, 1, 3, 7, 15)]
ALL = [pytest.param(words, marks=[] if words in FEW else pytest.mark.slow) for words in ANSWERS]
FILES = [
    ("robust", "--svg"),
    ("robust", "--html"),
    ("robust", "--sarif"),
    ("robust", "--junit"),
    ("fix", "--output"),
    ("fix", "--html"),
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "sb.tpl").write_text(SB)
    (tmp_path / "lock.tpl").write_text(LOCK)
    return tmp_path


def start(folder: Path, *words: str, **streams: Any) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", "from fencepost.cli.start import main; main()", *words]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.Popen(
        command, cwd=folder, env=environment, stderr=subprocess.PIPE, encoding="utf-8", **streams
    )


def is_one_line(told: str) -> bool:
    return told.count("\n") == 1 and "Traceback" not in told


@full_device
@pytest.mark.parametrize("words", ALL, ids=" ".join)
def test_an_answer_that_finds_no_room_is_told_in_one_line(folder: Path, words: tuple[str, ...]) -> None:
    with open("/dev/full", "w") as full:
        process = start(folder, *words, stdout=full)
        told = process.communicate(timeout=120)[1]
    assert told == "fencepost: cannot write to the standard output: No space left on device\n"
    assert process.returncode == 2


@pytest.mark.parametrize("words", ALL, ids=" ".join)
def test_when_nobody_reads_on_nothing_is_said(folder: Path, words: tuple[str, ...]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    process = start(folder, *words, stdout=writing)
    os.close(writing)
    assert process.communicate(timeout=120)[1] == ""
    assert process.returncode in (1, 141)


@pytest.mark.parametrize("words", ALL, ids=" ".join)
def test_without_a_standard_output_the_exit_code_is_the_answer(folder: Path, words: tuple[str, ...]) -> None:
    there = start(folder, *words, stdout=subprocess.DEVNULL)
    there.communicate(timeout=120)
    closed = start(folder, *words, preexec_fn=lambda: os.close(1))
    told = closed.communicate(timeout=120)[1]
    assert "Traceback" not in told
    assert closed.returncode == there.returncode


@full_device
@pytest.mark.parametrize("words", FILES, ids=" ".join)
def test_a_file_that_finds_no_room_is_named_and_the_answer_is_there(
    folder: Path, words: tuple[str, ...]
) -> None:
    (folder / "full").symlink_to("/dev/full")
    process = start(folder, *words, "full", "sb.tpl", stdout=subprocess.PIPE)
    printed, told = process.communicate(timeout=120)
    assert process.returncode == 2
    assert is_one_line(told)
    assert told.startswith("full: cannot write the ")
    assert told.endswith(": No space left on device\n")
    assert "robust" in printed


@full_device
def test_a_certificate_that_finds_no_room_is_named(folder: Path) -> None:
    words = ("verify", "--mutex", "cs", "--certificate", "/dev/full", "lock.tpl")
    process = start(folder, *words, stdout=subprocess.PIPE)
    told = process.communicate(timeout=120)[1]
    assert process.returncode == 2
    assert told == "/dev/full: cannot write the certificate: No space left on device\n"
