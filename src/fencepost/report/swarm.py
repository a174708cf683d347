"""What a swarm did, in words: how many runs took part, how much they forgot, and which found something."""

from __future__ import annotations

from msgspec import UNSET

from fencepost.report.printable import printable
from fencepost.verdicts import Answer, Swarm, SwarmRun


def summary(swarm: Swarm, answer: Answer) -> str:
    """All runs of a swarm in one paragraph."""
    seed = f"the swarm with seed {swarm.seed}"
    part = f"{len(swarm.runs):,} of {swarm.wanted:,} runs took part"
    found = next((run for run in swarm.runs if run.why is None), None)
    if found is not None:
        return (
            f"Run {found.run} of {seed} found this; {part}. To do it again, with the same limits: "
            f"`fencepost swarm --model {answer.model} --seed {swarm.seed} --first-run {found.run} --runs 1 "
            f"{printable(answer.file)}`"
        )
    forgotten = _forgotten(max(swarm.runs, key=_missed)) if swarm.runs else ""
    return f"In {seed}, {part}. {forgotten}"


def _forgotten(worst: SwarmRun) -> str:
    used = f"At most {_used(worst):.1%} of the bits of a run were used"
    chance = _missed(worst)
    if chance < 1e-9:
        return f"{used}: hardly any state that was met was taken for another."
    return f"{used}: on average fewer than 1 in {1 / chance:,.0f} states that were met was taken for another."


def _missed(run: SwarmRun) -> float:
    """The chance that a new state, at the end of the run, was taken for one known: all its bits were set."""
    return _used(run) ** run.bits_per_state


def _used(run: SwarmRun) -> float:
    return 0.0 if run.stats.bits_used is UNSET else run.stats.bits_used
