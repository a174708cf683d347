"""Scripts: operations of several threads in one fixed order, as a C program and as the rules see them.

A script is what a schedule is to a program: each operation waits for its turn, by means that the sanitizer
does not know (a volatile counter), so the run is always the same. `verdicts` says which operations of a
script are violations by the rules of design.md, section 7, and of C++20's seq_cst, as `models/rules.py` has
them: a clock maps every location to its newest known write, and all writes are kept. `Book` compiles many
scripts into one program and runs them.
"""

from __future__ import annotations

import json
import random
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from fencepost.models.rules import Cpp20Message, Cpp20Views, ScViews
from tests.sanitizer.building import Shell

RELAXED, ACQUIRE, RELEASE, ACQ_REL, SEQ_CST = "relaxed", "acquire", "release", "acq_rel", "seq_cst"


class Operation(NamedTuple):
    """One operation of one thread; what `a` and `b` are depends on the kind."""

    thread: int
    kind: str  # load, store, add, exchange, cas, wait, bcas, fence, lock, unlock
    location: str = ""
    a: int = 0
    b: int = 0
    order: str = RELAXED
    failure: str = RELAXED


Script = tuple[Operation, ...]


def parse(text: str) -> Script:
    """`0: store x 1 release; 1: load x acquire; 1: cas x 0 1 acq_rel acquire; 0: fence seq_cst`"""
    return tuple(_parse_operation(part) for part in text.split(";") if part.strip())


def _parse_operation(text: str) -> Operation:
    thread, _, rest = text.partition(":")
    kind, *words = rest.split()
    location = "" if kind == "fence" else words.pop(0)
    numbers = [int(word) for word in words if word.isdigit()]
    orders = [word for word in words if not word.isdigit()]
    a, b = (*numbers, 0, 0)[:2]
    order, failure = (*orders, RELAXED, RELAXED)[:2]
    return Operation(int(thread), kind, location, a, b, order, failure)


# The rules.

LOCATIONS = "xyzu"
Clock = tuple[int, ...]  # for each location the newest known write
_NOTHING: Clock = (0,) * len(LOCATIONS)


@dataclass
class _Write:
    value: int = 0
    rmw: bool = False


@dataclass
class _Mutex:
    message: Cpp20Message[Clock]
    sc: Clock = _NOTHING


def _join(one: Clock, other: Clock) -> Clock:
    return tuple(map(max, one, other))


def _acquires(order: str) -> bool:
    return order in (ACQUIRE, ACQ_REL, SEQ_CST)


def _releases(order: str) -> bool:
    return order in (RELEASE, ACQ_REL, SEQ_CST)


class _Rules:
    def __init__(self) -> None:
        self.views = Cpp20Views[Clock](_NOTHING, _join)
        self.sc = ScViews[Clock](_NOTHING, _join)
        self.writes = {location: [_Write()] for location in LOCATIONS}
        self.messages = dict.fromkeys(LOCATIONS, self.views.no_message)
        self.mutexes = {name: _Mutex(self.views.no_message) for name in "mn"}

    def step(self, o: Operation) -> bool:
        """Does the operation; was it a violation?"""
        if o.kind == "fence":
            acquire, release = _acquires(o.order), _releases(o.order)
            self.views.fence(o.thread, acquire=acquire, release=release, sc=o.order == SEQ_CST)
            return False
        if o.kind in ("lock", "unlock"):
            self._mutex(o)
            return False
        violated = self._check(o)
        self._act(o)
        return violated

    def _stale(self, o: Operation, order: str) -> list[tuple[int, bool]]:
        """Values of writes that an access of this order may read instead of the newest, and whether a write
        may follow them."""
        x, writes = LOCATIONS.index(o.location), self.writes[o.location]
        c = self.views.bound(o.thread, sc=order == SEQ_CST)[x]
        s = self.sc.current[o.thread][x]
        return [(writes[i].value, not writes[i + 1].rmw) for i in range(c, s)]

    def _check(self, o: Operation) -> bool:
        stale = self._stale(o, o.order)
        success = any(value == o.a and free for value, free in stale)
        match o.kind:
            case "load":
                return bool(stale)
            case "store" | "add" | "exchange":
                return any(free for _, free in stale)
            case "wait":
                return any(value == o.a for value, _ in stale)
            case "bcas":
                return success
            case _:
                return success or any(value != o.a for value, _ in self._stale(o, o.failure))

    def _act(self, o: Operation) -> None:
        old = self.writes[o.location][-1].value
        match o.kind:
            case "load" | "wait":
                self._read(o, o.order)
            case "store":
                self._write(o, o.a, rmw=False)
            case "add":
                self._write(o, (old + o.a) % 256, rmw=True)
            case "exchange":
                self._write(o, o.a, rmw=True)
            case _ if old == o.a:
                self._write(o, o.b, rmw=True)
            case _:
                self._read(o, o.failure)

    def _read(self, o: Operation, order: str) -> None:
        self.sc.read(o.thread, o.location)
        self.views.access(
            o.thread,
            o.location,
            self._newest(o.location),
            acquire=_acquires(order),
            sc=order == SEQ_CST,
            read=self.messages[o.location],
        )

    def _write(self, o: Operation, value: int, *, rmw: bool) -> None:
        self.writes[o.location].append(_Write(value, rmw))
        newest = self._newest(o.location)
        self.sc.write(o.thread, o.location, newest)
        sent = self.views.access(
            o.thread,
            o.location,
            newest,
            acquire=_acquires(o.order),
            release=_releases(o.order),
            sc=o.order == SEQ_CST,
            read=self.messages[o.location] if rmw else None,
            writes=True,
        )
        assert sent is not None
        self.messages[o.location] = sent

    def _newest(self, location: str) -> Clock:
        return tuple(len(self.writes[x]) - 1 if x == location else 0 for x in LOCATIONS)

    def _mutex(self, o: Operation) -> None:
        mutex, t = self.mutexes[o.location], o.thread
        views = (self.views.known, self.views.strongly, self.views.fences, self.views.eco)
        if o.kind == "lock":
            for view, part in zip(views, mutex.message, strict=True):
                view.happen(t, part)
            self.sc.current[t] = _join(self.sc.current[t], mutex.sc)
        else:
            known, strongly, fences, eco = (
                _join(view.current[t], part) for view, part in zip(views, mutex.message, strict=True)
            )
            mutex.message = known, strongly, fences, eco
            mutex.sc = _join(mutex.sc, self.sc.current[t])


