"""What can be reached, and which nodes can reach each other."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from fencepost.program import Branch, Constant, Goto, Skip
from fencepost.static.flow import components, in_loops, loop_depths, loops, reachable, successors

graphs = st.dictionaries(st.integers(0, 7), st.sets(st.integers(0, 7)))


@given(graphs)
def test_components_are_the_nodes_that_reach_each_other(edges: dict[int, set[int]]) -> None:
    part = components(edges)
    nodes = edges.keys() | set[int]().union(*edges.values())
    after = {node: reachable(edges.get(node, ()), lambda at: edges.get(at, ())) for node in nodes}
    assert part.keys() == nodes
    for a in nodes:
        for b in nodes:
            assert (part[a] == part[b]) == (a == b or (a in after[b] and b in after[a]))
    assert set[int]().union(*loops(edges)) == {node for node in nodes if node in after[node]}


def test_a_long_chain_takes_no_recursion() -> None:
    assert len(set(components({n: {n + 1} for n in range(5000)}).values())) == 5001


def test_loops_inside_loops() -> None:
    code = (Skip(), Skip(), Branch(Constant(1), 1), Branch(Constant(1), 0), Skip())
    assert loop_depths(code) == [1, 2, 2, 1, 0]
    assert in_loops(code) == {0, 1, 2, 3}


def test_an_instruction_after_which_a_jump_back_is_never_reached_runs_once() -> None:
    assert in_loops((Skip(), Goto(3), Goto(0), Skip())) == set()


def test_what_comes_after_an_instruction() -> None:
    assert successors(Skip(), 3) == (4,)
    assert successors(Goto(1), 3) == (1,)
    assert successors(Branch(Constant(1), 7), 3) == (7, 4)
