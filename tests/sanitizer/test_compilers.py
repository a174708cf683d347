"""A little of everything with each version of each compiler that is installed; the usual ones have all tests.

To try one thoroughly: FENCEPOST_TEST_COMPILERS=clang-19 pytest tests/sanitizer
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.sanitizer import test_crashes as crashes
from tests.sanitizer import test_differential as differential
from tests.sanitizer import test_examples as examples
from tests.sanitizer import test_races as races
from tests.sanitizer import test_runtime as runtime
from tests.sanitizer import test_survival as survival
from tests.sanitizer.building import PROGRAMS, Shell, Toolchain, named

VERSIONS = [named(cc) for cc in ("gcc-12", *(f"clang-{version}" for version in range(14, 20)))]

pytestmark = [
    pytest.mark.slow,
    pytest.mark.parametrize(
        "toolchain",
        [
            pytest.param(
                version,
                id=version.cc,
                marks=pytest.mark.skipif(
                    not all(map(shutil.which, version)), reason=f"{version.cc} is not installed"
                ),
            )
            for version in VERSIONS
        ],
    ),
]


def test_verdicts(tmp_path: Path, toolchain: Toolchain) -> None:
    runtime.test_litmus_shapes_are_reported_where_and_only_where_they_are_marked(tmp_path, toolchain)


def test_random_scripts(tmp_path: Path, toolchain: Toolchain) -> None:
    runtime.test_random_scripts_are_reported_as_the_rules_say(tmp_path, toolchain)


def test_random_programs(tmp_path: Path, toolchain: Toolchain) -> None:
    differential.test_the_sanitizer_reports_iff_the_program_is_not_robust(tmp_path, toolchain)


def test_races(tmp_path: Path, toolchain: Toolchain) -> None:
    shell = Shell(tmp_path, toolchain)
    races.test_well_known_shapes(shell)
    races.test_threads_used_well_are_silent_and_keep_the_exit_code(shell)


def test_the_default_build_watches_everything(tmp_path: Path, toolchain: Toolchain) -> None:
    """With and without a schedule: the linker says nothing of a half of it that is missing."""
    shell = Shell(tmp_path, toolchain)
    source = PROGRAMS / "first_hour" / "spin_lock.c"
    built = shell.run("fencepost-cc", "-O1", source, "-o", "program")
    assert (built.returncode, built.stderr) == (0, "")
    assert "ThreadSanitizer: data race" in shell.run("setarch", "-R", "./program").stderr
    assert shell.run("fencepost", "run", "--schedule", "random", "./program").returncode == 1


def test_exceptions(tmp_path: Path, toolchain: Toolchain) -> None:
    source = PROGRAMS / "survival" / "exceptions_across_instrumented_frames.cpp"
    survival.test_a_robust_program_runs_as_without_the_sanitizer(tmp_path, source, toolchain)


def test_crashes(tmp_path: Path, toolchain: Toolchain) -> None:
    crashes.test_what_was_found_is_told_before_the_end(tmp_path, toolchain, "os")


@pytest.mark.parametrize("name", ["ms-queue.cpp", "ms-queue-acq-rel.cpp"])
def test_an_example(tmp_path: Path, toolchain: Toolchain, name: str) -> None:
    source = examples.FOLDER / name
    shell = Shell(tmp_path, toolchain)
    if examples.is_robust(source):
        examples.is_silent(shell, source, 20)
    else:
        examples.is_found(shell, source)
