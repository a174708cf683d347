"""The search for a cheapest repair, on checks that are given as families of sets."""

import time
from collections.abc import Callable
from itertools import combinations
from random import Random

import pytest

from fencepost.cheapest.hitting_set import Conflict
from fencepost.cheapest.search import (
    Chosen,
    Fails,
    Found,
    Holds,
    RepairProgress,
    Undecided,
    cheapest_repair,
)

Outcome = Holds | Fails | Undecided


def check_for(conflicts: list[Conflict]) -> Callable[[Chosen], Outcome]:
    """A check that accepts exactly what respects the conflicts, and gives away one of them at a time."""

    def check(chosen: Chosen) -> Outcome:
        broken = [conflict for conflict in conflicts if not conflict.allows(chosen)]
        return Fails((broken[-1],)) if broken else Holds()

    return check


def conflict(*add: int, drop: tuple[int, ...] = ()) -> Conflict:
    return Conflict(frozenset(add), frozenset(drop))


def minima(costs: list[int], conflicts: list[Conflict]) -> set[Chosen]:
    choices = [frozenset(c) for r in range(len(costs) + 1) for c in combinations(range(len(costs)), r)]
    good = [chosen for chosen in choices if all(c.allows(chosen) for c in conflicts)]
    least = min((sum(costs[e] for e in chosen) for chosen in good), default=0)
    return {chosen for chosen in good if sum(costs[e] for e in chosen) == least}


def random_conflicts(source: Random, elements: int, *, monotone: bool) -> list[Conflict]:
    conflicts = []
    for _ in range(source.randint(1, 7)):
        members = source.sample(range(elements), source.randint(1, min(4, elements)))
        cut = len(members) if monotone or source.random() < 0.7 else source.randint(0, len(members))
        conflicts.append(conflict(*members[:cut], drop=tuple(members[cut:])))
    return conflicts


@pytest.mark.parametrize("monotone", [True, False])
def test_every_minimum_is_found_and_nothing_else(monotone: bool) -> None:
    for seed in range(120):
        source = Random(seed)
        elements = source.randint(1, 8)
        costs = [source.choice([1, 2, 8, 10]) for _ in range(elements)]
        conflicts = random_conflicts(source, elements, monotone=monotone)
        expected = minima(costs, conflicts)
        found = cheapest_repair(costs, check_for(conflicts), find_all=True)
        assert set(found.minima) == expected
        assert len(found.minima) == len(expected)
        assert found.impossible == (not expected)
        if expected:
            assert found.complete
            assert found.best in expected
            assert found.lower_bound == sum(costs[e] for e in found.best)


def test_nothing_to_repair() -> None:
    found = cheapest_repair([1, 2], check_for([]))
    assert (found.best, found.lower_bound, found.checks) == (frozenset(), 0, 1)


def test_changes_that_cost_nothing_are_not_made_without_need() -> None:
    conflicts = [conflict(0, 1), conflict(2)]
    found = cheapest_repair([0, 0, 0, 0], check_for(conflicts), find_all=True)
    assert set(found.minima) == {frozenset({0, 2}), frozenset({1, 2})}


def test_random_changes_that_cost_nothing_are_not_made_without_need() -> None:
    for seed in range(60):
        source = Random(seed)
        costs = [source.choice([0, 0, 1, 2]) for _ in range(6)]
        conflicts = random_conflicts(source, 6, monotone=True)
        best = cheapest_repair(costs, check_for(conflicts)).best
        assert best in minima(costs, conflicts)
        needed = [not all(c.allows(best - {e}) for c in conflicts) for e in best]
        assert all(needed)


@pytest.mark.parametrize(("most", "given_up"), [(2, True), (3, False)])
def test_a_repair_that_costs_as_much_as_a_known_one_is_not_looked_for(most: int, *, given_up: bool) -> None:
    found = cheapest_repair([1, 1, 5], check_for([conflict(0, 2), conflict(1, 2)]), most=most)
    assert bool(found.why) == given_up
    assert len(found.minima) == (not given_up)


def test_among_minima_the_least_discouraged_comes_first() -> None:
    found = cheapest_repair([3, 3, 3], check_for([conflict(0, 1, 2)]), discouraged=[2, 0, 1])
    assert found.best == {1}


def ended_after(checks: int, conflicts: list[Conflict], costs: list[int], end: Undecided | None) -> Found:
    """The search if the check after so many gives `end`, or is interrupted where that is None."""
    inner = check_for(conflicts)
    calls = 0

    def check(chosen: Chosen) -> Outcome:
        nonlocal calls
        calls += 1
        if calls <= checks:
            return inner(chosen)
        if end is None:
            raise KeyboardInterrupt
        return end

    return cheapest_repair(costs, check)


@pytest.mark.parametrize("end", [None, Undecided("out of patience")])
def test_ended_at_any_time_it_tells_only_what_is_so(end: Undecided | None) -> None:
    source = Random(5)
    costs = [source.choice([1, 2, 8, 10]) for _ in range(8)]
    conflicts = random_conflicts(source, 8, monotone=True) + random_conflicts(source, 8, monotone=True)
    (least,) = {sum(costs[e] for e in chosen) for chosen in minima(costs, conflicts)}
    total = cheapest_repair(costs, check_for(conflicts)).checks
    for checks in range(total):
        found = ended_after(checks, conflicts, costs, end)
        assert found.interrupted == (end is None)
        assert found.why == (end.why if end else "the search was interrupted")
        assert found.lower_bound <= least
        if found.best is not None:
            assert all(c.allows(found.best) for c in conflicts)


def test_ended_before_its_time_it_gives_the_best_known_and_a_lower_bound() -> None:
    conflicts = [conflict(0, 1), conflict(0, 2), conflict(0, 3)]
    found = ended_after(4, conflicts, [10, 4, 4, 4], None)
    assert (found.best, found.lower_bound) == ({1, 2, 3}, 10)
    found = ended_after(5, conflicts, [10, 4, 4, 4], None)
    assert (found.best, found.lower_bound, found.why) == ({0}, 10, "")


def test_progress_tells_the_sets_tried_and_bounds_that_close() -> None:
    told: list[RepairProgress] = []
    conflicts = [conflict(0, 1), conflict(1, 2), conflict(2, 3), conflict(3, 4)]
    found = cheapest_repair([3, 5, 3, 5, 3], check_for(conflicts), watcher=told.append)
    assert [p.checks for p in told] == list(range(found.checks))
    bounds = [p.lower_bound for p in told]
    assert bounds == sorted(bounds)
    best = [p.best for p in told if p.best is not None]
    assert best == sorted(best, reverse=True)


def test_the_deadline_holds_for_the_solver_too() -> None:
    pairs = [conflict(*pair) for pair in combinations(range(30), 2)]
    inner = check_for(pairs)

    def check(chosen: Chosen) -> Outcome:
        return Fails(tuple(pairs)) if not chosen else inner(chosen)

    found = cheapest_repair([1] * 30, check, deadline=time.monotonic())
    assert "time limit" in found.why
