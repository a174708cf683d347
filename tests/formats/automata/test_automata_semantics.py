"""Random automata do, as programs, what they do if their instructions are executed one by one.

The reference executes the words of the text: each transition on its own, memory shared, and nobody else moves
while a thread is between `lock` and `unlock`. Compared is how memory can change from one content to the next
under sequential consistency; threads end with writes that make their registers visible.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import NamedTuple

import pytest

from fencepost.errors import InputError
from fencepost.formats import automata
from fencepost.models.explore import LimitReachedError
from fencepost.models.sc import sc_states, sc_transitions
from fencepost.models.threads import ProgramLts
from fencepost.program import Program

ADDRESSES = 3
MOST_STATES = 6_000

Memory = tuple[int, ...]
Changes = set[tuple[Memory, Memory]]


class Arrow(NamedTuple):
    source: str
    target: str
    words: tuple[str, ...]


Automaton = list[Arrow]


# --- the reference


class Place(NamedTuple):
    state: str
    registers: tuple[tuple[str, int], ...]


class Configuration(NamedTuple):
    places: tuple[Place, ...]
    memory: Memory
    holder: int | None  # of the lock
    before: Memory  # memory when the lock was taken


class OutsideError(Exception):
    """A value below 0 is stored: the program is outside of what is compared."""


OPERATORS: dict[str, Callable[[int, int], int]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "&": lambda a, b: a & b,
    "==": lambda a, b: int(a == b),
    "!=": lambda a, b: int(a != b),
    "<": lambda a, b: int(a < b),
    "<=": lambda a, b: int(a <= b),
    ">": lambda a, b: int(a > b),
    ">=": lambda a, b: int(a >= b),
    "&&": lambda a, b: int(a != 0 and b != 0),
    "||": lambda a, b: int(a != 0 or b != 0),
}


def value(words: Iterator[str], registers: dict[str, int]) -> int:
    word = next(words)
    if word == "!":
        return int(value(words, registers) == 0)
    if word in OPERATORS:
        left = value(words, registers)
        return OPERATORS[word](left, value(words, registers))
    return registers.get(word, 0) if word[0].isalpha() else int(word)


def after(arrow: Arrow, number: int, configuration: Configuration) -> Configuration | None:
    """The configuration after thread `number` took that transition, None if it cannot."""
    places, memory, holder, before = configuration
    registers = dict(places[number].registers)
    words = iter(arrow.words)
    match next(words):
        case "write":
            stored = value(words, registers)
            if stored < 0:
                raise OutsideError
            address = value(words, registers)
            memory = (*memory[:address], stored, *memory[address + 1 :])
        case "read":
            register = next(words)
            registers[register] = memory[value(words, registers)]
        case "local":
            register = next(words)
            registers[register] = value(words, registers)
            if registers[register] < 0:
                raise OutsideError
        case "check":
            if value(words, registers) == 0:
                return None
        case "lock":
            holder, before = number, memory
        case "unlock":
            holder = None
    place = Place(arrow.target, tuple(sorted(registers.items())))
    places = (*places[:number], place, *places[number + 1 :])
    return Configuration(places, memory, holder, before if holder is not None else ())


def reference_changes(threads: list[Automaton]) -> Changes:
    start = Configuration(tuple(Place(t[0].source, ()) for t in threads), (0,) * ADDRESSES, None, ())
    seen, todo, changes = {start}, [start], set()
    while todo:
        configuration = todo.pop()
        for number, automaton in enumerate(threads):
            if configuration.holder not in (None, number):
                continue
            for arrow in automaton:
                if arrow.source != configuration.places[number].state:
                    continue
                following = after(arrow, number, configuration)
                if following is None:
                    continue
                if following.holder is None:
                    changes.add((configuration.before or configuration.memory, following.memory))
                if following not in seen:
                    seen.add(following)
                    todo.append(following)
                    if len(seen) > 4 * MOST_STATES:
                        raise LimitReachedError
    return {(old, new) for old, new in changes if old != new}


def changes_of(program: Program) -> Changes:
    lts = ProgramLts(program)
    found = {
        (state.memory, transition.memory)
        for state in sc_states(lts, MOST_STATES)
        for transition in sc_transitions(lts, state)
    }
    return {(old, new) for old, new in found if old != new}


# --- random automata


class Drawing:
    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def threads(self) -> list[Automaton]:
        return [self.automaton() for _ in range(self.random.choice([1, 2, 2, 2, 3]))]

    def automaton(self) -> Automaton:
        states = [f"q{n}" for n in range(self.random.randint(2, 4))]
        arrows: Automaton = []
        for number, state in enumerate(states[:-1]):
            arrows += self.leaving(state, states, number)
        last = [Arrow(states[-1], "w", ("write", *self.small("r"), "2"))]
        return arrows + (last if self.random.random() < 0.7 else [])

    def leaving(self, state: str, states: list[str], number: int) -> Iterator[Arrow]:
        later = states[number + 1 :]

        def target() -> str:
            return self.random.choice(states if self.random.random() < 0.25 else later)

        match self.random.choice(["step", "step", "step", "choice", "checks", "section", "section"]):
            case "step":
                yield Arrow(state, target(), self.step())
            case "choice":
                for _ in range(self.random.randint(2, 3)):
                    yield Arrow(state, target(), self.random.choice([self.step(), self.check()]))
            case "checks":
                for _ in range(self.random.randint(1, 3)):
                    yield Arrow(state, target(), self.check())
            case _:
                yield from self.section(state, target(), target())

    def section(self, state: str, target: str, other: str) -> Iterator[Arrow]:
        inner = [f"{state}_{n}" for n in range(9)]
        address = str(self.random.randrange(2))
        register = self.random.choice("rs")
        yield Arrow(state, inner[0], ("lock",))
        yield Arrow(inner[0], inner[1], self.random.choice([("noop",), ("local", "s", *self.small("r"))]))
        shape = self.random.choice(["write", "read", "both", "both", "compare", "compare", "branches"])
        if shape == "write":
            yield Arrow(inner[1], inner[3], ("write", *self.expression(), address))
            yield Arrow(inner[3], target, ("unlock",))
            return
        yield Arrow(inner[1], inner[2], ("read", register, address))
        if shape == "read":
            yield Arrow(inner[2], target, ("unlock",))
            return
        write = ("write", *self.written(register), address)
        if shape == "both":
            yield Arrow(inner[2], inner[3], write)
            yield Arrow(inner[3], target, ("unlock",))
            return
        expected = self.random.choice(["0", "1", "s" if register == "r" else "r"])
        yield Arrow(inner[2], inner[3], ("check", "==", register, expected))
        yield Arrow(inner[3], inner[4], write)
        yield Arrow(inner[4], inner[5], self.random.choice([("noop",), ("local", "s", "1"), ("mfence",)]))
        yield Arrow(inner[5], target, ("unlock",))
        if shape == "branches":
            yield Arrow(
                inner[2], inner[6], self.random.choice([("check", "!=", register, expected), self.check()])
            )
            yield Arrow(inner[6], inner[7], self.random.choice([("noop",), ("local", "r", "1"), write]))
            yield Arrow(inner[7], other, ("unlock",))

    def step(self) -> tuple[str, ...]:
        address = self.random.choice([("0",), ("1",), ("&", "r", "1")])
        return self.random.choice(
            [
                ("write", *self.expression(), *address),
                ("write", *self.expression(), *address),
                ("read", self.random.choice("rs"), *address),
                ("read", self.random.choice("rs"), *address),
                ("local", self.random.choice("rs"), *self.expression()),
                self.check(),
                ("noop",),
                ("mfence",),
            ]
        )

    def check(self) -> tuple[str, ...]:
        comparison = self.random.choice(["==", "!=", "<", "<=", ">", ">="])
        plain = (comparison, self.random.choice("rs"), self.random.choice(["0", "1", "2", "r", "s"]))
        return ("check", *self.random.choice([plain, plain, plain, ("!", *plain), ("r",), ("!", "s")]))

    def written(self, register: str) -> tuple[str, ...]:
        forms = [("1",), ("2",), ("+", register, "1"), ("-", "3", register), ("&", "+", register, "1", "1")]
        return self.random.choice([*forms, ("s",), ("r",)])

    def expression(self) -> tuple[str, ...]:
        return self.random.choice(
            [("0",), ("1",), ("2",), ("r",), ("&", "+", "r", "1", "3"), ("==", "r", "s")]
        )

    def small(self, register: str) -> tuple[str, ...]:
        return ("&", register, "3")


def text_of(threads: list[Automaton]) -> str:
    lines = [f"memory_size {ADDRESSES}"]
    for number, automaton in enumerate(threads):
        lines += [f"thread t{number}", f"initial {automaton[0].source}"]
        lines += [f"transition {a.source} {a.target} {' '.join(a.words)}" for a in automaton]
        lines.append("end")
    return "\n".join(lines)


def compared(seed: int) -> bool:
    """Whether the program of that seed could be compared, and was found to be right."""
    threads = Drawing(seed).threads()
    text = text_of(threads)
    try:
        expected = reference_changes(threads)
        program = automata.read(text)
        if any("no bound" in warning for warning in program.warnings):
            return False
        found = changes_of(program)
    except (InputError, LimitReachedError, OutsideError):
        return False
    assert found == expected, text
    largest = max((v for _, memory in expected for v in memory), default=0)
    assert largest <= program.max_value, text
    return True


def test_programs_do_what_their_automata_do() -> None:
    assert sum(compared(seed) for seed in range(400)) > 250


@pytest.mark.slow
def test_many_programs_do_what_their_automata_do() -> None:
    assert sum(compared(seed) for seed in range(1_000, 21_000)) > 12_000
