"""Programs as automata, told step by step: the small language in which the programs of this folder are
described.

A thread is told like assembly code. `at` names the place that has been reached; a step leads to the next
place, or to the one that `to` names. Told again, `at` goes back to a place, for the thread to go on or for
another step that may be taken there. Values, addresses and conditions are numbers, registers, or expressions
in prefix notation. `fence` marks where a fence belongs under TSO; the program is written without them unless
asked for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

Term = int | str

_NEGATION = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
_ENDS = {"end", "wrong"}


@dataclass
class Transition:
    source: str
    target: str | None
    instruction: str
    comment: str
    fence_after: bool = False

    def lines(self, fenced: bool) -> Iterator[str]:
        comment = f"  # {self.comment}" if self.comment else ""
        target = self.target or "end"
        if fenced and self.fence_after:
            yield f"    transition {self.source} {self.source}_f {self.instruction}{comment}"
            yield f"    transition {self.source}_f {target} mfence"
        else:
            yield f"    transition {self.source} {target} {self.instruction}{comment}"


@dataclass
class Thread:
    name: str
    copies: int
    cells: list[str]
    """The names of the program's addresses, for comments."""
    transitions: list[Transition] = field(default_factory=list)
    _here: str | None = None
    _arriving: list[Transition] = field(default_factory=list)
    """The transitions to the place where the next step starts, as long as that has no name."""
    _last_name: str = "begin"
    _unnamed: Counter[str] = field(default_factory=Counter)
    """How many places were numbered after each name."""

    def at(self, place: str) -> Thread:
        self._last_name = place
        self._arrive(place)
        return self

    def write(self, value: Term, address: Term, to: str | None = None) -> Thread:
        return self._step(f"write {value} {address}", to, f"{self._cell(address)} := {value}")

    def read(self, register: str, address: Term) -> Thread:
        return self._step(f"read {register} {address}", None, f"{register} := {self._cell(address)}")

    def local(self, register: str, value: Term, to: str | None = None) -> Thread:
        return self._step(f"local {register} {value}", to)

    def when(self, condition: str, to: str) -> Thread:
        """Leave for `to` if the condition holds, go on otherwise."""
        here = self._place()
        self._add(here, to, f"check {condition}")
        self._add(here, None, f"check {_negated(condition)}")
        return self

    def only_if(self, condition: str) -> Thread:
        """Go on if the condition holds; otherwise this way cannot be taken."""
        return self._step(f"check {condition}")

    def spin(self, register: str, address: Term, until: str) -> Thread:
        """Read again and again, until the condition holds."""
        here = self._place()
        return self.read(register, address).when(_negated(until), here)

    def swap(self, address: Term, old: Term, new: Term, otherwise: str | None = None) -> Thread:
        """Compare and swap. Where another value is found: leave for `otherwise`, or wait if there is none."""
        self._step("lock", None, f"CAS({self._cell(address)}, {old}, {new})")._step(f"read seen {address}")
        here = self._place()
        self._add(here, None, f"check == seen {old}")
        self._step(f"write {new} {address}")._step("unlock")
        if otherwise is not None:
            swapped, self._arriving = self._arriving, []
            self._add(here, None, f"check != seen {old}")
            self._step("unlock", otherwise)
            self._arriving = swapped
        return self

    def increment(self, register: str, address: Term, modulus: int) -> Thread:
        """Fetch and add 1, modulo a power of two; the register gets the old value."""
        self._step("lock", None, f"{register} := FADD({self._cell(address)}, 1) modulo {modulus}")
        self._step(f"read {register} {address}")
        return self._step(f"write & + {register} 1 {modulus - 1} {address}")._step("unlock")

    def exchange(self, address: Term, value: Term, to: str | None = None) -> Thread:
        """An atomic store, with nothing left in the buffer."""
        self._step("lock", None, f"XCHG({self._cell(address)}, {value})")
        return self._step(f"write {value} {address}")._step("unlock", to)

    def fence(self) -> Thread:
        """Under TSO, a fence is needed after the last step."""
        self.transitions[-1].fence_after = True
        return self

    def text(self, fenced: bool) -> str:
        ends = {t.target or "end" for t in self.transitions} - {t.source for t in self.transitions}
        assert ends <= _ENDS, f"{self.name} goes to {ends - _ENDS}, where there is nothing"
        copies = f" {self.copies}" if self.copies > 1 else ""
        head = [f"thread {self.name}{copies}", f"    initial {self.transitions[0].source}"]
        return "\n".join([*head, *(line for t in self.transitions for line in t.lines(fenced)), "end"])

    def _step(self, instruction: str, to: str | None = None, comment: str = "") -> Thread:
        self._add(self._place(), to, instruction, comment)
        return self

    def _add(self, source: str, target: str | None, instruction: str, comment: str = "") -> None:
        transition = Transition(source, target, instruction, comment)
        self.transitions.append(transition)
        self._here = None
        if target is None:
            self._arriving.append(transition)

    def _place(self) -> str:
        """Where the thread is, which gets a number if it has no name."""
        if self._here is None:
            if self.transitions:
                self._unnamed[self._last_name] += 1
                self._arrive(f"{self._last_name}_{self._unnamed[self._last_name]}")
            else:
                self._arrive(self._last_name)
        assert self._here is not None
        return self._here

    def _arrive(self, place: str) -> None:
        for transition in self._arriving:
            transition.target = place
        self._arriving = []
        self._here = place

    def _cell(self, address: Term) -> str:
        return self.cells[address] if isinstance(address, int) else f"[{address}]"


def _negated(condition: str) -> str:
    operator, _, rest = condition.partition(" ")
    return f"{_NEGATION[operator]} {rest}" if operator in _NEGATION else f"! {condition}"


@dataclass
class Program:
    cells: list[str] = field(default_factory=list)
    """The names of the addresses."""
    threads: list[Thread] = field(default_factory=list)

    def cell(self, name: str) -> int:
        self.cells.append(name)
        return len(self.cells) - 1

    def array(self, name: str, size: int) -> range:
        first = len(self.cells)
        self.cells += [f"{name}{index}" for index in range(size)]
        return range(first, first + size)

    def thread(self, name: str, copies: int = 1) -> Thread:
        self.threads.append(Thread(name, copies, self.cells))
        return self.threads[-1]

    def fences(self) -> int:
        """How many fences it needs under TSO."""
        return sum(t.fence_after for thread in self.threads for t in thread.transitions)

    def text(self, fenced: bool = False) -> str:
        size = f"memory_size {len(self.cells)}"
        return "\n\n".join([size, *(thread.text(fenced) for thread in self.threads)]) + "\n"
