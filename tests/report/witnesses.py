"""Answers to print: executions of well-known programs, built by hand before and beside the engine.

`witness` takes the accesses in the order of the run, the last one with the write it wrongly uses, and works
out the edges and a shortest cycle, so that a fixture says only what happens. `tso_witness` does the same for
a run in which writes of one thread wait in its store buffer, `run_to_bad` for a run to a bad state.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

from msgspec.structs import replace

from fencepost.verdicts import (
    Answer,
    Assertion,
    BadState,
    Delay,
    Edge,
    Event,
    Fragile,
    NotRobust,
    Persistent,
    Place,
    Race,
    RaceFree,
    Racy,
    Robust,
    Run,
    Safe,
    SafetyWitness,
    Stats,
    TsoWitness,
    Unknown,
    Unsafe,
    Witness,
)


@dataclass(frozen=True)
class Step:
    """One access: `R x=0`, `W x=1`, `RMW x 0 1` or `F` in `what`, its thread, line and source text."""

    thread: int
    what: str
    line: int = 0
    text: str = ""
    mode: str = ""


def events(initial: dict[str, int], steps: Iterable[Step]) -> tuple[Event, ...]:
    result = [
        Event(id=i, thread=None, kind="W", cell=cell, written=value)
        for i, (cell, value) in enumerate(initial.items())
    ]
    for step in steps:
        kind, _, rest = step.what.partition(" ")
        common = {
            "id": len(result),
            "thread": step.thread,
            "mode": step.mode,
            "line": step.line,
            "column": 5 if step.line else 0,
            "text": step.text,
        }
        if kind == "F":
            result.append(Event(kind="F", cell="fence", read=0, written=0, **common))
        elif kind == "RMW":
            cell, old, new = rest.rsplit(" ", 2)
            result.append(Event(kind="RMW", cell=cell, read=int(old), written=int(new), **common))
        else:
            cell, _, value = rest.rpartition("=")
            side = "read" if kind == "R" else "written"
            result.append(Event(kind=kind, cell=cell, **{side: int(value)}, **common))
    return tuple(result)


def witness(threads: Iterable[str], initial: dict[str, int], steps: Iterable[Step], stale: int) -> Witness:
    """The witness of a run whose last access uses the write `stale`, an event id."""
    run = events(initial, steps)
    *before, access = run
    order: dict[str, list[int]] = {}
    read_from: dict[int, int] = {}
    for event in before:
        writes = order.setdefault(event.cell, [])
        if event.kind in ("R", "RMW", "F"):
            read_from[event.id] = writes[-1]
        if event.kind != "R":
            writes.append(event.id)
    latest = order[access.cell][-1]
    if access.kind in ("R", "RMW"):
        read_from[access.id] = stale
    if access.kind in ("W", "RMW"):
        order[access.cell].insert(order[access.cell].index(stale) + 1, access.id)
    edges = _edges(run, order, read_from)
    cycle = _shortest_cycle(edges, access.id)
    return Witness(
        threads=tuple(threads),
        events=run,
        stale=stale,
        latest=latest,
        edges=edges,
        cycle=cycle,
        unordered=tuple(edge for edge in cycle if edge.relation in ("mo", "fr")),
    )


def tso_witness(
    threads: Iterable[str],
    initial: dict[str, int],
    steps: Iterable[Step],
    *,
    write: int,
    read: int,
    stores_ordered: bool = True,
) -> TsoWitness:
    """The witness of a run in which, from the step `write` on, all writes of its thread wait in the buffer.

    The step `read` reads from memory. The last access shows it, by the order in which all writes reach memory
    or without that.
    """
    run = events(initial, steps)
    first, read = len(initial) + write, len(initial) + read
    thread = run[first].thread
    delayed = [event.id for event in run[first:] if event.thread == thread and event.kind == "W"]
    order: dict[str, list[int]] = {}
    own: dict[str, int] = {}
    read_from: dict[int, int] = {}
    for event in run:
        if event.kind != "W":
            newest = order[event.cell][-1]
            read_from[event.id] = own.get(event.cell, newest) if event.thread == thread else newest
        if event.id in delayed:
            own[event.cell] = event.id
        elif event.kind != "R":
            order.setdefault(event.cell, []).append(event.id)
    for write_id in delayed:
        order[run[write_id].cell].append(write_id)
    edges = _edges(run, order, read_from)
    other = run[-1].id
    by_stores = (Edge(first, read, "po"), Edge(read, other, "fr"), Edge(other, first, "so"))
    return TsoWitness(
        threads=tuple(threads),
        events=run,
        delayed=tuple(Delay(event_id, other) for event_id in delayed),
        write=first,
        read=read,
        other=other,
        edges=edges,
        cycle=by_stores if stores_ordered else _shortest_cycle(edges, first),
    )


def run_to_bad(
    threads: Iterable[str],
    initial: dict[str, int],
    steps: Iterable[Step],
    bad: BadState,
    old: dict[int, int] | None = None,
) -> SafetyWitness:
    """A run whose reads see the newest write, but for the events in `old`, which see an older one."""
    run = events(initial, steps)
    order: dict[str, list[int]] = {}
    read_from: dict[int, int] = {}
    for event in run:
        writes = order.setdefault(event.cell, [])
        if event.read is not None:
            read_from[event.id] = (old or {}).get(event.id, writes[-1] if writes else 0)
        if event.written is not None:
            writes.append(event.id)
    edges = _edges(run, order, read_from)
    cycle = _shortest_cycle(edges, min(old)) if old else ()
    return SafetyWitness(threads=tuple(threads), events=run, edges=edges, cycle=cycle, bad=bad)


def _edges(
    run: tuple[Event, ...], order: dict[str, list[int]], read_from: dict[int, int]
) -> tuple[Edge, ...]:
    edges = []
    last: dict[int, int] = {}
    for event in run:
        if event.thread is not None:
            if event.thread in last:
                edges.append(Edge(last[event.thread], event.id, "po"))
            last[event.thread] = event.id
    edges += [Edge(write, read, "rf") for read, write in read_from.items()]
    for writes in order.values():
        edges += [Edge(a, b, "mo") for a, b in pairwise(writes)]
    for read, write in read_from.items():
        writes = order[run[read].cell]
        newer = [w for w in writes[writes.index(write) + 1 :] if w != read]
        if newer and run[read].kind == "R":
            edges.append(Edge(read, newer[0], "fr"))
    return tuple(edges)


def _shortest_cycle(edges: tuple[Edge, ...], start: int) -> tuple[Edge, ...]:
    came: dict[int, Edge] = {}
    queue = deque([start])
    while queue:
        here = queue.popleft()
        for edge in edges:
            if edge.source != here or edge.target in came:
                continue
            came[edge.target] = edge
            queue.append(edge.target)
    path = [came[start]]
    while path[-1].source != start:
        path.append(came[path[-1].source])
    return tuple(reversed(path))


SB = witness(
    ("t1", "t2"),
    {"x": 0, "y": 0},
    [
        Step(0, "W x=1", 5, "x.store(1)"),
        Step(0, "R y=0", 6, "a = y.load()"),
        Step(1, "W y=1", 11, "y.store(1)"),
        Step(1, "R x=0", 12, "b = x.load()"),
    ],
    stale=0,
)

IRIW = witness(
    ("writer_x", "reader_1", "reader_2", "writer_y"),
    {"x": 0, "y": 0},
    [
        Step(0, "W x=1", 4, "x.store(1, rel)", "rel"),
        Step(1, "R x=1", 9, "a = x.load(acq)", "acq"),
        Step(1, "R y=0", 10, "b = y.load(acq)", "acq"),
        Step(3, "W y=1", 21, "y.store(1, rel)", "rel"),
        Step(2, "R y=1", 15, "c = y.load(acq)", "acq"),
        Step(2, "R x=0", 16, "d = x.load(acq)", "acq"),
    ],
    stale=0,
)

TWO_PLUS_TWO_W = witness(
    ("t1", "t2"),
    {"x": 0, "y": 0},
    [
        Step(0, "W x=1", 4, "x.store(1)"),
        Step(0, "W y=2", 5, "y.store(2)"),
        Step(1, "W y=1", 9, "y.store(1)"),
        Step(1, "W x=2", 10, "x.store(2)"),
    ],
    stale=0,
)

PETERSON = witness(
    ("left", "right"),
    {"flag0": 0, "flag1": 0, "turn": 0, "cs": 0},
    [
        Step(0, "W flag0=1", 6, "flag0.store(1)"),
        Step(0, "W turn=1", 7, "turn.store(1)"),
        Step(0, "R flag1=0", 9, "f = flag1.load()"),
        Step(0, "W cs=1", 14, "cs.store(1)"),
        Step(0, "R cs=1", 15, "r = cs.load()"),
        Step(1, "W flag1=1", 22, "flag1.store(1)"),
        Step(1, "W turn=0", 23, "turn.store(0)"),
        Step(1, "R turn=0", 24, "t = turn.load()"),
        Step(1, "R flag0=0", 25, "f = flag0.load()"),
    ],
    stale=0,
)


def peterson_rounds(rounds: int) -> Witness:
    """Both sides take turns in the lock `rounds` times before one misses the other's flag."""
    steps = []
    for _ in range(rounds):
        steps += _peterson_round(0, 5) + _peterson_round(1, 21)
    initial = {"flag0": 0, "flag1": 0, "turn": 0, "cs": 0}
    stale = max(
        (len(initial) + i for i, step in enumerate(steps) if step.what == "W flag0=0"),
        default=0,
    )
    steps += [
        Step(0, "W flag0=1", 6, "flag0.store(1)"),
        Step(0, "W turn=1", 7, "turn.store(1)"),
        Step(0, "R flag1=0", 9, "f = flag1.load()"),
        Step(1, "W flag1=1", 22, "flag1.store(1)"),
        Step(1, "R flag0=0", 25, "f = flag0.load()"),
    ]
    return witness(("left", "right"), initial, steps, stale)


