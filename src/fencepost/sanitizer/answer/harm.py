"""Which findings do harm: the program fails in weak executions, and in no other.

A finding says that a load, or a compare-exchange that fails, can miss a write. Here it does: the execution
that showed the finding is repeated up to that access, which reads an old write, and goes on from there, first
as if no other access did, then with more of them. Further weak executions begin at the start, with random
schedules. If one fails in a way that no execution under sequential consistency has, that is put down to the
findings that took effect in it, unless another one fails in the same way by fewer of them.

Seeing no harm is no proof that there is none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

import msgspec

from fencepost.sanitizer.answer import explain
from fencepost.sanitizer.answer.findings import deadlock, finding, identities, places_of
from fencepost.sanitizer.answer.left_out import LeftOut, is_left_out
from fencepost.sanitizer.answer.symbols import Symbols, look_up
from fencepost.sanitizer.answer.tally import Seen, failure
from fencepost.sanitizer.run.events import Found, RawDeadlock, RawFinding, RawOldRead, StepLimit
from fencepost.sanitizer.run.runs import InterruptedRunsError, Job, Outcome, run_all
from fencepost.verdicts.check import CheckAnswer
from fencepost.verdicts.run import Deadlock, Departure, Finding, Harm, Schedule, ScheduleKind

_MOST_STEPS = 1_000_000  # of a weak execution: one that waits for an old value to go away takes long
_MOST_SECONDS = 60.0

_NOT_TRIED = "weak executions keep the order of writes, so only what just reads can miss one in them"
_NOT_MISSED = "in the weak executions that were run the access never missed that write"

Watcher = Callable[[int], None]
Answer = TypeVar("Answer", bound=CheckAnswer)
_IsNews = Callable[[str, "Finding | Deadlock | None"], bool]
_Cause = tuple[str, frozenset[str]]  # a failure, and the ids of findings


@dataclass(frozen=True, kw_only=True)
class _Execution:
    """A weak one: the findings that took effect in it (by id), by so many old reads, and how it failed: what
    to compare that by, and in words."""

    outcome: Outcome
    effective: frozenset[str]
    old_reads: int
    failures: dict[str, str]


def with_harm(answer: Answer, runs: int, left_out: LeftOut, watcher: Watcher) -> tuple[Answer, bool]:
    """The answer with harm sought for each finding, about `runs` weak executions for each; those that do some
    come first. Also, whether the user has interrupted the search. What is left out of the answer is no harm.
    `watcher` hears how many have been made."""
    loads = [one for one in answer.findings if _can_just_read(one) and one.schedule.decisions is not None]
    outcomes: list[Outcome] = []
    interrupted = bool(loads) and not _run_weakly(outcomes, answer.command, loads, runs, watcher)
    under_sc = {one.why for one in answer.failures}
    under_sc |= {one.id for one in answer.deadlocks} | {one.id for one in answer.findings}

    def is_news(what: str, report: Finding | Deadlock | None) -> bool:
        return what not in under_sc and (report is None or not is_left_out(report, left_out))

    executions = list(_executions(outcomes, {one.id for one in loads}, is_news))
    causes = _causes(executions)
    judged = [
        msgspec.structs.replace(one, harm=_harm(one, executions, causes)) if one.kind == "robustness" else one
        for one in answer.findings
    ]
    judged.sort(key=lambda one: one.harm is None or not one.harm.shown)
    return msgspec.structs.replace(answer, findings=tuple(judged)), interrupted


def _can_just_read(finding: Finding) -> bool:
    """A compare-exchange can if it fails."""
    return finding.kind == "robustness" and finding.access.what in ("load", "cas")


def _harm(finding: Finding, executions: Sequence[_Execution], causes: frozenset[_Cause]) -> Harm:
    if not _can_just_read(finding):
        return Harm(shown=False, executions=0, why=_NOT_TRIED)
    own = [one for one in executions if finding.id in one.effective]
    guilty = [one for one in own if any((what, one.effective) in causes for what in one.failures)]
    if not guilty:
        return Harm(shown=False, executions=len(own), why="" if own else _NOT_MISSED)
    clearest = min(guilty, key=lambda one: one.old_reads)
    return Harm(
        shown=True,
        executions=len(own),
        failed=sum(bool(one.failures) for one in own),
        why="; ".join(clearest.failures.values()),
        others=tuple(sorted(clearest.effective - {finding.id})),
        output=clearest.outcome.output,
        schedule=clearest.outcome.schedule,
    )


def _causes(executions: Sequence[_Execution]) -> frozenset[_Cause]:
    """Findings that took effect together when the program failed, where no fewer of them did."""
    seen = {(what, one.effective) for one in executions for what in one.failures}
    return frozenset(
        (what, findings)
        for what, findings in seen
        if not any(other == what and fewer < findings for other, fewer in seen)
    )


def _run_weakly(
    outcomes: list[Outcome],
    command: tuple[str, ...],
    findings: Sequence[Finding],
    runs: int,
    watcher: Watcher,
) -> bool:
    """False if the user has interrupted it: what is known by then is the answer, with the number of runs."""

    def note(outcome: Outcome) -> None:
        outcomes.append(outcome)
        watcher(len(outcomes))

    job = Job(command=command, timeout=_MOST_SECONDS)
    alone = {one.id: _departures(one, runs // 2, old_reads=1) for one in findings}
    try:
        run_all(job, [schedule for schedules in alone.values() for schedule in schedules], note)
        failing = {one.schedule for one in outcomes if one.exit_code}
        rest = [one for one in findings if failing.isdisjoint(alone[one.id])]
        run_all(job, [schedule for one in rest for schedule in _departures(one, runs // 2)], note)
        run_all(job, [*_from_the_start("random", runs // 2), *_from_the_start("pct", runs // 2)], note)
    except InterruptedRunsError:
        return False
    return True


def _departures(finding: Finding, count: int, old_reads: int | None = None) -> list[Schedule]:
    return [
        msgspec.structs.replace(
            finding.schedule,
            weak=True,
            max_steps=_MOST_STEPS,
            departure=Departure(step=finding.step, seed=seed, old_reads=old_reads),
        )
        for seed in range(1, count + 1)
    ]


def _from_the_start(kind: ScheduleKind, count: int) -> Iterator[Schedule]:
    for seed in range(1, count + 1):
        yield Schedule(kind=kind, seed=seed, weak=True, max_steps=_MOST_STEPS)


def _executions(outcomes: Sequence[Outcome], known: set[str], is_news: _IsNews) -> Iterator[_Execution]:
    """Those that came to an end, with what they have of the known findings, and their failures of a kind that
    does not happen under sequential consistency."""
    ended = [one for one in outcomes if not _was_cut(one)]
    raws = {event for outcome in ended for event in outcome.events if isinstance(event, Found)}
    symbols = look_up(place for raw in raws for place in places_of(raw))
    effects: dict[RawOldRead, frozenset[str]] = {}
    for raw in raws:
        if isinstance(raw, RawOldRead):
            effects[raw] = frozenset(identities(raw, symbols))
    for outcome in ended:
        reads = [effects[event] for event in outcome.events if isinstance(event, RawOldRead)]
        yield _Execution(
            outcome=outcome,
            effective=frozenset().union(*reads) & known,
            old_reads=len(reads),
            failures={
                what: words for what, words, report in _failures(outcome, symbols) if is_news(what, report)
            },
        )


def _was_cut(outcome: Outcome) -> bool:
    return outcome.exit_code is None or any(isinstance(event, StepLimit) for event in outcome.events)


def _failures(outcome: Outcome, symbols: Symbols) -> Iterator[tuple[str, str, Finding | Deadlock | None]]:
    """Each by what it is compared by, in words, and as it would be reported."""
    stuck = False
    for event in outcome.events:
        if isinstance(event, RawDeadlock):
            stuck = True
            report = deadlock(Seen(event, outcome.schedule, ""), symbols)
            yield report.id, f"came to a {explain.deadlock_summary(report)}", report
        elif isinstance(event, RawFinding) and event.kind == "race":
            race = finding(Seen(event, outcome.schedule, ""), symbols)
            yield race.id, f"had a {explain.summary(race)}", race
    how = failure(outcome.exit_code or 0)
    if how is not None and not stuck:
        yield how, how, None
