import random

import pytest
from hypothesis import given, settings

from fencepost.analyses.repair.changes import Change, apply
from fencepost.models.explore import LimitReachedError, reachable
from fencepost.models.sc import ScState, reachable_states
from fencepost.models.threads import ProgramLts
from fencepost.models.tso import (
    tso_initial_states,
    tso_plain_states,
    tso_transitions,
    unbuffered_transitions,
)
from fencepost.models.tso_traces import (
    is_persistent,
    is_robust,
    is_triangular_race_free,
    run_beyond_sc,
    sc_traces,
    trace_beyond_sc,
    trace_of,
    tso_traces,
)
from fencepost.program import Cell, Constant, Exchange, Register, Store
from tests.models.litmus import (
    IRIW,
    LOCK,
    MP,
    MP_NON_ATOMIC,
    SB,
    SB_ACQ_REL_FENCES,
    SB_FENCES,
    SB_OF_ZEROS,
    SB_ONE_FENCE,
    SB_OTHER_RMWS,
    SB_RMWS,
    SC_FENCE,
    TWO_PLUS_TWO_W,
    bcas,
    cas,
    fadd,
    na_read,
    na_write,
    program,
    read,
    wait,
    write,
)
from tests.strategies import programs, random_program

CRITERIA = ("persistent", "robust", "trf")

SB_NON_ATOMIC = program(
    [na_write("x", 1), na_read("a", "y")], [na_write("y", 1), na_read("b", "x")], atomic="", non_atomic="xy"
)
SB_FAILING_CAS = program(
    [write("x", 1), cas("c", "f", 1, 2), read("a", "y")], [write("y", 1), cas("c", "f", 1, 2), read("b", "x")]
)
SB_OWN_READS = program(
    [write("x", 1), read("a", "x"), read("b", "y")], [write("y", 1), read("c", "y"), read("d", "x")]
)
SB_WAITS_FOR_ZERO = program([write("x", 1), wait("y", 0)], [write("y", 1), wait("x", 0)])
SB_BY_EXCHANGES = program(
    [Exchange(None, Cell("x"), Constant(1)), read("a", "y")],
    [Exchange(None, Cell("y"), Constant(1)), read("b", "x")],
)
LB = program([read("a", "x"), write("y", 1)], [read("b", "y"), write("x", 1)])
R = program([write("x", 1), write("y", 1)], [write("y", 2), read("a", "x")])
S = program([write("x", 2), write("y", 1)], [read("a", "y"), write("x", 1)])
ISOLATED_WRITE = program([write("y", 1), read("a", "x")], [write("x", 1)])
ISOLATED_RMW = program([write("y", 1), read("a", "x")], [bcas("x", 0, 1)])
RMW_OF_THE_SAME_VALUE = program([write("y", 1), read("a", "x")], [fadd("x", 0)])
WRITE_OF_THE_SAME_VALUE = program([write("y", 1), read("a", "x")], [write("x", 0)])
DISABLED_RMW = program([write("y", 1), read("a", "x")], [bcas("x", 1, 2)])
OWN_BUFFER = program([write("x", 1), read("a", "x")], [write("x", 2)])
# The value for which it waits shows the second thread that its write has left the buffer.
R_WITH_DETOUR = program(
    [write("x", 1), write("y", 1)], [write("y", 2), wait("y", 3), read("a", "x")], [write("y", 3)]
)
# When the first thread reads x, it is 1 and stays so, yet one of the writes may come later.
LATE_WRITE_OF_THE_SAME_VALUE = program(
    [wait("x", 1), write("y", 1), read("a", "x")], [write("x", 1), SC_FENCE, read("b", "y")], [write("x", 1)]
)
# persist-2015 Figure 2, the loop passed once.
FIGURE_2 = program(
    [write("t", 1), write("x", 2), write("z", 1), read("a", "x")],
    [write("t", 1), write("y", 1), read("a", "t"), Store(Cell("x"), Register("a"))],
    atomic="txyz",
)

