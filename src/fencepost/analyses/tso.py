"""TSO: is a program persistent, robust, free of triangular races?

The engine decides all three on the states of sequential consistency (`native/engine/tso/tso.hpp` has the
rules). What it finds becomes a run under TSO here.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TypeVar

import msgspec
from msgspec.structs import replace

from fencepost.analyses.flattening import TooManyValuesError, flattened, is_safe_alone, unlike_threads
from fencepost.analyses.robustness import found_besides, undecided
from fencepost.engine._native import Outcome, TsoViolation
from fencepost.engine.decode import decode_run
from fencepost.engine.search import Limits, Watcher, explore_tso, stats
from fencepost.models.tso import on_x86
from fencepost.program import Program
from fencepost.verdicts import (
    Delay,
    Edge,
    Event,
    Fragile,
    NotRobust,
    PersistenceAnswer,
    Persistent,
    Robust,
    RobustnessAnswer,
    Stats,
    TsoWitness,
    Unknown,
)
from fencepost.verdicts.graph import Orders, Sources, edges_between, joined, outgoing, shortest_path

H = TypeVar("H", Persistent, Robust)
F = TypeVar("F", Fragile, NotRobust)

# With flattening, this many states are searched first, since most violations are near, and this many when not
# all threads are safe alone, since that is often faster than a proof with parts of other threads.
NEAR_STATES = 20_000
MIDDLE_STATES = 1_000_000


def persist(
    program: Program,
    *,
    limits: Limits = Limits(),  # noqa: B008 (a frozen value)
    flatten: int | None = None,
    watcher: Watcher | None = None,
) -> PersistenceAnswer:
    """Whether `program` has the same runs under TSO as under sequential consistency, as far as the order of
    each thread's accesses and the order in which writes reach memory tell (persist-2015).

    With `flatten`, a number of steps, a proof by flattening is tried before all states are searched.
    """
    program = on_x86(program)
    if flatten is None:
        return _exact(program, limits, watcher)
    near = _exact(program, replace(limits, states=_fewer(NEAR_STATES, limits)), watcher)
    if not isinstance(near, Unknown) or near.interrupted:
        return near
    proof = _FlatProof(program, limits, watcher, near.stats)
    if not proof.alone():
        middle = _exact(program, replace(proof.limits_left(), states=_fewer(MIDDLE_STATES, limits)), watcher)
        if not isinstance(middle, Unknown) or middle.interrupted:
            return middle
        if not proof.with_others(flatten):
            return _exact(program, proof.limits_left(), watcher)
    return Persistent(
        file=program.file,
        question="persist",
        model="tso",
        criterion="persistent",
        stats=proof.spent,
        exhaustive=False,
        warnings=program.warnings,
        flattened=proof.k,
    )


def _exact(program: Program, limits: Limits, watcher: Watcher | None) -> PersistenceAnswer:
    return _answer(
        program, "persistent", limits, watcher, question="persist", holds=Persistent, fails=Fragile
    )


def _fewer(states: int, limits: Limits) -> int:
    return states if limits.states is None else min(states, limits.states)


class _FlatProof:
    """The attempt to prove a program persistent with each of its threads as pivot of a flattened one."""

    def __init__(self, program: Program, limits: Limits, watcher: Watcher | None, spent: Stats) -> None:
        self._program = program
        self._limits = limits
        self._watcher = watcher
        self._spent = spent
        self._suspects = unlike_threads(program)
        self._started = time.monotonic() - spent.seconds
        self.k = 0  # the largest that was needed

    def alone(self) -> bool:
        """Whether each thread is safe whatever the others do. Those that are not stay suspects."""
        try:
            self._suspects = [p for p in unlike_threads(self._program) if not is_safe_alone(self._program, p)]
        except TooManyValuesError:
            return False
        return not self._suspects

    def with_others(self, k: int) -> bool:
        """Whether each suspect has a proof: keep none of the others' first steps, or k, or a few more."""
        finer = dict.fromkeys((0, k, 2 * k + 1))
        try:
            return all(any(self._proves(pivot, k) for k in finer) for pivot in self._suspects)
        except (TooManyValuesError, _LimitReachedError):
            return False

    @property
    def spent(self) -> Stats:
        return msgspec.structs.replace(self._spent, seconds=round(self._seconds(), 6))

    def limits_left(self) -> Limits:
        return self._limits.after(self._seconds())

    def _proves(self, pivot: int, k: int) -> bool:
        coarse = flattened(self._program, pivot, k)
        result = explore_tso(coarse, "persistent", self.limits_left(), self._watcher, pivot=pivot)
        self._spent += stats(result.search)
        self.k = max(self.k, k)
        if result.search.outcome not in (Outcome.COMPLETE, Outcome.VIOLATION):
            raise _LimitReachedError
        return result.search.outcome == Outcome.COMPLETE

    def _seconds(self) -> float:
        return time.monotonic() - self._started


