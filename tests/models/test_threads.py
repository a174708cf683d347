import pytest

from fencepost.models.threads import DIVERGED, NO_CELL, Finding, Label, ProgramLts, ThreadLts, ThreadState
from fencepost.program import (
    Assert,
    Assign,
    Assume,
    Binary,
    BlockingCompareExchange,
    Branch,
    Cell,
    Choose,
    CompareExchange,
    Constant,
    Exchange,
    Fence,
    FetchAdd,
    Goto,
    Load,
    Location,
    Mode,
    Program,
    Register,
    Skip,
    Store,
    Thread,
    ThreadId,
    Unary,
    Verify,
    Wait,
)
from tests.models.litmus import SC_FENCE, program, read, wait, write

X = Cell("x")
R = Register("a")
A = Location("m", (0, 0), is_array=True)


def lts(*code, max_value=3, silent_fences=True):
    return ThreadLts(program(list(code), max_value=max_value), 0, silent_fences)


def array_lts(*code, tid=0):
    thread = Thread("t", tuple(code), ("a", "b"), tid=tid, copies=2)
    return ThreadLts(Program((Location("x"), A), (thread,), 3), 0)


def stands(thread):
    return [state.pc for state in thread.start.states]


def labels(thread):
    (start,) = thread.start.states
    return [(label.kind, label.read, label.written) for label, *_ in thread.enabled(start)]


class TestAccesses:
    def test_a_load_enables_every_value(self):
        thread = lts(Load("b", X, Mode.ACQ))
        (start,) = thread.start.states
        label, successors, _ = thread.step(start, 2)
        assert label == Label("R", 0, 2, None, Mode.ACQ)
        assert successors == (ThreadState(1, (0, 2, 0, 0)),)
        assert len(labels(thread)) == 4

    def test_a_store_writes_modulo(self):
        assert labels(lts(Store(X, Binary("+", Constant(3), Constant(2))))) == [("W", None, 1)]
        assert labels(lts(Store(X, Unary("-", Constant(1))))) == [("W", None, 3)]

    def test_other_fetches_combine_and_are_taken_modulo(self):
        for operator, written in {"&": [0, 0, 2], "|": [2, 0, 2], "^": [2, 0, 0]}.items():
            enabled = labels(lts(FetchAdd("a", X, Constant(2), operator=operator), max_value=2))
            assert enabled == [("RMW", v, written[v]) for v in range(3)]

    def test_fetch_add_adds_modulo(self):
        enabled = labels(lts(FetchAdd("a", X, Constant(2))))
        assert enabled == [("RMW", v, (v + 2) % 4) for v in range(4)]

    def test_exchange_enables_every_value(self):
        assert labels(lts(Exchange(None, X, Constant(2)))) == [("RMW", v, 2) for v in range(4)]

    def test_cas_succeeds_or_reads_with_its_load_mode(self):
        thread = lts(CompareExchange("a", X, Constant(1), Constant(2), Mode.ACQ, Mode.REL))
        assert labels(thread) == [("R", 0, None), ("RMW", 1, 2), ("R", 2, None), ("R", 3, None)]
        (start,) = thread.start.states
        assert thread.step(start, 0).label == Label("R", 0, 0, None, Mode.ACQ)
        assert thread.step(start, 1).label == Label("RMW", 0, 1, 2, Mode.ACQ, Mode.REL)

    def test_blocking_cas_waits(self):
        assert labels(lts(BlockingCompareExchange(X, Constant(1), Constant(2)))) == [("RMW", 1, 2)]

    def test_wait_enables_only_its_values(self):
        thread = lts(Wait("a", X, (Constant(1), Constant(3))))
        assert labels(thread) == [("R", 1, None), ("R", 3, None)]
        (start,) = thread.start.states
        assert thread.step(start, 3).successors == (ThreadState(1, (3, 0, 0, 0)),)
        assert thread.step(start, 2) is None

    def test_an_sc_fence_is_an_rmw_of_the_reserved_cell(self):
        thread = lts(SC_FENCE)
        (start,) = thread.start.states
        assert thread.step(start, 0).label == Label("RMW", 4, 0, 0, Mode.SC, Mode.SC)

    @pytest.mark.parametrize(
        ("mode", "acquires", "releases"),
        [
            (Mode.ACQ, Mode.ACQ, None),
            (Mode.REL, None, Mode.REL),
            (Mode.ACQ_REL, Mode.ACQ, Mode.REL),
        ],
    )
    def test_other_fences_are_silent_or_labels(self, mode, acquires, releases):
        assert stands(lts(Fence(mode))) == [1]
        loud = lts(Fence(mode), silent_fences=False)
        (start,) = loud.start.states
        assert loud.step(start, 0).label == Label("F", NO_CELL, None, None, acquires, releases)


