"""opSRA: its steps against the rules of SRA, findings, final memories, and runs shown step by step."""

import random

import pytest

from fencepost.models import op_sra, sc
from fencepost.models.enumerate import GraphState, transitions
from fencepost.models.op_sra import (
    INITIAL_WRITER,
    OP_SRA,
    FinalState,
    RunStep,
    SketchedStep,
    complete,
    op_sra_states,
    replay,
)
from fencepost.models.relations import identity
from fencepost.models.sra import SraLts, is_sra_consistent
from fencepost.models.threads import Label, moved
from fencepost.program import Assert, Choose, Constant
from tests.models.litmus import (
    IRIW,
    MP,
    SB,
    TWO_PLUS_TWO_W,
    TWO_PLUS_TWO_W_WITHOUT_READS,
    TWO_RMW,
    jump_unless,
    program,
    read,
    wait,
    write,
)
from tests.models.test_sra import EXAMPLES, is_reached
from tests.strategies import random_program


@pytest.mark.parametrize(("program", "outcome", "allowed"), EXAMPLES.values(), ids=EXAMPLES)
def test_examples_of_the_paper(program, outcome, allowed):
    assert is_reached(program, outcome, op_sra.reachable_program_states(program)) == allowed


def check_steps(seeds):
    """Figure 3 by relations, for every write of the cell, and what the steps lead to is consistent."""
    for seed in seeds:
        program = random_program(random.Random(seed), most_accesses=3)
        lts = SraLts(program)
        states = list(op_sra_states(program, limit=None))
        for threads, graph in random.Random(seed).sample(states, min(len(states), 10)):
            assert is_sra_consistent(graph), seed
            for thread, at in enumerate(threads):
                seen = graph.mo >> (graph.hb | graph.id) >> identity(graph.of_thread(thread))
                for label, *_ in lts.threads[thread].enabled(at):
                    for w in graph.mo_lists[label.cell]:
                        last = graph.event(w) not in graph.mo.domain
                        unseen = graph.event(w) not in seen.domain
                        allowed = (last or not label.writes) and (unseen or not label.reads)
                        assert (OP_SRA.step(graph, thread, label, w) is not None) == allowed, seed


def test_steps_by_masks_are_those_of_figure_3():
    check_steps(range(25))


@pytest.mark.slow
def test_steps_by_masks_are_those_of_figure_3_on_many_programs():
    check_steps(range(1000, 2000))


def test_an_assertion_that_only_weak_memory_breaks_is_found():
    """Both threads of store buffering got to the end having read 0."""
    first = [write("x", 1), read("a", "y"), jump_unless("a", 0, 4), write("z", 1)]
    second = [write("y", 1), read("b", "x"), jump_unless("b", 0, 5), wait("z", 1), Assert(Constant(0))]
    both = program(first, second)
    assert sc.findings(both) == set()
    assert op_sra.findings(both) == {("assertion", 1, 4)}


def test_findings_of_sc_are_findings_of_sra():
    met = 0
    for seed in range(100):
        program = random_program(random.Random(seed), most_accesses=2)
        under_sc = sc.findings(program)
        assert under_sc <= op_sra.findings(program), seed
        met += len(under_sc)
    assert met > 10


def test_final_memory_is_that_of_the_latest_writes():
    states = op_sra.final_states(TWO_PLUS_TWO_W_WITHOUT_READS)
    assert {state.memory[:2] for state in states} == {(1, 2), (2, 1), (2, 2)}
    assert all(isinstance(state, FinalState) for state in states)
    assert {tuple(at.pc for at in state.threads) for state in states} == {(2, 2)}


# Runs.

X, Y = 0, 1


def runs(program, most):
    """Runs of opSRA that cannot go on, each drawn at random."""
    for seed in range(most):
        source, lts = random.Random(seed), SraLts(program)
        start = source.choice(list(lts.initial_states()))
        state, run = GraphState(start, next(op_sra_states(program)).graph), []
        while steps := list(transitions(lts, OP_SRA, state)):
            thread, step, w, graph = source.choice(steps)
            successor = source.choice(step.successors)
            run.append(RunStep(thread, step.label, successor, w if step.label.reads else None))
            state = GraphState(moved(state.threads, thread, successor), graph)
        yield start, run, state


def sketch_of(run, graph):
    def writer(w):
        return (
            None if w is None else INITIAL_WRITER if graph.event(w).thread is None else graph.event(w).thread
        )

    return [SketchedStep(step.thread, step.label, step.successor, writer(step.w)) for step in run]


def test_runs_replay_and_end_where_they_ended():
    for seed in range(60):
        program = random_program(random.Random(seed))
        for start, run, (threads, graph) in runs(program, 3):
            assert replay(program, run, start) == (threads, graph), seed


