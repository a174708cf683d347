"""The searches for safety under TSO against the machine with store buffers, which are unbounded for programs
without loops: which program states, final memories and failures.

A program on which they ever disagreed is kept in `regressions/` (as TPL, by `fencepost.formats.tpl.write`).
"""

import contextlib
import random
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given, settings

from fencepost.analyses.safety.bad_states import FAILED, BadProduct
from fencepost.engine import _native
from fencepost.engine._native import Outcome
from fencepost.engine.lower import Lowering
from fencepost.formats import load, tpl
from fencepost.memory_models import PRUNINGS
from fencepost.models.explore import LimitReachedError
from fencepost.models.threads import ProgramLts
from fencepost.models.tso import TsoState, accesses, on_x86, tso_states
from fencepost.program import Program
from tests.strategies import programs, random_program, wide_program

BATCH = 50
MOST_STATES = 20_000
MOST_BUFFERED = 3  # in the definition, for programs with loops
REGRESSIONS = sorted(Path(__file__).parent.glob("regressions/*.tpl"))

Place = tuple[int, tuple[int, ...]]


class Asked:
    """A program whose states can be asked for, by the definition and by the engine."""

    def __init__(self, program: Program, source: random.Random, *, loops: bool = False) -> None:
        self.program, self.source = on_x86(program), source
        self.lts = ProgramLts(self.program)
        self.states = self._some_states() if loops else set(tso_states(self.lts, MOST_STATES))
        self.reachable = {_standing(state) for state in self.states}
        code = Lowering(self.program, monitored=False, keep_registers=True).plain
        self.graphs = _native.thread_graphs(code, 1 << 16, failing_cas_writes=True)
        self.nodes = [
            [(node.pc, tuple(node.registers)) for node in graph.nodes] for graph in self.graphs.threads
        ]

    def _some_states(self) -> set[TsoState]:
        """With no more than `MOST_BUFFERED` writes in a buffer, as far as the limit goes."""
        states: set[TsoState] = set()
        with contextlib.suppress(LimitReachedError):
            for state in tso_states(self.lts, 3_000):
                if all(len(buffer) <= MOST_BUFFERED for buffer in state.buffers):
                    states.add(state)
        return states

    def covers(self, bad: BadProduct, without: str = "") -> bool:
        prunings = {name: name != without for name in PRUNINGS}
        return _found(_native.TsoCoverability(self.graphs, [bad], **prunings))

    def meets(self, bad: BadProduct, most: int = 8) -> bool:
        return _found(_native.TsoForwardSearch(self.graphs, [bad], most))

    def tuples(self, most: int) -> list[tuple[int, ...]]:
        """Some tuples of nodes, reachable ones among them."""
        every = list(product(*(range(len(nodes)) for nodes in self.nodes)))
        some = self.source.sample(every, min(most, len(every)))
        for state in self.source.sample(sorted(self.reachable), min(5, len(self.reachable))):
            some.append(tuple(self.nodes[t].index(at) for t, at in enumerate(state)))
        return [places for places in some if not self.failed(places)]

    def standing(self, places: tuple[int, ...]) -> tuple[Place, ...]:
        return tuple(self.nodes[t][n] for t, n in enumerate(places))

    def failed(self, places: tuple[int, ...]) -> bool:
        return any(pc == FAILED for pc, _ in self.standing(places))


def _found(search: _native.TsoCoverability | _native.TsoForwardSearch) -> bool:
    outcome = search.run(10**9, 600.0, 1 << 33, None)
    assert outcome in (Outcome.VIOLATION, Outcome.COMPLETE)
    return outcome == Outcome.VIOLATION


def _standing(state: TsoState) -> tuple[Place, ...]:
    return tuple((at.pc, at.registers) for at in state.threads)


def check_program_states(asked: Asked) -> int:
    found = 0
    for places in asked.tuples(most=20):
        without = asked.source.choice(["", "", *PRUNINGS])
        expected = asked.standing(places) in asked.reachable
        bad: BadProduct = ([[n] for n in places], [], None)
        assert asked.covers(bad, without) is expected, (places, without)
        assert asked.meets(bad) is expected, places
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
        assert asked.meets((some, [], None)) is expected, some


