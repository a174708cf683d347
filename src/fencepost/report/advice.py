"""Why the run of a witness is possible, and which changes would forbid it.

The cycle of a witness falls into stretches that happens-before covers and single edges that it does not
(`Witness.unordered`). If every stretch between two such edges held an SC fence, the fences could not be put
in any order, so the run would be impossible. A read that sees a write without synchronising with it is such
an edge too; with stronger modes it becomes part of a stretch. A run under TSO takes one fence between the
write that waits and the read that overtakes it.

Under C++20 the total order of seq_cst accesses can take the place of a fence: it covers a stretch if all of
its accesses are seq_cst, and one of a single thread if both its ends are. If only one of these accesses is
not seq_cst, it is cheapest to make it so.

`fencepost fix` finds the cheapest changes for all runs; this is about the one shown.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from fencepost.report.cycle import unrolled
from fencepost.report.labels import in_turn, is_failed_cas, quoted, source, statement, thread
from fencepost.verdicts import AnyWitness, Edge, Event, SafetyWitness, TsoWitness, Witness

FENCES = {
    True: "a fence (`fence;` in TPL, `mfence` on x86)",
    False: "an SC fence (`fence;` in TPL, `atomic_thread_fence(memory_order_seq_cst);` in C)",
}
MOST_PAIRS = 3  # that one sentence names


class Repair(msgspec.Struct, frozen=True):
    """An SC fence directly before `place`, which comes after `after`; or a stronger mode for `place`.

    If it becomes seq_cst, `beside` is the seq_cst access of its thread that it is then ordered with.
    """

    change: Literal["fence", "acquire", "release", "seq_cst"]
    place: Event
    after: Event | None = None
    beside: Event | None = None

    @property
    def strength(self) -> str:
        """The stronger mode; a compare-exchange has one of its own for failure."""
        failing = self.change == "acquire" and is_failed_cas(self.place)
        return f"{self.change} where it fails" if failing else self.change


def repairs(witness: AnyWitness) -> tuple[Repair, ...]:
    """What makes the run impossible if all of it is done, thread by thread; nothing if that is not known."""
    if isinstance(witness, TsoWitness):
        return (Repair("fence", witness.events[witness.read], witness.events[witness.write]),)
    if isinstance(witness, SafetyWitness):
        return ()
    weak = [_strengthened(witness, edge) for edge in _weak_reads(witness)]
    fences = _fences(witness)
    if not all(weak) or fences is None:
        return ()
    changes = dict.fromkeys([*(repair for both in weak for repair in both), *fences])
    return tuple(sorted(changes, key=lambda repair: (repair.place.thread or 0, repair.place.id)))


def reason(witness: Witness) -> str:
    """The lines that nothing orders, as the end of a sentence; nothing if there is no such pair."""
    weak = [_weakness(witness, edge) for edge in _weak_reads(witness)]
    if weak:
        return f", because {in_turn(weak)}" if all(weak) else ""
    changes = _fences(witness) or []
    pairs = [(repair.after, repair.place) for repair in changes if repair.after]
    pairs.sort(key=lambda pair: pair[1].thread != witness.access.thread)
    words = list(dict.fromkeys(" before ".join(_line_or_text(*pair)) for pair in pairs))
    if len(words) > MOST_PAIRS:
        words[MOST_PAIRS - 1 :] = [f"{len(words) - MOST_PAIRS + 1} more such pairs"]
    half = list(dict.fromkeys(_half_seq_cst(repair) for repair in changes if repair.beside))
    them = "the two" if len(half) == 1 else "them"
    clauses = [f"{', and '.join(half)}, so that nothing orders {them}"] if half else []
    clauses += [f"nothing orders {', nor '.join(words)}"] if words else []
    return f", because {in_turn(clauses)}" if clauses else ""


def _half_seq_cst(repair: Repair) -> str:
    assert repair.beside is not None
    strong, weak = quoted(source(repair.beside)), quoted(source(repair.place))
    return f"{strong} is seq_cst but {weak} is not"


def advice(witness: AnyWitness) -> list[str]:
    """The repairs in sentences."""
    found = repairs(witness)
    fences = [f"in {thread(witness.threads, r.place)} before {statement(r.place)}" for r in found if r.after]
    modes = [f"make {statement(r.place)} {r.strength}" for r in found if not r.after]
    what = FENCES[isinstance(witness, TsoWitness)]
    steps = [*modes, *([f"insert {what} {in_turn(fences)}"] if fences else [])]
    return [f"To forbid this run, {in_turn(steps)}."] if steps else []


def _weak_reads(witness: Witness) -> list[Edge]:
    return [edge for edge in witness.unordered if edge.relation == "rf"]


def _strengthened(witness: Witness, edge: Edge) -> list[Repair]:
    """The modes with which the read synchronises with the write, both if neither has them."""
    ends: tuple[tuple[int, Literal["release", "acquire"]], ...] = (
        (edge.source, "release"),
        (edge.target, "acquire"),
    )
    return [
        Repair(strength, witness.events[end])
        for end, strength in ends
        if {strength[:3], "seq_cst"}.isdisjoint(witness.events[end].mode.split(","))
    ]


def _weakness(witness: Witness, edge: Edge) -> str:
    weak = [f"{statement(repair.place)} is not {repair.strength}" for repair in _strengthened(witness, edge)]
    if not weak:
        return ""
    seen, by = _line_or_text(witness.events[edge.source], witness.events[edge.target])
    return f"{in_turn(weak)}, so that {by} sees {seen} without what came before it"


def _fences(witness: Witness) -> list[Repair] | None:
    """A fence in each stretch, once reads synchronise, or what is cheaper there; None where a stretch has no
    room for one."""
    cycle = unrolled(witness)
    cuts = [at for at, edge in enumerate(cycle) if edge in witness.unordered and edge.relation != "rf"]
    if len(cuts) < 2:
        return []
    changes = []
    for cut, following in zip(cuts, [*cuts[1:], cuts[0] + len(cycle)], strict=True):
        stretch = [cycle[cut], *(cycle * 2)[cut + 1 : following]]
        events = [witness.events[edge.target] for edge in stretch]
        if events[0].thread == events[-1].thread:
            if _has_sc_fence(witness, events[0], events[-1]):
                continue
            events = [events[0], events[-1]]
        weak = [event for event in dict.fromkeys(events) if not _is_seq_cst(event)]
        if not weak:
            continue
        steps = [edge for edge in stretch[1:] if edge.relation == "po"]
        if not steps:
            return None
        beside = next((e for e in events if _is_seq_cst(e) and e.thread == weak[0].thread), None)
        if len(weak) == 1 and beside is not None:
            changes.append(Repair("seq_cst", weak[0], beside=beside))
        else:
            last = steps[-1]
            changes.append(Repair("fence", witness.events[last.target], witness.events[last.source]))
    return changes


def _is_seq_cst(event: Event) -> bool:
    return event.kind != "F" and event.mode == "seq_cst"


def _has_sc_fence(witness: Witness, first: Event, last: Event) -> bool:
    """Whether a fence that S orders is between them; where it is an RMW of its own cell, the cycle has it."""
    return any(
        event.kind == "F" and event.mode == "seq_cst" and not event.cell and event.thread == first.thread
        for event in witness.events[first.id + 1 : last.id]
    )


def _line_or_text(first: Event, second: Event) -> tuple[str, str]:
    """The lines of two events, or their statements if that does not tell them apart."""
    if first.line and second.line and first.line != second.line:
        return f"line {first.line}", f"line {second.line}"
    return quoted(source(first)), quoted(source(second))
