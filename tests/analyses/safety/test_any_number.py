"""Safety for any number of threads: safe holds for each number, and unsafe comes with one and a run."""

import random
from pathlib import Path

import pytest
from msgspec import UNSET
from msgspec.structs import replace

from fencepost.analyses.safety.all_models import verify_under_all
from fencepost.analyses.safety.portfolio import races, verify
from fencepost.engine.search import Limits
from fencepost.errors import InputError
from fencepost.formats import load
from fencepost.formats.registry import write
from fencepost.formats.tpl.reader import read
from fencepost.program import Program
from fencepost.program.properties import Property, asks_something
from fencepost.verdicts import RaceFree, Racy, Safe, Unknown, Unsafe
from tests.analyses.test_any_number import random_templates

EXAMPLES = Path(__file__).parents[3] / "examples" / "any-number"
LOCK = """
max_value 1;
global x;
fn worker[*] { while (1) { BCAS(x, 0, 1); cs: skip; x.store(0); } }
"""
NO_LOCK = """
max_value 1;
global x;
fn worker[*] { local r; r = x.load(); if (r == 0) { x.store(1); cs: skip; x.store(0); } }
"""
# Three threads are needed: each raises the count by one.
COUNT = """
max_value 4;
global x;
fn worker[*] { local r; r = FADD(x, 1); assert(r != 2); }
"""


def test_threads_that_are_not_there_stand_nowhere() -> None:
    """Not even at the end, where the one that gets through stays."""
    program = read("max_value 1; global x; fn worker[*] { BCAS(x, 0, 1); }")
    (worker,) = program.threads
    program = replace(program, threads=(replace(worker, labels={"through": len(worker.code)}),))
    answer = verify(program, "sc", wanted=Property(mutex=("through",), ignore_races=True))
    assert isinstance(answer, Safe)


def asked(seed: int) -> tuple[Program, Property]:
    """A program with something that is bad: assertions, races, and labels at random places."""
    source = random.Random(seed)
    while True:
        program = random_templates(source, "rc20")
        threads = [
            replace(
                t, labels={"one": source.randrange(len(t.code) + 1), "two": source.randrange(len(t.code) + 1)}
            )
            for t in program.threads
        ]
        program = replace(program, threads=tuple(threads))
        kind = source.randrange(3)
        wanted = Property(
            mutex=("one",) if kind == 0 else (),
            error_labels=("two",) if kind == 1 else (),
            ignore_races=kind < 2,
        )
        if asks_something(program, wanted):
            return program, wanted


def check_claims(seed: int, model: str) -> str:
    program, wanted = asked(seed)
    answer = verify(program, model, wanted=wanted, limits=Limits(states=20_000, seconds=30))
    if isinstance(answer, Unknown):
        return answer.verdict
    assert answer.any_number is not UNSET
    most = min(answer.any_number.copies.values()) if isinstance(answer, Unsafe) else 3
    for copies in range(1, most + 1):
        limits = Limits(states=100_000, seconds=30)
        exact = verify(program.with_instances(copies), model, wanted=wanted, limits=limits)
        if isinstance(answer, Safe):
            assert not isinstance(exact, Unsafe), write(program)
        elif copies == most:
            assert isinstance(exact, Unsafe), write(program)
        elif model == "sc":
            assert isinstance(exact, Safe), write(program)
    return answer.verdict


def test_under_sc_as_the_exact_search_says() -> None:
    verdicts = [check_claims(seed, "sc") for seed in range(150)]
    assert verdicts.count("safe") > 8
    assert verdicts.count("unsafe") > 40
    assert verdicts.count("unknown") <= 5


@pytest.mark.parametrize("model", ["sra", "ra", "rc20", "tso"])
def test_under_weak_memory_as_the_exact_search_says(model: str) -> None:
    verdicts = [check_claims(seed, model) for seed in range(40)]
    assert {"safe", "unsafe"} <= set(verdicts)


@pytest.mark.slow
@pytest.mark.parametrize("model", ["sc", "sra", "ra", "rc20", "cpp20", "tso"])
def test_as_the_exact_search_says_by_the_thousand(model: str) -> None:
    for seed in range(1000, 2000 if model == "sc" else 1200):
        check_claims(seed, model)


@pytest.mark.parametrize("model", ["sc", "sra", "ra", "rc20", "tso"])
def test_mutual_exclusion_of_a_template(model: str) -> None:
    wanted = Property(mutex=("cs",))
    assert isinstance(verify(read(LOCK), model, wanted=wanted), Safe)
    unsafe = verify(read(NO_LOCK), model, wanted=wanted)
    assert isinstance(unsafe, Unsafe)
    assert unsafe.witness is not None
    assert unsafe.any_number is not UNSET
    assert unsafe.any_number.copies == {"worker": 2}


def test_a_thread_whose_assumption_fails_stands_at_its_end() -> None:
    program = read(
        "global x; fn f { x.store(1); end: } fn g[*] { local r; r = x.load(); assume(r > 1); end: }"
    )
    assert isinstance(verify(program, "sc", wanted=Property(mutex=("end",))), Unsafe)


def test_the_smallest_number_is_found() -> None:
    answer = verify(read(COUNT), "sc")
    assert isinstance(answer, Unsafe)
    assert answer.any_number is not UNSET
    assert answer.any_number.copies == {"worker": 3}


def test_all_models_are_asked() -> None:
    answer = verify_under_all(load(EXAMPLES / "test-and-set-lock.tpl"))
    assert isinstance(answer, Safe)
    assert answer.models is not UNSET
    told = {verdict.model: verdict.verdict for verdict in answer.models}
    assert told == dict.fromkeys(("sc", "tso", "sra", "ra", "rc20"), "safe")


def test_races_by_robustness() -> None:
    safe, racy = load(EXAMPLES / "test-and-set-lock.tpl"), load(EXAMPLES / "relaxed-unlock.tpl")
    assert isinstance(races(safe, "rc20"), RaceFree)
    assert isinstance(races(racy, "rc20"), Racy)
    assert isinstance(races(racy, "ra"), RaceFree)
    assert isinstance(races(load(EXAMPLES / "store-buffering.tpl"), "rc20"), Unknown)


def test_limits_are_no_verdict() -> None:
    answer = verify(read(LOCK), "sc", wanted=Property(mutex=("cs",)), limits=Limits(states=3))
    assert isinstance(answer, Unknown)


def test_what_needs_a_fixed_number_is_told() -> None:
    with pytest.raises(InputError, match=r"--instances N"):
        verify(read(LOCK), "sc", wanted=Property(deadlocks=True))
    with pytest.raises(InputError, match=r"--instances N"):
        verify(read(LOCK), "sc", wanted=Property(mutex=("cs",)), engine="backward")
    with pytest.raises(InputError, match=r"--instances N"):
        races(load(EXAMPLES / "test-and-set-lock.tpl"), "tso")


def test_nothing_asked_is_told() -> None:
    with pytest.raises(InputError, match="nothing was asked"):
        verify(read(LOCK), "sc")
