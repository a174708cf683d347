"""Holding the engine's answer about a program against the definitions in `fencepost.models`."""

from typing import NamedTuple

from fencepost.analyses.robustness import robust
from fencepost.engine.search import REDUCED, Tactics
from fencepost.models import cpp20, rc20, sc
from fencepost.models.robustness import non_robustness_witness, not_robust_graph
from fencepost.models.witnesses import replay, replay_assertion, replay_race
from fencepost.program import Program
from fencepost.verdicts import NotRobust, Robust, RobustnessAnswer

RACES = {"ra": sc.races, "rc20": rc20.races, "cpp20": cpp20.races}


class Truth(NamedTuple):
    """What the definitions say about a program."""

    robust: bool
    race: bool
    failing_assertion: bool


def by_definition(program: Program, model: str, limit: int | None = None) -> Truth:
    """Raises `LimitReachedError` if there are more graphs than `limit`."""
    races = RACES[model](program, limit)
    # The models' graphs stop at a race; Theorem 5.1 does not.
    counterexample = non_robustness_witness if races else not_robust_graph
    robust = counterexample(program, model, limit) is None
    return Truth(robust, bool(races), bool(sc.findings(program)))


def check_against_definitions(
    program: Program,
    model: str = "ra",
    order: str = "breadth-first",
    tactics: Tactics = REDUCED,
    *,
    truth: Truth | None = None,
) -> RobustnessAnswer:
    """Fails unless verdict and findings are those of the definitions, and whatever is shown replays."""
    answer = robust(program, model, order=order, tactics=tactics)
    truth = truth or by_definition(program, model)
    assert isinstance(answer, Robust if truth.robust else NotRobust)
    if answer.witness is not None:
        replay(program, answer.witness, model)
    if answer.race is not None:
        replay_race(program, answer.race, model)
    if answer.assertion is not None:
        replay_assertion(program, answer.assertion, model)
    if answer.exhaustive:
        assert (answer.race is not None) == truth.race
        assert (answer.assertion is not None) == truth.failing_assertion
    return answer
