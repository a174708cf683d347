"""Random programs about a queue: indices that are compared by their differences, and mostly only grow."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from pathlib import Path

from fencepost.formats.tpl import read
from fencepost.program import Program

_CHASE_LEV = Path(__file__).parents[2] / "examples" / "large" / "chase-lev-200-ra.tpl"


def chase_lev(slots: int, *, bound: int = 200, thieves: int = 2, without_fence: int | None = None) -> str:
    """The large example with so many slots, indices up to the bound, and without one of its four fences."""
    text = _CHASE_LEV.read_text()
    for old, new in (
        ("slot[20]", f"slot[{slots}]"),
        ("% 20", f"% {slots}"),
        ("b - t < 20", f"b - t < {slots}"),
        ("b < 200", f"b < {bound}"),
        ("thief[2]", f"thief[{thieves}]"),
    ):
        assert old in text
        text = text.replace(old, new)
    parts = text.split("fence;")
    return (
        "".join(part if n == without_fence else f"{part}fence;" for n, part in enumerate(parts[:-1]))
        + parts[-1]
    )


def program_with_indices(source: random.Random) -> Program:
    """Two or three threads that push, pop, steal, or look at how far the two ends are from each other."""
    return read(_Drawing(source).text())


class _Drawing:
    def __init__(self, source: random.Random) -> None:
        self._source = source
        self._slots = source.choice([1, 1, 2])
        self._bound = source.choice([3, 4, 4, 5])
        self._first = source.choice([0, 1, 1, 2])
        self._max_value = source.choice([7, 9, 11, 15])

    def text(self) -> str:
        first = self._first
        globals_ = f"global top={first}, bottom={first}, f, g, slot[{self._slots}];"
        owner = self._thread("owner", [self._push, self._push, self._pop, self._look, self._buffer])
        other = self._thread("thief", [self._steal, self._steal, self._late, self._look, self._buffer])
        return f"max_value {self._max_value};\n{globals_}\n{owner}{other}"

    def _thread(self, name: str, kinds: Sequence[Callable[[], str]]) -> str:
        draw = self._source
        blocks = [draw.choice(kinds)() for _ in range(draw.choice([1, 1, 2]))]
        body = blocks[0] if len(blocks) == 1 else "".join(f"{{ {block} }}" for block in blocks)
        body = body if len(blocks) == 1 else f"oneof({body});"
        body = f"while (1) {{ {body} }}" if draw.random() < 0.8 else body
        copies = "[2]" if name == "thief" and draw.random() < 0.2 else ""
        return f"fn {name}{copies} {{ local b, t, o, r; {body} }}\n"

    def _maybe(self, text: str, chance: float = 0.6) -> str:
        return text if self._source.random() < chance else ""

    def _push(self) -> str:
        room = self._source.choice([self._slots, self._slots, 1, 2])
        bound = f" && b < {self._bound}" if self._source.random() < 0.9 else ""
        fills = self._maybe(f"slot[b % {self._slots}].store(b);")
        return (
            f"b = bottom.load(); {self._maybe('fence;')} t = top.load(); "
            f"if (b - t < {room}{bound}) {{ {fills} bottom.store(b + 1); }}"
        )

    def _pop(self) -> str:
        last = f"r = CAS(top, t, t + 1); {self._maybe('bottom.store(t + 1);', 0.9)}"
        empty = self._maybe("bottom.store(t);", 0.9)
        return (
            f"b = bottom.load(); b = b - 1; bottom.store(b); {self._maybe('fence;')} t = top.load(); "
            f"if (b < t) {{ {empty} }} else {{ "
            f"{self._maybe(f'o = slot[b % {self._slots}].load();')} if (b == t) {{ {last} }} }}"
        )

    def _steal(self) -> str:
        taken = self._source.choice(["", "", "if (r == t) { f.store(1); }", "assert(r <= t);"])
        return (
            f"t = top.load(); {self._maybe('fence;')} b = bottom.load(); {self._maybe('fence;')} "
            f"if (t {self._source.choice(['<', '<', '<', '!='])} b) {{ "
            f"{self._maybe(f'o = slot[t % {self._slots}].load();')} r = CAS(top, t, t + 1); {taken} }}"
        )

    def _late(self) -> str:
        """A CAS long after the read that it goes by."""
        by = self._source.choice([1, 1, 2])
        return f"t = top.load(); o = f.load(); if (t < {self._bound}) {{ r = CAS(top, t, t + {by}); }}"

    def _look(self) -> str:
        sign = self._source.choice(["<", ">", "==", "!=", ">=", "<="])
        far = self._source.randrange(3)
        ends = self._source.choice(
            ["t = top.load(); b = bottom.load();", "b = bottom.load(); t = top.load();"]
        )
        return f"{ends} if (b - t {sign} {far}) {{ {self._buffer()} }}"

    def _buffer(self) -> str:
        x, y = self._source.sample(["f", "g"], 2)
        return f"{x}.store(1); {self._maybe('fence;', 0.7)} o = {y}.load();"
