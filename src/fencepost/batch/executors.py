"""What does the jobs of a batch: this process, or several here. `cluster.py` uses many machines."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import TYPE_CHECKING

from msgspec.structs import replace

from fencepost.batch.jobs import Job, Outcome, interrupted, run_job, undecided
from fencepost.engine.search import Progress, Watcher, memory_to_use_mb

if TYPE_CHECKING:
    from concurrent.futures import Future, ProcessPoolExecutor
    from multiprocessing.synchronize import Event
    from typing import Protocol

    from fencepost.batch.jobs import Display

    class Executor(Protocol):
        """Takes jobs, each with a number, and gives back their outcomes, each once."""

        def submit(self, number: int, job: Job) -> None: ...

        def results(self) -> Iterator[tuple[int, Outcome]]:
            """The outcomes, as they come. After Ctrl-C it can be asked again, for those that are left."""

        def cancel(self) -> None:
            """End the searches; what was not finished has an interrupted outcome, or none."""

        def close(self) -> None: ...


class Here:
    """One job after the other, each when its outcome is asked for."""

    def __init__(self, display: Display | None) -> None:
        self._jobs: deque[tuple[int, Job]] = deque()
        self._watcher = _shown_on(display)

    def submit(self, number: int, job: Job) -> None:
        self._jobs.append((number, job))

    def results(self) -> Iterator[tuple[int, Outcome]]:
        while self._jobs:
            number, job = self._jobs.popleft()
            outcome = run_job(job, self._watcher)
            if interrupted(outcome):
                self._jobs.clear()
            yield number, outcome

    def cancel(self) -> None:
        self._jobs.clear()

    def close(self) -> None: ...


def _shown_on(display: Display | None) -> Watcher | None:
    if display is None:
        return None

    def watch(progress: Progress) -> bool:
        display.searching(progress)
        return False

    return watch


class Processes:
    """Several jobs at a time, each in a process with its share of the memory.

    When a process is killed, nobody knows which job it did. The jobs that are left are then done one after
    the other, so that only one whose process is killed again has no answer.
    """

    def __init__(self, count: int) -> None:
        # Imported here: one file needs none of it, and it takes a tenth of the time of a small question.
        import multiprocessing

        self._count = count
        self._stop = multiprocessing.Event()
        self._pool = self._new_pool(count)
        self._waiting: dict[Future[Outcome], tuple[int, Job]] = {}
        self._left: deque[tuple[int, Job]] = deque()  # when a process was killed

    def _new_pool(self, count: int) -> ProcessPoolExecutor:
        from concurrent.futures import ProcessPoolExecutor

        return ProcessPoolExecutor(count, initializer=_start_worker, initargs=(self._stop,))

    def submit(self, number: int, job: Job) -> None:
        from concurrent.futures.process import BrokenProcessPool

        memory_mb = job.limits.memory_mb
        if memory_mb is None:
            memory_mb = memory_to_use_mb() / self._count
        shared = replace(job, limits=replace(job.limits, memory_mb=memory_mb))
        try:
            self._waiting[self._pool.submit(_work, shared)] = (number, job)
        except BrokenProcessPool:
            self._left.append((number, job))

    def results(self) -> Iterator[tuple[int, Outcome]]:
        from concurrent.futures import as_completed
        from concurrent.futures.process import BrokenProcessPool

        for future in as_completed(list(self._waiting)):
            number, job = self._waiting.pop(future)
            try:
                yield number, future.result()
            except BrokenProcessPool:
                self._left.append((number, job))
        while self._left and not self._stop.is_set():
            number, job = self._left.popleft()
            yield number, self._alone(number, job)

    def _alone(self, number: int, job: Job) -> Outcome:
        from concurrent.futures.process import BrokenProcessPool

        self._pool.shutdown()
        self._pool = self._new_pool(1)
        self.submit(number, job)
        killed = undecided(job, "the process that did this was killed, perhaps for its memory")
        if not self._waiting:  # even before it had the job
            self._left.pop()
            return killed
        (future,) = self._waiting
        try:
            outcome = future.result()
        except BrokenProcessPool:
            outcome = killed
        del self._waiting[future]
        return outcome

    def cancel(self) -> None:
        self._stop.set()  # the searches end as interrupted, and the jobs left end at once

    def close(self) -> None:
        self._pool.shutdown()


def _start_worker(stop: Event) -> None:
    """In a worker process: Ctrl-C is the parent's business, which tells us through `stop`."""
    import signal

    global _stop  # noqa: PLW0603 (a worker process has one)
    _stop = stop
    signal.signal(signal.SIGINT, signal.SIG_IGN)


_stop: Event


def _work(job: Job) -> Outcome:
    if _stop.is_set():
        return undecided(job, None)
    return run_job(job, lambda progress: _stop.is_set())
