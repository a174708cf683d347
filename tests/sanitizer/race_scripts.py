"""Scripts with plain accesses, and which of these race by the definition of happens-before in C++20.

As in `scripts`, each operation waits for its turn, by means that neither fencepost nor ThreadSanitizer sees;
under a schedule it lets others run meanwhile. So what comes after what is fixed, and reads see the write
before them. `races` takes the definition literally (intro.races, atomics.order, atomics.fences):
synchronises-with between releases and acquires, through release sequences and fences, and the transitive
closure over it.
"""

from __future__ import annotations

import json
import random
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from tests.sanitizer.building import Shell
from tests.sanitizer.scripts import (
    ACQ_REL,
    ACQUIRE,
    MAIN,
    RELAXED,
    RELEASE,
    SEQ_CST,
    Operation,
    Script,
    statement,
)

Pair = tuple[int, int]

_ACQUIRES, _RELEASES = (ACQUIRE, ACQ_REL, SEQ_CST), (RELEASE, ACQ_REL, SEQ_CST)
_PLAIN = ("read", "write")
_RMW = ("add", "exchange")


def races(script: Script) -> set[Pair]:
    """The positions of plain accesses that conflict and are not ordered by happens-before."""
    before = _happens_before(script)
    return {
        (i, j)
        for j, later in enumerate(script)
        for i, earlier in enumerate(script[:j])
        if later.kind in _PLAIN
        and earlier.kind in _PLAIN
        and earlier.location == later.location
        and earlier.thread != later.thread
        and "write" in (earlier.kind, later.kind)
        and i not in before[j]
    }


def _happens_before(script: Script) -> list[set[int]]:
    """For each operation those that happen before it. All edges lead forwards, so one pass is enough."""
    before: list[set[int]] = []
    for j, operation in enumerate(script):
        direct = {i for i in range(j) if script[i].thread == operation.thread}
        direct |= set(_synchronises_with(script, j))
        before.append(direct.union(*(before[i] for i in direct)))
    return before


def _synchronises_with(script: Script, j: int) -> Iterator[int]:
    """The releases, unlocks and release fences that synchronise with operation j."""
    last = script[j]
    if last.kind == "lock":
        yield from (i for i in range(j) if script[i].kind == "unlock" and script[i].location == last.location)
    for read in _reads_of_acquire(script, j):
        for write in _release_sequence(script, read):
            if script[write].order in _RELEASES:
                yield write
            yield from (
                i
                for i in range(write)
                if script[i].kind == "fence"
                and script[i].order in _RELEASES
                and script[i].thread == script[write].thread
            )


def _reads_of_acquire(script: Script, j: int) -> Iterator[int]:
    """An acquire read itself; for an acquire fence the reads before it in its thread."""
    last = script[j]
    if last.kind in ("load", *_RMW) and last.order in _ACQUIRES:
        yield j
    if last.kind == "fence" and last.order in _ACQUIRES:
        yield from (
            i for i in range(j) if script[i].thread == last.thread and script[i].kind in ("load", *_RMW)
        )


def _release_sequence(script: Script, read: int) -> Iterator[int]:
    """The write that is read, and while it is a read-modify-write the one that this has read."""
    location = script[read].location
    for i in reversed(range(read)):
        if script[i].location == location and script[i].kind in ("store", *_RMW):
            yield i
            if script[i].kind == "store":
                return


def random_race_script(seed: int) -> Script:
    """At most four accesses to each plain location: ThreadSanitizer does not remember more at a time."""
    draw = random.Random(seed)
    threads, atomics = draw.randint(2, 4), "xyz"[: draw.randint(1, 3)]
    left = {"d": 4, "e": 4}
    held: dict[str, int] = {}
    script: list[Operation] = []
    for _ in range(draw.randint(6, 26)):
        thread, x = draw.randrange(threads), draw.choice(atomics)
        match draw.choices(("plain", "load", "store", "rmw", "fence", "mutex"), (4, 6, 5, 3, 4, 1))[0]:
            case "plain":
                place = draw.choice("de")
                if left[place] > 0:
                    left[place] -= 1
                    script.append(Operation(thread, draw.choice(_PLAIN), place))
            case "load":
                script.append(Operation(thread, "load", x, order=draw.choice((RELAXED, ACQUIRE, SEQ_CST))))
            case "store":
                order = draw.choice((RELAXED, RELAXED, RELEASE, SEQ_CST))
                script.append(Operation(thread, "store", x, draw.randrange(4), order=order))
            case "rmw":
                order = draw.choice((RELAXED, ACQUIRE, RELEASE, ACQ_REL, SEQ_CST))
                script.append(Operation(thread, draw.choice(_RMW), x, 1, order=order))
            case "fence":
                order = draw.choice((ACQUIRE, RELEASE, ACQ_REL, SEQ_CST))
                script.append(Operation(thread, "fence", order=order))
            case _ if "m" in held:
                script.append(Operation(held.pop("m"), "unlock", "m"))
            case _:
                held["m"] = thread
                script.append(Operation(thread, "lock", "m"))
    script += [Operation(thread, "unlock", mutex) for mutex, thread in held.items()]
    return tuple(script)


