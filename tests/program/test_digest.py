"""The digest of a program tells programs apart, and nothing else."""

from __future__ import annotations

import pytest
from hypothesis import given
from msgspec.structs import replace

from fencepost.formats import load, tpl
from fencepost.program import Program
from fencepost.program.digest import program_digest
from tests.strategies import programs

PLAIN = "global x; fn t { local q; q = x.load(); on: x.store(q + 1); off: skip; }"


def digest(text: str, file: str = "a.tpl") -> str:
    return program_digest(tpl.read(text, file))


@pytest.mark.parametrize(
    "text", [f"// first\n{PLAIN}", PLAIN.replace("; ", ";\n"), PLAIN.replace("q + 1", "((q) + 0x1)")]
)
def test_layout_comments_and_files_do_not_count(text: str) -> None:
    assert digest(text, "b.tpl") == digest(PLAIN)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("1", "2"),
        ("x", "y"),
        ("q", "s"),
        ("on", "at"),
        ("fn t", "fn u"),
        ("fn t", "fn t[1]"),
        ("load()", "load(acq)"),
        ("global x", "max_value 7; global x"),
        ("global x", "global x = 1"),
        ("global x;", "global x; track x: all;"),
        ("q + 1", "q - 1"),
        ("off: skip;", "skip; off:"),
    ],
)
def test_everything_else_does(old: str, new: str) -> None:
    assert digest(PLAIN.replace(old, new)) != digest(PLAIN)


def test_the_order_of_labels_does_not_count() -> None:
    program = tpl.read(PLAIN)
    (thread,) = program.threads
    turned = replace(thread, labels=dict(reversed(list(thread.labels.items()))))
    assert program_digest(replace(program, threads=(turned,))) == program_digest(program)
    assert hash(replace(program, threads=(turned,))) == hash(program)


def test_programs_can_be_kept_in_sets() -> None:
    others = [tpl.read(PLAIN, "b.tpl"), tpl.read(PLAIN.replace("off", "out"))]
    assert len({tpl.read(PLAIN), *others}) == 2
    hash(load("examples/litmus-c/SB+ra+ra.litmus"))  # has a final condition


@given(programs(), programs())
def test_equal_programs_have_equal_digests_and_others_have_not(one: Program, other: Program) -> None:
    assert (program_digest(one) == program_digest(other)) == (one == other)
    assert program_digest(replace(one, file="elsewhere", source=None, format=None)) == program_digest(one)
