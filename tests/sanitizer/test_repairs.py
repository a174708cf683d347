"""Every finding has a chain of reasons and a repair, and the repair repairs it.

The repair is applied to the script that was run, and the rules taken literally (`verdicts`) must then be
content with the access, in the same order of the operations.
"""

from __future__ import annotations

import json
import random
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import pytest

from tests.sanitizer.building import Shell, Toolchain, with_each_compiler
from tests.sanitizer.scripts import (
    ACQ_REL,
    ACQUIRE,
    HEAD,
    MAIN,
    RELAXED,
    RELEASE,
    SEQ_CST,
    Book,
    Operation,
    Script,
    missed_writes,
    parse,
    random_script,
    statement,
    verdicts,
)

NAMED = {
    "write-read causality": (
        "0: store x 1; 1: load x; 1: store y 1; 2: load y; 2: load x",
        {("release", 2), ("acquire", 3)},
    ),
    "with the acquire it lacks only release": (
        "0: store x 1; 1: load x; 1: store y 1; 2: load y acquire; 2: load x",
        {("release", 2)},
    ),
    "with SC fences in the first and the last thread": (
        "0: store x 1; 0: fence seq_cst; 1: load x; 1: store y 1; 2: load y; 2: fence seq_cst; 2: load x",
        {("release", 3)},
    ),
    "a release fence stands already": (
        "0: store x 1; 0: fence release; 0: store y 1; 1: load y; 1: load x",
        {("acquire", 3)},
    ),
    "an acquire fence stands already": (
        "0: store x 1; 0: store y 1; 1: load y; 1: fence acquire; 1: load x",
        {("release", 1)},
    ),
    "store buffering": (
        "0: store x 1; 0: load y; 1: store y 1; 1: load x",
        {("fence", 0, 1), ("fence", 2, 3)},
    ),
    "store buffering, one fence stands already": (
        "0: store x 1; 0: fence seq_cst; 0: load y; 1: store y 1; 1: load x",
        {("fence", 3, 4)},
    ),
    "store buffering with seq_cst loads": (
        "0: store x 1 release; 0: load y seq_cst; 1: store y 1 release; 1: load x seq_cst",
        {("seq_cst", 0), ("seq_cst", 2)},
    ),
    "two CAS of one location pass it on": (
        "0: store x 1; 0: store y 1; 1: cas y 1 2; 2: cas y 2 3; 2: load x",
        {("release", 1), ("acquire", 3)},
    ),
    "independent reads with one acquire load": (
        "0: store x 1 seq_cst; 1: load x acquire; 1: load y seq_cst; 2: store y 1 seq_cst; "
        "3: load y acquire; 3: load x seq_cst",
        {("seq_cst", 1), ("seq_cst", 4)},
    ),
    "through a mutex after a relaxed message": (
        "0: store x 1; 0: store y 1; 1: load y; 1: lock m; 1: unlock m; 2: lock m; 2: load x; 2: unlock m",
        {("release", 1), ("acquire", 2)},
    ),
}


class Lines(Protocol):
    def place_of_line(self, line: int) -> tuple[int, int]: ...


_STRENGTH = (RELAXED, ACQUIRE, RELEASE, ACQ_REL, SEQ_CST)


def reports_of(shell: Shell, book: Lines, program: Path, number: int) -> list[tuple[int, dict[str, Any]]]:
    """Each finding of a script with the position of its access, and with what is known of it at the end."""
    events = shell.directory / "events.json"
    shell.ok(program, str(number), FENCEPOST_OPTIONS=f"json={events}:quiet=1:exitcode=0:await_loops=0")
    lines = [json.loads(line) for line in events.read_text(encoding="utf-8").splitlines()]
    found = [event for event in lines if event["event"] == "finding"]
    for event in found:
        for more in lines:
            if more["event"] in ("uses", "repairs") and more["id"] == event["id"]:
                event.update({key: value for key, value in more.items() if key != "event"})
        event["grown"] = any(more["event"] == "repairs" and more["id"] == event["id"] for more in lines)
    return [(position(book, program, event["by"]["stack"][0]), event) for event in found]


