"""The engine against the number of execution graphs: where nothing blocks, a program is robust if it has as
many graphs under its model as under sequential consistency.

Both are counted by the native enumeration, which knows nothing of monitors (`test_graph_enumeration.py` holds
it against the definitions). So large programs can be compared by the thousand: rings of up to five threads
with a fence nearly everywhere, of all kinds, which tell the rules for P, F, E and K around fences apart.
"""

import pytest

from fencepost.analyses.robustness import robust
from fencepost.engine._native import Outcome
from fencepost.engine.graphs import Observed, enumerate_graphs
from fencepost.engine.search import Limits
from fencepost.formats.tpl import write
from fencepost.program import Program
from fencepost.verdicts import NotRobust
from tests.fenced_rings import fenced_ring

ORDERS = ["breadth-first", "depth-first", "largest-first", "by-location"]
MOST_EVENTS = 200_000  # of an enumeration; programs that need more are not compared


def graphs(program: Program, model: str) -> int | None:
    found = enumerate_graphs(program, model, Observed((), ()), Limits(states=MOST_EVENTS), unroll=1)
    return found.graphs if found.outcome == Outcome.COMPLETE else None


def compare(seeds: range, model: str = "cpp20") -> tuple[int, int]:
    """How many programs were compared, and how many of them are not robust."""
    compared = not_robust = 0
    for seed in seeds:
        program = fenced_ring(seed, (0, 30, 60, 90)[seed % 4])
        all_graphs, sc_graphs = graphs(program, model), graphs(program, "sc")
        if all_graphs is None or sc_graphs is None:
            continue
        answer = robust(program, model, order=ORDERS[seed // 4 % 4])
        assert isinstance(answer, NotRobust) == (all_graphs > sc_graphs), f"seed {seed}:\n{write(program)}"
        compared += 1
        not_robust += isinstance(answer, NotRobust)
    return compared, not_robust


@pytest.mark.parametrize("first", range(0, 3000, 1000))
def test_a_robust_program_has_no_graphs_but_those_of_sc(first):
    compared, not_robust = compare(range(first, first + 1000))
    assert compared > 950
    assert 200 < not_robust < 800  # both verdicts must be well represented


@pytest.mark.slow
@pytest.mark.parametrize("first", range(10_000, 50_000, 5000))
def test_many_robust_programs_have_no_graphs_but_those_of_sc(first):
    compare(range(first, first + 5000))
