"""An answer to `run` as SARIF 2.1.0, the form in which code hosts and editors take findings.

Each finding is one result: where the access stands, the write that it can miss as a related location, and a
code flow that leads from the one to the other. The fingerprint is the finding's id. What SARIF itself asks
for is in `report.export.sarif_log`.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from fencepost.report.export import sarif_log
from fencepost.report.export.sarif_log import DATA_RACE, Json, Rule, Step
from fencepost.sanitizer.answer import explain
from fencepost.verdicts.run import Access, Deadlock, Finding, Frame, Rank, WatchedAnswer, places

_PAGE = "docs/sanitizer.md"
_RULES = {
    "robustness": Rule(
        "NotRobust",
        "An atomic access can leave sequential consistency",
        "Every interleaving orders the access after a write, but the memory orders let it miss that write.",
        _PAGE,
    ),
    "race": DATA_RACE._replace(page=_PAGE),
    "threads": Rule(
        "ThreadMisuse",
        "Threads or mutexes are used in a wrong way",
        "A thread or a mutex is used as its standard does not allow, or the order of locking changes.",
        _PAGE,
    ),
    "deadlock": Rule("Deadlock", "Deadlock", "Every thread waits for another one.", _PAGE, "error"),
}


# From 0 to 100, the highest first; what they mean is in `triage`.
_RANKS: dict[Rank, float] = {"used": 100.0, "waits": 60.0, "compared": 40.0, "same": 20.0}


def encode(*answers: WatchedAnswer) -> bytes:
    """Of one program; what several answers have found is one result."""
    results: dict[str, Json] = {}
    for answer in answers:
        for finding in answer.findings:
            results.setdefault(finding.id, _finding(finding))
        for deadlock in answer.deadlocks:
            results.setdefault(deadlock.id, _deadlock(deadlock))
    return sarif_log.encode(
        _RULES,
        list(results.values()),
        successful=not any(answer.troubles for answer in answers),
        arguments=answers[0].command[1:] if len(answers) == 1 else None,
        column_kind="utf16CodeUnits",
    )


def _finding(finding: Finding) -> Json:
    accesses = [*((finding.missed,) if finding.missed else ()), *finding.chain, finding.access]
    title = f"{explain.title(finding).capitalize()}."
    text = " ".join(
        [title, explain.why(finding), *_harm(finding), *explain.repairs(finding), *explain.tried(finding)]
    )
    result = _result(finding.kind, finding.id, text, finding.access)
    if finding.harm is not None:
        result["level"] = "error" if finding.harm.shown else "note"
    result["rank"] = _RANKS[finding.rank]
    if finding.missed is not None and finding.missed.stack:
        other = "the other access" if finding.kind == "race" else "the write that can be missed"
        result["relatedLocations"] = sarif_log.related([_location(places(finding.missed.stack)[-1], other)])
    steps = [_step(one) for one in accesses if one.stack]
    if steps:
        result["codeFlows"] = sarif_log.code_flows(steps)
    return result


def _harm(finding: Finding) -> list[str]:
    return [explain.harm(finding)] if finding.harm is not None else []


def _deadlock(deadlock: Deadlock) -> Json:
    waits = [f"{explain.thread_name(one)} waits: {one.what or 'unknown'}" for one in deadlock.threads]
    return _result("deadlock", deadlock.id, f"Deadlock: {'; '.join(waits)}.", deadlock.threads[0])


def _result(rule: str, identity: str, text: str, access: Access) -> Json:
    result = sarif_log.result(_RULES, rule if rule in _RULES else "robustness", identity, text)
    if access.stack:
        result["locations"] = [_location(places(access.stack)[-1])]
        result["stacks"] = [
            {
                "message": sarif_log.message(f"by {explain.thread_name(access)}"),
                "frames": _frames(access.stack),
            }
        ]
    return result


def _frames(stack: Sequence[Frame]) -> list[Json]:
    return [{"location": _location(frame), "module": os.path.basename(frame.module)} for frame in stack]


def _step(access: Access) -> Step:
    what = f"{explain.thread_name(access)}: {access.what or 'write'}"
    return Step(f"T{access.thread}", _location(places(access.stack)[-1], what))


def _location(frame: Frame, message: str = "") -> Json:
    """A source line where it is known, else the module."""
    path = explain.short_path(frame.file or frame.module)
    return sarif_log.location(path, frame.line, frame.column, says=message, function=frame.function)