def _peterson_round(me: int, line: int) -> list[Step]:
    other = 1 - me
    return [
        Step(me, f"W flag{me}=1", line + 1, f"flag{me}.store(1)"),
        Step(me, f"W turn={other}", line + 2, f"turn.store({other})"),
        Step(me, f"R flag{other}=0", line + 4, f"f = flag{other}.load()"),
        Step(me, f"W cs={me}", line + 9, f"cs.store({me})"),
        Step(me, f"R cs={me}", line + 10, "r = cs.load()"),
        Step(me, f"W flag{me}=0", line + 12, f"flag{me}.store(0)"),
    ]


PETERSON_40 = peterson_rounds(3)

STALE_RMW = witness(
    ("worker[0]", "worker[1]"),
    {"x": 0, "y": 0},
    [
        Step(0, "W x=5", 5, "x.store(5)"),
        Step(0, "R y=0", 6, "a = y.load()"),
        Step(1, "W y=1", 10, "y.store(1)"),
        Step(1, "RMW x 0 1", 11, "FADD(x, 1)"),
    ],
    stale=0,
)

FAILED_CAS = witness(
    ("t1", "t2"),
    {"x": 0, "y": 0},
    [
        Step(0, "RMW x 0 1", 4, "BCAS(x, 0, 1)"),
        Step(0, "W x=0", 5, "x.store(0)"),
        Step(0, "R y=0", 6, "a = y.load()"),
        Step(1, "W y=1", 10, "y.store(1)"),
        Step(1, "R x=1", 11, "b = CAS(x, 0, 2)"),
    ],
    stale=2,
)

