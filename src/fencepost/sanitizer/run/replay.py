"""Seeing a finding again: the schedules of an earlier answer, from its JSON form."""

from __future__ import annotations

import zlib
from typing import NamedTuple

import msgspec

from fencepost.errors import InputError, read_bytes
from fencepost.verdicts.run import Deadlock, Finding, Schedule, WatchedAnswer
from fencepost.verdicts.union import decode


class Replay(NamedTuple):
    """What to run, how, and the ids of the findings that should appear again."""

    command: tuple[str, ...]
    schedules: tuple[Schedule, ...]
    ids: frozenset[str]


def read_report(path: str) -> Replay:
    text = read_bytes(path, "the report")
    try:
        answer = decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        message = f"this is no report of `fencepost run --json`: {error}"
        raise InputError(message, path) from None
    if not isinstance(answer, WatchedAnswer):
        raise InputError(f"this is no report of `fencepost run --json`, but of `{answer.question}`", path)
    reports: tuple[Finding | Deadlock, ...] = (*answer.findings, *answer.deadlocks)
    if not reports:
        raise InputError("the report has no finding that could be replayed", path)
    harmful = [one.harm.schedule for one in answer.findings if one.harm and one.harm.schedule]
    schedules = tuple(dict.fromkeys([*(report.schedule for report in reports), *harmful]))
    for schedule in schedules:
        _check_decisions(schedule, path)
    return Replay(answer.command, schedules, frozenset(report.id for report in reports))


def _check_decisions(schedule: Schedule, path: str) -> None:
    try:
        zlib.decompress(schedule.decisions or zlib.compress(b""))
    except zlib.error:
        raise InputError(f"the decisions of seed {schedule.seed} are damaged", path) from None
