"""How a finding came about, if the run that showed it no longer knew.

The run-time library remembers only the last accesses by which each thread has learned from others. A run
under a schedule can be made again with a longer memory; what it tells then takes the place of what it told
before.
"""

from __future__ import annotations

from dataclasses import replace

from fencepost.sanitizer.answer.tally import Tally
from fencepost.sanitizer.run.runs import Job, run_all

_HISTORIES = (1 << 16, 1 << 20)  # accesses of each thread; the first is enough for nearly all
_MOST_RUNS = 100


def recall(job: Job, tally: Tally) -> None:
    """Make the runs again whose findings lack something."""
    for history in _HISTORIES:
        schedules = tally.forgotten()[:_MOST_RUNS]
        if not schedules:
            return
        settings = (*job.settings, f"history={history}")
        again = replace(job, settings=settings, at_terminal=False, keep_decisions=False, learn_length=False)
        run_all(again, schedules, tally.recall)
