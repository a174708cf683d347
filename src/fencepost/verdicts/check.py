"""The answers to `check`: all executions of a compiled program, or as many as the limits allowed.

The verdict is `robust` only if every execution was run and none has an access that can leave sequential
consistency. Deadlocks and failures of the program's own are findings too, whatever the verdict.
"""

from __future__ import annotations

from typing import Literal

from fencepost.memory_models import EXIT_HOLDS, EXIT_UNDECIDED, EXIT_VIOLATED
from fencepost.verdicts.run import Trouble, WatchedAnswer


class CheckAnswer(WatchedAnswer, frozen=True, kw_only=True):
    """As an answer to `run`, where `runs` is the number of executions, no two of them with the same graph.

    `failures` are executions in which the program failed: an assertion, a crash, an exit code. `given_up`
    counts executions that were begun and led to nothing new, `cut` those that were not followed to their end.
    `share` is the part of all executions that was run; unless it is 1, it is an estimate, mostly too high.
    `untried` names what has other outcomes that were not tried: "draws", "time-limits", "clocks", "outside",
    "signals", "many-threads", "initialisations", "parts" (of memory that is waited for). `test` is the name
    of the test that was run, empty if the program is not one of tests.
    """

    question: Literal["check"]
    test: str = ""
    failures: tuple[Trouble, ...] = ()
    given_up: int = 0
    cut: int = 0
    share: float = 0.0
    untried: tuple[str, ...] = ()

    @property
    def exit_code(self) -> int:
        if self.findings or self.deadlocks or self.failures:
            return EXIT_VIOLATED
        return EXIT_UNDECIDED if self.holds is None else EXIT_HOLDS  # without those of a baseline


class AllRobust(CheckAnswer, frozen=True, kw_only=True, tag="robust"):
    holds = True


class SomeNotRobust(CheckAnswer, frozen=True, kw_only=True, tag="not-robust"):
    holds = False


class CheckUnknown(CheckAnswer, frozen=True, kw_only=True, tag="unknown"):
    holds = None
    why: str
    interrupted: bool = False


AnyCheckAnswer = AllRobust | SomeNotRobust | CheckUnknown
