"""What a finding means, in sentences for a programmer who has never read a paper about memory models.

Every sentence says what the finding itself shows and no more: what can happen, where, and why no
interleaving of the threads explains it. Layout, wrapping and colours are left to the faces; names from the
user's file are made printable here.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from holdfast.report import cycle
from holdfast.report.labels import source, thread_name
from holdfast.report.printable import clip, printable
from holdfast.verdicts import Assertion, Edge, Event, Race, Witness

LONGEST_QUOTE = 60

_WAIT = re.compile(r"\bwait\s*\(")
_CAS = re.compile(r"\bCAS\s*\(|compare_exchange|cmpxchg")


def explain_witness(witness: Witness) -> str:
    """What the access can do that it should not, and why no interleaving of the threads does it."""
    return f"{claim(witness)} {explain_cycle(witness)}"


def claim(witness: Witness) -> str:
    """What the access that leaves sequential consistency can do."""
    if witness.access.kind == "W":
        return _claim_of_write(witness)
    part = "update" if witness.access.kind == "RMW" else "read"
    return (
        f"{_claim_of_read(witness)}, although {_newer_write(witness)}. In every interleaving of this run "
        f"that write comes before this {part}; the memory model still lets the {part} miss it."
    )


def explain_cycle(witness: Witness) -> str:
    """The cycle, one sentence for each step, from the write that the access is held against back to it."""
    steps = cycle.told(witness)
    first = witness.events[steps[0].source]
    path = " ".join(explain_edge(witness, edge) for edge in steps)
    end = f"So {_quoted(source(first))} would have to come before itself."
    return f"No interleaving of the threads does this. {path} {end}"


def explain_edge(witness: Witness, edge: Edge) -> str:
    """The edge as a sentence."""
    start, end = witness.events[edge.source], witness.events[edge.target]
    subject, target = _named(witness.threads, start), _named(witness.threads, end)
    if edge.relation == "po":
        here, there = f"{_quoted(source(start))}{_at(start)}", f"{_quoted(source(end))}{_at(end)}"
        words = f"{here} comes before {there} in thread {_thread(witness.threads, end)}."
    elif start.kind == end.kind == "F":
        words = f"{subject} comes before {target} in the order of all SC fences."
    elif edge.relation == "rf":
        words = f"{subject} is read by {target}."
    elif edge.relation == "mo":
        words = f"{subject} is overwritten by {target}."
    else:
        words = f"{subject} reads a value, {start.read}, that {target} then overwrites."
    return words[0].upper() + words[1:]


def explain_race(race: Race) -> str:
    """The two accesses that nothing orders."""
    first, second = race.run.events[race.first], race.run.events[race.second]
    threads = race.run.threads
    one = (
        f"Thread {_thread(threads, first)} {_does(first)} the non-atomic `{printable(race.cell)}`{_at(first)}"
    )
    other = f"thread {_thread(threads, second)} {_does(second)} it{_at(second)}"
    return f"{one} and {other}, and nothing orders the two. In C and C++ this is undefined behaviour."


def explain_assertion(assertion: Assertion) -> str:
    """What goes wrong, where, and with which values of the registers."""
    thread = f"thread `{printable(assertion.run.threads[assertion.thread])}`"
    at = f" (line {assertion.line})" if assertion.line else ""
    statement = _quoted(printable(assertion.text).strip()) if assertion.text else "a statement"
    values = ", ".join(f"{printable(name)} = {value}" for name, value in assertion.registers.items())
    with_values = f", with {values}" if values else ""
    match assertion.kind:
        case "assertion":
            what = f"{statement}{at} fails in {thread}{with_values}."
        case "division-by-zero":
            what = f"{statement}{at} divides by zero in {thread}{with_values}."
        case "index-out-of-range":
            what = f"{statement}{at} uses an index outside its array in {thread}{with_values}."
    return what[0].upper() + what[1:] + " It takes no weak memory: some interleaving of the threads does it."


def _claim_of_write(witness: Witness) -> str:
    access, latest = witness.access, witness.events[witness.latest]
    write = f"{_quoted(source(access))} of thread {_thread(witness.threads, access)}{_at(access)}"
    order = f"in the order of the writes to `{printable(access.cell)}`"
    return (
        f"The write {write} can still come before {_named(witness.threads, latest)} {order}. "
        "In every interleaving of this run it comes later."
    )


def _claim_of_read(witness: Witness) -> str:
    access = witness.access
    thread = _thread(witness.threads, access)
    statement = f"{_quoted(source(access))}{_at(access)}"
    old = _old_value(witness)
    if access.kind == "RMW":
        return f"Thread {thread} can apply {statement} to {old}"
    if _WAIT.search(access.text):
        return f"Thread {thread} can leave {statement} with {old}"
    if _CAS.search(access.text):
        return f"In thread {thread}, {statement} can fail on {old}"
    return f"Thread {thread} can read {old} with {statement}"


def _old_value(witness: Witness) -> str:
    stale = witness.events[witness.stale]
    cell = f"`{printable(stale.cell)}`"
    if stale.thread is None:
        return f"the initial value {stale.written} of {cell}"
    return f"the old value {stale.written} of {cell} from {_named(witness.threads, stale)}"


def _newer_write(witness: Witness) -> str:
    stale, latest = witness.events[witness.stale], witness.events[witness.latest]
    if latest.thread is None:
        return "a newer write is there"
    again = " again" if latest.written == stale.written else ""
    return f"{_thread(witness.threads, latest)} has set it to {latest.written}{again}{_at(latest)}"


def _named(threads: Sequence[str], event: Event) -> str:
    """The statement of the event, its thread and its line: `x.store(1)` (t1, line 5)."""
    if event.thread is None:
        return f"the initial `{printable(event.cell)} = {event.written}`"
    place = thread_name(threads, event) + (f", line {event.line}" if event.line else "")
    return f"{_quoted(source(event))} ({place})"


def _does(event: Event) -> str:
    return {"R": "reads", "W": "writes", "RMW": "updates", "F": "orders"}[event.kind]


def _quoted(text: str) -> str:
    return f"`{clip(text, LONGEST_QUOTE)}`"


def _thread(threads: Sequence[str], event: Event) -> str:
    return f"`{thread_name(threads, event)}`"


def _at(event: Event) -> str:
    return f" (line {event.line})" if event.line else ""
