"""A program that is being built: its locations and its threads."""

from __future__ import annotations

from collections.abc import Sequence

from fencepost.building.thread import Thread
from fencepost.building.values import Location, check_name
from fencepost.formats.tpl import read
from fencepost.program import DEFAULT_MAX_VALUE, Cell
from fencepost.program import Program as BuiltProgram


class Program:
    """Locations and threads; `build` makes the program of them. Values are taken modulo `max_value` + 1."""

    def __init__(self, name: str = "program", *, max_value: int = DEFAULT_MAX_VALUE) -> None:
        self.name = name
        self._lines = [f"max_value {max_value};"]
        self._threads: list[Thread] = []

    def atomic(self, name: str, initial: int | Sequence[int] = 0, *, size: int | None = None) -> Location:
        """A location for atomic accesses; with a size or several initial values an array of them."""
        return self._location("global", name, initial, size)

    def non_atomic(self, name: str, initial: int | Sequence[int] = 0, *, size: int | None = None) -> Location:
        """A location for plain accesses, on which a race is an error."""
        return self._location("na", name, initial, size)

    def thread(self, name: str, *, copies: int | None = None, at_least: int | None = None) -> Thread:
        """A thread to add statements to; with `copies` so many threads with the same statements, with
        `at_least` any number of them that is not smaller."""
        thread = Thread(name, copies, at_least)
        self._threads.append(thread)
        return thread

    def text(self) -> str:
        """The program in TPL."""
        functions = ("\n".join(thread.lines()) for thread in self._threads)
        return "\n\n".join(["\n".join(self._lines), *functions]) + "\n"

    def build(self) -> BuiltProgram:
        """The program as it is now; raises `InputError` if it is none."""
        return read(self.text(), f"{self.name}.tpl", constants_wrap=False)

    def _location(self, kind: str, name: str, initial: int | Sequence[int], size: int | None) -> Location:
        check_name(name, "location")
        values = [initial] if isinstance(initial, int) else list(initial)
        if size is None and not isinstance(initial, int):
            size = len(values)
        extent = "" if size is None else f"[{size}]"
        start = f" = {values[0]}" if isinstance(initial, int) else f" = {{{', '.join(map(str, values))}}}"
        self._lines.append(f"{kind} {name}{extent}{'' if initial == 0 else start};")
        return Location(Cell(name), atomic=kind == "global")
