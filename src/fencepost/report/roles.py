"""What part each event plays in a witness, whatever its kind.

Printers need only this, the graph and the cycle to choose, place and mark events. `explain` says what the
parts mean.
"""

from __future__ import annotations

from typing import Literal

from fencepost.verdicts import AnyWitness, SafetyWitness, TsoWitness

Role = Literal["access", "stale", "latest", "delayed", "overtaking", "showing", "misled", "racing"]


def roles(witness: AnyWitness) -> dict[int, Role]:
    """The events that the witness is about; one that plays two parts has the more telling one."""
    if isinstance(witness, TsoWitness):
        return {witness.write: "delayed", witness.read: "overtaking", witness.other: "showing"}
    if isinstance(witness, SafetyWitness):
        misled: dict[int, Role] = dict.fromkeys(stale_reads(witness), "misled")
        return misled | dict.fromkeys(witness.bad.writes, "racing")
    return {witness.stale: "stale", witness.latest: "latest", witness.access.id: "access"}


def buffered(witness: AnyWitness) -> tuple[int, ...]:
    """The writes that reach memory after the last event, in this order."""
    return tuple(delay.write for delay in witness.delayed) if isinstance(witness, TsoWitness) else ()


def stale_reads(witness: SafetyWitness) -> list[int]:
    """The reads of the cycle that see a value although it has been overwritten before them."""
    return [e.source for e in witness.cycle if e.relation == "fr" and e.target < e.source]


def closing(witness: AnyWitness) -> int | None:
    """The source of the last edge of the cycle, in the order in which it is shown."""
    if isinstance(witness, SafetyWitness):
        return next(iter(stale_reads(witness)), None)
    return witness.other if isinstance(witness, TsoWitness) else witness.access.id
