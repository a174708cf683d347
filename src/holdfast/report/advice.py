"""Where ordering is missing in a witness, and what would supply it.

The cycle of a witness falls into stretches that happens-before covers and single edges that it does not
(`Witness.unordered`). If every stretch between two such edges held an SC fence, the fences could not be put
in any order, so the run would be impossible. A read that sees a write without synchronising with it is such
an edge too; there stronger modes are what is missing. A run under TSO takes one fence (`store_buffers`).
`holdfast fix` finds the cheapest changes for all runs; this is about the one shown.
"""

from __future__ import annotations

from holdfast.report import store_buffers
from holdfast.report.cycle import unrolled
from holdfast.report.naming import statement, thread
from holdfast.report.roles import AnyWitness
from holdfast.verdicts import Event, SafetyWitness, TsoWitness, Witness


def advice(witness: AnyWitness) -> list[str]:
    """Sentences, none if nothing useful can be said."""
    if isinstance(witness, TsoWitness):
        return [store_buffers.advice(witness)]
    if isinstance(witness, SafetyWitness):
        return []
    weak_reads = [
        _synchronise(witness.events[edge.source], witness.events[edge.target])
        for edge in witness.unordered
        if edge.relation == "rf"
    ]
    return _gaps(witness) + (weak_reads or _fences(witness))


def _gaps(witness: Witness) -> list[str]:
    """The pairs of lines between which the model has no order."""
    pairs = [
        (witness.events[edge.source], witness.events[edge.target])
        for edge in unrolled(witness)
        if edge in witness.unordered
    ]
    lines = [f"line {start.line} and line {end.line}" for start, end in pairs if start.line and end.line]
    return [f"No happens-before orders {'; '.join(lines)}."] if lines else []


def _synchronise(write: Event, read: Event) -> str:
    weak = [
        f"{statement(event)} is not {strength}"
        for event, part, strength in ((write, "rel", "release"), (read, "acq", "acquire"))
        if part not in event.mode.split(",")
    ]
    reason = " and ".join(weak) or "what the two lines order is not part of the run"
    return f"The value passes from line {write.line} to line {read.line} without order: {reason}."


def _fences(witness: Witness) -> list[str]:
    stretches = _stretches(witness)
    if len(stretches) < 2 or any(
        start.thread != end.thread or start.thread is None or start.id >= end.id for start, end in stretches
    ):
        return []
    places = [
        f"in {thread(witness.threads, end)} between {statement(start)} and {statement(end)}"
        for start, end in stretches
    ]
    return [f"SC fences would forbid this run: {'; and '.join(places)}."]


def _stretches(witness: Witness) -> list[tuple[Event, Event]]:
    """From the end of each unordered edge of the cycle to the start of the next one."""
    unordered = [edge for edge in unrolled(witness) if edge in witness.unordered]
    following = unordered[1:] + unordered[:1]
    return [
        (witness.events[edge.target], witness.events[after.source])
        for edge, after in zip(unordered, following, strict=True)
    ]
