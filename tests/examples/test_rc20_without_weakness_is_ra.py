"""RC20 with every access acquire/release, and no fences but SC fences, gives the RA verdict on the corpus."""

from pathlib import Path

import pytest

from fencepost import load, robust
from tests.models.strength import release_acquire

ROOT = Path(__file__).parents[2] / "examples"
LARGE = {"chase-lev-ra", "rcu-offline", "lamport2-3-ra"}
UNDECIDED = ROOT / "large"
FILES = sorted(f for f in [*ROOT.rglob("*.tpl"), *ROOT.rglob("*.litmus")] if f.parent != UNDECIDED)


@pytest.mark.parametrize(
    "file",
    [pytest.param(f, marks=pytest.mark.slow) if f.stem in LARGE else f for f in FILES],
    ids=lambda file: f"{file.parent.name}/{file.stem}",
)
def test_the_verdict_is_that_of_ra(file):
    program = release_acquire(load(file))
    under_ra, under_rc20 = robust(program, "ra"), robust(program, "rc20")
    assert under_rc20.verdict == under_ra.verdict
    if under_ra.exhaustive and under_rc20.exhaustive:
        assert (under_rc20.race is None) == (under_ra.race is None)


def test_the_corpus_is_there():
    assert len(FILES) > 250
