"""Relations over events, so that a memory model reads like its definition.

The notation of rocker-2019 section 2 and of herd's `.cat` files:

    paper        here                     meaning
    R1 ; R2      r1 >> r2                 first r1, then r2
    R1 ∪ R2      r1 | r2
    R1 ∩ R2      r1 & r2
    R1 \\ R2      r1 - r2
    R⁻¹          ~r
    R⁺           r.plus()                 transitive closure
    R?           r | identity(E)          reflexive closure on the events E
    [A]          identity(a)
    A × B        product(a, b)
    R|imm        r.immediate()            R \\ (R ; R)
    dom(R)       r.domain
    codom(R)     r.codomain

What the events are is left to the caller: anything hashable.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

E = TypeVar("E", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Relation(Generic[E]):
    pairs: frozenset[tuple[E, E]] = frozenset()

    def __rshift__(self, other: Relation[E]) -> Relation[E]:
        after = other._successors()
        return Relation(frozenset((a, c) for a, b in self.pairs for c in after.get(b, ())))

    def __or__(self, other: Relation[E]) -> Relation[E]:
        return Relation(self.pairs | other.pairs)

    def __and__(self, other: Relation[E]) -> Relation[E]:
        return Relation(self.pairs & other.pairs)

    def __sub__(self, other: Relation[E]) -> Relation[E]:
        return Relation(self.pairs - other.pairs)

    def __invert__(self) -> Relation[E]:
        return Relation(frozenset((b, a) for a, b in self.pairs))

    def plus(self) -> Relation[E]:
        after = self._successors()
        closure: set[tuple[E, E]] = set()
        for start in after:
            reached: set[E] = set()
            frontier = list(after[start])
            while frontier:
                event = frontier.pop()
                if event not in reached:
                    reached.add(event)
                    frontier.extend(after.get(event, ()))
            closure.update((start, event) for event in reached)
        return Relation(frozenset(closure))

    def immediate(self) -> Relation[E]:
        return self - (self >> self)

    @property
    def domain(self) -> frozenset[E]:
        return frozenset(a for a, _ in self.pairs)

    @property
    def codomain(self) -> frozenset[E]:
        return frozenset(b for _, b in self.pairs)

    def is_irreflexive(self) -> bool:
        return all(a != b for a, b in self.pairs)

    def is_acyclic(self) -> bool:
        return self.plus().is_irreflexive()

    def __contains__(self, pair: tuple[E, E]) -> bool:
        return pair in self.pairs

    def __iter__(self) -> Iterator[tuple[E, E]]:
        return iter(self.pairs)

    def __len__(self) -> int:
        return len(self.pairs)

    def __le__(self, other: Relation[E]) -> bool:
        return self.pairs <= other.pairs

    def _successors(self) -> dict[E, set[E]]:
        after: dict[E, set[E]] = defaultdict(set)
        for a, b in self.pairs:
            after[a].add(b)
        return after


def relation(pairs: Iterable[tuple[E, E]]) -> Relation[E]:
    return Relation(frozenset(pairs))


def identity(events: Iterable[E]) -> Relation[E]:
    """`[A]`: restricts the side of a sequence on which it stands to `events`."""
    return Relation(frozenset((event, event) for event in events))


def product(left: Iterable[E], right: Iterable[E]) -> Relation[E]:
    right = tuple(right)
    return Relation(frozenset((a, b) for a in left for b in right))
