"""Programs in which threads stand for any number of copies of themselves.

Two searches take turns. The native one collects views of k threads (`native/engine/any_number`): what no view
shows, no number of threads shows. What some view shows may be an artefact of looking at k threads at a time.
Then the program with 1, 2, 3 … copies is searched for it, and if a few more than k do not show it, k is
raised. More copies can do all that fewer can, since a thread need not run, so the smallest number with a
violation is enough.

What is asked, of views and of copies, is left to a `Question`: robustness here, safety in
`safety/any_number`.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from itertools import count
from typing import Any, Generic, NamedTuple, TypeVar

from msgspec.structs import replace

from fencepost.analyses.robustness import all_warnings, robust
from fencepost.engine import _native
from fencepost.engine._native import Outcome
from fencepost.engine.search import (
    Limits,
    Watcher,
    explore_any_number,
    stats,
    two_of_each,
    why_unknown,
)
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

FEW_VIEWS = 10_000  # with k = 1
FEW_MORE, MORE_STATES = 3, 20_000  # copies than k + 1, and states for each number of them
_TOO_MANY = f"more than {MOST_THREADS} threads"


class Stopped(NamedTuple):
    """Why not all views were found."""

    why: str
    interrupted: bool = False
    at_state_limit: bool = False


def stopped(
    program: Program, search: _native.Result, limits: Limits, apart: Thread | None = None
) -> Stopped | None:
    """The same of a native search of views, in which a thread of `apart` was told apart; None if it came to
    its end."""
    if search.outcome in (Outcome.COMPLETE, Outcome.VIOLATION):
        return None
    return Stopped(
        why_unknown(two_of_each(program, apart).program, search, limits),
        search.outcome == Outcome.INTERRUPTED,
        search.outcome == Outcome.STATE_LIMIT,
    )


class Views(NamedTuple):
    """What the views of k threads show, if they could all be found."""

    k: int
    search: Stats
    violation: bool
    race: bool
    failure: bool
    together: bool = False  # two threads at places that exclude each other
    stopped: Stopped | None = None
    too_many: bool = False  # to be looked at with this k


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
            views = self._look(k)
            if views.stopped is not None and not views.too_many:
                return self._unknown(views.stopped.why, interrupted=views.stopped.interrupted)
            decided = self._search_copies(views)
            if decided is not None:
                return decided
            if not views.too_many and not self.doubts(views):
                return self.holds()
        raise AssertionError("k is raised without end")

    def _look(self, k: int) -> Views:
        """What the views of k threads show. With k = 1 they rarely decide, so then few are enough."""
        limits = self.limits_left
        few = k == 1 and (limits.states is None or limits.states > FEW_VIEWS)
        views = self.look(k, replace(limits, states=FEW_VIEWS) if few else limits)
        self._k = k
        self._views += views.search.states
        self._taken += views.search
        return views._replace(too_many=few and views.stopped is not None and views.stopped.at_state_limit)

    def _search_copies(self, views: Views) -> A | None:
        """Search the program with 1, 2, 3 … copies for what the views show; the answer if it is found.

        It may be there with k + 1 threads if it is at all, but need not: with a few more the search is often
        still cheaper than with larger views.
        """
        for copies in range(self._copies + 1, views.k + 2 + FEW_MORE):
            if not views.too_many and not self.doubts(views):
                break
            is_more = copies > views.k + 1
            if not self._fits(copies):
                return None if is_more else self._unknown(f"{_TOO_MANY} would have to be searched")
            limits = self.limits_left
            if is_more:
                limits = replace(limits, states=min(MORE_STATES, limits.states or MORE_STATES))
            answer = self.ask(self.program.with_instances(copies), limits)
            if isinstance(answer, Unknown):
                is_limit = is_more and not answer.interrupted and self.limits_left.seconds != 0
                return None if is_limit else self._unknown(answer.why, interrupted=answer.interrupted)
            self._copies = copies
            self._taken += answer.stats
            decided = self.note(answer)
            if decided is not None:
                return decided
        return None

    @property
    def limits_left(self) -> Limits:
        return self._limits.after(time.monotonic() - self._started)

    def _fits(self, copies: int) -> bool:
        return sum(map(len, self.program.instance_numbers(copies))) <= MOST_THREADS

    def _unknown(self, why: str, *, interrupted: bool = False) -> A:
        decided = f"; with up to {self._copies} of each `[*]` the program is {self.property_held}"
        looking = f"{why}, looking at {self._k} thread{'s' * (self._k != 1)} at a time"
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
    return Robustness(program, model, limits, watcher).answer()


class Robustness(Question[RobustnessAnswer]):
    """The question of `robust_for_any_number`."""

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
    readers = [thread for thread in program.templates if _reads_non_atomic(program, thread)]
    parts: list[tuple[Thread | None, _native.AnyNumberResult]] = []
    for apart in (None, *(readers if model in ("rc20", "cpp20") else ())):
        left = limits.after(time.monotonic() - started)
        part = explore_any_number(program, model, k, left, watcher, apart=apart)
        parts.append((apart, part))
        if part.violation or part.search.outcome not in (Outcome.COMPLETE, Outcome.VIOLATION):
            break
    return joined(program, k, parts, limits)


def joined(
    program: Program, k: int, parts: Sequence[tuple[Thread | None, _native.AnyNumberResult]], limits: Limits
) -> Views:
    """What searches show that were made one after the other, each with a thread of a template apart."""
    whys = (stopped(program, part.search, limits, apart) for apart, part in parts)
    return Views(
        k,
        sum((stats(part.search) for _, part in parts), Stats()),
        violation=any(part.violation for _, part in parts),
        race=any(part.race for _, part in parts),
        failure=any(part.failure for _, part in parts),
        stopped=next(filter(None, whys), None),
    )


def _reads_non_atomic(program: Program, thread: Thread) -> bool:
    accesses = (i for i in thread.code if isinstance(i, Load))
    return any(not program.location_named[access.cell.name].atomic for access in accesses)
