"""What many runs have shown so far: each observation once, with the runs in which it was made.

Things are told apart by their raw addresses here, so that nothing grows with the number of runs; which of
them are the same for a reader of the source is decided when all runs are over.
"""

from __future__ import annotations

import signal
from collections.abc import Hashable
from dataclasses import dataclass, field, replace
from typing import Generic, TypeVar

from fencepost.errors import InputError
from fencepost.sanitizer.answer.waiting import WaitingLoops
from fencepost.sanitizer.run.events import (
    End,
    NoSchedules,
    Place,
    RawAwait,
    RawCrash,
    RawDeadlock,
    RawFinding,
    RawRepair,
    RawRepairs,
    RawUses,
    StepLimit,
    check_sites,
)
from fencepost.sanitizer.run.runs import Outcome
from fencepost.verdicts.run import Schedule

What = TypeVar("What")


@dataclass(frozen=True)
class Seen(Generic[What]):
    """Something that was seen, the first time and in all runs (by their number).

    `repairs` are those of a finding in all runs, which grow with them.
    """

    what: What
    schedule: Schedule
    output: str
    repairs: dict[RawRepair, None] = field(default_factory=dict)
    runs: set[int] = field(default_factory=set)
    uses: list[RawUses | None] = field(
        default_factory=list
    )  # of a finding, in each of the runs that tells it


@dataclass(frozen=True)
class Trouble:
    """Why a run did not come to a proper end, and where it crashed, if that is why and is known."""

    why: str
    crash: RawCrash | None = None

    @property
    def shape(self) -> Hashable:
        return self.why, self.crash and self.crash.by.stack[:1]


@dataclass
class Tally:
    program: str = ""
    runs: int = 0
    watched: bool = False  # the run-time library was there in some run
    atomics: int = 0
    steps: int = 0
    modes: set[str] = field(default_factory=set)  # of the programs that ran
    plain: set[str] = field(default_factory=set)  # which plain accesses were watched in them
    findings: dict[Hashable, Seen[RawFinding]] = field(default_factory=dict)
    deadlocks: dict[Hashable, Seen[RawDeadlock]] = field(default_factory=dict)
    troubles: dict[Hashable, Seen[Trouble]] = field(default_factory=dict)
    waits: set[Place] = field(default_factory=set)  # places that were seen to wait
    _repairs: dict[str, dict[RawRepair, None]] = field(default_factory=dict)  # of findings, by their ids
    _forgotten: dict[tuple[Hashable, Schedule], int] = field(default_factory=dict)
    """Which run no longer knew how which finding came about, and where its uses are in `Seen.uses`."""
    _waiting: WaitingLoops = field(default_factory=WaitingLoops)

    def add(self, outcome: Outcome) -> None:
        self.runs += 1
        self.watched |= outcome.watched
        check_sites(outcome.events)
        rounds = self._waiting.rounds_in(outcome.events)
        self._waiting.learn(outcome.events)
        uses = {event.id: event for event in outcome.events if isinstance(event, RawUses)}
        self.waits.update(event.at for event in outcome.events if isinstance(event, RawAwait))
        for event in outcome.events:
            if isinstance(event, RawFinding):
                if event in rounds:
                    continue
                self._add_finding(event, uses.get(event.id), outcome)
            elif isinstance(event, RawRepairs):
                self._add_repairs(event)
            elif isinstance(event, RawDeadlock):
                self._note(self.deadlocks, event.threads, event, outcome)
            elif isinstance(event, End):
                self.atomics += event.atomics
                self.steps += event.steps
                self.modes |= {event.mode} - {""}
                self.plain |= {event.plain} - {""}
            elif isinstance(event, NoSchedules):
                message = (
                    "a program built with --mode races has no schedules; rebuild it without that "
                    "option, or leave --schedule out"
                )
                raise InputError(message, self.program)
        trouble = _trouble(outcome)
        if trouble is not None:
            self._note(self.troubles, trouble.shape, trouble, outcome)

    def drop_rounds(self) -> None:
        """When all runs are over: leaves out what was only a round of a loop that waits, by what any of them
        has seen."""
        self.findings = {
            shape: seen
            for shape, seen in self.findings.items()
            if seen.what.unless_await is None or not self._waiting.only_prolongs(seen.what.unless_await)
        }

    def forgotten(self) -> list[Schedule]:
        """Of the runs that are to be made again, so that they remember more."""
        return list(dict.fromkeys(schedule for _, schedule in self._forgotten))

    def recall(self, outcome: Outcome) -> None:
        """A run that was made again knows of its findings what it did not know."""
        uses = {event.id: event for event in outcome.events if isinstance(event, RawUses)}
        for event in outcome.events:
            if isinstance(event, RawFinding):
                shape, again = _shape(event), uses.get(event.id)
                number = self._forgotten.get((shape, outcome.schedule))
                if number is None or _is_forgotten(event, again):
                    continue
                del self._forgotten[shape, outcome.schedule]
                seen = self.findings[shape]
                if not seen.what.chain:
                    self.findings[shape] = seen = replace(seen, what=event)
                seen.uses[number] = again
            if isinstance(event, RawFinding | RawRepairs):
                self._add_repairs(event)

    def _add_finding(self, event: RawFinding, uses: RawUses | None, outcome: Outcome) -> None:
        shape = _shape(event)
        seen = self._note(self.findings, shape, event, outcome)
        if _is_forgotten(event, uses) and outcome.schedule.kind != "os":
            self._forgotten.setdefault((shape, outcome.schedule), len(seen.uses))
        seen.uses.append(uses)
        self._add_repairs(event)

    def _note(
        self, kind: dict[Hashable, Seen[What]], key: Hashable, what: What, outcome: Outcome
    ) -> Seen[What]:
        repairs = self._repairs.setdefault(what.id, {}) if isinstance(what, RawFinding) else {}
        seen = kind.setdefault(key, Seen(what, outcome.schedule, outcome.output, repairs))
        seen.runs.add(self.runs)
        return seen

    def _add_repairs(self, event: RawFinding | RawRepairs) -> None:
        self._repairs.setdefault(event.id, {}).update(dict.fromkeys(event.repair))


