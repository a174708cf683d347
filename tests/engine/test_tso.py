"""The engine's answers about TSO against the definitions, by the thousand.

A program on which they ever disagreed is kept in `regressions/` (as TPL, by `fencepost.formats.tpl.write`).
"""

import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from msgspec.structs import replace

from fencepost.analyses import tso
from fencepost.analyses.flattening import TooManyValuesError, flattened, is_safe_alone
from fencepost.analyses.robustness import robust
from fencepost.analyses.tso import persist
from fencepost.engine._native import Outcome
from fencepost.engine.search import Limits, explore_tso
from fencepost.formats import automata, load, tpl
from fencepost.memory_models import TSO_CRITERIA
from fencepost.models.sc import reachable_states
from fencepost.models.tso import tso_plain_states
from fencepost.models.tso_traces import is_persistent, is_robust, is_triangular_race_free
from fencepost.models.tso_witnesses import replay_tso
from fencepost.program import Program
from fencepost.verdicts import Answer, Fragile, Persistent, TsoWitness, Unknown
from tests.strategies import programs, random_program, wide_program

BATCH = 250
REGRESSIONS = sorted(Path(__file__).parent.glob("regressions/*.tpl"))


def ask(program: Program, criterion: str) -> Answer:
    return persist(program) if criterion == "persistent" else robust(program, "tso", criterion=criterion)


def by_definition(program: Program) -> dict[str, bool]:
    """The criterion `trf` keeps of a run all that the two others keep, so where it holds they hold."""
    if is_triangular_race_free(program):
        return dict.fromkeys(TSO_CRITERIA, True)
    return {"persistent": is_persistent(program), "robust": is_robust(program), "trf": False}


def check_against_definitions(program: Program) -> dict[str, bool]:
    """Fails unless the verdicts are those of the definitions, and witnesses replay."""
    verdicts = by_definition(program)
    for criterion, holds in verdicts.items():
        answer = ask(program, criterion)
        assert answer.holds is holds, criterion
        if not holds:
            assert isinstance(answer.witness, TsoWitness)
            replay_tso(program, answer.witness, criterion)
    if any(verdicts.values()):
        assert tso_plain_states(program) == reachable_states(program)
    return verdicts


def check_batch(first_seed: int) -> None:
    held = dict.fromkeys(TSO_CRITERIA, 0)
    for seed in range(first_seed, first_seed + BATCH):
        program = random_program(random.Random(seed), modes=seed % 4 == 1)
        try:
            verdicts = check_against_definitions(program)
        except Exception as error:
            raise AssertionError(f"seed {seed}:\n{tpl.write(program)}") from error
        for criterion, holds in verdicts.items():
            held[criterion] += holds
    for count in held.values():
        assert BATCH * 0.1 < count < BATCH * 0.95  # both verdicts must be well represented


@pytest.mark.parametrize("first_seed", range(0, 2000, BATCH))
def test_random_programs(first_seed):
    check_batch(first_seed)


def test_programs_with_read_modify_writes_anywhere():
    held = dict.fromkeys(TSO_CRITERIA, 0)
    for seed in range(500_000, 500_000 + 150):
        program = wide_program(random.Random(seed))
        try:
            verdicts = check_against_definitions(program)
        except Exception as error:
            raise AssertionError(f"seed {seed}:\n{tpl.write(program)}") from error
        for criterion, holds in verdicts.items():
            held[criterion] += holds
    assert all(10 < count < 150 for count in held.values())


@pytest.mark.slow
@pytest.mark.parametrize("first_seed", range(2000, 22000, BATCH))
def test_many_random_programs(first_seed):
    check_batch(first_seed)


@given(programs())
@settings(max_examples=200, deadline=None)
def test_drawn_programs(program):
    check_against_definitions(program)


@pytest.mark.parametrize("file", REGRESSIONS, ids=lambda file: file.stem)
def test_programs_that_once_disagreed(file):
    check_against_definitions(load(file))


# Flattening


@pytest.mark.parametrize("loop_free", [True, False])
def test_flattening_keeps_every_race_of_the_pivot(loop_free):
    kept = proved = 0
    for seed in range(600):
        program = random_program(random.Random(seed), loop_free=loop_free)
        for pivot in range(len(program.threads)):
            exact = explore_tso(program, "persistent", Limits(states=20_000), pivot=pivot).search.outcome
            for k in (0, 1, 3):
                try:
                    coarse = flattened(program, pivot, k)
                except TooManyValuesError:
                    continue
                outcome = explore_tso(coarse, "persistent", Limits(states=50_000), pivot=pivot).search.outcome
                proved += outcome == Outcome.COMPLETE
                if exact == Outcome.VIOLATION:
                    kept += 1
                    assert outcome != Outcome.COMPLETE, f"seed {seed}, pivot {pivot}:\n{tpl.write(program)}"
    assert kept > 500 < proved


