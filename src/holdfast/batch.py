"""Asking about many files: which files, in how many processes, and what to do when the user stops it.

What only some questions need is imported when they are asked: a small one takes less time than the imports.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

import msgspec
from msgspec.structs import replace

from holdfast.engine.explore import REDUCED, Limits, Progress, Tactics, Watcher, memory_to_use_mb
from holdfast.errors import InputError
from holdfast.formats import BY_ENDING, FORMATS, Reading, load_as
from holdfast.program import Program
from holdfast.verdicts import (
    PersistenceAnswer,
    RobustnessAnswer,
    SafetyAnswer,
    Stats,
    Unknown,
    WriteRaceAnswer,
)

if TYPE_CHECKING:
    from concurrent.futures import Future
    from multiprocessing.synchronize import Event

    from holdfast.analyses.safety import Engine
    from holdfast.program.properties import Property


AnyAnswer = RobustnessAnswer | PersistenceAnswer | SafetyAnswer | WriteRaceAnswer


class Question(NamedTuple):
    """What is asked: "robust", "persist", "verify" or "races", against which model, by which criterion
    (`Answer.criterion`)."""

    name: str = "robust"
    model: str = "ra"
    criterion: str = "robust"


PERSIST = Question("persist", "tso", "persistent")
RACES = Question("races", "sra", "race-free")


def safety(model: str) -> Question:
    return Question("verify", model, "safe")


class Safety(NamedTuple):
    """What else to look for, as the options say it, and how, for "verify" and "races"."""

    mutex: tuple[str, ...] = ()
    error_labels: tuple[str, ...] = ()
    bad: tuple[str, ...] = ()
    engine: Engine = "portfolio"
    without: tuple[str, ...] = ()  # prunings
    certificate: str | None = None  # the file to write it to


_PLAIN = Safety()


class Job(msgspec.Struct, frozen=True):
    """One question about one file, and how to answer it."""

    file: str
    question: Question
    limits: Limits = Limits()
    order: str = "auto"
    tactics: Tactics = REDUCED
    flatten: int | None = None  # k of the abstraction that is tried first, for persistence
    safety: Safety = _PLAIN
    reading: Reading = BY_ENDING


class Outcome(msgspec.Struct, frozen=True):
    """The answer about a file, or what is wrong with it."""

    file: str
    answer: AnyAnswer | None = None
    error: InputError | None = None

    @property
    def required_answer(self) -> AnyAnswer:
        assert self.answer is not None
        return self.answer


class Display(Protocol):
    """Someone who shows how far the work is."""

    def searching(self, progress: Progress) -> None: ...
    def finished(self, files: int) -> None: ...
    def close(self) -> None: ...


def files_in(paths: Iterable[str]) -> list[str]:
    """The paths themselves; a directory stands for every program below it, in alphabetical order."""
    return [file for path in paths for file in (_programs_in(path) if os.path.isdir(path) else [path])]


def _programs_in(directory: str) -> list[str]:
    from pathlib import Path

    endings = tuple(ending for known in FORMATS for ending in known.endings)
    found = sorted(str(p) for p in Path(directory).rglob("*") if p.suffix in endings and p.is_file())
    if not found:
        raise InputError(f"the directory has no program ({', '.join(endings)})", directory)
    return found


def run_jobs(jobs: Sequence[Job], processes: int | None, display: Display | None) -> list[Outcome]:
    """The outcome of every job, in order. Ctrl-C makes undecided ones of those not finished."""
    workers = min(processes or os.cpu_count() or 1, len(jobs))
    try:
        if workers <= 1:
            return _run_here(jobs, display)
        return _run_in_processes(jobs, workers, display)
    finally:
        if display is not None:
            display.close()


def _run_here(jobs: Sequence[Job], display: Display | None) -> list[Outcome]:
    outcomes: list[Outcome] = []
    watcher = _watcher(display)
    for job in jobs:
        try:
            outcome = run_job(job, watcher)
        except KeyboardInterrupt:  # while reading; during the search it becomes an answer
            break
        outcomes.append(outcome)
        if display is not None:
            display.finished(len(outcomes))
        if isinstance(outcome.answer, Unknown) and outcome.answer.interrupted:
            break
    return outcomes + [_not_started(job) for job in jobs[len(outcomes) :]]


def _watcher(display: Display | None) -> Watcher | None:
    if display is None:
        return None

    def watch(progress: Progress) -> bool:
        display.searching(progress)
        return False

    return watch


def _run_in_processes(jobs: Sequence[Job], workers: int, display: Display | None) -> list[Outcome]:
    # Imported here: one file needs none of it, and it takes a tenth of the time of a small question.
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor, as_completed

    shared = [_with_share_of_memory(job, workers) for job in jobs]
    done: dict[int, Outcome] = {}
    stop = multiprocessing.Event()
    pool = ProcessPoolExecutor(workers, initializer=_start_worker, initargs=(stop,))
    futures: dict[Future[Outcome], int] = {pool.submit(_work, job): i for i, job in enumerate(shared)}
    waiting = set(futures)
    while waiting:
        try:
            for future in as_completed(waiting):
                waiting.discard(future)
                done[futures[future]] = future.result()
                if display is not None:
                    display.finished(len(done))
        except KeyboardInterrupt:
            stop.set()  # the searches end as interrupted, and the jobs left end at once
    pool.shutdown()
    return [done[i] for i in range(len(jobs))]


def _start_worker(stop: Event) -> None:
    """In a worker process: Ctrl-C is the parent's business, which tells us through `stop`."""
    import signal

    global _stop  # noqa: PLW0603 (a worker process has one)
    _stop = stop
    signal.signal(signal.SIGINT, signal.SIG_IGN)


