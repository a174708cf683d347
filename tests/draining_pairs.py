"""Random programs for store buffers and for the order of writes: two threads that each write a location and
then go to the other one, as in SB, R, S and 2+2W, with or without something in between that drains a buffer.

Nothing in them blocks. A thread may also read what it has just written, which a store buffer forwards.
"""

from __future__ import annotations

import random

from fencepost.program import (
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
    Store,
    Thread,
)

BETWEEN = ["fence", "fence", "exchange", "fetch-add", "compare-exchange", "weak fence", "nothing", "nothing"]


def draining_pair(source: random.Random) -> Program:
    """Values are different, so that what is read says which write it is from."""
    threads = []
    between = [source.choice(BETWEEN)] * 2
    if source.random() < 0.5:
        between[1] = source.choice(BETWEEN)
    for t, (own, other) in enumerate((("x", "y"), ("y", "x"))):
        code: list[Instruction] = []

        def at(code: list[Instruction] = code, t: int = t) -> Position:
            return Position(t + 1, len(code) + 1)

        sc = source.random() < 0.15
        code.append(Store(Cell(own), Constant(1 + t), Mode.SC if sc else _store_mode(source), at=at()))
        if source.random() < 0.4:
            code.append(Load("r", Cell(own), _load_mode(source), at=at()))
        match between[t]:
            case "fence":
                code.append(Fence(Mode.SC, at=at()))
            case "weak fence":
                code.append(Fence(source.choice([Mode.ACQ, Mode.REL, Mode.ACQ_REL]), at=at()))
            case "exchange":
                code.append(Exchange(None, Cell("z"), Constant(1), at=at()))
            case "fetch-add":
                code.append(FetchAdd(None, Cell("z"), Constant(1), at=at()))
            case "compare-exchange":
                code.append(
                    CompareExchange(None, Cell("z"), Constant(source.randrange(2)), Constant(1), at=at())
                )
        last = source.random()
        if last < 0.65:
            code.append(Load("s", Cell(other), _load_mode(source), at=at()))
        elif last < 0.9:
            code.append(Store(Cell(other), Constant(3), _store_mode(source), at=at()))
        else:
            code.append(Exchange("s", Cell(other), Constant(3), at=at()))
        threads.append(Thread(f"t{t}", tuple(code), ("r", "s")))
    return Program(tuple(map(Location, "xyz")), tuple(threads), 3)


def _load_mode(source: random.Random) -> Mode:
    return source.choice([Mode.RLX, Mode.ACQ])


def _store_mode(source: random.Random) -> Mode:
    return source.choice([Mode.RLX, Mode.REL])
