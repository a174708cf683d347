"""SRA by its rules: the examples of sra-2020, and how SRA relates to SC and RA.

Our memory is initialised, so the examples leave out the paper's writes of 0. The programs of Examples 3.5 to
3.11 are not in our copy of the paper. Most are well known (`models.litmus`); that of Example 3.7 is rebuilt
from its name and text, as a chain of two messages.
"""

import random

import pytest

from fencepost.models import op_sra, sc, sra
from fencepost.models.enumerate import reachable_graph_states
from fencepost.models.explore import LimitReachedError
from fencepost.models.graphs import initial_graph
from fencepost.models.ra import RAG, is_ra_consistent
from fencepost.models.sra import SraLts, broken_rules, is_sra_consistent, racing_writes
from fencepost.models.threads import Label
from tests.models.litmus import (
    IRIW,
    LOCK,
    MP,
    MP_NON_ATOMIC_RACE,
    SB,
    SB_FENCES,
    SB_RMWS,
    TWO_PLUS_TWO_W,
    TWO_PLUS_TWO_W_WITHOUT_READS,
    TWO_RMW,
    fadd,
    program,
    read,
    write,
)
from tests.strategies import random_program

TRANSITIVE_MP = program(
    [write("x", 1), write("y", 1)], [read("a", "y"), write("z", 1)], [read("b", "z"), read("c", "x")]
)
COHERENCE = program([read("a", "x"), read("b", "x")], [write("x", 1)])
TWO_MP = program(
    [write("x", 1), write("z", 1)],
    [write("y", 1), write("z", 1)],
    [read("a", "z"), write("f", 1), read("b", "x")],
    [read("c", "f"), read("d", "y")],
)

# The number of the example, the program, an outcome as thread and registers, and whether SRA allows it.
EXAMPLES = {
    "3.5 SB": (SB, {0: {"a": 0}, 1: {"b": 0}}, True),
    "coherence": (COHERENCE, {0: {"a": 1, "b": 0}}, False),
    "3.6 MP": (MP, {1: {"a": 1, "b": 0}}, False),
    "3.6 MP, in order": (MP, {1: {"a": 1, "b": 1}}, True),
    "3.7 transitive MP": (TRANSITIVE_MP, {1: {"a": 1}, 2: {"b": 1, "c": 0}}, False),
    "3.8 IRIW": (IRIW, {1: {"a": 1, "b": 0}, 2: {"c": 1, "d": 0}}, True),
    "3.9 2RMW": (TWO_RMW, {0: {"a": 0}, 1: {"b": 0}}, False),
    "3.10 SB+RMWs": (SB_RMWS, {0: {"a": 0}, 1: {"b": 0}}, False),
    "3.10 SB+fences": (SB_FENCES, {0: {"a": 0}, 1: {"b": 0}}, False),
    "3.11 2+2W": (TWO_PLUS_TWO_W, {0: {"a": 1}, 1: {"a": 1}}, False),
    "5.4 2MP": (TWO_MP, {2: {"a": 1, "b": 0}, 3: {"c": 1, "d": 0}}, False),
    "5.4 2MP, in order": (TWO_MP, {2: {"a": 1, "b": 0}, 3: {"c": 1, "d": 1}}, True),
}


def is_reached(program, outcome, states):
    """Whether some state in which all threads have ended has the registers of `outcome`."""
    ends = tuple(len(thread.code) for thread in program.threads)
    wanted = [
        (thread, program.threads[thread].registers.index(register), value)
        for thread, registers in outcome.items()
        for register, value in registers.items()
    ]
    return any(
        all(threads[thread].registers[slot] == value for thread, slot, value in wanted)
        for threads in states
        if tuple(at.pc for at in threads) == ends
    )


@pytest.mark.parametrize(("program", "outcome", "allowed"), EXAMPLES.values(), ids=EXAMPLES)
def test_examples_of_the_paper(program, outcome, allowed):
    assert is_reached(program, outcome, sra.reachable_program_states(program)) == allowed


def test_ra_allows_the_outcome_of_example_3_11():
    states = reachable_graph_states(SraLts(TWO_PLUS_TWO_W), RAG)
    assert is_reached(TWO_PLUS_TWO_W, {0: {"a": 1}, 1: {"a": 1}}, {state.threads for state in states})


def graph_of(program, *events):
    """The graph of (thread, label, predecessor write) in this order, whether a model allows it or not."""
    graph = initial_graph(SraLts(program))
    for thread, label, w in events:
        graph = graph.add(thread, label, w)
    return graph


X, Y = 0, 1  # the cells of `models.litmus`, and the numbers of their initial writes


