"""No input makes a reader do anything but take it or answer with one clear message.

A thousand for each reader here, the same each time; `python -m tests.fuzz.campaign` tries as many others as
there is time for.
"""

from __future__ import annotations

import random

import pytest

from fencepost.errors import InputError
from fencepost.sanitizer.answer import symbols
from tests.fuzz.campaign import drawn
from tests.fuzz.edits import edited
from tests.fuzz.readers import READERS


@pytest.mark.parametrize("name", READERS)
def test_what_is_read_is_taken_or_refused(name: str) -> None:
    reader, source = READERS[name], random.Random(name)
    examples = reader.examples()
    assert any(reader.try_on(example) for example in examples)
    for _ in range(reader.inputs):
        data = edited(source.choice(examples), drawn(source))
        try:
            reader.try_on(data)
        except Exception as error:
            raise AssertionError(f"{name}: {data!r}") from error


@pytest.mark.parametrize("name", ["tpl", "litmus", "automata", "persist"])
def test_mistakes_in_programs_are_told_in_one_line(name: str) -> None:
    reader, source = READERS[name], random.Random(f"{name}, mistakes")
    examples = reader.examples()
    told = []
    for _ in range(100):
        try:
            reader.read(edited(source.choice(examples), drawn(source)))
        except InputError as error:
            told.append(error.message)
    assert len(told) > 50
    assert all(message and "\n" not in message for message in told)


def test_long_numbers_of_a_symbolizer_are_none() -> None:
    digits = "9" * 5000  # Python makes no number of them
    (frames,) = symbols._gnu_answers("m", ["0x1", "f", f"a.c:{digits}", f"0x{digits}"]).values()
    assert [(frame.file, frame.line) for frame in frames] == [("a.c", 0)]
