"""A search backwards from bad states, in the plainest way: it writes the certificates that the tests check.

It takes its steps from `fencepost.certificates`, so that comparing its answers with a definition tests the
rules that the check relies on: the prunings, by what is found although they cut it off, and the steps back,
by what they find although it is not there.
"""

from __future__ import annotations

from collections.abc import Sequence

from fencepost.certificates import Bad, Certificate
from fencepost.certificates.above import Above
from fencepost.certificates.certificate import CertifiedModel
from fencepost.certificates.spelling import Spelling
from fencepost.certificates.states import State, States
from fencepost.certificates.tso_states import TsoStates
from fencepost.models.tso import on_x86
from fencepost.program import Program


class TooManyStatesError(Exception):
    pass


def search(
    program: Program,
    bad: Sequence[Bad],
    kept: Sequence[frozenset[str]] | None = None,
    most: int = 20_000,
    model: CertifiedModel = "sra",
) -> Certificate | None:
    """A certificate that no state of `bad` is reachable, or None if one is."""
    if model == "tso":
        program = on_x86(program)
    states_of = TsoStates if model == "tso" else States
    states = states_of(program, kept or [frozenset()] * len(program.threads))
    above = Above(states)
    basis: list[State] = []
    frontier = [state for some in bad for state in states.bad(some)]
    while frontier:
        state = frontier.pop(0)
        if state in above:
            continue
        if states.is_initial(state):
            return None
        if len(basis) == most:
            raise TooManyStatesError
        above.add(state)
        basis.append(state)
        frontier += [step.state for step in states.steps_back(state)]
    minimal = tuple(map(Spelling(states).write, _minimal(states, basis)))
    return Certificate.of(program, "test", minimal, model)


def _minimal(states: States, basis: list[State]) -> list[State]:
    """Later states can be below earlier ones, never above."""
    below = Above(states)
    minimal = []
    for state in reversed(basis):
        if state not in below:
            minimal.append(state)
            below.add(state)
    return minimal
