"""The search one location at a time against the definitions: the rules of topics (monitors/topics.hpp).

`test_against_definitions.py` takes this order for every fourth program. Here every program is searched so,
also by several workers and without subsumption. Every third has equal threads, and every third has RMWs,
waits and fences of all kinds anywhere; these are searched in another order, too.
"""

import random

import pytest
from msgspec.structs import replace

from fencepost.engine.search import REDUCED, Limits, explore
from fencepost.formats.tpl import read, write
from fencepost.memory_models import GRAPH_MODELS as MODELS
from fencepost.models.explore import LimitReachedError
from fencepost.verdicts import NotRobust
from tests.engine.against_definitions import by_definition, check_against_definitions
from tests.engine.alike import program_with_copies
from tests.strategies import random_program, wide_program

BATCH = 100
FEW_GRAPHS = 250
WAYS = [
    REDUCED,
    replace(REDUCED, subsumption=False),
    replace(REDUCED, threads=2),
    replace(REDUCED, symmetry=False),
]


def drawn(seed, model):
    if seed % 3 == 1:
        return wide_program(random.Random(seed), sc_accesses=model == "cpp20")
    draw = program_with_copies if seed % 3 == 0 else random_program
    return draw(
        random.Random(seed),
        loop_free=True,
        modes=model != "ra",
        sc_accesses=model == "cpp20" and seed % 2 == 0,
    )


def check_batch(first_seed, model):
    compared = not_robust = 0
    for seed in range(first_seed, first_seed + BATCH):
        program = drawn(seed, model)
        try:
            truth = by_definition(program, model, FEW_GRAPHS)
        except LimitReachedError:
            continue
        try:
            way = WAYS[seed // 3 % len(WAYS)]
            answer = check_against_definitions(program, model, "by-location", way, truth=truth)
            if seed % 3 == 1:
                check_against_definitions(program, model, "largest-first", truth=truth)
        except Exception as error:
            raise AssertionError(f"seed {seed}:\n{write(program)}") from error
        compared += 1
        not_robust += isinstance(answer, NotRobust)
    assert compared > BATCH * 0.6
    assert BATCH * 0.05 < not_robust < BATCH * 0.9


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("first_seed", range(500_000, 500_000 + 2 * BATCH, BATCH))
def test_random_programs(first_seed, model):
    check_batch(first_seed, model)


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("first_seed", range(600_000, 600_000 + 100 * BATCH, BATCH))
def test_many_random_programs(first_seed, model):
    check_batch(first_seed, model)


def test_a_race_with_a_read_names_its_thread():
    program = read(
        """
        global f;
        na d;
        fn idle { local r; r = f.load(rlx); }
        fn reads { local r; r = d.naload(); f.store(1, rlx); }
        fn writes { wait(f, 1, rlx); d.nastore(1); }
        """
    )
    race = explore(program, "rc20", Limits(), "by-location").race
    assert race is not None
    assert (race.earlier.write, race.earlier.thread) == (False, 1)


@pytest.mark.parametrize("order", ["by-location", "largest-first"])
def test_the_cell_of_an_access_is_that_of_its_state(order):
    """Whose index is 0 in the state that is met first, and 1 where the access leaves SC."""
    program = read(
        """
        max_value 1;
        global f, a[2];
        fn reads { local i, r; oneof ({ i = 0; }{ i = 1; }); wait(f, 1, rlx); r = a[i].load(rlx); }
        fn writes { a[1].store(1, rlx); f.store(1, rlx); }
        """
    )
    answer = check_against_definitions(program, "rc20", order)
    assert isinstance(answer, NotRobust)
