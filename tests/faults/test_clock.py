"""The clock on the wall jumps by days, forwards and back: limits on time are kept, and answers stay."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.interrupting import ENDLESS

SOURCE = Path(__file__).parent / "jumping_clock.c"
SB = """global x, y;
fn t1 { local a; x.store(1); a = y.load(); }
fn t2 { local b; y.store(1); b = x.load(); }
"""


@pytest.fixture(scope="module")
def clock(tmp_path_factory: pytest.TempPathFactory) -> Path:
    library = tmp_path_factory.mktemp("clock") / "jumping_clock.so"
    subprocess.run(["gcc", "-O1", "-fPIC", "-shared", SOURCE, "-o", library, "-ldl"], check=True)
    return library


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "sb.tpl").write_text(SB)
    (tmp_path / "endless.tpl").write_text(ENDLESS)
    return tmp_path


def run(clock: Path, folder: Path, script: str, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", script, *words],
        cwd=folder,
        env={**os.environ, "LD_PRELOAD": str(clock), "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_this_clock_jumps(clock: Path, folder: Path) -> None:
    done = run(clock, folder, "import time; print(abs(time.time() - time.time()) > 1_000_000)")
    assert done.stdout == "True\n"


@pytest.mark.parametrize("more", [(), ("-j", "2")])
def test_limits_on_time_are_kept(clock: Path, folder: Path, more: tuple[str, ...]) -> None:
    start = "from fencepost.cli.start import main; main()"
    words = ("robust", "--json", "--timeout", "1", *more, "sb.tpl", "endless.tpl")
    done = run(clock, folder, start, *words)
    first, second = map(json.loads, done.stdout.splitlines())
    assert (first["verdict"], second["verdict"]) == ("not-robust", "unknown")
    assert second["why"].startswith("the time limit of 1 s was reached")
    assert 0 <= first["stats"]["seconds"] < 100_000
    assert 0 <= second["stats"]["seconds"] < 100_000
