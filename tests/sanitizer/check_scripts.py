"""Straight-line programs of several threads, whose executions can be enumerated, as one C program.

`random_programs` draws them, `graphs` gives the execution graphs that a program has under sequential
consistency, by enumerating all interleavings, and `Collection` compiles many of them into one program whose
argument says which is meant. `verdicts` of `scripts` says which operations of an interleaving are violations.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.sanitizer.building import Shell
from tests.sanitizer.scripts import (
    ACQ_REL,
    ACQUIRE,
    MAIN,
    RELAXED,
    RELEASE,
    SEQ_CST,
    Operation,
    statement,
    verdicts,
)

Program = tuple[tuple[Operation, ...], ...]

_MOST_OPERATIONS = 8


def random_program(seed: int) -> Program:
    draw = random.Random(seed)
    locations = "xyz"[: draw.randint(1, 3)]
    sizes = [draw.randint(1, 4) for _ in range(draw.randint(2, 4))]
    while sum(sizes) > _MOST_OPERATIONS:
        sizes[sizes.index(max(sizes))] -= 1
    return tuple(tuple(_thread(draw, number, size, locations)) for number, size in enumerate(sizes) if size)


def _thread(draw: random.Random, number: int, size: int, locations: str) -> Iterator[Operation]:
    held: list[str] = []
    for _ in range(size):
        kind = draw.choices(
            ("load", "store", "add", "exchange", "cas", "wait", "fence", "mutex"), (5, 5, 1, 1, 3, 1, 2, 2)
        )[0]
        x, a, b = draw.choice(locations), draw.randrange(3), draw.randrange(3)
        match kind:
            case "mutex" if held:
                yield Operation(number, "unlock", held.pop())
            case "mutex":
                held.append("m")
                yield Operation(number, "lock", "m")
            case "load" | "wait":
                order = draw.choice((RELAXED, ACQUIRE, SEQ_CST))
                yield Operation(number, kind, x, a if kind == "wait" else 0, order=order)
            case "store":
                yield Operation(number, "store", x, a, order=draw.choice((RELAXED, RELEASE, SEQ_CST)))
            case "fence":
                order = draw.choice((ACQUIRE, RELEASE, SEQ_CST, SEQ_CST))
                yield Operation(number, "fence", order=order)
            case _:  # clang makes a load of an addition of 0
                order = draw.choice((RELAXED, ACQ_REL, SEQ_CST))
                yield Operation(number, kind, x, a or int(kind == "add"), b if kind == "cas" else 0, order)
    yield from (Operation(number, "unlock", mutex) for mutex in held)


@dataclass
class _State:
    at: list[int]
    memory: dict[str, int] = field(default_factory=dict)
    writers: dict[str, tuple[int, ...]] = field(default_factory=dict)  # all, as positions in `run`
    held: set[str] = field(default_factory=set)
    run: list[Operation] = field(default_factory=list)

    def copy(self) -> _State:
        return _State(list(self.at), dict(self.memory), dict(self.writers), set(self.held), list(self.run))


def interleavings(program: Program) -> Iterator[tuple[Operation, ...]]:
    """All that end, or end in a deadlock."""
    yield from _runs(program, _State([0] * len(program)))


def _runs(program: Program, state: _State) -> Iterator[tuple[Operation, ...]]:
    last = True
    for number, thread in enumerate(program):
        if state.at[number] < len(thread) and _enabled(state, thread[state.at[number]]):
            last = False
            further = state.copy()
            _do(further, thread[state.at[number]])
            further.at[number] += 1
            yield from _runs(program, further)
    if last:
        yield tuple(state.run)


def _enabled(state: _State, o: Operation) -> bool:
    if o.kind == "lock":
        return o.location not in state.held
    return o.kind != "wait" or state.memory.get(o.location, 0) == o.a


def _do(state: _State, o: Operation) -> None:
    state.run.append(o)
    x = o.location
    old = state.memory.get(x, 0)
    match o.kind:
        case "lock":
            state.held.add(x)
        case "unlock":
            state.held.discard(x)
        case "store" | "exchange":
            state.memory[x] = o.a
        case "add":
            state.memory[x] = (old + o.a) % 256
        case "cas" if old == o.a:
            state.memory[x] = o.b


def graph(run: Sequence[Operation]) -> frozenset[tuple[object, ...]]:
    """Who reads from whom, the order of writes and of calls on the mutex. SC fences have no order."""
    places = [0] * 8
    newest: dict[str, object] = {}
    memory: dict[str, int] = {}
    facts: set[tuple[object, ...]] = set()
    for o in run:
        event = (o.thread, places[o.thread])
        places[o.thread] += 1
        x = o.location
        before = newest.get(x) if o.kind != "fence" else None
        old = memory.get(x, 0)
        writes = o.kind in ("store", "exchange", "add", "lock", "unlock")
        writes |= o.kind == "cas" and old == o.a
        facts.add((event, before))
        if not writes:
            continue
        newest[x] = event
        match o.kind:
            case "store" | "exchange":
                memory[x] = o.a
            case "add":
                memory[x] = (old + o.a) % 256
            case "cas":
                memory[x] = o.b
    return frozenset(facts)


@dataclass(frozen=True)
class Expected:
    """The number of graphs, and the operations that are violations in some, as thread and position."""

    graphs: int
    violations: frozenset[tuple[int, int]]


def expected(program: Program) -> Expected:
    """Interleavings with the same graph have the same violations, so one of each is asked."""
    representatives = {graph(run): run for run in interleavings(program)}
    violations = set()
    for run in representatives.values():
        places = _places(run)
        violations |= {places[position] for position in verdicts(tuple(run))}
        for o, place in _waiting(program, places):  # for ever, if no old value ends it
            violations |= {place} if len(run) in verdicts((*run, o)) else set()
    return Expected(len(representatives), frozenset(violations))


def _waiting(
    program: Program, done: Sequence[tuple[int, int]]
) -> Iterator[tuple[Operation, tuple[int, int]]]:
    """The waits that threads have come to where a run has ended."""
    for thread in program:
        number = thread[0].thread
        position = sum(place[0] == number for place in done)
        if position < len(thread) and thread[position].kind == "wait":
            yield thread[position], (number, position)


def _places(run: Sequence[Operation]) -> list[tuple[int, int]]:
    counts = [0] * 8
    places = []
    for o in run:
        places.append((o.thread, counts[o.thread]))
        counts[o.thread] += 1
    return places


_HEAD = """\
#include <fencepost.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
atomic_uchar x, y, z;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
typedef void* thread(void*);
"""


class Collection:
    """Programs in one. Line numbers tell the operations apart."""

    def __init__(self, programs: Sequence[Program]) -> None:
        self.places: dict[int, tuple[int, int, int]] = {}  # line -> program, thread, position
        text = _HEAD.splitlines()
        rows: list[str] = []
        for number, program in enumerate(programs):
            names = []
            for thread, operations in enumerate(program):
                names.append(f"p{number}t{thread}")
                text.append(f"static void* {names[-1]}(void* _) {{")
                for position, operation in enumerate(operations):
                    text.append(f"    {statement(operation)}")
                    self.places[len(text)] = number, operation.thread, position
                text += ["    return _;", "}"]
            rows.append("{" + ", ".join((*names, "NULL")) + "},")
        text += ["static thread* const scripts[][8] = {", *rows, "};"]
        self.text = "\n".join(text) + "\n" + MAIN

    def compile(self, shell: Shell) -> Path:
        shell.write("collection.c", self.text)
        shell.ok("fencepost-cc", "--mode", "atomics", "-O0", "-g", "collection.c", "-o", "collection")
        return shell.directory / "collection"
