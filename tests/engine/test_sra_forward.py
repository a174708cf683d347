"""The forward searches against the definitions: under SRA against opSRA, under SC against plain memory.

The run that a search shows is done again by opSRA and must end in a bad state. On programs with loops, where
opSRA has graphs without end, the searches must not contradict each other.
"""

import random
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings

from fencepost.analyses.safety.bad_states import FAILED, BadProduct, write_races
from fencepost.engine import _native
from fencepost.engine._native import ForwardSearch, LabelKind, Outcome, RunStep, ScSearch, ThreadGraphs
from fencepost.engine.lower import Lowering
from fencepost.formats import load, tpl
from fencepost.models import op_sra, sc
from fencepost.models.explore import LimitReachedError
from fencepost.models.op_sra import SketchedStep
from fencepost.models.sra import SraLts, SraState
from fencepost.models.threads import Label, ThreadState
from fencepost.program import Goto, Program
from tests.draining_pairs import draining_pair
from tests.engine.test_coverability import (
    MOST_GRAPHS,
    REGRESSIONS,
    Asked,
    check_drawn,
    check_failures,
    check_final_memories,
    check_program_states,
    check_threads_anywhere,
    check_write_races,
)
from tests.message_chains import choice_of_messages, message_chain
from tests.models.litmus import SB, bcas, program, read, wait, write
from tests.strategies import programs, random_program, wide_program

BATCH = 60
MOST_MESSAGES = 127


def run(search: ForwardSearch | ScSearch | _native.Coverability, most_states: int = 10**9) -> Outcome:
    return search.run(most_states, 600.0, 1 << 33, None)


def graphs_of(program: Program) -> ThreadGraphs:
    return _native.thread_graphs(Lowering(program, monitored=False, keep_registers=True).plain, 1 << 16)


def nodes_where(graphs: ThreadGraphs, *places: int | None) -> BadProduct:
    """The states in which each thread stands at this position, or anywhere."""
    return (
        [
            [n for n, node in enumerate(graph.nodes) if node.pc == pc] if pc is not None else []
            for graph, pc in zip(graphs.threads, places, strict=True)
        ],
        [],
        None,
    )


# Runs.


class Replayed:
    """A path of an engine, done again by opSRA."""

    def __init__(self, program: Program, graphs: ThreadGraphs, search: ForwardSearch | ScSearch) -> None:
        self.program, self.graphs = program, graphs
        self.path = search.path()
        self.nodes = search.start_nodes()
        parts = SraLts(program).threads
        # A thread that has failed before its first access can as well stand there and do nothing.
        start = tuple(
            self._at(t, n) or next(iter(part.start.states))
            for (t, n), part in zip(enumerate(self.nodes), parts, strict=True)
        )
        steps = op_sra.complete(program, [self._sketch(step) for step in self.path], start)
        assert steps is not None, "opSRA has no such run"
        self.end: SraState = op_sra.replay(program, steps, start)
        for step in self.path:
            self.nodes[step.thread] = step.to

    def _at(self, thread: int, number: int) -> ThreadState | None:
        node = self.graphs.threads[thread].nodes[number]
        return None if node.pc == FAILED else ThreadState(node.pc, tuple(node.registers))

    def _sketch(self, step: RunStep) -> SketchedStep:
        label = step.label
        writes = label.kind in (LabelKind.WRITE, LabelKind.READ_MODIFY_WRITE)
        kind = {LabelKind.WRITE: "W", LabelKind.READ_MODIFY_WRITE: "RMW"}.get(label.kind, "R")
        shown = Label(
            kind,  # type: ignore[arg-type]
            label.cell,
            None if kind == "W" else label.read,
            label.written if writes else None,
        )
        writer = op_sra.INITIAL_WRITER if step.writer == len(self.program.threads) else step.writer
        successor = self._at(step.thread, step.to)
        return SketchedStep(step.thread, shown, successor, None if kind == "W" else writer)

    def is_bad(self, bad: BadProduct) -> bool:
        standing, memory, race = bad
        graph = self.end.graph
        return (
            all(not wanted or n in wanted for n, wanted in zip(self.nodes, standing, strict=True))
            and all(graph.written(graph.latest(cell)) == value for cell, value in memory)
            and (race is None or not graph.observed(race[0]) >> graph.latest(race[1]) & 1)
        )

    def is_sequentially_consistent(self) -> bool:
        """Whether every read takes the last write, from the thread that the path names."""
        last = {cell: (len(self.program.threads), v) for cell, v in enumerate(self.program.initial_memory)}
        for step in self.path:
            label = step.label
            if label.cell not in last:  # that of SC fences
                continue
            if label.kind != LabelKind.WRITE and last[label.cell] != (step.writer, label.read):
                return False
            if label.kind in (LabelKind.WRITE, LabelKind.READ_MODIFY_WRITE):
                last[label.cell] = (step.thread, label.written)
        return True


