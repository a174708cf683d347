"""No input makes a reader do anything but take it or answer with one clear message.

A thousand for each reader here; `python -m tests.fuzz.campaign` tries as many as there is time for.
"""

from __future__ import annotations

import functools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fencepost.errors import InputError
from tests.fuzz.edits import edited
from tests.fuzz.readers import READERS

NUMBER = st.integers(0, 2**20)
EDITS = st.lists(st.tuples(NUMBER, NUMBER, NUMBER, NUMBER), min_size=1, max_size=4)


@functools.cache
def examples(name: str) -> list[bytes]:
    found = READERS[name].examples()
    assert found
    return found


@pytest.mark.parametrize("name", READERS)
def test_examples_are_taken(name: str) -> None:
    taken = [READERS[name].try_on(example) for example in examples(name)]
    assert name == "elf" or any(taken)


@pytest.mark.parametrize("name", READERS)
def test_what_is_read_is_taken_or_refused(name: str) -> None:
    @settings(max_examples=1000, deadline=None)
    @given(NUMBER, EDITS)
    def try_some(which: int, edits: list[tuple[int, int, int, int]]) -> None:
        known = examples(name)
        READERS[name].try_on(edited(known[which % len(known)], edits))

    try_some()


@pytest.mark.parametrize("name", ["tpl", "litmus", "automata", "persist"])
def test_mistakes_in_programs_have_a_place(name: str) -> None:
    known = examples(name)
    for number in range(200):
        text = edited(known[number % len(known)], [(number, 7919 * number, number, 104729 * number)])
        try:
            READERS[name].read(text)
        except InputError as error:
            assert error.line is None or error.line >= 1
            assert str(error).count("\n") <= 2
