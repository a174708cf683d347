"""How an access is written: as source text, as a label of an execution graph, with values.

Everything returned is printable. Sentences about accesses are in `explain`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from fencepost.report.printable import printable
from fencepost.verdicts import Event

_WAIT = re.compile(r"\bwait\s*\(")


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


def thread_name(threads: Sequence[str], event: Event) -> str:
    """The name of the thread of `event`; `init` for an initial write."""
    return "init" if event.thread is None else printable(threads[event.thread])


def _has_word(text: str, word: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text) is not None