class _LimitReachedError(Exception):
    """A flattened program is too large as well, or the user has stopped the search."""


def robust_against_tso(
    program: Program, criterion: str, limits: Limits, watcher: Watcher | None
) -> RobustnessAnswer:
    """Whether every trace of `program` under TSO (order of each thread, order of the writes of each cell,
    reads-from) is one of sequential consistency; for "trf" with the order of all writes."""
    program = on_x86(program)
    return _answer(program, criterion, limits, watcher, question="robust", holds=Robust, fails=NotRobust)


def _answer(
    program: Program,
    criterion: str,
    limits: Limits,
    watcher: Watcher | None,
    *,
    question: str,
    holds: type[H],
    fails: type[F],
) -> H | F | Unknown:
    """The answer of an exact search, by what it finds."""
    result = explore_tso(program, criterion, limits, watcher)
    common = found_besides(program, question, "tso", criterion, result.search)
    match result.search.outcome:
        case Outcome.COMPLETE:
            return holds(**common)
        case Outcome.VIOLATION:
            return fails(**common, witness=build_tso_witness(program, criterion, result.violations[0]))
        case _:
            return undecided(program, result.search, limits, common)


def build_tso_witness(program: Program, criterion: str, violation: TsoViolation) -> TsoWitness:
    """The run under TSO that a violation is about."""
    events = decode_run(program, "tso", [*violation.run, *violation.alone, *violation.others])
    first = len(events) - len(violation.others) - len(violation.alone)
    read = first + len(violation.alone) - 1
    buffered = [event.id for event in events[first:read] if event.kind == "W"]
    edges = tuple(edges_between(events, *_memory_order(events, buffered)))
    other = len(events) - 1
    if criterion == "robust":
        cycle = _cycle(edges, first, read)
    else:
        cycle = (Edge(first, read, "po"), Edge(read, other, "fr"), Edge(other, first, "so"))
    return TsoWitness(
        threads=tuple(thread.name for thread in program.threads),
        events=tuple(events),
        delayed=tuple(Delay(write, other) for write in buffered),
        write=first,
        read=read,
        other=other,
        edges=edges,
        cycle=cycle,
    )


def _memory_order(events: Sequence[Event], buffered: Sequence[int]) -> tuple[Sources, Orders]:
    """Where reads take their values, and the writes of each cell as they reach memory, the buffered ones
    last."""
    sources: Sources = {}
    orders: Orders = {}
    own: dict[str, int] = {}  # the newest buffered write of each cell
    attacker = events[buffered[0]].thread
    for event in events:
        if event.read is not None:
            newest = orders[event.cell][-1]
            sources[event.id] = own.get(event.cell, newest) if event.thread == attacker else newest
        if event.id in buffered:
            own[event.cell] = event.id
        elif event.written is not None:
            orders.setdefault(event.cell, []).append(event.id)
    for write in buffered:
        orders[events[write].cell].append(write)
    return sources, orders


def _cycle(edges: Sequence[Edge], write: int, read: int) -> tuple[Edge, ...]:
    """The write comes before the read in its thread; from the read a shortest way leads back to the write."""
    back = shortest_path(outgoing(edges), read, write)
    assert back is not None, "the engine reported a violation that the run does not have"
    return joined([Edge(write, read, "po"), *back])
