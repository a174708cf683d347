"""The answers to questions about programs in files: frozen values with one JSON form.

An answer is `Robust` or `NotRobust`, `Persistent` or `Fragile`, `Safe` or `Unsafe`, `RaceFree` or `Racy`, or
`Unknown`. In Python its class says which; in JSON `question` and `verdict` do. What it shows is in
`witnesses`. The answers to `fix`, `run`, `check` and `outcomes` are in modules of their own, and `union` has
all of them.
`docs/json.md` documents the JSON form; `SCHEMA` grows by one when a field changes its meaning or goes away.
"""

from __future__ import annotations

from typing import ClassVar, Literal

import msgspec

from fencepost import notebook
from fencepost.memory_models import EXIT_HOLDS, EXIT_UNDECIDED, EXIT_VIOLATED
from fencepost.verdicts.witnesses import AnyWitness, Assertion, DeadlockState, Race

SCHEMA = 2

Question = Literal["robust", "persist", "verify", "races"]
AskedOfFiles = Question | Literal["outcomes"]


class Stats(msgspec.Struct, frozen=True, kw_only=True):
    """What a search took. `bits_used`, where it forgot states, is the share of its bits that were set.
    `compressed_after`, where it ran short of memory, is how many states it had when it compressed them;
    `disk_mb`, where states were kept in files, is what these took at most."""

    states: int = 0
    transitions: int = 0
    seconds: float = 0.0
    peak_memory_mb: float = 0.0
    bits_used: float | msgspec.UnsetType = msgspec.UNSET
    compressed_after: int | msgspec.UnsetType = msgspec.UNSET
    disk_mb: float | msgspec.UnsetType = msgspec.UNSET

    def __add__(self, more: Stats) -> Stats:
        """What two searches took, one after the other."""
        return Stats(
            states=self.states + more.states,
            transitions=self.transitions + more.transitions,
            seconds=round(self.seconds + more.seconds, 6),
            peak_memory_mb=max(self.peak_memory_mb, more.peak_memory_mb),
        )


class SwarmRun(msgspec.Struct, frozen=True, kw_only=True):
    """One search of a swarm: how it differed from the others, what it took, and why it ended (null: with a
    violation)."""

    run: int
    bits_per_state: int
    deepest: int | None
    stats: Stats
    why: str | None


class Swarm(msgspec.Struct, frozen=True, kw_only=True):
    """A swarm of `wanted` searches, and those of them that did something."""

    seed: int
    wanted: int
    runs: tuple[SwarmRun, ...]


class AnyNumber(msgspec.Struct, frozen=True, kw_only=True):
    """How a program was searched in which threads stand for any number of copies of themselves.

    A verdict that holds is for every number of copies. `views` of `k` threads were collected for it. `copies`
    says how many threads of each function there are in what is shown; where nothing is shown, it is the
    largest number that was searched exactly, 0 if there was no need to.
    """

    copies: dict[str, int]
    k: int
    views: int


class ModelVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """What `verify` says of one model, where it asks about all: the verdict, or that the model does not take
    the program, and the reason. The answer itself is that of the worst one of those that are `required`."""

    model: str
    verdict: Literal["safe", "unsafe", "unknown", "not-asked"]
    because: str
    required: bool = False
    seconds: float = 0.0


class Answer(msgspec.Struct, frozen=True, kw_only=True, tag_field="verdict"):
    """What every answer has. `exhaustive` says whether all interleavings were searched for a `race` and an
    `assertion`, and where the question is "robust" or "persist" also for a `deadlock`, which is a warning: it
    changes neither the verdict nor the exit code.

    `criterion` says what the question is about where a model has several: "robust" for execution graphs (RA,
    RC20, C++20) and for traces (TSO), "observational" for the values alone that a program uses, "persistent"
    and "trf", freedom from triangular races, for TSO, and of repairs "either" of "robust" and "persistent",
    where the verdict says which; "safe" for safety, "deadlock-free" for safety with deadlocks among the bad
    states, "data-race-free" for data races and "write-write-race-free" for write/write races.
    """

    holds: ClassVar[bool | None]  # whether the program has the property asked for; None: undecided

    file: str
    question: str
    model: str
    criterion: str = "robust"
    stats: Stats
    witness: AnyWitness | None = None
    race: Race | None = None
    assertion: Assertion | None = None
    deadlock: DeadlockState | None = None
    exhaustive: bool = True
    any_number: AnyNumber | msgspec.UnsetType = msgspec.UNSET
    warnings: tuple[str, ...] = ()
    schema: int = SCHEMA

    @property
    def verdict(self) -> str:
        return str(self.__struct_config__.tag)

    @property
    def rules_out(self) -> bool:
        """Whether there is no data race and no failing assertion if none is shown. A proof of robustness for
        every number of threads looks for both; it is not `exhaustive` because deadlocks were not looked for.
        """
        proven = self.any_number is not msgspec.UNSET and self.question == "robust" and self.holds is True
        return self.exhaustive or proven

    @property
    def parts_found(self) -> dict[str, AnyWitness | Race | Assertion | DeadlockState]:
        """What was found, by the name of its field: the witness first."""
        names = ("witness", "race", "assertion", "deadlock")
        return {name: part for name in names if (part := getattr(self, name)) is not None}

    def _repr_html_(self) -> str:
        return notebook.answer_html(self)

    @property
    def exit_code(self) -> int:
        if self.holds is False or self.race is not None or self.assertion is not None:
            return EXIT_VIOLATED
        return EXIT_HOLDS if self.holds else EXIT_UNDECIDED


