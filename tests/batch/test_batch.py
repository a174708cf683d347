"""Batches in several processes of this machine."""

import multiprocessing
import os
import signal
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event, Thread

from fencepost.batch.jobs import Job, Question, Where, run_jobs
from fencepost.engine.search import Limits
from tests.interrupting import ENDLESS

QUICK = "global x; fn t { x.store(1); }"


@contextmanager
def killing_searches():
    """Kills each process of the batch that searches for long."""
    over = Event()

    def kill():
        while not over.wait(0.05):
            for child in multiprocessing.active_children():
                if is_searching(child.pid):
                    with suppress(ProcessLookupError):
                        os.kill(child.pid, signal.SIGKILL)

    killer = Thread(target=kill)
    killer.start()
    try:
        yield
    finally:
        over.set()
        killer.join()


def is_searching(pid):
    """Whether the process has used half a second of processor time."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
    except OSError:
        return False
    return int(fields[11]) + int(fields[12]) > os.sysconf("SC_CLK_TCK") / 2


def test_when_a_process_is_killed_no_other_answer_is_lost(tmp_path):
    endless, quick = tmp_path / "endless.tpl", tmp_path / "quick.tpl"
    endless.write_text(ENDLESS)
    quick.write_text(QUICK)
    files = [endless, quick, quick, endless, quick]
    jobs = [Job(str(file), Question(), Limits(seconds=120)) for file in files]
    with killing_searches():  # of two at a time, and then each alone
        outcomes = run_jobs(jobs, Where(processes=2), None)
    assert [outcome.file for outcome in outcomes] == [str(file) for file in files]
    verdicts = [outcome.answer.verdict for outcome in outcomes]
    assert verdicts == ["unknown", "robust", "robust", "unknown", "robust"]
    for outcome in (outcomes[0], outcomes[3]):
        assert outcome.answer.why == "the process that did this was killed, perhaps for its memory"
        assert not outcome.answer.interrupted


def test_what_is_enough_ends_the_others(tmp_path):
    endless, quick = tmp_path / "endless.tpl", tmp_path / "quick.tpl"
    endless.write_text(ENDLESS)
    quick.write_text("global x; fn t { x.store(1); }")
    files = [endless, quick, endless]
    jobs = [Job(str(file), Question()) for file in files]
    outcomes = run_jobs(jobs, Where(processes=2), None, enough=lambda outcome: outcome.answer.holds is True)
    assert [outcome.file for outcome in outcomes] == [str(file) for file in files]
    assert [outcome.answer.verdict for outcome in outcomes] == ["unknown", "robust", "unknown"]
    assert outcomes[0].answer.interrupted
    assert outcomes[2].answer.interrupted
