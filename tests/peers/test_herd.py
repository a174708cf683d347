"""The final states of litmus tests: what herd7 says, and what fencepost says."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from fencepost.analyses.outcomes import outcomes
from fencepost.formats import load
from tests.peers.herd import MODELS, State, final_states

TESTS = sorted((Path(__file__).parents[2] / "examples" / "litmus-c").glob("*.litmus"))

pytestmark = pytest.mark.skipif(shutil.which("herd7") is None, reason="herd7 cannot be found")


def ours(test: Path, model: str) -> tuple[set[State], bool]:
    """Also whether the program has a data race, which makes every state possible."""
    answer = outcomes(load(test), [model])
    names = [name.removeprefix("P") for name in answer.names]
    states = {
        frozenset(zip(names, state.values, strict=True))
        for state in answer.outcomes
        if state.under[model] == "allowed"
    }
    return states, answer.models[0].race is not None


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("test", TESTS, ids=lambda test: test.stem)
def test_final_states(test: Path, model: str) -> None:
    states, races = ours(test, model)
    theirs = final_states(test, model)
    assert races or theirs <= states
    assert races or states <= theirs or "own-stores" in test.stem or "relseq-store" in test.stem
