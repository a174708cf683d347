"""Ways to search a large program: with several threads, in less memory, or forgetting states."""

import random
from pathlib import Path

import pytest
from msgspec.structs import replace

from fencepost.analyses.robustness import robust
from fencepost.engine._native import Outcome
from fencepost.engine.search import EVERY_STATE, REDUCED, Limits, Variation, explore, explore_tso
from fencepost.formats import load
from fencepost.formats.tpl import read
from fencepost.models.witnesses import replay
from fencepost.verdicts import NotRobust, Unknown
from tests.strategies import random_program

ROCKER = Path(__file__).parents[2] / "examples" / "rocker"
TICKETLOCK = load(ROCKER / "ticketlock4.tpl")

# A ticket lock: a hundred thousand states, and a small monitor in each of half a million.
EIGHT_THREADS = read(
    """
    max_value 15;
    global next, serving;
    na cs;
    fn t[8] {
        local ticket, r;
        while (1) {
            ticket = FADD(next, 1);
            r = serving.load();
            while (r != ticket) { r = serving.load(); }
            cs.nastore(tid);
            serving.store(ticket + 1);
        }
    }
    """
)

# Store buffering, found after a long way.
LATE = read(
    """
    max_value 40;
    global x, y, z;
    fn t1 { local r, i; while (i < 40) { i = i + 1; z.store(i); } x.store(1); r = y.load(); }
    fn t2 { local r; wait(z, 40); y.store(1); r = x.load(); }
    """
)


@pytest.mark.parametrize("order", ["breadth-first", "depth-first"])
@pytest.mark.parametrize(
    "tactics",
    [replace(EVERY_STATE, compress=True), *(replace(EVERY_STATE, threads=threads) for threads in (2, 3, 8))],
)
def test_every_state_is_met_once(tactics, order):
    """The table that several threads share grows on the way."""
    one = explore(TICKETLOCK, "ra", Limits(), tactics=EVERY_STATE)
    other = explore(TICKETLOCK, "ra", Limits(), order, tactics=tactics)
    assert (other.states, other.transitions) == (one.states, one.transitions)
    assert other.outcome == Outcome.COMPLETE


@pytest.mark.parametrize("threads", [2, 3, 8])
@pytest.mark.parametrize("order", ["breadth-first", "depth-first"])
def test_threads_that_share_a_table_find_what_one_finds(threads, order):
    for seed in range(60):
        program = random_program(random.Random(seed), loop_free=seed % 3 == 0)
        one = explore(program, "rc20", Limits(), order, tactics=EVERY_STATE)
        several = explore(program, "rc20", Limits(), order, tactics=replace(EVERY_STATE, threads=threads))
        assert several.outcome == one.outcome, seed
        if one.outcome != Outcome.COMPLETE:
            continue
        assert (several.states, several.transitions) == (one.states, one.transitions), seed
        for found in ("race", "failure", "deadlock"):
            assert (getattr(several, found) is None) == (getattr(one, found) is None), (seed, found)


def test_compressed_states_take_less_memory():
    program = load(ROCKER / "lamport2-3-ra.tpl")
    exact, compressed = (
        explore(program, "ra", Limits(), tactics=replace(EVERY_STATE, compress=compress))
        for compress in (False, True)
    )
    assert compressed.states == exact.states
    assert compressed.peak_bytes < exact.peak_bytes * 0.8


@pytest.fixture(scope="module")
def rcu():
    """A program, and its search with all the memory it wants."""
    program = load(ROCKER / "rcu.tpl")
    return program, explore(program, "ra", Limits(), tactics=EVERY_STATE)


