"""Random programs: small, over all instructions, and often not robust.

`programs()` is the Hypothesis strategy: it shrinks, so a failing test ends in a readable program. For tests
by the thousand, `random_program(random.Random(seed))` draws from the same distribution without Hypothesis.
Both make every choice through `Choices`, whose smallest choice is always the plainest one.

Programs have few locations, few values and few accesses, so that the graphs of RAG can be enumerated and the
interesting outcomes are frequent. With `loop_free=False` jumps go anywhere, into endless local loops too.
With `modes=True` they are for models in which modes and weak fences matter: there are more fences, some
threads mostly write and some mostly read, and many programs pass a message: a payload, non-atomic or not,
guarded by a flag that orders it or just fails to. With `sc_accesses=True` accesses can also be seq_cst: in
some programs half are, in some nearly all; and most programs are rings of threads that meet at locations.
Every instruction has a position of its own (line: its thread's place in the program, column: pc + 1), so
that positions in reports can be checked.
"""

from __future__ import annotations

import dataclasses
import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol, TypeVar

from hypothesis import strategies as st
from msgspec.structs import replace

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
    Expression,
    Fence,
    FetchAdd,
    Goto,
    Instruction,
    Load,
    Location,
    Mode,
    Position,
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

T = TypeVar("T")

# How many accesses a thread has at most, by the number of threads.
MOST_ACCESSES = {1: 6, 2: 5, 3: 3, 4: 2}

ACCESSES = [
    ("load", 34),
    ("store", 34),
    ("fadd", 5),
    ("exchange", 4),
    ("cas", 7),
    ("bcas", 4),
    ("wait", 4),
    ("fence", 5),
]
FIRST_ACCESSES = [("store", 1)]
LATER_ACCESSES = [("load", 2), ("store", 1)]
RING_STARTS = {1: [("store", 9), ("exchange", 1)], 2: [("store", 8), ("load", 3), ("fadd", 1), ("cas", 1)]}
RING_ACCESSES = [("load", 10), ("store", 8), ("fadd", 1), ("exchange", 1), ("cas", 1), ("wait", 1)]
WIDE_ACCESSES = [
    ("load", 4),
    ("store", 4),
    ("wait", 2),
    ("fadd", 2),
    ("exchange", 2),
    ("cas", 3),
    ("bcas", 2),
    ("oneof", 1),
]
WIDE_MOST = {2: 3, 3: 2, 4: 2, 5: 1}  # accesses of a thread, by the number of threads
USUAL_ACCESSES = {
    "mixed": (FIRST_ACCESSES, LATER_ACCESSES),
    "writer": (FIRST_ACCESSES, [("store", 4), ("load", 1)]),
    "reader": ([("load", 3), ("wait", 1)], [("load", 4), ("store", 1)]),
}
LOCALS = [
    ("skip", 1),
    ("assign", 5),
    ("branch", 6),
    ("choose", 3),
    ("assume", 2),
    ("assert", 2),
    ("goto", 1),
    ("verify", 1),
]
FENCES = {
    "fence": [(Mode.SC, 3), (Mode.ACQ, 1), (Mode.REL, 1), (Mode.ACQ_REL, 1)],
    "weak fence": [(Mode.ACQ, 3), (Mode.REL, 3), (Mode.ACQ_REL, 2), (Mode.SC, 1)],
    "acquire": [(Mode.ACQ, 6), (Mode.ACQ_REL, 2), (Mode.SC, 1), (Mode.REL, 2)],
    "release": [(Mode.REL, 6), (Mode.ACQ_REL, 2), (Mode.SC, 1), (Mode.ACQ, 2)],
}
COMPARISONS = ["==", "!=", "<", "<=", ">", ">="]
OPERATORS = ["+", "-", "*", *COMPARISONS, "&", "|", "^", "&&", "||", "/", "%"]


class Draw(Protocol):
    def __call__(self, strategy: st.SearchStrategy[int]) -> int: ...


class Choices:
    """A source of choices; `below(n)` is one of 0..n-1, and 0 the plainest."""

    def below(self, n: int) -> int:
        raise NotImplementedError

    def between(self, least: int, most: int) -> int:
        return least + self.below(most - least + 1)

    def chance(self, percent: int) -> bool:
        return self.below(100) >= 100 - percent

    def pick(self, options: Sequence[T]) -> T:
        return options[self.below(len(options))]

    def weighted(self, options: Sequence[tuple[T, int]]) -> T:
        ticket = self.below(sum(weight for _, weight in options))
        for option, weight in options:
            ticket -= weight
            if ticket < 0:
                return option
        raise AssertionError


