"""Holding the engine's answer about a program against the definitions in `fencepost.models`."""

from fencepost.analyses.robustness import robust
from fencepost.engine.search import REDUCED, Tactics
from fencepost.models import rc20, sc
from fencepost.models.robustness import non_robustness_witness, not_robust_graph
from fencepost.models.witnesses import replay, replay_assertion, replay_race
from fencepost.program import Program
from fencepost.verdicts import NotRobust, Robust, RobustnessAnswer

RACES = {"ra": sc.races, "rc20": rc20.races}


def check_against_definitions(
    program: Program, model: str = "ra", order: str = "breadth-first", tactics: Tactics = REDUCED
) -> RobustnessAnswer:
    """Fails unless verdict and findings are those of the definitions, and whatever is shown replays."""
    answer = robust(program, model, order=order, tactics=tactics)
    races = RACES[model](program)
    # The models' graphs stop at a race; Theorem 5.1 does not.
    definition = non_robustness_witness if races else not_robust_graph
    assert isinstance(answer, Robust if definition(program, model) is None else NotRobust)
    if answer.witness is not None:
        replay(program, answer.witness, model)
    if answer.race is not None:
        replay_race(program, answer.race, model)
    if answer.assertion is not None:
        replay_assertion(program, answer.assertion, model)
    if answer.exhaustive:
        assert (answer.race is not None) == bool(races)
        assert (answer.assertion is not None) == bool(sc.findings(program))
    return answer
