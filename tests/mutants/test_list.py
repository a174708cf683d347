"""The list of mutants fits the sources: each change is possible, and in one place only."""

import ast

import pytest

from tests.mutants.listed import ROOT, changed, mutants, with_switches
from tests.mutants.suites import SUITES

LISTED = mutants()
FILES = sorted({mutant.file for mutant in LISTED})


def test_there_are_enough():
    assert len(LISTED) >= 150
    assert len({mutant.key for mutant in LISTED}) == len(LISTED)


@pytest.mark.parametrize("file", FILES)
def test_what_is_changed_stands_once_in_its_file(file):
    text = (ROOT / file).read_text(encoding="utf-8")
    here = [mutant for mutant in LISTED if mutant.file == file]
    for mutant in here:
        start, end = mutant.span_in(text)
        assert text[start:end].split() != mutant.new.split(), mutant.listed_at
        if mutant.is_python:
            ast.parse(changed(text, mutant))
    if not file.endswith(".py"):
        switched = with_switches(text, here)
        assert all(f"mutant({mutant.number})" in switched for mutant in here)


def test_every_suite_is_there():
    assert {mutant.suite for mutant in LISTED} == SUITES.keys()
    files = {test.partition("::")[0] for stages in SUITES.values() for tests in stages for test in tests}
    assert all((ROOT / file).exists() for file in files)
