"""How far a search has come, in one sentence."""

from __future__ import annotations

from fencepost.verdicts import Answer, Persistent, RaceFree, Racy, Safe, Unsafe


def searched(answer: Answer) -> str:
    """How far an answer in which neither a race nor a failing assertion was found has looked for them."""
    if isinstance(answer, Safe | Unsafe):
        spent = ", ".join(f"{name} {seconds:.2f}" for name, seconds in answer.spent.items())
        return f"Answered by {answer.engine}: {answer.because}. Seconds spent: {spent}."
    if isinstance(answer, RaceFree):
        return "Any two writes to a location are ordered in every run, so RA reaches no more states than SRA."
    if isinstance(answer, Racy):
        return ""
    if answer.exhaustive:
        return "No data race, no failing assertion."
    if isinstance(answer, Persistent) and answer.flattened is not None:
        return (
            f"Proven by flattening with k = {answer.flattened}. Data races and failing assertions were not "
            "searched for to the end."
        )
    return "The search stopped here; it may not have come to data races and failing assertions."
