"""Every finding has a chain of reasons and a repair, and the repair repairs it.

The repair is applied to the script that was run, and the rules taken literally (`verdicts`) must then be
content with the access, in the same order of the operations.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.sanitizer.building import Shell, Toolchain, with_each_compiler
from tests.sanitizer.scripts import (
    ACQ_REL,
    ACQUIRE,
    RELAXED,
    RELEASE,
    SEQ_CST,
    Book,
    Operation,
    Script,
    parse,
    random_script,
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

_STRENGTH = (RELAXED, ACQUIRE, RELEASE, ACQ_REL, SEQ_CST)


def reports_of(shell: Shell, book: Book, program: Path, number: int) -> list[tuple[int, dict[str, Any]]]:
    """Each finding of a script with the position of its access."""
    events = shell.directory / "events.json"
    shell.ok(program, str(number), FENCEPOST_OPTIONS=f"json={events}:quiet=1:exitcode=0:await_loops=0")
    lines = [json.loads(line) for line in events.read_text(encoding="utf-8").splitlines()]
    found = [event for event in lines if event["event"] == "finding"]
    return [(position(book, program, event["by"]["stack"][0]), event) for event in found]


def position(book: Book, program: Path, place: dict[str, str]) -> int:
    done = subprocess.run(
        ["addr2line", "-e", str(program), place["offset"]], capture_output=True, text=True, check=True
    )
    return book.place_of_line(int(done.stdout.rpartition(":")[2].split()[0]))[1]


def changes_of(book: Book, program: Path, event: dict[str, Any]) -> set[tuple[str | int, ...]]:
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


@pytest.mark.slow
@pytest.mark.parametrize("first", range(1_000, 11_000, 1_000))
def test_repairs_of_many_random_scripts_work(tmp_path: Path, first: int) -> None:
    _repairs_work(tmp_path, range(first, first + 1_000))
