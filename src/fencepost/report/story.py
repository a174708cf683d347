"""What is said about an answer as a whole, decided once for every printer.

The verdict in words, why there is none, how far the search went, and what it took. What was found is in
`findings`. Layout, wrapping and colours are left to the printers.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from msgspec import UNSET

from fencepost.memory_models import EXIT_VIOLATED, OBSERVATIONAL, WRITE_RACES
from fencepost.report.printable import counted, printable
from fencepost.verdicts import (
    Answer,
    ModelVerdict,
    Persistent,
    RaceFree,
    Racy,
    Robust,
    Safe,
    Stats,
    Unknown,
    Unsafe,
)

_WORDS = {  # by criterion, where the verdict alone does not say what it is about
    "trf": {True: "no triangular race", False: "triangular race", None: "unknown"},
    OBSERVATIONAL: {True: "observationally robust", None: "not shown to be observationally robust"},
    WRITE_RACES: {True: "no write/write race", False: "write/write race", None: "unknown"},
}
_FAILURES = {
    "assertion": "a failing assertion",
    "division-by-zero": "a division by zero",
    "index-out-of-range": "an index out of range",
}


def verdict(answer: Answer) -> str:
    """The verdict in words."""
    if answer.question == "fix" and answer.holds is False and answer.witness is None:
        return "not repairable"
    if answer.question == "outcomes":
        from fencepost.report.outcomes import verdict_words

        return verdict_words(answer)
    words = _WORDS.get(answer.criterion)
    told = answer.verdict.replace("-", " ") if words is None else words[answer.holds]
    return f"{told}{_for_how_many(answer)}"


def _for_how_many(answer: Answer) -> str:
    """With how many threads, where the program does not say."""
    many = answer.any_number
    if many is UNSET or answer.holds is None:
        return ""
    if answer.holds:
        return " for every number of threads"
    copies = (f"{counted(n, 'thread')} `{printable(name)}`" for name, n in many.copies.items())
    return f" with {' and '.join(copies)}"


def headline(answer: Answer) -> str:
    """The verdict in words, never without what was found besides: `robust, but it has a data race`."""
    found = also_found(answer) if answer.holds else []
    return f"{verdict(answer)}, but it has {' and '.join(found)}" if found else verdict(answer)


def kind(answer: Answer) -> str:
    """The headline, but for the number of threads with which a program goes wrong: to count answers by."""
    return headline(answer) if answer.holds else headline(answer).removesuffix(_for_how_many(answer))


def brief(answer: Answer) -> str:
    """The same on one line for scripts, with the verdict as in JSON; but `robust` is not said of less."""
    if answer.holds and also_found(answer):
        return headline(answer)
    shown = verdict(answer) if answer.criterion == OBSERVATIONAL and answer.holds else answer.verdict
    told = {"witness"} | ({"race"} if isinstance(answer, Racy) else set())
    return ", ".join([shown, *(name for name in answer.parts_found if name not in told)])


Mood = Literal["good", "bad", "warn", "open"]


def mood(answer: Answer) -> Mood:
    """How to show the verdict: violated is bad, undecided is open, and good is only where nothing at all was
    found besides; else it is a warning."""
    if answer.holds is False:
        return "bad"
    if also_found(answer) or answer.exit_code == EXIT_VIOLATED:
        return "warn"
    return "good" if answer.holds else "open"


def also_found(answer: Answer) -> list[str]:
    """What is wrong with the program whatever the verdict."""
    found = ["a data race"] if answer.race is not None and not isinstance(answer, Racy) else []
    found += [] if answer.assertion is None else [_FAILURES[answer.assertion.kind]]
    return found if answer.deadlock is None else [*found, "a deadlock"]


def undecided(answer: Answer) -> str:
    """Why there is no verdict; nothing if there is one."""
    return f"Not decided: {printable(getattr(answer, 'why', ''))}." if answer.holds is None else ""


def extent(answer: Answer) -> Iterator[str]:
    """How far the search went, in sentences."""
    if answer.criterion == OBSERVATIONAL:
        yield from filter(None, [_about_uses(answer)])
    nothing_else = not answer.parts_found.keys() - {"witness"}
    if isinstance(answer, Unsafe | Racy) or (nothing_else and not isinstance(answer, Unknown)):
        yield from filter(None, [_searched(answer)])
    swarm = getattr(answer, "swarm", UNSET)
    if swarm is not UNSET:
        from fencepost.report.swarm import summary

        yield summary(swarm, answer)


def _about_uses(answer: Answer) -> str:
    if answer.holds:
        return "A load may read a stale value, but no value that may be stale is used."
    if answer.witness is None:
        return ""
    return (
        "The rule that fails here proves observational robustness where it holds. Where it fails, the "
        "program may be observationally robust all the same."
    )


def models_asked(answer: Answer) -> tuple[ModelVerdict, ...]:
    """The verdicts under all models, where these were asked."""
    models = getattr(answer, "models", UNSET)
    return models if isinstance(models, tuple) and answer.question == "verify" else ()


def stats_line(stats: Stats) -> str:
    """What the search took."""
    parts = [
        counted(stats.states, "state"),
        counted(stats.transitions, "transition"),
        f"{stats.seconds:.2f} s",
    ]
    if stats.peak_memory_mb:
        parts.append(f"{stats.peak_memory_mb:.0f} MB")
    if stats.bits_used is not UNSET:
        parts.append(f"{stats.bits_used:.1%} of the bits used")
    if stats.disk_mb is not UNSET:
        parts.append(f"{stats.disk_mb:.0f} MB on disk")
    if stats.compressed_after is not UNSET:
        parts.append(f"compressed after {counted(stats.compressed_after, 'state')}")
    return ", ".join(parts)


def _searched(answer: Answer) -> str:
    if isinstance(answer, Safe | Unsafe | RaceFree | Racy):
        spent = ", ".join(f"{name} {seconds:.2f}" for name, seconds in answer.spent.items())
        ignored = isinstance(answer, Safe) and not answer.exhaustive
        races = " Data races were not looked for." if ignored else ""
        took = f" Seconds spent: {spent}." if spent else ""
        return f"Answered by {answer.engine}: {answer.because}.{races}{took}"
    if answer.any_number is not UNSET and answer.holds:
        many = answer.any_number
        return (
            f"Proven with {counted(many.views, 'view')} of {counted(many.k, 'thread')}. No data race, no "
            "failing assertion. Deadlocks were not looked for."
        )
    if answer.question == "relax" and answer.criterion == "safe":
        return "No data race, no failing assertion. Deadlocks were not looked for."
    if answer.exhaustive:
        return "No data race, no failing assertion, no deadlock."
    if isinstance(answer, Persistent) and answer.flattened is not None:
        return (
            f"Proven by flattening with k = {answer.flattened}. Data races, failing assertions and deadlocks "
            "were not searched for exhaustively."
        )
    if isinstance(answer, Robust) and answer.criterion == "robust":
        return (
            "Proven by translation. No data race. Nothing is said about failing assertions and deadlocks: "
            "`fencepost verify` asks about these."
        )
    return "The search stopped here, so it may have missed data races, failing assertions and deadlocks."
