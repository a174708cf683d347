"""What a run to a bad state shows, in sentences: what goes wrong at its end, and what weak memory had to do
with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fencepost.report.cycle import overtaking, stale_reads
from fencepost.report.labels import in_turn, is_wait, named, of_thread, quoted, statement, thread
from fencepost.report.printable import printable
from fencepost.verdicts import Assertion, Edge, Event, Place, SafetyWitness

_FAILURES = {
    "assertion": "fails",
    "division-by-zero": "divides by zero",
    "index-out-of-range": "uses an index outside its array",
}


def claim(witness: SafetyWitness) -> str:
    """What is wrong where the run ends."""
    bad = witness.bad
    match bad.kind:
        case "mutex":
            where = [f"thread {_who(witness, place)} is at {_label(place)}" for place in bad.places]
            return f"{_capital(in_turn(where))}, at the same time."
        case "error-label":
            place = bad.places[0]
            return f"Thread {_who(witness, place)} reaches {_label(place)}, which must not be reached."
        case "bad":
            return f"The run ends where the forbidden formula holds: {_state(witness)}."
        case "final":
            return f"The run ends with {_final_state(witness)}."
        case "write-race":
            return _race(witness)
        case "data-race":
            return _data_race(witness)
        case "deadlock":
            return deadlock(bad.places, bad.memory, witness.threads)
        case _:
            return failure(bad.kind, bad.places[0], witness.threads)


def failure(kind: str, place: Place | Assertion, threads: Sequence[str]) -> str:
    """What a statement that fails does, where, and with which values of the registers."""
    what = quoted(printable(place.text).strip()) if place.text else "a statement"
    line = f" (line {place.line})" if place.line else ""
    thread = f"thread `{printable(threads[place.thread])}`"
    held = ", ".join(_held(place))
    return f"{_capital(what)}{line} {_FAILURES[kind]} in {thread}{', with ' + held if held else ''}."


def deadlock(places: Sequence[Place], memory: Mapping[str, int], threads: Sequence[str]) -> str:
    """Deadlock: `lock(a)` (line 5) of thread `p` waits for ever, with 1 in `a`."""
    waiting = [_about_to(place, threads) for place in places]
    held = in_turn([f"{value} in `{printable(cell)}`" for cell, value in memory.items()])
    wait = "waits" if len(waiting) == 1 else "wait"
    others = "" if len(waiting) == len(threads) else " All other threads have ended."
    return f"Deadlock: {in_turn(waiting)} {wait} for ever, with {held}.{others}"


def why_weak(witness: SafetyWitness) -> str:
    """What weak memory has to do with it; nothing is said of a race that needs none, which is no surprise."""
    if not witness.cycle:
        if witness.bad.kind == "write-race":
            return ""
        starts_so = all(event.thread is None for event in witness.events)
        if witness.bad.kind == "data-race":
            how = "interleaved as shown, the threads come to do both at once"
            return f"This needs no weak memory: {'both threads start there' if starts_so else how}."
        if starts_so:
            return "This needs no access to memory at all."
        return "This needs no weak memory: the threads, interleaved as shown, do it."
    if witness.delayed:
        return " ".join(_overtakes(witness, edge) for edge in overtaking(witness))
    return " ".join(_stale(witness, read) for read in stale_reads(witness))


def _overtakes(witness: SafetyWitness, edge: Edge) -> str:
    write, read = witness.events[edge.source], witness.events[edge.target]
    owner = thread(witness.threads, write)
    does = f"leaves {statement(read)} with" if is_wait(read) else f"does {statement(read)} and reads"
    return (
        f"{_capital(of_thread(witness.threads, write))} is still in the store buffer of {owner} when {owner} "
        f"{does} {read.read}."
    )


def _stale(witness: SafetyWitness, read: int) -> str:
    event = witness.events[read]
    source = next(e.source for e in witness.edges if e.relation == "rf" and e.target == read)
    write = witness.events[source]
    old = "the initial value" if write.thread is None else f"the value of {named(witness.threads, write)}"
    said = f"{named(witness.threads, event)} reads {old}, {event.read}, from `{printable(event.cell)}`"
    newer = _newer(witness, event)
    if newer is None:
        return f"{_capital(said)}."
    return (
        f"{_capital(said)}, although {named(witness.threads, newer)} has been done: nothing orders the two."
    )


def _newer(witness: SafetyWitness, read: Event) -> Event | None:
    """The newest write to the cell before the read, if the read does not see it."""
    target = next((e.target for e in witness.edges if e.relation == "fr" and e.source == read.id), None)
    return witness.events[target] if target is not None and target < read.id else None


def _race(witness: SafetyWitness) -> str:
    earlier, later = (witness.events[write] for write in witness.bad.writes)
    unknowing, writer = thread(witness.threads, later), thread(witness.threads, earlier)
    return (
        f"{_capital(named(witness.threads, earlier))} and {named(witness.threads, later)} both write "
        f"`{printable(later.cell)}`, and nothing orders the two: {unknowing} has read nothing from which it "
        f"knows of the write of {writer}."
    )


def _data_race(witness: SafetyWitness) -> str:
    """Data race on `data`: `data.nastore(1)` (line 5) of `p` and `r = data.naload()` (line 9) of `q` …"""
    both = " and ".join(_about_to(place, witness.threads) for place in witness.bad.places)
    return (
        f"Data race on `{printable(witness.bad.cell)}`: {both} can come next, and nothing orders the two. "
        "In C and C++ this is undefined behaviour."
    )


def _about_to(place: Place, threads: Sequence[str]) -> str:
    thread = printable(threads[place.thread])
    return f"{quoted(printable(place.text).strip())}{_in_line(place)} of thread `{thread}`"


def _who(witness: SafetyWitness, place: Place) -> str:
    return f"`{printable(witness.threads[place.thread])}`"


def _label(place: Place) -> str:
    return f"label `{printable(place.label)}`{_in_line(place)}"


def _in_line(place: Place) -> str:
    return f" (line {place.line})" if place.line else ""


def _state(witness: SafetyWitness) -> str:
    """`t1` at line 5 with r = 1; `t2` with s = 0"""
    return "; ".join(_stand(witness, place) for place in witness.bad.places)


def _stand(witness: SafetyWitness, place: Place) -> str:
    line = f" at line {place.line}" if place.line else ""
    held = f" with {', '.join(_held(place))}" if place.registers else ""
    return f"{_who(witness, place)}{line}{held}"


def _final_state(witness: SafetyWitness) -> str:
    """r = 1 in `t1`, s = 0 in `t2` and 1 in `x`"""
    places = witness.bad.places
    registers = [f"{value} in {_who(witness, place)}" for place in places for value in _held(place)]
    memory = [f"{value} in `{printable(cell)}`" for cell, value in witness.bad.memory.items()]
    return in_turn([*registers, *memory] or ["all threads at their end"])


def _held(place: Place | Assertion) -> list[str]:
    return [f"{printable(register)} = {value}" for register, value in place.registers.items()]


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
