"""Random programs that count: with tickets, sequence numbers and indices that wrap around."""

from __future__ import annotations

import random

from fencepost.formats.tpl import read
from fencepost.program import Program

_MOST_STATEMENTS = 4


def program_with_counters(
    source: random.Random, *, loop_free: bool, modes: bool, bounded: bool = False
) -> Program:
    """Two or three threads; values of `c`, `d`, `r` and `s` wrap around, and are indices of `a`.

    Mostly they are only moved on and compared with each other, so that all of them can be moved on together.
    If they are `bounded`, threads end where they have come too far.
    """
    return read(_Drawing(source, loop_free=loop_free, modes=modes, bounded=bounded).text())


class _Drawing:
    def __init__(self, source: random.Random, *, loop_free: bool, modes: bool, bounded: bool) -> None:
        self._source = source
        self._loop_free = loop_free
        self._modes = modes
        self._bounded = bounded
        self._modulus = source.choice([2, 3, 4, 4, 6])
        self._max_value = self._modulus - 1 + (source.randint(0, 2) if source.random() < 0.4 else 0)
        self._wraps = self._modulus == self._max_value + 1  # of itself; else by %
        divides = (n for n in (1, 2, 3, 4) if self._modulus % n == 0 or source.random() < 0.1)
        self._size = source.choice(list(divides))
        self._step = source.choice([1, 1, 1, 2])
        self._strange = source.random() < 0.15
        self._array_kind = "na" if modes and source.random() < 0.3 else "global"

    def text(self) -> str:
        pick = self._source.randrange
        first = [f"{name}={pick(self._modulus)}" for name in ("c", "d")]
        threads = "".join(self._thread(n) for n in range(self._source.choice([2, 2, 2, 3])))
        head = f"max_value {self._max_value};\nglobal {first[0]}, {first[1]}, x;\n"
        return f"{head}{self._array_kind} a[{self._size}];\n{threads}"

    def _thread(self, number: int) -> str:
        copies = "[2]" if number == 0 and self._source.random() < 0.2 else ""
        body = self._block(self._source.randint(2, _MOST_STATEMENTS))
        if not self._loop_free and self._source.random() < 0.6:
            body = f"while (1) {{ {body} }}"
        return f"fn t{number}{copies} {{ local r, s, k; {body} }}\n"

    def _block(self, size: int) -> str:
        return " ".join(self._statement() for _ in range(size))

    def _statement(self) -> str:
        draw = self._source
        kinds = {
            self._access: 75,
            lambda: f"if ({self._condition()}) {{ {self._access()} }}": 8,
            lambda: f"oneof({{ {self._access()} }} {{ {self._local()} {self._access()} }});": 4,
            lambda: f"assert({self._condition()});": 1,
            lambda: f"assume({self._condition()});": 1,
            self._local: 8,
        }
        if not self._loop_free:
            kinds[lambda: f"while ({self._condition()}) {{ {self._access()} }}"] = 3
        if self._bounded:
            kinds[self._bound] = 15
        return draw.choices(list(kinds), list(kinds.values()))[0]()

    def _bound(self) -> str:
        bound = f"{self._name()} < {self._source.randint(1, self._max_value)}"
        if self._source.random() < 0.3:
            bound = f"{self._condition()} && {bound}"
        return f"assume({bound});"

    def _local(self) -> str:
        on = f"{self._name()} = {self._next()};"
        return self._source.choice([on, on, "k = 1;", "k = 0;", "skip;"])

    def _access(self) -> str:
        draw = self._source
        cell, register = draw.choice("cd"), self._name()
        load, store = self._mode("acq"), self._mode("rel")
        both = f"{load}{store}"
        counted = [
            *(3 * [f"{register} = {cell}.load({load.lstrip(', ')});"]),
            *(3 * [f"{cell}.store({self._next()}{store});"]),
            f"{register} = CAS({cell}, {self._name()}, {self._next()}{both});",
            f"{register} = exchange({cell}, {self._next()}{both});",
            draw.choice(
                [
                    f"wait({cell}, {self._name()}{load});",
                    f"BCAS({cell}, {self._name()}, {self._next()}{both});",
                ]
            ),
        ]
        if self._wraps:
            counted += 2 * [f"{register} = FADD({cell}, {self._step}{both});"]
        others = [
            *(2 * [f"x.store(1{store});"]),
            *(2 * [f"k = x.load({load.lstrip(', ')});"]),
            f"k = FADD(x, 1{both});",
            "fence;",
            *(["fence(acq);", "fence(rel);"] if self._modes else []),
        ]
        index = f"a[{self._name()} % {self._size}]"
        if self._array_kind == "na":
            others += 2 * [f"{index}.nastore(1);", f"k = {index}.naload();"]
        else:
            others += 2 * [f"{index}.store(k{store});", f"k = {index}.load({load.lstrip(', ')});"]
        return draw.choice(counted if draw.random() < 0.6 else others)

    def _mode(self, strong: str) -> str:
        return f", {self._source.choice(['rlx', strong])}" if self._modes else ""

    def _name(self) -> str:
        return self._source.choice("rs")

    def _next(self) -> str:
        draw = self._source
        if self._strange and draw.random() < 0.2:
            return str(draw.randint(0, 1))
        if draw.random() < 0.3:
            return self._name()
        on = f"{self._name()} + {self._step}"
        return on if self._wraps else f"({on}) % {self._modulus}"

    def _condition(self) -> str:
        draw = self._source
        if self._strange and draw.random() < 0.3:
            return f"r < {draw.randint(0, 2)}"
        conditions = ["r == s", "r != s", "k == 1", f"r == s || k == {draw.randint(0, 1)}"]
        if not self._wraps:
            conditions.append(f"r == ({self._name()} + {self._step}) % {self._modulus}")
            conditions.append(f"(r + {self._modulus} - s) % {self._modulus} < {draw.randint(1, 2)}")
        return draw.choice(conditions)
