"""Seeing a finding again: the schedules of an earlier answer, from its JSON form."""

from __future__ import annotations

import zlib
from typing import NamedTuple

import msgspec

from fencepost.errors import InputError, read_bytes
from fencepost.verdicts.check import CheckAnswer
from fencepost.verdicts.run import Deadlock, Finding, Schedule, WatchedAnswer
from fencepost.verdicts.union import decode

MOST_DECISIONS = 1 << 30
"""Of all runs of a report, in bytes. One of twenty million steps has some hundred million at most."""
_PIECE = 1 << 20


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
    failures = [*answer.troubles, *(answer.failures if isinstance(answer, CheckAnswer) else ())]
    if not reports and not failures:
        raise InputError("the report has no finding that could be replayed", path)
    harmful = [one.harm.schedule for one in answer.findings if one.harm and one.harm.schedule]
    shown = [one.schedule for one in (*reports, *failures)]
    schedules = tuple(dict.fromkeys([*shown, *harmful]))
    room = MOST_DECISIONS
    for schedule in schedules:
        room -= _size_of_decisions(schedule, room, path)
    return Replay(answer.command, schedules, frozenset(report.id for report in reports))


def _size_of_decisions(schedule: Schedule, room: int, path: str) -> int:
    """As they are written for the program; a few bytes may stand for very many."""
    inflate, packed, size = zlib.decompressobj(), schedule.decisions or zlib.compress(b""), 0
    try:
        while not inflate.eof and (piece := inflate.decompress(packed, _PIECE)):
            packed = inflate.unconsumed_tail
            size += len(piece)
            if size > room:
                message = f"the decisions of its runs have more than {MOST_DECISIONS >> 20:,} MB together"
                raise InputError(message, path)
        damaged = not inflate.eof
    except zlib.error:
        damaged = True
    if damaged:
        raise InputError(f"the decisions of seed {schedule.seed} are damaged", path)
    return size