class RandomChoices(Choices):
    def __init__(self, source: random.Random) -> None:
        self._random = source.random

    def below(self, n: int) -> int:
        return int(self._random() * n)


class DrawnChoices(Choices):
    def __init__(self, draw: Draw) -> None:
        self._draw = draw

    def below(self, n: int) -> int:
        return self._draw(_below(n))


@lru_cache
def _below(n: int) -> st.SearchStrategy[int]:
    return st.integers(0, n - 1)


def random_program(
    source: random.Random,
    *,
    loop_free: bool = True,
    threads: tuple[int, int] = (2, 4),
    non_atomic: bool = True,
    most_accesses: int | None = None,
    modes: bool = False,
    sc_accesses: bool = False,
) -> Program:
    """A program drawn without Hypothesis: fast, for tests by the thousand."""
    limits = _Limits(loop_free, threads, non_atomic, most_accesses, modes, sc_accesses)
    return _program(RandomChoices(source), limits)


def wide_program(source: random.Random, *, sc_accesses: bool = False) -> Program:
    """A program in which every kind of access stands anywhere, RMWs as often as loads and stores, with a
    fence between every second pair, a choice between waits, threads that are alike, and up to five threads.
    """
    choices = RandomChoices(source)
    sc_percent = choices.pick((30, 60, 90)) if sc_accesses else 0
    limits = _Limits(True, (2, 5), True, None, True, sc_accesses, sc_percent)
    count = choices.weighted([(2, 10), (3, 6), (4, 2), (5, 1)])
    max_value = choices.weighted([(1, 1), (2, 3)])
    locations = [Location("x"), Location("y", (choices.below(2),))]
    if choices.chance(20):
        locations.append(Location("a", (0, 0), is_array=True))
    elif choices.chance(40):
        locations.append(Location("d", atomic=False))
    threads: list[Thread] = []
    while len(threads) < count:
        copies = 2 if count - len(threads) >= 2 and choices.chance(20) else None
        writer = _ThreadWriter(
            choices, limits, max_value, tuple(locations), place=len(threads), copies=copies, threads=count
        )
        registers, code = writer.write_wide(WIDE_MOST[count])
        family = f"t{len(threads)}"
        threads += [Thread(family, code, registers, tid=tid, copies=copies) for tid in range(copies or 1)]
    return Program(tuple(locations), tuple(threads), max_value)


@st.composite
def programs(
    draw: Draw,
    loop_free: bool = True,
    threads: tuple[int, int] = (2, 4),
    non_atomic: bool = True,
    most_accesses: int | None = None,
    *,
    modes: bool = False,
    sc_accesses: bool = False,
) -> Program:
    """Programs with between `threads[0]` and `threads[1]` threads.

    `non_atomic=False` leaves out non-atomic cells; `most_accesses` bounds the accesses of each thread
    further than `MOST_ACCESSES` does. (Four threads with three writes each can have a million graphs.)
    """
    limits = _Limits(loop_free, threads, non_atomic, most_accesses, modes, sc_accesses)
    return _program(DrawnChoices(draw), limits)


@st.composite
def mutated(draw: st.DrawFn, texts: st.SearchStrategy[str], token: str) -> str:
    """A text with a few tokens deleted, doubled, swapped, or replaced: nearly always a mistake."""
    tokens = re.findall(token, draw(texts))
    for _ in range(draw(st.integers(1, 3))):
        here, there = (draw(st.integers(0, len(tokens) - 1)) for _ in range(2))
        match draw(st.sampled_from(("delete", "double", "swap", "replace"))):
            case "delete" if len(tokens) > 1:
                del tokens[here]
            case "double":
                tokens.insert(here, tokens[here])
            case "swap":
                tokens[here], tokens[there] = tokens[there], tokens[here]
            case _:
                tokens[here] = tokens[there]
    return "".join(tokens)


@dataclass(frozen=True)
class _Limits:
    loop_free: bool
    threads: tuple[int, int]
    non_atomic: bool
    most_accesses: int | None
    modes: bool
    sc_accesses: bool
    sc_percent: int = 0