def verdicts(script: Script) -> frozenset[int]:
    """The positions of the operations that are violations."""
    rules = _Rules()
    return frozenset(i for i, operation in enumerate(script) if rules.step(operation))


def missed_writes(script: Script) -> dict[int, int]:
    """The positions of the operations that are violations, and of the writes that each can miss."""
    rules, missed = _Rules(), {}
    writers: dict[str, list[int]] = {location: [-1] for location in LOCATIONS}
    for position, operation in enumerate(script):
        x, t = operation.location, operation.thread
        newest = rules.sc.current[t][LOCATIONS.index(x)] if x in writers else 0
        if rules.step(operation):
            missed[position] = writers[x][newest]
        if x in writers and len(rules.writes[x]) > len(writers[x]):
            writers[x].append(position)
    return missed


# Random scripts.

_LOAD_ORDERS = (RELAXED, ACQUIRE, SEQ_CST)
_STORE_ORDERS = (RELAXED, RELEASE, SEQ_CST)
_RMW_ORDERS = (RELAXED, ACQUIRE, RELEASE, ACQ_REL, SEQ_CST)
# A failed CAS may not be stronger than one that succeeds (gcc says so even where C17 does not).
_FAILURE_ORDERS = {RELAXED: 1, RELEASE: 1, ACQUIRE: 2, ACQ_REL: 2, SEQ_CST: 3}


def random_script(seed: int) -> Script:
    draw = random.Random(seed)
    threads, locations = draw.randint(2, 4), LOCATIONS[: draw.randint(1, 4)]
    held: dict[str, int] = {}
    values = dict.fromkeys(locations, 0)
    script: list[Operation] = []
    for _ in range(draw.randint(4, 24)):
        operation = _random_operation(draw, draw.randrange(threads), draw.choice(locations), held, values)
        script.append(operation)
    script += [Operation(thread, "unlock", mutex) for mutex, thread in held.items()]
    return tuple(script)


def _random_operation(
    draw: random.Random, thread: int, x: str, held: dict[str, int], values: dict[str, int]
) -> Operation:
    kind = draw.choices(
        ("load", "store", "add", "exchange", "cas", "wait", "bcas", "fence", "mutex"),
        (6, 6, 1, 1, 3, 1, 1, 3, 2),
    )[0]
    strong = draw.choice(_RMW_ORDERS[:4]) if draw.random() < 0.85 else SEQ_CST
    a, b = draw.randrange(4), draw.randrange(4)
    match kind:
        case "load":
            return Operation(thread, "load", x, order=draw.choice(_LOAD_ORDERS))
        case "wait":  # for what is there, so that it ends
            return Operation(thread, "wait", x, values[x], order=draw.choice(_LOAD_ORDERS))
        case "store":
            values[x] = a
            return Operation(thread, "store", x, a, order=draw.choice(_STORE_ORDERS))
        case "add":
            values[x] = (values[x] + a) % 256
        case "exchange":
            values[x] = a
        case "cas":
            failures = _LOAD_ORDERS[: _FAILURE_ORDERS[strong]]
            operation = Operation(thread, "cas", x, a, b, strong, draw.choice(failures))
            values[x] = b if values[x] == a else values[x]
            return operation
        case "bcas":
            operation = Operation(thread, "bcas", x, values[x], b, strong)
            values[x] = b
            return operation
        case "fence":
            return Operation(thread, "fence", order=draw.choice((ACQUIRE, RELEASE, ACQ_REL, SEQ_CST)))
        case _:
            return _random_mutex_operation(draw, thread, held)
    return Operation(thread, kind, x, a, order=strong)