@cache
def line_of(program: Path, offset: str) -> int:
    done = subprocess.run(
        ["addr2line", "-e", str(program), offset], capture_output=True, text=True, check=True
    )
    return int(done.stdout.rpartition(":")[2].split()[0])


def position(book: Lines, program: Path, place: dict[str, str]) -> int:
    return book.place_of_line(line_of(program, place["offset"]))[1]


def changes_of(book: Lines, program: Path, event: dict[str, Any]) -> set[tuple[str | int, ...]]:
    """(ORDER, position) and ("fence", after, before); -1 where a place is not known."""
    changes: set[tuple[str | int, ...]] = set()
    for repair in event["repair"]:
        places = [
            position(book, program, repair[part]) if part in repair else -1 for part in ("after", "before")
        ]
        if repair["what"] == "fence":
            changes.add(("fence", *places))
        else:
            changes.add((repair["order"], position(book, program, repair["at"])))
    return changes


def stronger(order: str, needed: str) -> str:
    if SEQ_CST in (order, needed):
        return SEQ_CST
    if RELAXED in (order, needed):
        return max(order, needed, key=_STRENGTH.index)
    return order if order == needed else ACQ_REL


def strengthened(operation: Operation, needed: str) -> Operation:
    order, failure = stronger(operation.order, needed), operation.failure
    if operation.kind == "cas" and needed in (ACQUIRE, ACQ_REL, SEQ_CST):
        failure = stronger(failure, ACQUIRE if needed == ACQ_REL else needed)
    return operation._replace(order=order, failure=failure)


def applied(
    script: Script, changes: set[tuple[str | int, ...]], access: int, *, early: bool
) -> tuple[Script, int]:
    """The repaired script, and where the access is in it; fences stand as early or as late as they may."""
    fences: dict[int, Operation] = {}  # before the operation at that position
    orders: dict[int, str] = {}
    for what, *where in changes:
        assert isinstance(what, str)
        places = [place for place in where if isinstance(place, int)]
        if what == "fence":
            after, before = places
            first = after >= 0 and (early or before < 0)
            at = after + 1 if first else before
            fences[at] = Operation(script[after if first else before].thread, "fence", order=SEQ_CST)
        else:
            orders[places[0]] = what
    repaired: list[Operation] = []
    for place, operation in enumerate(script):
        if place in fences:
            repaired.append(fences[place])
        if place == access:
            access_after = len(repaired)
        repaired.append(strengthened(operation, orders[place]) if place in orders else operation)
    return tuple(repaired), access_after


def check(shell: Shell, book: Book, program: Path, number: int) -> int:
    script = book.scripts[number]
    found = reports_of(shell, book, program, number)
    for access, event in found:
        assert event["chain"], (script, access)
        changes = changes_of(book, program, event)
        assert changes, (script, access, event["chain"])
        for early in (True, False):
            repaired, access_after = applied(script, changes, access, early=early)
            assert access_after not in verdicts(repaired), (script, access, changes)
    return len(found)


@with_each_compiler
def test_repairs_of_named_scripts(tmp_path: Path, toolchain: Toolchain) -> None:
    shell = Shell(tmp_path, toolchain)
    book = Book([parse(text) for text, _ in NAMED.values()])
    program = book.compile(shell, "-O1")
    for number, (name, (_, expected)) in enumerate(NAMED.items()):
        found = reports_of(shell, book, program, number)
        assert [changes_of(book, program, event) for _, event in found] == [expected], name
        check(shell, book, program, number)


def _repairs_work(tmp_path: Path, seeds: range) -> None:
    shell = Shell(tmp_path)
    scripts = [script for script in map(random_script, seeds) if verdicts(script)]
    book = Book(scripts)
    program = book.compile(shell, "-O0")
    for number, script in enumerate(scripts):
        assert check(shell, book, program, number) == len(verdicts(script))


