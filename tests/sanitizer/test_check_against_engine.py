"""`fencepost check` and the static engine say the same of a program, races included.

TPL programs become C, as by `show --to c`, many of them in one executable that takes a program's number.
All executions of each are run. A program counts if they are: one that does not end, or that has too many, is
left out.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import pytest

import fencepost
from fencepost.errors import InputError
from fencepost.formats import write
from fencepost.formats.registry import load
from fencepost.program import Program
from tests.sanitizer.building import Shell
from tests.sanitizer.test_differential import in_one_executable
from tests.strategies import random_program

CORPORA = ("tutorial", "rc20", "cpp20", "observational", "outcomes", "rocker")
MOST_EXECUTIONS = 2000


class Case(NamedTuple):
    name: str
    program: Program
    text: str  # in C


class Said(NamedTuple):
    """By the engine, or by `check`."""

    wrong: bool  # not robust, or a data race
    race: bool  # where that is what was found


def random_cases(first: int, loop_free: bool) -> Iterator[Case]:
    for seed in range(first, first + 1_000_000):
        program = random_program(
            random.Random(seed), loop_free=loop_free, threads=(2, 3), modes=True, sc_accesses=True
        )
        yield from case(f"seed {seed}", program)


def case(name: str, program: Program) -> Iterator[Case]:
    """Nothing if it has no form in C, as one that wraps around where C cannot."""
    try:
        yield Case(name, program, write(program, "c"))
    except InputError:
        return


def corpora() -> Iterator[Case]:
    examples = Path(__file__).parents[2] / "examples"
    for folder in CORPORA:
        for path in sorted((examples / folder).glob("*.tpl")):
            yield from case(f"{folder}/{path.name}", load(path))


def by_the_engine(program: Program) -> Said | None:
    answer = fencepost.robust(program, model="cpp20", limits=fencepost.Limits(states=200_000))
    if isinstance(answer, fencepost.Unknown):
        return None
    return Said(not isinstance(answer, fencepost.Robust) or answer.race is not None, answer.race is not None)


def by_all_executions(shell: Shell, executable: Path, number: int) -> Said | None:
    events = shell.directory / "events.json"
    settings = f"schedule=explore:executions={MOST_EXECUTIONS}:seconds=5:quiet=1:exitcode=0:json={events}"
    shell.ok(executable, str(number), FENCEPOST_OPTIONS=settings)
    told = [json.loads(line) for line in events.read_text(encoding="utf-8").splitlines()]
    end = told[-1]
    if end["why"] or end["cut"]:
        return None
    kinds = {event["kind"] for event in told if event["event"] == "finding"}
    return Said(bool(kinds), "race" in kinds)


def compared(shell: Shell, cases: Iterable[Case]) -> int:
    """How many of them count."""
    count, rest = 0, iter(cases)
    while some := list(islice(rest, 50)):
        options = ("-std=gnu11", "-O0", "-w")
        executable = in_one_executable(shell, [one.text for one in some], *options)
        for number, one in enumerate(some):
            engine, executions = by_the_engine(one.program), by_all_executions(shell, executable, number)
            if engine is None or executions is None:
                continue
            count += 1
            agree = engine.wrong == executions.wrong and (executions.race or not engine.race)
            assert agree, f"{one.name}: {engine}, but {executions}\n{write(one.program)}"
    return count


def test_check_says_what_the_engine_says_of_random_programs(tmp_path: Path) -> None:
    assert compared(Shell(tmp_path), islice(random_cases(0, loop_free=True), 100)) > 90


def test_check_says_what_the_engine_says_of_programs_with_loops(tmp_path: Path) -> None:
    assert compared(Shell(tmp_path), islice(random_cases(50_000, loop_free=False), 30)) > 10


@pytest.mark.slow
def test_check_says_what_the_engine_says_of_many_random_programs(tmp_path: Path) -> None:
    assert compared(Shell(tmp_path), islice(random_cases(100_000, loop_free=True), 2000)) > 1800


@pytest.mark.slow
def test_check_says_what_the_engine_says_of_the_corpora(tmp_path: Path) -> None:
    assert compared(Shell(tmp_path), corpora()) > 50
