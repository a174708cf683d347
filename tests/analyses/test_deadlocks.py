"""Deadlocks as a warning of `robust` and as bad states of `verify`, against their definition."""

from collections import Counter
from dataclasses import replace as replace_in

import pytest
from hypothesis import HealthCheck, given, settings
from msgspec.structs import replace

from fencepost import robust, verify
from fencepost.analyses.safety.portfolio import certify
from fencepost.analyses.tso import persist
from fencepost.engine.search import EVERY_STATE, REDUCED, Limits, Tactics
from fencepost.errors import InputError
from fencepost.formats import properties, tpl
from fencepost.memory_models import ENGINES, SEARCH_ORDERS
from fencepost.models.deadlocks import Deadlock, deadlocks
from fencepost.models.explore import LimitReachedError
from fencepost.models.tso_witnesses import replay_tso_safety
from fencepost.program import Program
from fencepost.program.properties import Property
from fencepost.verdicts import Answer, DeadlockState, Place, Safe, SafetyWitness, Unknown, Unsafe
from tests.analyses.safety.test_safety import graph_of
from tests.waiting_programs import waiting_program, waiting_programs

ENOUGH = Limits(seconds=60)
MOST_STATES = 5_000
MOST_GRAPHS = 2_000
ASKED = Property(deadlocks=True)
ALONE = Property(deadlocks=True, ignore_races=True)
DRAWN = settings(
    max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much]
)
TACTICS = (REDUCED, EVERY_STATE, replace(REDUCED, threads=2), replace(REDUCED, compress=True))


def is_one_of(found: set[Deadlock], program: Program, places: tuple[Place, ...]) -> bool:
    """Whether just these threads wait, where `places` says, in a deadlock of the definition."""
    shown = {place.thread: place.column - 1 for place in places}  # of random programs
    return any(
        shown == {t: at.pc for t, at in enumerate(state.threads) if at.pc < len(program.threads[t].code)}
        for state in found
    )


def check_robust(program: Program, model: str, order: str, tactics: Tactics = REDUCED) -> bool | None:
    """Whether there is a deadlock; None if the search met a violation before it had seen everything."""
    found = deadlocks(program, "sc", MOST_STATES)
    answer = robust(program, model, order=order, tactics=tactics)
    if answer.deadlock is not None:
        assert is_one_of(found, program, answer.deadlock.places)
        assert answer.exit_code == replace(answer, deadlock=None).exit_code
    if not answer.exhaustive:
        return None
    assert (answer.deadlock is not None) is bool(found)
    return bool(found)


def check_verify(program: Program, model: str, engine: str = "portfolio") -> str | None:
    """The verdict; None if something else is wrong with the program."""
    found = deadlocks(program, model, MOST_GRAPHS)
    answer = verify(program, model, wanted=ALONE, engine=engine, limits=ENOUGH)
    if isinstance(answer, Unsafe) and not about_deadlock(answer):
        return None
    assert answer.criterion == "deadlock-free"
    if isinstance(answer, Unsafe):
        assert isinstance(answer.witness, SafetyWitness)
        (replay_tso_safety if model == "tso" else graph_of)(program, answer.witness)
        assert is_one_of(found, program, answer.witness.bad.places)
    elif isinstance(answer, Safe):
        assert not found
    else:
        assert model == "ra"
    return answer.verdict


def about_deadlock(answer: Answer) -> bool:
    return isinstance(answer.witness, SafetyWitness) and answer.witness.bad.kind == "deadlock"


class TestAgainstTheDefinition:
    @DRAWN
    @given(waiting_programs())
    def test_drawn_programs(self, program: Program) -> None:
        check_robust(program, "ra", "breadth-first")
        for model in ("sc", "sra", "ra", "tso"):
            try:
                check_verify(program, model)
            except LimitReachedError:
                continue

    @pytest.mark.parametrize("first", range(0, 1000, 250))
    def test_robust_on_random_programs(self, first: int) -> None:
        seen = Counter(
            check_robust(
                waiting_program(seed, loop_free=seed % 3 != 0),
                ("ra", "rc20")[seed % 2],
                SEARCH_ORDERS[seed % len(SEARCH_ORDERS)],
                TACTICS[seed % 7 % len(TACTICS)],
            )
            for seed in range(first, first + 250)
        )
        assert min(seen[True], seen[False]) > 50

    def test_against_tso_on_random_programs(self) -> None:
        for seed in range(1000, 1200):
            program = waiting_program(seed)
            for answer in (robust(program, "tso"), persist(program)):
                if answer.exhaustive:
                    assert (answer.deadlock is not None) is bool(deadlocks(program)), f"seed {seed}"

    @pytest.mark.parametrize("model", ["sc", "sra", "ra", "tso"])
    def test_verify_on_random_programs(self, model: str) -> None:
        assert min(verdicts(range(2000, 2250), model)[v] for v in ("safe", "unsafe")) > 40

    @pytest.mark.slow
    @pytest.mark.parametrize("model", ["sc", "sra", "ra", "tso"])
    @pytest.mark.parametrize("first", range(10_000, 15_000, 500))
    def test_verify_on_many_random_programs(self, model: str, first: int) -> None:
        verdicts(range(first, first + 500), model)

    @pytest.mark.parametrize("engine", ENGINES)
    @pytest.mark.parametrize("model", ["sra", "tso"])
    def test_every_engine(self, engine: str, model: str) -> None:
        assert verdicts(range(3000, 3080), model, engine)["unsafe"] > 10


