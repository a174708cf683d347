"""Spin, searching what is written for it to the end, finds what fencepost finds, in the same states."""

from __future__ import annotations

import random
import re
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest

from fencepost.analyses.robustness import robust
from fencepost.engine.search import EVERY_STATE, Limits, explore
from fencepost.errors import InputError
from fencepost.formats import load, tpl, write
from fencepost.program import Program
from tests.strategies import random_program

EXAMPLES = Path(__file__).parents[3] / "examples"
LITMUS = sorted(EXAMPLES.glob("litmus/*.tpl"))
ROCKER = sorted(EXAMPLES.glob("rocker/*.tpl"))
TAKEN = "init, now, run, len, double, BASE, C_t, VSC_run, robust, stale, ended, at_0, _pid, trpt, t, II, x_t"

pytestmark = pytest.mark.skipif(
    shutil.which("spin") is None or shutil.which("gcc") is None, reason="spin and gcc are needed"
)


class Verified(NamedTuple):
    """The texts of the assertions that fail and of other errors, and the number of states."""

    errors: set[str]
    states: int

    def findings(self) -> set[str]:
        return {error if error in ("robust", "race_free") else "assertion" for error in self.errors}


def verify(text: str, directory: Path, optimise: str = "-O0") -> Verified:
    """All that an exact search finds; it does not stop at an error."""

    def run(*command: str) -> str:
        done = subprocess.run(
            command, cwd=directory, capture_output=True, text=True, timeout=900, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    (directory / "program.pml").write_text(text, encoding="utf-8")
    run("spin", "-a", "program.pml")
    run("gcc", optimise, "-w", "-DSAFETY", "-DNOREDUCE", "-DNOCOMP", "-o", "pan", "pan.c")
    told = run("./pan", "-c0", "-w18", "-m1000000")
    assert "max search depth too small" not in told
    states = re.search(r"(\d+) states, stored", told)
    assert states is not None, told
    errors = re.findall(r"^pan:\d+: (?:assertion violated )?(.*) \(at depth", told, re.MULTILINE)
    return Verified(set(errors), int(states[1]))


def findings(program: Program) -> set[str]:
    """What fencepost finds, by the names that the program in Promela has for it."""
    answer = robust(program)
    found = {"robust": answer.holds is False, "race_free": answer.race, "assertion": answer.assertion}
    return {name for name, is_found in found.items() if is_found}


def assert_same_findings(program: Program, directory: Path, optimise: str = "-O0") -> set[str]:
    ours = findings(program)
    theirs = verify(write(program, "promela", monitor="ra"), directory, optimise).findings()
    if "robust" in ours:  # that is as far as fencepost looks
        ours, theirs = ours & {"robust"}, theirs & {"robust"}
    assert ours == theirs, tpl.write(program)
    return ours


@pytest.mark.parametrize("name", ["sb", "bar-wait", "bar-bcas", "sb+rmws"])
def test_litmus_tests(name: str, tmp_path: Path) -> None:
    assert_same_findings(load(EXAMPLES / "litmus" / f"{name}.tpl"), tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("path", LITMUS, ids=lambda path: path.stem)
def test_every_litmus_test(path: Path, tmp_path: Path) -> None:
    assert_same_findings(load(path), tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("path", ROCKER, ids=lambda path: path.stem)
def test_every_program_of_figure_7(path: Path, tmp_path: Path) -> None:
    assert_same_findings(load(path), tmp_path, "-O2")


@pytest.mark.parametrize("name", ["ticketlock", "peterson-ra", "spinlock4", "lamport2-ra"])
def test_the_states_are_the_same(name: str, tmp_path: Path) -> None:
    program = load(EXAMPLES / "rocker" / f"{name}.tpl")
    monitored = verify(write(program, "promela", monitor="ra"), tmp_path)
    assert monitored.states == explore(program, "ra", Limits(), tactics=EVERY_STATE).states


def test_without_monitor_only_assertions_are_checked(tmp_path: Path) -> None:
    program = tpl.read(
        """
        global x, y; na d;
        fn a { local r; x.store(1); r = y.load(); d.nastore(1); assert(r == 1); }
        fn b { local r; y.store(1); r = x.load(); d.nastore(1); }
        """
    )
    assert verify(write(program, "promela"), tmp_path).errors == {"(r==1)"}
    assert verify(write(program, "promela", monitor="ra"), tmp_path).findings() >= {"robust", "race_free"}


def test_fences_are_no_steps_without_monitor(tmp_path: Path) -> None:
    program = tpl.read("global x; fn a { x.store(1); fence; } fn b { local r; fence; r = x.load(); }")
    assert verify(write(program, "promela"), tmp_path).states == 4
    assert verify(write(program, "promela", monitor="ra"), tmp_path).states > 4


def test_names_of_spin_and_c_can_be_used(tmp_path: Path) -> None:
    steps = " ".join(f"{name}.store(1); BCAS({name}, 1, 2); r = {name}.load();" for name in TAKEN.split(", "))
    program = tpl.read(f"global {TAKEN}; fn _this {{ local r; {steps} assert(r == 2); }}")
    assert verify(write(program, "promela", monitor="ra"), tmp_path).errors == set()


def test_cells_without_readers_do_not_clash_with_variables_of_the_verifier(tmp_path: Path) -> None:
    program = tpl.read("global trpt, errors, tt; fn t { trpt.store(1); errors.store(2); tt.store(3); }")
    assert verify(write(program, "promela", monitor="ra"), tmp_path) == Verified(set(), 4)


def test_values_swapped_in_one_step(tmp_path: Path) -> None:
    program = tpl.read(
        """
        max_value 5;
        global x=1;
        fn t { local r, s, o; r = 2; s = 3; r = exchange(x, r); o = r; r = s; s = o; x.store(r * 2 - 5);
               o = x.load(); assert(o == 1 && s == 1 && r == 3); x.store(4 - r * 2); o = x.load();
               assert(o != 4); }
        """
    )
    assert verify(write(program, "promela", monitor="ra"), tmp_path).findings() == {"assertion"}
    assert findings(program) == {"assertion"}


def random_programs(first_seed: int, count: int, *, loop_free: bool) -> list[Program]:
    """Those that can be written: not all can, for they divide by anything."""
    programs = []
    for seed in range(first_seed, first_seed + count * 2):
        program = random_program(random.Random(seed), loop_free=loop_free)
        try:
            write(program, "promela", monitor="ra")
        except InputError:
            continue
        programs.append(program)
    assert len(programs) >= count
    return programs[:count]


@pytest.mark.parametrize("loop_free", [True, False])
def test_random_programs(loop_free: bool, tmp_path: Path) -> None:
    found = [assert_same_findings(p, tmp_path) for p in random_programs(0, 10, loop_free=loop_free)]
    assert set() in found
    assert {"robust"} in found


@pytest.mark.slow
@pytest.mark.parametrize("loop_free", [True, False])
@pytest.mark.parametrize("first_seed", range(10_000, 20_000, 1000))
def test_many_random_programs(first_seed: int, loop_free: bool, tmp_path: Path) -> None:
    for program in random_programs(first_seed, 30, loop_free=loop_free):
        assert_same_findings(program, tmp_path)
