"""Changes at sites (`sites=FILE`): the rules take them for what the program does."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from fencepost.sanitizer.answer.sites import function_name
from fencepost.sanitizer.answer.symbols import look_up
from fencepost.sanitizer.run.events import Place
from tests.sanitizer.building import Shell
from tests.sanitizer.check_scripts import Collection, Program, expected, random_program
from tests.sanitizer.scripts import ACQ_REL, ACQUIRE, RELAXED, RELEASE, SEQ_CST, Operation, lines_of

_KINDS = {"add": "fetch", "wait": "load", "cas": "compare_exchange"}
_ORDERS = {
    "load": (RELAXED, ACQUIRE, SEQ_CST),
    "wait": (RELAXED, ACQUIRE, SEQ_CST),
    "store": (RELAXED, RELEASE, SEQ_CST),
    "fence": (ACQUIRE, RELEASE, ACQ_REL, SEQ_CST),
}
_OF_UPDATES = (RELAXED, ACQUIRE, RELEASE, ACQ_REL, SEQ_CST)
_WAYS: tuple[dict[str, object], ...] = ({"restart": "fork"}, {"restart": "memory"}, {"walks": 3}, {})


class Changed(NamedTuple):
    """`lines` are those of the file, by thread and position; `origin` says of each operation of the changed
    `program` which one it was, where it is not a new fence."""

    program: Program
    lines: dict[tuple[int, int], str]
    origin: dict[tuple[int, int], tuple[int, int]]


def changed(program: Program, draw: random.Random) -> Changed:
    threads = []
    lines: dict[tuple[int, int], str] = {}
    origin: dict[tuple[int, int], tuple[int, int]] = {}
    for number, thread in enumerate(program):
        now: list[Operation] = []
        for position, operation in enumerate(thread):
            made, words = _changed(operation, draw)
            if words:
                lines[number, position] = " ".join((_KINDS.get(operation.kind, operation.kind), *words))
            for one, is_own in made:
                if is_own:
                    origin[number, len(now)] = number, position
                now.append(one)
        # A thread that does nothing would be none.
        threads.append(tuple(now) or (Operation(number, "fence", order=ACQUIRE),))
    return Changed(tuple(threads), lines, origin)


def _changed(operation: Operation, draw: random.Random) -> tuple[list[tuple[Operation, bool]], list[str]]:
    """What becomes of it, whether that is itself, and the words in the file."""
    if operation.kind in ("lock", "unlock") or draw.random() < 0.4:
        return [(operation, True)], []
    if operation.kind == "fence" and draw.random() < 0.5:
        return [], ["remove"]
    order = draw.choice(_ORDERS.get(operation.kind, _OF_UPDATES))
    failure = draw.choice(_ORDERS["load"]) if operation.kind == "cas" else operation.failure
    now = operation._replace(order=order, failure=failure)
    words = [f"order={order}"]
    words += [f"failure={now.failure}"] if operation.kind == "cas" else []
    made = [(now, True)]
    for side in ("before", "after"):
        if draw.random() < 0.3:
            fence = Operation(operation.thread, "fence", order=draw.choice(_ORDERS["fence"]))
            words.append(f"{side}={fence.order}")
            made.insert(0 if side == "before" else len(made), (fence, False))
    return made, words


def _explored(shell: Shell, program: Path, *arguments: str, **options: object) -> list[dict[str, Any]]:
    for file in shell.directory.glob("events.json*"):
        file.unlink()
    events = shell.directory / "events.json"
    settings = {"schedule": "explore", "json": events, "quiet": 1, "exitcode": 0, "await_loops": 0, **options}
    shell.ok(program, *arguments, FENCEPOST_OPTIONS=":".join(f"{k}={v}" for k, v in settings.items()))
    files = sorted(shell.directory.glob("events.json*"), reverse=True)
    return [json.loads(line) for file in files for line in file.read_text(encoding="utf-8").splitlines()]


def _places(events: list[list[dict[str, Any]]]) -> dict[int, list[str]]:
    """Where the operations of each line are, as files of changes have it."""
    told = [event for one in events for event in one if event["event"] == "site"]
    at = {Place(**event["at"]) for event in told}
    found: dict[int, list[str]] = {}
    for place, frames in look_up(at).frames.items():
        found.setdefault(frames[0].line, []).append(f"{place.module}+{place.offset}")
    return found


def _disagreements(shell: Shell, first: int, count: int, *, by_source: bool) -> Iterator[str]:
    programs = [random_program(seed) for seed in range(first, first + count)]
    collection = Collection(programs)
    binary = collection.compile(shell)
    lines = {place: line for line, place in collection.places.items()}
    places = {line: [f"collection.c:{line}"] for line in collection.places}
    if not by_source:
        places = _places([_explored(shell, binary, str(number), list_sites=1) for number in range(count)])
    others = [changed(program, random.Random(first + number)) for number, program in enumerate(programs)]
    found: dict[int, list[dict[str, Any]]] = {}
    for number, other in enumerate(others):
        rows = (
            f"{place} {words}\n"
            for where, words in other.lines.items()
            for place in places.get(lines[number, *where], ())  # none where it is never reached
        )
        sites = shell.write("changes", "".join(rows))
        events = _explored(shell, binary, str(number), sites=sites, **_WAYS[number % len(_WAYS)])
        found[number] = [event for event in events if event["event"] == "finding"]
    known = iter(lines_of(binary, [event for number in found for event in found[number]]))
    for number, other in enumerate(others):
        violations = {collection.places[next(known)][1:] for _ in found[number]}
        wanted = {other.origin[place] for place in expected(other.program).violations}
        if violations != wanted:
            yield f"{programs[number]} as {other.program}: {wanted}, but {violations}"


def _agree(shell: Shell, first: int, count: int, *, by_source: bool = False) -> None:
    wrong = list(_disagreements(shell, first, count, by_source=by_source))
    assert not wrong, f"{len(wrong)} of {count}:\n" + "\n".join(wrong[:5])


def test_findings_with_changes_are_those_of_the_changed_program(tmp_path: Path) -> None:
    _agree(Shell(tmp_path), 1, 25)


def test_sites_are_found_by_their_lines(tmp_path: Path) -> None:
    _agree(Shell(tmp_path), 100, 4, by_source=True)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(10))
def test_findings_of_many_programs_with_changes(tmp_path: Path, part: int) -> None:
    _agree(Shell(tmp_path), 1_000 * (part + 1), 200)


@pytest.mark.parametrize(
    ("function", "name"),
    [
        ("main", "main"),
        ("ring<int, 1ul>::push(int)", "ring::push"),
        ("ring<std::vector<int> >::push(std::vector<int>)", "ring::push"),
        ("(anonymous namespace)::ring::push(int)", "(anonymous namespace)::ring::push"),
        ("void (anonymous namespace)::work<int>(int)", "(anonymous namespace)::work"),
        ("void work<lock<(std::memory_order)0> >(lock<(std::memory_order)0>&, int&)", "work"),
        ("main::{lambda(int)#1}::operator()(int) const", "main::{lambda(int)#1}::operator()"),
        ("main::$_1::operator()() const", "main::$_1::operator()"),
        ("operator()", "operator()"),
        ("box<int>::operator<(box<int> const&) const", "box::operator<"),
        ("box<int>::operator->()", "box::operator->"),
        ("box<int>::operator unsigned long() const", "box::operator unsigned long"),
        ("run(void (*)(int), int)", "run"),
        ("run [clone .constprop.0]", "run"),
    ],
)
def test_the_function_of_a_site_is_the_same_for_all_instances_of_a_template(function: str, name: str) -> None:
    assert function_name(function) == name
