"""Asking about many files: which files, what is asked, and what to do when the user stops it.

What only some questions need is imported when they are asked: a small one takes less time than the imports.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from time import monotonic
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from fencepost.engine.search import REDUCED, Limits, Progress, Tactics, Watcher
from fencepost.errors import InputError
from fencepost.formats import BY_ENDING, FORMATS, Reading, load_as
from fencepost.memory_models import (
    CERTIFIED_MODELS,
    DEFAULT_MODELS,
    MODELS,
    OUTCOME_MODELS,
    WRITE_RACES,
    Engine,
    RaceKind,
)
from fencepost.program import Program
from fencepost.verdicts import StaticAnswer, Stats, Unknown
from fencepost.verdicts.answers import AskedOfFiles as QuestionName

if TYPE_CHECKING:
    from typing import Protocol

    from fencepost.batch.executors import Executor
    from fencepost.program.properties import Property
    from fencepost.verdicts.outcomes import AnyOutcomesAnswer

    class Display(Protocol):
        """Shows how far the work is."""

        def searching(self, progress: Progress) -> None: ...
        def finished(self, done: int) -> None: ...
        def close(self) -> None: ...


class Question(msgspec.Struct, frozen=True):
    """What is asked, against which model (None: the default of the program), by which criterion
    (`Answer.criterion`)."""

    name: QuestionName = "robust"
    model: str | None = None
    criterion: str = "robust"

    @property
    def model_name(self) -> str:
        """The model; if none is given, the default of most programs."""
        return self.model or DEFAULT_MODELS[self.name]

    @classmethod
    def of(cls, name: QuestionName, model: str) -> Question:
        """With the criterion that the question has by default."""
        return cls(name, model, MODELS[model].criteria[name][0])


class Safety(msgspec.Struct, frozen=True):
    """What else to look for, as the options say it, and how, for "verify" and "races"."""

    mutex: tuple[str, ...] = ()
    error_labels: tuple[str, ...] = ()
    bad: tuple[str, ...] = ()
    asserted: tuple[str, ...] = ()
    ignore_races: bool = False
    engine: Engine = "portfolio"
    without: tuple[str, ...] = ()  # prunings
    certificate: str | None = None  # the file to write it to
    deadlocks: bool = False
    all_models: bool = False  # asked, if the question names none
    require: tuple[str, ...] = ()  # models of which the worst verdict counts then


_PLAIN = Safety()
_NOT_STARTED = "interrupted before it was started"


class Listing(msgspec.Struct, frozen=True):
    """What "outcomes" is asked about: the models (all if there are none), how far loops are followed (None:
    the default), and the final state to explain."""

    models: tuple[str, ...] = ()
    unroll: int | None = None
    explain: int | None = None


_WHOLE = Listing()


class Job(msgspec.Struct, frozen=True):
    """One question about one file, and how to answer it. If there is a `text`, the file is not read."""

    file: str
    question: Question
    limits: Limits = Limits()
    order: str = "auto"
    tactics: Tactics = REDUCED
    flatten: int | None = None  # k of the abstraction that is tried first, for persistence
    safety: Safety = _PLAIN
    listing: Listing = _WHOLE
    reading: Reading = BY_ENDING
    text: str | None = None


class Outcome(msgspec.Struct, frozen=True):
    """The answer about a file, or what is wrong with it."""

    file: str
    answer: StaticAnswer | AnyOutcomesAnswer | None = None
    error: InputError | None = None

    @property
    def required_answer(self) -> StaticAnswer | AnyOutcomesAnswer:
        assert self.answer is not None
        return self.answer


class Where(msgspec.Struct, frozen=True):
    """What does the jobs: so many processes of this machine (None: one for each core), or the cluster at this
    address."""

    processes: int | None = None
    cluster: str | None = None


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


def run_jobs(
    jobs: Sequence[Job],
    where: Where,
    display: Display | None,
    enough: Callable[[Outcome], bool] = lambda outcome: False,
) -> list[Outcome]:
    """The outcome of every job, in order. After Ctrl-C, or an outcome that is `enough`, those that have not
    finished are undecided. A single search on a cluster is done by all its workers."""
    executor = _executor(len(jobs), where, display)
    try:
        if where.cluster is not None and len(jobs) == 1:
            from fencepost.batch.cluster import Cluster
            from fencepost.batch.parts import has_parts, run_in_parts

            assert isinstance(executor, Cluster)
            if has_parts(jobs[0]):
                return [run_in_parts(jobs[0], executor)]
        return do_jobs(jobs, executor, display, enough)
    finally:
        executor.close()
        if display is not None:
            display.close()


def do_jobs(
    jobs: Sequence[Job],
    executor: Executor,
    display: Display | None = None,
    enough: Callable[[Outcome], bool] = lambda outcome: False,
) -> list[Outcome]:
    """The outcome of every job, in order, from an executor that has done nothing yet."""
    done: dict[int, Outcome] = {}

    def collect() -> None:
        for number, outcome in executor.results():
            done[number] = outcome
            if display is not None:
                display.finished(len(done))
            if enough(outcome):
                executor.cancel()

    for number, job in enumerate(jobs):
        executor.submit(number, job)
    while True:
        try:
            collect()
            break
        except KeyboardInterrupt:
            executor.cancel()
    return [done[n] if n in done else undecided(job, None) for n, job in enumerate(jobs)]


def _executor(jobs: int, where: Where, display: Display | None) -> Executor:
    if where.cluster is not None:
        from fencepost.batch.cluster import Cluster

        return Cluster(where.cluster)
    from fencepost.batch.executors import Here, Processes

    processes = min(where.processes or os.cpu_count() or 1, jobs)
    return Here(display) if processes <= 1 else Processes(processes)


def run_job(job: Job, watcher: Watcher | None = None) -> Outcome:
    """The outcome of the job; its limit and its `seconds` are those of a clock on the wall, and include
    reading the file and making the witness."""
    started = monotonic()
    try:
        program = load_as(job.file, job.reading, job.text)
        left = replace(job, limits=job.limits.after(monotonic() - started))
        outcome = Outcome(job.file, answer=_answer(left, program, watcher))
    except InputError as error:
        return Outcome(job.file, error=error)
    except MemoryError:  # beside the search, which looks after itself
        outcome = undecided(job, "there was not enough memory")
    return with_seconds(outcome, monotonic() - started)


def with_seconds(outcome: Outcome, seconds: float) -> Outcome:
    """The outcome with the time that passed until it was there."""
    if outcome.answer is None:
        return outcome
    stats = replace(outcome.answer.stats, seconds=round(seconds, 6))
    return replace(outcome, answer=replace(outcome.answer, stats=stats))


def _answer(job: Job, program: Program, watcher: Watcher | None) -> StaticAnswer | AnyOutcomesAnswer:
    match job.question.name:
        case "persist":
            from fencepost.analyses.tso import persist

            return persist(program, limits=job.limits, flatten=job.flatten, watcher=watcher)
        case "races":
            from fencepost.analyses.safety.portfolio import races

            kind: RaceKind = "write-write" if job.question.criterion == WRITE_RACES else "data"
            return races(
                program,
                job.question.model,
                kind=kind,
                limits=job.limits,
                without=job.safety.without,
                watcher=watcher,
            )
        case "verify":
            return _safety_answer(job, program, watcher)
        case "outcomes":
            return _outcomes_answer(job, program, watcher)
        case _:
            return _robustness_answer(job, program, watcher)


def _robustness_answer(job: Job, program: Program, watcher: Watcher | None) -> StaticAnswer:
    if job.safety.certificate is not None:
        return _certified_for_any_number(program, job, watcher)
    from fencepost.analyses.robustness import robust

    return robust(
        program,
        job.question.model,
        criterion=job.question.criterion,
        limits=job.limits,
        order=job.order,
        tactics=job.tactics,
        watcher=watcher,
    )


def _outcomes_answer(job: Job, program: Program, watcher: Watcher | None) -> AnyOutcomesAnswer:
    from fencepost.analyses.outcomes import DEFAULT_UNROLL, outcomes

    return outcomes(
        program,
        job.listing.models or None,
        unroll=job.listing.unroll or DEFAULT_UNROLL,
        explain=job.listing.explain,
        limits=job.limits,
        watcher=watcher,
    )


def _safety_answer(job: Job, program: Program, watcher: Watcher | None) -> StaticAnswer:
    from fencepost.analyses.safety.portfolio import verify
    from fencepost.formats.properties import both, given_property, stated_property

    given = given_property(
        program,
        job.safety.mutex,
        job.safety.error_labels,
        job.safety.bad,
        asserted=job.safety.asserted,
        ignore_races=job.safety.ignore_races,
        deadlocks=job.safety.deadlocks,
    )
    wanted = both(stated_property(program), given)
    if job.safety.certificate is not None:
        return _certified(program, wanted, job, watcher)
    if job.safety.all_models:
        from fencepost.analyses.safety.all_models import verify_under_all

        return verify_under_all(
            program, wanted=wanted, require=job.safety.require, limits=job.limits, watcher=watcher
        )
    return verify(
        program,
        job.question.model,
        wanted=wanted,
        engine=job.safety.engine,
        limits=job.limits,
        without=job.safety.without,
        watcher=watcher,
    )


def _certified(program: Program, wanted: Property, job: Job, watcher: Watcher | None) -> StaticAnswer:
    """The answer of the backward search; if it is safe, its certificate is written."""
    from fencepost.analyses.safety.portfolio import certify
    from fencepost.certificates import encode

    path = job.safety.certificate
    assert path is not None
    answer, certificate = certify(
        program,
        job.question.model or CERTIFIED_MODELS[0],
        wanted=wanted,
        limits=job.limits,
        without=job.safety.without,
        watcher=watcher,
    )
    if certificate is not None:
        _write_certificate(path, encode(certificate))
    return answer


def _certified_for_any_number(program: Program, job: Job, watcher: Watcher | None) -> StaticAnswer:
    """The same of robustness for every number of threads."""
    from fencepost.analyses.view_certificates import certified
    from fencepost.certificates.any_number import encode_views

    path = job.safety.certificate
    assert path is not None
    answer, certificate = certified(program, job.question.model, limits=job.limits, watcher=watcher)
    if certificate is not None:
        _write_certificate(path, encode_views(certificate))
    return answer


def _write_certificate(path: str, data: bytes) -> None:
    try:
        with open(path, "wb") as file:
            file.write(data)
    except OSError as error:
        raise InputError(f"cannot write the certificate: {error.strerror or error}", path) from None


def undecided(job: Job, why: str | None) -> Outcome:
    """There is no answer, for the reason `why`; None: it was interrupted before it was started."""
    if job.question.name == "outcomes":
        return Outcome(job.file, answer=_unlisted(job, why))
    answer = Unknown(
        file=job.file,
        question=job.question.name,
        model=job.question.model_name,
        criterion=job.question.criterion,
        stats=Stats(),
        exhaustive=False,
        why=why or _NOT_STARTED,
        interrupted=why is None,
    )
    return Outcome(job.file, answer=answer)


def _unlisted(job: Job, why: str | None) -> AnyOutcomesAnswer:
    from fencepost.verdicts.outcomes import OutcomesUnknown

    return OutcomesUnknown(
        file=job.file,
        question="outcomes",
        model=",".join(job.listing.models or OUTCOME_MODELS),
        criterion=job.question.criterion,
        stats=Stats(),
        exhaustive=False,
        why=why or _NOT_STARTED,
        interrupted=why is None,
    )


def interrupted(outcome: Outcome) -> bool:
    return bool(getattr(outcome.answer, "interrupted", False))
