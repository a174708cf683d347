"""One question about safety, asked of all memory models: where can the program go wrong?

The answer is the one under the models that are required, and `models` has the verdicts under all of them. The
others are asked with less effort, since their verdicts are for information.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Literal

from msgspec.structs import replace

from fencepost.analyses.model_choice import default_model
from fencepost.analyses.robustness import mode_warnings
from fencepost.analyses.safety.portfolio import verify
from fencepost.engine.search import Limits, Watcher
from fencepost.errors import InputError
from fencepost.memory_models import OUTCOME_MODELS
from fencepost.program import Program
from fencepost.program.properties import Property
from fencepost.verdicts import ModelVerdict, SafetyAnswer, Unknown

# What models that are not required may take.
MOST_STATES = 50_000
MOST_SECONDS = 5.0


def verify_under_all(
    program: Program,
    *,
    wanted: Property = Property(),  # noqa: B008 (a frozen value)
    require: Sequence[str] = (),
    limits: Limits = Limits(),  # noqa: B008 (a frozen value)
    watcher: Watcher | None = None,
) -> SafetyAnswer:
    """The answer under the models in `require`, of which the worst one counts, with the verdicts under all.
    If none are required, it is the one under the model that `verify` takes by default."""
    started = time.monotonic()
    required = tuple(dict.fromkeys(require)) or (default_model(program, "verify"),)

    def left() -> Limits:
        return limits.after(time.monotonic() - started)

    def ask(model: str, limits: Limits) -> SafetyAnswer:
        return verify(program, model, wanted=wanted, limits=limits, watcher=watcher)

    answers = {model: ask(model, left()) for model in required}
    verdicts = {model: _told(answer, required=True) for model, answer in answers.items()}
    stopped = any(isinstance(answer, Unknown) and answer.interrupted for answer in answers.values())
    for model in _models(program):
        if model in verdicts:
            continue
        if stopped or left().seconds == 0:
            why = "the search was interrupted before" if stopped else "there was no time left"
            verdicts[model] = ModelVerdict(model=model, verdict="unknown", because=why)
            continue
        try:
            answer = ask(model, _small(left()))
        except InputError as error:
            because = error.message.partition("; ")[0]
            verdicts[model] = ModelVerdict(model=model, verdict="not-asked", because=because)
        else:
            verdicts[model] = _told(answer)
            stopped = isinstance(answer, Unknown) and answer.interrupted
    told = tuple(verdicts[model] for model in OUTCOME_MODELS if model in verdicts)
    asked = [one.model for one in told if one.verdict != "not-asked"]
    warnings = (*program.warnings, *mode_warnings(program, asked))
    return replace(min(answers.values(), key=_how_bad), models=told, warnings=warnings)


def _small(limits: Limits) -> Limits:
    """What a model that is not required may take of them."""
    states = MOST_STATES if limits.states is None else min(limits.states, MOST_STATES)
    seconds = MOST_SECONDS if limits.seconds is None else min(limits.seconds, MOST_SECONDS)
    return replace(limits, states=states, seconds=seconds)


def _models(program: Program) -> tuple[str, ...]:
    """Of RC20 and C++20 the one that other questions about the program are asked of."""
    left_out = "rc20" if default_model(program, "robust") == "cpp20" else "cpp20"
    return tuple(model for model in OUTCOME_MODELS if model != left_out)


_WORST_FIRST: tuple[Literal["unsafe", "unknown", "safe"], ...] = ("unsafe", "unknown", "safe")


def _how_bad(answer: SafetyAnswer) -> int:
    return _WORST_FIRST.index(answer.verdict)


def _told(answer: SafetyAnswer, *, required: bool = False) -> ModelVerdict:
    because = answer.why if isinstance(answer, Unknown) else answer.because
    return ModelVerdict(
        model=answer.model,
        verdict=_WORST_FIRST[_how_bad(answer)],
        because=because,
        required=required,
        seconds=answer.stats.seconds,
    )
