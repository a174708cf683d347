"""An answer to `run` for a terminal, in the manner of ThreadSanitizer, whose reports people know how to read.

Each finding: the access, the write that it can miss, both with their stacks, the location, why, and what
would repair it. Then what kept runs from their end, and one line that sums all up. The sentences are made in
`explain`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence

from fencepost.report.printable import counted, printable
from fencepost.report.text.page import Page, page_of
from fencepost.sanitizer.answer import explain
from fencepost.sanitizer.answer.triage import in_groups
from fencepost.verdicts.run import (
    AnyRunAnswer,
    Deadlock,
    Finding,
    Frame,
    RunsUnknown,
    Schedule,
    SeenNotRobust,
    Trouble,
    WatchedAnswer,
    places,
)

_RULE = "=================="
_STALL = "fencepost: no step was made"  # the beginning of what native/sanitizer/report/stalls.cpp prints


def render(answer: AnyRunAnswer, *, color: bool, width: int, quiet: bool = False) -> str:
    """The whole answer, or its last line alone."""
    page = page_of(color=color, width=width)
    sites = [explain.site(one) for one in answer.sites]
    if quiet:
        return "\n".join([*sites, _sum(page, answer)]) + "\n"
    lines = list(reports(page, answer, lambda report: _seen(page, report, answer.runs)))
    lines += sites
    for trouble in answer.troubles:
        lines += _trouble(page, trouble, answer.runs)
    for warning in answer.warnings:
        lines.append(page.wrapped(f"warning: {printable(warning)}", ""))
    if not answer.findings and not answer.deadlocks:
        lines += [page.wrapped(sentence, "") for sentence in explain.watched(answer)]
    return "\n".join([*lines, _sum(page, answer)]) + "\n"


_Seen = Callable[[Finding | Deadlock], Iterator[str]]


def reports(page: Page, answer: WatchedAnswer, seen: _Seen) -> Iterator[str]:
    """Each finding and each deadlock; `seen` says where it was seen."""
    for group in in_groups(answer.findings):
        yield from (_RULE, *_finding(page, group[0], seen, len(group) - 1), _RULE)
    for deadlock in answer.deadlocks:
        yield from (_RULE, *_deadlock(page, deadlock, seen), _RULE)


def _finding(page: Page, finding: Finding, seen: _Seen, others: int) -> Iterator[str]:
    yield page.paint(f"WARNING: fencepost: {explain.title(finding)}", "bad")
    access = finding.access
    yield f"  {_operation(finding)} by {explain.thread_name(access)}:"
    yield from _stack(page, access.stack)
    yield ""
    if finding.missed is not None:
        order = f" ({explain.memory_order(finding.missed.order)})" if finding.missed.order else ""
        other = finding.missed.what or "access" if finding.kind == "race" else "write"
        yield f"  It {explain.can(finding)} the {other}{order} by {explain.thread_name(finding.missed)}:"
        yield from _stack(page, finding.missed.stack)
        yield ""
    if finding.address:
        yield page.wrapped(explain.location(finding))
        yield from _stack(page, finding.location.stack, source=False)
        yield ""
    yield page.wrapped(f"Why: {explain.why(finding)}")
    if finding.kind == "robustness":
        yield from ("", page.wrapped(explain.harm(finding)))
        yield from printed(finding.harm.output if finding.harm is not None else "")
        yield from ("", page.wrapped(explain.rank(finding)))
    for number, sentence in enumerate(explain.repairs(finding)):
        yield from ("",) if number == 0 else ()
        yield page.wrapped(("Repair: " if number == 0 else "And: ") + sentence)
    yield from map(page.wrapped, explain.tried(finding))
    yield from seen(finding)
    if others:
        yield from ("", page.wrapped(explain.others(others)))
    yield f"SUMMARY: fencepost: {explain.summary(finding)}"


def _deadlock(page: Page, deadlock: Deadlock, seen: _Seen) -> Iterator[str]:
    yield page.paint("WARNING: fencepost: deadlock: no thread can go on", "bad")
    for number, thread in enumerate(deadlock.threads):
        yield from ("",) if number else ()
        yield f"  {explain.waits(thread, deadlock)}:"
        yield from _stack(page, thread.stack)
    yield from seen(deadlock)
    yield f"SUMMARY: fencepost: {explain.deadlock_summary(deadlock)}"


def _operation(finding: Finding) -> str:
    access = finding.access
    order = f" ({explain.memory_order(access.order)})" if access.order else ""
    where = f" of size {finding.size} at {finding.address}" if finding.address else ""
    return f"{explain.noun(access.what).capitalize()}{where}{order}"


def _stack(page: Page, stack: Sequence[Frame], *, source: bool = True) -> Iterator[str]:
    """With the source at the innermost call of the program, or without."""
    innermost = len(places(stack)) - 1
    for number, frame in enumerate(stack):
        function = printable(frame.function) or "<unknown function>"
        module = f"({printable(os.path.basename(frame.module))}+{frame.offset})"
        where = f"{explain.place(frame)} " if frame.file else ""
        yield f"    #{number} {function} {where}{page.paint(module, 'dim')}"
        if source and number == innermost:
            yield from (f"      {line}" for line in explain.source_lines(frame))


def _seen(page: Page, report: Finding | Deadlock, runs: int) -> Iterator[str]:
    """In how many runs it was seen, and how to repeat one of them."""
    scheduled = report.schedule.kind != "os"
    if runs == 1 and not scheduled:
        return
    first = f", first with {options_of(report.schedule)}" if scheduled else ""
    yield ""
    yield page.wrapped(f"Seen in {report.runs:,} of {counted(runs, 'run')}{first}.")


def options_of(schedule: Schedule) -> str:
    """The options that make a run with this schedule, or what it repeats."""
    if schedule.departure is not None:
        return f"the recorded schedule, left at step {schedule.departure.step} by an old read"
    depth = f" --depth {schedule.depth}" if schedule.kind == "pct" else ""
    weak = " --weak" if schedule.weak else ""
    return f"`--schedule {schedule.kind}{depth} --seed {schedule.seed}{weak}`"


def _trouble(page: Page, trouble: Trouble, runs: int) -> Iterator[str]:
    how = f" ({options_of(trouble.schedule)})" if trouble.schedule.kind != "os" else ""
    if runs == 1:
        yield page.wrapped(f"The run {trouble.why}{how}.", "")
    else:
        verb = "first " if trouble.runs > 1 else ""
        first = f", {verb}with {options_of(trouble.schedule)}" if how else ""
        yield page.wrapped(f"{trouble.runs:,} of {counted(runs, 'run')} {trouble.why}{first}.", "")
    yield from how_it_failed(page, trouble)


def how_it_failed(page: Page, trouble: Trouble) -> Iterator[str]:
    """Where it crashed, which turns of the threads led there if they are known, and what it printed."""
    if trouble.crash is not None:
        by = trouble.crash.by
        yield f"  Fault at address {trouble.crash.address}, in {explain.thread_name(by)}:"
        yield from _stack(page, by.stack)
    if turns := explain.turns(trouble.schedule):
        yield page.wrapped(turns)
    yield from printed(trouble.output)


def printed(output: str) -> Iterator[str]:
    lines = output.splitlines()
    stalls = [number for number, line in enumerate(lines) if line.startswith(_STALL)]
    lines = lines[stalls[-1] :] if stalls else lines[-10:]
    if lines:
        yield "  The end of what it printed:"
        yield from (f"    {printable(line)}" for line in lines)


def counts(answer: WatchedAnswer) -> str:
    """2 findings and 1 deadlock; 3 findings at 2 pairs of lines"""
    races = sum(finding.kind == "race" for finding in answer.findings)
    kinds = {"finding": len(answer.findings) - races, "data race": races, "deadlock": len(answer.deadlocks)}
    words = " and ".join(counted(number, what) for what, number in kinds.items() if number)
    groups = len(in_groups(answer.findings))
    return f"{words} at {counted(groups, 'pair')} of lines" if groups != len(answer.findings) else words


def _sum(page: Page, answer: AnyRunAnswer) -> str:
    """The last line: the verdict, and what it rests on."""
    seen = counts(answer)
    if isinstance(answer, RunsUnknown):
        why = f": {printable(answer.why)}; {seen or f'nothing was seen{unwatched(answer)}'}"
        verdict = page.paint("undecided", "open") + why
    elif isinstance(answer, SeenNotRobust):
        verdict = page.paint("not robust", "bad") + (f": {seen}" if seen else "")
    else:
        nothing = page.paint("nothing seen", "good") + unwatched(answer)
        verdict = page.paint(seen, "bad") if seen else nothing
    suppressed = f", {answer.suppressed:,} suppressed" if answer.suppressed else ""
    runs = f"{counted(answer.runs, 'run')} ({_schedules(answer)})"
    atomics = counted(answer.atomics, "atomic operation")
    return (
        f"{printable(answer.file)}: {verdict}{suppressed} in {runs}; {atomics}, {answer.stats.seconds:.2f} s"
    )


def unwatched(answer: WatchedAnswer) -> str:
    words = {"none": " (plain accesses were not watched)", "part": " (plain accesses were watched in part)"}
    return words.get(answer.plain, "")


def _schedules(answer: AnyRunAnswer) -> str:
    schedule = answer.schedule
    if answer.replay:
        return "replayed from the report"
    if schedule.kind == "os":
        return "scheduled by the system"
    depth = f", depth {schedule.depth or '3 to 100,000'}" if schedule.kind == "pct" else ""
    last = schedule.seed + max(answer.runs, 1) - 1
    seeds = f"seed {schedule.seed}" if last == schedule.seed else f"seeds {schedule.seed} to {last}"
    weak = ", weak" if schedule.weak else ""
    return f"schedule {schedule.kind}{depth}, {seeds}{weak}"