def check_memories(asked: Asked) -> None:
    """Where threads stand and what cells hold, once all buffers are empty."""
    plain = {(_standing(state), state.memory) for state in asked.states if state.is_plain}
    for places in asked.tuples(most=4):
        here = asked.standing(places)
        memories = sorted(memory for state, memory in plain if state == here)
        wanted = [asked.source.randint(0, asked.program.max_value) for _ in asked.program.cells]
        if memories and asked.source.random() < 0.5:
            wanted = list(asked.source.choice(memories))
        cells = [(x, wanted[x]) for x in range(len(wanted)) if asked.source.random() < 0.7]
        expected = any(all(memory[x] == v for x, v in cells) for memory in memories)
        bad: BadProduct = ([[n] for n in places], cells, None)
        assert asked.covers(bad) is expected, (places, cells)
        if cells:
            assert asked.meets(bad) is expected, (places, cells)


def check_failures(asked: Asked) -> None:
    failing = {t for t, part in enumerate(asked.lts.threads) if part.start.findings}
    for state in asked.states:
        for t, at in enumerate(state.threads):
            for transition in accesses(asked.lts, state, t):
                read = transition.events[0].read
                step = asked.lts.threads[t].step(at, read or 0)
                if step is not None and step.findings:
                    failing.add(t)
    for t, nodes in enumerate(asked.nodes):
        standing: list[list[int]] = [[] for _ in asked.nodes]
        standing[t] = [n for n, (pc, _) in enumerate(nodes) if pc == FAILED]
        bad: BadProduct = (standing, [], None)
        assert (bool(standing[t]) and asked.covers(bad)) is (t in failing), t
        assert (bool(standing[t]) and asked.meets(bad)) is (t in failing), t


def check(program: Program, source: random.Random) -> int:
    asked = Asked(program, source)
    found = check_program_states(asked)
    check_threads_anywhere(asked)
    check_memories(asked)
    check_failures(asked)
    return found


def check_batch(first_seed: int) -> None:
    reached = done = 0
    for seed in range(first_seed, first_seed + BATCH):
        source = random.Random(seed)
        program = random_program(
            source,
            threads=(2, 3),
            most_accesses=source.choice([2, 3, 4]),
            sc_accesses=source.random() < 0.2,
        )
        try:
            reached += check(program, source)
        except LimitReachedError:
            continue
        except Exception as error:
            raise AssertionError(f"seed {seed}:\n{tpl.write(program)}") from error
        done += 1
    assert done > BATCH * 0.8
    assert reached > 3 * done


def check_loops(seeds: range) -> int:
    """What a bounded search of the definition finds, the engine finds too."""
    asked_for = 0
    for seed in seeds:
        source = random.Random(seed)
        program = random_program(source, loop_free=False, threads=(2, 3), most_accesses=3)
        asked = Asked(program, source, loops=True)
        if asked.graphs.unbuilt is not None:
            continue
        for state in source.sample(sorted(asked.reachable), min(5, len(asked.reachable))):
            if all(at in asked.nodes[t] for t, at in enumerate(state)):
                bad: BadProduct = ([[asked.nodes[t].index(at)] for t, at in enumerate(state)], [], None)
                assert asked.covers(bad), (seed, state)
                asked_for += 1
    return asked_for


@pytest.mark.parametrize("first_seed", range(0, 6 * BATCH, BATCH))
def test_random_programs(first_seed: int) -> None:
    check_batch(first_seed)


def test_programs_with_read_modify_writes_anywhere() -> None:
    for seed in range(500_000, 500_000 + 60):
        with contextlib.suppress(LimitReachedError):
            check(wide_program(random.Random(seed)), random.Random(seed))


@pytest.mark.slow
@pytest.mark.parametrize("first_seed", range(100_000, 100_000 + 200 * BATCH, BATCH))
def test_many_more_random_programs(first_seed: int) -> None:
    check_batch(first_seed)


@given(programs(threads=(2, 3), most_accesses=3))
@settings(max_examples=60, deadline=None)
def test_small_programs(program: Program) -> None:
    with contextlib.suppress(LimitReachedError):
        check(program, random.Random(0))


def test_programs_with_loops() -> None:
    assert check_loops(range(60)) > 100


@pytest.mark.slow
def test_many_programs_with_loops() -> None:
    assert check_loops(range(1000, 3000)) > 3000


@pytest.mark.parametrize("path", REGRESSIONS, ids=lambda path: path.stem)
def test_programs_that_were_once_wrong(path: Path) -> None:
    try:
        check(load(str(path)), random.Random(0))
    except LimitReachedError:
        pytest.skip("too many states for the definition")