class TestRules:
    def test_a_cycle_of_hb_and_mo_over_two_cells_breaks_irr_hb_mo_alone(self):
        """Example 3.11, the writes only; RA does not mind."""
        graph = graph_of(TWO_PLUS_TWO_W_WITHOUT_READS, (0, Label("W", X, None, 1), X))
        first_x = graph.number(0, 1)
        graph = graph.add(0, Label("W", Y, None, 2), Y).add(1, Label("W", Y, None, 1), graph.number(0, 2))
        assert is_sra_consistent(graph)
        assert broken_rules(graph.add(1, Label("W", X, None, 2), X)) == ("irr-hb-mo",)
        assert is_ra_consistent(graph.add(1, Label("W", X, None, 2), X))
        assert is_sra_consistent(graph.add(1, Label("W", X, None, 2), first_x))

    def test_a_read_of_an_overwritten_value_breaks_read_coherence(self):
        """Example 3.6."""
        graph = graph_of(MP, (0, Label("W", X, None, 1), X), (0, Label("W", Y, None, 1), Y))
        graph = graph.add(1, Label("R", Y, 1), graph.number(0, 2))
        assert broken_rules(graph.add(1, Label("R", X, 0), X)) == ("read-coherence",)

    def test_two_rmws_of_one_write_break_atomicity(self):
        """Example 3.9."""
        rmw = Label("RMW", X, 0, 1)
        graph = graph_of(TWO_RMW, (0, rmw, X), (1, rmw, X))
        assert broken_rules(graph) == ("atomicity",)

    def test_a_non_atomic_message_synchronises_too(self):
        p = MP_NON_ATOMIC_RACE.cells.index("p")
        y = MP_NON_ATOMIC_RACE.cells.index("y")
        graph = graph_of(MP_NON_ATOMIC_RACE, (0, Label("W", y, None, 1), y), (0, Label("W", p, None, 1), p))
        graph = graph.add(1, Label("R", p, 1), graph.number(0, 2))
        assert broken_rules(graph.add(1, Label("R", y, 0), y)) == ("read-coherence",)


class TestWriteWriteRaces:
    @pytest.mark.parametrize("decide", [sra.write_write_race, op_sra.write_write_race])
    @pytest.mark.parametrize(
        ("program", "racy"),
        [
            (SB, False),
            (MP, False),
            (LOCK, False),
            (TWO_RMW, False),
            (TWO_PLUS_TWO_W, True),
            (program([write("x", 1)], [fadd("x", 1)]), True),
            (program([write("x", 1), write("y", 1)], [read("a", "y"), write("x", 2)]), True),
        ],
        ids=["SB", "MP", "lock", "2RMW", "2+2W", "a write and an RMW", "a read that need not see the flag"],
    )
    def test_known_programs(self, decide, program, racy):
        race = decide(program)
        assert (race is not None) == racy
        if race is not None:
            first, second = race.writes
            assert first.label.cell == second.label.cell
            assert (first, second) in race.graph.mo - race.graph.hb
            assert is_sra_consistent(race.graph)
            assert race.threads in sra.reachable_program_states(program)


def check_against_neighbours(seeds, limit, **limits):
    """SC ⊆ SRA = opSRA ⊆ RA, and RA = SRA where no writes race (Thm. 4.5, Prop. 3.12, Thm. 3.14)."""
    checked = racy = weaker = 0
    for seed in seeds:
        program = random_program(random.Random(seed), **limits)
        try:
            under_ra = {s.threads for s in reachable_graph_states(SraLts(program), RAG, limit)}
            states = list(sra.sra_states(program, limit))
        except LimitReachedError:
            continue
        under_sra = {state.threads for state in states}
        assert under_sra == op_sra.reachable_program_states(program), seed
        assert {state.threads for state in sc.reachable_states(program)} <= under_sra <= under_ra, seed
        race = any(racing_writes(state.graph) for state in states)
        assert race == (op_sra.write_write_race(program) is not None), seed
        assert race or under_sra == under_ra, seed
        checked, racy, weaker = checked + 1, racy + race, weaker + (under_sra != under_ra)
    return checked, racy, weaker


def test_sra_is_between_sc_and_ra_and_is_ra_where_no_writes_race():
    checked, racy, _ = check_against_neighbours(range(60), 300, most_accesses=3)
    assert checked > 40
    assert 0 < racy < checked


@pytest.mark.slow
def test_sra_is_between_sc_and_ra_on_many_programs():
    checked, racy, weaker = check_against_neighbours(range(1000, 5000), 1000, most_accesses=4)
    assert checked > 3000
    assert 0 < racy < checked
    assert weaker > 0
