"""The run-time library's verdicts: litmus shapes, and random scripts against the rules."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.sanitizer.building import Shell, Toolchain, with_each_compiler
from tests.sanitizer.scripts import Book, parse, random_script, verdicts

# Scripts of well-known shapes, with the operation that is a violation marked by `!` in front.
LITMUS = {
    "store buffering": "0: store x 1; 0: load y; 1: store y 1; !1: load x",
    "store buffering, release and acquire": (
        "0: store x 1 release; 0: load y acquire; 1: store y 1 release; !1: load x acquire"
    ),
    "store buffering with SC fences": (
        "0: store x 1; 0: fence seq_cst; 0: load y; 1: store y 1; 1: fence seq_cst; 1: load x"
    ),
    "store buffering with one SC fence": (
        "0: store x 1; 0: fence seq_cst; 0: load y; 1: store y 1; !1: load x"
    ),
    "store buffering, seq_cst": (
        "0: store x 1 seq_cst; 0: load y seq_cst; 1: store y 1 seq_cst; 1: load x seq_cst"
    ),
    "store buffering, relaxed stores and seq_cst loads": (
        "0: store x 1; 0: load y seq_cst; 1: store y 1; !1: load x seq_cst"
    ),
    "store buffering, release stores and seq_cst loads": (
        "0: store x 1 release; 0: load y seq_cst; 1: store y 1 release; !1: load x seq_cst"
    ),
    "store buffering, seq_cst stores and relaxed loads": (
        "0: store x 1 seq_cst; 0: load y; 1: store y 1 seq_cst; !1: load x"
    ),
    "store buffering, three accesses seq_cst and one release": (
        "0: store x 1 seq_cst; 0: load y seq_cst; 1: store y 1 release; !1: load x seq_cst"
    ),
    "store buffering, one side seq_cst and the other with a fence": (
        "0: store x 1 seq_cst; 0: load y seq_cst; 1: store y 1; 1: fence seq_cst; 1: load x"
    ),
    "store buffering over RMWs": (
        "0: exchange x 1 acq_rel; 0: load y acquire; 1: exchange y 1 acq_rel; !1: load x acquire"
    ),
    "store buffering is predicted after the fact": (
        "0: store x 1; 0: load y; 0: store x 2; 1: store y 1; !1: load x; 1: store y 2"
    ),
    "message passing, relaxed": "0: store x 1; 0: store y 1; 1: load y; !1: load x",
    "message passing, release and acquire": (
        "0: store x 1; 0: store y 1 release; 1: load y acquire; 1: load x"
    ),
    "message passing, release only": "0: store x 1; 0: store y 1 release; 1: load y; !1: load x",
    "message passing, acquire only": "0: store x 1; 0: store y 1; 1: load y acquire; !1: load x",
    "message passing with fences": (
        "0: store x 1; 0: fence release; 0: store y 1; 1: load y; 1: fence acquire; 1: load x"
    ),
    "message passing, fence on the wrong side": (
        "0: store x 1; 0: store y 1; 0: fence release; 1: fence acquire; 1: load y; !1: load x"
    ),
    "message passing through a mutex": (
        "0: lock m; 0: store x 1; 0: unlock m; 1: lock m; 1: load x; 1: unlock m"
    ),
    "a relaxed flag and then the mutex": (
        "0: lock m; 0: store x 1; 0: unlock m; 0: store y 1; 1: load y; 1: lock m; 1: load x; 1: unlock m"
    ),
    "independent reads of independent writes": (
        "0: store x 1 release; 1: store y 1 release; 2: load x acquire; 2: load y acquire;"
        "3: load y acquire; 3: load x acquire"
    ),
    "independent reads, one reader early": (
        "0: store x 1 release; 2: load x acquire; 2: load y acquire; 1: store y 1 release;"
        "3: load y acquire; !3: load x acquire"
    ),
    "independent reads, first ones acquire, second ones seq_cst": (
        "0: store x 1 seq_cst; 2: load x acquire; 2: load y seq_cst; 1: store y 1 seq_cst;"
        "3: load y acquire; !3: load x seq_cst"
    ),
    "independent reads, seq_cst": (
        "0: store x 1 seq_cst; 2: load x seq_cst; 2: load y seq_cst; 1: store y 1 seq_cst;"
        "3: load y seq_cst; 3: load x seq_cst"
    ),
    "independent reads with SC fences": (
        "0: store x 1; 2: load x; 2: fence seq_cst; 2: load y; 1: store y 1;"
        "3: load y; 3: fence seq_cst; 3: load x"
    ),
    "two writes twice, seq_cst": (
        "0: store x 1 seq_cst; 0: store y 2 seq_cst; 1: store y 1 seq_cst; 1: store x 2 seq_cst"
    ),
    "two writes twice, three seq_cst and one release": (
        "0: store x 1 seq_cst; 0: store y 2 seq_cst; 1: store y 1 release; !1: store x 2 seq_cst"
    ),
    "two writes twice": "0: store x 1; 0: store y 2; 1: store y 1; !1: store x 2",
    "two writes twice with SC fences": (
        "0: store x 1; 0: fence seq_cst; 0: store y 2; 1: store y 1; 1: fence seq_cst; 1: store x 2"
    ),
    "reads of one location are coherent": "0: store x 1; 1: load x; 1: load x",
    "write to read causality": (
        "0: store x 1; 1: load x; 1: store y 1 release; 2: load y acquire; 2: load x"
    ),
    "a release sequence through an RMW": (
        "0: store x 1; 0: store y 1 release; 1: add y 1; 2: load y acquire; 2: load x"
    ),
    "a release sequence ends with another thread's store": (
        "0: store x 1; 0: store y 1 release; 1: load y; 1: store y 2; 2: load y acquire; !2: load x"
    ),
    "a failed CAS reads": (
        "0: store x 1; 0: store y 1 release; 1: cas y 0 2 acq_rel acquire; 1: load x"
    ),
    "a failed CAS reads with its failure order": (
        "0: store x 1; 0: store y 1 release; 1: cas y 0 2 acq_rel relaxed; !1: load x"
    ),
    "a CAS that succeeds acquires and releases": (
        "0: store x 1; 0: store y 1 release; 1: cas y 1 2 acq_rel; 2: load y acquire; 2: load x"
    ),
    "a CAS that must read the newest value": "0: add x 1; 0: load y; 1: store y 1; 1: bcas x 1 2",
    "a CAS that can fail on an old value": "0: store x 1; 0: load y; 1: store y 1; !1: cas x 1 2",
    "a write cannot come between an RMW and what it reads": (
        "0: add x 1; 0: load y; 1: store y 1; 1: store x 2"
    ),
    "a write can come before a write": "0: store x 1; 0: load y; 1: store y 1; !1: store x 2",
    "a wait for the new value misses nothing": "0: store x 1; 0: load y; 1: store y 1; 1: wait x 1",
    "a wait for a value that was there before": (
        "0: store x 1; 0: store x 0; 0: load y; 1: store y 1; !1: wait x 0"
    ),
}  # fmt: skip


def _litmus() -> tuple[list[str], list[frozenset[int]]]:
    scripts, expected = [], []
    for text in LITMUS.values():
        parts = text.split(";")
        expected.append(frozenset(i for i, part in enumerate(parts) if part.strip().startswith("!")))
        scripts.append(text.replace("!", ""))
    return scripts, expected


def test_the_rules_taken_literally_agree_with_the_marked_shapes() -> None:
    for name, text, expected in zip(LITMUS, *_litmus(), strict=True):
        assert verdicts(parse(text)) == expected, name


@with_each_compiler
def test_litmus_shapes_are_reported_where_and_only_where_they_are_marked(
    tmp_path: Path, toolchain: Toolchain
) -> None:
    shell = Shell(tmp_path, toolchain)
    scripts, expected = _litmus()
    book = Book([parse(text) for text in scripts])
    program = book.compile(shell, "-O0")  # so that every operation keeps its line
    found = {name: book.run(shell, program, i) for i, name in enumerate(LITMUS)}
    assert found == dict(zip(LITMUS, expected, strict=True))


def _random_scripts_agree(shell: Shell, seeds: range) -> None:
    book = Book([random_script(seed) for seed in seeds])
    program = book.compile(shell, "-O0")  # so that every operation keeps its line
    for number, seed in enumerate(seeds):
        assert book.run(shell, program, number) == verdicts(book.scripts[number]), f"seed {seed}"


@with_each_compiler
def test_random_scripts_are_reported_as_the_rules_say(tmp_path: Path, toolchain: Toolchain) -> None:
    _random_scripts_agree(Shell(tmp_path, toolchain), range(60))


@pytest.mark.slow
@with_each_compiler
@pytest.mark.parametrize("hundred", range(10))
def test_many_random_scripts_are_reported_as_the_rules_say(
    tmp_path: Path, toolchain: Toolchain, hundred: int
) -> None:
    _random_scripts_agree(Shell(tmp_path, toolchain), range(1000 + 100 * hundred, 1100 + 100 * hundred))
