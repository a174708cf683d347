"""The programs of Table 1 of persist-2015: all 35, with its numbers of threads and of fences."""

from __future__ import annotations

import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

import fencepost
from fencepost.formats.automata import read
from fencepost.formats.headers import expectations
from fencepost.models.sc import sc_states
from fencepost.models.threads import ProgramLts

FOLDER = Path(__file__).parents[2] / "examples" / "tso"

# Program: threads, fences.
TABLE_1 = {
    "simdekker": (4, 4),
    "dekker": (4, 8),
    "peterson": (4, 4),
    "lambak3": (3, 6),
    "lambak4": (4, 8),
    "dijkstra": (4, 8),
    "dc-lock": (6, 0),
    "spinlock": (2, 0),
    "tspinlock": (2, 0),
    "inlinepgsql": (8, 0),
    "burns": (5, 9),
    "szymanski2": (2, 8),
    "szymanski4": (4, 16),
    "lamfast2-2": (2, 8),
    "lamfast2-3": (3, 12),
    "clhlock": (4, 4),
    "parker": (6, 1),
    "pgsql": (6, 7),
    "alternatingbit": (2, 4),
    "incsequence": (6, 0),
    "taskschedule": (10, 0),
    "nbw-w-wr": (2, 0),
    "nbw-w-5r": (6, 0),
    "seqlock": (4, 0),
    "write+r": (5, 0),
    "r+detour": (5, 0),
    "r+detours": (5, 0),
    "write+r+co": (6, 0),
    "sb+detours": (6, 2),
    "sb+detour+co": (6, 0),
    "cilk-wsq": (2, 2),
    "cl-wsq": (2, 1),
    "fifo-iwsq": (2, 1),
    "lifo-iwsq": (2, 1),
    "anchor-iwsq": (2, 1),
}

# Families with a critical section `cs`, and small programs with places `wrong`.
EXCLUSIVE = [
    "simdekker",
    "dekker",
    "peterson",
    "lambak",
    "dijkstra",
    "burns",
    "szymanski",
    "lamfast2",
    "clhlock",
]
GUARDED = [
    *(
        ("spinlock", 3),
        ("tspinlock", 3),
        ("dc-lock", 3),
        ("seqlock", 3),
        ("nbw-w-readers", 2),
        ("nbw-w-wr", 2),
    ),
    *(
        ("incsequence", 3),
        ("cilk-wsq", 2),
        ("cl-wsq", 2),
        ("fifo-iwsq", 2),
        ("lifo-iwsq", 2),
        ("anchor-iwsq", 2),
    ),
]


def generated(*arguments: str) -> subprocess.CompletedProcess[str]:
    script = str(FOLDER / "generate.py")
    return subprocess.run([sys.executable, script, *arguments], capture_output=True, text=True, check=False)


@cache
def member(name: str, threads: int, *flags: str) -> str:
    return generated(name, str(threads), *flags).stdout


def text_of(name: str) -> str:
    return (FOLDER / f"{name}.aut").read_text(encoding="utf-8")


def test_all_programs_of_the_table_are_there_and_no_other() -> None:
    assert {file.stem for file in FOLDER.glob("*.aut")} == set(TABLE_1)


def test_the_files_are_as_the_script_writes_them() -> None:
    result = generated("--check")
    assert (result.returncode, result.stdout) == (0, "")


@pytest.mark.parametrize(
    "arguments", [("dekker",), ("dekker", "1"), ("cilk-wsq", "3"), ("nonesuch", "2"), ("dekker", "x")]
)
def test_the_script_explains_what_it_cannot_write(arguments: tuple[str, ...]) -> None:
    result = generated(*arguments)
    assert result.returncode == 2
    assert result.stdout == ""
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize("name", TABLE_1)
def test_the_header_states_what_the_table_does(name: str) -> None:
    threads, fences = TABLE_1[name]
    assert len(fencepost.load(FOLDER / f"{name}.aut").threads) == threads
    assert re.findall(r"^# fences: (\d+)$", text_of(name), re.MULTILINE) == [str(fences)]
    stated = expectations(text_of(name))
    assert stated["persistent", "tso"] is (fences == 0)
    assert ("robust", "tso") in stated


@pytest.mark.parametrize("name", TABLE_1)
def test_values_and_addresses_are_bounded(name: str) -> None:
    assert fencepost.load(FOLDER / f"{name}.aut").warnings == ()


@pytest.mark.parametrize("name", TABLE_1)
def test_the_least_number_of_fences_is_that_of_the_table(name: str) -> None:
    answer = fencepost.fix(fencepost.load(FOLDER / f"{name}.aut"), model="tso", criterion="persistent")
    assert answer.holds
    assert answer.edits is not None
    assert len(answer.edits) == TABLE_1[name][1]


@pytest.mark.parametrize("name", TABLE_1)
def test_the_engine_finds_what_the_header_states(name: str) -> None:
    program = fencepost.load(FOLDER / f"{name}.aut")
    stated = expectations(text_of(name))
    assert fencepost.persist(program).holds is stated["persistent", "tso"]
    assert fencepost.robust(program, "tso").holds is stated["robust", "tso"]


@pytest.mark.parametrize("name", [*EXCLUSIVE, "pgsql"])
@pytest.mark.parametrize("threads", [2, 3])
def test_a_family_is_persistent_with_its_fences_and_fragile_without(name: str, threads: int) -> None:
    fenced = member(name, threads, "--fenced")
    assert "mfence" in fenced
    assert fencepost.persist(read(fenced, name)).holds
    assert not fencepost.persist(read(member(name, threads), name)).holds


@pytest.mark.parametrize("name", EXCLUSIVE)
@pytest.mark.parametrize("threads", [2, 3])
def test_one_thread_at_a_time_is_in_the_critical_section(name: str, threads: int) -> None:
    text = member(name, threads)
    critical = {
        number for number, line in enumerate(text.split("\n"), 1) if re.match(r" +transition cs[_ ]", line)
    }
    program = read(text, name)
    most = 0
    for state in sc_states(ProgramLts(program)):
        lines = [t.code[at.pc].at.line for t, at in zip(program.threads, state.threads, strict=True)]
        most = max(most, sum(line in critical for line in lines))
    assert most == 1


@pytest.mark.parametrize(("name", "threads"), GUARDED)
def test_no_run_under_sc_goes_wrong(name: str, threads: int) -> None:
    text, alarm = with_alarm(member(name, threads))
    assert f"transition wrong end write 1 {alarm}" in text
    assert all(state.memory[alarm] == 0 for state in sc_states(ProgramLts(read(text, name))))


def test_a_lock_that_does_not_wait_goes_wrong() -> None:
    broken = re.sub("check == seen 0", "noop", member("spinlock", 2))
    text, alarm = with_alarm(broken)
    assert any(state.memory[alarm] == 1 for state in sc_states(ProgramLts(read(text, "broken"))))


def with_alarm(text: str) -> tuple[str, int]:
    """The program with one more cell, to which a thread writes that comes to `wrong`, and its address."""
    size = re.findall(r"^memory_size (\d+)$", text, re.MULTILINE)[0]

    def alarmed(thread: re.Match[str]) -> str:
        alarm = f"    transition wrong end write 1 {size}\n" if " wrong " in thread[0] else ""
        return thread[0].removesuffix("end") + alarm + "end"

    text = text.replace(f"memory_size {size}", f"memory_size {int(size) + 1}")
    return re.sub(r"^thread .*?^end$", alarmed, text, flags=re.DOTALL | re.MULTILINE), int(size)
