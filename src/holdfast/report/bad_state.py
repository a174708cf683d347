"""What a run to a bad state shows, in sentences: what goes wrong at its end, and what weak memory had to do
with it."""

from __future__ import annotations

from holdfast.report.naming import named, quoted
from holdfast.report.printable import printable
from holdfast.report.roles import stale_reads
from holdfast.verdicts import Event, Place, SafetyWitness


def claim(witness: SafetyWitness) -> str:
    """What is wrong where the run ends."""
    bad = witness.bad
    match bad.kind:
        case "mutex":
            where = " and ".join(_standing(witness, place) for place in bad.places)
            return f"{where} stand there at the same time."
        case "error-label":
            return f"{_standing(witness, bad.places[0])} reaches it."
        case "bad":
            return f"The run ends where the forbidden formula holds: {_places(witness)}."
        case "final":
            return f"The run ends with {_places(witness)}."
        case "write-race":
            return _race(witness)
        case _:
            return _failure(witness)


def why_weak(witness: SafetyWitness) -> str:
    """Whether it takes weak memory."""
    if not witness.cycle:
        return "It takes no weak memory: the threads, interleaved as shown, do it."
    return " ".join(_stale(witness, read) for read in stale_reads(witness))


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
    write = witness.events[-1]
    cell = f"`{printable(write.cell)}`"
    return (
        f"{_capital(named(witness.threads, write))} writes {cell}, and does not know of an earlier write to "
        "it: happens-before does not order the two."
    )


def _failure(witness: SafetyWitness) -> str:
    place = witness.bad.places[0]
    who = f"thread `{printable(witness.threads[place.thread])}`"
    what = quoted(printable(place.text).strip()) if place.text else "a statement"
    line = f" (line {place.line})" if place.line else ""
    held = ", ".join(f"{printable(name)} = {value}" for name, value in place.registers.items())
    does = {
        "assertion": "fails",
        "division-by-zero": "divides by zero",
        "index-out-of-range": "uses an index outside its array",
    }[witness.bad.kind]
    return f"{_capital(what)}{line} {does} in {who}{', with ' + held if held else ''}."


def _standing(witness: SafetyWitness, place: Place) -> str:
    name = f"thread `{printable(witness.threads[place.thread])}`"
    line = f" (line {place.line})" if place.line else ""
    return f"{_capital(name)} at `{printable(place.label)}`{line}"


def _places(witness: SafetyWitness) -> str:
    parts = []
    for place in witness.bad.places:
        name = f"`{printable(witness.threads[place.thread])}`"
        held = [f"{printable(register)} = {value}" for register, value in place.registers.items()]
        line = [f"at line {place.line}"] if place.line else []
        parts.append(f"{name} {', '.join(line + held)}" if line + held else name)
    parts += [f"`{printable(cell)}` = {value}" for cell, value in witness.bad.memory.items()]
    return "; ".join(parts) if parts else "all threads ended"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
