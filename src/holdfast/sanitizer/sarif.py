"""An answer to `run` as SARIF 2.1.0, the form in which code hosts and editors take findings.

Each finding is one result: where the access stands, the write that it can miss as a related location, and a
code flow that leads from the one to the other. The fingerprint is the finding's id.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import quote

import msgspec

from holdfast import __version__
from holdfast.sanitizer import explain
from holdfast.sanitizer.run_answer import Access, AnyRunAnswer, Deadlock, Finding, Frame, places

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_RULES = {
    "robustness": (
        "NotRobust",
        "An atomic access can leave sequential consistency",
        "Every interleaving orders the access after a write, but the memory orders let it miss that write.",
    ),
    "race": (
        "DataRace",
        "Data race",
        "Two accesses to a location that is not atomic, unordered, one a write.",
    ),
    "threads": (
        "ThreadMisuse",
        "Threads or mutexes are used in a wrong way",
        "A thread or a mutex is used as its standard does not allow, or the order of locking changes.",
    ),
    "deadlock": ("Deadlock", "Deadlock", "Every thread waits for another one."),
}
_ROOT = "ROOT"  # what relative paths start from


def encode(answer: AnyRunAnswer) -> bytes:
    results = [_finding(finding) for finding in answer.findings]
    results += [_deadlock(deadlock) for deadlock in answer.deadlocks]
    driver = {"name": "holdfast", "version": __version__, "rules": list(_rules())}
    run: dict[str, Any] = {
        "tool": {"driver": driver},
        "originalUriBaseIds": {_ROOT: {"uri": _file_uri(os.path.join(os.getcwd(), ""))}},
        "invocations": [{"executionSuccessful": not answer.troubles, "arguments": list(answer.command[1:])}],
        "columnKind": "utf16CodeUnits",
        "results": results,
    }
    document = {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}
    return msgspec.json.format(msgspec.json.encode(document), indent=2) + b"\n"


def _rules() -> Iterator[dict[str, Any]]:
    for identity, (name, short, full) in _RULES.items():
        yield {
            "id": identity,
            "name": name,
            "shortDescription": {"text": short},
            "fullDescription": {"text": full},
            "defaultConfiguration": {"level": "warning"},
        }


def _finding(finding: Finding) -> dict[str, Any]:
    accesses = [*((finding.missed,) if finding.missed else ()), *finding.chain, finding.access]
    text = " ".join(
        [f"{explain.title(finding).capitalize()}.", explain.why(finding), *explain.repairs(finding)]
    )
    result = _result(finding.kind, finding.id, text, finding.access)
    if finding.missed is not None and finding.missed.stack:
        other = "the other access" if finding.kind == "race" else "the write that can be missed"
        related = _location(places(finding.missed.stack)[-1], other)
        result["relatedLocations"] = [{"id": 1, **related}]
    flows = list(_thread_flows(accesses))
    if flows:
        result["codeFlows"] = [{"threadFlows": flows}]
    return result


def _deadlock(deadlock: Deadlock) -> dict[str, Any]:
    waits = [f"{explain.thread_name(one)} waits: {one.what or 'unknown'}" for one in deadlock.threads]
    return _result("deadlock", deadlock.id, f"Deadlock: {'; '.join(waits)}.", deadlock.threads[0])


def _result(rule: str, identity: str, text: str, access: Access) -> dict[str, Any]:
    rule = rule if rule in _RULES else "robustness"
    result: dict[str, Any] = {
        "ruleId": rule,
        "ruleIndex": list(_RULES).index(rule),
        "level": "warning",
        "message": {"text": text},
        "partialFingerprints": {"holdfastFinding/v1": identity},
    }
    if access.stack:
        result["locations"] = [_location(places(access.stack)[-1])]
        result["stacks"] = [
            {"message": {"text": f"by {explain.thread_name(access)}"}, "frames": _frames(access.stack)}
        ]
    return result


def _frames(stack: Sequence[Frame]) -> list[dict[str, Any]]:
    return [{"location": _location(frame), "module": os.path.basename(frame.module)} for frame in stack]


def _thread_flows(accesses: Sequence[Access]) -> Iterator[dict[str, Any]]:
    """One flow for each thread that takes part; `executionOrder` tells how they follow each other."""
    placed = [(order, one) for order, one in enumerate(accesses, start=1) if one.stack]
    for thread in dict.fromkeys(one.thread for _, one in placed):
        steps = [
            {
                "location": _location(
                    places(one.stack)[-1], f"{explain.thread_name(one)}: {one.what or 'write'}"
                ),
                "executionOrder": order,
            }
            for order, one in placed
            if one.thread == thread
        ]
        yield {"id": f"T{thread}", "locations": steps}


def _location(frame: Frame, message: str = "") -> dict[str, Any]:
    """A source line where it is known, else the module."""
    path = explain.short_path(frame.file or frame.module)
    artifact = {"uri": _file_uri(path)} if os.path.isabs(path) else {"uri": quote(path), "uriBaseId": _ROOT}
    physical: dict[str, Any] = {"artifactLocation": artifact}
    if frame.line:
        physical["region"] = {"startLine": frame.line}
        if frame.column:
            physical["region"]["startColumn"] = frame.column
    location: dict[str, Any] = {"physicalLocation": physical}
    if frame.function:
        location["logicalLocations"] = [{"fullyQualifiedName": frame.function, "kind": "function"}]
    if message:
        location["message"] = {"text": message}
    return location


def _file_uri(path: str) -> str:
    return f"file://{quote(path)}"
