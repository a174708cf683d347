import random

import pytest

from fencepost.models.cpp20 import CPP20
from fencepost.models.definition import program_lts
from fencepost.models.enumerate import reachable_graph_states
from fencepost.models.explore import LimitReachedError
from fencepost.models.sc import SCG
from tests.models.clocks_cpp20 import Clocks
from tests.models.litmus_cpp20 import VERDICTS
from tests.strategies import random_program


def agree(test, source, most, limit=None, about=None):
    """After every run under sequential consistency, the clocks allow the steps of the definition."""
    lts = program_lts(test, "cpp20")
    states = list(reachable_graph_states(lts, SCG, limit))
    forbidden = 0
    for threads, graph in source.sample(states, min(most, len(states))):
        clocks = Clocks(graph, source)
        for thread, at in enumerate(threads):
            access = lts.threads[thread].access(at)
            if access is None or not graph.cells.atomic[access.cell]:
                continue
            for w in graph.mo_lists[access.cell]:
                step = lts.threads[thread].step(at, graph.written(w))
                if step is not None:
                    allowed = clocks.allows(thread, step.label, w)
                    assert allowed == (CPP20.step(graph, thread, step.label, w) is not None), (
                        about,
                        threads,
                        w,
                    )
                    forbidden += not allowed
    return forbidden


@pytest.mark.parametrize("name", VERDICTS)
def test_clocks_allow_what_the_definition_does_in_litmus_tests(name):
    agree(VERDICTS[name][0], random.Random(1), 1000)


def check_clocks(seeds):
    forbidden = checked = 0
    for seed in seeds:
        source = random.Random(seed)
        test = random_program(source, modes=True, sc_accesses=True)
        try:
            forbidden += agree(test, source, 25, limit=3000, about=seed)
            checked += 1
        except LimitReachedError:
            continue
    assert checked > 0.9 * len(seeds)
    assert forbidden > checked


def test_clocks_allow_what_the_definition_does():
    check_clocks(range(100))


@pytest.mark.slow
@pytest.mark.parametrize("block", range(10))
def test_clocks_on_many_programs(block):
    check_clocks(range(1000 * block + 1000, 1000 * block + 2000))
