"""Each allocation of the engine fails once: the answer is right, or unknown with the reason."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.faults.out_of_memory import QUESTIONS

ROOT = Path(__file__).parents[2]
FOREVER = 1 << 40
# Which of the allocations are tried: every third, or fewer where there are many.
FAST = {
    "breadth-first": 3,
    "by-location-4": 3,
    "parallel": 3,
    "shared": 3,
    "shared-thrifty": 3,
    "thrifty": 3,
    "disk": 3,
    "not-robust": 3,
    "tso": 3,
    "any-number": 200,
    "outcomes": 20,
    "verify-sra": 3,
}


@pytest.fixture(scope="session")
def allocator(tmp_path_factory: pytest.TempPathFactory) -> Path:
    library = tmp_path_factory.mktemp("allocator") / "failing_allocator.so"
    source = Path(__file__).parent / "failing_allocator.cpp"
    options = ["-std=gnu++20", "-O1", "-fPIC", "-shared", "-Wall", "-Wextra"]
    subprocess.run(["g++", *options, source, "-o", library, "-ldl"], check=True)
    return library


def fails_in_turn(allocator: Path, question: str, count: int, step: int) -> tuple[str, int, int]:
    """The verdict, how many allocations were tried, and how often there was no verdict for want of memory."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.faults.out_of_memory", question, str(count), str(step)],
        env={**os.environ, "LD_PRELOAD": str(allocator)},
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    verdict, tried, unknown = done.stdout.split()
    return verdict, int(tried), int(unknown)


@pytest.mark.parametrize("question", FAST)
def test_one_allocation_fails(allocator: Path, question: str) -> None:
    _, tried, unknown = fails_in_turn(allocator, question, 1, FAST[question])
    assert tried > 10
    assert unknown > tried / 2


@pytest.mark.slow
@pytest.mark.parametrize("count", [1, FOREVER])
@pytest.mark.parametrize("question", QUESTIONS)
def test_every_allocation_fails_once_or_from_there_on(allocator: Path, question: str, count: int) -> None:
    verdict, tried, unknown = fails_in_turn(allocator, question, count, 1)
    assert tried > 50
    assert verdict == "unknown" or unknown > tried / 2
