"""Batches on a Dask cluster of two worker processes: the same answers, each once, whatever is lost."""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

import dask
import pytest
from click.testing import CliRunner
from distributed import Client, LocalCluster

from fencepost.batch import cluster as on_cluster
from fencepost.batch.jobs import Job, Question, Where, run_jobs
from fencepost.cli.main import main
from fencepost.engine.search import EVERY_STATE, Limits
from fencepost.verdicts import Unknown
from tests.interrupting import ENDLESS, HEED_CONTROL_C, answer_within

EXAMPLES = Path(__file__).parents[2] / "examples"
TYPO = "global x;\nfn t { x.stor(1); }\n"
ALLOWED_FAILURES = 1


@contextmanager
def two_workers():
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": ALLOWED_FAILURES}),
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as started,
    ):
        yield started


@pytest.fixture(scope="module")
def cluster():
    with two_workers() as started:
        yield started


@pytest.fixture
def own_cluster():
    """For one test, which may harm it."""
    with two_workers() as started:
        yield started


def fencepost(*arguments):
    return CliRunner().invoke(main, [str(a) for a in arguments], catch_exceptions=False)


def without_times(text):
    answers = [json.loads(line) for line in text.splitlines()]
    for answer in answers:
        answer["stats"].pop("seconds")
    return answers


def job(path, **limits):
    return Job(str(path), Question(), Limits(**limits), "depth-first", EVERY_STATE)


class Watching:
    """A display that counts the outcomes, and does something at the first."""

    def __init__(self, at_first):
        self.outcomes = 0
        self._at_first = at_first

    def searching(self, progress):
        pass

    def finished(self, done):
        self.outcomes += 1
        if self.outcomes == 1:
            self._at_first()

    def close(self):
        pass


def busy_worker(cluster):
    """The pid of a worker that has something to do."""
    scheduler = cluster.scheduler
    for address, state in list(scheduler.workers.items()):
        if state.processing:
            return next((n.pid for n in cluster.workers.values() if n.worker_address == address), None)
    return None


def until(condition, seconds=60):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.05)
    raise AssertionError("it did not happen")


def test_the_answers_are_those_of_this_machine(cluster, tmp_path, monkeypatch):
    """The workers were started elsewhere and do not find these files."""
    monkeypatch.chdir(tmp_path)
    for name in ("peterson-ra", "peterson-sc", "dekker-tso"):
        Path(f"{name}.tpl").write_bytes((EXAMPLES / "rocker" / f"{name}.tpl").read_bytes())
    files = sorted(str(path) for path in Path().glob("*.tpl"))
    here = fencepost("robust", "--json", "-j", 1, *files)
    there = fencepost("robust", "--json", "--cluster", cluster.scheduler_address, *files)
    assert there.exit_code == here.exit_code == 1
    assert without_times(there.stdout) == without_times(here.stdout)


def test_mistakes_are_those_of_this_machine(cluster, tmp_path):
    wrong = tmp_path / "typo.tpl"
    wrong.write_text(TYPO)
    files = [wrong, tmp_path / "missing.tpl", tmp_path / "strange.xyz", EXAMPLES / "tutorial" / "sb.tpl"]
    here = fencepost("robust", "-q", "-j", 1, *files)
    there = fencepost("robust", "-q", "--cluster", cluster.scheduler_address, *files)
    assert there.exit_code == here.exit_code == 2
    assert (there.stdout, there.stderr) == (here.stdout, here.stderr)


def test_bench_asks_the_cluster(cluster):
    done = fencepost(
        "bench", "--check-expected", "--cluster", cluster.scheduler_address, EXAMPLES / "tutorial" / "sb.tpl"
    )
    assert done.exit_code == 0
    assert " 0 different, 0 undecided" in done.stdout


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_when_a_worker_is_lost_half_way_every_answer_comes_once(own_cluster, how):
    files = [EXAMPLES / "tutorial" / "sb.tpl", *[EXAMPLES / "rocker" / "chase-lev-ra.tpl"] * 5]
    jobs = [job(path, states=300_000 + number) for number, path in enumerate(files)]

    def lose_a_worker():
        os.kill(until(lambda: busy_worker(own_cluster)), how)

    display = Watching(lose_a_worker)
    outcomes = run_jobs(jobs, Where(cluster=own_cluster.scheduler_address), display)
    assert display.outcomes == len(jobs)
    assert [outcome.file for outcome in outcomes] == [str(path) for path in files]
    whys = [outcome.answer.why for outcome in outcomes[1:]]
    assert whys == [f"the limit of {300_000 + n:,} states was reached" for n in range(1, 6)]


def test_a_job_that_takes_down_its_workers_is_undecided(own_cluster, tmp_path):
    endless = tmp_path / "endless.tpl"
    endless.write_text(ENDLESS)
    lost = []

    def lose_workers():
        while len(lost) <= ALLOWED_FAILURES:
            pid = until(lambda: busy_worker(own_cluster))
            if pid not in lost:
                os.kill(pid, signal.SIGKILL)
                lost.append(pid)

    killer = Thread(target=lose_workers)
    killer.start()
    (outcome,) = run_jobs([job(endless)], Where(cluster=own_cluster.scheduler_address), None)
    killer.join()
    assert isinstance(outcome.answer, Unknown)
    assert outcome.answer.why == "2 workers of the cluster were lost while they did this job"
    assert not outcome.answer.interrupted


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_nobody_works_for_one_who_is_gone(own_cluster, tmp_path, how):
    """After Ctrl-C, and when the machine that asked is lost."""
    endless = tmp_path / "endless.tpl"
    endless.write_text(ENDLESS)
    arguments = ["robust", "--json", "--cluster", own_cluster.scheduler_address, str(endless), str(endless)]
    start = f"{HEED_CONTROL_C}; from fencepost.cli.main import main; main({arguments!r})"
    asking = subprocess.Popen([sys.executable, "-c", start], stdout=subprocess.PIPE, encoding="utf-8")
    try:
        with Client(own_cluster, set_as_default=False) as client:

            def busy():
                return sum(client.run(lambda dask_worker: dask_worker.state.executing_count).values())

            until(lambda: busy() == 2)
            asking.send_signal(how)
            printed = answer_within(asking, 60)
            until(lambda: busy() == 0)
    finally:
        asking.kill()
    if how == signal.SIGINT:
        assert asking.returncode == 3
        assert [json.loads(line)["interrupted"] for line in printed.splitlines()] == [True, True]