def verdicts(seeds: range, model: str, engine: str = "portfolio") -> Counter[str | None]:
    seen: Counter[str | None] = Counter()
    for seed in seeds:
        program = waiting_program(seed, loop_free=model != "sc" or seed % 3 != 0)
        try:
            seen[check_verify(program, model, engine)] += 1
        except LimitReachedError:
            continue
        except AssertionError as error:
            raise AssertionError(f"seed {seed}:\n{tpl.write(program)}") from error
    return seen


LOCKS = """global a, b;
fn p { lock(a); lock(b); unlock(b); unlock(a); }
fn q { lock(b); lock(a); unlock(a); unlock(b); }
"""
LATE = """global x;
fn p { x.store(1); x.store(0); }
fn q { wait(x, 1); }
"""
# Each thread waits only if it has not seen the flag of the other: under SC one of them has.
WEAK_ONLY = """global x, y, go;
fn p { local r; x.store(1); r = y.load(); if (r == 0) { wait(go, 1); } go.store(1); }
fn q { local r; y.store(1); r = x.load(); if (r == 0) { wait(go, 1); } go.store(1); }
"""

# Safe under SRA; two writes race, so that RA may reach more.
OPEN_UNDER_RA = """max_value 2;
global x, y;
fn p { local a; x.store(1); y.store(2); a = y.load(); end: skip; }
fn q { local b; y.store(1); x.store(2); b = x.load(); end: skip; }
// bad: p@end && q@end && p.a == 1 && q.b == 1
"""


def of_robust(text: str, model: str = "ra") -> DeadlockState | None:
    return robust(tpl.read(text), model).deadlock


def of_verify(text: str, model: str, wanted: Property = ASKED) -> str:
    return verify(tpl.read(text), model, wanted=wanted).verdict


class TestWhatADeadlockIs:
    def test_locks_in_two_orders(self) -> None:
        found = of_robust(LOCKS)
        assert found is not None
        assert [(place.line, place.text) for place in found.places] == [(2, "lock(b)"), (3, "lock(a)")]
        assert found.memory == {"a": 1, "b": 1}
        assert [event.line for event in found.run.events if event.thread is not None] in ([2, 3], [3, 2])
        assert {of_verify(LOCKS, model) for model in ("sc", "sra", "ra")} == {"unsafe"}

    def test_one_thread_waits_and_the_others_have_ended(self) -> None:
        found = of_robust("global x; fn p { x.store(2); } fn q { wait(x, 1); }")
        assert found is not None
        assert [place.thread for place in found.places] == [1]

    def test_a_value_that_no_other_thread_ever_writes(self) -> None:
        """Its location is private, but the wait is not."""
        text = "global x, y; fn p { wait(x, 1); } fn q { y.store(1); }"
        assert of_robust(text) is not None
        assert of_verify(text, "sra") == "unsafe"

    @pytest.mark.parametrize("model", ["sc", "sra", "ra", "tso"])
    def test_a_value_that_was_there_too_early(self, model: str) -> None:
        """Under weak memory the thread may still read the old value, but it may as well miss it."""
        assert of_verify(LATE, model) == "unsafe"

    def test_one_that_takes_weak_memory(self) -> None:
        assert of_verify(WEAK_ONLY, "sc") == "safe"
        assert of_verify(WEAK_ONLY, "sra") == "unsafe"
        answer = verify(tpl.read(WEAK_ONLY), wanted=ASKED)
        assert answer.witness is not None
        assert answer.witness.cycle

    def test_a_thread_that_spins_still_moves(self) -> None:
        text = "global x; fn p { wait(x, 1); } fn q { while (1) { skip; } }"
        assert of_robust(text) is None
        assert of_verify(text, "sra") == "safe"

    def test_a_run_that_an_assumption_cuts_off_is_none(self) -> None:
        text = "global x, y; fn p { local r; r = y.load(); assume(r == 1); x.store(1); } fn q { wait(x, 1); }"
        assert of_robust(text) is None
        assert {of_verify(text, model) for model in ("sc", "sra", "ra")} == {"safe"}

    def test_all_have_ended(self) -> None:
        text = "global x; fn p { x.store(1); } fn q { wait(x, 1); }"
        assert of_robust(text) is None
        assert {of_verify(text, model) for model in ("sc", "sra", "ra")} == {"safe"}