def test_what_is_known_of_a_run_by_writers_is_completed_to_a_run():
    for seed in range(60):
        program = random_program(random.Random(seed))
        for start, run, (threads, graph) in runs(program, 3):
            completed = complete(program, sketch_of(run, graph), start)
            assert completed is not None, seed
            assert replay(program, completed, start).threads == threads, seed


def broken(program, run):
    with pytest.raises(ValueError, match=r"^step ") as caught:
        replay(program, run)
    return str(caught.value)


class TestBrokenRuns:
    """Each names the step and what is wrong with it."""

    def walk(self, program, *steps):
        """Steps given as (thread, label, source), with the successors that the program has."""
        lts = SraLts(program)
        threads = list(next(iter(lts.initial_states())))
        for thread, label, w in steps:
            step = lts.threads[thread].step(threads[thread], label.read or 0)
            threads[thread] = step.successors[0]
            yield RunStep(thread, label, threads[thread], w)

    def test_a_stale_read(self):
        written = [(0, Label("W", X, None, 1), None), (0, Label("W", Y, None, 1), None)]
        second = 4 + 2  # four cells, two threads: the second event of thread 0
        run = list(self.walk(MP, *written, (1, Label("R", Y, 1), second), (1, Label("R", X, 0), X)))
        assert broken(MP, run) == "step 3: thread 1 has observed a write that is mo-later than event 0"

    def test_an_rmw_of_an_overwritten_value(self):
        rmw = Label("RMW", X, 0, 1)
        run = list(self.walk(TWO_RMW, (0, rmw, X), (1, rmw, X)))
        assert broken(TWO_RMW, run) == "step 1: event 0 is not the mo-maximal write to the cell"

    def test_a_value_that_the_source_did_not_write(self):
        run = list(self.walk(SB, (0, Label("W", X, None, 1), None), (1, Label("W", Y, None, 1), None)))
        run += [RunStep(1, Label("R", X, 0), run[-1].successor._replace(pc=2), 4)]
        assert broken(SB, run) == "step 2: event 4 wrote 1, which R(0, 0) does not read"

    def test_a_source_on_another_cell(self):
        run = list(self.walk(SB, (0, Label("W", X, None, 1), None), (0, Label("R", Y, 0), X)))
        assert broken(SB, run) == "step 1: event 0 is no write to the cell of R(1, 0)"

    def test_a_read_without_a_source(self):
        run = list(self.walk(SB, (0, Label("W", X, None, 1), None), (0, Label("R", Y, 0), None)))
        assert broken(SB, run) == "step 1: R(1, 0) has no source"

    def test_a_step_that_the_program_does_not_have(self):
        (step,) = self.walk(SB, (0, Label("W", X, None, 1), None))
        assert "cannot do W(1, 2)" in broken(SB, [step._replace(label=Label("W", Y, None, 2))])
        assert broken(SB, [step._replace(thread=7)]) == "step 0: there is no thread 7"

    def test_a_start_that_the_program_does_not_have(self):
        start = next(iter(SraLts(SB).initial_states()))
        with pytest.raises(ValueError, match="initial state"):
            replay(SB, [], (start[0]._replace(pc=1), start[1]))


def test_no_run_completes_a_sketch_that_sra_forbids():
    """Example 3.6, and Example 3.11 whatever the sources."""
    stale = [
        (0, Label("W", X, None, 1)),
        (0, Label("W", Y, None, 1)),
        (1, Label("R", Y, 1)),
        (1, Label("R", X, 0)),
    ]
    assert complete(MP, [SketchedStep(*step) for step in stale]) is None
    assert complete(MP, [SketchedStep(*step) for step in stale[:3]]) is not None
    reads = [(0, Label("R", Y, 1)), (1, Label("R", X, 1))]
    writes = [(0, Label("W", X, None, 1)), (0, Label("W", Y, None, 2)), (1, Label("W", Y, None, 1))]
    writes.append((1, Label("W", X, None, 2)))
    assert complete(TWO_PLUS_TWO_W, [SketchedStep(*step) for step in writes + reads]) is None
    assert complete(TWO_PLUS_TWO_W, [SketchedStep(*step) for step in writes + reads[:1]]) is not None


def test_the_writer_of_a_sketch_is_kept_to():
    steps = [(0, Label("W", X, None, 1)), (1, Label("R", X, 1)), (1, Label("R", Y, 0))]
    ours = [SketchedStep(*steps[0]), SketchedStep(*steps[1], writer=0), SketchedStep(*steps[2], writer=-1)]
    assert [step.w for step in complete(IRIW, ours)] == [None, 4, 1]
    assert complete(IRIW, [ours[0], ours[1]._replace(writer=3)]) is None


def test_a_thread_that_can_start_in_two_places_starts_where_the_run_says():
    two = program([Choose((1, 2)), write("x", 1), write("y", 1)])
    (step,) = complete(two, [SketchedStep(0, Label("W", Y, None, 1))])
    assert replay(two, [step]).graph.labels[0][0].cell == Y
