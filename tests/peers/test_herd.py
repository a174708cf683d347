"""The final states of litmus tests: what herd7 says, and what fencepost says."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import pytest

from fencepost.analyses.outcomes import outcomes
from fencepost.formats import load
from tests.peers.herd import MODELS, State, Told, ask_herd, random_test

TESTS = sorted((Path(__file__).parents[2] / "examples" / "litmus-c").glob("*.litmus"))

pytestmark = pytest.mark.skipif(shutil.which("herd7") is None, reason="herd7 cannot be found")


def ours(test: Path, model: str) -> Told:
    """A data race makes every state possible."""
    answer = outcomes(load(test), [model])
    assert answer.models[0].complete
    names = [name.removeprefix("P") for name in answer.names]
    states: set[State] = {
        frozenset(zip(names, state.values, strict=True))
        for state in answer.outcomes
        if state.under[model] == "allowed"
    }
    return Told(states, answer.models[0].race is not None)


def agree(test: Path, model: str) -> None:
    we, they = ours(test, model), ask_herd(test, model)
    assert model != "cpp20" or we.races == they.races
    assert we.races or we.states == they.states


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("test", TESTS, ids=lambda test: test.stem)
def test_final_states(test: Path, model: str) -> None:
    if model == "ra" and "fence" in test.read_text(encoding="utf-8"):
        pytest.skip("fences are no part of ra.cat")
    agree(test, model)


@pytest.mark.parametrize("model", MODELS)
def test_random_tests(model: str, tmp_path: Path) -> None:
    agree_on_random_tests(model, range(20), tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS)
def test_many_random_tests(model: str, tmp_path: Path) -> None:
    agree_on_random_tests(model, range(1000, 2000), tmp_path)


def agree_on_random_tests(model: str, seeds: range, folder: Path) -> None:
    test = folder / "random.litmus"
    for seed in seeds:
        source = random.Random(seed)
        text = random_test(source, sc=model == "cpp20" and seed % 2 == 0, fences=model != "ra")
        test.write_text(text, encoding="utf-8")
        agree(test, model)
