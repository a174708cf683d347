"""The answers fencepost gives: frozen values with one JSON form.

An answer is `Robust` or `NotRobust`, `Persistent` or `Fragile`, `Safe` or `Unsafe`, `RaceFree` or `Racy`, or
`Unknown`, told apart by `verdict` in Python and in JSON alike. What a run shows is an execution graph of
`Event`s; a `Witness` is such a graph with the cycle that sequential consistency forbids. Every face
(terminal, JSON, SVG) prints these values and nothing else. `docs/json.md` documents the JSON form; `SCHEMA`
grows by one when a field changes its meaning or goes away.
"""

from __future__ import annotations

from typing import Literal

import msgspec

SCHEMA = 1


class Event(msgspec.Struct, frozen=True, kw_only=True):
    """One access or fence of a run. `id` is its index in the run; an initial write has no thread.

    An SC fence is an RMW of the reserved cell `fence`; other fences, in runs of models that know them, have
    no cell.
    """

    id: int
    thread: int | None
    kind: Literal["R", "W", "RMW", "F"]
    cell: str
    read: int | None = None
    written: int | None = None
    mode: str = ""
    line: int = 0
    column: int = 0
    text: str = ""


class Edge(msgspec.Struct, frozen=True):
    """An edge of an execution graph between two event ids; `so` is the order in which writes reach memory."""

    source: int
    target: int
    relation: Literal["po", "rf", "mo", "fr", "so"]


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """A run under sequential consistency: the initial writes, then the accesses as they happened."""

    threads: tuple[str, ...]
    events: tuple[Event, ...]


class Witness(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag="graph"):
    """An execution graph that the model allows and sequential consistency does not.

    All events but the last form a run under sequential consistency. The last one is the access that leaves
    it: it reads from, or is placed in modification order right after, `stale`, although it comes after
    `latest`, the newest write to the same cell, in every sequentially consistent order. `edges` holds po, rf
    and mo between neighbours and the fr edges to the next newer write (none from an RMW, which is that write
    itself). `cycle` is closed: each edge starts where the one before it ended, and the last one ends where
    the first one started. `unordered` are the edges of the cycle that no happens-before of the model covers:
    more ordering at one of these places is what would break the cycle.
    """

    threads: tuple[str, ...]
    events: tuple[Event, ...]
    stale: int
    latest: int
    edges: tuple[Edge, ...]
    cycle: tuple[Edge, ...]
    unordered: tuple[Edge, ...] = ()

    @property
    def access(self) -> Event:
        return self.events[-1]

    def _repr_svg_(self) -> str:
        from fencepost.report.html.notebook import witness_svg

        return witness_svg(self)


class Delay(msgspec.Struct, frozen=True):
    """The event `write` stays in its thread's store buffer until the event `until` has happened."""

    write: int
    until: int


class TsoWitness(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag="store-buffers"):
    """A run under TSO that no run under sequential consistency matches.

    `events` are the initial writes, then the accesses as they happened. A write reaches memory at once,
    except those in `delayed`, which do so in the order given, after the last event. The first of them is
    `write`: it waits in its thread's buffer while `read`, a later read of the same thread, takes its value
    from memory; `other` is the access of another thread that shows it. `edges` and `cycle` are as in
    `Witness`, with writes in the order in which they reach memory.
    """

    threads: tuple[str, ...]
    events: tuple[Event, ...]
    delayed: tuple[Delay, ...]
    write: int
    read: int
    other: int
    edges: tuple[Edge, ...]
    cycle: tuple[Edge, ...]

    def _repr_svg_(self) -> str:
        from fencepost.report.html.notebook import witness_svg

        return witness_svg(self)


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """Where a thread stands, with the values of registers that matter there."""

    thread: int
    line: int
    column: int
    text: str
    label: str = ""
    registers: dict[str, int] = {}


class BadState(msgspec.Struct, frozen=True, kw_only=True):
    """What is wrong where a run ends: which threads stand where, for a final state the memory, and for a
    write/write race the ids of the two writes, the earlier one first."""

    kind: Literal[
        "assertion",
        "division-by-zero",
        "index-out-of-range",
        "error-label",
        "mutex",
        "bad",
        "final",
        "write-race",
    ]
    places: tuple[Place, ...] = ()
    memory: dict[str, int] = {}
    writes: tuple[int, ...] = ()


class SafetyWitness(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag="run-to-bad"):
    """A run to a bad state, as an execution graph.

    `events` are the initial writes, then the accesses in an order in which the model can do them: each write
    comes last in the modification order of its cell. `edges` are as in `Witness`. `cycle` shows, as there,
    that sequential consistency does not have the run; it is empty where it has.
    """

    threads: tuple[str, ...]
    events: tuple[Event, ...]
    edges: tuple[Edge, ...]
    cycle: tuple[Edge, ...]
    bad: BadState

    def _repr_svg_(self) -> str:
        from fencepost.report.html.notebook import witness_svg

        return witness_svg(self)