def test_when_the_scheduler_is_lost_what_is_left_is_undecided(tmp_path):
    """With a cluster as the pages start it."""
    endless = tmp_path / "endless.tpl"
    endless.write_text(ENDLESS)
    found = tmp_path / "scheduler.json"

    def dask_command(name, *arguments):
        command = [
            sys.executable,
            "-m",
            f"distributed.cli.dask_{name}",
            "--scheduler-file",
            found,
            *arguments,
        ]
        return subprocess.Popen(command, stderr=subprocess.DEVNULL)

    scheduler = dask_command("scheduler", "--port", "0", "--dashboard-address", ":0")
    worker = dask_command("worker", "--nthreads", "1")
    try:
        until(found.exists)
        address = until(lambda: found.read_text() and json.loads(found.read_text()))["address"]
        arguments = ["robust", "--cluster", address, str(endless)]
        start = f"from fencepost.cli.main import main; main({arguments!r})"
        asking = subprocess.Popen(
            [sys.executable, "-c", start], stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8"
        )
        with Client(address, set_as_default=False) as client:
            until(lambda: any(client.processing().values()))
        scheduler.kill()
        printed, complaints = asking.communicate(timeout=90)
    finally:
        for process in (worker, scheduler):
            process.terminate()
            process.wait(30)
    assert asking.returncode == 3
    assert "Not decided: the connection to the cluster was lost" in printed
    assert complaints == ""


class TestWrongUsage:
    @pytest.mark.parametrize("address", ["127.0.0.1:1", "nonsense", "what://is.this:1"])
    def test_no_cluster_there(self, monkeypatch, address):
        monkeypatch.setattr(on_cluster, "CONNECT_SECONDS", 0.5)
        done = fencepost("robust", "--cluster", address, EXAMPLES / "tutorial" / "sb.tpl")
        assert (done.exit_code, done.stdout) == (2, "")
        assert done.stderr.startswith(f"there is no Dask cluster at {address}: ")
        assert done.stderr.count("\n") == 1

    def test_no_worker_there(self, monkeypatch):
        monkeypatch.setattr(on_cluster, "CONNECT_SECONDS", 2)
        with LocalCluster(n_workers=0, dashboard_address=":0") as empty:
            done = fencepost("robust", "--cluster", empty.scheduler_address, EXAMPLES / "tutorial" / "sb.tpl")
            assert done.exit_code == 2
            assert f"has no worker; start some: dask worker {empty.scheduler_address}" in done.stderr

    def test_dask_is_missing(self):
        start = (
            "import sys; sys.modules['distributed'] = None; from fencepost.cli.main import main; "
            f"main(['robust', '--cluster', 'x:1', {str(EXAMPLES / 'tutorial' / 'sb.tpl')!r}])"
        )
        done = subprocess.run([sys.executable, "-c", start], capture_output=True, text=True, check=False)
        assert done.returncode == 2
        assert done.stderr == "a cluster needs Dask: pip install 'distributed>=2025.1'\n"

    def test_workers_have_another_version(self, cluster, monkeypatch):
        monkeypatch.setattr(on_cluster, "_OURS", (("fencepost", "99.1"), *on_cluster._OURS[1:]))
        done = fencepost("robust", "--cluster", cluster.scheduler_address, EXAMPLES / "tutorial" / "sb.tpl")
        assert done.exit_code == 2
        assert "and this machine has 99.1; install the same version on both" in done.stderr

    def test_processes_are_those_of_this_machine(self):
        done = fencepost("robust", "-j", 2, "--cluster", "x:1", EXAMPLES / "tutorial" / "sb.tpl")
        assert done.exit_code == 2
        assert "leave it out with --cluster" in done.stderr

    def test_certificates_are_written_here(self, tmp_path):
        done = fencepost(
            "verify", "--certificate", tmp_path / "c", "--cluster", "x:1", EXAMPLES / "tutorial" / "sb.tpl"
        )
        assert done.exit_code == 2
        assert "leave out --cluster" in done.stderr


def test_a_cluster_without_workers_is_given_up(tmp_path, monkeypatch):
    monkeypatch.setattr(on_cluster, "WORKERS_SECONDS", 1)
    endless = tmp_path / "endless.tpl"
    endless.write_text(ENDLESS)
    with LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=":0") as small:
        jobs = [job(EXAMPLES / "tutorial" / "sb.tpl"), job(endless)]
        where = Where(cluster=small.scheduler_address)
        first, second = run_jobs(jobs, where, Watching(lambda: small.scale(0)))
    assert first.answer.verdict == "not-robust"
    assert second.answer.why == "the cluster has had no worker for 1 s"
