"""Intervals hold every value that an expression can have."""

from __future__ import annotations

import itertools

import pytest

from fencepost.program import DivisionByZeroError
from fencepost.program.expressions import STRICT_BINARY
from fencepost.static.intervals import Interval, combined

SMALL = [Interval(low, high) for low in range(-3, 4) for high in range(low, 4)]


@pytest.mark.parametrize("operator", STRICT_BINARY)
def test_every_result_is_in_the_combined_interval(operator: str) -> None:
    for a, b in itertools.product(SMALL, SMALL):
        found = combined(operator, a, b)
        for x, y in itertools.product(range(a.low, a.high + 1), range(b.low, b.high + 1)):
            try:
                value = STRICT_BINARY[operator](x, y)
            except DivisionByZeroError:
                continue
            assert found.low <= value <= found.high


def test_joined_limited_and_widened() -> None:
    assert Interval(0, 2).joined(Interval(5, 7)) == Interval(0, 7)
    assert Interval(-9, 9).limited(4) == Interval(-4, 4)
    assert Interval(-9, 9).limited(None) == Interval(-9, 9)
    assert Interval(0, 3).widened(Interval(0, 2), 100) == Interval(0, 100)
    assert Interval(-1, 2).widened(Interval(0, 2), 100) == Interval(-100, 2)


def test_fits() -> None:
    assert Interval(-128, 127).fits(8)
    assert not Interval(0, 128).fits(8)