STALE_WAIT = witness(
    ("t1", "t2"),
    {"x": 1, "y": 0},
    [
        Step(0, "W x=1", 5, "x.store(1)"),
        Step(0, "R y=0", 6, "a = y.load()"),
        Step(1, "W y=1", 10, "y.store(1)"),
        Step(1, "R x=1", 11, "wait(x, 1)"),
    ],
    stale=0,
)

ONE_FENCE_SHORT = witness(
    ("t1", "t2", "t3"),
    {"x": 0, "y": 0, "fence": 0},
    [
        Step(0, "W x=1", 5, "x.store(1)"),
        Step(0, "F", 6, "fence"),
        Step(1, "F", 11, "fence"),
        Step(1, "R y=0", 12, "a = y.load()"),
        Step(2, "W y=1", 17, "y.store(1)"),
        Step(2, "R x=0", 18, "b = x.load()"),
    ],
    stale=0,
)

NO_POSITIONS = witness(
    ("t1", "t2"),
    {"x": 0, "y": 0},
    [Step(0, "W x=1"), Step(0, "R y=0"), Step(1, "W y=1"), Step(1, "R x=0")],
    stale=0,
)

HOSTILE = witness(
    ("<script>alert('t')</script>", 't"2\x1b[31m'),
    {"x\x1b]0;title\x07": 0, "y&<b>": 0},
    [
        Step(0, "W x\x1b]0;title\x07=1", 5, 'x.store(1) /* \x1b[2J <img src="a"> */'),
        Step(0, "R y&<b>=0", 6, "a =\n  y.load()\u202e"),
        Step(1, "W y&<b>=1", 11, "y.store(1)]]>\x9b31m"),
        Step(1, "R x\x1b]0;title\x07=0", 12, "b = x.load()\x00"),
    ],
    stale=0,
)

