"""One program, both ways: the sanitizer reports a random program iff the static engine says it is not robust.

Random TPL programs become C by `fencepost show --to c`, many of them in one executable that takes a program's
number. The check looks ahead, so that some schedule of each program that is not robust must show it; random
schedules are tried until one does. A program that is robust must be silent in all of them.
"""

from __future__ import annotations

import json
import random
import re
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

import fencepost
from fencepost.errors import InputError
from fencepost.formats import write
from fencepost.program import Program
from tests.sanitizer.building import INSTALLED, Shell, Toolchain, with_each_compiler
from tests.strategies import random_program

RUNS_OF_A_ROBUST_PROGRAM = 20
MOST_RUNS = 3000
PROGRAMS_IN_A_FILE = 100


class Case(NamedTuple):
    """A program in which the static engine met no data race, its text in C, and the engine's answer."""

    seed: int
    program: Program
    text: str
    robust: bool


def cases(seeds: Iterator[int]) -> Iterator[Case]:
    for seed in seeds:
        program = random_program(random.Random(seed), modes=True, sc_accesses=True)
        answer = fencepost.robust(program, model="cpp20")
        assert not isinstance(answer, fencepost.Unknown)
        if answer.race is not None:  # the sanitizer's atomics mode does not see plain accesses
            continue
        try:
            text = write(program, "c")
        except InputError:  # it wraps around where C cannot
            continue
        yield Case(seed, program, text, isinstance(answer, fencepost.Robust))


def in_one_executable(shell: Shell, texts: Sequence[str], *options: str) -> Path:
    """An executable that runs one of the programs, by its number."""
    parts = [_renamed(text, f"p{number}_") for number, text in enumerate(texts)]
    calls = "".join(f"case {number}: return p{number}_main();\n" for number in range(len(texts)))
    driver = f"int main(int argc, char **argv) {{ switch (argc > 1 ? atoi(argv[1]) : -1) {{ {calls} }} }}"
    shell.write("programs.c", "\n".join([*parts, driver]))
    shell.ok("fencepost-cc", *options, "programs.c", "-o", "programs")
    return shell.directory / "programs"


def _renamed(text: str, prefix: str) -> str:
    """The text of a C program whose variables, functions and macros are its own among others."""
    names = set(re.findall(r"^(?:static .*?|int )(\w+)(?:\[\d+\] =| =|\()", text, re.MULTILINE))
    macros = set(re.findall(r"^#define (FP_\w+)", text, re.MULTILINE))
    own = "".join(f"#define {name} {prefix}{name}\n" for name in sorted(names))
    end = "".join(f"#undef {name}\n" for name in sorted(names | macros))
    return own + text + end


def reports(executable: Path, number: int, seed: int) -> bool:
    """Whether the sanitizer finds a violation in this program under the random schedule of this seed."""
    options = f"schedule=random:seed={seed}:quiet=1:json=/dev/stdout"
    done = subprocess.run(
        [executable, str(number)],
        env={"FENCEPOST_OPTIONS": options},
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert b'"event":"end"' in done.stdout, (done.returncode, done.stdout, done.stderr)
    return b'"event":"finding"' in done.stdout


def disagreement(executable: Path, number: int, case: Case) -> str:
    """What is wrong, if anything."""
    if case.robust:
        for seed in range(1, RUNS_OF_A_ROBUST_PROGRAM + 1):
            if reports(executable, number, seed):
                return f"robust, but reported under seed {seed}"
    elif not any(reports(executable, number, seed) for seed in range(1, MOST_RUNS + 1)):
        return "not robust, but never reported"
    return ""


def check(shell: Shell, first_seed: int) -> None:
    stream = cases(iter(range(first_seed, first_seed + 100 * PROGRAMS_IN_A_FILE)))
    chosen = [next(stream) for _ in range(PROGRAMS_IN_A_FILE)]
    assert {case.robust for case in chosen} == {True, False}
    options = ("--mode", "atomics", "-std=gnu11", "-O1")
    executable = in_one_executable(shell, [case.text for case in chosen], *options)
    for number, case in enumerate(chosen):
        wrong = disagreement(executable, number, case)
        assert not wrong, f"seed {case.seed}: {wrong}\n{write(case.program)}"


@with_each_compiler
def test_the_sanitizer_reports_iff_the_program_is_not_robust(tmp_path: Path, toolchain: Toolchain) -> None:
    check(Shell(tmp_path, toolchain), first_seed=0)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(1, 21))
def test_the_sanitizer_reports_iff_two_thousand_programs_are_not_robust(tmp_path: Path, part: int) -> None:
    check(Shell(tmp_path, INSTALLED[part % len(INSTALLED)]), first_seed=part * 10_000)


# The same with loops in place of `fp_wait`. The sanitizer has to know them, though they can end in their
# first round: what one of the runs sees of a loop holds in all. Where no run has gone round, it may report.
LOOPS = """#include <fencepost.h>
#undef fp_wait
#define fp_wait(x, v, order) ({ while (atomic_load_explicit(x, order) != (v)) { } (v); })
"""
RUNS_WITH_LOOPS = "40"


def with_loops(shell: Shell, first_seed: int, programs: int) -> int:
    """How many robust programs were reported because no run has seen the loop go round."""
    stream = cases(iter(range(first_seed, first_seed + 1000 * programs)))
    chosen = [case for case in stream if "fp_wait(" in case.text][:programs]
    texts = [case.text.replace("#include <fencepost.h>\n", LOOPS) for case in chosen]
    executable, alarms = in_one_executable(shell, texts, "--mode", "atomics", "-std=gnu11", "-O1"), 0
    command = ("fencepost", "run", "--json", "--max-steps", "2000", "--schedule", "random", "--runs")
    for number, case in enumerate(chosen):
        answer = json.loads(shell.run(*command, RUNS_WITH_LOOPS, executable, str(number)).stdout)
        if case.robust:
            alarms += bool(answer["findings"])
            for one in answer["findings"]:
                assert one["access"]["what"] == "load", (case.seed, one)
        elif not answer["findings"]:
            more = shell.run(*command, str(MOST_RUNS), executable, str(number)).stdout
            assert json.loads(more)["findings"], f"seed {case.seed}\n{write(case.program)}"
    return alarms


def test_loops_that_wait_hide_nothing(tmp_path: Path) -> None:
    assert with_loops(Shell(tmp_path), 3_000_000, 5) == 0


@pytest.mark.slow
@pytest.mark.parametrize("part", range(10))
def test_loops_that_wait_hide_nothing_in_many_programs(tmp_path: Path, part: int) -> None:
    assert with_loops(Shell(tmp_path), 4_000_000 + part * 100_000, 100) <= 5
