"""Reductions do not change answers: each of them, and all together, against none."""

import random
from itertools import product
from math import comb
from pathlib import Path

import pytest
from msgspec.structs import replace

from fencepost import memory_models
from fencepost.analyses.robustness import NEAR_STATES, robust
from fencepost.engine._native import Model, Order, Outcome, StoreKind, Variation
from fencepost.engine._native import explore as native_explore
from fencepost.engine.lower import Lowering
from fencepost.engine.search import EVERY_STATE, REDUCED, Limits, Tactics, explore
from fencepost.formats import load
from fencepost.formats.tpl import read, write
from fencepost.models.explore import LimitReachedError
from fencepost.program import Fence, Mode
from fencepost.static.critical_values import stale_classes
from fencepost.static.private_locations import private_accesses
from fencepost.static.rotations import rotations, without_bounds
from fencepost.static.symmetry import exchanges
from tests.engine.against_definitions import by_definition, check_against_definitions
from tests.engine.alike import program_with_copies
from tests.engine.counting import program_with_counters
from tests.strategies import random_program

BATCH = 250
COUNTING = 150
FEW_GRAPHS = 250  # as in test_against_definitions.py
ORDERS = ["auto", "breadth-first", "depth-first", "largest-first", "by-location"]
MODELS = ["ra", "rc20", "cpp20"]
REDUCTIONS = ["subsumption", "partial_order", "symmetry", "local"]
COMBINATIONS = [
    Tactics(**dict(zip(REDUCTIONS, chosen, strict=True)), rotation=chosen.count(True) % 2 == 1)
    for chosen in product([True, False], repeat=len(REDUCTIONS))
]
LIMITS = Limits(states=200_000)
MOST_UNREDUCED = 100_000
FIGURE_7 = sorted((Path(__file__).parents[2] / "examples" / "rocker").glob("*.tpl"))
LARGE = ["chase-lev-ra", "lamport2-3-ra", "rcu-offline"]


class TooManyStatesError(Exception):
    """A program is too large to be searched without reductions."""


def findings(result):
    """Whether there is a violation, and if there is none, whether a race and a failing assertion."""
    assert result.outcome in (Outcome.COMPLETE, Outcome.VIOLATION)
    if result.violation is not None:
        return "not-robust"
    return ("robust", result.race is not None, result.failure is not None)


def unreduced(program, model):
    """The findings with every register and every state kept."""
    ordered_by_s = memory_models.MODELS[model].ordered_by_s
    code = Lowering(program, monitored=True, keep_registers=True, ordered_by_s=ordered_by_s).plain
    result = native_explore(
        code,
        Model[model.upper()],
        Order.BREADTH_FIRST,
        StoreKind.EXACT,
        False,
        False,
        False,
        1,
        Variation(seed=0, bits_per_state=3, deepest=0, bits_bytes=0),
        MOST_UNREDUCED,
        60.0,
        10**9,
        None,
    )
    if result.outcome == Outcome.STATE_LIMIT:
        raise TooManyStatesError
    return findings(result)


def looping_program(seed, model):
    """Every third has threads that are alike."""
    draw = program_with_copies if seed % 3 == 0 else random_program
    modes = model != "ra" and seed % 2 == 0
    return draw(random.Random(seed), loop_free=False, modes=modes, sc_accesses=model == "cpp20")


def counting_program(seed, model, *, loop_free=False):
    return program_with_counters(
        random.Random(seed), loop_free=loop_free, modes=model != "ra" and seed % 2 == 0
    )


