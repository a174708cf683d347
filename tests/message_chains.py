"""Random programs for causality: what one thread writes reaches another by way of a third, as in WRC or ISA2,
or by one of two ways. Values say which write was read. Nothing but a wait blocks, and RMWs pass messages on.
"""

from __future__ import annotations

import random

from msgspec.structs import replace

from fencepost.program import (
    Cell,
    Choose,
    CompareExchange,
    Constant,
    Exchange,
    Fence,
    FetchAdd,
    Goto,
    Instruction,
    Load,
    Location,
    Mode,
    Position,
    Program,
    Store,
    Thread,
    Wait,
)


def message_chain(source: random.Random) -> Program:
    """Each thread takes what the one before it has left, and leaves something for the next."""
    names = "abcd"
    count = source.choice([2, 3, 3])
    threads = []
    for t in range(count):
        code: list[Instruction] = []
        if t > 0:
            code.append(_taking(source, names[t], "r"))
        if source.random() < 0.3:
            code.append(Fence(Mode.SC))
        if t == 0 or source.random() < 0.3:
            code.append(_leaving(source, "a"))
        if t + 1 < count:
            code.append(_leaving(source, names[t + 1]))
        if t > 0 and (t + 1 == count or source.random() < 0.3):
            code.append(_taking(source, source.choice(names[:t]), "s"))
        threads.append(_thread(t, code))
    return Program(tuple(map(Location, names[:count])), tuple(threads), 3)


def choice_of_messages(source: random.Random) -> Program:
    """Two threads leave something each, and a third waits for one of them or the other."""
    threads = []
    for t, (payload, flag) in enumerate((("a", "x"), ("b", "y"))):
        code = [_leaving(source, payload), _leaving(source, flag)]
        if source.random() < 0.3:
            code.insert(1, Fence(Mode.SC))
        threads.append(_thread(t, code))
    taking: list[Instruction] = [
        Load("r", Cell("z")),
        Choose((2, 4)),
        Wait(None, Cell("x"), (Constant(1), Constant(2))),
        Goto(5),
        Wait(None, Cell("y"), (Constant(1), Constant(2))),
    ]
    if source.random() < 0.5:
        taking.append(_leaving(source, "z"))
    taking += [_taking(source, source.choice("ab"), "r"), _taking(source, source.choice("abxy"), "s")]
    threads.append(_thread(2, taking))
    return Program(tuple(map(Location, "abxyz")), tuple(threads), 3)


def _thread(t: int, code: list[Instruction]) -> Thread:
    placed = (replace(i, at=Position(t + 1, pc + 1)) for pc, i in enumerate(code))
    return Thread(f"t{t}", tuple(placed), ("r", "s"))


def _leaving(source: random.Random, name: str) -> Instruction:
    value = Constant(source.choice([1, 1, 2]))
    match source.choice(["store"] * 5 + ["exchange", "add"]):
        case "exchange":
            return Exchange(None, Cell(name), value)
        case "add":
            return FetchAdd(None, Cell(name), Constant(1))
        case _:
            return Store(Cell(name), value)


def _taking(source: random.Random, name: str, register: str) -> Instruction:
    match source.choice(["load"] * 4 + ["add", "cas", "wait"]):
        case "add":
            return FetchAdd(register, Cell(name), Constant(1))
        case "cas":
            return CompareExchange(register, Cell(name), Constant(1), Constant(2))
        case "wait":
            return Wait(register, Cell(name), (Constant(1), Constant(2)))
        case _:
            return Load(register, Cell(name))
