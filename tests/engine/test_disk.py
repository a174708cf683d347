"""States in files: every answer is that of the stores in memory, no matter how little memory there is."""

import resource
import subprocess
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from fencepost.analyses.robustness import robust
from fencepost.engine._native import Outcome
from fencepost.engine.search import EVERY_STATE, REDUCED, Limits, explore
from fencepost.formats import load
from fencepost.models.witnesses import replay
from fencepost.verdicts import NotRobust, Robust, Unknown
from tests.engine.test_reductions import looping_program
from tests.engine.test_stores import LATE, summary

ROCKER = Path(__file__).parents[2] / "examples" / "rocker"
EXACT = replace(REDUCED, subsumption=False)


def findings(result):
    """What is the same in memory and on disk: without a violation all, else the run to it, since on disk a
    layer is searched before the next one is counted."""
    everything = summary(result)
    return everything if result.outcome == Outcome.COMPLETE else (everything[0], everything[3])


@pytest.mark.parametrize("model", ["ra", "rc20", "cpp20"])
def test_random_programs_are_answered_as_in_memory(model, tmp_path):
    written = 0
    for seed in range(200):
        program = looping_program(seed, model)
        tactics = EXACT if seed % 2 else EVERY_STATE
        expected = explore(program, model, Limits(), tactics=tactics)
        # So little that a layer comes in many files, and more where that is not enough.
        for memory_mb in (0.002, 0.02, 0.2):
            on_disk = replace(tactics, directory=str(tmp_path))
            result = explore(program, model, Limits(memory_mb=memory_mb), tactics=on_disk)
            if result.outcome != Outcome.MEMORY_LIMIT:
                break
        assert findings(result) == findings(expected), seed
        written += result.disk_bytes > 0
    assert written > 30
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["rcu", "ticketlock4", "lamport2-tso", "peterson-ra-bratosz", "seqlock"])
def test_programs_of_the_paper_are_answered_as_in_memory(name, tmp_path):
    program = load(ROCKER / f"{name}.tpl")
    expected = explore(program, "ra", Limits(), tactics=EXACT)
    result = explore(program, "ra", Limits(memory_mb=2), tactics=replace(EXACT, directory=str(tmp_path)))
    assert findings(result) == findings(expected)
    assert result.peak_bytes < 2 << 20


def test_a_witness_replays(tmp_path):
    answer = robust(LATE, order="breadth-first", tactics=replace(REDUCED, directory=str(tmp_path)))
    assert isinstance(answer, NotRobust)
    replay(LATE, answer.witness, "ra")


def test_auto_goes_over_to_files(tmp_path):
    answer = robust(load(ROCKER / "rcu.tpl"), tactics=replace(REDUCED, directory=str(tmp_path)))
    assert isinstance(answer, Robust)
    assert answer.stats.disk_mb > 0


@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        (Limits(states=20_000), "limit of 20,000 states"),
        (Limits(seconds=0.1), "time limit of 0.1 s"),
        (Limits(memory_mb=0.05), "memory limit"),
    ],
)
def test_a_limit_reached_is_unknown(limits, reason, tmp_path):
    program = load(ROCKER / "chase-lev-ra.tpl")
    tactics = replace(EVERY_STATE, directory=str(tmp_path))
    answer = robust(program, limits=limits, order="breadth-first", tactics=tactics)
    assert isinstance(answer, Unknown)
    assert reason in answer.why
    assert not list(tmp_path.iterdir())


def test_the_watcher_can_stop_it(tmp_path):
    tactics = replace(EVERY_STATE, directory=str(tmp_path))
    program = load(ROCKER / "chase-lev-ra.tpl")
    answer = robust(program, order="breadth-first", tactics=tactics, watcher=lambda _: True)
    assert isinstance(answer, Unknown)
    assert answer.interrupted
    assert not list(tmp_path.iterdir())


def test_only_breadth_first_goes_with_files(tmp_path):
    with pytest.raises(ValueError, match="breadth-first, not depth-first"):
        robust(LATE, order="depth-first", tactics=replace(REDUCED, directory=str(tmp_path)))


def with_small_files(*arguments):
    limit = 200_000

    def small_files():
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    command = (Path(sys.executable).with_name("fencepost"), "robust", *arguments)
    return subprocess.run(command, capture_output=True, text=True, check=False, preexec_fn=small_files)


def test_a_full_disk_is_unknown(tmp_path):
    program = ROCKER / "chase-lev-ra.tpl"
    done = with_small_files("--store", tmp_path, "--max-memory", "4", program)
    assert done.returncode == 3, done.stderr
    words = " ".join(done.stdout.split())
    assert f"cannot write to {tmp_path}: File too large; the search stopped after" in words
    assert not list(tmp_path.iterdir())


def test_a_directory_that_goes_away_is_unknown(tmp_path):
    tactics = replace(REDUCED, directory=str(tmp_path / "gone"))
    answer = robust(load(ROCKER / "rcu.tpl"), tactics=tactics)
    assert isinstance(answer, Unknown)
    assert "gone: No such file or directory" in answer.why