class Robust(Answer, frozen=True, kw_only=True, tag="robust"):
    holds = True
    question: Literal["robust"]


class NotRobust(Answer, frozen=True, kw_only=True, tag="not-robust"):
    """`swarm` is there where many searches looked, and not one."""

    holds = False
    question: Literal["robust"]
    swarm: Swarm | msgspec.UnsetType = msgspec.UNSET


class Persistent(Answer, frozen=True, kw_only=True, tag="persistent"):
    """`flattened` says how many steps of other threads a proof by flattening kept, 0 if each thread was safe
    whatever the others do; None: the search was exact."""

    holds = True
    question: Literal["persist"]
    flattened: int | None = None


class Fragile(Answer, frozen=True, kw_only=True, tag="fragile"):
    holds = False
    question: Literal["persist"]


class Safe(Answer, frozen=True, kw_only=True, tag="safe"):
    """No run reaches a bad state. `engine` gave the answer, for the reason `because`; `spent` says how many
    seconds each engine ran. `basis` is the number of minimal states of the inductive invariant, where the
    backward search found one. `models` is there where all models were asked."""

    holds = True
    question: Literal["verify"]
    engine: str
    because: str
    spent: dict[str, float] = {}
    basis: int | None = None
    models: tuple[ModelVerdict, ...] | msgspec.UnsetType = msgspec.UNSET


class Unsafe(Answer, frozen=True, kw_only=True, tag="unsafe"):
    """A run reaches a bad state: the witness. `engine`, `because`, `spent` and `models` are as in `Safe`."""

    holds = False
    question: Literal["verify"]
    engine: str
    because: str
    spent: dict[str, float] = {}
    models: tuple[ModelVerdict, ...] | msgspec.UnsetType = msgspec.UNSET


class RaceFree(Answer, frozen=True, kw_only=True, tag="race-free"):
    """In every run happens-before orders any two accesses to a non-atomic cell of which one writes, or by the
    criterion "write-write-race-free" any two writes to a cell. The other fields are as in `Safe`."""

    holds = True
    question: Literal["races"]
    engine: str
    because: str
    spent: dict[str, float] = {}
    basis: int | None = None


class Racy(Answer, frozen=True, kw_only=True, tag="racy"):
    """Two accesses of a run are not ordered. The witness ends where both threads are about to do them, for a
    data race; for a write/write race with the later write. A data race that robustness found is the `race`.
    `engine`, `because` and `spent` are as in `Safe`."""

    holds = False
    question: Literal["races"]
    engine: str
    because: str
    spent: dict[str, float] = {}


class Unknown(Answer, frozen=True, kw_only=True, tag="unknown"):
    """Not decided within the limits; `why` says which limit, or that the user stopped the search. By the
    criterion "observational" it may also say that robustness was not shown, with the run as the witness.
    `spent` says how many seconds each engine ran, where several took turns. `swarm` is as in `NotRobust`, and
    `models` as in `Safe`."""

    holds = None
    question: Question
    why: str
    interrupted: bool = False
    spent: dict[str, float] = {}
    swarm: Swarm | msgspec.UnsetType = msgspec.UNSET
    models: tuple[ModelVerdict, ...] | msgspec.UnsetType = msgspec.UNSET


RobustnessAnswer = Robust | NotRobust | Unknown
PersistenceAnswer = Persistent | Fragile | Unknown
SafetyAnswer = Safe | Unsafe | Unknown
RaceAnswer = RaceFree | Racy | Unknown
StaticAnswer = RobustnessAnswer | PersistenceAnswer | SafetyAnswer | RaceAnswer