@pytest.mark.parametrize("loop_free", [True, False])
def test_a_pivot_that_is_safe_alone_is_in_no_violation(loop_free):
    safe = 0
    for seed in range(1000):
        program = random_program(random.Random(seed), loop_free=loop_free)
        for pivot in range(len(program.threads)):
            found = explore_tso(program, "persistent", Limits(states=20_000), pivot=pivot, find_all=True)
            if is_safe_alone(program, pivot):
                safe += 1
                assert not found.violations, f"seed {seed}, pivot {pivot}:\n{tpl.write(program)}"
    assert safe > 1000


def test_a_pivot_reads_what_others_write_to_its_cells():
    """Then its own write has left the buffer."""
    program = tpl.read(
        """
        max_value 2;
        global x, y, z;
        fn a { local r; x.store(1); r = x.load(); if (r == 2) { y.store(1); r = z.load(); } }
        fn b { x.store(2); }
        fn c { local r; z.store(1); r = y.load(); }
        """
    )
    assert explore_tso(program, "persistent", Limits(), pivot=0).search.outcome == Outcome.VIOLATION
    assert not is_safe_alone(program, 0)


def test_all_ways_past_a_write_are_found():
    """They come to the same state, but no fence that lies on one of them is enough."""
    program = tpl.read(
        """
        global x, y;
        fn a { local r; x.store(1); oneof({ skip; } { skip; skip; }); r = y.load(); }
        fn b { local r; y.store(1); r = x.load(); }
        """
    )
    found = explore_tso(program, "persistent", Limits(), find_all=True, pivot=0)
    assert len(found.violations) == 2


@pytest.mark.parametrize("criterion", ["persistent", "trf"])
@pytest.mark.parametrize("loop_free", [True, False])
def test_persistent_sets_leave_out_no_violation(loop_free, criterion):
    """The search for one pivot is reduced, the search for all its violations is not."""
    violated = saved = 0
    for seed in range(800):
        program = random_program(random.Random(seed), loop_free=loop_free)
        for pivot in range(len(program.threads)):
            whole = explore_tso(program, criterion, Limits(states=20_000), pivot=pivot, find_all=True)
            reduced = explore_tso(program, criterion, Limits(states=20_000), pivot=pivot)
            found = reduced.search.outcome == Outcome.VIOLATION
            assert found == bool(whole.violations), f"seed {seed}, pivot {pivot}:\n{tpl.write(program)}"
            violated += found
            saved += reduced.search.states < whole.search.states and not found
    assert violated > 100 < saved


# What the kept first step of `b` waits for is written by `c` later, into a cell that `a` does not read.
LATE_HELP = """
global x, y, z, u, v;
fn a { local r; y.store(1); r = x.load(); }
fn b { local r; wait(z, 1); x.store(1); r = y.load(); }
fn c { local r; u.store(1); v.store(1); r = u.load(); z.store(1); }
"""

# The value that `b` writes to x in the end is the one it reads from z.
PASSED_ON = """
global x, y, z;
fn a { local r; y.store(1); r = x.load(); }
fn b { local r; z.store(1); r = z.load(); z.store(0); x.store(r); }
"""


@pytest.mark.parametrize("text", [LATE_HELP, PASSED_ON], ids=["late-help", "passed-on"])
@pytest.mark.parametrize("k", [0, 1, 2])
def test_flattening_sees_what_the_paper_leaves_out(text, k):
    program = tpl.read(text, "test.tpl")
    assert isinstance(persist(program, flatten=k), Fragile)
    coarse = flattened(program, 0, k)
    assert explore_tso(coarse, "persistent", Limits(), pivot=0).search.outcome == Outcome.VIOLATION


def test_a_proof_by_flattening_says_so():
    """Sixteen threads that only write, and have nothing to do with each other."""
    threads = "".join(f"fn t{i} {{ while (1) {{ c{i}.store(1); c{i}.store(0); }} }}\n" for i in range(16))
    cells = ", ".join(f"c{i}" for i in range(16))
    program = tpl.read(f"max_value 1;\nglobal {cells};\n{threads}", "writers.tpl")
    exact = persist(program)
    flat = persist(program, flatten=2)
    assert isinstance(exact, Persistent)
    assert isinstance(flat, Persistent)
    assert exact.flattened is None
    assert flat.flattened == 0  # each thread is safe alone
    assert flat.stats.states < exact.stats.states