def test_repairs_of_random_scripts_work(tmp_path: Path) -> None:
    _repairs_work(tmp_path, range(100))


# Traces: threads that run the same few lines in any order, so that there are many ways from a write to an
# access at the same two lines.


class Trace(NamedTuple):
    lines: tuple[Operation, ...]  # whatever their threads
    steps: tuple[tuple[int, int], ...]  # thread and line

    def script(self, changes: set[tuple[str | int, ...]], *, early: bool) -> tuple[Script, list[int]]:
        """With the changes made at all steps; and which line each operation is of, -1 for new fences.

        A fence stands at once after the one line, or at once before the other.
        """
        before: set[int] = set()
        after: set[int] = set()
        orders: dict[int, str] = {}
        for what, *where in changes:
            places = [place for place in where if isinstance(place, int)]
            if what != "fence":
                orders[places[0]] = str(what)
            elif places[0] >= 0 and (early or places[1] < 0):
                after.add(places[0])
            else:
                before.add(places[1])
        script: list[Operation] = []
        origins: list[int] = []
        for thread, line in self.steps:
            fence = Operation(thread, "fence", order=SEQ_CST)
            operation = strengthened(self.lines[line], orders.get(line, RELAXED))._replace(thread=thread)
            for one, origin, there in (
                (fence, -1, line in before),
                (operation, line, True),
                (fence, -1, line in after),
            ):
                if there:
                    script.append(one)
                    origins.append(origin)
        return tuple(script), origins


def random_trace(seed: int) -> Trace:
    draw = random.Random(seed)
    operations = [o for o in random_script(seed) if o.kind not in ("wait", "bcas", "lock", "unlock")]
    lines = tuple(draw.sample(operations, min(len(operations), draw.randint(3, 7))))
    threads = draw.randint(2, 4)
    return Trace(
        lines,
        tuple((draw.randrange(threads), draw.randrange(len(lines))) for _ in range(30 if lines else 0)),
    )


def pairs_in(script: Script, origins: list[int]) -> set[tuple[int, int]]:
    """The lines of the accesses that are violations, and of the writes that they can miss."""
    return {(origins[access], origins[missed]) for access, missed in missed_writes(script).items()}


class TraceBook:
    """Traces in one program, each of which is run as it is."""

    def __init__(self, traces: Sequence[Trace]) -> None:
        self._lines: dict[int, tuple[int, int]] = {}
        text = HEAD.splitlines()
        rows: list[str] = []
        for number, trace in enumerate(traces):
            text.append(f"static void do{number}(int line) {{ switch (line) {{")
            for position, operation in enumerate(trace.lines):
                text.append(f"    case {position}: {statement(operation)} break;")
                self._lines[len(text)] = number, position
            text.append("}}")
            threads = sorted({thread for thread, _ in trace.steps})
            for thread in threads:
                text.append(f"static void* s{number}t{thread}(void* _) {{")
                for turn, (by, line) in enumerate(trace.steps):
                    if by == thread:
                        text.append(f"    wait_for({turn}); do{number}({line}); turn = {turn + 1};")
                text += ["    return _;", "}"]
            rows.append("{" + ", ".join([f"s{number}t{thread}" for thread in threads] + ["NULL"]) + "},")
        text += ["static thread* const scripts[][8] = {", *rows, "};"]
        self.text = "\n".join(text) + "\n" + MAIN

    def place_of_line(self, line: int) -> tuple[int, int]:
        return self._lines[line]


