"""The examples of observational robustness say the truth, and so does the list in `docs/robust.md`."""

from pathlib import Path

import pytest

from fencepost.analyses.robustness import robust
from fencepost.formats import load
from fencepost.formats.headers import expectations
from fencepost.memory_models import OBSERVATIONAL
from fencepost.models.observational import observed_beyond_sc
from fencepost.static.flow import in_loops

EXAMPLES = Path(__file__).parents[2] / "examples"
FILES = sorted((EXAMPLES / "observational").glob("*.tpl"))
# The sequence locks of `examples/rc20`, against rc20: whether it is robust, and whether by observation.
SEQUENCE_LOCKS = {
    "seqlock-acquire-data": (True, True),
    "seqlock-fences": (True, True),
    "seqlock-fences-two-writes": (False, True),
    "seqlock-no-fences": (False, None),
    "seqlock-rdmw": (True, True),
    "seqlock-rdmw-no-release": (True, True),
    "seqlock-rdmw-plain-writer": (False, None),
}


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_headers_are_true(file):
    program, stated = load(file), expectations(file.read_text())
    for model in ("ra", "rc20"):
        assert robust(program, model).holds is stated["robust", model]
        answer = robust(program, model, criterion=OBSERVATIONAL)
        assert (answer.holds or False) is stated[OBSERVATIONAL, model]
        assert (answer.race, answer.assertion) == (None, None)


def has_loops(file):
    return any(in_loops(thread.code) for thread in load(file).threads)


@pytest.mark.parametrize("file", [f for f in FILES if not has_loops(f)], ids=lambda file: file.stem)
def test_the_definition_agrees(file):
    assert observed_beyond_sc(load(file), "rc20") is None


def test_all_sequence_locks_are_listed():
    assert {file.stem for file in (EXAMPLES / "rc20").glob("seqlock*.tpl")} == set(SEQUENCE_LOCKS)


@pytest.mark.parametrize("name", SEQUENCE_LOCKS)
def test_sequence_locks(name):
    program = load(EXAMPLES / "rc20" / f"{name}.tpl")
    verdicts = robust(program, "rc20").holds, robust(program, "rc20", criterion=OBSERVATIONAL).holds
    assert verdicts == SEQUENCE_LOCKS[name]
