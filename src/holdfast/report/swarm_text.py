"""What a swarm has seen of a program, in words: how many runs, and how sure they are of having forgotten
little; and which run found something, and how to do it again."""

from __future__ import annotations

from msgspec import UNSET

from holdfast.report.printable import printable
from holdfast.verdicts import Answer, Swarm, SwarmRun


def summary(swarm: Swarm, answer: Answer) -> str:
    """The sum of a swarm, as one paragraph."""
    done = f"{len(swarm.runs):,} of {swarm.wanted:,} runs of the swarm with seed {swarm.seed}"
    found = next((run for run in swarm.runs if run.why is None), None)
    if found is not None:
        return (
            f"Found by run {found.run}; {done} were at work. To do it again: `holdfast swarm --model "
            f"{answer.model} --seed {swarm.seed} --first-run {found.run} --runs 1 {printable(answer.file)}`, "
            "with the same limits."
        )
    if not swarm.runs:
        return f"{done} were at work."
    worst = max(swarm.runs, key=_missed)
    return f"{done} were at work. {_sureness(worst)}"


def _sureness(worst: SwarmRun) -> str:
    used = f"At most {_used(worst):.1%} of the bits of a run were used"
    chance = _missed(worst)
    if chance < 1e-9:
        return f"{used}: hardly any state that was met was taken for another."
    return (
        f"{used}: of the states that it met, a run has taken fewer than 1 in {1 / chance:,.0f} for another."
    )


def _missed(run: SwarmRun) -> float:
    """The chance that a new state, at the end of the run, was taken for one known: all its bits were set."""
    return _used(run) ** run.bits_per_state


def _used(run: SwarmRun) -> float:
    return 0.0 if run.stats.bits_used is UNSET else run.stats.bits_used
