"""Which choice of elements costs least and satisfies every conflict learnt so far?

A `Conflict` says what an acceptable choice must do: contain an element of `add`, or lack one of `drop`. Where
`drop` is empty everywhere this is the minimum-weight hitting set problem. HiGHS solves it as an integer
program with a variable per element and a row per conflict:

    minimise  Σ cost[e]·x[e]      such that  Σ x[e] (e in add) + Σ (1 - x[e]) (e in drop) ≥ 1

and among the choices of least cost one that `discouraged` speaks least against. All numbers of the program
are integers of moderate size and a gap below one half is asked for, so what HiGHS proves is exact. It is
imported when first needed, since that takes longer than most checks.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import highspy

# Beyond this, rounding in the solver could hide a difference of 1 between two choices.
LARGEST_COST = 100_000

_INFINITY = float("inf")


class Conflict(NamedTuple):
    """Every acceptable choice contains an element of `add` or lacks one of `drop`."""

    add: frozenset[int]
    drop: frozenset[int] = frozenset()

    def allows(self, chosen: frozenset[int]) -> bool:
        return not self.add.isdisjoint(chosen) or not self.drop <= chosen


class TimeIsUpError(Exception):
    """The solver did not finish within the seconds it was given."""


class HittingSets:
    """The elements are 0, 1, … in the order of `costs`; all numbers are integers, none is negative."""

    def __init__(self, costs: Sequence[int], discouraged: Sequence[int]) -> None:
        if max(costs, default=0) > LARGEST_COST:
            raise ValueError(f"a cost is larger than {LARGEST_COST}")
        self._costs = costs
        self._discouraged = discouraged
        self._conflicts: set[Conflict] = set()
        self._solver = _solver(costs)

    def require(self, conflict: Conflict) -> None:
        if conflict not in self._conflicts:
            self._conflicts.add(conflict)
            _add_row(self._solver, conflict)

    def exclude(self, chosen: frozenset[int]) -> None:
        """From now on neither `chosen` nor anything that contains it will do."""
        self.require(Conflict(frozenset(), chosen))

    def cost(self, chosen: Iterable[int]) -> int:
        return sum(self._costs[element] for element in chosen)

    def cheapest(self, most_seconds: float | None = None) -> frozenset[int] | None:
        """A choice of least cost, None if there is no choice at all; raises `TimeIsUpError`."""
        if Conflict(frozenset()) in self._conflicts:
            return None
        if not self._costs:
            return frozenset()
        self._objective(self._costs)
        self._most_cost(sum(self._costs))
        chosen = self._solved(most_seconds)
        if chosen and any(self._discouraged):
            self._most_cost(self.cost(chosen))
            self._objective(self._discouraged)
            chosen = self._solved(most_seconds)
            assert chosen is not None
        return chosen

    def _objective(self, weights: Sequence[int]) -> None:
        for element, weight in enumerate(weights):
            self._solver.changeColCost(element, weight)

    def _most_cost(self, most: int) -> None:
        """Bound the first row, the cost of the choice."""
        self._solver.changeRowBounds(0, -_INFINITY, most + 0.25)

    def _solved(self, most_seconds: float | None) -> frozenset[int] | None:
        from highspy import HighsModelStatus

        # Its clock is never set back, so the limit is on all the time it has run so far.
        limit = _INFINITY if most_seconds is None else self._solver.getRunTime() + most_seconds
        self._solver.setOptionValue("time_limit", limit)
        self._solver.run()
        status = self._solver.getModelStatus()
        if status == HighsModelStatus.kInfeasible:
            return None
        if status == HighsModelStatus.kTimeLimit:
            raise TimeIsUpError
        if status != HighsModelStatus.kOptimal:
            raise RuntimeError(f"HiGHS ended with {self._solver.modelStatusToString(status)}")
        values = self._solver.getSolution().col_value
        chosen = frozenset(element for element in range(len(self._costs)) if values[element] > 0.5)
        assert all(conflict.allows(chosen) for conflict in self._conflicts)
        return chosen


def _solver(costs: Sequence[int]) -> highspy.Highs:
    import highspy
    import numpy

    solver = highspy.Highs()  # type: ignore[no-untyped-call]
    options = {"output_flag": False, "threads": 1, "mip_rel_gap": 0.0, "mip_abs_gap": 0.5}
    for name, value in options.items():
        solver.setOptionValue(name, value)
    for element in range(len(costs)):
        solver.addVar(0, 1)
        solver.changeColIntegrality(element, highspy.HighsVarType.kInteger)
    elements = numpy.arange(len(costs), dtype=numpy.int32)
    solver.addRow(-_INFINITY, _INFINITY, len(costs), elements, numpy.array(costs, numpy.float64))
    return solver


def _add_row(solver: highspy.Highs, conflict: Conflict) -> None:
    import numpy

    assert conflict.add.isdisjoint(conflict.drop), "such a conflict allows everything"
    elements = numpy.array([*sorted(conflict.add), *sorted(conflict.drop)], dtype=numpy.int32)
    signs = numpy.array([1.0] * len(conflict.add) + [-1.0] * len(conflict.drop), dtype=numpy.float64)
    solver.addRow(1 - len(conflict.drop), _INFINITY, len(elements), elements, signs)