MANY_THREADS = witness(
    tuple(f"thread_number_{i}" for i in range(8)),
    {f"cell{i}": 0 for i in range(8)},
    [
        step
        for i in range(8)
        for step in (
            Step(i, f"W cell{i}=1", 10 * i + 5, f"cell{i}.store(1)"),
            Step(i, f"R cell{(i + 1) % 8}=0", 10 * i + 6, f"r{i} = cell{(i + 1) % 8}.load()"),
        )
    ],
    stale=0,
)

SB_STEPS = [
    Step(0, "W x=1", 5, "x.store(1)"),
    Step(0, "R y=0", 6, "a = y.load()"),
    Step(1, "W y=1", 11, "y.store(1)"),
]
TSO_SB = tso_witness(("t1", "t2"), {"x": 0, "y": 0}, SB_STEPS, write=0, read=1)

TSO_SB_ROBUSTNESS = tso_witness(
    ("t1", "t2"),
    {"x": 0, "y": 0},
    [*SB_STEPS, Step(1, "R x=0", 12, "b = x.load()")],
    write=0,
    read=1,
    stores_ordered=False,
)

# `x` is written twice with the same value, so the reader may overtake its own write and nobody can tell from
# the values: persistent, but not robust.
TSO_DETOUR = tso_witness(
    ("writer", "reader"),
    {"x": 0, "y": 0},
    [
        Step(0, "W x=1", 5, "x.store(1)"),
        Step(1, "R x=1", 12, "wait(x, 1)"),
        Step(1, "W y=2", 13, "y.store(2)"),
        Step(1, "R x=1", 14, "r = x.load()"),
        Step(0, "W x=1", 6, "x.store(1)"),
        Step(0, "W y=1", 7, "y.store(1)"),
    ],
    write=2,
    read=3,
    stores_ordered=False,
)

TSO_TRIANGULAR = tso_witness(
    ("writer", "reader"),
    {"x": 0, "y": 0},
    [
        Step(0, "W x=1", 5, "x.store(1)"),
        Step(1, "W y=2", 13, "y.store(2)"),
        Step(1, "R x=1", 14, "r = x.load()"),
        Step(0, "W x=1", 6, "x.store(1)"),
    ],
    write=1,
    read=2,
)

