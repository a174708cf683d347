"""One search that the workers of a cluster share: the same verdict, and nothing lost with a worker."""

import os
import signal
from pathlib import Path
from threading import Thread

import dask
import pytest
from distributed import LocalCluster

from fencepost.batch.jobs import Job, Question, Where, run_job, run_jobs
from fencepost.engine.search import Limits, Tactics
from fencepost.verdicts import Robust, Unknown
from tests.batch.test_cluster import ALLOWED_FAILURES, busy_worker, until
from tests.interrupting import ENDLESS

RACY = """
max_value 2;
global y;
na x;
fn a { y.store(1, rel); x.nastore(1); }
fn b { x.nastore(2); }
"""
ROCKER = Path(__file__).parents[2] / "examples" / "rocker"


@pytest.fixture
def cluster():
    """Three workers, one of which a test may kill."""
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": ALLOWED_FAILURES}),
        LocalCluster(n_workers=3, threads_per_worker=1, dashboard_address=":0") as started,
    ):
        yield started


def ask(cluster, path, **how):
    job = Job(str(path), Question(), **how)
    (outcome,) = run_jobs([job], Where(cluster=cluster.scheduler_address), None)
    return outcome.answer


def test_the_verdict_is_that_of_one_search(cluster, tmp_path):
    racy = tmp_path / "racy.tpl"
    racy.write_text(RACY)
    for path in (ROCKER / "ticketlock.tpl", ROCKER / "lamport2-ra.tpl", ROCKER / "dekker-sc.tpl", racy):
        for order in ("auto", "by-location"):
            alone = run_job(Job(str(path), Question(), order=order)).answer
            together = ask(cluster, path, order=order)
            assert type(together) is type(alone), (path, order)
            assert (together.race is None) == (alone.race is None), (path, order)


def test_a_worker_that_dies_takes_nothing_with_it(cluster):
    killer = Thread(target=lambda: os.kill(until(lambda: busy_worker(cluster)), signal.SIGKILL))
    killer.start()
    slowly = Tactics(partial_order=False, symmetry=False)
    answer = ask(cluster, ROCKER / "chase-lev-ra.tpl", order="by-location", tactics=slowly)
    killer.join()
    assert isinstance(answer, Robust)
    assert answer.exhaustive


def test_what_a_worker_cannot_decide_is_undecided(cluster, tmp_path):
    program = tmp_path / "endless.tpl"
    program.write_text(ENDLESS)
    answer = ask(cluster, program, limits=Limits(states=20_000))
    assert isinstance(answer, Unknown)
    assert answer.why == "the limit of 20,000 states was reached"
