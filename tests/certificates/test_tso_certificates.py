"""Certificates for TSO: the rules of the check find what the machine with store buffers reaches, what the
engine writes passes, and what was tampered with does not."""

import random
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

import pytest
from msgspec.structs import replace

import fencepost
from fencepost.analyses.safety.portfolio import certify
from fencepost.certificates import BasisState, Certificate, Checked, Refuted, Standing, check
from fencepost.certificates.question import bad_states, registers_asked_for
from fencepost.engine.search import Limits
from fencepost.formats import tpl
from fencepost.formats.properties import stated_property
from fencepost.memory_models import PRUNINGS
from fencepost.models.explore import LimitReachedError
from fencepost.models.threads import ProgramLts
from fencepost.models.tso import TsoState, on_x86, tso_states
from fencepost.program import Program
from fencepost.program.properties import Property, marked
from tests.analyses.safety.test_tso import (
    Asked,
    about_end,
    asked,
    bounded_states,
    drawn_program,
    ends_excluded,
    has_ended,
)
from tests.certificates.backward import search

ENOUGH = Limits(seconds=20)


def is_right(program: Program, certificate: Certificate, wanted: Property) -> bool:
    program = marked(program, wanted).program
    result = check(program, certificate, bad_states(program, wanted), registers_asked_for(program, wanted))
    return isinstance(result, Checked)


class Answered(NamedTuple):
    """A question about a program without loops, and what the machine says."""

    seed: int
    question: Asked
    states: set[TsoState]
    reachable: bool


def questions(seeds: range) -> Iterator[Answered]:
    for seed in seeds:
        source = random.Random(seed)
        program = drawn_program(source, loop_free=True)
        try:
            states = set(tso_states(ProgramLts(on_x86(program)), 3_000))
        except LimitReachedError:
            continue
        question = asked(program, source, states)
        yield Answered(seed, question, states, question.goes_wrong(states))


def check_rules(seeds: range) -> Counter[bool]:
    seen: Counter[bool] = Counter()
    for seed, (program, wanted), _, reachable in questions(seeds):
        bad = bad_states(program, wanted)
        certificate = search(program, bad, registers_asked_for(program, wanted), model="tso")
        assert (certificate is None) is reachable, f"seed {seed}:\n{tpl.write(program)}"
        if certificate is not None:
            assert is_right(program, certificate, wanted), seed
        seen[reachable] += 1
    return seen


def check_engine(seeds: range) -> Counter[str]:
    """About ends that each thread can come to, though not together; for programs with loops perhaps not."""
    seen: Counter[str] = Counter()
    for seed in seeds:
        source = random.Random(seed)
        program = drawn_program(source, loop_free=seed % 2 == 0)
        excluded = ends_excluded(ended_states(program))
        for *registers, memory in source.sample(excluded, min(3, len(excluded))):
            wanted = about_end(program, registers, source.choice([memory, None])).wanted
            without = [name for name in PRUNINGS if source.random() < 0.3]
            answer, certificate = certify(program, "tso", wanted=wanted, limits=ENOUGH, without=without)
            if certificate is not None:
                assert is_right(program, certificate, wanted), f"seed {seed}:\n{tpl.write(program)}"
                seen["empty"] += not certificate.basis
            seen[answer.verdict] += 1
    return seen


def ended_states(program: Program) -> list[TsoState]:
    return sorted(s for s in bounded_states(program) if s.is_plain and has_ended(program, s))


def test_the_rules_are_those_of_the_machine() -> None:
    seen = check_rules(range(150))
    assert min(seen.values()) > 30


@pytest.mark.slow
@pytest.mark.parametrize("first", range(5_000, 8_000, 200))
def test_the_rules_are_those_of_the_machine_on_many_programs(first: int) -> None:
    check_rules(range(first, first + 200))


def test_certificates_of_the_engine_are_right() -> None:
    seen = check_engine(range(120))
    assert seen["safe"] - seen["empty"] > 40


def test_a_state_in_which_all_can_start_is_none_of_the_first_ones_with_another_memory() -> None:
    """Both threads can end at once, with nothing done; but x is 0 then."""
    program = tpl.read(
        """
        max_value 1;
        global x, y;
        fn t { local r; oneof({ r = wait(y, 1); r = wait(y, 0); x.store(1); r = 0; } { skip; }); }
        fn v { oneof({ y.store(1); } { skip; }); }
        """
    )
    wanted = about_end(program, [(0,), ()], (1, 0)).wanted
    answer, certificate = certify(program, "tso", wanted=wanted, limits=ENOUGH)
    assert answer.verdict == "safe"
    assert certificate is not None
    assert is_right(program, certificate, wanted)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(10_000, 14_000, 500))
