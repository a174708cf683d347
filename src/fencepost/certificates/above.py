"""Whether a state is above one of the basis: the question asked most, so by an index.

Most states that are asked for are in the basis themselves. Otherwise, only states of one phase compare, with
the threads at the same nodes, or anywhere in the one below. Of these, the one below has no source of options
in a thread that the one above does not have there, which is a question of two masks and settles most.
"""

from __future__ import annotations

from collections.abc import Iterable

from fencepost.certificates.blocks import Nodes
from fencepost.certificates.option_lists import EMPTY
from fencepost.certificates.possible import Potentials
from fencepost.certificates.states import State, States


class Above:
    def __init__(self, states: States, basis: Iterable[State] = ()) -> None:
        self._lists = states.lists
        self._blocks = states.blocks
        self._sources = len(states.sources.all)
        self._masks: dict[int, int] = {}
        self._wide: set[tuple[bool, ...]] = set()  # the threads that stand anywhere in some state
        self._basis: set[State] = set()
        self._by_mask: dict[tuple[int, Nodes], dict[int, list[Potentials]]] = {}
        for state in basis:
            self.add(state)

    def add(self, state: State) -> None:
        self._wide.add(self._blocks.where_anywhere(state.nodes))
        self._basis.add(state)
        by_mask = self._by_mask.setdefault((state.phase, state.nodes), {})
        by_mask.setdefault(self._mask(state.potentials), []).append(state.potentials)

    def __contains__(self, state: State) -> bool:
        if state in self._basis:
            return True
        missing = ~self._mask(state.potentials)
        for nodes in {self._blocks.widened(state.nodes, wide) for wide in self._wide}:
            for mask, candidates in self._by_mask.get((state.phase, nodes), {}).items():
                if not mask & missing:
                    for potentials in candidates:
                        if self._is_below(potentials, state.potentials):
                            return True
        return False

    def _is_below(self, smaller: Potentials, larger: Potentials) -> bool:
        """Def. 5.7: each list of the smaller is under some list of the same thread of the larger."""
        is_below = self._lists.is_below
        return all(
            a == EMPTY or any(a == b or is_below(a, b) for b in others)
            for some, others in zip(smaller, larger, strict=True)
            for a in some
        )

    def _mask(self, potentials: Potentials) -> int:
        mask = 0
        for place, potential in enumerate(potentials):
            for number in potential:
                mask |= self._mask_of(number) << place * self._sources
        return mask

    def _mask_of(self, number: int) -> int:
        if number not in self._masks:
            mask = 0
            for option in self._lists.all[number]:
                mask |= 1 << (option >> 2)
            self._masks[number] = mask
        return self._masks[number]
