"""SARIF 2.1.0, the form in which code hosts and editors take findings: what all our logs have in common.

A log has one run, with the rules, the results, and what the tool itself has to say (notifications). Which
results there are is left to `sarif` for programs in files, and to `sanitizer.answer.sarif` for runs of C and
C++ programs.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple
from urllib.parse import quote

import msgspec

from fencepost import __version__

Json = dict[str, Any]

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_ROOT = "ROOT"  # what relative paths start from
_LINK = re.compile(r"\[(?=[^\]]*\]\()")


class Rule(NamedTuple):
    """A kind of finding: a name in one word, what it means in short and in full, and the page that explains
    it. What is wrong under every memory model is an error; what can be harmless is a warning."""

    name: str
    short: str
    full: str
    page: str = ""
    level: Literal["warning", "error"] = "warning"


DATA_RACE = Rule(
    "DataRace",
    "Data race",
    "Two accesses to a non-atomic location, at least one a write, that nothing orders.",
    "docs/races.md",
    "error",
)


class Step(NamedTuple):
    """A step of a code flow: which thread takes it, and where."""

    thread: str
    location: Json


def encode(
    rules: Mapping[str, Rule],
    results: Sequence[Json],
    *,
    successful: bool = True,
    arguments: Sequence[str] | None = None,
    notifications: Sequence[Json] = (),
    column_kind: Literal["utf16CodeUnits", "unicodeCodePoints"] = "unicodeCodePoints",
) -> bytes:
    """The log, with line breaks, as a file has it."""
    invocation: Json = {"executionSuccessful": successful}
    if arguments is not None:
        invocation["arguments"] = list(arguments)
    if notifications:
        invocation["toolExecutionNotifications"] = list(notifications)
    run = {
        "tool": {"driver": {"name": "fencepost", "version": __version__, "rules": list(_described(rules))}},
        "originalUriBaseIds": {_ROOT: {"uri": _file_uri(os.path.join(os.getcwd(), ""))}},
        "invocations": [invocation],
        "columnKind": column_kind,
        "results": list(results),
    }
    document = {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}
    written = msgspec.json.format(msgspec.json.encode(document), indent=2) + b"\n"
    # Nothing in a log looks like HTML, whatever page it is put into.
    return written.replace(b"<", b"\\u003c").replace(b">", b"\\u003e").replace(b"&", b"\\u0026")


def message(text: str) -> Json:
    """A message that says `text`, with what SARIF would take for a link as plain text."""
    return {"text": _LINK.sub(r"\\[", text)}


def result(rules: Mapping[str, Rule], rule: str, identity: str, text: str) -> Json:
    """A result without a place; `identity` is the same whenever the same thing is found."""
    return {
        "ruleId": rule,
        "ruleIndex": list(rules).index(rule),
        "level": rules[rule].level,
        "message": message(text),
        "partialFingerprints": {"fencepostFinding/v1": identity},
    }


def location(path: str, line: int = 0, column: int = 0, *, says: str = "", function: str = "") -> Json:
    """A place in a file, or the file if the line is 0."""
    physical: Json = {"artifactLocation": artifact(path)}
    if line:
        physical["region"] = {"startLine": line} | ({"startColumn": column} if column else {})
    place: Json = {"physicalLocation": physical}
    if function:
        place["logicalLocations"] = [{"fullyQualifiedName": function, "kind": "function"}]
    if says:
        place["message"] = message(says)
    return place


def related(locations: Iterable[Json]) -> list[Json]:
    """Related locations, numbered so that messages can refer to them."""
    return [{"id": number, **place} for number, place in enumerate(locations, start=1)]


def code_flows(steps: Sequence[Step]) -> list[Json]:
    """One flow for each thread that takes part; `executionOrder` tells how the steps follow each other."""
    flows: dict[str, list[Json]] = {}
    for order, step in enumerate(steps, start=1):
        flows.setdefault(step.thread, []).append({"location": step.location, "executionOrder": order})
    return [{"threadFlows": [{"id": thread, "locations": own} for thread, own in flows.items()]}]


def fix(description: str, changes: Mapping[str, Iterable[Json]]) -> Json:
    """A fix: the replacements in each file."""
    return {
        "description": message(description),
        "artifactChanges": [
            {"artifactLocation": artifact(path), "replacements": list(replacements)}
            for path, replacements in changes.items()
        ],
    }


def replacement(start: tuple[int, int], end: tuple[int, int], text: str) -> Json:
    """What stands between two places, each a line and a column, becomes `text`."""
    region = {"startLine": start[0], "startColumn": start[1], "endLine": end[0], "endColumn": end[1]}
    return {"deletedRegion": region, "insertedContent": {"text": text}}


def artifact(path: str) -> Json:
    """A file, relative to the directory of the run if it lies there."""
    if os.path.isabs(path):
        return {"uri": _file_uri(path)}
    return {"uri": quote(os.fsencode(path)), "uriBaseId": _ROOT}


def _described(rules: Mapping[str, Rule]) -> Iterator[Json]:
    for identity, rule in rules.items():
        described = {
            "id": identity,
            "name": rule.name,
            "shortDescription": {"text": rule.short},
            "fullDescription": {"text": rule.full},
            "defaultConfiguration": {"level": rule.level},
        }
        if rule.page:
            # No `helpUri`, which must be absolute: the pages are in the repository, wherever that is.
            words = f"explained in {rule.page}"
            link = f"explained in [{rule.page}]({rule.page})"
            described["help"] = {
                "text": f"{rule.full} It is {words}.",
                "markdown": f"{rule.full} It is {link}.",
            }
        yield described


def _file_uri(path: str) -> str:
    return f"file://{quote(os.fsencode(path))}"