class Race(msgspec.Struct, frozen=True, kw_only=True):
    """Two accesses to one non-atomic cell, at least one a write, that nothing orders, and the run to them.

    `second` is the last event of the run; `first` is the one before it, or under RC20 any earlier one.
    """

    cell: str
    first: int
    second: int
    run: Run


class Assertion(msgspec.Struct, frozen=True, kw_only=True):
    """A place where the program itself goes wrong under sequential consistency, and the run to it.

    `registers` has the values of those that the failing instruction reads.
    """

    kind: Literal["assertion", "division-by-zero", "index-out-of-range"]
    thread: int
    line: int
    column: int
    text: str
    registers: dict[str, int]
    run: Run


class Stats(msgspec.Struct, frozen=True, kw_only=True):
    """What a search took. `bits_used`, where it forgot states, is the share of its bits that were set."""

    states: int = 0
    transitions: int = 0
    seconds: float = 0.0
    peak_memory_mb: float = 0.0
    bits_used: float | msgspec.UnsetType = msgspec.UNSET

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


class Answer(msgspec.Struct, frozen=True, kw_only=True, tag_field="verdict"):
    """What every answer has. `exhaustive`: were `race` and `assertion` searched for to the end?

    `criterion` says what the question is about where a model has several: "robust" for execution graphs (RA,
    RC20) and for traces (TSO), "persistent" and "trf", freedom from triangular races, for TSO; "safe" for
    safety and "race-free" for write/write races.
    """

    file: str
    question: str
    model: str
    criterion: str = "robust"
    stats: Stats
    witness: Witness | TsoWitness | SafetyWitness | None = None
    race: Race | None = None
    assertion: Assertion | None = None
    exhaustive: bool = True
    warnings: tuple[str, ...] = ()
    schema: int = SCHEMA

    @property
    def verdict(self) -> str:
        return str(self.__struct_config__.tag)

    def _repr_html_(self) -> str:
        from fencepost.report.html.notebook import answer_html

        return answer_html(self)

    @property
    def holds(self) -> bool | None:
        """Whether the property asked for holds; None if undecided."""
        raise NotImplementedError

    @property
    def exit_code(self) -> int:
        """0 the property holds, 1 something is wrong with the program, 3 undecided."""
        if self.holds is False or self.race is not None or self.assertion is not None:
            return 1
        return 0 if self.holds else 3


class Robust(Answer, frozen=True, kw_only=True, tag="robust"):
    @property
    def holds(self) -> bool:
        return True


class NotRobust(Answer, frozen=True, kw_only=True, tag="not-robust"):
    """`swarm` is there where many searches looked, and not one."""

    swarm: Swarm | msgspec.UnsetType = msgspec.UNSET

    @property
    def holds(self) -> bool:
        return False


class Persistent(Answer, frozen=True, kw_only=True, tag="persistent"):
    """`flattened` says how many steps of other threads a proof by flattening kept, 0 if each thread was safe
    whatever the others do; None: the search was exact."""

    flattened: int | None = None

    @property
    def holds(self) -> bool:
        return True


class Fragile(Answer, frozen=True, kw_only=True, tag="fragile"):
    @property
    def holds(self) -> bool:
        return False


class Safe(Answer, frozen=True, kw_only=True, tag="safe"):
    """No run reaches a bad state. `engine` gave the answer, for the reason `because`; `spent` says how many
    seconds each engine ran. `basis` is the number of minimal states of the inductive invariant, where the
    backward search found one."""

    engine: str
    because: str
    spent: dict[str, float] = {}
    basis: int | None = None

    @property
    def holds(self) -> bool:
        return True


class Unsafe(Answer, frozen=True, kw_only=True, tag="unsafe"):
    """A run reaches a bad state: the witness. `engine`, `because` and `spent` are as in `Safe`."""

    engine: str
    because: str
    spent: dict[str, float] = {}

    @property
    def holds(self) -> bool:
        return False


class RaceFree(Answer, frozen=True, kw_only=True, tag="race-free"):
    """Any two writes to a cell are ordered by happens-before, in every run. `basis` is as in `Safe`."""

    basis: int | None = None

    @property
    def holds(self) -> bool:
        return True


class Racy(Answer, frozen=True, kw_only=True, tag="racy"):
    """The last event of the witness is a write that another write to its cell is not ordered with."""

    @property
    def holds(self) -> bool:
        return False


class Unknown(Answer, frozen=True, kw_only=True, tag="unknown"):
    """Not decided within the limits; `why` says which limit, or that the user stopped the search. `spent`
    says how many seconds each engine ran, where several took turns. `swarm` is as in `NotRobust`."""

    why: str
    interrupted: bool = False
    spent: dict[str, float] = {}
    swarm: Swarm | msgspec.UnsetType = msgspec.UNSET

    @property
    def holds(self) -> None:
        return None


RobustnessAnswer = Robust | NotRobust | Unknown
PersistenceAnswer = Persistent | Fragile | Unknown
SafetyAnswer = Safe | Unsafe | Unknown
WriteRaceAnswer = RaceFree | Racy | Unknown
