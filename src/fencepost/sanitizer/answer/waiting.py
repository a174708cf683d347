"""Rounds of loops that wait, among what a run has found.

The run-time library leaves out an access that can only see old values which prolong a wait at the same place.
Inlining makes copies of a loop, which are other places to it; here, where source lines are known, they are
one. All else about such loops is the library's (`native/sanitizer/core/await.hpp`).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field

from fencepost.sanitizer.answer.symbols import look_up
from fencepost.sanitizer.run.events import Event, Place, RawAwait, RawFinding
from fencepost.verdicts.run import Frame, comes_with_the_compiler, places


@dataclass
class WaitingLoops:
    """Remembers the sources of the places that were asked about, of which a program has few."""

    _sources: dict[Place, Hashable | None] = field(default_factory=dict)

    def rounds_in(self, events: Sequence[Event]) -> frozenset[RawFinding]:
        """The findings of a run that are rounds of a loop that has waited in it."""
        waits = [event for event in events if isinstance(event, RawAwait)]
        findings = [event for event in events if isinstance(event, RawFinding)]
        doubts = {one: one.unless_await for one in findings if one.unless_await is not None}
        if not waits or not doubts:
            return frozenset()
        self._look_up([*(wait.at for wait in waits), *(doubt.at for doubt in doubts.values())])
        ended_by: dict[Hashable, set[int]] = {}
        for wait in waits:
            ended_by.setdefault(self._sources[wait.at], set()).update(wait.ended_by)
        ended_by.pop(None, None)
        return frozenset(
            finding
            for finding, doubt in doubts.items()
            if self._sources[doubt.at] in ended_by
            and ended_by[self._sources[doubt.at]].isdisjoint(doubt.values)
        )

    def _look_up(self, wanted: Iterable[Place]) -> None:
        new = [place for place in wanted if place not in self._sources]
        symbols = look_up(new)
        for place in new:
            self._sources[place] = source_of(symbols.frames[place])


def source_of(stack: Sequence[Frame]) -> Hashable | None:
    """None if it is not known exactly; all atomics come from the same lines of `<atomic>`."""
    frames = places(stack)
    if comes_with_the_compiler(frames[-1].file) or not all(frame.column for frame in frames):
        return None
    return tuple((frame.file, frame.line, frame.column) for frame in frames)
