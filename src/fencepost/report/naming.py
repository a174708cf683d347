"""How sentences refer to an access: its statement in backquotes, its thread, its line.

Names from the user's file are made printable here. What the sentences say is left to `explain`,
`store_buffers` and `advice`.
"""

from __future__ import annotations

from collections.abc import Sequence

from fencepost.report.labels import source, thread_name
from fencepost.report.printable import clip, printable
from fencepost.verdicts import Event

LONGEST_QUOTE = 60


def in_turn(parts: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    *most, last = parts
    return f"{', '.join(most)} and {last}" if most else last


def quoted(text: str) -> str:
    return f"`{clip(text, LONGEST_QUOTE)}`"


def at(event: Event) -> str:
    """` (line 5)`, or nothing where the line is not known."""
    return f" (line {event.line})" if event.line else ""


def thread(threads: Sequence[str], event: Event) -> str:
    return f"`{thread_name(threads, event)}`"


def statement(event: Event) -> str:
    """`x.store(1)` (line 5)"""
    return f"{quoted(source(event))}{at(event)}"


def of_thread(threads: Sequence[str], event: Event) -> str:
    """`x.store(1)` of thread `t1` (line 5)"""
    return f"{quoted(source(event))} of thread {thread(threads, event)}{at(event)}"


def named(threads: Sequence[str], event: Event) -> str:
    """`x.store(1)` (t1, line 5)"""
    if event.thread is None:
        return f"the initial `{printable(event.cell)} = {event.written}`"
    place = thread_name(threads, event) + (f", line {event.line}" if event.line else "")
    return f"{quoted(source(event))} ({place})"