def _random_mutex_operation(draw: random.Random, thread: int, held: dict[str, int]) -> Operation:
    mutex = draw.choice("mn")
    if mutex in held:
        return Operation(held.pop(mutex), "unlock", mutex)
    held[mutex] = thread
    return Operation(thread, "lock", mutex)


# As a C program.

HEAD = """\
#include <fencepost.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
static volatile int turn;
static void wait_for(int t) { while (turn != t) sched_yield(); }
atomic_uchar x, y, z, u;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, n = PTHREAD_MUTEX_INITIALIZER;
typedef void* thread(void*);
"""
MAIN = """\
int main(int count, char** words) {
    thread* const* const script = scripts[count > 1 ? atoi(words[1]) : 0];
    pthread_t handles[8];
    int made = 0;
    for (; script[made] != NULL; ++made) pthread_create(&handles[made], NULL, script[made], NULL);
    for (int i = 0; i < made; ++i) pthread_join(handles[i], NULL);
    return 0;
}
"""


def statement(o: Operation) -> str:
    order, failure = f"memory_order_{o.order}", f"memory_order_{o.failure}"
    match o.kind:
        case "load":
            return f"(void)atomic_load_explicit(&{o.location}, {order});"
        case "store":
            return f"atomic_store_explicit(&{o.location}, {o.a}, {order});"
        case "add":
            return f"(void)atomic_fetch_add_explicit(&{o.location}, {o.a}, {order});"
        case "exchange":
            return f"(void)atomic_exchange_explicit(&{o.location}, {o.a}, {order});"
        case "cas":
            return (
                f"{{ unsigned char e = {o.a}; (void)atomic_compare_exchange_strong_explicit("
                f"&{o.location}, &e, {o.b}, {order}, {failure}); }}"
            )
        case "wait":
            return f"(void)fp_wait(&{o.location}, {o.a}, {order});"
        case "bcas":
            return f"fp_bcas(&{o.location}, {o.a}, {o.b}, {order});"
        case "fence":
            return f"atomic_thread_fence({order});"
        case kind:
            return f"pthread_mutex_{kind}(&{o.location});"


class Book:
    """Scripts in one program. Line numbers tell the operations apart."""

    def __init__(self, scripts: Sequence[Script]) -> None:
        self.scripts = scripts
        self._lines: dict[int, tuple[int, int]] = {}  # line -> script, position
        text = HEAD.splitlines()
        names: list[list[str]] = []
        for number, script in enumerate(scripts):
            names.append([])
            for thread in sorted({o.thread for o in script}):
                names[-1].append(f"s{number}t{thread}")
                text.append(f"static void* {names[-1][-1]}(void* _) {{")
                for position, operation in enumerate(script):
                    if operation.thread == thread:
                        text.append(f"    wait_for({position});")
                        text.append(f"    {statement(operation)}")
                        self._lines[len(text)] = number, position
                        text.append(f"    turn = {position + 1};")
                text.append("    return _;")
                text.append("}")
        rows = ("{" + ", ".join((*row, "NULL")) + "}," for row in names)
        text += ["static thread* const scripts[][8] = {", *rows, "};"]
        self.text = "\n".join(text) + "\n" + MAIN

    def place_of_line(self, line: int) -> tuple[int, int]:
        """The number of the script and the position in it."""
        return self._lines[line]

    def compile(self, shell: Shell, *options: str) -> Path:
        shell.write("book.c", self.text)
        command = ("fencepost-cc", "--mode", "atomics", "-Wall", "-Wextra", "-Werror", *options)
        shell.ok(*command, "book.c", "-o", "book")
        return shell.directory / "book"

    def run(self, shell: Shell, program: Path, number: int, **options: object) -> frozenset[int]:
        """The positions of the operations of this script that the sanitizer reports."""
        events = shell.directory / "events.json"
        settings = {"json": events, "quiet": 1, "exitcode": 0, "await_loops": 0, **options}
        shell.ok(program, str(number), FENCEPOST_OPTIONS=":".join(f"{k}={v}" for k, v in settings.items()))
        lines = [json.loads(line) for line in events.read_text(encoding="utf-8").splitlines()]
        assert lines[-1]["event"] == "end"
        found = [event for event in lines if event["event"] == "finding"]
        places = (self._lines[line] for line in lines_of(program, found))
        positions = [position for script, position in places if script == number]
        assert len(positions) == len(found)
        return frozenset(positions)


def lines_of(program: Path, findings: Iterable[dict[str, Any]]) -> list[int]:
    offsets = [finding["by"]["stack"][0]["offset"] for finding in findings]
    if not offsets:
        return []
    answer = subprocess.run(
        ["addr2line", "-e", str(program), *offsets], capture_output=True, text=True, check=True
    )
    return [int(line.rpartition(":")[2].split()[0]) for line in answer.stdout.splitlines()]
