from hypothesis import given
from hypothesis import strategies as st

from fencepost.models.relations import Relation, identity, product, relation

EVENTS = range(5)
events = st.sets(st.sampled_from(EVENTS))
relations = st.sets(st.tuples(st.sampled_from(EVENTS), st.sampled_from(EVENTS))).map(relation)


def test_sequence_goes_left_to_right():
    assert relation([(1, 2), (1, 3)]) >> relation([(2, 4), (5, 1)]) == relation([(1, 4)])


def test_closure_of_a_chain():
    assert relation([(1, 2), (2, 3)]).plus() == relation([(1, 2), (2, 3), (1, 3)])


def test_immediate_edges_of_a_total_order():
    order = relation([(1, 2), (2, 3), (1, 3)])
    assert order.immediate() == relation([(1, 2), (2, 3)])


def test_a_cycle_is_irreflexive_but_not_acyclic():
    cycle = relation([(1, 2), (2, 1)])
    assert cycle.is_irreflexive()
    assert not cycle.is_acyclic()


@given(relations, relations, relations)
def test_sequence_is_associative_and_distributes_over_union(a, b, c):
    assert (a >> b) >> c == a >> (b >> c)
    assert a >> (b | c) == (a >> b) | (a >> c)


@given(relations, relations)
def test_inverse_turns_sequences_round(a, b):
    assert ~(a >> b) == ~b >> ~a
    assert ~~a == a


@given(relations)
def test_closure_is_the_least_transitive_relation_above(a):
    assert a.plus() == a | a.plus() >> a
    powers, power = a, a
    for _ in EVENTS:
        power = power >> a
        powers = powers | power
    assert a.plus() == powers
    assert a.is_acyclic() == all((event, event) not in powers for event in EVENTS)


@given(relations, events, events)
def test_identities_restrict_both_sides(a, left, right):
    assert identity(left) >> a >> identity(right) == a & product(left, right)


@given(relations)
def test_domain_and_codomain(a):
    assert identity(a.domain) <= a >> ~a
    assert a.codomain == (~a).domain
    assert identity(EVENTS) >> a == a


@given(relations, relations)
def test_difference_and_intersection_split_a_relation(a, b):
    assert (a - b) | (a & b) == a
    assert (a - b) & b == Relation()