# Loop-free programs against the definitions.


class AskedForwards(Asked):
    def covers(self, *bad: BadProduct, without: str = "") -> bool:
        search = ForwardSearch(self.graphs, bad, MOST_MESSAGES)
        outcome = run(search)
        assert not search.stats.truncated
        assert outcome in (Outcome.VIOLATION, Outcome.COMPLETE)
        if outcome == Outcome.VIOLATION:
            replayed = Replayed(self.program, self.graphs, search)
            assert any(replayed.is_bad(states) for states in bad)
        return outcome == Outcome.VIOLATION


def check_under_sra(program: Program, source: random.Random) -> tuple[int, bool]:
    asked = AskedForwards(program, source)
    found = check_program_states(asked)
    check_threads_anywhere(asked)
    check_final_memories(asked)
    check_failures(asked)
    return found, check_write_races(asked)


def check_under_sc(program: Program, source: random.Random) -> int:
    """Asks for some places of the threads with some memory; both reachable and unreachable ones."""
    graphs = graphs_of(program)
    nodes = [
        {ThreadState(node.pc, tuple(node.registers)): n for n, node in enumerate(graph.nodes)}
        for graph in graphs.threads
    ]
    states = sorted(sc.sc_states(SraLts(program), MOST_GRAPHS))
    found = 0
    for _ in range(20):
        threads, memory = source.choice(states)
        if source.random() < 0.6:
            threads = tuple(source.choice([at for at in known if at.pc != FAILED]) for known in nodes)
        asked = {t for t in range(len(threads)) if source.random() < 0.8}
        cells = [x for x in range(len(memory)) if source.random() < 0.5]
        bad: BadProduct = (
            [[nodes[t][at]] if t in asked else [] for t, at in enumerate(threads)],
            [(x, memory[x]) for x in cells],
            None,
        )
        expected = any(
            all(state.threads[t] == threads[t] for t in asked)
            and all(state.memory[x] == memory[x] for x in cells)
            for state in states
        )
        assert covered_under_sc(program, graphs, bad) is expected, bad
        found += expected
    failing = {finding.thread for finding in sc.findings(program)}
    for t in range(len(graphs.threads)):
        bad = nodes_where(graphs, *(FAILED if u == t else None for u in range(len(graphs.threads))))
        assert (bool(bad[0][t]) and covered_under_sc(program, graphs, bad)) is (t in failing), t
    return found


def covered_under_sc(program: Program, graphs: ThreadGraphs, bad: BadProduct) -> bool:
    search = ScSearch(graphs, [bad])
    outcome = run(search)
    assert outcome in (Outcome.VIOLATION, Outcome.COMPLETE)
    if outcome == Outcome.VIOLATION:
        replayed = Replayed(program, graphs, search)
        assert replayed.is_sequentially_consistent()
        assert replayed.is_bad(bad)
    return outcome == Outcome.VIOLATION


def check_batch(first_seed: int) -> None:
    under_sra = under_sc = racy = done = 0
    for seed in range(first_seed, first_seed + BATCH):
        source = random.Random(seed)
        drawn = random_program(
            source, threads=(2, 3), most_accesses=source.choice([2, 3, 4]), non_atomic=True
        )
        try:
            found, race = check_under_sra(drawn, source)
            under_sc += check_under_sc(drawn, source)
        except LimitReachedError:
            continue
        except Exception as error:
            raise AssertionError(f"seed {seed}:\n{tpl.write(drawn)}") from error
        under_sra, racy, done = under_sra + found, racy + race, done + 1
    assert done > BATCH * 0.9
    assert under_sra > 3 * done
    assert 6 * done < under_sc < 19 * done
    assert done / 4 < racy < done


