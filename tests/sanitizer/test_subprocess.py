"""Programs that the run-time library starts, such as the symboliser."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

_LIBRARY = Path(__file__).parents[2] / "native" / "sanitizer"


def test_a_program_is_run_whatever_locks_other_threads_hold(tmp_path: Path) -> None:
    if shutil.which("g++") is None:
        pytest.skip("g++ is not installed")
    program = tmp_path / "subprocess"
    sources = [
        _LIBRARY / "tests" / "subprocess.cpp",
        *(_LIBRARY / f"{part}.cpp" for part in ("lock", "memory", "subprocess", "text")),
    ]
    options = ["-std=gnu++20", "-O1", "-mcx16", "-pthread", f"-I{_LIBRARY}"]
    subprocess.run(["g++", *options, *map(str, sources), "-o", str(program)], check=True)
    done = subprocess.run([program, "300"], capture_output=True, text=True, check=False, timeout=120)
    assert (done.returncode, done.stdout) == (0, "300 programs were run\n")
