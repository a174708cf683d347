"""A swarm: many small searches of one program that forget states, each in an order of its own.

One search that forgets states looks at one part of a large program for long. Many that differ in the hash, in
how many bits they keep of a state, in their random choices and in how deep they go, look at different parts
(Holzmann, Joshi and Groce, "Swarm verification techniques", 2011). They can find a violation; that there is
none, no number of them can tell.

What a run does depends on the seed of the swarm and on its number alone, so any run can be done again.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from fencepost.engine.search import Tactics, Variation
from fencepost.verdicts import Answer, NotRobust, RobustnessAnswer, Stats, Swarm, SwarmRun, Unknown

DEFAULT_STATES = 1_000_000  # for one run

_BITS_PER_STATE = (2, 3, 4)
_DEEPEST = (None, None, 64, 256, 1024)  # some runs go back to early choices sooner


def variation(seed: int, run: int) -> Variation:
    """How a run differs from the others."""
    chance = random.Random(f"fencepost swarm {seed} {run}")
    return Variation(chance.getrandbits(64), chance.choice(_BITS_PER_STATE), chance.choice(_DEEPEST))


def tactics(seed: int, run: int, bitstate_mb: float) -> Tactics:
    return Tactics(bitstate=True, bitstate_mb=bitstate_mb, variation=variation(seed, run))


def summed(answers: Sequence[RobustnessAnswer], seed: int, first_run: int) -> RobustnessAnswer:
    """What the runs say together: answers in the order of their numbers, from `first_run` on.

    Of several violations, races, failing assertions or deadlocks that of the lowest run counts.
    """
    runs = tuple(
        _run(answer, seed, run) for run, answer in enumerate(answers, first_run) if answer.stats.states > 0
    )
    found = next((answer for answer in answers if isinstance(answer, NotRobust)), None)
    common = {
        "file": answers[0].file,
        "question": answers[0].question,
        "model": answers[0].model,
        "stats": sum((run.stats for run in runs), Stats()),
        **{
            what: next((getattr(answer, what) for answer in answers if what in answer.parts_found), None)
            for what in ("race", "assertion", "deadlock")
        },
        "exhaustive": False,
        "warnings": answers[0].warnings,
        "swarm": Swarm(seed=seed, wanted=len(answers), runs=runs),
    }
    if found is not None:
        return NotRobust(**common, witness=found.witness)  # type: ignore[arg-type]
    stopped = any(isinstance(answer, Unknown) and answer.interrupted for answer in answers)
    why = _why(answers, len(runs), stopped)
    return Unknown(**common, why=why, interrupted=stopped)  # type: ignore[arg-type]


def _run(answer: Answer, seed: int, run: int) -> SwarmRun:
    varied = variation(seed, run)
    return SwarmRun(
        run=run,
        bits_per_state=varied.bits_per_state,
        deepest=varied.deepest,
        stats=answer.stats,
        why=answer.why if isinstance(answer, Unknown) else None,
    )


def _why(answers: Sequence[Answer], runs: int, stopped: bool) -> str:
    """Why the swarm has found nothing."""
    nothing = f"{_count(runs)} found no violation"
    if stopped:
        return f"the swarm was interrupted; {nothing}"
    lost = [answer.why for answer in answers if answer.stats.states == 0 and isinstance(answer, Unknown)]
    if lost:
        return f"{nothing}, and {_count(len(lost))} did nothing: {lost[0]}"
    return f"{nothing}, but a swarm can miss states"


def _count(runs: int) -> str:
    return "1 run" if runs == 1 else f"{runs:,} runs"
