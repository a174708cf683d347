"""Sets of views, and what follows from them.

A step is made by one thread and does the same to all others (`views`). So the views of the state after it
depend on the thread and on k others: on k + 1 local states. If all k of them that can be picked are in the
set, the k + 1 may be together in a state that can be reached, and what any step makes of them must be in the
set, too. A set that has the views of the starts and is closed under this has the views of every state that
any number of threads, k or more, can reach. Fewer can do nothing that more cannot.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from itertools import combinations, combinations_with_replacement
from typing import Generic, NamedTuple, TypeVar

from fencepost.certificates.any_number.views import Global, Local, OnOthers, Overwritten, ViewSteps

T = TypeVar("T", bound=Hashable)

NumberedView = tuple[int, ...]  # the numbers of local states, in ascending order


class Numbers(Generic[T]):
    """Values under consecutive numbers."""

    def __init__(self) -> None:
        self.all: list[T] = []
        self._number: dict[T, int] = {}

    def of(self, value: T) -> int:
        number = self._number.setdefault(value, len(self.all))
        if number == len(self.all):
            self.all.append(value)
        return number


class _Move(NamedTuple):
    here: int
    own: int | None
    on_others: OnOthers


class ViewSet:
    """Views of k threads, by the numbers of their global and local states."""

    def __init__(self, steps: ViewSteps, k: int) -> None:
        self.steps = steps
        self.k = k
        self.globals: Numbers[Global] = Numbers()
        self.locals: Numbers[Local] = Numbers()
        self.at: dict[int, set[NumberedView]] = {}
        self.fails = steps.findings_at_start()  # whether something goes wrong in a step
        self.overwritten: set[Overwritten] = set()
        self._moves: dict[tuple[int, int], list[_Move]] = {}
        self._after: dict[tuple[int, OnOthers], int] = {}

    def __contains__(self, view: tuple[int, NumberedView]) -> bool:
        return view[1] in self.at.get(view[0], ())

    def add(self, here: int, view: NumberedView) -> None:
        self.at.setdefault(here, set()).add(view)

    def starts(self) -> Iterator[tuple[int, NumberedView]]:
        """The views of the states in which all threads start."""
        locals_ = sorted({self.locals.of(local) for local in self.steps.start_locals()})
        for here in self.steps.start_globals():
            for view in combinations_with_replacement(locals_, self.k):
                yield self.globals.of(here), view

    def numbered(self, view: tuple[Global, Sequence[Local]]) -> tuple[int, NumberedView]:
        here, locals_ = view
        return self.globals.of(here), tuple(sorted(map(self.locals.of, locals_)))

    def locals_at(self, here: int) -> list[int]:
        return sorted({local for view in self.at[here] for local in view})

    def wholes(self, here: int) -> Iterator[NumberedView]:
        """The k + 1 local states of which any k are together in a view."""
        locals_ = self.locals_at(here)
        for view in sorted(self.at[here]):
            for local in locals_:
                if local >= view[-1] and self.is_whole(here, (*view, local)):
                    yield (*view, local)

    def is_whole(self, here: int, more: NumberedView) -> bool:
        views = self.at[here]
        return all((*more[:i], *more[i + 1 :]) in views for i in range(self.k + 1))

    def following(self, here: int, whole: NumberedView) -> Iterator[tuple[int, NumberedView]]:
        """The views of what every step of every thread makes of k + 1 local states."""
        for place, local in enumerate(whole):
            if place and local == whole[place - 1]:
                continue
            others = (*whole[:place], *whole[place + 1 :])
            for move in self._moves_of(here, local):
                yield from self._views_after(move, others)
        for place in range(len(self.steps.fixed)):
            for move in self._moves_of(here, -1 - place):
                yield from self._views_after(move, whole)

    def _views_after(self, move: _Move, others: NumberedView) -> Iterator[tuple[int, NumberedView]]:
        after = [self._after_step(local, move.on_others) for local in others]
        if move.own is not None:
            after.append(move.own)
        for view in set(combinations(sorted(after), self.k)):
            yield move.here, view

    def _after_step(self, local: int, on_others: OnOthers) -> int:
        try:
            return self._after[local, on_others]
        except KeyError:
            after = self.locals.of(self.steps.after(self.locals.all[local], on_others))
            self._after[local, on_others] = after
            return after

    def _moves_of(self, here: int, who: int) -> list[_Move]:
        """Of a local state, or if negative of a thread that is there once."""
        try:
            return self._moves[here, who]
        except KeyError:
            moved, findings = self.steps.steps(
                self.globals.all[here], -1 - who if who < 0 else self.locals.all[who]
            )
            self.fails = self.fails or bool(findings)
            self.overwritten |= {move.overwritten for move in moved if move.overwritten is not None}
            moves = self._moves[here, who] = [
                _Move(
                    self.globals.of(move.here),
                    None if move.own is None else self.locals.of(move.own),
                    move.on_others,
                )
                for move in moved
            ]
            return moves

    # Questions.

    def violates(self) -> bool:
        """Whether some view shows a violation, or a race by happens-before, of the topic."""
        together = {local for here in self.at for local in self.locals_at(here)}
        alone = (local for here in self.at for local in self.globals.all[here].fixed)
        return (
            any(self.steps.violates(self.locals.all[local]) for local in together)
            or any(self.steps.violates(local) for local in alone)
            or any(self.steps.violates_at(self.globals.all[here]) for here in self.at)
        )

    def conflicts(self) -> bool:
        """Whether two threads of some whole stand at accesses to a non-atomic cell, of which one writes."""
        if all(self.steps.program.atomic_cells):
            return False
        return any(self._conflict(here, whole) for here in self.at for whole in self.wholes(here))

    def _conflict(self, here: int, whole: NumberedView) -> bool:
        threads = (*self.globals.all[here].fixed, *(self.locals.all[local] for local in whole))
        accesses = [access for thread in threads if (access := self.steps.next_access(thread)) is not None]
        return any(
            x == y and (x_writes or y_writes) for (x, x_writes), (y, y_writes) in combinations(accesses, 2)
        )
