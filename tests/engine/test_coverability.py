"""The backward search against opSRA: which program states, final memories, failures and write/write races.

A program on which they ever disagreed is kept in `regressions/` (as TPL, by `fencepost.formats.tpl.write`).
"""

import random
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given, settings

from fencepost.analyses.safety.bad_states import FAILED, BadProduct, write_races
from fencepost.engine import _native
from fencepost.engine._native import Outcome, ThreadGraphs
from fencepost.engine.lower import Lowering
from fencepost.formats import load, tpl
from fencepost.memory_models import PRUNINGS
from fencepost.models import op_sra
from fencepost.models.explore import LimitReachedError
from fencepost.program import Program
from tests.draining_pairs import draining_pair
from tests.message_chains import choice_of_messages, message_chain
from tests.strategies import programs, random_program, wide_program

BATCH = 125
MOST_GRAPHS = 20_000
REGRESSIONS = sorted(Path(__file__).parent.glob("regressions/*.tpl"))

Standing = tuple[tuple[int, tuple[int, ...]], ...]  # per thread, position and registers


class Asked:
    """A program whose every state can be asked for, by the definition and by the engine."""

    def __init__(self, program: Program, source: random.Random) -> None:
        self.program, self.source = program, source
        self.reachable = {_standing(state) for state in op_sra.reachable_program_states(program, MOST_GRAPHS)}
        code = Lowering(program, monitored=False, keep_registers=True).plain
        self.graphs: ThreadGraphs = _native.thread_graphs(code, 1 << 16)
        self.nodes = [
            [(node.pc, tuple(node.registers)) for node in graph.nodes] for graph in self.graphs.threads
        ]

    def covers(self, *bad: BadProduct, without: str = "") -> bool:
        prunings = {name: name != without for name in PRUNINGS}
        search = _native.Coverability(self.graphs, bad, **prunings)
        outcome = search.run(10**9, 600.0, 1 << 33, None)
        assert outcome in (Outcome.VIOLATION, Outcome.COMPLETE)
        return outcome == Outcome.VIOLATION

    def tuples(self, most: int) -> Iterator[tuple[int, ...]]:
        """Some tuples of nodes, reachable ones among them."""
        all_tuples = list(product(*(range(len(nodes)) for nodes in self.nodes)))
        yield from self.source.sample(all_tuples, min(most, len(all_tuples)))
        for state in self.source.sample(sorted(self.reachable), min(5, len(self.reachable))):
            yield tuple(self.nodes[t].index(at) for t, at in enumerate(state))

    def standing(self, places: tuple[int, ...]) -> Standing:
        return tuple(self.nodes[t][n] for t, n in enumerate(places))

    def failed(self, places: tuple[int, ...]) -> bool:
        return any(pc == FAILED for pc, _ in self.standing(places))


def _standing(threads: object) -> Standing:
    return tuple((at.pc, at.registers) for at in threads)  # type: ignore[attr-defined]


def check_program_states(asked: Asked) -> int:
    """Every state asked for is found iff opSRA reaches it, whatever pruning is switched off."""
    found = 0
    for places in asked.tuples(most=30):
        if asked.failed(places):
            continue
        without = asked.source.choice(["", "", *PRUNINGS])
        expected = asked.standing(places) in asked.reachable
        assert asked.covers(([[n] for n in places], [], None), without=without) is expected, (places, without)
        found += expected
    return found


def check_threads_anywhere(asked: Asked) -> None:
    for _ in range(3):
        some = [asked.source.choice([[], [asked.source.randrange(len(nodes))]]) for nodes in asked.nodes]
        if any(n and asked.nodes[t][n[0]][0] == FAILED for t, n in enumerate(some)):
            continue
        expected = any(
            all(not n or asked.nodes[t][n[0]] == state[t] for t, n in enumerate(some))
            for state in asked.reachable
        )
        assert asked.covers((some, [], None)) is expected, some


def check_final_memories(asked: Asked) -> None:
    final = {(_standing(threads), memory) for threads, memory in op_sra.final_states(asked.program)}
    ends = [
        [n for n, (pc, _) in enumerate(nodes) if pc == len(thread.code)]
        for nodes, thread in zip(asked.nodes, asked.program.threads, strict=True)
    ]
    for places in list(product(*ends))[:8]:
        here = asked.standing(places)
        memories = sorted(memory for state, memory in final if state == here)
        wanted = [asked.source.randint(0, asked.program.max_value) for _ in asked.program.cells]
        if memories and asked.source.random() < 0.5:
            wanted = list(asked.source.choice(memories))
        cells = [(x, wanted[x]) for x in range(len(wanted)) if asked.source.random() < 0.7]
        expected = any(all(memory[x] == v for x, v in cells) for memory in memories)
        assert asked.covers(([[n] for n in places], cells, None)) is expected, (places, cells)


def check_failures(asked: Asked) -> None:
    failing = {finding.thread for finding in op_sra.findings(asked.program)}
    for t, nodes in enumerate(asked.nodes):
        failed = [n for n, (pc, _) in enumerate(nodes) if pc == FAILED]
        standing: list[list[int]] = [[] for _ in asked.nodes]
        standing[t] = failed
        assert (bool(failed) and asked.covers((standing, [], None))) is (t in failing), t


def check_write_races(asked: Asked) -> bool:
    expected = op_sra.write_write_race(asked.program) is not None
    assert asked.covers(*write_races(asked.graphs)) is expected
    return expected