@pytest.mark.parametrize("first_seed", range(200_000, 200_000 + 5 * BATCH, BATCH))
def test_random_programs(first_seed: int) -> None:
    check_batch(first_seed)


def check_wide_programs(seeds: range) -> None:
    assert check_drawn(wide_program, seeds, check_under_sra) > len(seeds) * 0.8


def test_programs_with_read_modify_writes_anywhere() -> None:
    check_wide_programs(range(500_000, 500_000 + 150))


@pytest.mark.parametrize("draw", [draining_pair, message_chain, choice_of_messages])
def test_programs_that_pass_messages(draw: Callable[[random.Random], Program]) -> None:
    assert check_drawn(draw, range(40), check_under_sra) > 0


@pytest.mark.slow
def test_many_programs_with_read_modify_writes_anywhere() -> None:
    check_wide_programs(range(600_000, 600_000 + 10_000))


@pytest.mark.slow
@pytest.mark.parametrize("first_seed", range(300_000, 300_000 + 40 * BATCH, BATCH))
def test_many_more_random_programs(first_seed: int) -> None:
    check_batch(first_seed)


@given(programs(threads=(2, 3), most_accesses=3))
@settings(max_examples=50, deadline=None)
def test_small_programs(program: Program) -> None:
    check_under_sra(program, random.Random(0))
    check_under_sc(program, random.Random(0))


@pytest.mark.parametrize("path", REGRESSIONS, ids=lambda path: path.stem)
def test_programs_that_were_once_wrong(path: Path) -> None:
    try:
        check_under_sra(load(str(path)), random.Random(0))
    except LimitReachedError:
        pytest.skip("too many graphs for the definition")


# Programs with loops.


def some_bad_states(graphs: ThreadGraphs, cells: int, source: random.Random) -> Sequence[BadProduct]:
    if source.random() < 0.2:
        return write_races(graphs)
    standing = [
        [source.randrange(len(graph.nodes))] if source.random() < 0.8 else [] for graph in graphs.threads
    ]
    memory = [(x, source.choice([0, 1])) for x in range(cells) if source.random() < 0.2]
    return [(standing, memory, None)]


def check_loops(seeds: range) -> None:
    """What the backward and the forward search say of programs of any shape, and SC below them."""
    unsafe = proofs = 0
    for seed in seeds:
        source = random.Random(seed)
        drawn = random_program(source, threads=(2, 3), most_accesses=4, loop_free=False, non_atomic=True)
        graphs = _native.thread_graphs(Lowering(drawn, monitored=False).plain, 1 << 10)
        if graphs.unbuilt is not None:
            continue
        for _ in range(3):
            bad = some_bad_states(graphs, len(drawn.cells), source)
            forward = ForwardSearch(graphs, bad, source.choice([1, 2, 4]))
            outcome = run(forward, most_states=20_000)
            found = outcome == Outcome.VIOLATION
            proved = outcome == Outcome.COMPLETE and not forward.stats.truncated
            backward = run(_native.Coverability(graphs, bad), most_states=20_000)
            assert (found, backward) != (True, Outcome.COMPLETE), seed
            assert (proved, backward) != (True, Outcome.VIOLATION), seed
            if all(race is None for *_, race in bad) and run(ScSearch(graphs, bad)) == Outcome.VIOLATION:
                assert not proved, seed
                assert backward != Outcome.COMPLETE, seed
            unsafe, proofs = unsafe + found, proofs + proved
    assert unsafe > len(seeds) / 2
    assert proofs > len(seeds) / 4


def test_loops_do_not_make_searches_contradict_each_other() -> None:
    check_loops(range(150))


@pytest.mark.slow
def test_many_loops_do_not_make_searches_contradict_each_other() -> None:
    check_loops(range(10_000, 13_000))


# What is stored, and what is left out.


