"""Breadth-first search through a transition system, each state once: shared by all definitions.

What the states are and when to stop is left to the caller, who takes states from the iterator for as long as
it needs them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import TypeVar

S = TypeVar("S", bound=Hashable)


class LimitReachedError(Exception):
    """More states than the limit given: nothing is decided."""


def reachable(
    initial: Iterable[S], successors: Callable[[S], Iterable[S]], limit: int | None = None
) -> Iterator[S]:
    """Every reachable state, each once; raises `LimitReachedError` when there are more than `limit`."""
    seen: set[S] = set()
    frontier: deque[S] = deque()

    def meet(states: Iterable[S]) -> Iterator[S]:
        for state in states:
            if state not in seen:
                if limit is not None and len(seen) >= limit:
                    raise LimitReachedError(f"more than {limit} states")
                seen.add(state)
                frontier.append(state)
                yield state

    yield from meet(initial)
    while frontier:
        yield from meet(successors(frontier.popleft()))
