from itertools import combinations
from random import Random

import pytest

from fencepost.cheapest.hitting_set import LARGEST_COST, Conflict, HittingSets, TimeIsUpError


def conflict(*add: int, drop: tuple[int, ...] = ()) -> Conflict:
    return Conflict(frozenset(add), frozenset(drop))


def least_weight(
    costs: list[int], discouraged: list[int], conflicts: list[Conflict]
) -> tuple[int, int] | None:
    """Cost and discouragement of the best choice, by trying all."""
    choices = (frozenset(c) for r in range(len(costs) + 1) for c in combinations(range(len(costs)), r))
    return min(
        (
            (sum(costs[e] for e in chosen), sum(discouraged[e] for e in chosen))
            for chosen in choices
            if all(c.allows(chosen) for c in conflicts)
        ),
        default=None,
    )


def random_conflict(source: Random, elements: int) -> Conflict:
    members = source.sample(range(elements), source.randint(0, min(4, elements)))
    cut = source.randint(0, len(members)) if source.random() < 0.3 else len(members)
    return conflict(*members[:cut], drop=tuple(members[cut:]))


def test_a_cheapest_choice_is_as_cheap_as_any() -> None:
    for seed in range(60):
        source = Random(seed)
        elements = source.randint(0, 8)
        costs = [source.choice([0, 1, 2, 8, 10]) for _ in range(elements)]
        discouraged = [source.choice([0, 0, 1, 2]) for _ in range(elements)]
        sets = HittingSets(costs, discouraged)
        conflicts: list[Conflict] = []
        for _ in range(source.randint(1, 8)):
            conflicts.append(random_conflict(source, elements))
            sets.require(conflicts[-1])
            chosen = sets.cheapest()
            expected = least_weight(costs, discouraged, conflicts)
            if expected is None:
                assert chosen is None
            else:
                assert chosen is not None
                assert all(c.allows(chosen) for c in conflicts)
                assert (sum(costs[e] for e in chosen), sum(discouraged[e] for e in chosen)) == expected


def test_nothing_is_chosen_without_conflicts() -> None:
    assert HittingSets([3, 5], [0, 0]).cheapest() == frozenset()


def test_a_conflict_that_nothing_satisfies_leaves_no_choice() -> None:
    sets = HittingSets([1], [0])
    sets.require(conflict())
    assert sets.cheapest() is None


def test_without_elements_only_the_empty_choice_exists() -> None:
    sets = HittingSets([], [])
    assert sets.cheapest() == frozenset()
    sets.exclude(frozenset())
    assert sets.cheapest() is None


def test_excluding_what_was_found_gives_every_choice_of_least_cost() -> None:
    sets = HittingSets([1, 1, 1, 1, 5], [0] * 5)
    for pair in ((0, 1), (2, 3)):
        sets.require(conflict(*pair, 4))
    found = set()
    while (chosen := sets.cheapest()) is not None and sets.cost(chosen) == 2:
        found.add(chosen)
        sets.exclude(chosen)
    assert found == {frozenset(p) for p in [(0, 2), (0, 3), (1, 2), (1, 3)]}


def test_an_element_that_must_go_is_not_chosen_beside_one_that_must_stay() -> None:
    sets = HittingSets([1, 1, 7], [0] * 3)
    sets.require(conflict(0))
    sets.require(conflict(1, 2))
    sets.require(conflict(drop=(0, 1)))
    assert sets.cheapest() == {0, 2}


def test_costs_that_differ_in_the_last_digit_are_told_apart() -> None:
    sets = HittingSets([LARGEST_COST, LARGEST_COST - 1, LARGEST_COST], [0] * 3)
    sets.require(conflict(0, 1, 2))
    assert sets.cheapest() == {1}


def test_too_large_costs_are_refused() -> None:
    with pytest.raises(ValueError, match="larger than"):
        HittingSets([LARGEST_COST + 1], [0])


def test_the_solver_keeps_its_time_limit() -> None:
    sets = HittingSets([1] * 30, [0] * 30)
    for pair in combinations(range(30), 2):
        sets.require(conflict(*pair))
    with pytest.raises(TimeIsUpError):
        sets.cheapest(0.0)
    assert len(sets.cheapest(60.0) or ()) == 29
