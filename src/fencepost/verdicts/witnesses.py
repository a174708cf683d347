"""What an answer shows: a run, as an execution graph of `Event`s, and what is wrong with it.

A `Witness` is a graph with a cycle that sequential consistency forbids; a `TsoWitness` is a run with store
buffers; a `SafetyWitness` is a run to a bad state. Data races, failing assertions and deadlocks come with the
run to them. Every face (terminal, JSON, SVG) prints these values and nothing else.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from fencepost import notebook


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
    """An edge of an execution graph between two event ids; `so` is the order in which writes reach memory,
    and `S` the total order of the seq_cst accesses and fences of C++20."""

    source: int
    target: int
    relation: Literal["po", "rf", "mo", "fr", "so", "S"]


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """A run under sequential consistency: the initial writes, then the accesses as they happened. Of a data
    race that was found in an execution graph it may be one of weak memory: reads may see older values."""

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
    more ordering at one of these places is what would break the cycle. `order` has the edges of S between
    seq_cst accesses of the cycle and SC fences between its accesses, under models with S, without those that
    follow from the others.
    """

    threads: tuple[str, ...]
    events: tuple[Event, ...]
    stale: int
    latest: int
    edges: tuple[Edge, ...]
    cycle: tuple[Edge, ...]
    unordered: tuple[Edge, ...] = ()
    order: tuple[Edge, ...] = ()

    @property
    def access(self) -> Event:
        return self.events[-1]

    def _repr_svg_(self) -> str:
        return notebook.witness_svg(self)


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
        return notebook.witness_svg(self)


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """Where a thread stands, with the values of registers that matter there."""

    thread: int
    line: int
    column: int
    text: str
    label: str = ""
    registers: dict[str, int] = {}


class BadState(msgspec.Struct, frozen=True, kw_only=True):
    """What is wrong where a run ends: which threads stand where, for a final state the memory, for a deadlock
    the cells that threads wait for, for a data race the cell that both threads are about to access, and for a
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
        "data-race",
        "deadlock",
    ]
    places: tuple[Place, ...] = ()
    memory: dict[str, int] = {}
    writes: tuple[int, ...] = ()
    cell: str = ""


class SafetyWitness(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag="run-to-bad"):
    """A run to a bad state, or to a final state that was asked about, as an execution graph.

    `events` are the initial writes, then the accesses in an order in which the model can do them: each comes
    after the write that it reads, and each write last in the modification order of its cell. Under TSO some
    of them do not, those in `delayed`: they stay in the store buffers of their threads, and reach memory in
    the order given; all others do so at once. Graphs that were enumerated may have no such order; then writes
    may come before older ones, and only `edges` says in which order they take effect. `edges` are as in
    `Witness`. `cycle` shows, as there, that sequential consistency does not have the run; it is empty where
    it has.
    """

    threads: tuple[str, ...]
    events: tuple[Event, ...]
    edges: tuple[Edge, ...]
    cycle: tuple[Edge, ...]
    bad: BadState
    delayed: tuple[Delay, ...] = ()

    def _repr_svg_(self) -> str:
        return notebook.witness_svg(self)


class Race(msgspec.Struct, frozen=True, kw_only=True):
    """Two accesses to one non-atomic cell, at least one a write, that nothing orders, and the run to them.

    `second` is the last event of the run; `first` is the one before it, or under RC20 any earlier one.
    """

    cell: str
    first: int
    second: int
    run: Run


FailureName = Literal["assertion", "division-by-zero", "index-out-of-range"]


class Assertion(msgspec.Struct, frozen=True, kw_only=True):
    """A place where the program itself goes wrong under sequential consistency, and the run to it.

    `registers` has the values of those that the failing instruction reads.
    """

    kind: FailureName
    thread: int
    line: int
    column: int
    text: str
    registers: dict[str, int]
    run: Run


class DeadlockState(msgspec.Struct, frozen=True, kw_only=True):
    """Where no thread can go on under sequential consistency, and the run to it.

    `places` says where threads wait, and `memory` has the values of the cells that they wait for. All other
    threads have ended.
    """

    places: tuple[Place, ...]
    memory: dict[str, int]
    run: Run


AnyWitness = Witness | TsoWitness | SafetyWitness
