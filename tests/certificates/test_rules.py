"""The rules on which the check of certificates rests, against opSRA on random programs.

A search backwards by these rules (`backward`) must find exactly what opSRA reaches, and what it writes where
nothing is to be found must pass the check.
"""

import random
from itertools import chain

import pytest

from fencepost.certificates import Checked, check
from tests.certificates import questions
from tests.certificates.backward import TooManyStatesError, search
from tests.models.litmus import SC_FENCE, program, read, write
from tests.models.test_sra import EXAMPLES
from tests.strategies import random_program


def check_questions(seeds, ask, draw=random_program, **limits):
    """How many questions were answered with yes, and with no and a certificate."""
    reached = safe = 0
    for seed in seeds:
        program = draw(random.Random(seed), **limits)
        for bad, reachable, kept in ask(program, random.Random(seed)):
            certificate = search(program, bad, kept)
            assert (certificate is None) == reachable, seed
            if certificate is None:
                reached += 1
            else:
                safe += 1
                assert isinstance(check(program, certificate, bad, kept), Checked), seed
    return reached, safe


def states(program, source):
    return chain(
        questions.program_states(program, source, 4),
        questions.positions(program, source, 3),
        questions.failures(program),
        questions.final_memories(program, source, 4),
    )


def races(program, _):
    return [questions.write_write_races(program)]


def test_answers_about_states_are_those_of_op_sra():
    reached, safe = check_questions(range(30), states, most_accesses=3)
    assert reached > 50
    assert safe > 50


def fenced_program(source):
    """Two threads with three accesses or three with two, to two cells, and SC fences after some of them."""
    threads, accesses = source.choice(((2, 3), (3, 2)))

    def code():
        for register in "abc"[:accesses]:
            cell = source.choice("xy")
            yield write(cell, 1) if source.random() < 0.5 else read(register, cell)
            if source.random() < 0.4:
                yield SC_FENCE

    return program(*(list(code()) for _ in range(threads)), atomic="xy", max_value=1)


def test_answers_about_programs_with_fences_are_those_of_op_sra():
    reached, safe = check_questions(range(15), states, fenced_program)
    assert reached > 20
    assert safe > 20


def test_answers_about_races_are_those_of_op_sra():
    reached, safe = check_questions(range(100), races, most_accesses=3)
    assert reached > 20
    assert safe > 20


IN_ORDER = program([write("x", 1), write("y", 1)], [read("a", "x"), read("b", "y")])
LITMUS = {"reads in order": IN_ORDER} | {name: example[0] for name, example in EXAMPLES.items()}


@pytest.mark.parametrize("litmus", LITMUS.values(), ids=LITMUS)
def test_answers_about_litmus_tests_are_those_of_op_sra(litmus):
    for bad, reachable, kept in questions.program_states(litmus, random.Random(0), 100):
        certificate = search(litmus, bad, kept)
        assert (certificate is None) == reachable
        assert certificate is None or isinstance(check(litmus, certificate, bad, kept), Checked)


def check_loops(seeds):
    """Nothing that opSRA reaches in a few hundred graphs is certified to be out of reach."""
    reached = safe = 0
    for seed in seeds:
        program = random_program(random.Random(seed), loop_free=False, threads=(2, 3), most_accesses=3)
        source = random.Random(seed)
        states = questions.program_states(program, source, 6, graphs=400)
        positions = questions.positions(program, source, 2, graphs=400)
        for bad, reachable, kept in chain(states, positions):
            try:
                certificate = search(program, bad, kept, most=1000)
            except TooManyStatesError:
                continue
            if certificate is None:
                reached += 1
            else:
                safe += 1
                assert not reachable, seed
                assert isinstance(check(program, certificate, bad, kept), Checked), seed
    return reached, safe


def test_nothing_reachable_is_certified_in_programs_with_loops():
    reached, safe = check_loops(range(30))
    assert reached > 50
    assert safe > 5


@pytest.mark.slow
def test_nothing_reachable_is_certified_in_many_programs_with_loops():
    check_loops(range(1000, 2000))


@pytest.mark.slow
def test_answers_about_states_are_those_of_op_sra_on_many_programs():
    check_questions(range(1000, 5000), states, most_accesses=4)
    check_questions(range(1000, 3000), states, fenced_program)


@pytest.mark.slow
def test_answers_about_races_are_those_of_op_sra_on_many_programs():
    check_questions(range(1000, 5000), races, most_accesses=4)