def random_passing_script(seed: int) -> Script:
    """One thread uses a plain location, a few operations may pass that on, then another thread uses it.

    Whether they race hangs on each of the operations between, so an error in one rule shows in many scripts.
    In those of `random_race_script` most accesses race anyway, or are far from each other.
    """
    draw = random.Random(seed)
    script: list[Operation] = []
    for place in "de"[: draw.randint(1, 2)]:
        first, last = draw.sample(range(3), 2)
        script.append(Operation(first, draw.choice(_PLAIN), place))
        if draw.random() < 0.4:
            script.append(Operation(first, "fence", order=draw.choice((RELEASE, ACQ_REL, SEQ_CST))))
        script.append(_passing_write(draw, first))
        script += [_between(draw, draw.randrange(3)) for _ in range(draw.randrange(4))]
        script.append(Operation(last, "load", "x", order=draw.choice((RELAXED, ACQUIRE, ACQUIRE, SEQ_CST))))
        if draw.random() < 0.4:
            script.append(Operation(last, "fence", order=draw.choice((ACQUIRE, ACQ_REL, SEQ_CST))))
        script.append(Operation(last, draw.choice(_PLAIN), place))
    return tuple(script)


def _passing_write(draw: random.Random, thread: int) -> Operation:
    if draw.random() < 0.7:
        return Operation(thread, "store", "x", 1, order=draw.choice((RELAXED, RELEASE, RELEASE, SEQ_CST)))
    return Operation(thread, "add", "x", 1, order=draw.choice((RELAXED, RELEASE, ACQ_REL)))


def _between(draw: random.Random, thread: int) -> Operation:
    match draw.choices(("rmw", "store", "load", "fence"), (4, 2, 2, 1))[0]:
        case "rmw":
            order = draw.choice((RELAXED, RELAXED, ACQUIRE, RELEASE, ACQ_REL))
            return Operation(thread, draw.choice(_RMW), "x", 1, order=order)
        case "store":
            return Operation(thread, "store", "x", 2, order=draw.choice((RELAXED, RELAXED, RELEASE)))
        case "load":
            return Operation(thread, "load", "x", order=draw.choice((RELAXED, ACQUIRE)))
        case _:
            return Operation(thread, "fence", order=draw.choice((ACQUIRE, RELEASE, SEQ_CST)))


_HEAD = """\
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#define UNSEEN __attribute__((no_sanitize("thread"), noinline))
static volatile int turn;
UNSEEN static void wait_for(int t) { while (turn != t) sched_yield(); }
UNSEEN static void next(int t) { turn = t; }
atomic_uchar x, y, z;
_Alignas(64) volatile int d;
_Alignas(64) volatile int e;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, n = PTHREAD_MUTEX_INITIALIZER;
typedef void* thread(void*);
"""


class RaceBook:
    """Scripts in one program. Line numbers tell the operations apart."""

    def __init__(self, scripts: Sequence[Script], *, mode: str = "races") -> None:
        self._mode = mode
        self._lines: dict[int, tuple[int, int]] = {}  # line -> script, position
        text = _HEAD.splitlines()
        rows = []
        for number, script in enumerate(scripts):
            names = []
            for thread in sorted({o.thread for o in script}):
                names.append(f"s{number}t{thread}")
                text.append(f"static void* {names[-1]}(void* _) {{")
                for position, operation in enumerate(script):
                    if operation.thread == thread:
                        text += [f"    wait_for({position});", f"    {_plain_or_atomic(operation)}"]
                        self._lines[len(text)] = number, position
                        text.append(f"    next({position + 1});")
                text += ["    return _;", "}"]
            rows.append("{" + ", ".join((*names, "NULL")) + "},")
        text += ["static thread* const scripts[][8] = {", *rows, "};"]
        self.text = "\n".join(text) + "\n" + MAIN

    def compile(self, shell: Shell) -> Path:
        """Not optimised: clang makes a store of an exchange whose result is not used."""
        shell.write("book.c", self.text)
        shell.ok("fencepost-cc", "--mode", self._mode, "-O0", "-Wall", "-Wextra", "book.c", "-o", "book")
        return shell.directory / "book"

    def run(self, shell: Shell, program: Path, number: int) -> set[Pair]:
        """The positions of the accesses of this script that are reported as races."""
        events = shell.directory / "events.json"
        options = f"json={events}:quiet=1:exitcode=0"
        options += f":schedule=random:seed={number}" if self._mode == "full" else ""
        shell.ok(program, str(number), FENCEPOST_OPTIONS=options, TSAN_OPTIONS="exitcode=0:symbolize=0")
        lines = [json.loads(line) for line in events.read_text(encoding="utf-8").splitlines()]
        assert lines[-1]["event"] == "end"
        found = [event for event in lines if event.get("kind") == "race"]
        accesses = [one for event in found for one in (event["missed"], event["by"])]
        positions = self._positions(program, number, accesses)
        return {(min(pair), max(pair)) for pair in zip(positions[::2], positions[1::2], strict=True)}

    def _positions(self, program: Path, number: int, accesses: Sequence[dict[str, Any]]) -> list[int]:
        offsets = [access["stack"][0]["offset"] for access in accesses]
        if not offsets:
            return []
        command = ["addr2line", "-e", str(program), *offsets]
        answer = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
        places = [self._lines[int(line.rpartition(":")[2].split()[0])] for line in answer]
        assert all(script == number for script, _ in places)
        return [position for _, position in places]


def _plain_or_atomic(operation: Operation) -> str:
    match operation.kind:
        case "read":
            return f"(void){operation.location};"
        case "write":
            return f"{operation.location} = 1;"
        case _:
            return statement(operation)
