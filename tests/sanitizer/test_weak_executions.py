"""Weak executions against the definition of C++20: which graphs are made, and which are not."""

from __future__ import annotations

import random
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from fencepost.formats.registry import BY_ENDING, load_as
from fencepost.models.definition import definition, program_lts
from fencepost.models.enumerate import BOTTOM, reachable_graph_states
from fencepost.models.graphs import Graph
from fencepost.program import Program
from tests.native.building import SANITIZED, build

ORDERS = {"rlx": 0, "acq": 2, "rel": 3, "acq_rel": 4, "seq_cst": 5}


class Operation(NamedTuple):
    kind: str  # load, store, update, cas, fence
    location: int
    order: str
    failure: str = "rlx"  # of a cas
    expected: tuple[int, int] | None = None  # the thread and place of an operation, or the initial value


Threads = tuple[tuple[Operation, ...], ...]


def random_threads(seed: int) -> Threads:
    draw = random.Random(seed)
    if seed % 3:
        return _ring(draw)
    locations, sc = draw.choice((1, 2, 2, 2, 3)), draw.choice((0.0, 0.3, 0.8))
    sizes = [draw.randint(1, 4) for _ in range(draw.randint(2, 4))]
    while sum(sizes) > 7:
        sizes[sizes.index(max(sizes))] -= 1
    threads = tuple(tuple(_operation(draw, locations, sc) for _ in range(size)) for size in sizes if size)
    return _with_exchanges(draw, threads)


def _ring(draw: random.Random) -> Threads:
    """Each thread writes, or reads, one location and reads the next: there S and messages count."""
    count, sc = draw.choice((2, 2, 3)), draw.choice((0.2, 0.5, 0.9))
    threads = []
    for number in range(count):
        first = draw.choice(("store", "store", "update", "load"))
        thread = [_of_kind(draw, first, number, sc), _of_kind(draw, "load", (number + 1) % count, sc)]
        if draw.random() < 0.5:
            thread.insert(1, _of_kind(draw, "fence", 0, sc))
        threads.append(tuple(thread))
    if count == 2 and draw.random() < 0.5:
        threads.append(tuple(_of_kind(draw, draw.choice(("update", "load")), x, sc) for x in (1, 0)))
    return _with_exchanges(draw, tuple(threads))


def _with_exchanges(draw: random.Random, threads: Threads) -> Threads:
    """Some updates become compare-exchanges, which expect what some operation writes there."""
    writes = [
        (o.location, (thread, place))
        for thread, operations in enumerate(threads)
        for place, o in enumerate(operations)
        if o.kind in ("store", "update")
    ]

    def changed(o: Operation) -> Operation:
        if o.kind != "update" or draw.random() < 0.4:
            return o
        values = [None, *(write for location, write in writes if location == o.location)]
        failure = draw.choice(("rlx", "acq", "seq_cst" if o.order == "seq_cst" else "acq"))
        return o._replace(kind="cas", failure=failure, expected=draw.choice(values))

    return tuple(tuple(map(changed, operations)) for operations in threads)


def _operation(draw: random.Random, locations: int, sc: float) -> Operation:
    kind = draw.choices(("load", "store", "update", "fence"), (6, 4, 2, 3))[0]
    return _of_kind(draw, kind, draw.randrange(locations), sc)


def _of_kind(draw: random.Random, kind: str, location: int, sc: float) -> Operation:
    weak = {
        "load": ("rlx", "acq"),
        "store": ("rlx", "rel"),
        "update": ("rlx", "acq", "rel", "acq_rel"),
        "fence": ("acq", "rel", "acq_rel"),
    }
    order = "seq_cst" if draw.random() < sc else draw.choice(weak[kind])
    return Operation(kind, 0 if kind == "fence" else location, order)


def shape(text: str) -> Threads:
    """`store x rlx; load y rlx | store y rlx; load x rlx`"""
    return tuple(
        tuple(
            Operation(words[0], "xyz".index(words[1]) if words[0] != "fence" else 0, words[-1])
            for words in (operation.split() for operation in thread.split(";"))
        )
        for thread in text.split("|")
    )


def as_line(threads: Threads) -> str:
    def words(o: Operation) -> str:
        letter = {"load": "l", "store": "s", "update": "u", "cas": "c", "fence": "f"}[o.kind]
        if letter == "c":
            thread, place = o.expected or (-1, 0)
            return f"c {o.location} {ORDERS[o.order]} {ORDERS[o.failure]} {thread} {place}"
        return f"{letter} {ORDERS[o.order]}" if letter == "f" else f"{letter} {o.location} {ORDERS[o.order]}"

    return " | ".join(" ; ".join(map(words, thread)) for thread in threads)


def as_program(threads: Threads) -> Program:
    """Each write has a value of its own, so that a graph shows nothing that values do not."""
    text = ["max_value 31;", "global l0, l1, l2;"]
    places = [(number, place) for number, thread in enumerate(threads) for place in range(len(thread))]
    values: dict[tuple[int, int] | None, int] = {None: 0}
    values |= {place: value for value, place in enumerate(places, 1)}
    for number, thread in enumerate(threads):
        text.append(f"fn t{number} {{ local r;")
        for place, o in enumerate(thread):
            value = values[number, place]
            order = o.order
            match o.kind:
                case "load":
                    text.append(f"r = l{o.location}.load({order});")
                case "store":
                    text.append(f"l{o.location}.store({value}, {order});")
                case "fence":
                    text.append(f"fence({order});")
                case "cas":
                    expected = values[o.expected]
                    text.append(f"r = CAS(l{o.location}, {expected}, {value}, {_parts(order)}, {o.failure});")
                case _:
                    text.append(f"r = exchange(l{o.location}, {value}, {_parts(order)});")
        text.append("}")
    return load_as("threads.tpl", BY_ENDING, "\n".join(text))


