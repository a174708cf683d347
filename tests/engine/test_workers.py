"""One location at a time, the search does not depend on the number of workers, and ends when it should."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from fencepost.analyses.robustness import robust
from fencepost.engine.search import EVERY_STATE, REDUCED, Limits, explore
from fencepost.formats import load
from fencepost.formats.tpl import read
from fencepost.verdicts import Unknown

FIGURE_7 = sorted((Path(__file__).parents[2] / "examples" / "rocker").glob("*.tpl"))
WORKERS = [1, 2, 3, 8]

# A million states, and nine million monitors of a single topic.
TICKET_LOCK = read("""
max_value 7;
global next, serving;
fn t[6] {
    local mine, r;
    while (1) {
        mine = FADD(next, 1);
        r = serving.load();
        while (r != mine) { r = serving.load(); }
        serving.store(mine + 1);
    }
}
""")


def ticket_lock(workers, limits=None, watcher=None):
    tactics = replace(EVERY_STATE, subsumption=True, threads=workers)
    limits = limits or Limits(seconds=60)
    return robust(TICKET_LOCK, limits=limits, order="by-location", tactics=tactics, watcher=watcher)


@pytest.mark.parametrize("file", FIGURE_7, ids=lambda file: file.stem)
@pytest.mark.parametrize("tactics", [REDUCED, EVERY_STATE])
def test_states_steps_and_witness_are_those_of_one_worker(file, tactics):
    program = load(file)
    counts, answers = [], []
    for workers in WORKERS:
        with_workers = replace(tactics, threads=workers)
        result = explore(program, "ra", Limits(), "by-location", tactics=with_workers)
        counts.append((result.outcome, result.states, result.transitions))
        answer = robust(program, order="by-location", tactics=with_workers)
        answers.append((answer.verdict, getattr(answer, "witness", None)))
    assert counts[1:] == counts[:1] * 3
    assert answers[1:] == answers[:1] * 3


@pytest.mark.parametrize("workers", WORKERS)
@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        (Limits(states=10_000), "limit of 10,000 states"),
        (Limits(states=1_200_000), "limit of 1,200,000 states"),
        (Limits(seconds=0.2), "time limit of 0.2 s"),
        (Limits(memory_mb=30), "memory limit of 30 MB"),
        (Limits(memory_mb=130), "memory limit of 130 MB"),
    ],
)
def test_a_limit_is_kept_among_states_and_among_monitors(limits, reason, workers):
    answer = ticket_lock(workers, limits)
    assert isinstance(answer, Unknown)
    assert reason in answer.why


def follows_monitors(progress):
    return progress.states > 0 and progress.waiting == 0


@pytest.mark.parametrize("workers", WORKERS)
def test_the_watcher_can_stop_workers_that_follow_one_topic(workers):
    answer = ticket_lock(workers, watcher=follows_monitors)
    assert isinstance(answer, Unknown)
    assert answer.interrupted


@pytest.mark.parametrize("workers", WORKERS)
@pytest.mark.parametrize("when", [lambda progress: True, follows_monitors])
def test_an_exception_in_the_watcher_is_the_callers(workers, when):
    def fail(progress):
        if when(progress):
            raise RuntimeError("display broke")
        return False

    with pytest.raises(RuntimeError, match="display broke"):
        ticket_lock(workers, watcher=fail)
