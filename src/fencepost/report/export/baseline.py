"""Which findings are known from earlier answers.

A baseline is a file with answers as `--json` prints them. Findings are compared by their ids
(`findings.finding_id`). These are not in the file but computed from its answers, so a baseline stays valid
when the way to compute them changes. Findings of programs that were run carry their ids with them.
"""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

import msgspec

from fencepost.errors import InputError, read_bytes
from fencepost.report.findings import finding_id, findings
from fencepost.verdicts import Answer
from fencepost.verdicts.run import WatchedAnswer
from fencepost.verdicts.union import decode

_Answer = TypeVar("_Answer", bound=Answer)
_Watched = TypeVar("_Watched", bound=WatchedAnswer)


def read(path: Path) -> frozenset[str]:
    """The ids of all findings in the file; raises `InputError`."""
    file = str(path)
    content = read_bytes(file, "the baseline")
    try:
        lines = content.decode().splitlines()
    except UnicodeDecodeError as error:
        message = "the baseline is not text; expected answers as `--json` prints them"
        raise InputError(message, file, content.count(b"\n", 0, error.start) + 1, 1) from None
    known: set[str] = set()
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            answer = decode(line)
        except msgspec.MsgspecError as error:
            message = f"this is no answer as `--json` prints them: {error}"
            raise InputError(message, file, number, 1) from None
        if isinstance(answer, WatchedAnswer):
            known.update(answer.ids)
        try:
            known.update([finding_id(answer, found) for found in findings(answer)])
        except (LookupError, ValueError, StopIteration, RuntimeError):  # StopIteration in a generator is one
            message = "this answer speaks of threads or events that it does not have; make it anew"
            raise InputError(message, file, number, 1) from None
    return frozenset(known)


def without_known(answer: _Answer, known: frozenset[str]) -> tuple[_Answer, int]:
    """The answer without the findings that are known, and how many of them there are."""
    if isinstance(answer, WatchedAnswer):
        return _without_known_of_runs(answer, known)
    old = [
        name
        for name, found in zip(answer.parts_found, findings(answer), strict=True)
        if finding_id(answer, found) in known
    ]
    return msgspec.structs.replace(answer, **dict.fromkeys(old)), len(old)


def _without_known_of_runs(answer: _Watched, known: frozenset[str]) -> tuple[_Watched, int]:
    new = msgspec.structs.replace(
        answer,
        findings=tuple(one for one in answer.findings if one.id not in known),
        deadlocks=tuple(one for one in answer.deadlocks if one.id not in known),
    )
    return new, len(answer.ids) - len(new.ids)