def test_store_buffering_is_found_under_sra_and_not_under_sc() -> None:
    graphs = graphs_of(SB)
    at_end = nodes_where(graphs, *(len(thread.code) for thread in SB.threads))[0]
    read_0 = [
        [n for n in ends if not any(graph.nodes[n].registers)]
        for graph, ends in zip(graphs.threads, at_end, strict=True)
    ]
    both_read_0: BadProduct = (read_0, [], None)
    assert run(ForwardSearch(graphs, [both_read_0], 2)) == Outcome.VIOLATION
    assert run(ScSearch(graphs, [both_read_0])) == Outcome.COMPLETE


def test_a_search_that_leaves_writes_out_says_so() -> None:
    """The third write to x does not fit; the reader could have seen it."""
    threads = "fn t { x.store(1); x.store(2); x.store(3); } fn u { local r; r = x.load(); assert(r != 3); }"
    graphs = graphs_of(tpl.read(f"max_value 3; global x; {threads}"))
    failed = nodes_where(graphs, None, FAILED)
    for most, outcome in ((3, Outcome.COMPLETE), (4, Outcome.VIOLATION)):
        search = ForwardSearch(graphs, [failed], most)
        assert run(search) == outcome
        assert search.stats.truncated == (most == 3)


def test_stored_states_are_few_against_the_graphs() -> None:
    stored = graphs_met = 0
    for seed in range(60):
        drawn = random_program(random.Random(seed), threads=(3, 3), most_accesses=3)
        graphs = graphs_of(drawn)
        nowhere: BadProduct = ([[] for _ in graphs.threads], [(0, drawn.max_value + 1)], None)
        search = ForwardSearch(graphs, [nowhere], MOST_MESSAGES)
        assert run(search) == Outcome.COMPLETE
        stored += search.stats.states
        graphs_met += sum(1 for _ in op_sra.op_sra_states(drawn))
    assert stored * 10 < graphs_met


def test_a_lock_taken_for_ever_has_few_states() -> None:
    """Nobody but the last one to write the lock can be read, so no bound is met."""
    thread = [bcas("x", 0, 1), write("y", 1), write("y", 0), write("x", 0), Goto(0)]
    graphs = graphs_of(program(thread, thread, thread))
    search = ForwardSearch(graphs, [nodes_where(graphs, 1, 1, None)], 1)
    assert run(search) == Outcome.COMPLETE
    assert not search.stats.truncated


def test_a_state_beyond_the_bound_is_left_out_and_said() -> None:
    """The reader has seen nothing yet, so that all writes can be read, until it has counted to three."""
    writer = [write("x", 1), write("x", 2), write("x", 3), write("y", 1)]
    reader = [wait("y", 0), wait("x", 1), wait("x", 2), wait("x", 3), read("a", "z")]
    graphs = graphs_of(program(writer, reader, [write("z", 1)]))
    bad = nodes_where(graphs, 3, 4, None)
    short = ForwardSearch(graphs, [bad], 2)
    assert run(short) == Outcome.COMPLETE
    assert short.stats.truncated
    assert run(ForwardSearch(graphs, [bad], 3)) == Outcome.VIOLATION


@pytest.mark.parametrize("model", ["sra", "sc"])
def test_a_search_goes_on_where_it_stopped(model: str) -> None:
    graphs = graphs_of(random_program(random.Random(4), threads=(3, 3), most_accesses=4))
    nowhere: BadProduct = ([[] for _ in graphs.threads], [(0, 99)], None)

    def search() -> ForwardSearch | ScSearch:
        if model == "sc":
            return ScSearch(graphs, [nowhere])
        return ForwardSearch(graphs, [nowhere], MOST_MESSAGES)

    at_once, by_and_by = search(), search()
    assert run(at_once) == Outcome.COMPLETE
    most, stops = 1, 0
    while run(by_and_by, most) == Outcome.STATE_LIMIT:
        most, stops = most + 3, stops + 1
    assert stops > 3
    assert by_and_by.stats.states == at_once.stats.states
    assert by_and_by.stats.transitions == at_once.stats.transitions


@pytest.mark.parametrize("most", [0, 128])
def test_a_bound_that_cannot_be_kept_is_refused(most: int) -> None:
    with pytest.raises(ValueError, match="most_messages"):
        ForwardSearch(graphs_of(SB), [], most)


def test_races_of_writes_are_not_asked_under_sc() -> None:
    graphs = graphs_of(SB)
    with pytest.raises(ValueError, match="races"):
        ScSearch(graphs, write_races(graphs))
