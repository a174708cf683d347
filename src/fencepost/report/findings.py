"""What an answer has found, in one form for every printer: which rule, where, what to say, and the run to it.

A printer that lists findings (terminal, pages, SARIF, JUnit, editors, baselines) takes them from `findings`
and need not know what kinds of witnesses there are.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from types import MappingProxyType

import msgspec

from fencepost.memory_models import MODELS, OBSERVATIONAL
from fencepost.report import cycle, explain
from fencepost.report.advice import Repair, advice, repairs
from fencepost.report.cycle import Role, delays, roles
from fencepost.report.labels import source, thread_name
from fencepost.report.printable import printable
from fencepost.verdicts import (
    Answer,
    AnyWitness,
    Assertion,
    DeadlockState,
    Delay,
    Event,
    Race,
    Run,
    SafetyWitness,
    TsoWitness,
    Witness,
)

# What the parts that events play are called.
_PARTS = {
    "access": "leaves sequential consistency",
    "stale": "the old value",
    "latest": "the write that can be missed",
    "delayed": "waits in the store buffer",
    "overtaking": "overtakes the write that waits",
    "showing": "shows it",
    "misled": "sees an old value",
    "racing": "one of the two writes",
}


_RULES = {  # by criterion; the others are about robustness
    "trf": "triangular-race",
    "persistent": "fragile",
    OBSERVATIONAL: "not-shown",
}


class Finding(msgspec.Struct, frozen=True):
    """One thing that is wrong with a program.

    `rule` says what kind of thing. `identity` are words that tell it from other findings of the same question
    about the same file: names and statements, no line numbers, so that it survives changes elsewhere in the
    file. `parts` says what part some events of the run play. `graph` is the witness with its cycle, if there
    is one to draw.
    """

    rule: str
    line: int
    column: int
    message: str
    run: Run
    identity: tuple[str, ...]
    parts: Mapping[int, str] = msgspec.field(default_factory=lambda: MappingProxyType({}))
    delayed: tuple[Delay, ...] = ()
    graph: AnyWitness | None = None
    repairs: tuple[Repair, ...] = ()
    next_step: str = ""

    @property
    def advice(self) -> list[str]:
        """What would forbid the run, and what to do next, in sentences."""
        forbidding = [] if self.graph is None else advice(self.graph)
        return [*forbidding, *filter(None, [self.next_step])]

    @property
    def buffered(self) -> frozenset[int]:
        """The writes that wait in a store buffer."""
        return frozenset(delay.write for delay in self.delayed)

    @property
    def roles(self) -> Mapping[int, Role]:
        """The events to mark; without a graph, all that play a part alike."""
        return dict.fromkeys(self.parts, "access") if self.graph is None else roles(self.graph)

    @property
    def related(self) -> list[tuple[Event, str]]:
        """The events that stand in the file and play a part, each with its statement and the part."""
        events = [(self.run.events[number], part) for number, part in self.parts.items()]
        return [(event, f"{source(event)}: {part}") for event, part in events if event.line]


def findings(answer: Answer) -> tuple[Finding, ...]:
    """The findings of the answer, its witness first."""
    return tuple(finding(part, answer) for part in answer.parts_found.values())


def finding_id(answer: Answer, found: Finding) -> str:
    """The same for the same finding in the next run, on another machine, and after changes elsewhere."""
    return identity_of(answer, found.rule, found.identity)


def identity_of(answer: Answer, what: str, words: Iterable[str]) -> str:
    """A short name for something that the answer says of its file."""
    from hashlib import sha256

    file = os.path.relpath(answer.file) if os.path.isabs(answer.file) else os.path.normpath(answer.file)
    parts = (file.replace(os.sep, "/"), answer.model, answer.criterion, what, *words)
    return sha256("\0".join(parts).encode("utf-8", "backslashreplace")).hexdigest()[:16]


def rule_of(answer: Answer) -> str:
    """What it is called if the program does not have the property asked for."""
    return _RULES.get(answer.criterion, "not-robust")


def worth_showing(found: Finding, most: int) -> set[int] | None:
    """Of a run with more than `most` accesses those near the cycle, or the last ones; None for all of it."""
    accesses = [event.id for event in found.run.events if event.thread is not None]
    if len(accesses) <= most:
        return None
    return set(accesses[-most:]) if found.graph is None else cycle.worth_showing(found.graph)


def finding(part: object, answer: Answer) -> Finding:
    """What a part of an answer says."""
    match part:
        case Witness() | TsoWitness():
            return _witness(part, answer)
        case SafetyWitness():
            return _bad_state(part, answer)
        case Race():
            return _race(part, answer)
        case Assertion():
            return _assertion(part, answer)
        case DeadlockState():
            return _deadlock(part)
        case _:
            raise TypeError(f"a finding cannot be made of {type(part).__name__}")


def _witness(witness: AnyWitness, answer: Answer) -> Finding:
    part_of = roles(witness)
    at = next(event for event, role in part_of.items() if role in ("access", "overtaking"))
    return Finding(
        rule=rule_of(answer),
        line=witness.events[at].line,
        column=witness.events[at].column,
        message=explain.claim(witness),
        run=Run(threads=witness.threads, events=witness.events),
        identity=tuple(_told(witness.threads, *(witness.events[e.source] for e in cycle.condensed(witness)))),
        parts={event: _PARTS[role] for event, role in part_of.items()},
        delayed=delays(witness),
        graph=witness,
        repairs=repairs(witness),
    )


def _bad_state(witness: SafetyWitness, answer: Answer) -> Finding:
    places = witness.bad.places
    at = places[0] if places else witness.events[-1]
    standing = sorted(f"{_family(witness.threads[p.thread])}: {p.label or printable(p.text)}" for p in places)
    return Finding(
        rule="race" if witness.bad.kind == "data-race" else witness.bad.kind,
        line=at.line,
        column=at.column,
        message=explain.claim(witness),
        run=Run(threads=witness.threads, events=witness.events),
        identity=(
            *standing,
            *(printable(cell) for cell in witness.bad.memory),
            *_told(witness.threads, *(witness.events[write] for write in witness.bad.writes)),
        ),
        parts={event: _PARTS[role] for event, role in roles(witness).items()},
        delayed=delays(witness),
        graph=witness,
        next_step=_after_bad_state(witness, answer),
    )


def _race(race: Race, answer: Answer) -> Finding:
    first, second = race.run.events[race.first], race.run.events[race.second]
    return Finding(
        rule="race",
        line=second.line,
        column=second.column,
        message=f"Data race. {explain.explain_race(race)}",
        run=race.run,
        identity=(race.cell, *_told(race.run.threads, first, second)),
        parts={race.first: "one access", race.second: "the other access"},
        next_step=_after_race(answer, weak=answer.model in MODELS and MODELS[answer.model].weak_fences),
    )


def _after_bad_state(witness: SafetyWitness, answer: Answer) -> str:
    """What to do about a bad state, where that can be said."""
    if witness.bad.kind == "data-race":
        return _after_race(answer, weak=bool(witness.cycle))
    if not witness.delayed or answer.file.startswith("<"):
        return ""
    command = f"fencepost fix --model {answer.model} {printable(answer.file)}"
    return f"`{command}` finds the cheapest fences with which store buffers do not show."


def _after_race(answer: Answer, *, weak: bool) -> str:
    """What to do about a data race; `weak` if more ordering may remove it."""
    if answer.question == "fix":
        return ""
    if not weak or answer.file.startswith("<"):
        return "It takes a lock around the two accesses, or an atomic location."
    model = answer.model if "fix" in MODELS[answer.model].criteria else "ra"
    command = f"fencepost fix --model {model} {printable(answer.file)}"
    return f"`{command}` finds the cheapest changes that remove it, if changes can do that."


def _assertion(assertion: Assertion, answer: Answer) -> Finding:
    return Finding(
        rule=assertion.kind,
        line=assertion.line,
        column=assertion.column,
        message=explain.explain_assertion(assertion),
        run=assertion.run,
        identity=(_family(assertion.run.threads[assertion.thread]), printable(assertion.text)),
    )


def _deadlock(deadlock: DeadlockState) -> Finding:
    threads, first = deadlock.run.threads, deadlock.places[0]
    return Finding(
        rule="deadlock",
        line=first.line,
        column=first.column,
        message=explain.explain_deadlock(deadlock),
        run=deadlock.run,
        identity=tuple(sorted(f"{_family(threads[p.thread])}: {printable(p.text)}" for p in deadlock.places)),
    )


def _told(threads: tuple[str, ...], *events: Event) -> list[str]:
    """The events in words, the same wherever a search begins and whichever copies of a thread it meets."""
    return sorted({f"{_family(thread_name(threads, event))}: {source(event)}" for event in events})


def _family(thread: str) -> str:
    return thread.partition("[")[0]
