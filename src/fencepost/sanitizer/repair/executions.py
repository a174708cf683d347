"""Executions of a program with changes at its sites: all of them, or many, or one of them again.

Changes do not alter which executions there are, because only the rules of the checker take them into account.
So an execution that showed something is repeated with other changes by its schedule.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from math import ceil
from pathlib import Path
from typing import NamedTuple

import msgspec

from fencepost.sanitizer.answer.checking import Checked, check_answer
from fencepost.sanitizer.answer.findings import finding, places_of
from fencepost.sanitizer.answer.left_out import LeftOut, is_left_out
from fencepost.sanitizer.answer.sites import SiteTable
from fencepost.sanitizer.answer.summing import Asked, answer_of
from fencepost.sanitizer.answer.symbols import Symbols, look_up
from fencepost.sanitizer.answer.tally import Seen, Tally
from fencepost.sanitizer.answer.waiting import WaitingLoops
from fencepost.sanitizer.frameworks import Test
from fencepost.sanitizer.run.events import Event, Place, RawAwait, RawFinding
from fencepost.sanitizer.run.exploration import Explored, Limits, explore
from fencepost.sanitizer.run.runs import InterruptedRunsError, Job, Outcome, Watcher, run_all
from fencepost.verdicts.check import AnyCheckAnswer, CheckUnknown
from fencepost.verdicts.run import AnyRunAnswer, Finding, Frame, Schedule
from fencepost.verdicts.sites import SiteChange

Changes = Sequence[SiteChange]
_DEPTHS = (3, 100_000, 12, 1_000)  # of one run after the other in pct
_MOST_SECONDS = 60.0  # of one run


class Execution(NamedTuple):
    """One that showed this finding: of a test, by its schedule."""

    test: Test
    schedule: Schedule
    finding: Finding


@dataclass(frozen=True, kw_only=True)
class Look:
    """What was seen in all executions, or in those that were made.

    `why` says why these were not all of them; empty if they were. `late`: there was no time for all runs that
    were wanted. `failures` are deadlocks, and ends that are failures of the program's own: they exist under
    sequential consistency, and no order removes them.
    """

    executions: tuple[Execution, ...]
    failures: tuple[str, ...]
    made: int
    why: str
    interrupted: bool = False
    late: bool = False


@dataclass(frozen=True, kw_only=True)
class Asking:
    """Which executions are made. With `runs`, so many by chance and as many by priorities that change at
    random; else all of them."""

    command: tuple[str, ...]
    tests: tuple[Test, ...]
    left_out: LeftOut = field(default_factory=LeftOut)
    races: bool = True  # are they findings?
    runs: int | None = None
    processes: int = 1


@dataclass(frozen=True, kw_only=True)
class How:
    """All executions, or so many runs of each schedule, with the seeds from this one on; in at most so many
    seconds together. `saying` hears how far it is."""

    runs: int | None = None
    first_seed: int = 1
    seconds: float | None = None
    saying: Callable[[str], None] = lambda _: None


@dataclass
class Executions:
    asking: Asking
    sites: SiteTable = field(default_factory=SiteTable)
    replays: int = 0
    made: int = 0
    _waits: dict[Test, set[RawAwait]] = field(default_factory=dict)
    _loops: WaitingLoops = field(default_factory=WaitingLoops)
    _frames: dict[Place, tuple[Frame, ...]] = field(default_factory=dict)

    def all(self, changes: Changes, how: How) -> Look:
        """Look at the executions of all tests."""
        deadline = None if how.seconds is None else time.monotonic() + how.seconds
        looks = []
        for test in self.asking.tests:
            left = None if deadline is None else max(deadline - time.monotonic(), 0.5)
            look = self._every_execution if how.runs is None else self._many_runs
            looks.append(look(test, changes, replace(how, seconds=left)))
            if looks[-1].interrupted:
                break
        return Look(
            executions=tuple(one for look in looks for one in look.executions),
            failures=tuple(dict.fromkeys(one for look in looks for one in look.failures)),
            made=sum(look.made for look in looks),
            why="; ".join(dict.fromkeys(look.why for look in looks if look.why)),
            interrupted=any(look.interrupted for look in looks),
            late=any(look.late for look in looks),
        )

    def finding_in(self, execution: Execution, changes: Changes) -> Finding | None:
        """One that the same execution shows with these changes, if it shows any."""
        found: list[Finding] = []

        def watch(outcome: Outcome) -> None:
            found.extend(
                msgspec.structs.replace(one, schedule=execution.schedule)
                for one in self._wanted(execution.test, outcome.events)
            )

        self.replays += 1
        with _file(self.sites, changes) as settings:
            run_all(self._job(execution.test, settings), [execution.schedule], watch)
        return next(iter(found), None)

    def _wanted(self, test: Test, events: Sequence[Event]) -> Iterator[Finding]:
        """The findings in the events of one run."""
        events = (*events, *self._waits.get(test, ()))
        rounds = self._loops.rounds_in(events)
        raws = [event for event in events if isinstance(event, RawFinding) and event not in rounds]
        if not raws:
            return
        new = {place for raw in raws for place in places_of(raw)} - self._frames.keys()
        if new:
            self._frames.update(look_up(new).frames)
        symbols = Symbols(self._frames, "")
        for raw in raws:
            one = finding(Seen(raw, Schedule(), ""), symbols)
            if self._counts(one):
                yield one

    def _counts(self, one: Finding) -> bool:
        kinds = ("robustness", "race") if self.asking.races else ("robustness",)
        return one.kind in kinds and not is_left_out(one, self.asking.left_out)

    def _every_execution(self, test: Test, changes: Changes, how: How) -> Look:
        command = (*self.asking.command, *test.arguments)
        explored = self._explored(command, changes, how)
        while self.sites.learn(explored.events) and changes:
            explored = self._explored(command, changes, how)
        waits = (event for event in explored.events if isinstance(event, RawAwait))
        self._waits.setdefault(test, set()).update(waits)
        answer: AnyCheckAnswer = check_answer(
            explored, Checked(command=command, test=test.name, left_out=self.asking.left_out)
        )
        self.made += answer.runs
        why = answer.why if isinstance(answer, CheckUnknown) else "" if answer.exhaustive else _why(explored)
        return Look(
            executions=tuple(
                Execution(test, one.schedule, one) for one in answer.findings if self._counts(one)
            ),
            failures=(
                *(f"an execution {one.why}" for one in answer.failures),
                *("threads wait for each other for ever" for _ in answer.deadlocks),
            ),
            made=answer.runs,
            why=why,
            interrupted=explored.interrupted,
        )

    def _explored(self, command: tuple[str, ...], changes: Changes, how: How) -> Explored:
        with _file(self.sites, changes) as settings:
            limits = Limits(seconds=how.seconds, processes=self.asking.processes, settings=settings)
            return explore(command, limits, lambda state: how.saying(f"{state.executions:,} executions"))

    def _many_runs(self, test: Test, changes: Changes, how: How) -> Look:
        assert how.runs is not None
        schedules = list(_schedules(how.runs, how.first_seed))
        while True:
            tally = Tally(self.asking.command[0])
            events: list[Event] = []

            def watch(outcome: Outcome, tally: Tally = tally, events: list[Event] = events) -> None:
                tally.add(outcome)
                events.extend(outcome.events)
                how.saying(f"{tally.runs:,} runs")

            interrupted = self._run_all(test, changes, schedules, watch, how.seconds)
            if not self.sites.learn(events) or not changes or interrupted:
                break
        waits = (event for event in events if isinstance(event, RawAwait))
        self._waits.setdefault(test, set()).update(waits)
        self.made += tally.runs
        asked = Asked(
            command=self.asking.command,
            schedule=schedules[0],
            left_out=self.asking.left_out,
        )
        answer: AnyRunAnswer = answer_of(tally, asked)
        failures = [f"an execution {one.why}" for one in answer.troubles]
        failures += ["threads wait for each other for ever" for _ in answer.deadlocks]
        return Look(
            executions=tuple(
                Execution(test, one.schedule, one) for one in answer.findings if self._counts(one)
            ),
            failures=tuple(failures),
            made=tally.runs,
            why="only some executions were made",
            interrupted=interrupted,
            late=tally.runs < len(schedules),
        )

    def _run_all(
        self,
        test: Test,
        changes: Changes,
        schedules: Sequence[Schedule],
        watcher: Watcher,
        seconds: float | None,
    ) -> bool:
        """Was it interrupted?"""
        deadline = None if seconds is None else time.monotonic() + seconds

        def watch(outcome: Outcome) -> None:
            watcher(outcome)
            if deadline is not None and time.monotonic() > deadline:
                raise _TooLateError

        with _file(self.sites, changes) as settings:
            job = self._job(test, settings, seconds)
            try:
                for kind in ("random", "pct"):
                    run_all(job, [one for one in schedules if one.kind == kind], watch)
            except _TooLateError:
                return False
            except InterruptedRunsError:
                return True
        return False

    def _job(self, test: Test, settings: tuple[str, ...], seconds: float | None = None) -> Job:
        command = (*self.asking.command, *test.arguments)
        return Job(
            command=command,
            timeout=min(_MOST_SECONDS, ceil(max(seconds or _MOST_SECONDS, 1.0))),
            processes=self.asking.processes,
            at_terminal=False,
            settings=settings,
        )


class _TooLateError(Exception):
    pass


def _schedules(runs: int, first_seed: int) -> Iterator[Schedule]:
    for number in range(runs):
        yield Schedule(kind="random", seed=first_seed + number)
    for number in range(runs):
        yield Schedule(kind="pct", seed=first_seed + number, depth=_DEPTHS[number % len(_DEPTHS)])


def _why(explored: Explored) -> str:
    return explored.why or explored.last.why or "not every execution was followed to its end"


@contextmanager
def _file(sites: SiteTable, changes: Changes) -> Iterator[tuple[str, ...]]:
    """The settings that make these changes and list the sites, as long as the context lasts."""
    text = sites.file_of(changes)
    with tempfile.TemporaryDirectory(prefix="fencepost-sites-") as directory:
        path = Path(directory) / "sites"
        path.write_text(text, encoding="utf-8")
        yield (f"sites={path}", "list_sites=1") if text else ("list_sites=1",)
