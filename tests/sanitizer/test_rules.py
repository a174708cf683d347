"""The rules as the run-time library keeps them, against the rules taken literally."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.native.building import SANITIZED, build


@pytest.fixture(scope="module")
def rules(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The test program, with AddressSanitizer and UndefinedBehaviorSanitizer watching it."""
    return build("sanitizer/rules.cpp", tmp_path_factory.mktemp("rules"), "-O1", *SANITIZED)


def _agree(program: Path, first: int, count: int) -> None:
    done = subprocess.run([program, str(first), str(count)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, f"{count} programs agree\n"), done.stdout + done.stderr


def test_clocks_over_threads_with_a_collector_are_location_clocks(rules: Path) -> None:
    _agree(rules, 1, 2_500)


def test_so_they_are_where_some_threads_take_no_part_in_the_order_of_sc_events(rules: Path) -> None:
    _agree(rules, 10_000_000, 500)


@pytest.mark.parametrize("seed", [8984, 21459, 30_026_200])
def test_programs_that_once_disagreed(rules: Path, seed: int) -> None:
    _agree(rules, seed, 1)


@pytest.mark.slow
def test_clocks_over_threads_are_location_clocks_on_many_programs(rules: Path) -> None:
    _agree(rules, 100_000, 50_000)