TSO_RMW = tso_witness(
    ("left", "right"),
    {"x": 0, "y": 0},
    [
        Step(0, "W y=1", 4, "y.store(1)"),
        Step(0, "R x=0", 5, "wait(x, 0)"),
        Step(1, "RMW x 0 1", 9, "lock(x)"),
    ],
    write=0,
    read=1,
)

TSO_SEVERAL = tso_witness(
    ("a", "b", "c"),
    {"x": 0, "y": 0, "z": 0},
    [
        Step(0, "W x=1", 4, "x.store(1)"),
        Step(0, "W z=1", 5, "z.store(1)"),
        Step(0, "R z=1", 6, "r = z.load()"),
        Step(0, "R y=0", 7, "r = y.load()"),
        Step(1, "W y=1", 12, "y.store(1)"),
        Step(2, "R y=1", 17, "wait(y, 1)"),
        Step(2, "R z=0", 18, "r = z.load()"),
        Step(2, "RMW x 0 2", 19, "FADD(x, 2)"),
    ],
    write=0,
    read=3,
    stores_ordered=False,
)


def peterson_on_tso(rounds: int) -> TsoWitness:
    """Both sides take turns in the lock `rounds` times before one reads the other's flag too early."""
    steps = [step for _ in range(rounds) for step in _peterson_round(0, 5) + _peterson_round(1, 21)]
    write = len(steps) + 1
    steps += [
        Step(0, "W flag0=1", 6, "flag0.store(1)"),
        Step(0, "W turn=1", 7, "turn.store(1)"),
        Step(0, "R flag1=0", 9, "f = flag1.load()"),
        Step(1, "W flag1=1", 22, "flag1.store(1)"),
    ]
    initial = {"flag0": 0, "flag1": 0, "turn": 0, "cs": 0}
    return tso_witness(("left", "right"), initial, steps, write=write, read=write + 1)


TSO_HOSTILE = tso_witness(
    ("<script>alert('t')</script>", 't"2\x1b[31m'),
    {"x\x1b]0;title\x07": 0, "y&<b>": 0},
    [
        Step(0, "W x\x1b]0;title\x07=1", 5, 'x.store(1) /* \x1b[2J <img src="a"> */'),
        Step(0, "R y&<b>=0", 6, "a =\n  y.load()\u202e"),
        Step(1, "W y&<b>=1", 11, "y.store(1)]]>\x9b31m"),
    ],
    write=0,
    read=1,
)

MP_RACE = Race(
    cell="data",
    first=4,
    second=5,
    run=Run(
        threads=("producer", "consumer"),
        events=events(
            {"data": 0, "ready": 1},
            [
                Step(0, "W ready=2", 5, "ready.store(2, rlx)", "rlx"),
                Step(1, "R ready=2", 12, "wait(ready, 2, rlx)", "rlx"),
                Step(0, "W data=42", 6, "data.nastore(42)", "na"),
                Step(1, "R data=42", 13, "r = data.naload()", "na"),
            ],
        ),
    ),
)

BOTH_INSIDE = Assertion(
    kind="assertion",
    thread=1,
    line=16,
    column=9,
    text="assert(r == 1)",
    registers={"r": 0, "me": 1},
    run=Run(
        threads=("t1", "t2"),
        events=events(
            {"a[0]": 0, "a[1]": 0},
            [
                Step(0, "W a[1]=1", 5, "a[i].store(v)"),
                Step(1, "W a[1]=0", 14, "a[me].store(0)"),
                Step(1, "R a[1]=0", 15, "r = a[me].load()"),
            ],
        ),
    ),
)