class TestVerify:
    def test_deadlocks_are_a_question_by_themselves(self) -> None:
        program = tpl.read("global x; fn p { x.store(1); } fn q { wait(x, 1); }")
        with pytest.raises(InputError, match="nothing was asked"):
            verify(program)
        answer = verify(program, wanted=ASKED)
        assert isinstance(answer, Safe)
        assert answer.exhaustive

    def test_without_being_asked_they_are_not_bad(self) -> None:
        program = tpl.read(LOCKS.replace("unlock(a); }", "unlock(a); assert(1); }"))
        assert isinstance(verify(program), Safe)

    def test_what_else_is_wrong_comes_first(self) -> None:
        program = tpl.read(
            LOCKS.replace("fn p {", "na d; fn p { d.nastore(1);").replace("q {", "q { d.nastore(2);")
        )
        answer = verify(program, wanted=ASKED)
        assert isinstance(answer, Unsafe)
        assert answer.criterion == "deadlock-free"
        assert answer.witness is not None
        assert answer.witness.bad.kind == "data-race"

    def test_safe_in_both_ways_says_so(self) -> None:
        program = tpl.read(
            "global x; na d; fn p { d.nastore(1); x.store(1); } fn q { wait(x, 1); d.nastore(2); }"
        )
        answer = verify(program, wanted=ASKED)
        assert isinstance(answer, Safe)
        assert answer.exhaustive

    def test_undecided_about_deadlocks_says_so(self) -> None:
        """Two writes race, so that RA may reach more than SRA."""
        text = """na d; global x, y;
        fn p { local r; x.store(1); y.store(2); r = y.load(); if (r == 1) { wait(x, 1, 2); } }
        fn q { local r; y.store(1); x.store(2); r = x.load(); if (r == 1) { wait(y, 1, 2); } }
        fn z { d.nastore(1); }
        """
        answer = verify(tpl.read(text), "ra", wanted=ASKED)
        assert isinstance(answer, Unknown)

    def test_a_deadlock_decides_what_else_is_open(self) -> None:
        """It is the answer whether the rest is safe or unknown, and for its own reason."""
        safe = LOCKS.replace("unlock(a); }", "unlock(a); assert(1); }")
        stuck = "fn s { wait(go, 1); }\n"
        for text, rest in ((safe, "safe"), (OPEN_UNDER_RA.replace("y;", "y, go;", 1) + stuck, "unknown")):
            program = tpl.read(text)
            wanted = properties.stated_property(program)
            assert verify(program, "ra", wanted=wanted).verdict == rest
            answer = verify(program, "ra", wanted=replace_in(wanted, deadlocks=True))
            assert isinstance(answer, Unsafe)
            assert about_deadlock(answer)
            assert "without deadlocks" not in answer.because

    def test_what_is_open_besides_deadlocks_stays_open(self) -> None:
        """There is no deadlock, but that is not all that was asked."""
        program = tpl.read(OPEN_UNDER_RA)
        wanted = replace_in(properties.stated_property(program), deadlocks=True)
        assert isinstance(verify(program, "sra", wanted=wanted), Safe)
        answer = verify(program, "ra", wanted=wanted)
        assert isinstance(answer, Unknown)
        assert answer.criterion == "deadlock-free"
        assert "write/write race" in answer.why
        assert "apart from deadlocks" not in answer.why

    def test_too_large_for_graphs(self) -> None:
        counts = "local r; while (r != 2) { r = FADD(x, 1); }"
        text = f"max_value 4294967295;\nglobal x, y;\nfn p {{ {counts} wait(y, 1); }}\nfn q {{ y.store(2); }}"
        answer = verify(tpl.read(text), "ra", wanted=ASKED, limits=Limits(seconds=20, states=100_000))
        assert isinstance(answer, Unsafe)

    def test_certificates_do_not_cover_them(self) -> None:
        with pytest.raises(InputError, match="does not cover deadlocks"):
            certify(tpl.read(LOCKS), wanted=ASKED)
