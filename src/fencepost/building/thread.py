"""One thread of a program that is being built: each method adds a statement of TPL to it.

Accesses take a memory order by its name in TPL: `rlx`, which is the default, `acq`, `rel`, and `acq_rel` for
those that read and write. Blocks are those of Python:

    with thread.while_(flag == 1):
        thread.load(x, into=flag)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Self

from fencepost.building.values import Local, Location, Value, check_name, expression_of
from fencepost.formats.tpl import format_expression, format_instruction
from fencepost.program import (
    Assert,
    Assign,
    Assume,
    BlockingCompareExchange,
    CompareExchange,
    Exchange,
    Fence,
    FetchAdd,
    Instruction,
    Load,
    Mode,
    Store,
    ThreadId,
    Wait,
)

Number = int | Value


class Thread:
    """The statements of a thread, or of `copies` threads that differ in their `tid`, or of any number of
    threads, `at_least` so many, that differ in nothing."""

    def __init__(self, name: str, copies: int | None = None, at_least: int | None = None) -> None:
        check_name(name, "thread")
        if copies is not None and at_least is not None:
            raise ValueError("a thread has a number of copies or a least number of them, not both")
        self.name = name
        self.copies = copies
        self.at_least = at_least
        self.tid = Value(ThreadId())
        self._locals: dict[str, Local] = {}
        self._lines: list[str] = []
        self._depth = 1
        self._end_of_if = -1  # how many lines there were after the last block of an `if_`

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def local(self, name: str, value: Number | None = None) -> Local:
        """The local variable of that name, 0 at first; with a value, that is assigned here."""
        check_name(name, "local")
        local = self._locals.setdefault(name, Local(name))
        if value is not None:
            self.assign(local, value)
        return local

    def assign(self, local: Local, value: Number) -> None:
        self._add(Assign(local.name, expression_of(value)))

    # --- accesses

    def load(self, location: Location, mode: str = "rlx", *, into: Local | str | None = None) -> Local:
        """Reads into a local, a new one if none is given."""
        result = self._new_local() if into is None else self._local(into)
        self._add(Load(result.name, location.cell, _mode(mode) if location.atomic else Mode.NA))
        return result

    def store(self, location: Location, value: Number, mode: str = "rlx") -> None:
        self._add(Store(location.cell, expression_of(value), _mode(mode) if location.atomic else Mode.NA))

    def fetch_add(
        self, location: Location, value: Number, mode: str = "rlx", *, into: Local | str | None = None
    ) -> Local | None:
        """Adds; the local, if there is one, gets the old value."""
        return self._update(FetchAdd, location, (value,), mode, into)

    def fetch_sub(
        self, location: Location, value: Number, mode: str = "rlx", *, into: Local | str | None = None
    ) -> Local | None:
        """Subtracts; the local, if there is one, gets the old value."""
        return self._update(FetchAdd, location, (-value,), mode, into)

    def fetch_and(
        self, location: Location, value: Number, mode: str = "rlx", *, into: Local | str | None = None
    ) -> Local | None:
        """Bitwise and; the local, if there is one, gets the old value."""
        return self._update(partial(FetchAdd, operator="&"), location, (value,), mode, into)

    def fetch_or(
        self, location: Location, value: Number, mode: str = "rlx", *, into: Local | str | None = None
    ) -> Local | None:
        """Bitwise or; the local, if there is one, gets the old value."""
        return self._update(partial(FetchAdd, operator="|"), location, (value,), mode, into)

    def fetch_xor(
        self, location: Location, value: Number, mode: str = "rlx", *, into: Local | str | None = None
    ) -> Local | None:
        """Bitwise exclusive or; the local, if there is one, gets the old value."""
        return self._update(partial(FetchAdd, operator="^"), location, (value,), mode, into)

    def exchange(
        self, location: Location, value: Number, mode: str = "rlx", *, into: Local | str | None = None
    ) -> Local | None:
        """Writes; the local, if there is one, gets the old value."""
        return self._update(Exchange, location, (value,), mode, into)

    def compare_exchange(
        self,
        location: Location,
        expected: Number,
        desired: Number,
        mode: str = "rlx",
        *,
        failure: str | None = None,
        into: Local | str | None = None,
    ) -> Local | None:
        """A strong CAS; the local, if there is one, gets the old value.

        If it fails, it is a read with the order `failure`, which is by default that of the read part.
        """
        modes = () if failure is None else (_mode(failure),)
        return self._update(CompareExchange, location, (expected, desired), mode, into, *modes)

    def wait_and_exchange(
        self, location: Location, expected: Number, desired: Number, mode: str = "rlx"
    ) -> None:
        """Waits until the location holds `expected` and replaces it in the same step (BCAS)."""
        values = (expression_of(expected), expression_of(desired))
        self._add(BlockingCompareExchange(location.cell, *values, *_both_modes(mode)))

    def wait(
        self, location: Location, *values: Number, mode: str = "rlx", into: Local | str | None = None
    ) -> Local | None:
        """Waits until the location holds one of the values; the local, if there is one, gets it."""
        result = None if into is None else self._local(into)
        awaited = tuple(map(expression_of, values))
        self._add(Wait(_name(result), location.cell, awaited, _mode(mode)))
        return result

    def fence(self, mode: str = "seq_cst") -> None:
        self._add(Fence(_mode(mode)))

    # --- control

    def assert_that(self, condition: Number) -> None:
        """Reports the run if the condition is 0."""
        self._add(Assert(expression_of(condition)))

    def assume(self, condition: Number) -> None:
        """Ends the thread here if the condition is 0."""
        self._add(Assume(expression_of(condition)))

    @contextmanager
    def if_(self, condition: Number) -> Iterator[None]:
        with self._block(f"if ({_spelled(condition)}) {{"):
            yield
        self._end_of_if = len(self._lines)

    @contextmanager
    def else_(self) -> Iterator[None]:
        """Directly after the block of an `if_`."""
        if self._end_of_if != len(self._lines):
            raise ValueError("`else_` comes directly after the block of an `if_`")
        self._lines.pop()
        with self._block("} else {"):
            yield

    @contextmanager
    def while_(self, condition: Number) -> Iterator[None]:
        with self._block(f"while ({_spelled(condition)}) {{"):
            yield

    def one_of(self, *choices: Callable[[], object]) -> None:
        """Runs the statements that one of the functions adds; it may be any of them."""
        if not choices:
            raise ValueError("a choice needs at least one alternative")
        for number, choice in enumerate(choices):
            with self._block("}{" if number else "oneof({", end=""):
                choice()
        self._line("});")

    def label(self, name: str) -> None:
        check_name(name, "label")
        self._line(f"{name}:")

    def goto(self, name: str) -> None:
        check_name(name, "label")
        self._line(f"goto {name};")

    # --- the text

    def lines(self) -> Iterator[str]:
        """The thread as a function of TPL."""
        yield f"fn {self.name}{self._size()} {{"
        if self._locals:
            yield f"    local {', '.join(self._locals)};"
        yield from self._lines
        yield "}"

    def _size(self) -> str:
        if self.at_least is not None:
            return "[*]" if self.at_least == 1 else f"[{self.at_least}..*]"
        return "" if self.copies is None else f"[{self.copies}]"

    def _update(
        self,
        kind: Callable[..., Instruction],
        location: Location,
        values: Sequence[Number],
        mode: str,
        into: Local | str | None,
        *more_modes: Mode,
    ) -> Local | None:
        result = None if into is None else self._local(into)
        operands = map(expression_of, values)
        self._add(kind(_name(result), location.cell, *operands, *_both_modes(mode), *more_modes))
        return result

    @contextmanager
    def _block(self, head: str, end: str = "}") -> Iterator[None]:
        self._line(head)
        self._depth += 1
        try:
            yield
        finally:
            self._depth -= 1
        if end:
            self._line(end)

    def _add(self, instruction: Instruction) -> None:
        self._line(f"{format_instruction(instruction)};")

    def _line(self, text: str) -> None:
        self._lines.append("    " * self._depth + text)

    def _new_local(self) -> Local:
        number = next(number for number in range(len(self._locals) + 1) if f"r{number}" not in self._locals)
        return self.local(f"r{number}")

    def _local(self, into: Local | str) -> Local:
        return self.local(into) if isinstance(into, str) else into


def _spelled(condition: Number) -> str:
    return format_expression(expression_of(condition))


def _name(local: Local | None) -> str | None:
    return None if local is None else local.name


def _mode(name: str) -> Mode:
    try:
        return Mode(name)
    except ValueError:
        names = ", ".join(mode.value for mode in Mode if mode is not Mode.NA)
        raise ValueError(f"there is no memory order {name!r}; expected one of {names}") from None


def _both_modes(name: str) -> tuple[Mode, Mode]:
    """The order of the read part and that of the write part."""
    mode = _mode(name)
    if mode is Mode.SC:
        return mode, mode
    read = Mode.ACQ if mode in (Mode.ACQ, Mode.ACQ_REL) else Mode.RLX
    write = Mode.REL if mode in (Mode.REL, Mode.ACQ_REL) else Mode.RLX
    return read, write
