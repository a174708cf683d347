"""herd7 lists the final states of litmus tests. It could not be had here: this is from its manual alone."""

from __future__ import annotations

import re
from pathlib import Path

from tests.peers.checkers import run

# Ours, and its own. RC11 forbids nothing that C++20 allows, but for release sequences: there a later store of
# the same thread belongs to one, in C++20 it does not.
MODELS = {"cpp20": "rc11.cat", "sc": "sc.cat"}
_VALUE = re.compile(r"\[?([\w:]+)\]?=(-?\d+);")

State = frozenset[tuple[str, int]]


def final_states(test: Path, model: str) -> set[State]:
    return states_in(run(test.parent, "herd7", "-model", MODELS[model], test.name))


def states_in(told: str) -> set[State]:
    """The states that its answer lists, after the line `States N`."""
    lines = told.splitlines()
    place = next(n for n, line in enumerate(lines) if line.startswith("States "))
    count = int(lines[place].split()[1])
    states = [_VALUE.findall(line) for line in lines[place + 1 : place + 1 + count]]
    return {frozenset((name, int(value)) for name, value in state) for state in states}