def _program(choices: Choices, limits: _Limits) -> Program:
    max_value = choices.weighted([(1, 3), (2, 3), (3, 2)])
    fewest, most = limits.threads
    if limits.sc_accesses:
        limits = dataclasses.replace(limits, sc_percent=choices.pick((50, 80, 95)))
    if limits.sc_accesses and most >= 2 and choices.chance(70):
        return _ring(choices, limits)
    if limits.modes and limits.non_atomic and most >= 2 and choices.chance(50):
        return _message_passing(choices, limits, max_value)
    locations = _locations(choices, limits, max_value)
    count = choices.weighted([(n, 2 ** (most - n)) for n in range(fewest, most + 1)])
    threads: list[Thread] = []
    while len(threads) < count:
        family = f"t{len(threads)}"
        copies = choices.between(2, count - len(threads)) if _replicates(choices, count, threads) else None
        writer = _ThreadWriter(
            choices, limits, max_value, locations, place=len(threads), copies=copies, threads=count
        )
        registers, code = writer.write()
        threads += [Thread(family, code, registers, tid=tid, copies=copies) for tid in range(copies or 1)]
    return Program(locations, tuple(threads), max_value)


def _ring(choices: Choices, limits: _Limits) -> Program:
    """Threads that each lead from one location to the next, as in SB, 2+2W, IRIW, R, S and the like."""
    fewest, most = limits.threads
    count = min(max(fewest, choices.weighted([(2, 3), (3, 3), (4, 2)])), most)
    locations = tuple(Location(name) for name in "xyz"[: choices.weighted([(2, 5), (3, 1)])])
    threads = []
    for place in range(count):
        writer = _ThreadWriter(choices, limits, 2, locations, place=place, copies=None, threads=min(count, 3))
        registers, code = writer.write_ring()
        threads.append(Thread(f"t{place}", code, registers))
    return Program(locations, tuple(threads), 2)


def _message_passing(choices: Choices, limits: _Limits, max_value: int) -> Program:
    """A payload d, and flags x and y by which its writers and readers may or may not be synchronised."""
    locations = (Location("x"), Location("y"), Location("d", atomic=choices.chance(25)))
    fewest, most = limits.threads
    count = min(max(fewest, choices.weighted([(2, 2), (3, 3), (4, 1)])), most)
    others = [("relay", 4), ("receiver", 1), ("sender", 1)]
    roles = ["sender", "receiver", *(choices.weighted(others) for _ in range(count - 2))]
    threads = []
    for place, role in enumerate(roles):
        writer = _ThreadWriter(
            choices, limits, max_value, locations, place=place, copies=None, threads=len(roles)
        )
        registers, code = writer.write_role(role)
        threads.append(Thread(f"t{place}", code, registers))
    return Program(locations, tuple(threads), max_value)


def _replicates(choices: Choices, count: int, threads: list[Thread]) -> bool:
    return count - len(threads) >= 2 and choices.chance(15)


def _locations(choices: Choices, limits: _Limits, max_value: int) -> tuple[Location, ...]:
    """One to four cells: mostly x and y, sometimes an array, sometimes a non-atomic one."""

    def initial() -> int:
        return choices.between(0, max_value) if choices.chance(15) else 0

    scalars = choices.weighted([(2, 6), (1, 1), (3, 2)])
    locations = [Location(name, (initial(),)) for name in "xyz"[:scalars]]
    if scalars < 3 and choices.chance(12):
        locations.append(Location("a", (initial(), initial()), is_array=True))
    elif limits.non_atomic and choices.chance(25):
        as_array = scalars < 3 and choices.chance(15)
        values = (initial(), initial()) if as_array else (initial(),)
        locations.append(Location("d", values, atomic=False, is_array=as_array))
    return tuple(locations)


def _with_targets_inside(instruction: Instruction, end: int) -> Instruction:
    match instruction:
        case Branch(_, target) | Goto(target):
            return replace(instruction, target=min(target, end))
        case Choose(targets):
            return replace(instruction, targets=tuple(min(target, end) for target in targets))
        case _:
            return instruction


