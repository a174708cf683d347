"""Programs in which threads stand for any number of copies of themselves.

Two searches take turns. The native one collects views of k threads (`native/engine/any_number`): what no view
shows, no number of threads shows. What some view shows may be an artefact of looking at k threads at a time.
Then the program with 1, 2, 3 … copies is searched for it, and if it is not there, k is raised. More copies
can do all that fewer can, since a thread need not run, so the smallest number with a violation is enough.
"""

from __future__ import annotations

import time
from itertools import count
from typing import Any, NamedTuple

from fencepost.analyses.robustness import all_warnings, robust
from fencepost.engine import _native
from fencepost.engine._native import Outcome
from fencepost.engine.search import Limits, Watcher, explore_any_number, stats, why_unknown
from fencepost.program import MOST_THREADS, Load, Program, Thread
from fencepost.verdicts import (
    AnyNumber,
    Assertion,
    NotRobust,
    Race,
    Robust,
    RobustnessAnswer,
    Stats,
    Unknown,
)


class Views(NamedTuple):
    """What the views of k threads show, if they could all be found."""

    k: int
    search: Stats
    violation: bool
    race: bool
    failure: bool
    unfinished: _native.Result | None = None


def robust_for_any_number(
    program: Program, model: str, *, limits: Limits, watcher: Watcher | None
) -> RobustnessAnswer:
    """Whether the program is robust against the model with every number of threads of its templates."""
    started = time.monotonic()
    looked = _Looked(program, model)
    for k in count(1):
        views = views_of(program, model, k, limits.after(time.monotonic() - started), watcher)
        looked.add_views(views)
        if views.unfinished is not None:
            why = why_unknown(program, views.unfinished, limits)
            return looked.undecided(why, interrupted=views.unfinished.outcome == Outcome.INTERRUPTED)
        while looked.doubts(views) and looked.copies <= k:
            copies = looked.copies + 1
            if not _fits(program, copies):
                return looked.undecided(f"more than {MOST_THREADS} threads would have to be searched")
            left = limits.after(time.monotonic() - started)
            answer = robust(program.with_instances(copies), model, limits=left, watcher=watcher)
            if isinstance(answer, Unknown):
                return looked.undecided(answer.why, interrupted=answer.interrupted)
            looked.add_copies(copies, answer)
            if isinstance(answer, NotRobust):
                return looked.not_robust(answer)
        if not looked.doubts(views):
            return looked.robust()
    raise AssertionError("k is raised without end")


class _Looked:
    """What is known so far."""

    def __init__(self, program: Program, model: str) -> None:
        self._program = program
        self._model = model
        self._taken = Stats()
        self._views = 0
        self._k = 0
        self.copies = 0  # of each template: the largest number with which the program was searched
        self._race: Race | None = None
        self._failure: Assertion | None = None

    def add_views(self, views: Views) -> None:
        self._k = views.k
        self._views += views.search.states
        self._taken += views.search

    def add_copies(self, copies: int, answer: RobustnessAnswer) -> None:
        self.copies = copies
        self._taken += answer.stats
        self._race = self._race or answer.race
        self._failure = self._failure or answer.assertion

    def doubts(self, views: Views) -> bool:
        """Whether a view shows anything that no number of copies has shown yet."""
        race_is_open = views.race and self._race is None
        failure_is_open = views.failure and self._failure is None
        return views.violation or race_is_open or failure_is_open

    def robust(self) -> Robust:
        return Robust(**self._common())

    def not_robust(self, answer: NotRobust) -> NotRobust:
        return NotRobust(**self._common(), witness=answer.witness)

    def undecided(self, why: str, *, interrupted: bool = False) -> Unknown:
        decided = f"; with up to {self.copies} of each `[*]` the program is robust" if self.copies else ""
        seen = f"{why}, looking at {self._k} threads at a time{decided}"
        return Unknown(**self._common(), why=seen, interrupted=interrupted)

    def _common(self) -> dict[str, Any]:
        copies = {
            thread.family: max(self.copies, thread.least or 0) if self.copies else 0
            for thread in self._program.templates
        }
        return {
            "file": self._program.file,
            "question": "robust",
            "model": self._model,
            "stats": self._taken,
            "any_number": AnyNumber(copies=copies, k=self._k, views=self._views),
            "race": self._race,
            "assertion": self._failure,
            "exhaustive": False,
            "warnings": all_warnings(self._program, self._model),
        }


def _fits(program: Program, copies: int) -> bool:
    wanted = (1 if thread.least is None else max(copies, thread.least) for thread in program.threads)
    return sum(wanted) <= MOST_THREADS


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
