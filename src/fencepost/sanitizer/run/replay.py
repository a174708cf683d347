"""Having a finding again: the schedules of an earlier answer, from its JSON form."""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import NamedTuple

import msgspec

from fencepost.errors import InputError
from fencepost.verdicts.run import AnyRunAnswer, Schedule


class Replay(NamedTuple):
    """What to run, how, and the ids of the findings that should appear again."""

    command: tuple[str, ...]
    schedules: tuple[Schedule, ...]
    ids: frozenset[str]


def read_report(path: str) -> Replay:
    try:
        text = Path(path).read_bytes()
    except OSError as error:
        raise InputError(f"cannot read the report: {error.strerror or error}", path) from None
    try:
        answer = msgspec.json.decode(text, type=AnyRunAnswer)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        message = f"this is no report of `fencepost run --json`: {error}"
        raise InputError(message, path) from None
    reports = (*answer.findings, *answer.deadlocks)
    if not reports:
        raise InputError("the report has no finding that could be replayed", path)
    schedules = tuple(dict.fromkeys(report.schedule for report in reports))
    for schedule in schedules:
        _check_decisions(schedule, path)
    return Replay(answer.command, schedules, frozenset(report.id for report in reports))


def _check_decisions(schedule: Schedule, path: str) -> None:
    try:
        zlib.decompress(schedule.decisions or zlib.compress(b""))
    except zlib.error:
        raise InputError(f"the decisions of seed {schedule.seed} are damaged", path) from None
