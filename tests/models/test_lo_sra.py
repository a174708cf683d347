"""loSRA: the examples of sra-2020 section 5, and its equivalence with opSRA (Thm. 5.17).

Our memory is initialised, so the examples leave out the paper's writes of 0.
"""

import random

import pytest

from fencepost.models import lo_sra, op_sra
from fencepost.models.explore import LimitReachedError
from fencepost.models.lo_sra import Option, consumed, written
from fencepost.models.threads import Label
from tests.models.test_sra import EXAMPLES, is_reached
from tests.strategies import random_program

X, Y, Z = range(3)
START = -1


@pytest.mark.parametrize(("program", "outcome", "allowed"), EXAMPLES.values(), ids=EXAMPLES)
def test_examples_of_the_paper(program, outcome, allowed):
    """Those of section 5 are 3.8 (5.1), 3.6 (5.2), 3.11 (5.9) and 3.9 (5.10) again, and 5.4."""
    assert is_reached(program, outcome, lo_sra.reachable_program_states(program)) == allowed


def option(writer, cell, value, *, rmw=False):
    return Option(writer, cell, value, rmw)


def closed(*lists):
    """All sublists of `lists`."""
    found = {()}
    for options in lists:
        for place in range(len(options)):
            found |= closed(options[:place] + options[place + 1 :])
    return frozenset(found | set(lists))


def after_write(potentials, thread, cell, value):
    """WRITE without a bound on what the program reads, but that lists have at most three options."""
    reads = {()}
    for _ in range(3):
        reads |= {(*some, (cell, rmw)) for some in reads for cell in (X, Y, Z) for rmw in (False, True)}
    return written(potentials, thread, Label("W", cell, None, value), frozenset(reads))


class TestWrite:
    """Figure 4, on the steps that the examples speak of."""

    def test_a_new_option_stands_before_what_the_writer_may_read_too(self):
        """Examples 5.1 and 5.2: y = 1 goes in front of x = 0 only if the writer may still read x = 0."""
        x0, y1 = option(START, X, 0), option(1, Y, 1)
        reader, _ = after_write((closed((x0,)), closed((x0,))), 1, Y, 1)
        assert (y1, x0) in reader
        reader, _ = after_write((closed((x0,)), closed()), 1, Y, 1)
        assert (y1, x0) not in reader
        assert (x0, y1) in reader

    def test_nobody_reads_the_new_value_and_then_an_old_one(self):
        """Although the writer may have an option on the old one up to its write."""
        x0, x1 = option(START, X, 0), option(1, X, 1)
        reader, _ = after_write((closed((x0,)), closed((x0,))), 1, X, 1)
        assert (x1, x0) not in reader
        assert (x0, x1) in reader

    def test_two_lists_of_the_writer_justify_what_one_cannot(self):
        """Example 5.3: T3 needs y = 1, x = 0 for itself, and x = 1, y = 0 to let T6 read z = 1 first."""
        x0, x1, y0, y1 = option(START, X, 0), option(0, X, 1), option(START, Y, 0), option(1, Y, 1)
        z1 = option(2, Z, 1)
        other = closed((x1, y0))
        one = (closed(), closed(), closed((y1, x0)), other)
        both = (closed(), closed(), closed((y1, x0), (x1, y0)), other)
        assert (z1, x1, y0) not in after_write(one, 2, Z, 1)[3]
        after = after_write(both, 2, Z, 1)
        assert (z1, x1, y0) in after[3]
        assert (y1, x0) in after[2]

    def test_the_writer_cannot_read_what_it_has_overwritten(self):
        """Example 5.9."""
        y1 = option(0, Y, 1)
        other, own = after_write((closed((y1,)), closed((y1,))), 1, Y, 2)
        assert not any(y1 in options for options in own)
        assert (y1,) in other

    def test_an_option_for_an_rmw_does_not_survive_another_write(self):
        """Example 5.10."""
        plain, marked = option(START, X, 0), option(START, X, 0, rmw=True)
        other, _ = after_write((closed((plain,), (marked,)), closed()), 1, X, 1)
        assert (plain,) in other
        assert not any(marked in options for options in other)
        assert (option(1, X, 1, rmw=True),) in other


def test_a_read_keeps_what_follows_its_option_from_one_writer():
    """Example 5.4: with z = 1 from two writers, one of the lists has to go."""
    x0, y0 = option(START, X, 0), option(START, Y, 0)
    potential = closed((option(0, Z, 1), y0), (option(1, Z, 1), x0))
    assert consumed(potential, option(0, Z, 1)) == closed((y0,))
    assert consumed(potential, option(1, Z, 1)) == closed((x0,))


def check_equivalence(seeds, most_lists, **limits):
    """Thm. 5.17."""
    checked = 0
    for seed in seeds:
        program = random_program(random.Random(seed), **limits)
        try:
            by_potentials = lo_sra.reachable_program_states(program, 300, most_lists)
        except LimitReachedError:
            continue
        assert by_potentials == op_sra.reachable_program_states(program), seed
        checked += 1
    return checked


def test_potentials_and_graphs_reach_the_same_program_states():
    assert check_equivalence(range(60), 500, most_accesses=3) > 50


@pytest.mark.slow
def test_potentials_and_graphs_reach_the_same_program_states_on_many_programs():
    assert check_equivalence(range(1000, 12000), 1500, most_accesses=3) > 10000