def some_tactics(seed):
    """All reductions, two other combinations, and other ways to search; different ones from seed to seed."""
    count = len(COMBINATIONS)
    yield from (REDUCED, COMBINATIONS[seed % count], COMBINATIONS[seed // count % count])
    yield replace(COMBINATIONS[seed % count], compress=True)
    yield replace(COMBINATIONS[seed // count % count], threads=2 + seed % 2)


def check_findings(seeds, model, draw=looping_program):
    """Looping programs; the order of the search changes from program to program."""
    seen = set()
    for seed in seeds:
        program = draw(seed, model)
        try:
            expected = unreduced(program, model)
        except TooManyStatesError:
            continue
        seen.add(expected)
        ways = [(ORDERS[1 + seed % 3], tactics) for tactics in some_tactics(seed)]
        ways += [
            (
                "by-location",
                replace(tactics, threads=1 + seed % 3, merging=n % 3 > 0, lookahead=n % 4 > 0),
            )
            for n, tactics in enumerate(COMBINATIONS[seed % 5 :: 5], seed)
        ]
        for order, tactics in ways:
            result = explore(program, model, LIMITS, order, tactics=tactics)
            if result.outcome == Outcome.STATE_LIMIT and expected == "not-robust":
                continue  # by location comes to violations late
            assert findings(result) == expected, f"seed {seed}, {order}, {tactics}:\n{write(program)}"
    assert len(seen) >= (4 if draw is looping_program else 3)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("first_seed", range(0, 1000, BATCH))
def test_looping_programs_keep_their_findings(first_seed, model):
    check_findings(range(first_seed, first_seed + BATCH), model)


@pytest.mark.parametrize("model", MODELS)
def test_counting_programs_keep_their_findings(model):
    check_findings(range(COUNTING), model, draw=counting_program)


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("first_seed", range(1000, 11000, BATCH))
def test_many_counting_programs_keep_their_findings(first_seed, model):
    check_findings(range(first_seed, first_seed + BATCH), model, draw=counting_program)


@pytest.mark.parametrize("model", MODELS)
def test_witnesses_of_counting_programs_replay(model):
    without_threads = replace(REDUCED, symmetry=False)
    rotated = 0
    for seed in range(COUNTING):
        program = counting_program(seed, model, loop_free=True)
        found = rotations(program, stale_classes(program))
        rotated += bool(found)
        try:
            truth = by_definition(program, model, FEW_GRAPHS) if found else None
        except LimitReachedError:
            continue
        for order, tactic in product(ORDERS if found else [], (REDUCED, without_threads)):
            check_against_definitions(program, model, order, tactic, truth=truth)
    assert rotated > COUNTING * 0.1


@pytest.mark.parametrize("model", MODELS)
def test_parts_of_a_search_find_together_what_it_finds(model):
    seen = set()
    for seed in range(300):
        program = looping_program(seed, model)
        whole = findings(explore(program, model, LIMITS, "by-location"))
        count = 2 + seed % 3
        shares = [replace(REDUCED, part=(n, count)) for n in range(count)]
        parts = [findings(explore(program, model, LIMITS, "by-location", tactics=t)) for t in shares]
        if "not-robust" in parts:
            together = "not-robust"
        else:
            together = ("robust", any(part[1] for part in parts), any(part[2] for part in parts))
        assert together == whole, f"seed {seed}:\n{write(program)}"
        seen.add((whole, parts.count("not-robust") < count))
    assert {("not-robust", True), (("robust", False, False), True), (("robust", True, False), True)} <= seen


def without_sc_fences(program):
    """The program with acquire-release fences in their place."""

    def weaker(instruction):
        is_sc = isinstance(instruction, Fence) and instruction.mode is Mode.SC
        return Fence(Mode.ACQ_REL, at=instruction.at) if is_sc else instruction

    threads = (replace(thread, code=tuple(map(weaker, thread.code))) for thread in program.threads)
    return replace(program, threads=tuple(threads))


@pytest.mark.parametrize("first_seed", range(0, 500, BATCH))
def test_without_sc_events_cpp20_costs_what_rc20_does(first_seed):
    """The same findings after the same states and steps, and states of the same size."""
    seen = set()
    for seed in range(first_seed, first_seed + BATCH):
        program = without_sc_fences(looping_program(seed, "rc20"))
        for order, tactics in ((ORDERS[1 + seed % 3], COMBINATIONS[seed % 16]), ("by-location", REDUCED)):
            results = [explore(program, model, LIMITS, order, tactics=tactics) for model in ("rc20", "cpp20")]
            found, other = (
                (findings(result), result.states, result.transitions, result.state_bytes)
                for result in results
            )
            assert found == other, f"seed {seed}, {order}, {tactics}:\n{write(program)}"
            seen.add(found[0])
    assert len(seen) >= 3


SC_LOCAL = """
    global x, y, mine;
    fn t1 {{ x.store(1, rlx); fence; y.store(1, rlx); }}
    fn t2 {{ local r; mine.store(1, {mode}); r = mine.load({mode}); r = y.load(acq); }}
"""


@pytest.mark.parametrize(("mode", "is_local"), [("rlx", True), ("seq_cst", False)])
def test_seq_cst_accesses_to_own_locations_are_steps_where_there_are_sc_fences(mode, is_local):
    program = read(SC_LOCAL.format(mode=mode))
    private = {pc for thread, pc in private_accesses(program, ordered_by_s=True) if thread == 1}
    assert private == ({0, 1} if is_local else set())
    without_fence = without_sc_fences(program)
    assert len(private_accesses(without_fence, ordered_by_s=True)) > 2


def test_sc_fences_are_no_scheduling_points_under_cpp20():
    program = read("global x; fn t[3] { local r; fence; fence; fence; r = FADD(x, 1); }")
    tactics = replace(EVERY_STATE, subsumption=True)
    counts = [
        explore(program, model, LIMITS, "largest-first", tactics=tactics).states
        for model in ("rc20", "cpp20")
    ]
    assert counts[1] == 2**3 < counts[0]


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("first_seed", range(1000, 21000, BATCH))
def test_many_looping_programs_keep_their_findings(first_seed, model):
    check_findings(range(first_seed, first_seed + BATCH), model)


@pytest.mark.parametrize("order", ORDERS)
def test_verdicts_are_the_same_in_every_order(order):
    for seed in range(BATCH):
        program = random_program(random.Random(seed), loop_free=False)
        expected = "robust" if unreduced(program, "ra") != "not-robust" else "not-robust"
        answer = robust(program, limits=LIMITS, order=order)
        assert answer.verdict == expected, f"seed {seed}:\n{write(program)}"


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("first_seed", range(0, BATCH, 50))
def test_witnesses_replay_in_every_order(first_seed, model):
    tactics = (REDUCED, replace(REDUCED, subsumption=False), replace(REDUCED, threads=2))
    for seed in range(first_seed, first_seed + 50):
        draw = program_with_copies if seed % 3 == 0 else random_program
        sc_accesses = model == "cpp20" and seed % 4 != 0
        program = draw(random.Random(seed), loop_free=True, modes=model != "ra", sc_accesses=sc_accesses)
        try:
            truth = by_definition(program, model, FEW_GRAPHS if model == "cpp20" else None)
        except LimitReachedError:
            continue
        for order, tactic in product(["auto", "depth-first", "largest-first", "by-location"], tactics):
            check_against_definitions(program, model, order, tactic, truth=truth)


def test_breadth_first_witnesses_stay_shortest():
    for seed in range(BATCH):
        program = random_program(random.Random(seed))
        answers = [robust(program, order="breadth-first", tactics=tactics) for tactics in COMBINATIONS]
        lengths = {len(answer.witness.events) if answer.witness else None for answer in answers}
        assert len(lengths) == 1


@pytest.mark.parametrize(
    "path",
    [pytest.param(p, id=p.stem, marks=[pytest.mark.slow] * (p.stem in LARGE)) for p in FIGURE_7],
)
def test_programs_of_figure_7_keep_their_findings(path):
    program = load(path)
    expected = findings(explore(program, "ra", Limits(), tactics=EVERY_STATE))
    for tactics in (*COMBINATIONS, replace(REDUCED, compress=True), replace(REDUCED, threads=3)):
        assert findings(explore(program, "ra", Limits(), "largest-first", tactics=tactics)) == expected
    for off in ({}, {"symmetry": False}, {"subsumption": False}, {"merging": False}, {"lookahead": False}):
        tactics = replace(REDUCED, **off)
        assert findings(explore(program, "ra", Limits(), "by-location", tactics=tactics)) == expected


def states(program, **off):
    """How many states all reductions leave, without some of them."""
    return explore(program, "ra", Limits(), "largest-first", tactics=replace(REDUCED, **off)).states


def test_subsumption_saves_states():
    program = read(
        """
        max_value 3;
        global next, serving;
        fn worker[3] {
            local ticket, now;
            while (1) {
                ticket = FADD(next, 1);
                wait(serving, ticket);
                now = serving.load();
                serving.store(now + 1);
            }
        }
        """
    )
    assert states(program) < states(program, subsumption=False)


def test_threads_that_share_nothing_are_not_interleaved():
    """Each of three threads goes through seven states: one after the other instead of in all combinations.
    Symmetry alone leaves the combinations in which they are sorted."""
    threads = "".join(f"fn t{i} {{ local r; {f'x{i}.store(1); r = x{i}.load();' * 3} }}" for i in range(3))
    program = read(f"global x0, x1, x2; {threads}")
    assert states(program, partial_order=False, symmetry=False, local=False) == 7**3
    assert states(program, symmetry=False, local=False) == 3 * 6 + 1
    assert states(program, partial_order=False, local=False) == comb(7 + 2, 3)
    assert states(program, partial_order=False, symmetry=False) == 1


def test_a_spinning_thread_does_not_keep_others_from_their_violation():
    """The spinning thread alone is a persistent set for ever; the two others show store buffering."""
    program = read(
        """
        global x, y, z;
        fn t1 { local r; while (1) { r = z.load(); } }
        fn t2 { local r; x.store(1); r = y.load(); }
        fn t3 { local r; y.store(1); r = x.load(); }
        """
    )
    assert robust(program, order="depth-first").verdict == "not-robust"


LOCK = """
    max_value 2;
    global mutex;
    na owner;
    fn worker[3] {{
        local r;
        while (1) {{
            lock(mutex);
            owner.nastore({value});
            r = owner.naload();
            assert(r == {value});
            unlock(mutex);
        }}
    }}
"""


@pytest.mark.parametrize("value", ["1", "tid"])
def test_equal_threads_can_be_exchanged(value):
    """Also when each writes its own number, as long as numbers are only compared."""
    program = read(LOCK.format(value=value))
    assert [(e.first, e.second) for e in exchanges(program, stale_classes(program))] == [(0, 1), (1, 2)]
    assert states(program) * 2 < states(program, symmetry=False)


@pytest.mark.parametrize("value", ["tid * 1", "0 + tid"])
def test_threads_that_compute_with_their_numbers_cannot_be_exchanged(value):
    program = read(LOCK.format(value=value))
    assert exchanges(program, stale_classes(program)) == []


def test_own_locations_change_places_with_their_threads():
    program = load(FIGURE_7[0].parent / "peterson-ra.tpl")
    (exchange,) = exchanges(program, stale_classes(program))
    flags = tuple(program.cells.index(name) for name in ("flag0", "flag1"))
    assert exchange.cells == (flags,)
    turn = program.cells.index("turn")
    assert [(v.first, v.second) for v in exchange.values if turn in v.cells] == [(0, 1)]


def test_a_third_thread_that_treats_two_differently_keeps_them_apart():
    program = read(
        """
        global x, y;
        fn t1 { x.store(1); }
        fn t2 { y.store(1); }
        fn t3 { local r; wait(x, 1); r = y.load(); }
        """
    )
    assert exchanges(program, stale_classes(program)) == []


def test_threads_with_different_orders_for_failure_are_not_exchanged():
    body = "fn {} {{ local r; r = CAS(x, 0, 1, acq, rel, {}); r = x.load(); }}"
    for second, groups in (("acq", 1), ("rlx", 0)):
        program = read(f"global x; {body.format('a', 'acq')} {body.format('b', second)}")
        assert len(exchanges(program, stale_classes(program))) == groups


EQUAL_WITH_OWN_LOCATIONS = """
    global x, y;
    na d;
    fn c0 { local r; fence(rel); x.store(1); while (1) { r = y.load(); r = d.naload(); } }
    fn c1 { local r; fence(rel); y.store(1); while (1) { r = x.load(); r = d.naload(); } }
"""
EQUAL_WITH_RELEASE_FENCES = """
    max_value 1;
    global x, y, z;
    fn c[2] { local r; fence(acq_rel); x.store(1, rel); r = 1; r = exchange(y, 0, acq); x.store(0, rel); }
"""


@pytest.mark.parametrize("text", [EQUAL_WITH_OWN_LOCATIONS, EQUAL_WITH_RELEASE_FENCES])
def test_topics_change_with_the_threads_that_are_exchanged(text):
    program = read(text)
    assert exchanges(program, stale_classes(program))
    found = findings(explore(program, "rc20", LIMITS, "by-location"))
    assert found == unreduced(program, "rc20") == "not-robust"


def test_monitors_that_others_cover_are_dropped():
    """Also those that are not the first ones known at their node."""
    program = read(
        """
        max_value 2;
        global x, a[2];
        fn c[3] { local r, s; r = CAS(x, 2, 0 + 2, rlx, rel, acq); r = a[s].load(); x.store(2 == 0); }
        fn t {
            local r;
            r = a[0].load();
            again: r = x.load(acq);
            a[2 % 2].store(0);
            if (r > 1) goto again;
        }
        """
    )
    tactics = replace(REDUCED, merging=False, lookahead=False)
    assert explore(program, "ra", LIMITS, "by-location", tactics=tactics).states <= 176


def followed(program, model="ra", **off):
    """How many monitors are followed by location."""
    tactics = replace(REDUCED, **off)
    found = explore(program, model, LIMITS, "by-location", tactics=tactics)
    assert found.outcome == Outcome.COMPLETE
    return found.states - explore(program, "sc", LIMITS, tactics=tactics).states


def test_states_with_the_same_future_are_followed_once():
    """Nobody asks what `count` is."""
    program = read(
        """
        max_value 31;
        global x, y, count;
        fn counter { local i; while (1) { i = (i + 1) % 30; count.store(i); } }
        fn left { local r; x.store(1); wait(y, 1); r = count.load(); }
        fn right { local r; y.store(1); wait(x, 1); r = count.load(); }
        """
    )
    off = {"rotation": False, "lookahead": False}
    assert followed(program, **off) * 20 < followed(program, merging=False, **off)


def test_stale_values_rotate_with_the_others():
    """Only the wait leaves SC: it can read what `c` held before `b` moved it on, and nothing else."""
    program = read(
        """
        max_value 3;
        global c, x;
        fn a { local s; s = c.load(rlx); FADD(x, 1, rlx, rlx); wait(c, s, rlx); }
        fn b { local r; r = c.load(rlx); c.store(r + 1, rlx); FADD(x, 1, rlx, rlx); }
        """
    )
    assert rotations(program, stale_classes(program))
    for model, order in product(["rc20", "cpp20"], ORDERS[1:]):
        result = explore(program, model, LIMITS, order)
        assert findings(result) == "not-robust"
        assert (result.violation.thread, result.violation.pc) == (0, 2)


def test_cells_of_an_array_rotate_with_their_indices():
    program = read(
        """
        max_value 3;
        global c, a[2];
        fn t {
            local r, k;
            while (1) {
                r = FADD(c, 1);
                k = a[r % 2].load();
                assert(k == 0);
                a[r % 2].store(1);
                a[(r + 1) % 2].store(0);
            }
        }
        fn u { local r; r = c.load(); r = a[r % 2].load(); }
        """
    )
    (rotation,) = rotations(program, stale_classes(program))
    assert rotation.arrays
    for order in ORDERS[1:]:
        result = explore(program, "ra", LIMITS, order, tactics=replace(REDUCED, partial_order=False))
        assert result.failure is None
    assert states(program, partial_order=False) < states(program, partial_order=False, rotation=False)


def check_without_bounds(seeds, model):
    nothing = ("robust", False, False)
    free_of_findings = without = 0
    for seed in seeds:
        modes = model != "ra" and seed % 2 == 0
        program = program_with_counters(
            random.Random(seed), loop_free=seed % 3 == 0, modes=modes, bounded=True
        )
        free = without_bounds(program)
        if free is None:
            continue
        without += 1
        result = explore(free, model, LIMITS, "by-location")
        if result.outcome == Outcome.COMPLETE and result.deadlock is None and findings(result) == nothing:
            free_of_findings += 1
            bounded = explore(program, model, LIMITS, "by-location", tactics=EVERY_STATE)
            assert findings(bounded) == nothing, f"seed {seed}:\n{write(program)}"
            assert bounded.deadlock is None, f"seed {seed}:\n{write(program)}"
    assert without > 0.15 * len(seeds)
    assert free_of_findings > 0.3 * without


@pytest.mark.parametrize("model", MODELS)
def test_what_is_not_found_without_bounds_is_not_there_with_them(model):
    check_without_bounds(range(BATCH), model)


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("first_seed", range(1000, 6000, BATCH))
def test_what_is_not_found_without_bounds_is_never_there_with_them(first_seed, model):
    check_without_bounds(range(first_seed, first_seed + BATCH), model)


BOUNDED_LOCK = """
    max_value 63;
    global next, serving;
    na held;
    fn worker[4] {{
        local ticket, now, r;
        while (1) {{
            ticket = FADD(next, 1);
            assume(ticket < {bound});
            now = serving.load();
            while (now != ticket) {{ now = serving.load(); }}
            held.nastore(tid);
            r = held.naload();
            assert(r == tid);
            {more}
            serving.store(ticket + 1);
        }}
    }}
"""


def test_a_bound_that_only_cuts_runs_off_costs_nothing():
    answers = {bound: robust(read(BOUNDED_LOCK.format(bound=bound, more=""))) for bound in (50, 60)}
    assert answers[50].verdict == answers[60].verdict == "robust"
    assert answers[50].stats.states == answers[60].stats.states < NEAR_STATES
    rotates_not = replace(REDUCED, rotation=False)
    program = read(BOUNDED_LOCK.format(bound=50, more=""))
    assert robust(program, tactics=rotates_not).stats.states > 10 * answers[50].stats.states


@pytest.mark.parametrize(("last", "fails"), [(49, True), (50, False)])
def test_a_bound_that_truly_bounds_is_kept(last, fails):
    answer = robust(read(BOUNDED_LOCK.format(bound=50, more=f"assert(ticket != {last});")))
    assert answer.verdict == "robust"
    assert (answer.assertion is not None) is fails
    if fails:
        assert answer.assertion.registers["ticket"] == last


def test_rotations_are_often_found():
    programs = [counting_program(seed, "ra") for seed in range(BATCH)]
    assert sum(bool(rotations(program, stale_classes(program))) for program in programs) > BATCH * 0.25


def test_tickets_rotate():
    """The program is the same for each of eight values of `now_serving`."""
    program = load(FIGURE_7[0].parent / "ticketlock4.tpl")
    rotated, all_states = (
        explore(program, "ra", Limits(), "by-location", tactics=replace(REDUCED, rotation=on))
        for on in (True, False)
    )
    assert 8 * rotated.states == all_states.states
    assert 8 * rotated.transitions == all_states.transitions


def test_sequence_locks_have_few_different_futures():
    """States are told apart by where threads stand, by labels, and by what comes later. With fewer of them,
    violations would be missed."""
    program = load(FIGURE_7[0].parent / "seqlock.tpl")
    assert explore(program, "ra", LIMITS, "by-location").states == 28_689


def test_no_monitor_is_followed_where_nobody_can_ask():
    """By control flow each thread can wait for every number again, but no number comes twice."""
    program = read(
        """
        max_value 10;
        global turn, done;
        fn writer { local i; while (i < 9) { i = i + 1; turn.store(i); wait(done, i); } }
        fn reader { local i; while (i < 9) { i = i + 1; wait(turn, i); done.store(i); } }
        """
    )
    assert followed(program, merging=False) == 0 < followed(program, merging=False, lookahead=False)


def test_who_has_accessed_a_location_is_not_stale_there():
    """The counters of an RCU are asked about again and again, but mostly only after an own access."""
    program = load(FIGURE_7[0].parents[1] / "large" / "rcu-offline-2-1.tpl")
    assert explore(program, "ra", LIMITS, "by-location").states <= 1554


def test_copies_are_mostly_found():
    found = 0
    for seed in range(BATCH):
        program = program_with_copies(random.Random(seed), loop_free=False, modes=False)
        found += bool(exchanges(program, stale_classes(program)))
    assert found > BATCH * 0.5


def test_accesses_that_nobody_sees_are_no_scheduling_points():
    """Two threads with an array cell of their own each, by their number, and one that is never written."""
    program = read(
        """
        global x, limit=2, own[2];
        fn t[2] { local r; r = limit.load(); own[tid].store(r); r = own[tid].load(); x.store(r); }
        """
    )
    assert states(program, partial_order=False, symmetry=False, local=False) >= 5 * 5
    assert states(program, partial_order=False, symmetry=False) <= 2 * 2 + 1


def test_accesses_that_nobody_sees_are_shown_where_they_matter():
    """Those of the threads that leave SC, not those of others."""
    program = read(
        """
        global x, y, mine, others;
        fn t1 { local a; mine.store(1); x.store(1); a = mine.load(); a = y.load(); }
        fn t2 { local a; y.store(1); a = x.load(); }
        fn t3 { others.store(1); }
        """
    )
    answer = check_against_definitions(program)
    assert [event.cell for event in answer.witness.events if event.thread == 0] == ["mine", "x", "mine", "y"]
    assert not [event for event in answer.witness.events if event.thread == 2]


def test_registers_of_a_failing_assertion_keep_their_values():
    """Although their values are known beforehand, and they are not needed to run the program."""
    answer = robust(read("global x; fn t[2] { local r; r = 2; x.store(1); assert(r == 1); }"))
    assert answer.assertion is not None
    assert answer.assertion.registers == {"r": 2}


def test_an_assertion_that_fails_after_accesses_that_nobody_sees_replays():
    program = read(
        """
        global x, y;
        fn t1 { local r; x.store(1); y.store(3); r = y.load(); assert(r == 1); }
        fn t2 { x.store(2); }
        """
    )
    answer = check_against_definitions(program)
    assert [event.cell for event in answer.assertion.run.events if event.thread == 0] == ["x", "y", "y"]


def test_too_much_to_do_alone_is_done_step_by_step():
    """The thread has more states between two shared accesses than the engine follows in one step."""
    choices = "oneof({ r = FADD(mine, 1); } { r = FADD(mine, 2); } { skip; });"
    program = read(
        "max_value 65535; global x, mine; fn u { x.store(2); }"
        f"fn t {{ local r; while (r < 6000) {{ {choices} }} x.store(1); }}"
    )
    assert robust(program).verdict == "robust"


def test_dead_registers_do_not_tell_states_apart():
    program = read("global x; fn t { local r; oneof({ r = 1; } { r = 2; } { r = 3; }); x.store(1); }")
    assert explore(program, "sc", Limits(), tactics=EVERY_STATE).states == 2