@pytest.mark.parametrize(
    ("order", "threads"), [("breadth-first", 1), ("depth-first", 1), ("breadth-first", 2), ("depth-first", 3)]
)
def test_states_are_compressed_when_memory_runs_short(rcu, order, threads):
    program, plenty = rcu
    short = Limits(memory_mb=plenty.peak_bytes / 2**20 * 0.8)
    tactics = replace(EVERY_STATE, threads=threads)
    exact = explore(program, "ra", short, order, tactics=replace(tactics, compress=False))
    thrifty = explore(program, "ra", short, order, tactics=tactics)
    assert plenty.compressed_after is exact.compressed_after is None
    assert exact.outcome == Outcome.MEMORY_LIMIT
    assert thrifty.outcome == Outcome.COMPLETE
    assert (thrifty.states, thrifty.transitions) == (plenty.states, plenty.transitions)
    assert 0 < thrifty.compressed_after < plenty.states
    assert thrifty.peak_bytes < plenty.peak_bytes * 0.8


# What several workers send to each other counts, too, so they need a little more.
@pytest.mark.parametrize(("threads", "megabytes"), [(1, 22), (3, 25)])
def test_by_location_states_are_compressed_when_memory_runs_short(threads, megabytes):
    tactics = replace(REDUCED, rotation=False, threads=threads)
    plenty = explore(EIGHT_THREADS, "ra", Limits(), "by-location", tactics=tactics)
    limits = Limits(memory_mb=megabytes)
    thrifty = explore(EIGHT_THREADS, "ra", limits, "by-location", tactics=tactics)
    assert thrifty.outcome == Outcome.COMPLETE
    assert (thrifty.states, thrifty.transitions) == (plenty.states, plenty.transitions)
    assert thrifty.compressed_after > 0


def test_by_location_memory_is_enough_only_for_compressed_states():
    limits = Limits(memory_mb=22)
    exact = replace(REDUCED, rotation=False, compress=False)
    assert explore(EIGHT_THREADS, "ra", limits, "by-location", tactics=exact).outcome == Outcome.MEMORY_LIMIT


@pytest.mark.parametrize("order", ["breadth-first", "depth-first", "by-location"])
def test_compressed_states_change_no_answer(order):
    compressed = 0
    for seed in range(150):
        program = random_program(random.Random(seed), loop_free=False)
        # By location the answer is the same with any number of workers.
        tactics = replace(EVERY_STATE, threads=1 + seed % 3 if order == "by-location" else 1)
        plenty = explore(program, "ra", Limits(), order, tactics=tactics)
        # Most of it is what a search takes for its first state.
        short = Limits(memory_mb=plenty.peak_bytes / 2**20 * 1.7)
        thrifty = explore(program, "ra", short, order, tactics=tactics)
        assert summary(plenty) == summary(thrifty), seed
        compressed += thrifty.compressed_after is not None
    assert compressed > 100


def test_searches_of_store_buffers_compress_states_too():
    compressed = 0
    for seed in range(60):
        program = random_program(random.Random(seed), loop_free=False)
        for criterion in ("persistent", "trf", "robust"):
            plenty = explore_tso(program, criterion, Limits())
            short = Limits(memory_mb=plenty.search.peak_bytes / 2**20 * 1.7)
            thrifty = explore_tso(program, criterion, short)
            assert summary(plenty.search) == summary(thrifty.search), seed
            runs, others = ([events(v.run + v.alone) for v in r.violations] for r in (plenty, thrifty))
            assert runs == others, seed
            compressed += thrifty.search.compressed_after is not None
    assert compressed > 60


def summary(result):
    """All that does not depend on the memory and the time."""
    assert result.outcome in (Outcome.COMPLETE, Outcome.VIOLATION)
    runs = [
        found and events(found.run)
        for found in (result.violation, result.race, result.failure, result.deadlock)
    ]
    return (result.outcome, result.states, result.transitions, runs)


def events(run):
    return [(e.thread, e.pc, e.kind, e.cell, e.read, e.written) for e in run]


@pytest.mark.parametrize("change", [{"compress": True}, {"bitstate": True}, {"threads": 2}])
def test_runs_replay(change):
    answer = robust(LATE, order="depth-first", tactics=replace(REDUCED, **change))
    assert isinstance(answer, NotRobust)
    replay(LATE, answer.witness, "ra")


def test_bitstate_never_says_robust():
    answer = robust(TICKETLOCK, order="depth-first", tactics=replace(REDUCED, bitstate=True))
    assert isinstance(answer, Unknown)
    assert "bit-state hashing can miss states" in answer.why
    assert not answer.exhaustive
    assert answer.exit_code == 3


