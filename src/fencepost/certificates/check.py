"""Is a certificate true? Small enough to be read, and apart from the search that wrote it.

Three things show that the program reaches no bad state under SRA, or in the same way under TSO
(`tso_states`):

1. every possible bad state is above a state of the basis;
2. no state of the basis is initial;
3. every possible predecessor of a state of the basis is above a state of the basis.

For suppose a run of opSRA ends in a bad state. Put in blocks (`blocks`), it ends with the same graph. That
matches the bad state, which is therefore possible, and so it matches one of the basis below it (1). One step
back, the graph matches a predecessor of that, which is possible, too, and so again one of the basis (3). In
the end the initial graph matches one, but all that it matches is initial, contrary to (2).

Why graphs match only possible states stands in `possible`; why the graph before a step matches a predecessor,
in `predecessors`, and when it matches the same state, in `blocks`. States of the basis that are not possible
match no graph, so nothing is asked of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fencepost.certificates.above import Above
from fencepost.certificates.bad import Bad
from fencepost.certificates.certificate import Certificate
from fencepost.certificates.spelling import Spelling, UnknownStateError
from fencepost.certificates.states import State, States
from fencepost.certificates.tso_states import TsoStates
from fencepost.models.tso import on_x86
from fencepost.program import Program
from fencepost.program.digest import program_digest


@dataclass(frozen=True)
class Checked:
    """The certificate is true; how many states, bad states and predecessors there were."""

    basis: int
    bad: int
    predecessors: int


@dataclass(frozen=True)
class Refuted:
    reason: str


def check(
    program: Program,
    certificate: Certificate,
    bad: Sequence[Bad],
    kept: Sequence[frozenset[str]] | None = None,
) -> Checked | Refuted:
    """Whether `certificate` shows that `program` reaches no state of `bad` under its model.

    `kept` names, for each thread, the registers on which the predicates of `bad` depend.
    """
    if certificate.model == "tso":
        program = on_x86(program)
    if certificate.program != program_digest(program):
        return Refuted("it is the certificate of another program")
    states_of = TsoStates if certificate.model == "tso" else States
    states = states_of(program, kept or [frozenset()] * len(program.threads))
    spelling = Spelling(states)
    basis: list[State] = []
    for place, state in enumerate(certificate.basis):
        try:
            basis.append(spelling.read(state))
        except UnknownStateError as error:
            return Refuted(f"state {place} of the basis is not one of the program: {error}")
    return _check(states, spelling, basis, bad)


def _check(states: States, spelling: Spelling, basis: list[State], bad: Sequence[Bad]) -> Checked | Refuted:
    above = Above(states, basis)
    bad_states = predecessors = 0
    for state in (state for some in bad for state in states.bad(some)):
        bad_states += 1
        if state not in above:
            return Refuted(f"a bad state is not above the basis: {spelling.shown(state)}")
    for place, state in enumerate(basis):
        if not states.is_possible(state):
            continue
        if states.is_initial(state):
            return Refuted(f"state {place} of the basis is initial: {spelling.shown(state)}")
        for thread, edge, before in states.steps_back(state):
            predecessors += 1
            if before not in above:
                name, step = states.program.threads[thread].name, spelling.shown_edge(edge)
                return Refuted(
                    f"from a state that is not above the basis, {name} gets to state {place} of it"
                    f" with {step}: {spelling.shown(before)}"
                )
    return Checked(len(basis), bad_states, predecessors)
