"""Holding the engine's answer about a program against the definitions in `holdfast.models`."""

from holdfast.analyses.robustness import robust
from holdfast.models import sc
from holdfast.models.robustness import non_robustness_witness, not_robust_graph
from holdfast.models.witnesses import replay, replay_assertion, replay_race
from holdfast.program import Program
from holdfast.verdicts import NotRobust, Robust, RobustnessAnswer


def check_against_definitions(program: Program, order: str = "breadth-first") -> RobustnessAnswer:
    """Fails unless verdict and findings are those of the definitions, and whatever is shown replays."""
    answer = robust(program, order=order)
    races = sc.races(program)
    # RAG+NA stops at a race; Theorem 5.1 does not.
    definition = non_robustness_witness if races else not_robust_graph
    assert isinstance(answer, Robust if definition(program) is None else NotRobust)
    if answer.witness is not None:
        replay(program, answer.witness)
    if answer.race is not None:
        replay_race(program, answer.race)
    if answer.assertion is not None:
        replay_assertion(program, answer.assertion)
    if answer.exhaustive:
        assert (answer.race is not None) == bool(races)
        assert (answer.assertion is not None) == bool(sc.findings(program))
    return answer
