"""The jobs of a batch on a Dask cluster: many machines that share nothing but the network.

A job is sent with the text of its program, so workers need no files. When a worker is lost, Dask gives its
jobs to others; an outcome is taken once, whoever sends it. A job that takes down one worker after the other
(`distributed.scheduler.allowed-failures` of them) is left undecided. A worker ends a search as soon as nobody
waits for it any more: after Ctrl-C, and also when the machine that asked is gone.
"""

from __future__ import annotations

import logging
import time
import uuid
from collections.abc import Iterator
from importlib.metadata import version
from queue import Empty, SimpleQueue
from sys import version_info
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from fencepost import __version__
from fencepost.batch.jobs import Job, Outcome, interrupted, run_job, undecided
from fencepost.engine.search import memory_to_use_mb
from fencepost.errors import InputError, UnavailableError, missing_extra
from fencepost.formats import text_of

try:
    import distributed
    from distributed import KilledWorker
    from distributed.comm.addressing import resolve_address
except ImportError as error:
    if error.name is None or not error.name.startswith(("dask", "distributed")):
        raise
    raise missing_extra("cluster", "a cluster needs Dask") from None

if TYPE_CHECKING:
    from distributed import Client, Future, Worker

CONNECT_SECONDS = 10.0
WORKERS_SECONDS = 60.0  # how long a cluster may be without any worker

_LOOK_SECONDS = 1.0
_SHARE_OF_MEMORY = 0.7  # of what a worker may use; Dask ends it when it takes nearly all
_MEGABYTE = 1 << 20
_GONE = (distributed.Status.closing, distributed.Status.closed, distributed.Status.failed)

# Evaluated by a worker, who may have no fencepost; in the order of `_OURS`.
_VERSIONS = (
    "(__import__('fencepost').__version__, "
    "'.'.join(map(str, __import__('sys').version_info[:2])), "
    "__import__('importlib.metadata').metadata.version('distributed'))"
)
_OURS = (
    ("fencepost", __version__),
    ("Python", f"{version_info.major}.{version_info.minor}"),
    ("distributed", version("distributed")),
)


class Cluster:
    """An `Executor` (see `executors.py`)."""

    def __init__(self, address: str) -> None:
        self._client = _connect(address)
        self._batch = f"fencepost-{uuid.uuid4()}"
        self._waiting: dict[str, tuple[int, Job]] = {}  # by the key of the future
        self._futures: list[Future[Outcome]] = []
        self._wrong: list[tuple[int, Outcome]] = []  # jobs that did not need to be sent
        self._finished: SimpleQueue[Future[Outcome]] = SimpleQueue()
        self._seen = time.monotonic()  # when there was a worker

    def slots(self) -> int:
        """How many jobs its workers do at a time."""
        threads: dict[str, int] = self._client.nthreads()
        return max(sum(threads.values()), 1)

    def submit(self, number: int, job: Job) -> None:
        try:
            sent = job if job.text is not None else replace(job, text=text_of(job.file))
        except InputError:
            self._wrong.append((number, run_job(job)))
            return
        key = f"{self._batch}-{number}"
        self._waiting[key] = (number, job)
        future = self._client.submit(_work, sent, key, key=key, pure=False)
        self._futures.append(future)
        future.add_done_callback(self._finished.put)

    def results(self) -> Iterator[tuple[int, Outcome]]:
        while self._wrong:
            yield self._wrong.pop()
        while self._waiting:
            try:
                future = self._finished.get(timeout=_LOOK_SECONDS)
            except Empty:
                yield from self._given_up()
                continue
            asked = self._waiting.pop(str(future.key), None)
            if asked is not None:
                number, job = asked
                yield number, _outcome(future, job)

    def _given_up(self) -> Iterator[tuple[int, Outcome]]:
        """All jobs that are left, if the cluster has had no worker for too long."""
        now = time.monotonic()
        if self._client.scheduler_info()["workers"]:
            self._seen = now
        if now - self._seen < WORKERS_SECONDS:
            return
        left = list(self._waiting.values())
        self.cancel()
        for number, job in left:
            yield number, undecided(job, f"the cluster has had no worker for {WORKERS_SECONDS:g} s")

    def cancel(self) -> None:
        self._waiting.clear()
        self._client.cancel(self._futures, force=True)

    def close(self) -> None:
        self._client.close()


def _connect(address: str) -> Client:
    for logger in ("distributed", "distributed.client"):  # what matters is told in our own words
        logging.getLogger(logger).setLevel(logging.CRITICAL + 1)
    try:
        resolve_address(address)  # fails before there is a client to close
        client = distributed.Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        raise UnavailableError(f"there is no Dask cluster at {address}: {error}") from None
    try:
        client.wait_for_workers(1, timeout=CONNECT_SECONDS)
        _check_versions(client)
    except TimeoutError:
        client.close()
        raise UnavailableError(
            f"the cluster at {address} has no worker; start some: dask worker {address}"
        ) from None
    except UnavailableError:
        client.close()
        raise
    return client


def _check_versions(client: Client) -> None:
    """Only the same version understands jobs and answers."""
    for worker, theirs in client.run(eval, _VERSIONS, on_error="return").items():
        if isinstance(theirs, ImportError):
            raise UnavailableError(f"the worker {worker} has no fencepost: {theirs}")
        if isinstance(theirs, BaseException):
            raise UnavailableError(f"the worker {worker} cannot work for us: {theirs!r}")
        for (what, ours), other in zip(_OURS, theirs, strict=True):
            if ours != other:
                raise UnavailableError(
                    f"the worker {worker} has {what} {other}, and this machine has {ours}; "
                    "install the same version on both"
                )


def _outcome(future: Future[Outcome], job: Job) -> Outcome:
    if future.status == "finished":
        return future.result()
    if future.status == "cancelled":
        return undecided(job, "the connection to the cluster was lost")
    error = future.exception()
    if isinstance(error, KilledWorker):
        lost = error.allowed_failures + 1
        return undecided(job, f"{lost} workers of the cluster were lost while they did this job")
    raise UnavailableError(f"a worker of the cluster could not do its job: {error!r}")


def _work(job: Job, key: str) -> Outcome:
    """On a worker: do the job, as long as somebody waits for it."""
    worker = distributed.get_worker()
    limits = job.limits
    if limits.memory_mb is None:
        limits = replace(limits, memory_mb=_share_of_memory(worker))
    outcome = run_job(replace(job, limits=limits), lambda progress: not _is_wanted(worker, key))
    if interrupted(outcome):
        raise distributed.Reschedule  # another worker may be asked for it
    return outcome


def _share_of_memory(worker: Worker) -> float:
    """The memory for each of the jobs that a worker does at the same time, in MB."""
    allowed: Any = worker.memory_manager.memory_limit
    free = memory_to_use_mb()
    return (min(free, allowed * _SHARE_OF_MEMORY / _MEGABYTE) if allowed else free) / worker.state.nthreads


def _is_wanted(worker: Worker, key: str) -> bool:
    task = worker.state.tasks.get(key)
    return task is not None and task.state != "cancelled" and worker.status not in _GONE
