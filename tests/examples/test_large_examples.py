"""The programs in `examples/large` that are decided, as far as a test has the time."""

import importlib.util
from pathlib import Path

import pytest

from fencepost import load, robust
from fencepost.formats.headers import expectations
from fencepost.formats.tpl import read

LARGE = Path(__file__).parents[2] / "examples" / "large"
SOON = ("2-1", "2-4", "3-1")
LATER = ("3-2",)


def generator():
    spec = importlib.util.spec_from_file_location("rcu_offline", LARGE / "rcu_offline.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_files_are_what_the_script_writes():
    files = {path.name: path.read_text(encoding="utf-8") for path in LARGE.glob("rcu-offline-*.tpl")}
    assert files == generator().files()


@pytest.mark.parametrize("size", [*SOON, *(pytest.param(size, marks=pytest.mark.slow) for size in LATER)])
def test_rcu_with_offline_threads(size):
    file = LARGE / f"rcu-offline-{size}.tpl"
    assert expectations(file.read_text())["robust", "ra"]
    answer = robust(load(file))
    assert answer.holds
    assert (answer.race, answer.assertion, answer.deadlock) == (None, None, None)


def test_rcu_with_offline_threads_needs_its_fences():
    text = generator().program(2, 1)
    without = text.replace("            fence;\n", "")
    assert without != text
    assert robust(read(without)).verdict == "not-robust"


@pytest.mark.slow
def test_a_deque_of_real_size():
    file = LARGE / "chase-lev-200-ra.tpl"
    assert expectations(file.read_text())["robust", "ra"]
    answer = robust(load(file), "ra")
    assert answer.holds
    assert answer.race is None
