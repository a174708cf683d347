"""One answer for all executions of an exploration."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fencepost.errors import InputError
from fencepost.report.printable import counted
from fencepost.sanitizer.answer.explain import place
from fencepost.sanitizer.answer.findings import deadlock, places_in, trouble
from fencepost.sanitizer.answer.left_out import LeftOut, is_left_out
from fencepost.sanitizer.answer.summing import findings_in, merged, warnings
from fencepost.sanitizer.answer.symbols import look_up
from fencepost.sanitizer.answer.tally import Tally
from fencepost.sanitizer.run.events import (
    End,
    Event,
    Execution,
    NoSchedules,
    NotResumed,
    NotSaved,
    RawAccess,
    RawAwait,
    RawCrash,
    RawDeadlock,
    RawFinding,
    RawRepairs,
    check_sites,
)
from fencepost.sanitizer.run.exploration import Explored
from fencepost.sanitizer.run.runs import Outcome
from fencepost.verdicts import Stats
from fencepost.verdicts.check import AllRobust, AnyCheckAnswer, CheckUnknown, SomeNotRobust
from fencepost.verdicts.run import Schedule, places

# Of what only one outcome was tried: why that is no proof.
_UNTRIED = {
    "draws": "random numbers, or choices among more than 256",
    "time-limits": "waits with a time limit for the end of a thread or for a signal",
    "outside": "input, output or waiting for other processes",
    "signals": "signals to threads or cancellation",
    "many-threads": "more than 64 threads",
    "initialisations": "what follows when `pthread_once` or `std::call_once` has thrown",
}
_PARTS = (
    "a loop waits for memory of which several threads write different parts, and executions in which it sees "
    "one part before another is written may be missing"
)
_CLOCKS = (
    "the program reads a clock: all executions were run with one course of time, which does not depend on "
    "the schedule"
)


@dataclass(frozen=True, kw_only=True)
class Checked:
    """What was asked for, as far as the answer says it, and what it took."""

    command: tuple[str, ...]
    test: str = ""
    left_out: LeftOut = field(default_factory=LeftOut)
    resume: Path | None = None
    seconds: float = 0.0


def check_answer(explored: Explored, asked: Checked) -> AnyCheckAnswer:
    program = asked.command[0]
    if any(isinstance(event, NoSchedules) for event in explored.events):
        message = "a program built with --mode races has no schedules; rebuild it without that option"
        raise InputError(message, program)
    check_sites(explored.events)
    if not explored.watched and not explored.why:
        message = "it was not built with fencepost-cc or fencepost-c++, so nothing was watched"
        raise InputError(message, program)
    for event in explored.events:
        if isinstance(event, NotResumed):
            raise InputError(f"cannot go on from this file: {event.why}", str(asked.resume))
    not_saved = any(isinstance(event, NotSaved) for event in explored.events)
    tally = _tally(program, explored)
    tally.drop_rounds()
    raws: list[RawFinding | RawDeadlock] = [seen.what for seen in tally.findings.values()]
    raws += [seen.what for seen in tally.deadlocks.values()]
    symbols = look_up(places_in(tally), near=True)
    findings = findings_in(tally, symbols)
    deadlocks = merged(tally.deadlocks.values(), deadlock, symbols)
    wanted = [one for one in findings if not is_left_out(one, asked.left_out)]
    live = [one for one in deadlocks if not is_left_out(one, asked.left_out)]
    last = explored.last
    why = _why_unknown(explored)
    ends = [event for event in explored.events if isinstance(event, End)]
    common: dict[str, Any] = {
        "file": program,
        "question": "check",
        "model": "cpp20",
        "stats": Stats(seconds=round(asked.seconds, 6)),
        "command": asked.command,
        "test": asked.test,
        "runs": last.executions,
        "schedule": Schedule(kind="random"),
        "findings": tuple(wanted),
        "deadlocks": tuple(live),
        "failures": tuple(trouble(seen, symbols) for seen in tally.troubles.values()),
        "atomics": last.atomics,
        "steps": last.steps,
        "mode": " and ".join(sorted({end.mode for end in ends})),
        "plain": "part" if len({end.plain for end in ends}) > 1 else ends[0].plain if ends else "",
        "suppressed": len(findings) - len(wanted) + len(deadlocks) - len(live),
        "exhaustive": not why,
        "given_up": last.in_vain,
        "cut": last.cut,
        "share": last.millionths / 1e6,
        "untried": last.untried,
        "warnings": (
            *warnings(raws, symbols),
            *([_CLOCKS] if "clocks" in last.untried else []),
            *([f"the state could not be written to {asked.resume}"] if not_saved else []),
        ),
    }
    if any(one.kind == "robustness" for one in wanted):
        return SomeNotRobust(**common)
    if why:
        return CheckUnknown(**common, why=why, interrupted=explored.interrupted)
    return AllRobust(**common)


def _tally(program: str, explored: Explored) -> Tally:
    """Loops that waited in one execution are known to wait in all."""
    tally = Tally(program)
    waits = tuple(event for event in explored.events if isinstance(event, RawAwait))
    for events in explored.by_process:
        own: list[Event] = []
        for event in events:
            if isinstance(event, RawFinding | RawRepairs | RawDeadlock | RawCrash):
                own.append(event)
            elif isinstance(event, Execution):
                for outcome in _outcomes(event, (*own, *waits)):
                    tally.add(outcome)
                own = []
        if own:  # the process was stopped before it told of the execution
            lost = Schedule(kind="random")
            tally.add(Outcome(schedule=lost, exit_code=0, events=(*own, *waits), watched=True))
    return tally


def _outcomes(execution: Execution, events: tuple[Event, ...]) -> Iterator[Outcome]:
    """What it found, and apart from that how it ended."""
    decisions = zlib.compress(execution.decisions.encode(), 6)
    schedule = Schedule(kind="random", decisions=decisions)
    yield Outcome(schedule=schedule, exit_code=0, events=events, watched=True)
    code = -execution.signal or execution.exit
    if code != 0 and not execution.trouble:
        crash = tuple(event for event in events if isinstance(event, RawCrash))
        yield Outcome(schedule=schedule, exit_code=code, events=crash, watched=True, output=execution.output)


def _why_unknown(explored: Explored) -> str:
    """Why not all executions are known; empty if they are."""
    last = explored.last
    if explored.why:
        return explored.why
    if not last.at_end:
        return f"the program ended before its exploration did (exit code {explored.exit_code})"
    if last.wanted is not None:
        return f"{last.why}: {_apart(last.wanted, last.met)}"
    if last.why:
        return last.why
    if last.cut:
        what = {event.trouble for event in explored.events if isinstance(event, Execution) and event.trouble}
        were = "was" if last.cut == 1 else "were"
        return (
            f"{counted(last.cut, 'execution')} {were} not followed to the end: {', or '.join(sorted(what))}"
        )
    if last.bounded:
        return "executions with more preemptions than the bound were not run"
    if "parts" in last.untried:
        return _PARTS
    untried = [_UNTRIED[name] for name in last.untried if name in _UNTRIED]
    return f"only one outcome was tried of {'; '.join(untried)}" if untried else ""


def _apart(wanted: RawAccess, met: RawAccess | None) -> str:
    """Where an execution did something else than before, at the same point of the same schedule."""
    symbols = look_up([one for access in (wanted, met) if access is not None for one in access.stack])

    def words(access: RawAccess) -> str:
        frames = [frame for one in access.stack for frame in symbols.frames[one]]
        return f"{access.what} at {place(places(frames)[-1])}" if frames else access.what

    if met is None:
        return f"thread T{wanted.thread} did not come to the {words(wanted)} again"
    return f"thread T{wanted.thread} made a {words(wanted)} once, and a {words(met)} later"