class _ThreadWriter:
    """Writes the code of one thread."""

    def __init__(
        self,
        choices: Choices,
        limits: _Limits,
        max_value: int,
        locations: tuple[Location, ...],
        *,
        place: int,
        copies: int | None,
        threads: int,
    ) -> None:
        self.choices = choices
        self.limits = limits
        self.max_value = max_value
        self.locations = locations
        self.place = place
        self.copies = copies
        self.turn = -1
        self.most = min(limits.most_accesses or 6, MOST_ACCESSES.get(threads, 1))
        self.registers = ("r", "s")[: choices.weighted([(1, 2), (2, 1)])]
        self.usual_value: int | None = None

    def write(self) -> tuple[tuple[str, ...], tuple[Instruction, ...]]:
        """Each instruction is drawn in one piece, so that Hypothesis can take single ones out."""
        code: list[Instruction] = []
        accesses = 0
        habits = [("mixed", 2), ("writer", 1), ("reader", 1)]
        usual = USUAL_ACCESSES[self.choices.weighted(habits) if self.limits.modes else "mixed"]
        while accesses == 0 or (accesses < self.most and self.choices.chance(85)):
            if self.choices.chance(18):
                code.append(self.instruction(self.choices.weighted(LOCALS), len(code)))
            if self.limits.modes and self.choices.chance(25):
                code.append(self.instruction("weak fence", len(code)))
            kinds = usual[min(accesses, 1)] if self.choices.chance(65) else ACCESSES
            code.append(self.instruction(self.choices.weighted(kinds), len(code)))
            accesses += 1
        if self.choices.chance(20 if self.limits.loop_free else 60):
            code.append(self.instruction(self.choices.weighted(LOCALS), len(code)))
        return self.registers, tuple(_with_targets_inside(instruction, len(code)) for instruction in code)

    def write_ring(self) -> tuple[tuple[str, ...], tuple[Instruction, ...]]:
        """One to three accesses, each to the location after the last one's, often with a fence between."""
        code: list[Instruction] = []
        count = min(self.choices.weighted([(2, 8), (1, 2), (3, 3)]), self.most)
        for place in range(count):
            if place and self.choices.chance(35):
                code.append(
                    self.instruction(self.choices.weighted([("fence", 2), ("weak fence", 1)]), len(code))
                )
            kinds = RING_ACCESSES if place else RING_STARTS[min(count, 2)]
            code.append(self.instruction(self.choices.weighted(kinds), len(code)))
        return self.registers, tuple(code)

    def write_wide(self, most: int) -> tuple[tuple[str, ...], tuple[Instruction, ...]]:
        """Accesses of all kinds, with fences between them; sometimes one of two waits."""
        code: list[Instruction] = []
        for place in range(max(1, most - self.choices.chance(30))):
            if place and self.choices.chance(50):
                code.append(self.instruction(self.choices.pick(("fence", "weak fence")), len(code)))
            kind = self.choices.weighted(WIDE_ACCESSES)
            if kind != "oneof":
                code.append(self.instruction(kind, len(code)))
                continue
            start = len(code)
            code.append(Choose((start + 1, start + 3), at=Position(self.place + 1, start + 1)))
            code.append(self.instruction("wait", start + 1))
            code.append(Goto(start + 4, at=Position(self.place + 1, start + 3)))
            code.append(self.instruction("wait", start + 3))
        return self.registers, tuple(_with_targets_inside(instruction, len(code)) for instruction in code)

    def write_role(self, role: str) -> tuple[tuple[str, ...], tuple[Instruction, ...]]:
        """What a thread does to pass a message, often with a step too many, too weak, or missing."""
        self.registers, self.usual_value = ("r",), 1
        choices, (x, y, d) = self.choices, self.locations
        flag = choices.weighted([(x, 24), (y, 1)])
        publish = [("store", 4), ("fadd", 1), ("exchange", 1)]
        steps: list[tuple[str, Location | None]] = []
        if role == "receiver" or (role == "relay" and choices.chance(40)):
            receive = [("wait", 4), ("load", 2), ("cas", 1), ("failing cas", 2)]
            steps.append((choices.weighted(receive), flag))
            if steps[0][0] != "wait":
                steps.append((choices.weighted([("assume", 3), ("branch", 1)]), None))
        elif role == "relay":
            publish = [("cas", 2), ("bcas", 2), ("fadd", 2), ("exchange", 2), ("store", 1)]
        steps += [("acquire", None)] * choices.chance(45 if steps else 5)
        if choices.chance(10 if role == "relay" else 97):
            steps.append((choices.weighted([("store", 4 if role == "sender" else 1), ("load", 1)]), d))
        if choices.chance(10 if role == "receiver" else 95):
            steps += [("release", None)] * choices.chance(45)
            steps.append((choices.weighted(publish), choices.weighted([(flag, 12), (y, 1)])))
        if choices.chance(8):
            steps.append(("store", choices.pick(self.locations)))
        code: list[Instruction] = []
        for kind, location in steps[: self.most + 2]:
            at = Position(self.place + 1, len(code) + 1)
            if location is not None:
                code.append(self.access_to(location, kind, at))
            else:
                code.append(self.instruction(kind, len(code)))
        return self.registers, tuple(_with_targets_inside(instruction, len(code)) for instruction in code)

    def instruction(self, kind: str, pc: int) -> Instruction:
        at = Position(self.place + 1, pc + 1)
        match kind:
            case "skip":
                return Skip(at=at)
            case "assign":
                return Assign(self.register(), self.value(), at=at)
            case "branch":
                return Branch(self.condition(), self.target(pc), at=at)
            case "choose":
                return Choose((self.target(pc), self.target(pc)), at=at)
            case "assume":
                return Assume(self.condition(), at=at)
            case "assert":
                return Assert(self.condition(), at=at)
            case "goto":
                return Goto(self.target(pc), at=at)
            case "verify":
                return Verify(self.register(), at=at)
            case "fence" | "weak fence" | "acquire" | "release":
                return Fence(self.choices.weighted(FENCES[kind]), at=at)
            case _:
                return self.access(kind, at)

    def access(self, kind: str, at: Position) -> Instruction:
        return self.access_to(self.location(), kind, at)

    def access_to(self, location: Location, kind: str, at: Position) -> Instruction:
        cell = Cell(location.name, self.index(location) if location.is_array else None)
        if not location.atomic:
            if kind in ("load", "cas", "failing cas", "wait", "exchange"):
                return Load(self.register(), cell, Mode.NA, at=at)
            return Store(cell, self.value(), Mode.NA, at=at)
        load = Mode.ACQ if self.choices.chance(40) else Mode.RLX
        store = Mode.REL if self.choices.chance(40) else Mode.RLX
        if self.limits.sc_accesses and self.choices.chance(self.limits.sc_percent):
            load = store = Mode.SC
        match kind:
            case "load":
                return Load(self.register(), cell, load, at=at)
            case "store":
                return Store(cell, self.value(), store, at=at)
            case "fadd":
                operator = self.choices.weighted([("+", 5), ("&", 1), ("|", 1), ("^", 1)])
                return FetchAdd(self.result(), cell, self.value(), load, store, operator, at=at)
            case "exchange":
                return Exchange(self.result(), cell, self.value(), load, store, at=at)
            case "cas" | "failing cas":
                expected = Constant(0) if kind == "failing cas" else self.value()
                failure = Mode.ACQ if self.choices.chance(40) else Mode.RLX
                if self.limits.sc_accesses and self.choices.chance(self.limits.sc_percent):
                    failure = Mode.SC
                modes = (load, store, failure)
                return CompareExchange(self.result(), cell, expected, self.value(), *modes, at=at)
            case "bcas":
                return BlockingCompareExchange(cell, self.value(), self.value(), load, store, at=at)
            case _:
                values = tuple(self.value() for _ in range(self.choices.weighted([(1, 3), (2, 1)])))
                return Wait(self.result(), cell, values, load, at=at)

    def location(self) -> Location:
        """Mostly the next one: thread n starts at location n, so that threads meet in cycles of locations."""
        self.turn += 1
        if self.choices.chance(20):
            return self.choices.pick(self.locations)
        return self.locations[(self.place + self.turn) % len(self.locations)]

    def target(self, pc: int) -> int:
        """Where to jump; past the end means the end."""
        if self.limits.loop_free or self.choices.chance(40):
            return pc + self.choices.weighted([(1, 3), (2, 3), (3, 1), (4, 1)])
        return self.choices.between(0, pc)

    def register(self) -> str:
        return self.choices.pick(self.registers)

    def result(self) -> str | None:
        return None if self.usual_value is None and self.choices.chance(40) else self.register()

    def index(self, location: Location) -> Expression:
        last = min(self.max_value, len(location.initial) - 1)
        match self.choices.weighted([("constant", 6), ("register", 2), ("remainder", 2), ("value", 1)]):
            case "constant":
                return Constant(self.choices.between(0, last))
            case "register":
                return Register(self.register())
            case "remainder" if self.max_value >= 2:
                return Binary("%", self.atom(), Constant(2))
            case _:
                return self.value()

    def condition(self) -> Expression:
        if self.usual_value is not None and not self.choices.chance(6):
            return Binary("==", Register(self.register()), Constant(self.usual_value))
        if self.choices.chance(15):
            return self.value()
        return Binary(self.choices.pick(COMPARISONS), Register(self.register()), self.atom())

    def value(self) -> Expression:
        if self.usual_value is not None and not self.choices.chance(6):
            return Constant(self.usual_value)
        if self.choices.chance(10):
            return Binary(self.choices.pick(OPERATORS), self.atom(), self.atom())
        if self.choices.chance(3):
            return Unary(self.choices.pick(["-", "+", "!"]), self.atom())
        return self.atom()

    def atom(self) -> Expression:
        kinds = [("constant", 12), ("register", 3), ("tid", 5 if self.copies else 1)]
        match self.choices.weighted(kinds):
            case "constant":
                return Constant(self.choices.below(self.max_value + 1))
            case "register":
                return Register(self.register())
            case _:
                return ThreadId()
