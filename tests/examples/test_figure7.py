"""The programs of Figure 7 of rocker-2019: all 25, with its verdicts and its numbers of threads."""

from pathlib import Path

import pytest

from fencepost import load, robust
from fencepost.formats.headers import expectations
from fencepost.models.witnesses import replay

FOLDER = Path(__file__).parents[2] / "examples" / "rocker"

# Program: robust against release/acquire, threads.
FIGURE_7 = {
    "barrier": (True, 2),
    "dekker-sc": (False, 2),
    "dekker-tso": (True, 2),
    "peterson-sc": (False, 2),
    "peterson-tso": (False, 2),
    "peterson-ra": (True, 2),
    "peterson-ra-dmitriy": (True, 2),
    "peterson-ra-bratosz": (False, 2),
    "lamport2-sc": (False, 2),
    "lamport2-tso": (False, 2),
    "lamport2-ra": (True, 2),
    "lamport2-3-ra": (True, 3),
    "spinlock": (True, 2),
    "spinlock4": (True, 4),
    "ticketlock": (True, 2),
    "ticketlock4": (True, 4),
    "seqlock": (True, 4),
    "nbw-w-lr-rl": (True, 4),
    "rcu": (True, 4),
    "rcu-offline": (True, 3),
    "cilk-the-wsq-sc": (False, 2),
    "cilk-the-wsq-tso": (True, 2),
    "chase-lev-sc": (False, 3),
    "chase-lev-tso": (False, 3),
    "chase-lev-ra": (True, 3),
}


@pytest.mark.parametrize("name", FIGURE_7)
def test_verdict_and_threads(name):
    is_robust, threads = FIGURE_7[name]
    file = FOLDER / f"{name}.tpl"
    program = load(file)
    assert len(program.threads) == threads
    assert expectations(file.read_text())["robust", "ra"] is is_robust
    answer = robust(program)
    assert answer.holds is is_robust
    assert answer.race is None
    assert answer.assertion is None
    if answer.witness is not None:
        replay(program, answer.witness)


def test_no_other_program_is_there():
    assert {file.stem for file in FOLDER.glob("*.tpl")} == set(FIGURE_7)
