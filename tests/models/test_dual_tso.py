"""The dual machine of TSO reaches what the machine with store buffers reaches."""

import random

import pytest

from fencepost.models.dual_tso import dual_plain_states
from fencepost.models.explore import LimitReachedError
from fencepost.models.sc import reachable_states
from fencepost.models.tso import tso_plain_states
from tests.models.litmus import IRIW, LOCK, MP, SB, SB_FENCES, SB_RMWS, TWO_PLUS_TWO_W, cas, program, write
from tests.strategies import random_program

MOST_STATES = 20_000
SB_FAILING_CAS = program([write("x", 1), cas("c", "y", 1, 2)], [write("y", 1), cas("c", "x", 1, 2)])


def compare(seeds: range) -> tuple[int, int]:
    """How many programs were compared, and how many of them show store buffers."""
    compared = weak = 0
    for seed in seeds:
        source = random.Random(seed)
        drawn = random_program(source, threads=(2, 3), most_accesses=source.choice([2, 3]))
        try:
            dual = dual_plain_states(drawn, MOST_STATES)
        except LimitReachedError:
            continue
        with_store_buffers = tso_plain_states(drawn)
        assert dual == with_store_buffers, seed
        compared += 1
        weak += with_store_buffers != reachable_states(drawn)
    return compared, weak


@pytest.mark.parametrize(
    "litmus", [SB, SB_FENCES, SB_RMWS, SB_FAILING_CAS, MP, IRIW, LOCK, TWO_PLUS_TWO_W], ids=range(8)
)
def test_litmus_tests(litmus) -> None:
    assert dual_plain_states(litmus) == tso_plain_states(litmus)


def test_random_programs() -> None:
    compared, weak = compare(range(80))
    assert compared > 60
    assert weak > 0


@pytest.mark.slow
def test_many_random_programs() -> None:
    compared, weak = compare(range(1000, 11_000))
    assert compared > 9000
    assert weak > 300
