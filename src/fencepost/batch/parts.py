"""One search on a cluster: each worker searches a part of the topics of the program.

Topics are independent of each other (`native/engine/by_location`): the program is robust if no part shows a
violation, and not robust as soon as one does. Each worker makes the states of the program for itself, which
takes less time than to send them. Most violations are near the start, so this machine looks there first.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import add
from time import monotonic
from typing import TYPE_CHECKING

from msgspec.structs import replace

from fencepost.analyses.robustness import NEAR_STATES
from fencepost.batch.jobs import Job, Outcome, do_jobs, run_job, with_seconds
from fencepost.engine._native import StoreKind
from fencepost.errors import InputError
from fencepost.formats import load_as, text_of
from fencepost.memory_models import MODELS
from fencepost.verdicts import NotRobust, RobustnessAnswer, Unknown

if TYPE_CHECKING:
    from fencepost.batch.cluster import Cluster

_BY_LOCATION = "by-location"


def has_parts(job: Job) -> bool:
    """Whether it asks for a search that goes through one topic after the other."""
    return (
        job.question.name == "robust"
        and job.question.criterion == "robust"
        and _BY_LOCATION in MODELS[job.question.model_name].orders
        and job.order in ("auto", _BY_LOCATION)
        and job.tactics.store in (StoreKind.MAXIMAL, StoreKind.EXACT)
        and job.tactics.directory is None
    )


def run_in_parts(job: Job, cluster: Cluster) -> Outcome:
    """The outcome of the job, from all workers of the cluster together."""
    started = monotonic()
    try:
        sent = job if job.text is not None else replace(job, text=text_of(job.file))
        has_templates = bool(load_as(sent.file, sent.reading, sent.text).templates)
    except InputError as error:
        return Outcome(job.file, error=error)
    if has_templates:  # a search of its own
        (outcome,) = do_jobs([sent], cluster)
        return outcome
    if job.order == "auto":
        near = run_job(_near(sent))
        if not isinstance(near.answer, Unknown) or near.answer.interrupted:
            return near
    count = cluster.slots()
    left = replace(sent, order=_BY_LOCATION, limits=job.limits.after(monotonic() - started))
    parts = [replace(left, tactics=replace(job.tactics, part=(n, count))) for n in range(count)]
    outcomes = do_jobs(parts, cluster, enough=lambda outcome: isinstance(outcome.answer, NotRobust))
    return with_seconds(_together(outcomes), monotonic() - started)


def _near(job: Job) -> Job:
    states = NEAR_STATES if job.limits.states is None else min(NEAR_STATES, job.limits.states)
    return replace(job, order="breadth-first", limits=replace(job.limits, states=states))


def _together(outcomes: Sequence[Outcome]) -> Outcome:
    """What the outcomes of all parts say about the program."""
    for outcome in outcomes:
        if outcome.answer is None:
            return outcome
    answers = [o.answer for o in outcomes if isinstance(o.answer, RobustnessAnswer)]
    worst = min(answers, key=_badness)
    found = {
        what: next((part for answer in answers if (part := getattr(answer, what)) is not None), None)
        for what in ("race", "assertion", "deadlock")
    }
    stats = reduce(add, [answer.stats for answer in answers])
    return replace(outcomes[0], answer=replace(worst, stats=stats, **found))


def _badness(answer: RobustnessAnswer) -> int:
    """A violation decides; then what a worker could not decide, before what was only stopped."""
    match answer:
        case NotRobust():
            return 0
        case Unknown(interrupted=False):
            return 1
        case Unknown():
            return 2
        case _:
            return 3