BOTH_AT_CS = run_to_bad(
    ("p[0]", "p[1]"),
    {"flag[0]": 0, "flag[1]": 0},
    [
        Step(0, "W flag[0]=1", 5, "flag[tid].store(1)"),
        Step(1, "W flag[1]=1", 5, "flag[tid].store(1)"),
        Step(0, "R flag[1]=0", 6, "r = flag[1 - tid].load()"),
        Step(1, "R flag[0]=0", 6, "r = flag[1 - tid].load()"),
    ],
    BadState(
        kind="mutex",
        places=tuple(Place(thread=t, line=7, column=9, text="", label="cs") for t in range(2)),
    ),
    old={4: 1, 5: 0},
)

FAILS_ANYWAY = run_to_bad(
    ("t1", "t2"),
    {"x": 0},
    [Step(0, "W x=1", 4, "x.store(1)"), Step(1, "R x=1", 9, "r = x.load()")],
    BadState(
        kind="assertion",
        places=(Place(thread=1, line=10, column=5, text="assert(r == 0)", registers={"r": 1}),),
    ),
)

FAILS_AT_ONCE = run_to_bad(
    ("t1",),
    {"x": 0},
    [],
    BadState(kind="assertion", places=(Place(thread=0, line=3, column=5, text="assert(0)"),)),
)

REACHES_LABEL = run_to_bad(
    ("reader",),
    {"x": 0},
    [Step(0, "R x=0", 4, "r = x.load()")],
    BadState(kind="error-label", places=(Place(thread=0, line=5, column=1, text="", label="broken"),)),
)

MESSAGE_LOST = run_to_bad(
    ("writer", "reader"),
    {"data": 0, "flag": 0},
    [
        Step(0, "W data=1", 4, "data.store(1)"),
        Step(0, "W data=2", 5, "data.store(2)"),
        Step(0, "R flag=0", 6, "f = flag.load()"),
        Step(1, "W flag=1", 10, "flag.store(1)"),
        Step(1, "R data=1", 11, "d = data.load()"),
    ],
    BadState(
        kind="bad",
        places=(
            Place(thread=0, line=0, column=0, text="", registers={"f": 0}),
            Place(thread=1, line=12, column=5, text="", registers={"d": 1, "e": 0}),
        ),
    ),
    old={6: 2},
)

FINAL_STATE = run_to_bad(
    ("P0", "P1"),
    {"x": 0, "y": 0},
    [
        Step(0, "W x=1", 5, "x.store(1)"),
        Step(1, "W y=1", 11, "y.store(1)"),
        Step(0, "R y=0", 6, "r0 = y.load()"),
        Step(1, "R x=0", 12, "r1 = x.load()"),
    ],
    BadState(
        kind="final",
        places=tuple(Place(thread=t, line=0, column=0, text="", registers={f"r{t}": 0}) for t in range(2)),
        memory={"x": 1},
    ),
    old={4: 1, 5: 0},
)

WRITES_RACE = run_to_bad(
    ("left", "right"),
    {"flag": 0, "turn": 0},
    [
        Step(0, "W turn=1", 5, "turn.store(1)"),
        Step(1, "W flag=1", 9, "flag.store(1)"),
        Step(1, "W turn=2", 10, "turn.store(2)"),
    ],
    BadState(kind="write-race", writes=(2, 4)),
)

DATA_RACE = run_to_bad(
    ("left", "right"),
    {"flag": 0, "data": 0},
    [Step(0, "W flag=1", 5, "flag.store(1)"), Step(1, "R flag=1", 9, "r = flag.load()")],
    BadState(
        kind="data-race",
        places=(
            Place(thread=0, line=6, column=5, text="data.nastore(1)"),
            Place(thread=1, line=10, column=5, text="s = data.naload()"),
        ),
        cell="data",
    ),
)

HOSTILE_BAD = run_to_bad(
    HOSTILE.threads,
    {"x\x1b]0;title\x07": 0, "y&<b>": 0},
    [
        Step(0, "W x\x1b]0;title\x07=1", 5, 'x.store(1) /* \x1b[2J <img src="a"> */'),
        Step(1, "W y&<b>=1", 11, "y.store(1)]]>\x9b31m"),
        Step(0, "R y&<b>=0", 6, "a =\n  y.load()\u202e"),
        Step(1, "R x\x1b]0;title\x07=0", 12, "b = x.load()\x00"),
    ],
    BadState(
        kind="bad",
        places=(Place(thread=1, line=13, column=1, text="", label="\x1b[1m", registers={"<i>\x07": 0}),),
        memory={"x\x1b]0;title\x07": 1},
    ),
    old={4: 1, 5: 0},
)

