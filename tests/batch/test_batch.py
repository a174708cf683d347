"""Batches in several processes of this machine."""

import multiprocessing
import os
import signal
from threading import Timer

from fencepost.batch.jobs import Job, Question, Where, run_jobs
from tests.interrupting import ENDLESS


def test_when_a_process_is_killed_its_batch_is_undecided_and_says_so(tmp_path):
    endless = tmp_path / "endless.tpl"
    endless.write_text(ENDLESS)
    jobs = [Job(str(endless), Question())] * 3

    def kill_one():
        os.kill(multiprocessing.active_children()[0].pid, signal.SIGKILL)

    killer = Timer(2, kill_one)
    killer.start()
    outcomes = run_jobs(jobs, Where(processes=2), None)
    killer.join()
    whys = {outcome.answer.why for outcome in outcomes}
    assert whys == {"a process of this batch was killed, perhaps for its memory"}
    assert not any(outcome.answer.interrupted for outcome in outcomes)


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
