"""Safety of programs with any number of threads.

Under sequential consistency the views show what is bad (`analyses/any_number`): a failing assertion, a label
that must not be reached, two threads about to race or at labels that exclude each other. Under a weaker model
a program that is robust, too, reaches nothing more. If it is not, or is unsafe under sequential consistency,
some number of threads shows that, and the program with so many is asked about under the model itself.
"""

from __future__ import annotations

import time
from typing import Any

from msgspec.structs import replace

from fencepost.analyses.any_number import Question, Views, stopped
from fencepost.analyses.robustness import mode_warnings, robust
from fencepost.engine.search import Limits, Watcher, explore_any_number, stats
from fencepost.program import Program
from fencepost.program.properties import Property, bad_ends, marked
from fencepost.verdicts import AnyNumber, Robust, RobustnessAnswer, Safe, SafetyAnswer, Unknown, Unsafe

# By model, the one whose robustness says that it reaches no more than sequential consistency. SRA allows
# less than RA.
ROBUST_AGAINST = {"sra": "ra", "ra": "ra", "rc20": "rc20", "cpp20": "cpp20", "tso": "tso"}


def safe_for_any_number(
    program: Program, model: str, *, wanted: Property, limits: Limits, watcher: Watcher | None
) -> SafetyAnswer:
    """Whether the program is safe under the model with every number of threads of its templates."""
    started = time.monotonic()
    _check_what_is_asked(program, wanted)
    under_sc = _Safety(program, wanted, limits, watcher).answer()
    if model == "sc" or (isinstance(under_sc, Unknown) and under_sc.interrupted):
        return replace(under_sc, model=model)
    weak = _UnderWeakMemory(program, model, wanted, watcher)
    if isinstance(under_sc, Unsafe):
        return weak.with_copies_of(under_sc, limits.after(time.monotonic() - started))
    left = limits.after(time.monotonic() - started)
    answer = robust(program, ROBUST_AGAINST[model], limits=left, watcher=watcher)
    return weak.as_robust(under_sc, answer, limits.after(time.monotonic() - started))


def _check_what_is_asked(program: Program, wanted: Property) -> None:
    if wanted.bad is not None:
        program.require_fixed_threads("a formula")
    if bad_ends(program, wanted):
        program.require_fixed_threads("a condition on final states")
    if wanted.deadlocks:
        program.require_fixed_threads("--deadlocks")


class _Safety(Question[SafetyAnswer]):
    """Under sequential consistency."""

    property_held = "safe"

    def __init__(self, program: Program, wanted: Property, limits: Limits, watcher: Watcher | None) -> None:
        super().__init__(program, "sc", limits, watcher)
        self._wanted = wanted
        self._marked = marked(program, wanted).program
        self._exclusive = [
            (number, thread.labels[label])
            for number, thread in enumerate(self._marked.threads)
            for label in wanted.mutex
            if label in thread.labels
        ]

    def look(self, k: int, limits: Limits) -> Views:
        found = explore_any_number(self._marked, "sc", k, limits, self.watcher, exclusive=self._exclusive)
        return Views(
            k,
            stats(found.search),
            violation=False,
            race=found.race,
            failure=found.failure,
            together=found.together,
            stopped=stopped(self._marked, found.search, limits),
        )

    def ask(self, program: Program, limits: Limits) -> SafetyAnswer:
        from fencepost.analyses.safety.portfolio import verify

        return verify(program, "sc", wanted=self._wanted, limits=limits, watcher=self.watcher)

    def doubts(self, views: Views) -> bool:
        return views.failure or views.together or (views.race and not self._wanted.ignore_races)

    def note(self, answer: SafetyAnswer) -> SafetyAnswer | None:
        if not isinstance(answer, Unsafe):
            return None
        return replace(answer, any_number=self.common["any_number"], stats=self._taken)

    def holds(self) -> SafetyAnswer:
        because = f"no view of {self._k} threads shows a bad state under sequential consistency"
        if self._k == 1:
            because = "no view of one thread shows a bad state under sequential consistency"
        common = {**self.common, "exhaustive": not self._wanted.ignore_races}
        return Safe(**common, engine="views", because=because)

    def undecided(self, why: str, *, interrupted: bool) -> SafetyAnswer:
        return Unknown(**self.common, why=why, interrupted=interrupted)

    @property
    def common(self) -> dict[str, Any]:
        return {
            **super().common,
            "question": "verify",
            "criterion": "safe",
            "warnings": self.program.warnings,
        }


class _UnderWeakMemory:
    """What follows for a weaker model."""

    def __init__(self, program: Program, model: str, wanted: Property, watcher: Watcher | None) -> None:
        self._program, self._model, self._wanted, self._watcher = program, model, wanted, watcher

    def with_copies_of(self, found: SafetyAnswer | RobustnessAnswer, limits: Limits) -> SafetyAnswer:
        """The answer about as many threads as show something; safe is undecided."""
        from fencepost.analyses.safety.portfolio import verify

        many = found.any_number
        assert isinstance(many, AnyNumber)
        copies = min(many.copies.values())
        program = self._program.with_instances(copies)
        answer = verify(program, self._model, wanted=self._wanted, limits=limits, watcher=self._watcher)
        answer = replace(answer, any_number=many, stats=found.stats + answer.stats)
        if not isinstance(answer, Safe):
            return answer
        why = (
            f"the program is not robust against {found.model.upper()} with {copies} of each `[*]`, and safe "
            "all the same; whether it is with more of them is open"
        )
        return Unknown(**{**self._common(answer), "any_number": many}, why=why)

    def as_robust(self, under_sc: SafetyAnswer, answer: RobustnessAnswer, limits: Limits) -> SafetyAnswer:
        """Safe, if it is under sequential consistency and weak memory does not show."""
        stats = under_sc.stats + answer.stats
        races = answer.race is not None and not self._wanted.ignore_races
        if isinstance(answer, Unknown) or isinstance(under_sc, Unknown):
            why = answer.why if isinstance(answer, Unknown) else getattr(under_sc, "why", "")
            interrupted = isinstance(answer, Unknown) and answer.interrupted
            common = {**self._common(answer), "stats": stats}
            return Unknown(**common, any_number=answer.any_number, why=why, interrupted=interrupted)
        if not isinstance(answer, Robust) or races:
            return self.with_copies_of(replace(answer, stats=stats), limits)
        because = (
            f"the program is robust against {answer.model.upper()}, and safe under sequential consistency, "
            "with every number of threads"
        )
        common = {**self._common(answer), "stats": stats, "exhaustive": not self._wanted.ignore_races}
        return Safe(**common, any_number=answer.any_number, engine="robustness", because=because)

    def _common(self, answer: SafetyAnswer | RobustnessAnswer) -> dict[str, Any]:
        return {
            "file": self._program.file,
            "question": "verify",
            "model": self._model,
            "criterion": "safe",
            "stats": answer.stats,
            "exhaustive": False,
            "warnings": (*self._program.warnings, *mode_warnings(self._program, [self._model])),
        }