def test_many_certificates_of_the_engine_are_right(first: int) -> None:
    check_engine(range(first, first + 500))


def test_no_basis_is_right_for_a_program_that_goes_wrong() -> None:
    """Neither that of another question about it, nor one made of that."""
    refuted = 0
    for seed, (program, wanted), _, reachable in questions(range(200)):
        excluded = ends_excluded(ended_states(program))
        if not reachable or not excluded:
            continue
        source = random.Random(seed)
        *registers, _ = source.choice(excluded)
        other = about_end(program, registers, None).wanted
        bad, kept = bad_states(program, wanted), [frozenset(t.registers) for t in program.threads]
        proof = search(program, bad_states(program, other), kept, model="tso")
        basis = () if proof is None else proof.basis
        for some in (basis, *(tampered(basis, source) for _ in range(3))):
            certificate = Certificate.of(on_x86(program), "test", some, "tso")
            assert isinstance(check(program, certificate, bad, kept), Refuted), seed
            refuted += bool(some)
    assert refuted > 10


# A proof of mutual exclusion, with something changed.

PETERSON = fencepost.load("examples/sra/peterson-fences.tpl")
MUTEX = stated_property(PETERSON)


def mutex_proof() -> Certificate:
    _, certificate = certify(PETERSON, "tso", wanted=MUTEX, limits=ENOUGH)
    assert certificate is not None
    return certificate


def tampered(basis: tuple[BasisState, ...], source: random.Random) -> tuple[BasisState, ...]:
    """One state less, one that says less or something else, or one that is not there."""
    if not basis:
        return ()
    place = source.randrange(len(basis))
    state = basis[place]
    thread = source.randrange(len(state.threads))
    match source.choice(["remove", "anywhere", "phase", "option", "value"]):
        case "remove":
            changed = []
        case "anywhere":
            threads = [*state.threads]
            threads[thread] = Standing(None, ())
            changed = [replace(state, threads=tuple(threads))]
        case "phase":
            changed = [replace(state, phase=source.randrange(2 * len(state.threads) + 1))]
        case "option":
            changed = [with_list(state, thread, lambda options: options[1:])]
        case _:
            changed = [with_list(state, thread, lambda options: [(w, x, 1 - v, f) for w, x, v, f in options])]
    return (*basis[:place], *changed, *basis[place + 1 :])


def with_list(state: BasisState, thread: int, change) -> BasisState:
    lists = [*state.potentials]
    lists[thread] = tuple(tuple(change([*options])) for options in lists[thread])
    return replace(state, potentials=tuple(lists))


def test_every_state_is_needed() -> None:
    whole = mutex_proof()
    assert is_right(PETERSON, whole, MUTEX)
    assert len(whole.basis) > 10
    for place in range(len(whole.basis)):
        basis = whole.basis[:place] + whole.basis[place + 1 :]
        assert not is_right(PETERSON, replace(whole, basis=basis), MUTEX), place


def test_what_says_something_else_is_refused() -> None:
    """That a state may say less is no mistake as long as nothing leads there; so not all are refused."""
    whole, refused = mutex_proof(), 0
    for seed in range(100):
        basis = tampered(whole.basis, random.Random(seed))
        refused += basis != whole.basis and not is_right(PETERSON, replace(whole, basis=basis), MUTEX)
    assert refused > 60


def test_a_proof_for_one_model_is_none_for_the_other() -> None:
    assert not is_right(PETERSON, replace(mutex_proof(), model="sra"), MUTEX)


def test_a_proof_with_fences_is_none_without() -> None:
    text = (PETERSON.source or "").replace("fence;", "skip;")
    without = tpl.read(text)
    for_this = Certificate.of(marked(without, MUTEX).program, "test", mutex_proof().basis, "tso")
    assert not is_right(without, for_this, MUTEX)


def test_a_seq_cst_store_is_an_exchange() -> None:
    text = """global x, y;
    fn p { local a; x.store(1, sc); a = y.load(); if (a == 0) { cs: skip; } }
    fn q { local b; y.store(1, sc); b = x.load(); if (b == 0) { cs: skip; } }
    // mutex: cs"""
    program = tpl.read(text)
    wanted = stated_property(program)
    _, certificate = certify(program, "tso", wanted=wanted)
    assert certificate is not None
    assert is_right(program, certificate, wanted)