def check(program: Program, source: random.Random) -> tuple[int, bool]:
    asked = Asked(program, source)
    found = check_program_states(asked)
    check_threads_anywhere(asked)
    check_final_memories(asked)
    check_failures(asked)
    return found, check_write_races(asked)


def check_batch(first_seed: int) -> None:
    reached = racy = done = 0
    for seed in range(first_seed, first_seed + BATCH):
        source = random.Random(seed)
        program = random_program(source, threads=(2, 3), most_accesses=source.choice([2, 3, 4]))
        try:
            found, race = check(program, source)
        except LimitReachedError:
            continue
        except Exception as error:
            raise AssertionError(f"seed {seed}:\n{tpl.write(program)}") from error
        reached, racy, done = reached + found, racy + race, done + 1
    assert done > BATCH * 0.9
    assert reached > 3 * done
    assert done / 4 < racy < done


@pytest.mark.parametrize("first_seed", range(0, 8 * BATCH, BATCH))
def test_random_programs(first_seed: int) -> None:
    check_batch(first_seed)


def check_drawn(
    draw: Callable[[random.Random], Program],
    seeds: range,
    check_one: Callable[[Program, random.Random], object],
) -> int:
    """How many of the programs were not too large for the definition."""
    done = 0
    for seed in seeds:
        source = random.Random(seed)
        program = draw(source)
        try:
            check_one(program, source)
        except LimitReachedError:
            continue
        except Exception as error:
            raise AssertionError(f"seed {seed}:\n{tpl.write(program)}") from error
        done += 1
    return done


def test_programs_with_read_modify_writes_anywhere() -> None:
    assert check_drawn(wide_program, range(500_000, 500_000 + 60), check) > 0


@pytest.mark.parametrize("draw", [draining_pair, message_chain, choice_of_messages])
def test_programs_that_pass_messages(draw: Callable[[random.Random], Program]) -> None:
    assert check_drawn(draw, range(40), check) > 0


# A thread reads x from two writers, and in between something that the second one has overwritten.
TWO_WRITERS = """
    max_value 2;
    global x, y;
    fn first { x.store(1); }
    fn second { y.store(1); x.store(2); }
    fn reader { local r, q, s; r = x.load(); q = y.load(); s = x.load(); }
"""
# Two readers have to take the later one of two writes of the same value, or the earlier one.
SAME_VALUE_TWICE = """
    max_value 2;
    global x, y, z;
    fn writer { local r; x.store(1); r = y.load(); x.store(1); }
    fn other { y.store(1); }
    fn reader { local r, s; r = FADD(x, 1); s = y.load(); }
    fn another { local r, s; r = x.load(); s = y.load(); }
"""


@pytest.mark.parametrize("text", [TWO_WRITERS, SAME_VALUE_TWICE])
def test_every_reachable_state_is_found(text: str) -> None:
    asked = Asked(tpl.read(text), random.Random(0))
    for state in sorted(asked.reachable):
        places = [[asked.nodes[t].index(at)] for t, at in enumerate(state)]
        assert asked.covers((places, [], None)), state


# Both readers of x take its last write, which the second one has to take for one of its two reads only: what
# it reads in between is older than what the writer knows. Likewise for y, and one of the two writers comes
# after such a read whatever the order, since they read each other's stale values.
_WRITER = """
    fn {x}_writer {{
        {x}.store(1); {x}.store(0); {x}1.store(1); {x}2.store(1); wait({x}3, 1); {x}.store(1);
        wait({y}, 1); wait({y}3, 0); wait({y}2, 1); wait({y}, 1);
    }}
    fn {x}_other {{ {x}3.store(1); }}
"""
TWICE_EACH = (
    "max_value 1; global x, x1, x2, x3, y, y1, y2, y3;"
    "fn x_reader { wait(x1, 1); wait(x, 1); } fn y_reader { wait(y1, 1); wait(y, 1); }"
    + _WRITER.format(x="x", y="y")
    + _WRITER.format(x="y", y="x")
)


def test_a_choice_that_was_tried_leaves_nothing_behind() -> None:
    program = tpl.read(TWICE_EACH)
    graphs = _native.thread_graphs(Lowering(program, monitored=False, keep_registers=True).plain, 1 << 16)
    ends = [
        [n for n, node in enumerate(graph.nodes) if node.pc == len(thread.code)]
        for graph, thread in zip(graphs.threads, program.threads, strict=True)
    ]
    search = _native.Coverability(graphs, [(ends, [], None)], **dict.fromkeys(PRUNINGS, True))
    assert search.run(10**6, 600.0, 1 << 33, None) == Outcome.VIOLATION
    # So says the other search.
    forward = _native.ForwardSearch(graphs, [(ends, [], None)], 127)
    assert forward.run(10**6, 600.0, 1 << 33, None) == Outcome.VIOLATION


@pytest.mark.slow
@pytest.mark.parametrize("first_seed", range(100_000, 100_000 + 80 * BATCH, BATCH))
def test_many_more_random_programs(first_seed: int) -> None:
    check_batch(first_seed)


@given(programs(threads=(2, 3), most_accesses=3))
@settings(max_examples=100, deadline=None)
def test_small_programs(program: Program) -> None:
    check(program, random.Random(0))


@pytest.mark.parametrize("path", REGRESSIONS, ids=lambda path: path.stem)
def test_programs_that_were_once_wrong(path: Path) -> None:
    try:
        check(load(str(path)), random.Random(0))
    except LimitReachedError:
        pytest.skip("too many graphs for the definition")
