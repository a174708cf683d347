"""Random programs for the order S of C++20: threads that meet at locations, with fences nearly everywhere.

Nothing in them blocks, so every execution graph can be completed.
"""

from __future__ import annotations

import random

from msgspec.structs import replace

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

END = -1
FENCES = [Mode.SC] * 4 + [Mode.ACQ, Mode.REL, Mode.ACQ_REL]
WRITES = ["store"] * 8 + ["exchange", "fetch-add"]
SHAPES = ["load"] * 9 + ["store"] * 8 + ["exchange", "fetch-add", "compare-exchange"]


def fenced_ring(seed: int, sc_percent: int) -> Program:
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
                _access(source, source.choice(shapes), name, sc_percent, Position(t + 1, len(code) + 1))
            )
            if isinstance(code[-1], Load) and turn + 1 < accesses and not source.randrange(6):
                nothing_seen = Binary("==", Register("r"), Constant(0))
                code.append(Branch(nothing_seen, END, at=Position(t + 1, len(code) + 1)))
        ended = (replace(i, target=len(code)) if isinstance(i, Branch) else i for i in code)
        threads.append(Thread(f"t{t}", tuple(ended), ("r",)))
    return Program(tuple(map(Location, names)), tuple(threads), 2)


def _access(source: random.Random, shape: str, name: str, sc_percent: int, at: Position) -> Instruction:
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