_stop: Event


def _work(job: Job) -> Outcome:
    if _stop.is_set():
        return _not_started(job)
    return run_job(job, lambda progress: _stop.is_set())


def _with_share_of_memory(job: Job, workers: int) -> Job:
    memory_mb = job.limits.memory_mb
    if memory_mb is None:
        memory_mb = memory_to_use_mb() / workers
    return replace(job, limits=replace(job.limits, memory_mb=memory_mb))


def run_job(job: Job, watcher: Watcher | None = None) -> Outcome:
    try:
        program = load_as(job.file, job.reading)
        return Outcome(job.file, answer=_answer(job, program, watcher))
    except InputError as error:
        return Outcome(job.file, error=error)


def _answer(job: Job, program: Program, watcher: Watcher | None) -> AnyAnswer:
    match job.question.name:
        case "persist":
            from holdfast.analyses.tso import persist

            return persist(program, limits=job.limits, flatten=job.flatten, watcher=watcher)
        case "races":
            from holdfast.analyses.safety import races

            return races(program, limits=job.limits, without=job.safety.without, watcher=watcher)
        case "verify":
            return _safety_answer(job, program, watcher)
        case _:
            return _robustness_answer(job, program, watcher)


def _robustness_answer(job: Job, program: Program, watcher: Watcher | None) -> AnyAnswer:
    from holdfast.analyses.robustness import robust

    return robust(
        program,
        job.question.model,
        criterion=job.question.criterion,
        limits=job.limits,
        order=job.order,
        tactics=job.tactics,
        watcher=watcher,
    )


def _safety_answer(job: Job, program: Program, watcher: Watcher | None) -> AnyAnswer:
    from holdfast.analyses.safety import verify
    from holdfast.formats.properties import both, given_property, stated_property

    given = given_property(program, job.safety.mutex, job.safety.error_labels, job.safety.bad)
    wanted = both(stated_property(program), given)
    if job.safety.certificate is not None:
        return _certified(program, wanted, job, watcher)
    return verify(
        program,
        job.question.model,
        wanted=wanted,
        engine=job.safety.engine,
        limits=job.limits,
        without=job.safety.without,
        watcher=watcher,
    )


def _certified(program: Program, wanted: Property, job: Job, watcher: Watcher | None) -> AnyAnswer:
    """The answer of the backward search; if it is safe, its certificate is written."""
    from holdfast.analyses.safety import certify
    from holdfast.certificates import encode

    path = job.safety.certificate
    assert path is not None
    answer, certificate = certify(
        program, wanted=wanted, limits=job.limits, without=job.safety.without, watcher=watcher
    )
    if certificate is not None:
        try:
            with open(path, "wb") as file:
                file.write(encode(certificate))
        except OSError as error:
            raise InputError(f"cannot write the certificate: {error.strerror or error}", path) from None
    return answer


def _not_started(job: Job) -> Outcome:
    answer = Unknown(
        file=job.file,
        question=job.question.name,
        model=job.question.model,
        criterion=job.question.criterion,
        stats=Stats(),
        exhaustive=False,
        why="interrupted before it was started",
        interrupted=True,
    )
    return Outcome(job.file, answer=answer)
