"""What a run under TSO shows, in sentences for a programmer who has never read a paper about memory models.

A write waits in the store buffer of its thread, a later read of the same thread takes its value from memory
before the write arrives there, and an access of another thread shows that. A cycle with the order in which
all writes reach memory (`so`) is about persistence or, if the read would find the same value, about a
triangular race. Any other cycle is about robustness: the other access does not see the write, or comes before
it in the order of the writes to its cell.
"""

from __future__ import annotations

from fencepost.report.labels import at, is_wait, named, of_thread, quoted, source, statement, thread
from fencepost.report.printable import printable
from fencepost.verdicts import Event, TsoWitness


def claim(witness: TsoWitness) -> str:
    """Which write waits, which read overtakes it, which access shows that, and what interleavings do."""
    if any(edge.relation == "so" for edge in witness.cycle):
        return f"{_overtaking(witness)} {_first_in_memory(witness)} {_read_in_its_place(witness)}"
    return f"{_overtaking(witness)} {_passed_over(witness)}"


def _overtaking(witness: TsoWitness) -> str:
    write, read = witness.events[witness.write], witness.events[witness.read]
    owner = thread(witness.threads, write)
    if is_wait(read):
        reads = f"{owner} leaves {statement(read)} with the value {read.read}"
    else:
        reads = f"{owner} reads {read.read} from {_cell(read)} with {statement(read)}"
    waits = f"{of_thread(witness.threads, write)} can still be in the store buffer of {owner}"
    return f"{waits}{_behind(len(witness.delayed) - 1)} when {reads}."


def _behind(writes: int) -> str:
    return f", with {writes} later write{'s' if writes > 1 else ''} behind it," if writes else ""


def _first_in_memory(witness: TsoWitness) -> str:
    """The write of another thread to the cell that was read."""
    other = witness.events[witness.other]
    who, how = thread(witness.threads, other), f"with {statement(other)}"
    if other.kind == "RMW":
        what = f"updates {_cell(other)} from {other.read} to {other.written}"
    else:
        again = " again" if other.written == witness.events[witness.read].read else ""
        what = f"sets {_cell(other)} to {other.written}{again}"
    return f"Then {who} {what} {how}, and this reaches memory first."


def _read_in_its_place(witness: TsoWitness) -> str:
    read, other = witness.events[witness.read], witness.events[witness.other]
    order = "In every interleaving with the writes in this order the read comes after both of them"
    if other.written != read.read:
        return f"{order} and finds {other.written} in {_cell(read)}."
    origin = next(edge.source for edge in witness.edges if edge.relation == "rf" and edge.target == read.id)
    return (
        f"{order} and takes its value from {named(witness.threads, other)}, not from "
        f"{named(witness.threads, witness.events[origin])}. The value is the same, {read.read}; what differs "
        "is the write that it comes from."
    )


def _passed_over(witness: TsoWitness) -> str:
    """What happens to the cell read, and the access of another thread to the cell whose write waits."""
    write, other = witness.events[witness.write], witness.events[witness.other]
    newer = next(witness.events[edge.target] for edge in witness.cycle if edge.source == witness.read)
    overwrites = f"Meanwhile {thread(witness.threads, newer)} writes {_cell(newer)}{at(newer)}"
    match other.kind:
        case "W":
            does, access = f"reaches memory before {quoted(source(write))}", "write"
        case "RMW":
            does = f"updates {_cell(other)} from {other.read} to {other.written} without seeing it"
            access = "update"
        case _:
            does, access = f"still reads {other.read} from {_cell(other)}", "read"
    return (
        f"{overwrites}, and {of_thread(witness.threads, other)} {does}. In every interleaving of this run "
        f"that {access} comes after {quoted(source(write))}."
    )


def _cell(event: Event) -> str:
    return f"`{printable(event.cell)}`"
