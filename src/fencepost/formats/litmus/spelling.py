"""The C spelling of the effects of a litmus test: accesses and fences.

An effect is one instruction, or the few that `calls.py` makes of one compare-exchange, which are found
again here. Its text is an expression of C; in whose place that can stand is `blocks.py`'s business.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from fencepost.formats.litmus.calls import ORDER
from fencepost.formats.litmus.scope import Constants
from fencepost.program import (
    Assign,
    Binary,
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
    Mode,
    Register,
    Skip,
    Store,
    Unary,
    jump_targets,
    subexpressions,
)
from fencepost.program.instructions import FETCH_OPERATORS
from fencepost.program.spelling import Spelling

_FENCES = {Mode.ACQ: "acquire", Mode.REL: "release", Mode.ACQ_REL: "acq_rel", Mode.SC: "seq_cst"}
_ORDERS = {
    (Mode.RLX, Mode.RLX): "relaxed",
    (Mode.ACQ, Mode.RLX): "acquire",
    (Mode.RLX, Mode.REL): "release",
    (Mode.ACQ, Mode.REL): "acq_rel",
}


class Effect(NamedTuple):
    """An expression of C, the register that its value goes to, and how many instructions it stands for."""

    text: str
    result: str | None
    length: int


def order(load: Mode = Mode.RLX, store: Mode = Mode.RLX) -> str:
    """Of an access with one of these parts, or both."""
    strong = Mode.SC in (load, store)
    return ORDER + ("seq_cst" if strong else _ORDERS[load, store])


class Effects:
    """The effects in the code of one thread."""

    def __init__(self, code: Sequence[Instruction], spelling: Spelling) -> None:
        self.spelling = spelling
        self._code = code
        self._sources: dict[int, list[int]] = {}
        for index, instruction in enumerate(code):
            for target in jump_targets(instruction):
                self._sources.setdefault(target, []).append(index)
        self._compared = self._registers_compared()

    def at(self, index: int) -> Effect | None:
        """The effect that starts with instruction number `index`."""
        expression, cell = self.spelling.expression, self.spelling.cell
        match self._code[index]:
            case Load(register, place, mode):
                return Effect(self.load(place, mode), register, 1)
            case Store(place, value, Mode.NA):
                return Effect(f"*{cell(place)} = {expression(value)}", None, 1)
            case Store(place, value, mode):
                return Effect(_call("store", cell(place), expression(value), order(store=mode)), None, 1)
            case Exchange(register, place, value, load, store):
                text = _call("exchange", cell(place), expression(value), order(load, store))
                return Effect(text, register, 1)
            case FetchAdd(register, place, Unary("-", value), load, store, "+"):
                text = _call("fetch_sub", cell(place), expression(value), order(load, store))
                return Effect(text, register, 1)
            case FetchAdd(register, place, value, load, store, operator):
                text = _call(FETCH_OPERATORS[operator], cell(place), expression(value), order(load, store))
                return Effect(text, register, 1)
            case Fence(mode):
                return Effect(f"atomic_thread_fence({ORDER}{_FENCES[mode]})", None, 1)
            case Skip():
                return Effect(f"atomic_thread_fence({ORDER}relaxed)", None, 1)
            case _:
                return self._compare_exchange(index)

    def is_target(self, index: int, since: int | None = None) -> bool:
        """Whether something jumps to `index`, other than the instructions from `since` up to there."""
        inside = range(index if since is None else since, index)
        return any(source not in inside for source in self._sources.get(index, ()))

    def load(self, cell: Cell, mode: Mode) -> str:
        name = self.spelling.cell(cell)
        return f"*{name}" if mode is Mode.NA else _call("load", name, order(mode))

    def compare_exchange(self, cas: CompareExchange, expected: str, *, weak: bool = False) -> str:
        """The text of a compare-exchange with its expected value in that register."""
        kind = "weak" if weak else "strong"
        return _call(
            f"compare_exchange_{kind}",
            self.spelling.cell(cas.cell),
            f"&{self.spelling.expression(Register(expected))}",
            self.spelling.expression(cas.desired),
            order(cas.load_mode, cas.store_mode),
            order(cas.failure_mode),
        )

    # Compare-exchanges, as `calls.py` makes them.

    def _registers_compared(self) -> dict[int, Expression]:
        """What `Constants` says of the expected register at each instruction that may start one."""
        constants, compared = Constants(), {}
        for index, instruction in enumerate(self._code):
            if index in self._sources:
                constants.forget()
            following = self._code[index + 1] if index + 1 < len(self._code) else None
            cas = following if isinstance(instruction, Choose) else instruction
            if isinstance(cas, CompareExchange) and cas.register is not None:
                compared[index] = constants.value(cas.register)
            constants.pass_by(instruction)
        return compared

    def _compare_exchange(self, index: int) -> Effect | None:
        match self._code[index]:
            case Assign(result, Register(expected)):
                found = self._attempt(index + 1, Register(result))
                saves = found is not None and found.result == result
                same = self._compared.get(index + 1) == Register(expected)
                if found is None or not saves or not same or self.is_target(index + 1):
                    return None
                if self._expected_register(index + 1) != expected:
                    return None
                return found._replace(length=found.length + 1)
            case CompareExchange() | Choose():
                return self._attempt(index, None)
        return None

    def _expected_register(self, index: int) -> str | None:
        first = self._code[index]
        cas = self._code[index + 1] if isinstance(first, Choose) else first
        return cas.register if isinstance(cas, CompareExchange) else None

    def _attempt(self, index: int, saved: Register | None) -> Effect | None:
        """The compare-exchange that starts here, after its expected value went to `saved` if it is tested."""
        weak = isinstance(self._part(index), Choose)
        cas = self._part(index + weak)
        if not isinstance(cas, CompareExchange) or cas.register is None or index not in self._compared:
            return None
        if cas.expected != self._compared[index]:
            return None
        before = saved if saved is not None else cas.expected if isinstance(cas.expected, Constant) else None
        test = self._part(index + weak + 1)
        result = None
        if isinstance(test, Assign) and before is not None:
            success = Binary("==", Register(cas.register), before)
            is_result = test.value == success and test.register != cas.register
            if is_result and Register(test.register) not in subexpressions(cas.desired):
                result = test.register
        tested = result is not None
        if not weak:
            if tested and self.is_target(index + 1):
                return Effect(self.compare_exchange(cas, cas.register), None, 1)
            return Effect(self.compare_exchange(cas, cas.register), result, 1 + tested)
        return self._weak(index, cas, result)

    def _weak(self, index: int, cas: CompareExchange, result: str | None) -> Effect | None:
        after_cas = index + 2 + (result is not None)
        start = after_cas + 1
        end = start + 1 + (result is not None)
        if cas.register is None:
            return None
        shape = [
            Choose((index + 1, start)),
            Goto(end),
            Load(cas.register, cas.cell, cas.failure_mode),
            *([] if result is None else [Assign(result, Constant(0))]),
        ]
        found = [self._part(index), self._part(after_cas), *self._code[start:end]]
        inside = {source for target in range(index + 1, end) for source in self._sources.get(target, ())}
        if found != shape or inside != {index}:
            return None
        return Effect(self.compare_exchange(cas, cas.register, weak=True), result, end - index)

    def _part(self, index: int) -> Instruction | None:
        return self._code[index] if index < len(self._code) else None


def _call(function: str, *arguments: str) -> str:
    return f"atomic_{function}_explicit({', '.join(arguments)})"
