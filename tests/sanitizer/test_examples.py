"""Programs of our own in C and C++: the robust ones are never reported, each of the others is found.

What to expect stands in the programs. Where a `.tpl` file has the name of a program, the static engine has to
say the same of it.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import fencepost
from fencepost.formats import tpl
from fencepost.formats.headers import expectations
from tests.sanitizer.building import INSTALLED, Shell, Toolchain, with_each_compiler

FOLDER = Path(__file__).parents[2] / "examples" / "c"
PROGRAMS = sorted([*FOLDER.glob("*.c"), *FOLDER.glob("*.cpp")])
SCHEDULES = ("random", "pct", "os")
USUAL = INSTALLED[-1] if INSTALLED else None  # what the wrappers choose by themselves


def is_robust(path: Path) -> bool:
    expected = expectations(path.read_text(encoding="utf-8"), path.name)
    return expected.get(("robust", "cpp20"), expected.get(("robust", "rc20"), False))


ROBUST = [path for path in PROGRAMS if is_robust(path)]
NOT_ROBUST = [path for path in PROGRAMS if not is_robust(path)]


def built(shell: Shell, source: Path) -> Path:
    """The program, as the Makefile of its folder builds it."""
    executable = shell.directory / source.stem
    shell.ok("make", "--silent", "-C", FOLDER, f"BUILD={shell.directory}", executable)
    return executable


def answer(shell: Shell, executable: Path, schedule: str, runs: int) -> dict[str, Any]:
    command = ("fencepost", "run", "--json", "--schedule", schedule, "--runs", str(runs), "--timeout", "60")
    done = shell.run(*command, executable)
    assert done.returncode in (0, 1), (done.returncode, done.stdout, done.stderr)
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def is_silent(shell: Shell, source: Path, runs: int) -> None:
    executable = built(shell, source)
    for schedule in SCHEDULES:
        seen = answer(shell, executable, schedule, runs)
        assert (seen["verdict"], seen["deadlocks"], seen["runs"]) == ("not-seen", [], runs), (schedule, seen)


def is_found(shell: Shell, source: Path) -> None:
    executable = built(shell, source)
    seen = (answer(shell, executable, schedule, 100) for schedule in SCHEDULES)
    assert any(one["verdict"] == "not-robust" for one in seen)


def named(paths: list[Path]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("source", paths, ids=[path.name for path in paths])


@named(ROBUST)
def test_a_robust_program_is_not_reported(tmp_path: Path, source: Path) -> None:
    is_silent(Shell(tmp_path, USUAL), source, 10)


@pytest.mark.slow
@with_each_compiler
@named(ROBUST)
def test_a_robust_program_is_not_reported_in_a_thousand_runs(
    tmp_path: Path, toolchain: Toolchain, source: Path
) -> None:
    is_silent(Shell(tmp_path, toolchain), source, 1000)


@named(NOT_ROBUST)
def test_a_program_that_is_not_robust_is_found_within_a_hundred_runs(tmp_path: Path, source: Path) -> None:
    is_found(Shell(tmp_path, USUAL), source)


@pytest.mark.slow
@with_each_compiler
@named(NOT_ROBUST)
def test_a_program_that_is_not_robust_is_found_with_each_compiler(
    tmp_path: Path, toolchain: Toolchain, source: Path
) -> None:
    is_found(Shell(tmp_path, toolchain), source)


@with_each_compiler
def test_priorities_that_change_find_the_broken_sequence_lock(tmp_path: Path, toolchain: Toolchain) -> None:
    shell = Shell(tmp_path, toolchain)
    executable = built(shell, FOLDER / "seqlock-broken.c")
    assert answer(shell, executable, "pct", 100)["verdict"] == "not-robust"


@named(sorted(FOLDER.glob("*.tpl")))
def test_the_static_engine_says_what_a_program_says_of_itself(source: Path) -> None:
    (program,) = (path for path in PROGRAMS if path.stem == source.stem)
    answered = fencepost.robust(fencepost.load(source), model="rc20")
    assert isinstance(answered, fencepost.Robust) == is_robust(source) == is_robust(program)
    assert answered.assertion is None


@pytest.mark.parametrize(
    ("name", "pattern", "replacement"),
    [
        ("bakery", r"fence.*;", "skip;"),
        ("dekker", r"fence.*;", "skip;"),
        ("futex-mutex", r"0, rel\)", "0)"),
        ("hazard-pointers", r"fence.*;", "skip;"),
        (
            "lamport-fast",
            r"(?s)max_value 2(.*)busy\[3\](.*)worker\[2\](.*)wait\(busy\[2 - tid\], 0, acq\);",
            r"max_value 3\1busy[4]\2worker[3]\3"
            "wait(busy[1], 0, acq); wait(busy[2], 0, acq); wait(busy[3], 0, acq);",
        ),
        ("mcs-lock", r"blocked\[r\].store\(0, rel\)", "blocked[r].store(0)"),
        ("once", r"ready.store\(1, rel\)", "ready.store(1)"),
        ("peterson", r"(?s)fence.*?;(.*)", r"skip;\1"),
        ("rcu", r"(current|period)(.*), rel\)", r"\1\2)"),
        ("reference-count", r"-1, rel\)", "-1)"),
        ("spinlock", r"0, rel\)", "0)"),
        ("ticket-lock", r"t \+ 1, rel\)", "t + 1)"),
        ("treiber-stack", r"(, acq, rel|acq)\)", ")"),
    ],
)
def test_a_sibling_that_is_weakened_like_the_variant_is_not_robust(
    name: str, pattern: str, replacement: str
) -> None:
    text = (FOLDER / f"{name}.tpl").read_text(encoding="utf-8")
    weakened, changes = re.subn(pattern, replacement, text)
    assert changes
    assert isinstance(fencepost.robust(tpl.read(weakened), model="rc20"), fencepost.NotRobust)


@named(PROGRAMS)
def test_a_program_says_why_it_is_what_it_is(source: Path) -> None:
    text = source.read_text(encoding="utf-8")
    assert re.search(r"^// expect: robust (rc20|cpp20)=(yes|no)\n// Why: ", text, re.MULTILINE)


def test_the_readme_lists_all_programs_with_their_verdicts() -> None:
    rows = re.findall(
        r"^\| `([\w-]+)` \| (yes|no) \|", (FOLDER / "README.md").read_text(encoding="utf-8"), re.M
    )
    assert sorted(rows) == sorted((path.stem, "yes" if is_robust(path) else "no") for path in PROGRAMS)


@pytest.mark.parametrize(
    ("variant", "changes"),
    [
        (
            "dekker-sc",
            (
                (r"fence.*;", "skip;"),
                (r"(flag\[tid\].store\(1)(, rel)?\)", r"\1, sc)"),
                (r"(flag\[tid\].store\(0)\)", r"\1, sc)"),
                (r"(flag\[1 - tid\].*)acq", r"\1sc"),
            ),
        ),
        (
            "dekker-sc-loads",
            (
                (r"fence.*;", "skip;"),
                (r"(flag\[tid\].store\(\d)\)", r"\1, rel)"),
                (r"(flag\[1 - tid\].*)acq", r"\1sc"),
            ),
        ),
        ("peterson-sc", ((r"fence.*;", "skip;"), (r"(store\(1.*)rel", r"\1sc"), ("acq", "sc"))),
        (
            "bakery-sc",
            (
                (r"fence.*;", "skip;"),
                (r"(choosing\[tid\].store\(1)\)", r"\1, sc)"),
                (r"(choosing\[tid\].store\(0), rel", r"\1, sc"),
                (r"store\(n\)", "store(n, sc)"),
                (r"(number\[1 - tid\].load\()\)", r"\1sc)"),
                ("acq", "sc"),
            ),
        ),
        (
            "hazard-pointers-sc",
            (
                (r"fence.*;", "skip;"),
                (r"store\(p, rel", "store(p, sc"),
                (r"q = pointer.load\(acq", "q = pointer.load(sc"),
                (r"(wait\(hazard.*)acq", r"\1sc"),
            ),
        ),
    ],
)
def test_a_sibling_with_seq_cst_accesses_is_what_the_variant_says(
    variant: str, changes: tuple[tuple[str, str], ...]
) -> None:
    text = (FOLDER / f"{variant.partition('-sc')[0]}.tpl").read_text(encoding="utf-8")
    for pattern, replacement in changes:
        text, count = re.subn(pattern, replacement, text)
        assert count
    (program,) = (path for path in PROGRAMS if path.stem == variant)
    answered = fencepost.robust(tpl.read(text), model="cpp20")
    assert isinstance(answered, fencepost.Robust) == is_robust(program)


@pytest.mark.slow
def test_pct_finds_no_less_than_random_in_as_many_runs(tmp_path: Path) -> None:
    shell = Shell(tmp_path, USUAL)
    findings = {"random": 0, "pct": 0}
    for source in NOT_ROBUST:
        executable = built(shell, source)
        found = {kind: len(answer(shell, executable, kind, 20)["findings"]) for kind in findings}
        assert found["pct"] > 0, source.stem
        findings = {kind: number + found[kind] for kind, number in findings.items()}
    assert findings["pct"] >= findings["random"]


# Clients with few executions; docs/check.md has a table of all of them.
@pytest.mark.parametrize("name", ["dekker.c", "mcs-lock.c", "spinlock.cpp", "hazard-pointers.cpp"])
def test_all_executions_of_a_small_client(tmp_path: Path, name: str) -> None:
    """Two threads, one round."""
    shell = Shell(tmp_path, USUAL)
    source = FOLDER / name
    wrapper = ("fencepost-cc", "-std=gnu11") if source.suffix == ".c" else ("fencepost-c++", "-std=c++20")
    shell.ok(*wrapper, "-O1", "-DTHREADS=2", "-DROUNDS=1", source, "-o", "client")
    answer = json.loads(shell.run("fencepost", "check", "--json", "./client").stdout)
    assert (answer["verdict"], answer["exhaustive"]) == ("robust", True)
