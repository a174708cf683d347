"""What can be asked in the playground: one line per question and memory model."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple, Protocol

from fencepost.analyses.outcomes import outcomes
from fencepost.analyses.repair.checks import FixWatcher
from fencepost.analyses.repair.fix import fix
from fencepost.analyses.robustness import robust
from fencepost.analyses.safety.portfolio import races, verify
from fencepost.analyses.tso import persist
from fencepost.engine.search import Limits, Watcher
from fencepost.formats.properties import stated_property
from fencepost.memory_models import OBSERVATIONAL
from fencepost.program import Program
from fencepost.verdicts import Answer, SafetyAnswer
from fencepost.verdicts.repair import FixAnswer


class Ask(Protocol):
    def __call__(self, program: Program, *, limits: Limits, watcher: Watcher) -> Answer: ...


class Repair(Protocol):
    def __call__(self, program: Program, *, limits: Limits, watcher: FixWatcher) -> FixAnswer: ...


class Question(NamedTuple):
    """`name` is for links, `words` for the menu; without `repair` it is only a question."""

    name: str
    words: str
    ask: Ask
    repair: Repair | None = None


def _safe(program: Program, model: str, *, limits: Limits, watcher: Watcher) -> SafetyAnswer:
    """With what the comments of the program forbid."""
    return verify(program, model, wanted=stated_property(program), limits=limits, watcher=watcher)


QUESTIONS = (
    Question(
        "robust-ra", "Robust under release/acquire?", partial(robust, model="ra"), partial(fix, model="ra")
    ),
    Question(
        "robust-rc20", "Robust with C++20 atomics?", partial(robust, model="rc20"), partial(fix, model="rc20")
    ),
    Question(
        "observational-ra",
        "Observationally robust under release/acquire?",
        partial(robust, model="ra", criterion=OBSERVATIONAL),
    ),
    Question(
        "observational-rc20",
        "Observationally robust with C++20 atomics?",
        partial(robust, model="rc20", criterion=OBSERVATIONAL),
    ),
    Question(
        "robust-cpp20",
        "Robust with C++20 atomics, seq_cst too?",
        partial(robust, model="cpp20"),
        partial(fix, model="cpp20"),
    ),
    Question(
        "robust-tso",
        "Robust on x86 (TSO)?",
        partial(robust, model="tso"),
        partial(fix, model="tso", criterion="robust"),
    ),
    Question(
        "persist",
        "Persistent on x86 (TSO)?",
        persist,
        partial(fix, model="tso", criterion="persistent"),
    ),
    Question("verify-sra", "Safe under causal consistency?", partial(_safe, model="sra")),
    Question("verify-ra", "Safe under release/acquire?", partial(_safe, model="ra")),
    Question("verify-tso", "Safe on x86 (TSO)?", partial(_safe, model="tso")),
    Question("verify-rc20", "Safe with C++20 atomics?", partial(_safe, model="rc20")),
    Question("verify-cpp20", "Safe with C++20 atomics, seq_cst too?", partial(_safe, model="cpp20")),
    Question("verify-sc", "Safe when threads interleave?", partial(_safe, model="sc")),
    Question("races", "Free of data races?", races),
    Question("write-write", "Free of write/write races?", partial(races, kind="write-write")),
    Question("outcomes", "How can it end, under each model?", outcomes),
)
QUESTION_NAMED = {question.name: question for question in QUESTIONS}