def _repairs_remove_pairs(tmp_path: Path, seeds: range) -> tuple[int, int]:
    """The repair of a pair of lines leaves no occurrence of it in the run. How many pairs there were, and
    how many had repairs that had grown with the run."""
    shell = Shell(tmp_path)
    traces = [
        trace for trace in map(random_trace, seeds) if missed_writes(trace.script(set(), early=True)[0])
    ]
    book = TraceBook(traces)
    shell.write("book.c", book.text)
    shell.ok("fencepost-cc", "--mode", "atomics", "-O0", "book.c", "-o", "book")
    program = shell.directory / "book"
    pairs = grown = 0
    for number, trace in enumerate(traces):
        seen = set()
        for access, event in reports_of(shell, book, program, number):
            pair = access, position(book, program, event["missed"]["stack"][0])
            seen.add(pair)
            grown += event["grown"]
            assert event["tried"] == event["times"], (trace, pair)
            changes = changes_of(book, program, event)
            for early in (True, False):
                assert pair not in pairs_in(*trace.script(changes, early=early)), (trace, pair, changes)
        assert seen == pairs_in(*trace.script(set(), early=True))
        pairs += len(seen)
    return pairs, grown


def test_repairs_remove_all_occurrences_of_a_pair_of_lines(tmp_path: Path) -> None:
    pairs, grown = _repairs_remove_pairs(tmp_path, range(40))
    assert grown > pairs // 20


TWO_WAYS = (
    HEAD
    + """
static void put(void) { atomic_store_explicit(&x, 1, memory_order_relaxed); }
static void get(void) { (void)atomic_load_explicit(&x, memory_order_relaxed); }
static void* writer(void* _) {
    put();
    atomic_store_explicit(&y, 1, memory_order_relaxed);
    turn = 1;
    wait_for(2);
    put();
    atomic_store_explicit(&z, 1, memory_order_relaxed);
    turn = 3;
    return _;
}
int main(void) {
    pthread_t handle;
    pthread_create(&handle, NULL, writer, NULL);
    wait_for(1);
    (void)atomic_load_explicit(&y, memory_order_relaxed);
    get();
    turn = 2;
    wait_for(3);
    (void)atomic_load_explicit(&z, memory_order_relaxed);
    get();
    pthread_join(handle, NULL);
}
"""
)


def test_a_repair_is_extended_to_another_way_from_the_write_to_the_access(tmp_path: Path) -> None:
    shell = Shell(tmp_path)
    shell.ok("fencepost-cc", "--mode", "atomics", "-O0", shell.write("ways.c", TWO_WAYS), "-o", "ways")
    lines = {text.strip(): number for number, text in enumerate(TWO_WAYS.splitlines(), 1)}
    ways = [(lines[f"atomic_store_explicit(&{x}, 1, memory_order_relaxed);"], "release") for x in "yz"] + [
        (lines[f"(void)atomic_load_explicit(&{x}, memory_order_relaxed);"], "acquire") for x in "yz"
    ]

    (finding,) = json.loads(shell.run("fencepost", "run", "--json", "./ways").stdout)["findings"]
    repairs = {(one["at"]["line"], one["order"], one["besides"]) for one in finding["repair"]}
    assert repairs == {(*ways[0], False), (*ways[1], True), (*ways[2], False), (*ways[3], True)}
    assert (finding["tried"], finding["occurrences"]) == (2, 2)
    report = " ".join(shell.run("fencepost", "run", "./ways").stdout.split())
    assert "The last 2 of these are for other occurrences, at which the access comes after" in report

    direct = shell.run("./ways").stderr
    first, _, then = direct.partition("in other ways too, for which the repair was extended:")
    for line, order in ways:
        assert f"`memory_order_{order}` for the operation at ways.c:{line}" in " ".join(then.split())
    assert f"ways.c:{ways[1][0]}" not in first


@pytest.mark.slow
@pytest.mark.parametrize("first", range(1_000, 11_000, 1_000))
def test_repairs_of_many_random_scripts_work(tmp_path: Path, first: int) -> None:
    _repairs_work(tmp_path, range(first, first + 1_000))


@pytest.mark.slow
@pytest.mark.parametrize("first", range(1_000, 6_000, 500))
def test_repairs_remove_all_occurrences_of_many_pairs_of_lines(tmp_path: Path, first: int) -> None:
    _repairs_remove_pairs(tmp_path, range(first, first + 500))
