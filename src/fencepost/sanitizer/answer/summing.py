"""One answer for all runs: each finding once, with the number of runs that showed it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import msgspec

from fencepost.errors import InputError
from fencepost.report.printable import counted
from fencepost.sanitizer.answer.findings import (
    deadlock,
    finding,
    joined_repairs,
    places_in,
    places_of,
    trouble,
)
from fencepost.sanitizer.answer.left_out import LeftOut, is_left_out
from fencepost.sanitizer.answer.symbols import Symbols, look_up
from fencepost.sanitizer.answer.tally import Seen, Tally
from fencepost.sanitizer.answer.triage import in_groups, rank_of, worst
from fencepost.sanitizer.answer.uninstrumented import uninstrumented
from fencepost.sanitizer.answer.waiting import source_of
from fencepost.sanitizer.run.events import Place, RawDeadlock, RawFinding
from fencepost.verdicts import Stats
from fencepost.verdicts.run import (
    AnyRunAnswer,
    Deadlock,
    Finding,
    NotSeen,
    Rank,
    RunsUnknown,
    Schedule,
    SeenNotRobust,
)

Raw = TypeVar("Raw", RawFinding, RawDeadlock)
Report = TypeVar("Report", Finding, Deadlock)


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What was asked for, as far as the answer says it, and what it took."""

    command: tuple[str, ...]
    schedule: Schedule
    left_out: LeftOut = field(default_factory=LeftOut)
    seconds: float = 0.0
    interrupted: bool = False
    again: frozenset[str] = frozenset()  # the ids of an earlier answer that should be seen once more


def answer_of(tally: Tally, asked: Asked) -> AnyRunAnswer:
    if tally.runs and not tally.watched and not tally.troubles:
        message = "it was not built with fencepost-cc or fencepost-c++, so nothing was watched"
        raise InputError(message, asked.command[0])
    tally.drop_rounds()
    raws: list[RawFinding | RawDeadlock] = [seen.what for seen in tally.findings.values()]
    raws += [seen.what for seen in tally.deadlocks.values()]
    symbols = look_up(places_in(tally), near=True)
    findings = findings_in(tally, symbols)
    deadlocks = merged(tally.deadlocks.values(), deadlock, symbols)
    wanted = [one for one in findings if not is_left_out(one, asked.left_out)]
    live = [one for one in deadlocks if not is_left_out(one, asked.left_out)]
    missing = asked.again - {one.id for one in findings} - {one.id for one in deadlocks}
    common: dict[str, Any] = {
        "file": asked.command[0],
        "question": "run",
        "model": "cpp20",
        "stats": Stats(seconds=round(asked.seconds, 6)),
        "command": asked.command,
        "runs": tally.runs,
        "schedule": asked.schedule,
        "findings": tuple(wanted),
        "deadlocks": tuple(live),
        "troubles": tuple(trouble(seen, symbols) for seen in tally.troubles.values()),
        "atomics": tally.atomics,
        "steps": tally.steps,
        "mode": " and ".join(sorted(tally.modes)),
        "plain": "part" if len(tally.plain) > 1 else "".join(tally.plain),
        "suppressed": len(findings) - len(wanted) + len(deadlocks) - len(live),
        "replay": bool(asked.again),
        "warnings": (*warnings(raws, symbols), *_not_again(missing, asked)),
    }
    if any(one.kind == "robustness" for one in wanted):
        return SeenNotRobust(**common)
    if asked.interrupted:
        return RunsUnknown(**common, why=f"interrupted after {counted(tally.runs, 'run')}", interrupted=True)
    if tally.troubles:
        return RunsUnknown(**common, why=_why_unknown(tally))
    if missing and missing == asked.again:
        return RunsUnknown(**common, why="what the report says was not seen again")
    return NotSeen(**common)


def findings_in(tally: Tally, symbols: Symbols) -> list[Finding]:
    """Those to look at first come first."""
    at_waits = {source_of(frames) for frames in look_up(tally.waits).frames.values()} - {None}

    def waits(place: Place) -> bool:
        return place in tally.waits or source_of(symbols.frames[place]) in at_waits

    ranks: dict[str, list[Rank]] = {}
    parts: dict[str, list[Finding]] = {}
    for seen in tally.findings.values():
        part = finding(seen, symbols)
        ranks.setdefault(part.id, []).append(rank_of(seen, waits))
        parts.setdefault(part.id, []).append(part)
    findings = [
        msgspec.structs.replace(
            one,
            rank=worst(ranks[one.id]),
            repair=joined_repairs(part.repair for part in parts[one.id]),
            occurrences=sum(part.occurrences for part in parts[one.id]),
            tried=sum(part.tried for part in parts[one.id]),
        )
        for one in merged(tally.findings.values(), finding, symbols)
    ]
    return [one for group in in_groups(findings) for one in group]


def merged(
    tallied: Iterable[Seen[Raw]], report_of: Callable[[Seen[Raw], Symbols], Report], symbols: Symbols
) -> list[Report]:
    """The reports in the order in which they were first seen; a run that shows one twice counts once."""
    reports: dict[str, Report] = {}
    runs: dict[str, set[int]] = {}
    for seen in tallied:
        report = report_of(seen, symbols)
        reports.setdefault(report.id, report)
        runs.setdefault(report.id, set()).update(seen.runs)
    return [msgspec.structs.replace(one, runs=len(runs[one.id])) for one in reports.values()]


def _why_unknown(tally: Tally) -> str:
    if tally.runs == 1:
        return f"the run {' and '.join(seen.what.why for seen in tally.troubles.values())}"
    runs: dict[str, set[int]] = {}
    for seen in tally.troubles.values():
        runs.setdefault(seen.what.why, set()).update(seen.runs)
    return ", ".join(f"{counted(len(them), 'run')} of {tally.runs:,} {why}" for why, them in runs.items())


def warnings(raws: Sequence[RawFinding | RawDeadlock], symbols: Symbols) -> tuple[str, ...]:
    found: list[str] = []
    if raws and symbols.tool is None:
        found.append("no source lines: there is no llvm-symbolizer or addr2line (Debian: apt install llvm)")
    unseen = uninstrumented(place for raw in raws for place in places_of(raw))
    if unseen:
        found.append(
            f"some threads came through {', '.join(unseen)}, not built with fencepost-cc: what it "
            "synchronises is not seen, so a finding about such a thread may be about ordered accesses"
        )
    return tuple(found)


def _not_again(missing: frozenset[str], asked: Asked) -> tuple[str, ...]:
    if not missing:
        return ()
    return (f"{len(missing)} of {len(asked.again)} findings of the report were not seen again",)
