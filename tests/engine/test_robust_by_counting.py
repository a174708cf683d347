"""The engine against the number of execution graphs: where nothing blocks, a program is robust if it has as
many graphs under its model as under sequential consistency.

Both are counted by the native enumeration, which knows nothing of monitors (`test_graph_enumeration.py` holds
it against the definitions). So large programs can be compared by the thousand: rings of up to five threads
with a fence nearly everywhere, of all kinds, which tell the rules for P, F, E and K around fences apart.
"""

import random

import pytest
from msgspec.structs import replace

from fencepost.analyses.robustness import robust
from fencepost.engine._native import Outcome
from fencepost.engine.graphs import Observed, enumerate_graphs
from fencepost.engine.search import Limits
from fencepost.formats.tpl import write
from fencepost.program import (
    Binary,
    Branch,
    Cell,
    CompareExchange,
    Constant,
    Exchange,
    Fence,
    FetchAdd,
    Instruction,
    Load,
    Location,
    Mode,
    Position,
    Program,
    Register,
    Store,
    Thread,
)
from fencepost.verdicts import NotRobust

ORDERS = ["breadth-first", "depth-first", "largest-first", "by-location"]
END = -1
MOST_EVENTS = 200_000  # of an enumeration; programs that need more are not compared
FENCES = [Mode.SC] * 4 + [Mode.ACQ, Mode.REL, Mode.ACQ_REL]
WRITES = ["store"] * 8 + ["exchange", "fetch-add"]
SHAPES = ["load"] * 9 + ["store"] * 8 + ["exchange", "fetch-add", "compare-exchange"]


def ring(seed: int, sc_percent: int) -> Program:
    """Threads of up to five accesses, each to the location after the last one, with fences between them. In
    chains the first thread mostly writes, the last mostly reads, the others pass on what they read."""
    source = random.Random(seed)
    count = source.choice([2, 3, 3, 4, 4, 5])
    names = "xyz"[: source.choice([2, 2, 3])]
    most = {2: 5, 3: 4, 4: 3, 5: 2}[count]
    fenced, chained = source.choice([20, 50, 80]), source.randrange(2)
    threads = []
    for t in range(count):
        code: list[Instruction] = []
        accesses = 2 if chained and source.randrange(3) else source.randint(1 if count > 3 else 2, most)
        for turn in range(accesses):
            if turn and source.randrange(100) < fenced:
                code.append(Fence(source.choice(FENCES), at=Position(t + 1, len(code) + 1)))
            shapes = SHAPES
            if chained and source.randrange(5):
                shapes = WRITES if t == 0 or (turn and t < count - 1) else ["load"]
            near = source.randrange(100) < 75
            name = names[(t + turn) % len(names)] if near else source.choice(names)
            code.append(
                access(source, source.choice(shapes), name, sc_percent, Position(t + 1, len(code) + 1))
            )
            if isinstance(code[-1], Load) and turn + 1 < accesses and not source.randrange(6):
                nothing_seen = Binary("==", Register("r"), Constant(0))
                code.append(Branch(nothing_seen, END, at=Position(t + 1, len(code) + 1)))
        ended = (replace(i, target=len(code)) if isinstance(i, Branch) else i for i in code)
        threads.append(Thread(f"t{t}", tuple(ended), ("r",)))
    return Program(tuple(map(Location, names)), tuple(threads), 2)


def access(source: random.Random, shape: str, name: str, sc_percent: int, at: Position) -> Instruction:
    cell, value = Cell(name), Constant(source.randint(1, 2))
    load = source.choice([Mode.ACQ, Mode.RLX, Mode.RLX])
    store = source.choice([Mode.REL, Mode.RLX, Mode.RLX])
    if source.randrange(100) < sc_percent:
        load = store = Mode.SC
    match shape:
        case "load":
            return Load("r", cell, load, at=at)
        case "store":
            return Store(cell, value, store, at=at)
        case "exchange":
            return Exchange(None, cell, value, load, store, at=at)
        case "fetch-add":
            return FetchAdd(None, cell, value, load, store, "|", at=at)
        case _:
            failure = source.choice(
                [Mode.RLX, Mode.ACQ, Mode.SC] if load is Mode.SC else [Mode.RLX, Mode.ACQ]
            )
            return CompareExchange(None, cell, Constant(0), value, load, store, failure, at=at)


def graphs(program: Program, model: str) -> int | None:
    found = enumerate_graphs(program, model, Observed((), ()), Limits(states=MOST_EVENTS), unroll=1)
    return found.graphs if found.outcome == Outcome.COMPLETE else None


def compare(seeds: range, model: str = "cpp20") -> tuple[int, int]:
    """How many programs were compared, and how many of them are not robust."""
    compared = not_robust = 0
    for seed in seeds:
        program = ring(seed, (0, 30, 60, 90)[seed % 4])
        all_graphs, sc_graphs = graphs(program, model), graphs(program, "sc")
        if all_graphs is None or sc_graphs is None:
            continue
        answer = robust(program, model, order=ORDERS[seed // 4 % 4])
        assert isinstance(answer, NotRobust) == (all_graphs > sc_graphs), f"seed {seed}:\n{write(program)}"
        compared += 1
        not_robust += isinstance(answer, NotRobust)
    return compared, not_robust


@pytest.mark.parametrize("first", range(0, 3000, 1000))
def test_a_robust_program_has_no_graphs_but_those_of_sc(first):
    compared, not_robust = compare(range(first, first + 1000))
    assert compared > 950
    assert 200 < not_robust < 800  # both verdicts must be well represented


@pytest.mark.slow
@pytest.mark.parametrize("first", range(10_000, 50_000, 5000))
def test_many_robust_programs_have_no_graphs_but_those_of_sc(first):
    compare(range(first, first + 5000))