def _parts(order: str) -> str:
    if order == "seq_cst":
        return "seq_cst"
    acquire = "acq" if order in ("acq", "acq_rel") else "rlx"
    release = "rel" if order in ("rel", "acq_rel") else "rlx"
    return f"{acquire}, {release}"


def graphs_of_the_definition(threads: Threads) -> Iterator[Graph]:
    lts = program_lts(as_program(threads), "cpp20")
    for state in reachable_graph_states(lts, definition("cpp20").memory):
        assert state.graph is not BOTTOM
        if all(len(done) == len(thread) for done, thread in zip(state.graph.labels, threads, strict=True)):
            yield state.graph


def is_made_in_order(graph: Graph) -> bool:
    """Writes take the end of the modification order: po ∪ rf ∪ mo has no cycle."""
    before: dict[int, set[int]] = {number: set() for number in graph.numbers()}
    for thread, labels in enumerate(graph.labels):
        numbers = [graph.number(thread, serial + 1) for serial in range(len(labels))]
        for place, number in enumerate(numbers):
            before[number] |= set(numbers[:place])
            if labels[place].reads:
                before[number].add(graph.rf_lists[thread][place])
    for writes in graph.mo_lists:
        for place, write in enumerate(writes):
            before[write] |= set(writes[:place])
    left = set(before)
    while left:
        ready = {number for number in left if not before[number] & left}
        if not ready:
            return False
        left -= ready
    return True


def as_text(graph: Graph, locations: int = 4) -> str:
    def name(write: int) -> str:
        event = graph.event(write)
        return "i" if event.thread is None else f"{event.thread}.{event.serial - 1}"

    words = [
        name(graph.rf_lists[thread][place]) if label.reads else "-"
        for thread, labels in enumerate(graph.labels)
        for place, label in enumerate(labels)
    ]
    words.append("mo")
    for location in range(locations):
        writes = graph.mo_lists[location][1:] if location < 3 else ()
        words.append(",".join(map(name, writes)) or "-")
    return " ".join(words)


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build("sanitizer/weak_executions.cpp", tmp_path_factory.mktemp("weak"), "-O1", *SANITIZED)


def made(machine: Path, programs: Sequence[Threads], *room: str) -> list[set[str]]:
    text = "".join(f"{as_line(program)}\n" for program in programs)
    done = subprocess.run([machine, *room], input=text, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) == len(programs)
    return [set(line.split(" / ")) for line in lines]


def check(machine: Path, seeds: range) -> None:
    """All graphs of the definition that can be made by appending writes, and no others."""
    programs = [random_threads(seed) for seed in seeds]
    few = made(machine, programs, "3")  # nearly all SC events are the past
    for seed, program, graphs, fewer in zip(seeds, programs, made(machine, programs), few, strict=True):
        defined = {as_text(graph) for graph in graphs_of_the_definition(program) if is_made_in_order(graph)}
        assert graphs == defined, f"seed {seed}: {as_line(program)}"
        assert fewer <= graphs, f"seed {seed}: {as_line(program)}"


def test_weak_executions_are_those_of_the_definition(machine: Path) -> None:
    check(machine, range(150))


@pytest.mark.slow
def test_weak_executions_are_those_of_the_definition_on_many_programs(machine: Path) -> None:
    check(machine, range(10_000, 11_000))


SHAPES = {
    "store buffering": ("store x rlx; load y rlx | store y rlx; load x rlx", "- i - i"),
    "message passing": ("store x rlx; store y rlx | load y rlx; load x rlx", "- - 0.1 i"),
    "message passing of a seq_cst payload": (
        "store x seq_cst; store y rlx | load y rlx; load x seq_cst",
        "- - 0.1 i",
    ),
    "independent reads": (
        "store x rel | store y rel | load x acq; load y acq | load y acq; load x acq",
        "- - 0.0 i 1.0 i",
    ),
    "write to read": (
        "store x rlx | load x rlx; store y rlx | load y rlx; load x rlx",
        "- 0.0 - 1.1 i",
    ),
}


@pytest.mark.parametrize("name", SHAPES)
def test_weak_outcomes_by_name(machine: Path, name: str) -> None:
    text, outcome = SHAPES[name]
    assert any(graph.startswith(f"{outcome} mo") for graph in made(machine, [shape(text)])[0])


@pytest.mark.parametrize(
    "text",
    [
        "store x seq_cst; load y seq_cst | store y seq_cst; load x seq_cst",
        "store x rlx; fence seq_cst; load y rlx | store y rlx; fence seq_cst; load x rlx",
    ],
)
def test_store_buffering_is_forbidden_by_seq_cst(machine: Path, text: str) -> None:
    for graph in made(machine, [shape(text)])[0]:
        reads = [word for word in graph.partition(" mo")[0].split() if word != "-"]
        assert reads != ["i", "i"]


def test_a_read_modify_write_carries_a_release_on(machine: Path) -> None:
    """Whoever reads the update of y, which reads the release store, reads the store to x."""
    program = shape("store x rlx; store y rel | update y rlx | load y acq; load x rlx")
    graphs = made(machine, [program])[0]
    assert any(graph.startswith("- - 0.1 1.0 0.0 mo") for graph in graphs)
    assert not any(graph.startswith("- - 0.1 1.0 i mo") for graph in graphs)
