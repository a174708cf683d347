"""What an answer is says how the process ends, and what was found besides says so too."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from fencepost.memory_models import EXIT_HOLDS, EXIT_UNDECIDED, EXIT_VIOLATED
from fencepost.verdicts import union
from fencepost.verdicts.answers import Answer, Stats
from fencepost.verdicts.check import CheckAnswer
from fencepost.verdicts.program_changes import ChangesAnswer
from fencepost.verdicts.run import RunAnswer

# By verdict; "robust" of a repair says that the program is robust now.
ENDS = {
    EXIT_HOLDS: ["robust", "persistent", "safe", "race-free", "listed", "impossible", "not-seen"],
    EXIT_VIOLATED: ["not-robust", "fragile", "unsafe", "racy", "possible"],
    EXIT_UNDECIDED: ["unknown"],
}
END_OF = {verdict: code for code, verdicts in ENDS.items() for verdict in verdicts}


def _classes(of: type = Answer) -> Iterator[type[Answer]]:
    assert union  # all of them are known now
    below = of.__subclasses__()
    if not below:
        yield of
    for one in below:
        yield from _classes(one)


CLASSES = sorted(set(_classes()), key=lambda one: f"{one.__module__} {one.__name__}")
# Of runs and checks the findings decide, not the class.
BY_VERDICT = [kind for kind in CLASSES if not issubclass(kind, RunAnswer | CheckAnswer)]


def made(kind: type[Answer], **given: Any) -> Answer:
    """An answer of the kind, with nothing in it but what is given."""
    needed = [field.name for field in msgspec.structs.fields(kind) if field.required]
    return kind(**{**dict.fromkeys(needed, ()), **given})


def test_there_are_all() -> None:
    assert len(CLASSES) > 25
    assert {kind.__struct_config__.tag for kind in CLASSES} == END_OF.keys()


@pytest.mark.parametrize("kind", BY_VERDICT, ids=lambda kind: kind.__name__)
def test_the_verdict_says_how_the_process_ends(kind: type[Answer]) -> None:
    answer = made(kind)
    assert answer.exit_code == END_OF[answer.verdict]


@pytest.mark.parametrize("found", ["race", "assertion"])
@pytest.mark.parametrize("verdict", ["robust", "unknown", "persistent", "safe"])
def test_what_is_found_besides_is_a_violation(verdict: str, found: str) -> None:
    for kind in CLASSES:
        if kind.__struct_config__.tag == verdict and kind.__module__.endswith(".answers"):
            assert made(kind, **{found: ()}).exit_code == EXIT_VIOLATED
            assert made(kind, deadlock=()).exit_code == END_OF[verdict]


def test_a_repair_does_not_hide_other_failures_of_the_program() -> None:
    for kind in CLASSES:
        if issubclass(kind, ChangesAnswer) and kind.holds:
            assert made(kind, failures=("deadlock",)).exit_code == EXIT_VIOLATED


def test_only_a_proof_for_every_number_rules_out_what_was_not_looked_for() -> None:
    (robust,) = (kind for kind in CLASSES if kind.__name__ == "Robust")
    (unsafe,) = (
        kind for kind in CLASSES if kind.__name__ == "Unknown" and kind.__module__.endswith(".answers")
    )
    assert made(robust, exhaustive=True).rules_out
    assert not made(robust, question="robust", exhaustive=False).rules_out
    assert made(robust, question="robust", exhaustive=False, any_number=()).rules_out
    assert not made(robust, question="verify", exhaustive=False, any_number=()).rules_out
    assert not made(unsafe, question="robust", exhaustive=False, any_number=()).rules_out


def test_two_searches_take_as_much_memory_as_the_larger_one() -> None:
    more, less = (Stats(states=n, transitions=n, seconds=n, peak_memory_mb=n) for n in (5, 3))
    for both in (more + less, less + more):
        assert (both.states, both.transitions, both.seconds, both.peak_memory_mb) == (8, 8, 8, 5)
