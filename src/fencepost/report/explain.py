"""What a finding means, in sentences for a programmer who has never read a paper about memory models.

Every sentence says what the finding itself shows and no more: what can happen, where, and why no
interleaving of the threads explains it. What a run under TSO shows is said in `store_buffers`. Layout,
wrapping and colours are left to the faces.
"""

from __future__ import annotations

from fencepost.report import bad_state, cycle, store_buffers
from fencepost.report.advice import reason
from fencepost.report.labels import at, is_failed_cas, is_wait, named, quoted, source, statement, thread
from fencepost.report.printable import printable
from fencepost.report.total_order import explain_order
from fencepost.verdicts import (
    AnyWitness,
    Assertion,
    DeadlockState,
    Edge,
    Event,
    Race,
    SafetyWitness,
    TsoWitness,
    Witness,
)

_TAKING_TURNS = "If the threads took turns, one access at a time,"


def explain_witness(witness: AnyWitness) -> str:
    """What can happen that should not, and why no interleaving of the threads does it."""
    return " ".join(filter(None, [claim(witness), explain_cycle(witness), explain_order(witness)]))


def claim(witness: AnyWitness) -> str:
    """What the access that leaves sequential consistency can do, or what a store buffer does."""
    if isinstance(witness, TsoWitness):
        return store_buffers.claim(witness)
    if isinstance(witness, SafetyWitness):
        return f"{bad_state.claim(witness)} {bad_state.why_weak(witness)}".rstrip()
    if witness.access.kind == "W":
        return _claim_of_write(witness)
    newest = f"{'the newer ' if _repeats(witness) else ''}{witness.events[witness.latest].written}"
    return (
        f"{_claim_of_read(witness)}, although {_newer_write(witness)}{reason(witness)}. "
        f"{_TAKING_TURNS} it would find {newest} there."
    )


def explain_cycle(witness: AnyWitness) -> str:
    """The cycle, one sentence for each step, from the write that goes unseen back to it."""
    steps = cycle.condensed(witness)
    if not steps:
        return ""
    first = witness.events[steps[0].source]
    path = " ".join(explain_edge(witness, edge) for edge in steps)
    end = f"So {quoted(source(first))} would have to come before itself."
    return f"{cycle.CLAIM} {cycle.premise(witness)}{path} {end}"


def explain_edge(witness: AnyWitness, edge: Edge) -> str:
    """The edge as a sentence."""
    start, end = witness.events[edge.source], witness.events[edge.target]
    subject, target = named(witness.threads, start), named(witness.threads, end)
    if edge.relation == "po":
        words = f"{statement(start)} comes before {statement(end)} in thread {thread(witness.threads, end)}."
    elif edge.relation == "S":
        words = f"{subject} comes before {target} in the total order of seq_cst accesses and fences."
    elif start.kind == end.kind == "F":
        words = f"{subject} comes before {target} in the order of all SC fences."
    elif edge.relation == "fr":
        words = f"{subject} reads a value, {start.read}, that {target} then overwrites."
    else:
        words = f"{subject} {cycle.STEP_WORDS[edge.relation]} {target}."
    return words[0].upper() + words[1:]


def explain_race(race: Race) -> str:
    """The two accesses that nothing orders."""
    first, second = race.run.events[race.first], race.run.events[race.second]
    threads = race.run.threads
    one = f"Thread {thread(threads, first)} {_does(first)} the non-atomic `{printable(race.cell)}`{at(first)}"
    other = f"thread {thread(threads, second)} {_does(second)} it{at(second)}"
    return f"{one} and {other}, and nothing orders the two. In C and C++ this is undefined behaviour."


def explain_assertion(assertion: Assertion) -> str:
    """What goes wrong, where, and with which values of the registers."""
    failure = bad_state.failure(assertion.kind, assertion, assertion.run.threads)
    return f"{failure} This needs no weak memory: some interleaving of the threads does it."


def explain_deadlock(deadlock: DeadlockState) -> str:
    """Which threads wait for ever, and where."""
    stuck = bad_state.deadlock(deadlock.places, deadlock.memory, deadlock.run.threads)
    return f"{stuck} This needs no weak memory: some interleaving of the threads does it."


def _claim_of_write(witness: Witness) -> str:
    access, latest = witness.access, witness.events[witness.latest]
    cell = f"`{printable(access.cell)}`"
    one, other = thread(witness.threads, access), thread(witness.threads, latest)
    return (
        f"Thread {one} sets {cell} to {access.written} with {statement(access)} after {other} has set it to "
        f"{latest.written}{at(latest)}, but the two writes can take effect in the other order and leave the "
        f"{latest.written} of {other}{reason(witness)}. "
        f"{_TAKING_TURNS} {cell} would hold the {access.written} of {one}."
    )


def _claim_of_read(witness: Witness) -> str:
    access = witness.access
    who = thread(witness.threads, access)
    old = _old_value(witness)
    if access.kind == "RMW":
        return f"Thread {who} can apply {statement(access)} to {old}"
    if is_wait(access):
        return f"Thread {who} can leave {statement(access)} with {old}"
    if is_failed_cas(access):
        return f"In thread {who}, {statement(access)} can fail on {old}"
    return f"Thread {who} can read {old} with {statement(access)}"


def _old_value(witness: Witness) -> str:
    stale = witness.events[witness.stale]
    cell = f"`{printable(stale.cell)}`"
    if stale.thread is None:
        return f"the initial value {stale.written} of {cell}"
    return f"the old value {stale.written} of {cell} from {named(witness.threads, stale)}"


def _newer_write(witness: Witness) -> str:
    latest = witness.events[witness.latest]
    if latest.thread is None:
        return "a newer write is there"
    again = " again" if _repeats(witness) else ""
    return f"{thread(witness.threads, latest)} has set it to {latest.written}{again}{at(latest)}"


def _repeats(witness: Witness) -> bool:
    """Whether the newest write has the value of the stale one."""
    return witness.events[witness.latest].written == witness.events[witness.stale].written


def _does(event: Event) -> str:
    return {"R": "reads", "W": "writes", "RMW": "updates", "F": "orders"}[event.kind]
