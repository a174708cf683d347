"""Running all executions of a program that was built with the wrappers.

The run-time library plans and runs them: one process is started, which forks others that do the work. Here
their events are read, while they go on and when they have ended.
"""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from fencepost.sanitizer.run.events import Event, Exploration, read_events, read_whole
from fencepost.sanitizer.run.runs import (
    addresses_fixed,
    ended_as_by_control_c,
    ended_by,
    environment,
    wait_for,
)
from fencepost.sanitizer.run.starting import cannot_start

_SECONDS_BETWEEN_LOOKS = 0.25
_SECONDS_FOR_THE_LAST_EXECUTION = 5.0  # beyond the time limit, which is looked at between executions
_HISTORY = 1 << 16  # of each thread: executions are not made again, and few are so long
_END_OF_FILE = 4096  # bytes, in which the last report of progress is found


@dataclass(frozen=True, kw_only=True)
class Limits:
    seconds: float | None = None
    executions: int | None = None
    rounds: int = 20
    steps: int | None = None
    failing: int = 0  # allocations of an execution
    bound: int | None = None  # on preemptions in an execution
    first: bool = False  # stop at the first finding
    processes: int = 1
    resume: Path | None = None  # the file in which the state is kept
    settings: tuple[str, ...] = ()  # further ones, for the run-time library


@dataclass(frozen=True, kw_only=True)
class Explored:
    """What was told, in order, by each process that told something. `last` is the state at the end, or the
    last one known of a program that had to be stopped; `why` says why it had to be."""

    by_process: tuple[tuple[Event, ...], ...]
    last: Exploration
    watched: bool  # the run-time library was there
    exit_code: int
    why: str = ""
    interrupted: bool = False

    @property
    def events(self) -> Iterator[Event]:
        return (event for events in self.by_process for event in events)


Watcher = Callable[[Exploration], None]


def explore(command: tuple[str, ...], limits: Limits, watcher: Watcher) -> Explored:
    with (
        tempfile.TemporaryDirectory(prefix="fencepost-") as directory,
        addresses_fixed(),
        ended_as_by_control_c(),
    ):
        place = Path(directory)
        process = _start(command, limits, place)
        why, interrupted = "", False
        try:
            why = _await(process, limits, place, watcher)
        except KeyboardInterrupt:
            interrupted = True
            why = "it was interrupted"
        finally:
            ended = process.returncode
            exit_code = ended if ended is not None else ended_by(process, signal.SIGKILL, 1.0)
        files = sorted(place.glob("*.jsonl"))
        events = tuple(tuple(read_events(_whole(file))) for file in files)
    return Explored(
        by_process=events,
        last=_latest(events) or Exploration(),
        watched=bool(files),
        exit_code=exit_code,
        why=why,
        interrupted=interrupted,
    )


def _start(command: tuple[str, ...], limits: Limits, place: Path) -> subprocess.Popen[bytes]:
    options = ["schedule=explore", f"rounds={limits.rounds}", f"first={int(limits.first)}"]
    options += [f"history={_HISTORY}"]
    options += limits.settings
    options += [f"executions={limits.executions}"] if limits.executions is not None else []
    options += [f"failing={limits.failing}"] if limits.failing else []
    options += [f"bound={limits.bound}"] if limits.bound is not None else []
    options += [f"steps={limits.steps}"] if limits.steps is not None else []
    options += [f"resume={limits.resume.absolute()}"] if limits.resume is not None else []
    options += [f"walks={limits.processes}"] if limits.processes > 1 else []
    options += [f"seconds={max(1, round(limits.seconds))}"] if limits.seconds is not None else []
    try:
        with (place / "output").open("a+b") as output:
            return subprocess.Popen(
                command,
                env=environment(options, place),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                process_group=0,
            )
    except OSError as error:
        raise cannot_start(command[0], error) from None


def _await(process: subprocess.Popen[bytes], limits: Limits, place: Path, watcher: Watcher) -> str:
    """Why the program had to be stopped, if it had."""
    deadline = None
    if limits.seconds is not None:
        deadline = time.monotonic() + limits.seconds + _SECONDS_FOR_THE_LAST_EXECUTION
    while True:
        try:
            wait_for(process, _SECONDS_BETWEEN_LOOKS)
            return ""
        except subprocess.TimeoutExpired:
            state = _state(place)
            if state is not None:
                watcher(state)
        if deadline is not None and time.monotonic() > deadline:
            return "an execution did not end within the time limit"


def _whole(path: Path) -> bytes:
    with path.open("rb") as file:
        return read_whole(file)


def _state(place: Path) -> Exploration | None:
    """The last that was told of how far it is."""
    ends = []
    for path in place.glob("*.jsonl"):
        with path.open("rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - _END_OF_FILE))
            (place / "end").write_bytes(file.read())
        ends.append(tuple(read_events((place / "end").read_bytes())))
    return _latest(ends)


def _latest(events: Iterable[Iterable[Event]]) -> Exploration | None:
    """All processes tell of the whole; the end comes last. What was found to be in vain no longer counts."""
    states = [event for told in events for event in told if isinstance(event, Exploration)]
    return max(states, key=lambda state: (state.at_end, state.executions + state.in_vain), default=None)
