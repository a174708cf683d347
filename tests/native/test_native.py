"""The parts of the engine, tested in C++ on random input with AddressSanitizer and UBSan watching."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.native.building import ROOT, SANITIZED, build

_TESTS = sorted((ROOT / "tests" / "native" / "engine").glob("*.cpp"))


@pytest.mark.parametrize("test", _TESTS, ids=lambda test: test.stem)
def test_part_of_the_engine(test: Path, tmp_path: Path) -> None:
    program = build(test, tmp_path, *SANITIZED)
    done = subprocess.run([program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
