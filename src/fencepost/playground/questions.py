"""What can be asked in the playground: one line per question and memory model."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

from fencepost.analyses.outcomes import outcomes
from fencepost.analyses.repair.fix import fix
from fencepost.analyses.robustness import robust
from fencepost.analyses.safety.portfolio import races, verify
from fencepost.analyses.tso import persist
from fencepost.engine.search import Limits, Watcher
from fencepost.formats.properties import stated_property
from fencepost.memory_models import DEADLOCKS, MODELS, OBSERVATIONAL
from fencepost.program import Program
from fencepost.verdicts import Answer, SafetyAnswer
from fencepost.verdicts.repair import FixAnswer

# What a criterion is called in the settings; the first of a question is the default.
CRITERIA = {
    "robust": "robust: every execution is one of interleaved threads",
    OBSERVATIONAL: "observational: only values that the program uses count",
    "trf": "no triangular races",
    "persistent": "persistent: program order and store order",
    "safe": "safe: what the program states",
    DEADLOCKS: "safe and free of deadlocks",
}


# Takes the program, limits, a watcher, and the options of the question.
Ask = Callable[..., Answer]
Repair = Callable[..., FixAnswer]


class Question(NamedTuple):
    """`name` is for links, `words` for the menu, under the heading `group`. Without `repair` it is only a
    question. `criteria` are those to choose from, `unrolls` says whether loops are unrolled for it."""

    name: str
    group: str
    words: str
    ask: Ask
    repair: Repair | None = None
    criteria: tuple[str, ...] = ()
    unrolls: bool = False


def _safe(
    program: Program, model: str, *, criterion: str = "safe", limits: Limits, watcher: Watcher
) -> SafetyAnswer:
    """With what the comments of the program forbid."""
    wanted = dataclasses.replace(stated_property(program), deadlocks=criterion == DEADLOCKS)
    return verify(program, model, wanted=wanted, limits=limits, watcher=watcher)


def _robust(model: str, words: str) -> Question:
    repair = partial(fix, model=model)
    criteria = MODELS[model].criteria["robust"]
    return Question(f"robust-{model}", "Robustness", words, partial(robust, model=model), repair, criteria)


def _verify(model: str, words: str) -> Question:
    criteria = MODELS[model].criteria["verify"]
    return Question(f"verify-{model}", "Safety", words, partial(_safe, model=model), criteria=criteria)


QUESTIONS = (
    _robust("ra", "Robust under release/acquire?"),
    _robust("rc20", "Robust with C++20 atomics?"),
    _robust("cpp20", "Robust with C++20 atomics, seq_cst too?"),
    _robust("tso", "Robust on x86 (TSO)?"),
    Question(
        "persist",
        "Robustness",
        "Persistent on x86 (TSO)?",
        persist,
        partial(fix, model="tso", criterion="persistent"),
    ),
    _verify("sra", "Safe under causal consistency?"),
    _verify("ra", "Safe under release/acquire?"),
    _verify("tso", "Safe on x86 (TSO)?"),
    _verify("rc20", "Safe with C++20 atomics?"),
    _verify("cpp20", "Safe with C++20 atomics, seq_cst too?"),
    _verify("sc", "Safe when threads interleave?"),
    Question("races", "Races", "Free of data races?", races),
    Question("write-write", "Races", "Free of write/write races?", partial(races, kind="write-write")),
    Question("outcomes", "Outcomes", "How can it end, under each model?", outcomes, unrolls=True),
)
QUESTION_NAMED = {question.name: question for question in QUESTIONS}


def ask_options(question: Question, criterion: str, unroll: int) -> Mapping[str, Any]:
    """The options of the question itself; raises `ValueError` for a criterion that it does not have."""
    options: dict[str, Any] = {"unroll": unroll} if question.unrolls else {}
    if criterion and question.criteria:
        if criterion not in question.criteria:
            known = ", ".join(question.criteria)
            raise ValueError(f"there is no criterion `{criterion}` here; expected one of {known}")
        options["criterion"] = criterion
    return options


def repair_options(
    question: Question, criterion: str, costs: Mapping[str, float], loop_weight: int
) -> Mapping[str, Any]:
    """The options of its repair; raises `ValueError` where there is none by this criterion."""
    options: dict[str, Any] = {"costs": costs, "loop_weight": loop_weight}
    if question.name == "robust-tso":
        options["criterion"] = criterion or "robust"
    elif criterion == OBSERVATIONAL:
        raise ValueError("repairs are for robustness: choose the criterion `robust` in the settings")
    return options
