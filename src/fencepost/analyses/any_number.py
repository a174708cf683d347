"""Programs in which threads stand for any number of copies of themselves.

Two searches take turns. The native one collects views of k threads (`native/engine/any_number`): what no view
shows, no number of threads shows. What some view shows may be an artefact of looking at k threads at a time.
Then the program with 1, 2, 3 … copies is searched for it, and if it is not there, k is raised. More copies
can do all that fewer can, since a thread need not run, so the smallest number with a violation is enough.

What is asked, of views and of copies, is left to a `Question`: robustness here, safety in
`safety/any_number`.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from itertools import count
from typing import Any, Generic, NamedTuple, TypeVar

from fencepost.analyses.robustness import all_warnings, robust
from fencepost.engine import _native
from fencepost.engine._native import Outcome
from fencepost.engine.search import Limits, Watcher, explore_any_number, stats, why_unknown
from fencepost.program import MOST_THREADS, Load, Program, Thread
from fencepost.verdicts import (
    Answer,
    AnyNumber,
    Assertion,
    NotRobust,
    Race,
    Robust,
    RobustnessAnswer,
    Stats,
    Unknown,
)

A = TypeVar("A", bound=Answer)


class Views(NamedTuple):
    """What the views of k threads show, if they could all be found."""

    k: int
    search: Stats
    violation: bool
    race: bool
    failure: bool
    together: bool = False  # two threads at places that exclude each other
    unfinished: _native.Result | None = None


class Question(ABC, Generic[A]):
    """A question about every number of threads, and what is known so far."""

    property_held: str  # what the program is with as many threads as were looked at

    def __init__(self, program: Program, model: str, limits: Limits, watcher: Watcher | None) -> None:
        self.program, self.model = program, model
        self._limits, self.watcher = limits, watcher
        self._started = time.monotonic()
        self._taken = Stats()
        self._views = 0
        self._k = 0
        self._copies = 0  # of each template: the largest number with which the program was searched

    @abstractmethod
    def look(self, k: int, limits: Limits) -> Views:
        """What the views of k threads show."""

    @abstractmethod
    def ask(self, program: Program, limits: Limits) -> A:
        """The question about so many copies as this program has."""

    @abstractmethod
    def doubts(self, views: Views) -> bool:
        """Whether a view shows anything that no number of copies has shown yet."""

    @abstractmethod
    def note(self, answer: A) -> A | None:
        """Keep what was found with some number of copies; the answer if that decides the question."""

    @abstractmethod
    def holds(self) -> A:
        """The answer if no view shows anything else."""

    @abstractmethod
    def undecided(self, why: str, *, interrupted: bool) -> A:
        """The answer if a search came to no end."""

    def answer(self) -> A:
        for k in count(1):
            views = self.look(k, self.limits_left)
            self._k = k
            self._views += views.search.states
            self._taken += views.search
            if views.unfinished is not None:
                why = why_unknown(self.program, views.unfinished, self._limits)
                return self._unknown(why, interrupted=views.unfinished.outcome == Outcome.INTERRUPTED)
            while self.doubts(views) and self._copies <= k:
                if not self._fits(self._copies + 1):
                    return self._unknown(f"more than {MOST_THREADS} threads would have to be searched")
                answer = self.ask(self.program.with_instances(self._copies + 1), self.limits_left)
                if isinstance(answer, Unknown):
                    return self._unknown(answer.why, interrupted=answer.interrupted)
                self._copies += 1
                self._taken += answer.stats
                decided = self.note(answer)
                if decided is not None:
                    return decided
            if not self.doubts(views):
                return self.holds()
        raise AssertionError("k is raised without end")

    @property
    def limits_left(self) -> Limits:
        return self._limits.after(time.monotonic() - self._started)

    def _fits(self, copies: int) -> bool:
        return sum(map(len, self.program.instance_numbers(copies))) <= MOST_THREADS

    def _unknown(self, why: str, *, interrupted: bool = False) -> A:
        decided = f"; with up to {self._copies} of each `[*]` the program is {self.property_held}"
        looking = f"{why}, looking at {self._k} threads at a time"
        return self.undecided(looking + (decided if self._copies else ""), interrupted=interrupted)

    @property
    def common(self) -> dict[str, Any]:
        """What every answer has."""
        copies = {
            thread.family: max(self._copies, thread.least or 0) if self._copies else 0
            for thread in self.program.templates
        }
        return {
            "file": self.program.file,
            "model": self.model,
            "stats": self._taken,
            "any_number": AnyNumber(copies=copies, k=self._k, views=self._views),
            "exhaustive": False,
        }


def robust_for_any_number(
    program: Program, model: str, *, limits: Limits, watcher: Watcher | None
) -> RobustnessAnswer:
    """Whether the program is robust against the model with every number of threads of its templates."""
    return _Robustness(program, model, limits, watcher).answer()


class _Robustness(Question[RobustnessAnswer]):
    property_held = "robust"

    _race: Race | None = None
    _failure: Assertion | None = None

    def look(self, k: int, limits: Limits) -> Views:
        return views_of(self.program, self.model, k, limits, self.watcher)

    def ask(self, program: Program, limits: Limits) -> RobustnessAnswer:
        return robust(program, self.model, limits=limits, watcher=self.watcher)

    def doubts(self, views: Views) -> bool:
        race_is_open = views.race and self._race is None
        failure_is_open = views.failure and self._failure is None
        return views.violation or race_is_open or failure_is_open

    def note(self, answer: RobustnessAnswer) -> RobustnessAnswer | None:
        self._race = self._race or answer.race
        self._failure = self._failure or answer.assertion
        if isinstance(answer, NotRobust):
            return NotRobust(**self.common, witness=answer.witness)
        return None

    def holds(self) -> RobustnessAnswer:
        return Robust(**self.common)

    def undecided(self, why: str, *, interrupted: bool) -> RobustnessAnswer:
        return Unknown(**self.common, why=why, interrupted=interrupted)

    @property
    def common(self) -> dict[str, Any]:
        return {
            **super().common,
            "question": "robust",
            "race": self._race,
            "assertion": self._failure,
            "warnings": all_warnings(self.program, self.model),
        }


def views_of(program: Program, model: str, k: int, limits: Limits, watcher: Watcher | None) -> Views:
    """What the views of k threads show.

    Races name the last reader of a location where accesses have modes. So that it can be any thread, the
    search is made once more for each template that reads non-atomic locations, with one thread of it apart.
    """
    started = time.monotonic()
    parts = [explore_any_number(program, model, k, limits, watcher)]
    readers = [thread for thread in program.templates if _reads_non_atomic(program, thread)]
    for thread in readers if model in ("rc20", "cpp20") else ():
        if parts[-1].violation or parts[-1].search.outcome not in (Outcome.COMPLETE, Outcome.VIOLATION):
            break
        left = limits.after(time.monotonic() - started)
        parts.append(explore_any_number(program, model, k, left, watcher, apart=thread))
    searches = [part.search for part in parts]
    return Views(
        k,
        sum((stats(search) for search in searches), Stats()),
        violation=any(part.violation for part in parts),
        race=any(part.race for part in parts),
        failure=any(part.failure for part in parts),
        unfinished=next(
            (s for s in searches if s.outcome not in (Outcome.COMPLETE, Outcome.VIOLATION)), None
        ),
    )


def _reads_non_atomic(program: Program, thread: Thread) -> bool:
    accesses = (i for i in thread.code if isinstance(i, Load))
    return any(not program.location_named[access.cell.name].atomic for access in accesses)