def _is_forgotten(finding: RawFinding, uses: RawUses | None) -> bool:
    return finding.kind == "robustness" and (not finding.chain or (uses is not None and uses.forgotten != 0))


def _shape(finding: RawFinding) -> Hashable:
    missed = finding.missed.stack if finding.missed is not None else ()
    return finding.kind, finding.access, finding.by.stack, missed, finding.unless_await


def _trouble(outcome: Outcome) -> Trouble | None:
    why = _why_no_evidence(outcome)
    if why is None:
        return None
    crashes = (event for event in outcome.events if isinstance(event, RawCrash))
    return Trouble(why, next((one for one in crashes if one.signal == -(outcome.exit_code or 0)), None))


def _why_no_evidence(outcome: Outcome) -> str | None:
    """Why the run is no evidence that nothing is wrong: a limit, a crash, or a failure of the program's own.

    A run that found something has said what it had to say; its exit code is the program's own affair then.
    """
    code = outcome.exit_code
    if code is None:
        limit = f" of {outcome.timeout:g} s (`--timeout`)" if outcome.timeout is not None else ""
        return f"did not end within the time limit{limit}"
    for event in outcome.events:
        if isinstance(event, StepLimit):
            return f"reached the limit of {event.steps:,} scheduled steps"
        if isinstance(event, RawDeadlock):
            return None
    if code > 0 and any(isinstance(event, RawFinding) for event in outcome.events):
        return None
    return failure(code)


def failure(exit_code: int) -> str | None:
    """How a program failed that ended so; None if it did not."""
    if exit_code < 0:
        return f"was killed by {_signal_name(-exit_code)}"
    return f"exited with code {exit_code}" if exit_code > 0 else None


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
