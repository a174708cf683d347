"""Running a program that was built with the wrappers, many times and several at once.

Each run is a process with options of its own for the run-time library, which writes what it finds to a file.
Where the runs differ in their seeds alone, the run-time library makes the processes itself: it forks them
where the program has not begun, or begins again in one process, which takes less than a millisecond
(native/sanitizer/schedule/series.cpp).
What the findings mean is left to others. A single run keeps the terminal: its input and its output are the
program's own. The output of several runs would be of no use mixed, so only its end is kept, and only where a
run goes wrong.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import tempfile
import threading
import time
import zlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, BinaryIO

import msgspec

from fencepost.sanitizer.run.events import End, Event, read_events, read_whole
from fencepost.sanitizer.run.starting import cannot_start
from fencepost.verdicts.run import Schedule

_KEPT_OUTPUT = 4000  # characters
_LARGEST_DECISIONS = 1 << 16  # bytes, compressed; a longer run is repeated by its seed alone
_ADDRESSES_NOT_RANDOM = 0x0040000  # ADDR_NO_RANDOMIZE of personality(2)
_CURRENT_PERSONALITY = 0xFFFFFFFF
_SECONDS_AFTER_CONTROL_C = 5.0  # for the program to end in its own way
_SECONDS_AFTER_TIMEOUT = 1.0  # to tell what it has found
_MOST_FINDINGS = 10_000  # of one run, unless the user says otherwise; those that are suppressed count
_FEWEST_IN_A_SERIES = 8  # runs: fewer are sooner made one by one
_THREAD_SANITIZER_LOG = "thread-sanitizer"


@dataclass(frozen=True, kw_only=True)
class Job:
    """What to run, and what is the same for all runs."""

    command: tuple[str, ...]
    timeout: float | None = None
    processes: int | None = None
    keep_decisions: bool = False
    learn_length: bool = False  # of the first run, over which pct spreads its changes in the others
    stdout_to_stderr: bool = False  # of a single run, where the standard output is ours
    at_terminal: bool = True  # a single run has the terminal
    settings: tuple[str, ...] = ()  # further ones, for the run-time library


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """How a run ended: with an exit code (as `subprocess` counts: a negative one is a signal) or too late."""

    schedule: Schedule
    exit_code: int | None  # None: it was stopped when its time was over
    events: tuple[Event, ...]
    watched: bool  # the run-time library was there
    output: str = ""
    timeout: float | None = None  # the limit that it had

    @property
    def steps(self) -> int:
        return sum(event.steps for event in self.events if isinstance(event, End))


Watcher = Callable[[Outcome], None]


class InterruptedRunsError(Exception):
    """The user pressed Ctrl-C; what was known by then has gone to the watcher."""


def run_all(job: Job, schedules: Sequence[Schedule], watcher: Watcher) -> None:
    """Make one run for each schedule, and give each to the watcher, in their order."""
    with (
        tempfile.TemporaryDirectory(prefix="fencepost-") as directory,
        addresses_fixed(),
        ended_as_by_control_c(),
    ):
        runner = _Runner(job, Path(directory), alone=len(schedules) == 1 and job.at_terminal)
        try:
            rest = list(schedules)
            can_be_forked = _can_be_forked(job, rest)
            if job.learn_length or can_be_forked:
                first = runner.run_here(rest.pop(0), watcher)
                can_be_forked = can_be_forked and _has_schedules(first)
                if job.learn_length:
                    rest = [msgspec.structs.replace(schedule, length=first.steps) for schedule in rest]
            if can_be_forked:
                rest = rest[_run_series(runner, rest, watcher) :]
            _run_in_parallel(runner, rest, watcher)
        except KeyboardInterrupt:
            raise InterruptedRunsError from None
        finally:
            runner.kill_all()


def _can_be_forked(job: Job, schedules: Sequence[Schedule]) -> bool:
    """Do they differ in their seeds alone, which follow one another?"""
    if len(schedules) < _FEWEST_IN_A_SERIES:
        return False
    first = schedules[0]
    return (
        first.kind != "os"
        and first.decisions is None
        and all(
            schedule == msgspec.structs.replace(first, seed=first.seed + number)
            for number, schedule in enumerate(schedules)
        )
    )


def _has_schedules(outcome: Outcome) -> bool:
    return any(isinstance(event, End) and event.mode != "races" for event in outcome.events)


def _run_series(runner: _Runner, schedules: Sequence[Schedule], watcher: Watcher) -> int:
    """Give the outcomes to the watcher, in order; how many there were, if the program did not go on.

    Each of the processes that fork them makes every so many of the runs.
    """
    stride = min(runner.job.processes or os.cpu_count() or 1, len(schedules))
    with tempfile.TemporaryDirectory(dir=runner.directory) as name:
        servers = [runner.start_series(schedules, Path(name), first, stride) for first in range(stride)]
        try:
            for number, schedule in enumerate(schedules):
                outcome = runner.outcome_of_series(schedule, servers[number % stride], number)
                if outcome is None:
                    return number
                watcher(outcome)
        finally:
            runner.end_series(servers)
    return len(schedules)


@dataclass
class _SeriesServer:
    """A process that makes many runs, and its files: the events of all runs, and all that they print."""

    process: subprocess.Popen[bytes]
    place: Path
    events: BinaryIO | None = None

    def end_of_run(self, number: int) -> tuple[str, int, int, int] | None:
        """As `wait` reported it, or "late"; the end of its events, the bounds of its output."""
        assert self.process.stdout is not None
        words = self.process.stdout.readline().decode().split()
        if words[:2] != ["fencepost", "run"] or len(words) != 7 or int(words[2]) != number:
            return None
        return words[3], int(words[4]), int(words[5]), int(words[6])

    def events_until(self, end: int) -> bytes:
        if self.events is None:
            self.events = self._file_of_events().open("rb")
        return read_whole(self.events, end - self.events.tell())

    def _file_of_events(self) -> Path:
        """That of the process itself; a process that a rehearsal has started has one beside it."""
        own = self.place / f"events-before-{self.process.pid}.jsonl"
        if own.exists():
            return own
        files = self.place.glob("events-before-*.jsonl")  # a script started the program
        return min(files, key=lambda file: int(file.stem.rpartition("-")[2]))

    def events_of_children(self, number: int) -> bytes:
        """Of processes that the run has started."""
        files = sorted(self.place.glob(f"events-{number}-*.jsonl"))
        return _all_of(files)

    def printed(self, begin: int, end: int) -> str:
        if begin == end:
            return ""
        with (self.place / "output").open("rb") as output:
            output.seek(max(begin, end - _KEPT_OUTPUT))
            return output.read(min(end - begin, _KEPT_OUTPUT)).decode("utf-8", "replace")


def _run_in_parallel(runner: _Runner, schedules: Sequence[Schedule], watcher: Watcher) -> None:
    workers = min(runner.job.processes or os.cpu_count() or 1, len(schedules))
    if workers <= 1:
        for schedule in schedules:
            runner.run_here(schedule, watcher)
        return
    from concurrent.futures import ThreadPoolExecutor

    pool = ThreadPoolExecutor(workers)
    waiting = deque(pool.submit(runner.run, schedule) for schedule in schedules)
    try:
        while waiting:
            watcher(waiting[0].result())
            waiting.popleft()
    except KeyboardInterrupt:
        for future in waiting:
            if future.done():
                watcher(future.result())
        raise
    finally:
        runner.kill_all()
        pool.shutdown(cancel_futures=True)  # and wait: nobody may write into the directory when it goes


@dataclass
class _Runner:
    job: Job
    directory: Path
    alone: bool
    _live: set[subprocess.Popen[bytes]] = field(default_factory=set)
    _stopped: bool = False

    def run_here(self, schedule: Schedule, watcher: Watcher) -> Outcome:
        """In the main thread, where Ctrl-C arrives: findings of an interrupted program are taken in, too."""
        outcome = self.run(schedule)
        watcher(outcome)
        if self._stopped:
            raise KeyboardInterrupt
        return outcome

    def run(self, schedule: Schedule) -> Outcome:
        with tempfile.TemporaryDirectory(dir=self.directory) as name:
            place = Path(name)
            environment = _environment(self.job, schedule, place)
            if self.alone:
                exit_code = self._wait(environment, sys.stderr if self.job.stdout_to_stderr else None)
                return self._outcome(schedule, exit_code, place, "")
            with (place / "output").open("w+b") as output:
                exit_code = self._wait(environment, output)
                return self._outcome(schedule, exit_code, place, _end_of(output))

    def start_series(
        self, schedules: Sequence[Schedule], place: Path, first: int, stride: int
    ) -> _SeriesServer:
        """The process that makes every `stride`-th run, from the first one on."""
        here = place / str(first)
        here.mkdir()
        options = [*_schedule_options(schedules[0]), *self.job.settings]
        options += [
            f"runs={len(schedules)}",
            f"stride={stride}",
            f"first_run={first}",
            f"output={here}/output",
            f"json={here}/events-%r-%p.jsonl",
        ]
        options += [f"decisions={place}/%r-decisions"] if self.job.keep_decisions else []
        if self.job.timeout is not None:
            options += [f"run_limit={max(1, round(self.job.timeout * 1000))}"]
        process = self._start(environment(options, place), subprocess.PIPE)
        self._live.add(process)
        return _SeriesServer(process, here)

    def end_series(self, servers: Sequence[_SeriesServer]) -> None:
        for server in servers:
            _kill(server.process)
            server.process.wait()
            self._live.discard(server.process)
            for file in (server.process.stdout, server.events):
                if file is not None:
                    file.close()

    def outcome_of_series(self, schedule: Schedule, server: _SeriesServer, number: int) -> Outcome | None:
        """None if the program did not go on."""
        end = server.end_of_run(number)
        if end is None:
            return None
        status, events_end, output_begin, output_end = end
        events = server.events_until(events_end) + server.events_of_children(number)
        decisions = (
            _decisions(server.place.parent / f"{number}-decisions") if self.job.keep_decisions else None
        )
        return Outcome(
            schedule=msgspec.structs.replace(schedule, decisions=decisions or schedule.decisions),
            exit_code=None if status == "late" else os.waitstatus_to_exitcode(int(status)),
            events=tuple(read_events(events)),
            watched=True,
            timeout=self.job.timeout,
            output=server.printed(output_begin, output_end),
        )

    def kill_all(self) -> None:
        self._stopped = True
        for process in list(self._live):
            _kill(process)

    def _wait(self, environment: Mapping[str, str], output: IO[bytes] | IO[str] | None) -> int | None:
        process = self._start(environment, output)
        self._live.add(process)
        if self._stopped:  # Ctrl-C came while it was being started
            _kill(process)
        try:
            return wait_for(process, self.job.timeout)
        except subprocess.TimeoutExpired:
            ended_by(process, signal.SIGTERM, _SECONDS_AFTER_TIMEOUT)
            return None
        except KeyboardInterrupt:
            self._stopped = True
            return ended_by(process, signal.SIGINT, _SECONDS_AFTER_CONTROL_C)
        finally:
            self._live.discard(process)

    def _start(
        self, environment: Mapping[str, str], output: IO[bytes] | IO[str] | int | None
    ) -> subprocess.Popen[bytes]:
        """A program of the terminal stays in our process group, so that it may read from it."""
        at_terminal = self.alone and sys.stdin is not None and sys.stdin.isatty()
        try:
            return subprocess.Popen(
                self.job.command,
                env=environment,
                stdin=None if self.alone else subprocess.DEVNULL,
                stdout=output,
                stderr=None if self.alone else subprocess.DEVNULL if output == subprocess.PIPE else output,
                process_group=None if at_terminal else 0,
            )
        except OSError as error:
            raise cannot_start(self.job.command[0], error) from None

    def _outcome(self, schedule: Schedule, exit_code: int | None, place: Path, output: str) -> Outcome:
        files = sorted(place.glob("*.jsonl"))
        logs = sorted(place.glob(f"{_THREAD_SANITIZER_LOG}.*"))
        return Outcome(
            schedule=msgspec.structs.replace(
                schedule, decisions=_decisions(place / "decisions") or schedule.decisions
            ),
            exit_code=exit_code,
            events=tuple(read_events(_all_of(files))),
            watched=bool(files),
            timeout=self.job.timeout,
            output=output + "".join(log.read_text("utf-8", "replace")[-_KEPT_OUTPUT:] for log in logs),
        )


def _all_of(files: Iterable[Path]) -> bytes:
    """The events in the files, one file after the other."""
    contents = []
    for path in files:
        with path.open("rb") as file:
            contents.append(read_whole(file))
    return b"\n".join(contents)


def _environment(job: Job, schedule: Schedule, place: Path) -> dict[str, str]:
    options = [*_schedule_options(schedule), *job.settings]
    if schedule.kind != "os":
        if schedule.decisions is not None:
            (place / "replay").write_bytes(zlib.decompress(schedule.decisions))
            options += [f"replay={place}/replay"]
        elif job.keep_decisions:
            options += [f"decisions={place}/decisions"]
    return environment(options, place)


def _schedule_options(schedule: Schedule) -> list[str]:
    options = [f"schedule={schedule.kind}"]
    if schedule.kind != "os":
        options += [f"seed={schedule.seed}", f"depth={schedule.depth}"]
        options += [f"length={schedule.length}"] if schedule.length else []
        options += _weakness(schedule)
        options += [f"steps={schedule.max_steps}"] if schedule.max_steps is not None else []
    return options


def _weakness(schedule: Schedule) -> list[str]:
    departure = schedule.departure
    if departure is None:
        return ["weak=1"] if schedule.weak else []
    limit = [f"weak_reads={departure.old_reads}"] if departure.old_reads is not None else []
    return ["weak=1", f"weak_from={departure.step}", f"weak_seed={departure.seed}", *limit]


def environment(options: Sequence[str], place: Path) -> dict[str, str]:
    """Ours come last in FENCEPOST_OPTIONS and TSAN_OPTIONS: a later setting wins.

    Findings are suppressed when the runs are over, so the run-time library is to tell of them all.
    What ThreadSanitizer finds in mode races comes to us as events; what it prints is kept out of the way.
    """
    common = [f"max_findings={_MOST_FINDINGS}", os.environ.get("FENCEPOST_OPTIONS", "")]
    common += ["quiet=1", "exitcode=0", f"json={place}/%p.jsonl", "suppressions=/dev/null"]
    common += [f"run_by={os.getpid()}"]
    thread_sanitizer = [os.environ.get("TSAN_OPTIONS", ""), f'log_path="{place}/{_THREAD_SANITIZER_LOG}"']
    return {
        **os.environ,
        "FENCEPOST_OPTIONS": ":".join(option for option in (*common, *options) if option),
        "TSAN_OPTIONS": ":".join(option for option in thread_sanitizer if option),
    }


def _decisions(file: Path) -> bytes | None:
    try:
        compressed = zlib.compress(file.read_bytes(), 6)
    except OSError:
        return None
    return compressed if len(compressed) <= _LARGEST_DECISIONS else None


def _end_of(output: IO[bytes]) -> str:
    end = output.seek(0, os.SEEK_END)
    output.seek(max(0, end - _KEPT_OUTPUT))
    return output.read().decode("utf-8", "replace")


def wait_for(process: subprocess.Popen[bytes], seconds: float | None) -> int:
    """As `process.wait`, which looks only every now and then whether the process has ended."""
    try:
        descriptor = os.pidfd_open(process.pid)
    except (AttributeError, OSError):
        return process.wait(seconds)
    try:
        ready, _, _ = select.select([descriptor], [], [], seconds)
    finally:
        os.close(descriptor)
    if not ready:
        assert seconds is not None
        raise subprocess.TimeoutExpired(process.args, seconds)
    return process.wait()


def ended_by(process: subprocess.Popen[bytes], number: signal.Signals, seconds: float) -> int:
    """Ask the program to end, give it time, and then end it with all that it has started."""
    process.send_signal(number)
    deadline = time.monotonic() + seconds
    while not _has_ended(process) and time.monotonic() < deadline:
        time.sleep(0.01)
    _kill(process)
    return process.wait()


def _has_ended(process: subprocess.Popen[bytes]) -> bool:
    """Without reaping it: its process group could no longer be found then."""
    return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is not None


@contextmanager
def ended_as_by_control_c() -> Iterator[None]:
    """A signal that ends us, as `timeout` and build servers send it, is meant for the program too.

    It has a process group of its own, so it would go on alone, and one that never ends would do so for ever.
    """
    may_be_set = threading.current_thread() is threading.main_thread()
    signals = (signal.SIGTERM, signal.SIGHUP) if may_be_set else ()
    ended = [number for number in signals if signal.getsignal(number) is signal.SIG_DFL]
    for number in ended:
        signal.signal(number, signal.default_int_handler)
    try:
        yield
    finally:
        for number in ended:
            signal.signal(number, signal.SIG_DFL)


def _kill(process: subprocess.Popen[bytes]) -> None:
    """The program, and where it leads a process group of its own, what it has started."""
    try:
        if os.getpgid(process.pid) == process.pid:
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    except ProcessLookupError:
        pass


@contextmanager
def addresses_fixed() -> Iterator[None]:
    """Programs started here have no address randomisation, as far as the system lets us say so.

    A program whose behaviour depends on addresses would not repeat otherwise, and on some kernels
    ThreadSanitizer does not start with it.
    """
    import ctypes

    try:
        personality = ctypes.CDLL(None).personality
    except (AttributeError, OSError):
        yield
        return
    before = personality(_CURRENT_PERSONALITY)
    if before != -1:
        personality(before | _ADDRESSES_NOT_RANDOM)
    try:
        yield
    finally:
        if before != -1:
            personality(before)
