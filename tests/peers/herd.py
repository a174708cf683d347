"""herd7 lists the final states of litmus tests, and says whether one has a data race."""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import NamedTuple

from tests.peers.checkers import run

HERE = Path(__file__).parent
# Ours, and those that herd7 is given. Its own `rc11.cat` has the release sequences of C++11 and a weaker S.
MODELS = {"cpp20": str(HERE / "cpp20.cat"), "ra": str(HERE / "ra.cat"), "sc": "sc.cat"}
_VALUE = re.compile(r"\[?([\w:]+)\]?=(-?\d+);")

State = frozenset[tuple[str, int]]


class Told(NamedTuple):
    states: set[State]
    races: bool


def ask_herd(test: Path, model: str) -> Told:
    told = run(test.parent, "herd7", "-model", MODELS[model], test.name)
    return Told(states_in(told), "Flag *undef*" in told)


def states_in(told: str) -> set[State]:
    """The states that its answer lists, after the line `States N`."""
    lines = told.splitlines()
    place = next(n for n, line in enumerate(lines) if line.startswith("States "))
    count = int(lines[place].split()[1])
    states = [_VALUE.findall(line) for line in lines[place + 1 : place + 1 + count]]
    return {frozenset((name, int(value)) for name, value in state) for state in states}


# Tests that nobody has thought of.

LOADS, STORES = ("relaxed", "acquire"), ("relaxed", "release")
BOTH = ("relaxed", "acquire", "release", "acq_rel")


class _Thread:
    def __init__(self, source: random.Random, number: int, locations: list[str], *, sc: bool) -> None:
        self.source, self.number, self.locations = source, number, locations
        self.sc = ("seq_cst",) * 3 if sc else ()
        self.registers = 0
        self.expected: list[str] = []  # of its compare-exchanges, as locations

    def order(self, orders: tuple[str, ...]) -> str:
        return f"memory_order_{self.source.choice(orders + self.sc)}"

    def register(self) -> str:
        self.registers += 1
        return f"int r{self.registers - 1} = "

    def statement(self) -> str:
        kinds = {"load": 4, "store": 4, "exchange": 1, "fetch_add": 1, "cas": 1, "plain": 1}
        kind = self.source.choices(list(kinds), list(kinds.values()))[0]
        x, value = self.source.choice(self.locations), self.source.randint(1, 2)
        match kind:
            case "load":
                return f"{self.register()}atomic_load_explicit({x}, {self.order(LOADS)});"
            case "store":
                return f"atomic_store_explicit({x}, {value}, {self.order(STORES)});"
            case "exchange" | "fetch_add":
                return f"{self.register()}atomic_{kind}_explicit({x}, {value}, {self.order(BOTH)});"
            case "cas":
                self.expected.append(f"e{self.number}{len(self.expected)}")
                operands = f"{x}, {self.expected[-1]}, {value}, {self.order(BOTH)}, {self.order(LOADS)}"
                return f"{self.register()}atomic_compare_exchange_strong_explicit({operands});"
            case _:
                return f"*d = {value};" if self.source.random() < 0.5 else f"{self.register()}*d;"

    def text(self, length: int, *, fences: bool) -> str:
        lines: list[str] = []
        for _ in range(length):
            if fences and self.source.random() < 0.25:
                lines.append(f"atomic_thread_fence({self.order(BOTH[1:])});")
            lines.append(self.statement())
        first = next((n for n, line in enumerate(lines[:-1]) if " r0 = " in line), None)
        if first is not None and self.source.random() < 0.4:  # what follows depends on what was read
            lines[first + 1 :] = [f"if (r0 == {self.source.randint(0, 1)}) {{", *lines[first + 1 :], "}"]
        kinds = [f"atomic_int* {x}" for x in self.locations] + [f"int* {e}" for e in ("d", *self.expected)]
        return "\n".join([f"P{self.number}({', '.join(kinds)}) {{", *lines, "}", ""])


def random_test(source: random.Random, *, sc: bool, fences: bool) -> str:
    """Each register and each location is asked about. More accesses would keep herd7 busy for minutes."""
    locations = ["x", "y", "z"][: source.choice([1, 2, 2, 2, 3])]
    count = source.choice([2, 2, 3, 3, 4]) if len(locations) > 1 else 2
    threads = [_Thread(source, number, locations, sc=sc) for number in range(count)]
    bodies = [thread.text(source.randint(1, 3 if count == 2 else 2), fences=fences) for thread in threads]
    expected = [f"{e} = {source.randint(0, 1)};" for thread in threads for e in thread.expected]
    registers = [f"{thread.number}:r{n}" for thread in threads for n in range(thread.registers)]
    asked = " \\/ ".join(f"{name} = 0" for name in (*locations, "d", *registers))
    return "\n".join(
        [
            "C random",
            f"{{ {' '.join(f'{x} = 0;' for x in (*locations, 'd'))} {' '.join(expected)} }}",
            *bodies,
            f"exists ({asked})",
        ]
    )