# The store of `p1` leaves its buffer in the middle of the run, that of `p0` at its end.
BUFFERED = replace(
    run_to_bad(
        ["p0", "p1"],
        {"x": 0, "y": 0, "z": 0},
        [
            Step(1, "W z=1", 9, "z.store(1)"),
            Step(0, "W x=1", 3, "x.store(1)"),
            Step(0, "R y=0", 4, "a = y.load()"),
            Step(1, "W y=1", 10, "y.store(1)"),
            Step(1, "R x=0", 11, "b = x.load()"),
        ],
        BadState(
            kind="mutex",
            places=(
                Place(thread=0, line=5, column=1, text="", label="cs"),
                Place(thread=1, line=12, column=1, text="", label="cs"),
            ),
        ),
        old={7: 0},
    ),
    delayed=(Delay(3, 5), Delay(4, 7)),
)

STATS = Stats(states=12345, transitions=34567, seconds=0.042, peak_memory_mb=14.3)
TOO_MANY = "stopped at --max-states 1000000; 311 states were still to be expanded"


def not_robust(witness: Witness, file: str = "examples/program.tpl", **more: object) -> NotRobust:
    common = {"question": "robust", "model": "ra", "stats": STATS, "exhaustive": False}
    return NotRobust(file=file, witness=witness, **(common | more))


def fragile(witness: TsoWitness, file: str = "examples/program.tpl", **more: object) -> Fragile:
    common = {"question": "persist", "model": "tso", "criterion": "persistent", "stats": STATS}
    return Fragile(file=file, witness=witness, exhaustive=False, **(common | more))


SPENT = {"graphs": 0.001, "sc": 0.02, "forward": 0.1, "backward": 0.004}
ABOUT_SAFETY = {
    "file": "examples/program.tpl",
    "question": "verify",
    "model": "sra",
    "criterion": "safe",
    "stats": STATS,
    "exhaustive": False,
}
ABOUT_RACES = ABOUT_SAFETY | {"question": "races", "engine": "backward", "because": "of its runs"}
ABOUT_WRITES = ABOUT_RACES | {"criterion": "write-write-race-free"}
ABOUT_DATA = ABOUT_RACES | {"criterion": "data-race-free", "model": "rc20"}


def unsafe(witness: SafetyWitness, engine: str = "forward", **more: object) -> Unsafe:
    because = "SRA reaches a bad state"
    return Unsafe(
        **(ABOUT_SAFETY | {"engine": engine, "because": because, "spent": SPENT} | more), witness=witness
    )