# Whether it is persistent, robust and triangular-race free, and whether TSO reaches no more plain states.
VERDICTS = {
    "SB": (SB, False, False, False, False),
    "SB of zeros": (SB_OF_ZEROS, True, False, False, True),
    "SB+fences": (SB_FENCES, True, True, True, True),
    "SB+one fence": (SB_ONE_FENCE, False, False, False, False),
    "SB+acq_rel fences": (SB_ACQ_REL_FENCES, False, False, False, False),
    "SB+RMWs": (SB_RMWS, True, True, True, True),
    "SB+RMWs on two locations": (SB_OTHER_RMWS, True, True, True, True),
    "SB+failing CAS": (SB_FAILING_CAS, True, True, True, True),
    "SB by exchanges": (SB_BY_EXCHANGES, True, True, True, True),
    "SB of non-atomic cells": (SB_NON_ATOMIC, False, False, False, False),
    "SB with reads of the own buffer": (SB_OWN_READS, False, False, False, False),
    "SB with waits": (SB_WAITS_FOR_ZERO, False, False, False, False),
    "MP": (MP, True, True, True, True),
    "MP, payload not atomic": (MP_NON_ATOMIC, True, True, True, True),
    "LB": (LB, True, True, True, True),
    "S": (S, True, True, True, True),
    "R": (R, False, False, False, False),
    "2+2W": (TWO_PLUS_TWO_W, True, True, True, True),
    "IRIW": (IRIW, True, True, True, True),
    "lock": (LOCK, True, True, True, True),
    "isolated write": (ISOLATED_WRITE, False, True, False, True),
    "isolated RMW": (ISOLATED_RMW, False, True, False, True),
    "isolated RMW, never enabled": (DISABLED_RMW, True, True, True, True),
    "isolated RMW of the same value": (RMW_OF_THE_SAME_VALUE, True, True, False, True),
    "isolated write of the same value": (WRITE_OF_THE_SAME_VALUE, True, True, False, True),
    "read of the own buffer": (OWN_BUFFER, True, True, True, True),
    "R+detour": (R_WITH_DETOUR, True, True, True, True),
    "late write of the same value": (LATE_WRITE_OF_THE_SAME_VALUE, True, False, False, True),
    "persist-2015 Figure 2": (FIGURE_2, False, True, False, True),
}


@pytest.mark.parametrize("name", VERDICTS)
def test_litmus(name):
    test, *verdicts = VERDICTS[name]
    same_states = tso_plain_states(test) == reachable_states(test)
    assert [is_persistent(test), is_robust(test), is_triangular_race_free(test), same_states] == verdicts


def run_of(test, *wanted):
    """The run of a program without choices that has these events, and where it ends."""
    lts = ProgramLts(test)
    (state,) = tso_initial_states(lts)
    run = []
    for thread, kind, cell, value in wanted:
        (((event,), state),) = (
            transition
            for transition in tso_transitions(lts, state)
            if transition.events[0][:3] == (thread, kind, test.cells.index(cell))
        )
        assert value == (event.read if kind == "R" else event.written)
        run.append(event)
    return run, state


def enabled(test, *events):
    """What can happen after these events: thread, kind, cell, value read, whether from the own buffer."""
    _, state = run_of(test, *events)
    transitions = tso_transitions(ProgramLts(test), state)
    names = (*test.cells, "fence")
    return {(e.thread, e.kind, names[e.cell], e.read, e.own) for (e,), _ in transitions}


class TestMachine:
    written = (0, "W", "x", 1)
    updated = (0, "U", "x", 1)
    update = (0, "U", "x", None, False)

    def after_a_write_of_x(self, instruction):
        return program([write("x", 1), instruction], atomic="xy")

    def test_a_buffered_write_is_seen_by_its_thread_alone(self):
        test = program([write("x", 1), read("a", "x")], [read("a", "x")])
        assert enabled(test, self.written) == {self.update, (0, "R", "x", 1, True), (1, "R", "x", 0, False)}
        after_update = {(0, "R", "x", 1, False), (1, "R", "x", 1, False)}
        assert enabled(test, self.written, self.updated) == after_update

    def test_the_newest_buffered_write_is_read_and_the_oldest_leaves(self):
        test = program([write("x", 1), write("x", 2), write("y", 3), read("a", "x")])
        events = [self.written, (0, "W", "x", 2), (0, "W", "y", 3)]
        assert enabled(test, *events) == {self.update, (0, "R", "x", 2, True)}
        _, state = run_of(test, *events, self.updated)
        assert state.buffers == (((0, 2), (1, 3)),)
        assert state.memory[:2] == (1, 0)

    def test_another_cell_is_read_from_memory_before_the_write_leaves(self):
        test = self.after_a_write_of_x(read("a", "y"))
        assert enabled(test, self.written) == {self.update, (0, "R", "y", 0, False)}

    @pytest.mark.parametrize(
        "instruction",
        [
            fadd("y", 1),
            Exchange(None, Cell("y"), Constant(1)),
            cas("a", "y", 0, 1),
            cas("a", "y", 1, 2),
            bcas("y", 0, 1),
            SC_FENCE,
            bcas("x", 1, 2),
        ],
    )
    def test_rmws_and_sc_fences_wait_for_an_empty_buffer(self, instruction):
        test = self.after_a_write_of_x(instruction)
        assert enabled(test, self.written) == {self.update}
        assert len(enabled(test, self.written, self.updated)) == 1

    def test_an_rmw_writes_memory_at_once(self):
        _, state = run_of(program([fadd("x", 2)]), (0, "RMW", "x", 2))
        assert state.is_plain
        assert state.memory[0] == 2

    def test_a_failing_cas_is_a_read(self):
        assert enabled(program([cas("a", "x", 1, 2)])) == {(0, "R", "x", 0, False)}

    def test_a_wait_is_met_by_the_own_buffer_first(self):
        test = self.after_a_write_of_x(wait("x", 1))
        assert enabled(test, self.written) == {self.update, (0, "R", "x", 1, True)}
        assert enabled(self.after_a_write_of_x(wait("x", 0)), self.written) == {self.update}

    def test_weak_fences_leave_the_buffer_alone(self):
        assert enabled(SB_ACQ_REL_FENCES, self.written) >= {self.update, (0, "R", "y", 0, False)}


