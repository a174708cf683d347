"""How an access is written: as source text, as a label of an execution graph, with values.

Sentences name it by its statement in backquotes, its thread and its line. Everything returned is printable.
What the sentences say is left to `explain`, `store_buffers` and `advice`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from fencepost.report.printable import clip, printable
from fencepost.verdicts import Event

LONGEST_QUOTE = 60

_WAIT = re.compile(r"\bwait\s*\(")
_CAS = re.compile(r"\bCAS\s*\(|compare_exchange|cmpxchg")


def source(event: Event) -> str:
    """The statement as the user wrote it, or one made up from the access."""
    if event.text:
        return printable(event.text).strip()
    cell = printable(event.cell)
    match event.kind:
        case "W":
            return f"{cell} = {event.written}"
        case "R":
            return f"read {cell}"
        case "RMW":
            return f"update {cell}"
        case "F":
            return "fence" if event.mode in ("", "seq_cst") else f"fence({event.mode})"


def label(event: Event) -> str:
    """The access in the notation of execution graphs: `W x=1`, `R y=0`, `RMW x 0→1`, `fence`."""
    cell = printable(event.cell)
    match event.kind:
        case "W":
            return f"W {cell}={event.written}"
        case "R":
            return f"R {cell}={event.read}"
        case "RMW":
            return f"RMW {cell} {event.read}→{event.written}"
        case "F":
            return "fence" if event.mode in ("", "seq_cst") else f"fence {event.mode}"


def outcome(event: Event, *, buffered: bool = False) -> str:
    """What the source text does not say: the value read or written, the array cell, whether it waits."""
    text = source(event)
    notes = []
    if event.kind == "R":
        notes.append(f"→ {event.read}")
    elif event.kind == "RMW":
        notes.append(f"→ {event.read}, writes {event.written}")
    elif event.kind == "W" and not _has_word(text, str(event.written)):
        notes.append(f":= {event.written}")
    cell = printable(event.cell)
    if event.kind != "F" and cell.endswith("]") and cell not in text:
        notes.append(f"({cell})")
    if buffered:
        notes.append("(buffered)")
    return " ".join(notes)


def arrival(write: Event) -> str:
    """What happens when a write leaves the store buffer."""
    return f"{printable(write.cell)} = {write.written} reaches memory"


def is_wait(event: Event) -> bool:
    return _WAIT.search(event.text) is not None


def is_failed_cas(event: Event) -> bool:
    return event.kind == "R" and _CAS.search(event.text) is not None


def thread_name(threads: Sequence[str], event: Event) -> str:
    """The name of the thread of `event`; `init` for an initial write."""
    return "init" if event.thread is None else printable(threads[event.thread])


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


def _has_word(text: str, word: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text) is not None
