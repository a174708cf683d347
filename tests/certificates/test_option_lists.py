"""Lists of read options: their order, and what they were before a write."""

import pytest

from fencepost.certificates.local_graphs import local_graphs
from fencepost.certificates.option_lists import Lists, R, S, Source, Sources, U
from tests.models.litmus import program, write

X, Y = 0, 1
PROGRAM = program([write("x", 1), write("y", 1)], [write("x", 2)])
SOURCES = Sources(local_graphs(PROGRAM, [frozenset()] * 2), PROGRAM.initial_memory)


def option(writer, cell, value, flag=R):
    return 4 * SOURCES.number[Source(writer, cell, value)] + flag


X0, X1, X2 = option(-1, X, 0), option(0, X, 1), option(1, X, 2)
Y0, Y1 = option(-1, Y, 0), option(0, Y, 1)
WRITE_X1 = X1 >> 2


@pytest.fixture
def lists():
    return Lists(SOURCES)


def number(lists, *options):
    return lists.number(tuple(options))


def test_a_list_is_below_those_that_have_more_options(lists):
    smaller = number(lists, X0, Y1)
    assert lists.is_below(smaller, number(lists, X0, X2, Y1))
    assert lists.is_below(smaller, smaller)
    assert not lists.is_below(smaller, number(lists, Y1, X0))
    assert not lists.is_below(smaller, number(lists, X0))


def test_an_option_is_below_one_that_asks_more_of_its_write(lists):
    readable, last, overwritten = (number(lists, X0 + flag) for flag in (R, U, S))
    assert lists.is_below(readable, last)
    assert lists.is_below(readable, overwritten)
    assert not lists.is_below(last, readable)
    assert not lists.is_below(last, overwritten)
    assert not lists.is_below(overwritten, last)


def test_of_a_potential_only_the_longest_lists_count(lists):
    short, marked, longer = number(lists, X0), number(lists, X0 + U), number(lists, X0 + U, Y0)
    assert lists.longest(frozenset({short, marked, longer, number(lists)})) == (longer,)
    assert lists.longest(frozenset({number(lists)})) == (number(lists),)


class TestBeforeAWrite:
    """W(x, 1) by the first thread."""

    def cuts(self, lists, *options):
        found = lists.cuts(number(lists, *options), X, WRITE_X1)
        return {
            (lists.all[cut.rest], None if cut.justification is None else lists.all[cut.justification])
            for cut in found
        }

    def test_its_last_options_on_the_cell_may_be_from_it(self, lists):
        assert self.cuts(lists, X1, Y0, X1, Y1) == {
            ((X1, Y0, X1, Y1), None),
            ((X1, Y0, Y1), (Y1,)),
            ((Y0, Y1), (Y0, Y1)),
        }

    def test_what_stands_before_another_source_is_not_from_it(self, lists):
        assert self.cuts(lists, X1, X2, Y0) == {((X1, X2, Y0), None)}

    def test_the_last_write_of_the_cell_is_this_one(self, lists):
        assert self.cuts(lists, X0, X1 + U) == {((X0,), ())}
        assert self.cuts(lists, X0 + U) == set()
        assert self.cuts(lists, X2 + U, X1) == set()

    def test_it_overwrites_the_others_and_is_not_overwritten(self, lists):
        assert self.cuts(lists, X0 + S, Y0 + S) == {((X0, Y0 + S), None)}
        assert self.cuts(lists, X1 + S) == {((X1,), None)}

    def test_the_writer_itself_reads_nothing_else_there(self, lists):
        def before(*options):
            found = lists.without_own(number(lists, *options), X, WRITE_X1)
            return None if found is None else lists.all[found]

        assert before(X1 + U, Y0, X1) == (Y0,)
        assert before(Y0, X0) is None
        assert before(X1 + S) is None


def test_no_option_follows_a_later_one_on_its_cell(lists):
    def coherent(*options):
        return lists.is_coherent(number(lists, *options), SOURCES)

    assert coherent(X0, X1, Y0)
    assert coherent(X1 + U, Y0, X1)
    assert not coherent(X1, Y1, X0)
    assert not coherent(X1 + U, X2)
