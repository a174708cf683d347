"""RC20 with every access acquire/release, and no fences but SC fences, gives the RA verdict on the corpus."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from fencepost import load, robust
from fencepost.program import CellAccess, Fence, Load, Mode, Skip, Store, Wait

ROOT = Path(__file__).parents[2] / "examples"
LARGE = {"chase-lev-ra", "rcu-offline", "lamport2-3-ra"}
UNDECIDED = ROOT / "large"
FILES = sorted(f for f in [*ROOT.rglob("*.tpl"), *ROOT.rglob("*.litmus")] if f.parent != UNDECIDED)


def strengthened(program):
    def strong(instruction):
        match instruction:
            case Fence(mode) if mode is not Mode.SC:
                return Skip(at=instruction.at)
            case Load() | Wait() if instruction.mode is not Mode.NA:
                return replace(instruction, mode=Mode.ACQ)
            case Store() if instruction.mode is not Mode.NA:
                return replace(instruction, mode=Mode.REL)
            case Load() | Store():
                return instruction
            case _ if isinstance(instruction, CellAccess):
                return replace(instruction, load_mode=Mode.ACQ, store_mode=Mode.REL)
            case _:
                return instruction

    threads = tuple(replace(t, code=tuple(strong(i) for i in t.code)) for t in program.threads)
    return replace(program, threads=threads)


@pytest.mark.parametrize(
    "file",
    [pytest.param(f, marks=pytest.mark.slow) if f.stem in LARGE else f for f in FILES],
    ids=lambda file: f"{file.parent.name}/{file.stem}",
)
def test_the_verdict_is_that_of_ra(file):
    program = strengthened(load(file))
    under_ra, under_rc20 = robust(program, "ra"), robust(program, "rc20")
    assert under_rc20.verdict == under_ra.verdict
    if under_ra.exhaustive and under_rc20.exhaustive:
        assert (under_rc20.race is None) == (under_ra.race is None)


def test_the_corpus_is_there():
    assert len(FILES) > 250
