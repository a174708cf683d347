"""Programs that the run-time library starts, such as the symboliser."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.native.building import build


def test_a_program_is_run_whatever_locks_other_threads_hold(tmp_path: Path) -> None:
    program = build("sanitizer/subprocess.cpp", tmp_path, "-O1")
    done = subprocess.run([program, "300"], capture_output=True, text=True, check=False, timeout=120)
    assert (done.returncode, done.stdout) == (0, "300 programs were run\n")