class TestFigure4:
    """persist-2015, runs of the program of Figure 2; p1 is thread 0."""

    RHO_1 = run_of(
        FIGURE_2,
        *[(0, "W", "t", 1), (1, "W", "t", 1), (1, "W", "y", 1), (0, "U", "t", 1), (1, "U", "t", 1)],
        *[(1, "R", "t", 1), (0, "W", "x", 2), (0, "W", "z", 1), (1, "U", "y", 1), (0, "R", "x", 2)],
        *[(0, "U", "x", 2), (0, "U", "z", 1)],
    )[0]
    RHO_2 = run_of(
        FIGURE_2,
        *[(0, "W", "t", 1), (0, "U", "t", 1), (1, "W", "t", 1), (1, "U", "t", 1), (1, "W", "y", 1)],
        *[(1, "U", "y", 1), (0, "W", "x", 2), (0, "U", "x", 2), (1, "R", "t", 1), (0, "W", "z", 1)],
        *[(0, "U", "z", 1), (0, "R", "x", 2)],
    )[0]
    RHO_3 = run_of(
        FIGURE_2,
        *[(0, "W", "t", 1), (0, "U", "t", 1), (1, "W", "t", 1), (1, "W", "y", 1), (1, "U", "t", 1)],
        *[(1, "R", "t", 1), (0, "W", "x", 2), (1, "W", "x", 1), (0, "W", "z", 1), (1, "U", "y", 1)],
        *[(0, "R", "x", 2), (0, "U", "x", 2), (1, "U", "x", 1), (0, "U", "z", 1)],
    )[0]

    def test_the_first_run_is_persistent_because_of_the_second(self):
        assert trace_of(FIGURE_2, self.RHO_1, "persistent") == trace_of(FIGURE_2, self.RHO_2, "persistent")
        assert trace_of(FIGURE_2, self.RHO_2, "persistent") in sc_traces(FIGURE_2, "persistent")

    def test_the_third_run_is_fragile(self):
        trace = trace_of(FIGURE_2, self.RHO_3, "persistent")
        assert trace in tso_traces(FIGURE_2, "persistent")
        assert trace not in sc_traces(FIGURE_2, "persistent")


def test_evidence_is_a_complete_run_with_a_trace_that_sc_lacks():
    for criterion in CRITERIA:
        run = run_beyond_sc(SB, criterion)
        assert [event.kind for event in run].count("W") == [event.kind for event in run].count("U") == 2
        trace = trace_of(SB, run, criterion)
        assert trace in tso_traces(SB, criterion) - sc_traces(SB, criterion)
        assert trace_beyond_sc(SB, criterion) in tso_traces(SB, criterion) - sc_traces(SB, criterion)
        assert run_beyond_sc(SB_FENCES, criterion) is None


@pytest.mark.parametrize("decide", [is_persistent, is_robust, is_triangular_race_free, tso_plain_states])
def test_a_limit_that_is_too_small_is_reported(decide):
    with pytest.raises(LimitReachedError):
        decide(SB, limit=10)


def fenced(test):
    """The program with an SC fence after each store."""
    stores = [
        (number, pc)
        for number, thread in enumerate(test.threads)
        for pc, instruction in enumerate(thread.code)
        if isinstance(instruction, Store)
    ]
    return apply(test, [Change("sc-fence", (number,), pc, "after") for number, pc in stores]).program


def unbuffered_states(test):
    lts = ProgramLts(test)
    initial = tso_initial_states(lts)
    return reachable(initial, lambda state: (after for _, after in unbuffered_transitions(lts, state)))


def check(test, seed=None):
    """What the three criteria have to do with each other, with states and with fences."""
    under_sc = reachable_states(test)
    assert {ScState(state.threads, state.memory) for state in unbuffered_states(test)} == under_sc, seed
    assert sc_traces(test, "trf") <= tso_traces(test, "trf"), seed
    assert is_triangular_race_free(fenced(test)), seed
    persistent, robust, trf = is_persistent(test), is_robust(test), is_triangular_race_free(test)
    assert (persistent and robust) or not trf, seed
    if persistent or robust:
        assert tso_plain_states(test) == under_sc, seed
    return persistent, robust, trf


def test_criteria_of_random_programs():
    programs_drawn = (
        random_program(random.Random(seed), threads=(2, 3), most_accesses=3) for seed in range(60)
    )
    verdicts = {check(test, seed) for seed, test in enumerate(programs_drawn)}
    assert len(verdicts) == 5  # all those in which trf implies the others


@settings(max_examples=25, deadline=None)
@given(programs(threads=(2, 3), most_accesses=3))
def test_criteria_of_programs_that_shrink(test):
    check(test)


@pytest.mark.slow
@pytest.mark.parametrize("block", range(4))
def test_criteria_of_many_random_programs(block):
    for seed in range(10_000 + block * 250, 10_250 + block * 250):
        check(random_program(random.Random(seed), modes=seed % 2 == 1), seed)
