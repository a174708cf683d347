"""The litmus tests of the papers: what their headers say is what the definition and the engine say."""

from pathlib import Path

import pytest

from fencepost import load, robust
from fencepost.formats.headers import expectations
from fencepost.models.explore import LimitReachedError
from fencepost.models.robustness import not_robust_graph
from fencepost.models.witnesses import replay

FILES = sorted((Path(__file__).parents[2] / "examples" / "litmus").glob("*.tpl"))


def stated(file, model):
    return expectations(file.read_text()).get(("robust", model))


@pytest.mark.parametrize("model", ["ra", "rc20"])
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_the_engine_agrees_with_the_definition(file, model):
    program = load(file)
    answer = robust(program, model)
    if answer.witness is not None:
        replay(program, answer.witness, model)
    if answer.race is None:  # the definition's graphs stop at a race
        try:
            assert answer.holds is (not_robust_graph(program, model, limit=20_000) is None)
        except LimitReachedError:  # a loop: its graphs have no end
            assert answer.holds is not None


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_the_header_states_the_verdict(file):
    assert stated(file, "ra") is not None
    for model in ("ra", "rc20"):
        if stated(file, model) is not None:
            assert robust(load(file), model).holds is stated(file, model)


def test_the_named_examples_are_there():
    names = {file.stem.lower() for file in FILES}
    for name in ("sb", "mp", "iriw", "2+2w", "2rmw", "sb+rmws"):
        assert any(n.startswith(name) for n in names), name