ANSWERS: dict[str, Answer] = {
    "sb": not_robust(SB, "examples/sb.tpl"),
    "iriw": not_robust(IRIW, "examples/iriw.tpl", model="rc20"),
    "2+2w": not_robust(TWO_PLUS_TWO_W, "examples/2+2w.tpl"),
    "peterson": not_robust(PETERSON, "examples/peterson.tpl"),
    "peterson-40": not_robust(PETERSON_40, "examples/peterson-rounds.tpl"),
    "stale-rmw": not_robust(STALE_RMW),
    "failed-cas": not_robust(FAILED_CAS),
    "stale-wait": not_robust(STALE_WAIT),
    "fences": not_robust(ONE_FENCE_SHORT, model="rc20"),
    "no-positions": not_robust(NO_POSITIONS),
    "hostile": not_robust(HOSTILE, "examples/\x1b[31m<b>.tpl"),
    "many-threads": not_robust(MANY_THREADS),
    "robust": Robust(file="examples/barrier.tpl", question="robust", model="ra", stats=STATS),
    "observational": Robust(
        file="examples/barrier.tpl", question="robust", model="ra", criterion="observational", stats=STATS
    ),
    "not-shown": Unknown(
        file="examples/sb.tpl",
        question="robust",
        model="ra",
        criterion="observational",
        stats=STATS,
        witness=SB,
        why="the value of `b` in thread `t2` may be stale where `verify(b)` (line 13) uses it",
        exhaustive=False,
    ),
    "race": Robust(
        file="examples/mp.tpl",
        question="robust",
        model="rc20",
        stats=STATS,
        race=MP_RACE,
        exhaustive=False,
    ),
    "assertion": Robust(
        file="examples/array.tpl", question="robust", model="ra", stats=STATS, assertion=BOTH_INSIDE
    ),
    "unknown": Unknown(
        file="examples/big.tpl",
        question="robust",
        model="ra",
        stats=STATS,
        why=TOO_MANY,
        exhaustive=False,
        warnings=("`track x` names the value 9, which nothing compares `x` with",),
    ),
    "persistent": Persistent(
        file="examples/barrier.tpl", question="persist", model="tso", criterion="persistent", stats=STATS
    ),
    "tso-sb": fragile(TSO_SB, "examples/sb.tpl"),
    "tso-rmw": fragile(TSO_RMW),
    "tso-long": fragile(peterson_on_tso(5), "examples/peterson-rounds.tpl"),
    "tso-hostile": fragile(TSO_HOSTILE, "examples/\x1b[31m<b>.tpl"),
    "tso-sb-robustness": not_robust(TSO_SB_ROBUSTNESS, "examples/sb.tpl", model="tso"),
    "tso-detour": not_robust(TSO_DETOUR, "examples/detour.tpl", model="tso"),
    "tso-several": not_robust(TSO_SEVERAL, model="tso"),
    "tso-triangular": not_robust(TSO_TRIANGULAR, "examples/detour.tpl", model="tso", criterion="trf"),
    "no-triangular": Robust(
        file="examples/barrier.tpl", question="robust", model="tso", criterion="trf", stats=STATS
    ),
    "safe": Safe(
        **ABOUT_SAFETY,
        engine="backward",
        because="no way leads from an initial state to a bad one",
        spent=SPENT,
        basis=140,
    ),
    "unsafe-mutex": unsafe(BOTH_AT_CS, file="examples/peterson.tpl"),
    "unsafe-under-sc": unsafe(
        FAILS_ANYWAY, "sc", because="sequential consistency already does it, without weak memory"
    ),
    "unsafe-at-once": unsafe(
        FAILS_AT_ONCE, "sc", because="an interleaving of the threads does it", model="sc"
    ),
    "unsafe-label": unsafe(REACHES_LABEL),
    "unsafe-formula": unsafe(MESSAGE_LOST),
    "unsafe-final": unsafe(FINAL_STATE, "backward", file="examples/sb.litmus"),
    "unsafe-hostile": unsafe(HOSTILE_BAD, file="examples/\x1b[31m<b>.tpl"),
    "unsafe-race": unsafe(DATA_RACE),
    "unsafe-tso": unsafe(BUFFERED, model="tso", because="TSO reaches a bad state"),
    "race-free": RaceFree(**ABOUT_WRITES, basis=12),
    "racy": Racy(**ABOUT_WRITES, witness=WRITES_RACE),
    "data-race-free": RaceFree(**ABOUT_DATA),
    "data-racy": Racy(**ABOUT_DATA, witness=DATA_RACE),
    "data-racy-by-robustness": Racy(**(ABOUT_DATA | {"engine": "robustness"}), race=MP_RACE),
    "unknown-for-a-race": Unknown(
        **(ABOUT_SAFETY | {"model": "ra"}),
        why="it is safe under SRA, but it has a write/write race, so that RA may reach more",
        spent=SPENT,
        witness=WRITES_RACE,
    ),
}
