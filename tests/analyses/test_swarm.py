"""A swarm finds what one search of the same size does not, and never says that there is nothing."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from fencepost.analyses.robustness import robust
from fencepost.analyses.swarm import summed, variation
from fencepost.cli.main import main
from fencepost.engine.search import Limits
from fencepost.formats import load
from fencepost.models.witnesses import replay
from fencepost.verdicts import NotRobust, Stats, Unknown
from fencepost.verdicts.union import decode
from tests.interrupting import HEED_CONTROL_C, answer_within

EXAMPLES = Path(__file__).parents[2] / "examples"
NEEDLE = EXAMPLES / "large" / "needle.tpl"
ROBUST = EXAMPLES / "rocker" / "peterson-ra.tpl"
ORDERS = ["auto", "breadth-first", "depth-first", "largest-first"]
RUNS, STATES = 10, 5_000


def swarm(*arguments):
    return CliRunner().invoke(main, ["swarm", *map(str, arguments)], catch_exceptions=False)


def answer_of(done):
    return decode(done.stdout)


@pytest.mark.parametrize("order", ORDERS)
def test_one_search_with_as_many_states_does_not_find_the_needle(order):
    assert robust(load(NEEDLE), order=order, limits=Limits(states=RUNS * STATES)).verdict == "unknown"


@pytest.mark.parametrize("model", ["ra", "rc20"])
@pytest.mark.parametrize("jobs", [1, 2])
def test_the_needle_is_found_and_its_run_replays(model, jobs):
    done = swarm(NEEDLE, "--model", model, "--runs", RUNS, "--max-states", STATES, "-j", jobs, "--json")
    answer = answer_of(done)
    assert done.exit_code == 1
    assert isinstance(answer, NotRobust)
    replay(load(NEEDLE), answer.witness, model)
    assert answer.stats.states == sum(run.stats.states for run in answer.swarm.runs) <= RUNS * STATES
    assert [run.run for run in answer.swarm.runs if run.why is None]


def test_a_robust_program_is_unknown_to_a_swarm():
    done = swarm(ROBUST, "--runs", 4, "--json")
    answer = answer_of(done)
    assert done.exit_code == 3
    assert isinstance(answer, Unknown)
    assert answer.why == "4 runs found no violation, but a swarm can miss states"
    assert not answer.exhaustive
    assert [run.run for run in answer.swarm.runs] == [1, 2, 3, 4]
    assert all(0 < run.stats.bits_used < 0.01 for run in answer.swarm.runs)


def without_times(answer):
    answer = json.loads(answer)
    for stats in [answer["stats"], *(run["stats"] for run in answer["swarm"]["runs"])]:
        stats.pop("seconds")
    return answer


def test_the_seed_decides():
    one, again, other = (
        swarm(ROBUST, "--runs", 3, "--max-states", 300, "--seed", seed, "-j", jobs, "--json").stdout
        for seed, jobs in ((1, 1), (1, 2), (2, 1))
    )
    assert without_times(one) == without_times(again)
    assert without_times(one)["swarm"]["runs"] != without_times(other)["swarm"]["runs"]


def test_the_run_that_found_it_can_be_done_again_alone():
    limits = ("--max-states", STATES, "-j", 1)
    answer = answer_of(swarm(NEEDLE, "--runs", RUNS, "--seed", 5, *limits, "--json"))
    found = answer.swarm.runs[-1]
    again = answer_of(swarm(NEEDLE, "--runs", 1, "--first-run", found.run, "--seed", 5, *limits, "--json"))
    assert found.why is None
    assert again.witness == answer.witness
    assert again.stats.states == found.stats.states


def test_runs_differ():
    varied = [variation(1, run) for run in range(1, 101)]
    assert len({each.seed for each in varied}) == 100
    assert {each.bits_per_state for each in varied} == {2, 3, 4}
    assert {None, 64, 1024} <= {each.deepest for each in varied}


def test_of_several_runs_that_find_something_the_lowest_counts():
    nothing = Unknown(file="f", question="robust", model="ra", stats=Stats(states=1), why="states")
    found = [robust(load(EXAMPLES / "tutorial" / f"{name}.tpl")) for name in ("sb", "peterson")]
    together = summed([nothing, *found, nothing], seed=1, first_run=7)
    assert together.witness == found[0].witness
    assert [run.run for run in together.swarm.runs] == [7, 8, 9, 10]


def test_a_race_is_told_although_the_verdict_is_open():
    done = swarm(EXAMPLES / "tutorial" / "publish-early.tpl", "--runs", 2)
    assert done.exit_code == 1
    assert "unknown under ra, with a data race and a failing assertion" in done.stdout


def test_a_mistake_in_the_program_is_told_once(tmp_path):
    wrong = tmp_path / "wrong.tpl"
    wrong.write_text("global x;\nfn t { x.stor(1); }\n")
    done = swarm(wrong, "--runs", 8, "-j", 2)
    assert done.exit_code == 2
    assert done.stderr.startswith(f"{wrong}:2:10: there is no access `stor`")
    assert done.stderr.count("\n") == 3


COUNTERS = """max_value 1000; global x, y, z;
fn p[3] { local r; while (1) { oneof({ r = FADD(x, 1); } { r = FADD(y, 1); } { r = FADD(z, 1); }); } }
"""


def test_ctrl_c_ends_a_swarm_and_what_was_seen_is_told(tmp_path):
    large = tmp_path / "counters.tpl"
    large.write_text(COUNTERS)
    script = f"{HEED_CONTROL_C}; from fencepost.cli.main import main; main()"
    limits = ["--max-states", "1000000000", "-j", "2"]
    command = [sys.executable, "-c", script, "swarm", "--json", *limits, str(large)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, env=environment, start_new_session=True
    ) as process:
        time.sleep(3)
        os.killpg(process.pid, signal.SIGINT)
        answer = decode(answer_within(process, 60))
    assert process.returncode == 3
    assert answer.interrupted
    assert answer.stats.states > 0
