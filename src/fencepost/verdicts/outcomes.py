"""The answers to `outcomes`: how a program can end, and which memory models allow it.

The verdict is about the final condition of the program. It is `possible` if some model that was asked allows
a final state that the condition looks for (`program.conditions`), `impossible` if none does, `listed` if the
program has no condition, and `unknown` if a limit was reached first.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from fencepost.memory_models import EXIT_VIOLATED
from fencepost.verdicts.answers import Answer
from fencepost.verdicts.witnesses import BadState


class UnderModel(msgspec.Struct, frozen=True, kw_only=True):
    """What there is to say about one model, a column of the table.

    `refused` says why the model does not take the program; then nothing was asked. `possible` says whether
    the model allows a final state that the condition looks for; None: there is no condition, or it is
    undecided. If `complete` is false, `why` says what was not looked at. With a data race, `race`, the
    program has no meaning under the model, so that every final state is allowed. `failure` is the first
    failing assertion that was met. `graphs` are the execution graphs in which all threads have ended,
    `blocked` those in which a thread waits for ever.
    """

    model: str
    refused: str = ""
    possible: bool | None = None
    complete: bool = True
    why: str = ""
    race: BadState | None = None
    failure: BadState | None = None
    graphs: int = 0
    blocked: int = 0
    seconds: float = 0.0


class FinalState(msgspec.Struct, frozen=True, kw_only=True):
    """One way to end, a row of the table: the values by the names of the answer, which models allow it, and
    whether the condition looks for it."""

    number: int  # from 1
    values: tuple[int, ...]
    under: dict[str, Literal["allowed", "forbidden", "unknown"]]
    sought: bool = False


class OutcomesAnswer(Answer, frozen=True, kw_only=True):
    """`threads` are the names of the threads. `names` are the registers (`thread:register`) and cells that
    are looked at. `condition` is the one of the program as text, empty if there is none. `unroll` says how
    often a thread did one access at most, and `loops` whether the program has loops at all. `explained` is
    the number of the final state that was to be explained. The `witness` is an execution graph that ends in
    it, or else in the first one that the condition looks for, and `witness_model` the first model that has
    it."""

    question: Literal["outcomes"]
    threads: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    outcomes: tuple[FinalState, ...] = ()
    models: tuple[UnderModel, ...] = ()
    condition: str = ""
    loops: bool = False
    unroll: int = 1
    explained: int | None = None
    witness_model: str = ""

    @property
    def fails(self) -> bool:
        """Whether an assertion fails under some model. It is no finding, so no baseline knows of it."""
        return any(column.failure is not None for column in self.models)

    @property
    def exit_code(self) -> int:
        if self.fails or any(column.race is not None for column in self.models):
            return EXIT_VIOLATED
        return super().exit_code


class Listed(OutcomesAnswer, frozen=True, kw_only=True, tag="listed"):
    holds = True


class Impossible(OutcomesAnswer, frozen=True, kw_only=True, tag="impossible"):
    holds = True


class Possible(OutcomesAnswer, frozen=True, kw_only=True, tag="possible"):
    holds = False


class OutcomesUnknown(OutcomesAnswer, frozen=True, kw_only=True, tag="unknown"):
    """`why` and `interrupted` are as in `Unknown`; what was found before that is in the table."""

    holds = None
    why: str
    interrupted: bool = False


AnyOutcomesAnswer = Listed | Impossible | Possible | OutcomesUnknown