@pytest.mark.parametrize("k", [0, 2])
def test_proofs_by_flattening_agree_with_exact_answers(k, monkeypatch):
    monkeypatch.setattr(tso, "NEAR_STATES", 1)
    monkeypatch.setattr(tso, "MIDDLE_STATES", 1)
    few = Limits(states=20_000)
    by_flattening = fragile = 0
    for seed in range(BATCH):
        program = random_program(random.Random(seed), loop_free=False)
        exact = persist(program, limits=few)
        if isinstance(exact, Unknown):
            continue
        flat = persist(program, limits=few, flatten=k)
        assert flat.verdict in (exact.verdict, "unknown"), f"seed {seed}:\n{tpl.write(program)}"
        by_flattening += isinstance(flat, Persistent) and flat.flattened is not None
        fragile += isinstance(flat, Fragile)
    assert by_flattening > 50 < fragile


@pytest.mark.parametrize(("near", "between"), [(10**9, "fence;"), (100, "")], ids=["near", "middle"])
def test_an_interrupted_search_is_not_followed_by_a_proof(near, between, monkeypatch):
    """Of threads that are safe alone: with fences, or if the writer of y did not wait for ever."""
    monkeypatch.setattr(tso, "NEAR_STATES", near)
    threads = "".join(
        f"fn t{i} {{ local r; while (1) {{ x{i}.store(1); {between} r = y.load(); x{i}.store(0); }} }}\n"
        for i in range(20)
    )
    cells = ", ".join(f"x{i}" for i in range(20))
    program = tpl.read(f"global {cells}, y, z;\n{threads}fn u {{ wait(z, 1); y.store(1); }}\n", "u.tpl")
    answer = persist(program, flatten=1, watcher=lambda _: True)
    assert isinstance(answer, Unknown)
    assert answer.interrupted


def test_a_reduced_search_keeps_to_its_limits():
    threads = "".join(
        f"fn t{i} {{ local r; while (1) {{ x{i}.store(r); r = y.load(); }} }}\n" for i in range(6)
    )
    cells = ", ".join(f"x{i}" for i in range(6))
    program = tpl.read(f"global {cells}, y;\n{threads}fn u {{ while (1) {{ FADD(y, 1); }} }}\n", "u.tpl")
    result = explore_tso(program, "persistent", Limits(seconds=0.0), pivot=6).search
    assert result.outcome == Outcome.TIME_LIMIT
    result = explore_tso(program, "persistent", Limits(states=100), pivot=6).search
    assert result.outcome == Outcome.STATE_LIMIT
    assert result.states < 1000


# Where Trencher has its weaknesses


def test_a_ticket_that_grows_for_ever_is_a_limit():
    text = (
        "max_value 50;\nglobal x, y;\nfn a { local r; while (1) { r = r + 1; x.store(r); r = x.load(); } }\n"
    )
    program = tpl.read(text, "ticket.tpl")
    assert isinstance(persist(program), Persistent)  # TPL's values wrap
    answer = persist(replace(program, wraps=False))
    assert isinstance(answer, Unknown)
    assert "leaves the range 0..50" in answer.why
    assert "line 3" in answer.why


def test_what_is_taken_away_from_a_cell_is_no_value_of_its_own():
    """Values below 0 are out of range, but -1 as a summand is not one."""
    text = "thread t\ninitial a\ntransition a b write 1 0\ntransition b c lock\ntransition c d read r 0\n"
    down = "transition d e write - r 1 0\ntransition e f unlock\n"
    once = automata.read(f"{text}{down}end\n", "once.aut")
    assert isinstance(persist(once), Persistent)
    again = automata.read(f"{text}{down}transition f b noop\nend\n", "again.aut")
    assert isinstance(persist(again), Unknown)


def test_a_path_of_100_000_steps_does_not_overflow_the_stack():
    """The attacker alone, from its write to the last of very many reads."""
    steps = 100_000
    text = (
        f"max_value {steps};\nglobal x, y, z;\n"
        f"fn a {{ local i, r; y.store(1); while (i < {steps}) {{ r = z.load(); i = i + 1; }} "
        "r = x.load(); }\n"
        "fn b { local r; x.store(1); r = y.load(); }\n"
    )
    program = tpl.read(text, "deep.tpl")
    for criterion in TSO_CRITERIA:
        assert ask(program, criterion).holds is False
    answer = robust(program, "tso")
    assert answer.witness is not None
    assert len(answer.witness.events) > steps
