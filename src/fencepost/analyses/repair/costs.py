"""What changes cost: the defaults, the user's own numbers, and the integers that the search needs."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import gcd

from fencepost.analyses.repair.changes import DEFAULT_COSTS, Change, Kind

LARGEST_COST = 1000
LARGEST_LOOP_WEIGHT = 100
DEEPEST_LOOP = 3  # loops further inside cost no more
_STEPS = 100  # costs are multiples of 1/100


def check_kind(kind: str) -> None:
    if kind not in DEFAULT_COSTS:
        raise ValueError(f"there is no change `{kind}`; expected one of: {', '.join(DEFAULT_COSTS)}")


class Prices:
    """Costs as integers, called prices, with no common divisor; raises `ValueError`."""

    def __init__(self, costs: Mapping[str, float], loop_weight: int = 1) -> None:
        for kind, cost in costs.items():
            check_kind(kind)
            if not 0 <= cost <= LARGEST_COST or _hundredths(cost).denominator != 1:
                raise ValueError(
                    f"the cost of {kind} is {cost}; expected a number between 0 and {LARGEST_COST} "
                    "with at most two decimals"
                )
        hundredths = {kind: int(_hundredths(costs.get(kind, cost))) for kind, cost in DEFAULT_COSTS.items()}
        if not 1 <= loop_weight <= LARGEST_LOOP_WEIGHT:
            raise ValueError(f"the weight of a loop is {loop_weight}; expected 1 to {LARGEST_LOOP_WEIGHT}")
        self._loop_weight = loop_weight
        self._unit = gcd(*hundredths.values()) or 1
        self._prices = {kind: price // self._unit for kind, price in hundredths.items()}

    def price(self, change: Change) -> int:
        return self.price_at(change.kind, change.loops)

    def price_at(self, kind: Kind, loops: int) -> int:
        """What a change of this kind costs inside so many loops."""
        return int(self._prices[kind] * self._loop_weight ** min(loops, DEEPEST_LOOP))

    def cost(self, price: int) -> float:
        """What the user calls this price."""
        return price * self._unit / _STEPS

    def price_of(self, cost: float) -> int:
        """The price that the user calls so."""
        return round(cost * _STEPS / self._unit)


def _hundredths(cost: float) -> Fraction:
    return Fraction(str(cost)) * _STEPS