def test_bitstate_begins_with_an_exact_look_at_what_is_near():
    """A small program is decided by that alone."""
    answer = robust(load(ROCKER / "peterson-ra.tpl"), tactics=replace(REDUCED, bitstate=True))
    assert answer.verdict == "robust"


def test_bitstate_with_few_bits_misses_states_and_ends():
    program = load(ROCKER / "lamport2-3-ra.tpl")
    tactics = replace(EVERY_STATE, bitstate=True)
    result = explore(program, "ra", Limits(memory_mb=40), "depth-first", tactics=tactics)
    full = explore(program, "ra", Limits(), "depth-first", tactics=EVERY_STATE)
    assert result.outcome in (Outcome.INEXACT, Outcome.MEMORY_LIMIT)
    assert result.states < full.states


@pytest.mark.parametrize("change", [{"threads": 2}, {"compress": True}, {"bitstate": True}])
@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        (Limits(states=5000), "limit of 5,000 states"),
        (Limits(seconds=0.2), "time limit of 0.2 s"),
        (Limits(memory_mb=30), "memory limit of 30 MB"),
    ],
)
def test_a_limit_reached_is_unknown(limits, reason, change):
    program = load(ROCKER / "chase-lev-ra.tpl")
    tactics = replace(EVERY_STATE, **change)
    answer = robust(program, limits=limits, order="depth-first", tactics=tactics)
    assert isinstance(answer, Unknown)
    assert reason in answer.why


def test_several_threads_can_be_stopped_by_the_watcher():
    seen = []

    def stop_at_second(progress):
        seen.append(progress)
        return len(seen) == 2

    program = load(ROCKER / "chase-lev-ra.tpl")
    tactics = replace(EVERY_STATE, threads=2)
    answer = robust(program, order="depth-first", tactics=tactics, watcher=stop_at_second)
    assert isinstance(answer, Unknown)
    assert answer.interrupted


def test_an_exception_in_the_watcher_of_several_threads_is_the_callers():
    def fail(progress):
        raise RuntimeError("display broke")

    program = load(ROCKER / "chase-lev-ra.tpl")
    with pytest.raises(RuntimeError, match="display broke"):
        robust(program, order="depth-first", tactics=replace(EVERY_STATE, threads=2), watcher=fail)


def at_random(seed, **change):
    tactics = replace(REDUCED, rotation=False, bitstate=True, variation=Variation(seed, **change))
    return explore(TICKETLOCK, "ra", Limits(states=2000), "at-random", tactics=tactics)


def numbers(result):
    return (result.states, result.transitions, result.bits_used)


def test_random_searches_differ_by_their_seed_alone():
    one, again, other = (at_random(seed) for seed in (1, 1, 2))
    assert numbers(one) == numbers(again)
    assert numbers(one) != numbers(other)


def test_at_random_every_state_is_met_once_if_all_bits_are_kept():
    one = explore(TICKETLOCK, "ra", Limits(), tactics=EVERY_STATE)
    other = explore(TICKETLOCK, "ra", Limits(), "at-random", tactics=EVERY_STATE)
    assert (other.states, other.transitions) == (one.states, one.transitions)
    assert other.bits_used is None


def test_a_random_search_does_not_go_deeper_than_told():
    none, one, three, all_of_it = (at_random(1, deepest=deepest) for deepest in (0, 1, 3, None))
    assert none.states == 1
    assert none.states < one.states < three.states < all_of_it.states


def test_more_memory_for_bits_leaves_more_of_them_unused():
    used = []
    for megabytes in (0.25, 1, 4):
        tactics = replace(REDUCED, bitstate=True, bitstate_mb=megabytes)
        result = explore(TICKETLOCK, "ra", Limits(), "depth-first", tactics=tactics)
        used.append(result.bits_used)
        # Of three bits for a state, a few are those of others too.
        assert 0.9 < result.bits_used * megabytes * 2**23 / (3 * result.states) <= 1
    assert used[0] > used[1] > used[2] > 0
