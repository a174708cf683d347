"""What an answer is about: the question in words, what its verdict means, and what was not asked.

A reader of a page knows neither the command line nor the options. What was found is in `findings`, how far
the search went in `story`.
"""

from __future__ import annotations

from collections.abc import Iterator

from fencepost.memory_models import DATA_RACES, DEADLOCKS, MODELS, OBSERVATIONAL, WRITE_RACES
from fencepost.report import story
from fencepost.report.findings import findings
from fencepost.report.printable import printable
from fencepost.verdicts import Answer, Safe

# By criterion: the question, and what it means if the answer is yes. `{}` is the memory model.
_ROBUST = (
    "Is every execution under {} one of interleaved threads too?",
    "Every execution under {} is one of interleaved threads too, so weak memory adds no behaviour.",
)
_WORDS = {
    "robust": _ROBUST,
    OBSERVATIONAL: (
        "Does the program use no value that it can read under {} but not when the threads take turns?",
        "A load may read a stale value under {}, but no value that may be stale is used.",
    ),
    "persistent": (
        "Has every run under {} the program order and the store order of some interleaving of the threads?",
        "Every run under {} has the program order and the store order of some interleaving of the threads.",
    ),
    "trf": (
        "Is there no triangular race under {}?",
        "No interleaving of the threads has a triangular race, so {} adds no behaviour.",
    ),
    "either": ("Is the program persistent or robust under {}?", ""),
    "safe": (
        "Can no run under {} violate what the program states: assertions, final condition, properties?",
        "No run under {} violates what the program states.",
    ),
    DEADLOCKS: (
        "Can no run under {} violate what the program states, and none end in a deadlock?",
        "No run under {} violates what the program states, and none ends in a deadlock.",
    ),
    DATA_RACES: (
        "Is there no data race under {}?",
        "In every run under {} happens-before orders any two accesses of which one writes, wherever a "
        "location is not atomic.",
    ),
    WRITE_RACES: (
        "Is there no write/write race under {}?",
        "In every run under {} happens-before orders any two writes to one location.",
    ),
}
_OUTCOMES = "How can the program end, and which memory models allow it?"
_FIX = "What must be changed, at the least cost, for this to hold and for no data race to be left? {}"


def question(answer: Answer) -> str:
    """What was asked, as a question."""
    if answer.question == "outcomes":
        return _OUTCOMES
    words = _words(answer)[0]
    if story.models_asked(answer):
        words += " The same was asked about every model in the table."
    return _FIX.format(words) if answer.question in ("fix", "relax") else words


def reason(answer: Answer) -> str:
    """Why the verdict is as it is, in a sentence: what was found, why nothing was decided, or what holds."""
    if answer.holds is None and (why := story.undecided(answer)):
        return why
    found = findings(answer)
    if found:
        return found[0].message
    return meaning(answer)


def meaning(answer: Answer) -> str:
    """What it means that the property holds; nothing if it does not, or if the answer is a table."""
    if not answer.holds or answer.question in ("outcomes", "fix", "relax"):
        return ""
    return _words(answer)[1]


def not_asked(answer: Answer) -> Iterator[str]:
    """What somebody might think was answered too, in sentences."""
    if answer.question == "outcomes":
        yield "Runs in which a thread waits for ever have no outcome and are not in the table."
        return
    asked = {answer.model, *(one.model for one in story.models_asked(answer))}
    if others := [name for name in MODELS if name not in asked]:
        yield f"Other memory models were not asked about: {', '.join(others)}."
    if answer.question in ("robust", "persist", "fix", "relax"):
        yield (
            "Whether the program does the right thing when the threads take turns was not asked, but for the "
            "assertions in its code. `fencepost verify` asks about final conditions and properties."
        )
        return
    yield "Whether weak memory adds behaviour at all was not asked. `fencepost robust` asks that."
    if answer.question == "races":
        yield "Assertions, final conditions and deadlocks were not asked about."
    elif answer.criterion != DEADLOCKS:
        yield "Deadlocks were not asked about."
    if isinstance(answer, Safe) and not answer.exhaustive:
        yield "Data races were not looked for."


def _words(answer: Answer) -> tuple[str, str]:
    model = MODELS[answer.model].called if answer.model in MODELS else printable(answer.model)
    asked, means = _WORDS.get(answer.criterion, _ROBUST)
    return asked.format(model), means.format(model)
