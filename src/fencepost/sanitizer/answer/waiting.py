"""Rounds of loops that wait, among what a run has found.

The run-time library leaves out an access that can only see old values which prolong a wait at the same place.
Inlining makes copies of a loop, which are other places to it; here, where source lines are known, they are
one. All else about such loops is the library's (`native/sanitizer/core/await.hpp`).

A loop can end in its first round in all threads of a run, and then it does not look like one. What other runs
have seen tells: if each old value that the access could read has failed to end the loop in some run, and has
ended it in none, the access could only have gone round once more.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field

from fencepost.sanitizer.answer.symbols import look_up
from fencepost.sanitizer.run.events import Doubt, Event, Place, RawAwait, RawFinding
from fencepost.verdicts.run import Frame, comes_with_the_compiler, places


@dataclass
class WaitingLoops:
    """Remembers the sources of the places that were asked about, of which a program has few.

    `_prolonged` and `_ended` are what the values did in all runs so far.
    """

    _sources: dict[Place, Hashable | None] = field(default_factory=dict)
    _prolonged: dict[Hashable, set[int]] = field(default_factory=dict)
    _ended: dict[Hashable, set[int]] = field(default_factory=dict)

    def learn(self, events: Sequence[Event]) -> None:
        waits = [event for event in events if isinstance(event, RawAwait)]
        self._look_up(wait.at for wait in waits)
        for wait in waits:
            self._prolonged.setdefault(self._key(wait.at), set()).update(wait.prolonged_by)
            self._ended.setdefault(self._key(wait.at), set()).update(wait.ended_by)

    def only_prolongs(self, doubt: Doubt) -> bool:
        """Would the access, whichever of the old values it reads, have gone round once more?"""
        if not doubt.complete or not doubt.values:
            return False
        self._look_up([doubt.at])
        key, values = self._key(doubt.at), set(doubt.values)
        return values <= self._prolonged.get(key, set()) - self._ended.get(key, set())

    def _key(self, place: Place) -> Hashable:
        return self._sources[place] or place

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
