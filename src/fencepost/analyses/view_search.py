"""The search of views by the definitions, which is slow: for certificates.

The views are those of `certificates/any_number`. The native search (`native/engine/any_number`) has its own.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence

from fencepost.certificates.any_number.view_sets import NumberedView, ViewSet
from fencepost.certificates.any_number.views import Global, Local, ViewSteps
from fencepost.engine.search import Limits, Progress, Watcher

OFTEN = 256  # views after which limits are looked at


class StoppedError(Exception):
    """A limit was reached, or the user has stopped the search."""

    def __init__(self, why: str, *, interrupted: bool = False, at_state_limit: bool = False) -> None:
        super().__init__(why)
        self.why = why
        self.interrupted = interrupted
        self.at_state_limit = at_state_limit


class ViewWatch:
    """Called for each view; ends the search at a limit."""

    def __init__(self, limits: Limits, watcher: Watcher | None, started: float) -> None:
        self._limits, self._watcher, self._started = limits, watcher, started
        self.views = 0

    def __call__(self) -> None:
        self.views += 1
        if self._limits.states is not None and self.views > self._limits.states:
            why = f"the limit of {self._limits.states:,} states was reached"
            raise StoppedError(why, at_state_limit=True)
        if self.views % OFTEN:
            return
        seconds = time.monotonic() - self._started
        if self._limits.after(seconds).seconds == 0:
            raise StoppedError(f"the {self._limits.time_limit} was reached")
        if self._watcher is not None and self._watcher(Progress(self.views, 0, 0, 0, seconds)):
            raise StoppedError("the search was interrupted", interrupted=True)


def least_views(
    steps: ViewSteps,
    k: int,
    look: Callable[[], None] = lambda: None,
    starts: Iterable[tuple[Global, Sequence[Local]]] | None = None,
) -> ViewSet:
    """The views of the starts, and all that follow from them; `look` is called once for each. `starts` are
    those views if the program does not start there."""
    views = ViewSet(steps, k)
    waiting: list[tuple[int, NumberedView]] = []
    locals_at: dict[int, set[int]] = {}
    done: set[tuple[int, NumberedView]] = set()

    def add(here: int, view: NumberedView) -> None:
        if (here, view) not in views:
            views.add(here, view)
            locals_at.setdefault(here, set()).update(view)
            waiting.append((here, view))

    for start in views.starts() if starts is None else map(views.numbered, starts):
        add(*start)
    while waiting:
        look()
        here, view = waiting.pop()
        for local in sorted(locals_at[here]):
            whole = tuple(sorted((*view, local)))
            if (here, whole) in done or not views.is_whole(here, whole):
                continue
            done.add((here, whole))
            for following in views.following(here, whole):
                add(*following)
    return views