class TestLocalSteps:
    def test_run_to_the_next_access(self):
        code = [Assign("a", Constant(2)), Skip(), Verify("a"), Branch(R, 5), write("x", 1), read("b", "x")]
        assert lts(*code).start.states == (ThreadState(5, (2, 0, 0, 0)),)

    def test_run_after_an_access_too(self):
        thread = lts(read("a", "x"), Branch(R, 3), write("x", 1), write("y", 1))
        (start,) = thread.start.states
        assert thread.step(start, 0).successors[0].pc == 2
        assert thread.step(start, 1).successors[0].pc == 3

    def test_conditions_are_not_taken_modulo(self):
        four = Binary("+", Constant(3), Constant(1))
        assert stands(lts(Branch(four, 2), read("a", "x"), read("a", "y"))) == [2]

    def test_choices_lead_to_every_place_once(self):
        code = [Choose((3, 2, 4, 2)), Skip(), Skip(), read("a", "x"), read("a", "y")]
        assert stands(lts(*code)) == [3, 4]

    def test_a_false_assumption_ends_the_thread(self):
        thread = lts(Assign("a", Constant(1)), Assume(Constant(0)), read("a", "x"))
        assert thread.start.states == (ThreadState(3, (1, 0, 0, 0)),)
        assert thread.access(thread.start.states[0]) is None

    def test_a_failing_assertion_is_found_and_the_thread_goes_on(self):
        thread = lts(Assert(Constant(0)), read("a", "x"))
        assert stands(thread) == [1]
        assert thread.start.findings == {Finding("assertion", 0, (0, 0, 0, 0))}

    def test_an_endless_local_loop_ends_the_thread(self):
        thread = lts(Assign("a", Constant(1)), Goto(1), read("a", "x"))
        assert thread.start.states == (ThreadState(DIVERGED, (0, 0, 0, 0)),)
        assert thread.access(thread.start.states[0]) is None

    def test_a_counting_loop_without_exit_diverges(self):
        count = Assign("a", Binary("+", R, Constant(1)))
        assert stands(lts(count, Goto(0), max_value=255)) == [DIVERGED]

    def test_only_the_exits_of_a_loop_with_choices_count(self):
        assert stands(lts(Choose((1, 2)), Goto(1), read("a", "x"))) == [2]
        assert stands(lts(Choose((0, 1)), read("a", "x"))) == [1]

    def test_an_empty_thread_has_ended(self):
        assert lts().start.states == (ThreadState(0, (0, 0, 0, 0)),)


class TestFaults:
    DIVISION = Binary("/", Constant(1), R)

    def test_division_by_zero_ends_the_thread_with_its_registers(self):
        thread = lts(Assign("b", Constant(2)), Assign("b", self.DIVISION), read("a", "x"))
        assert thread.start.states == (ThreadState(3, (0, 2, 0, 0)),)
        assert thread.start.findings == {Finding("division-by-zero", 1, (0, 2, 0, 0))}

    def test_an_access_is_evaluated_on_arrival(self):
        thread = lts(read("b", "x"), Store(X, self.DIVISION))
        (start,) = thread.start.states
        _, successors, findings = thread.step(start, 1)
        assert [state.pc for state in successors] == [2]
        assert findings == {Finding("division-by-zero", 1, (0, 1, 0, 0))}

    def test_every_value_of_a_wait_is_evaluated(self):
        assert {f.kind for f in lts(Wait(None, X, (Constant(0), self.DIVISION))).start.findings} == {
            "division-by-zero"
        }

    def test_the_index_is_checked_before_the_value_is_evaluated(self):
        bad = array_lts(Store(Cell("m", Constant(2)), self.DIVISION))
        assert {finding.kind for finding in bad.start.findings} == {"index-out-of-range"}
        good = array_lts(Store(Cell("m", Constant(1)), self.DIVISION))
        assert {finding.kind for finding in good.start.findings} == {"division-by-zero"}

    @pytest.mark.parametrize(("index", "cell"), [(Constant(1), 2), (ThreadId(), 2), (R, 1)])
    def test_a_computed_index_selects_the_cell(self, index, cell):
        thread = array_lts(Load("b", Cell("m", index)), tid=1)
        (start,) = thread.start.states
        assert thread.access(start).cell == cell

    @pytest.mark.parametrize("index", [Unary("-", Constant(1)), Binary("+", Constant(3), Constant(1))])
    def test_an_index_is_not_taken_modulo(self, index):
        thread = array_lts(Load("b", Cell("m", index)))
        assert stands(thread) == [1]
        assert {finding.kind for finding in thread.start.findings} == {"index-out-of-range"}


def test_a_program_starts_everywhere_its_choices_lead():
    choosing = [Choose((1, 2)), write("x", 1), write("y", 1)]
    system = ProgramLts(program(choosing, choosing, [wait("x", 1)]))
    starts = {tuple(state.pc for state in threads) for threads in system.initial_states()}
    assert starts == {(1, 1, 0), (1, 2, 0), (2, 1, 0), (2, 2, 0)}
