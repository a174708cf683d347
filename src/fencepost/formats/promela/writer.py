"""From a `Program` to Promela, the language of Spin: the program under sequential consistency.

Each thread is a process, and each step of it (an access and the local instructions up to the next one) is one
transition, so that Spin stores the states that fencepost stores. Cells of memory, and registers as far as
they are kept from one step to the next, are numbers of as few bits as their values need. A cell whose content
matters to no step is not kept.

With the monitor for release/acquire, `assert(robust)` fails in a state from which a thread can leave
sequential consistency (rocker-2019, Theorem 5.3), and `assert(race_free)` in one in which two threads can
access the same non-atomic cell, one of them writing (Definition 6.1). The final condition of a litmus test is
left out.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator

from fencepost.formats.promela.monitor import STALE, RaMonitor, Variable
from fencepost.formats.promela.names import is_name
from fencepost.formats.promela.process import SAVED, Process
from fencepost.formats.promela.steps import ThreadSteps
from fencepost.formats.text.names import spellings
from fencepost.program import Constant, Position, Program, Register, evaluate
from fencepost.static.possible_values import PossibleValues, Values

_MOST_BITS = 31

_HEAD = """\
/* Written by fencepost from {}: sequential consistency{}.
   spin -a FILE; gcc -O2 -DSAFETY -DNOREDUCE -o pan pan.c; ./pan -m1000000 */
"""

# Variables that are not in the state; those that are not listed are numbers.
_HIDDEN = {
    "robust": "hidden byte robust;     /* stays 0: asserted where a thread can leave SC */",
    "race_free": "hidden byte race_free;  /* stays 0: asserted where two accesses race */",
}
_HIDDEN_NUMBERS = re.compile(rf"{STALE}|{SAVED}_[0-9]+")


def write(program: Program, monitor: str | None = None) -> str:
    """The program in Promela, with the monitor for "ra" if asked; raises `InputError` if it cannot."""
    if not program.wraps:
        message = "the values of this program have no bound, which cannot be written in Promela"
        raise program.mistake(message, program.threads[0].at)
    if monitor is not None and program.sc_access is not None:
        message = "seq_cst accesses cannot be written with the monitor: it is for release/acquire"
        raise program.mistake(message, program.sc_access.at)
    return "\n".join(_Writer(program, monitored=monitor is not None).lines()) + "\n"


class _Writer:
    def __init__(self, program: Program, *, monitored: bool) -> None:
        self._program = program
        self._possible = PossibleValues(program)
        steps = [ThreadSteps(program, thread, fences=monitored) for thread in program.threads]
        cells = _spelled([*program.cells, "(fence)"], ())
        threads = _spelled((thread.name for thread in program.threads), cells)
        self._monitor = RaMonitor(program, steps, threads, cells) if monitored else None
        asked = set[int]().union(*(thread.cells_asked() for thread in steps))
        if self._monitor:
            asked |= self._monitor.cells_asked()
        self._cells = {x: cells[x] for x in sorted(asked)}
        taken = [*cells, *threads]
        self._processes = [
            Process(
                t,
                thread,
                steps[t],
                threads[t],
                spellings(steps[t].registers(), is_name, taken),
                self._cells,
            )
            for t, thread in enumerate(program.threads)
        ]

    def lines(self) -> Iterator[str]:
        processes = [line for process in self._processes for line in self._process(process)]
        words = set(re.findall(r"\w+", "\n".join(processes)))
        name = os.path.basename(self._program.file).replace("*/", "")
        yield _HEAD.format(name, ", with the monitor for release/acquire" if self._monitor else "")
        yield from (declared for word, declared in _HIDDEN.items() if word in words)
        yield from (f"hidden int {word};" for word in sorted(filter(_HIDDEN_NUMBERS.fullmatch, words)))
        yield from map(_declared, self._memory())
        yield from map(_declared, self._monitor.variables() if self._monitor else ())
        yield from processes

    def _memory(self) -> Iterator[Variable]:
        locations = [location for location in self._program.locations for _ in location.initial]
        for x, name in self._cells.items():
            bits = self._bits(self._possible.of_location(locations[x].name), locations[x].at)
            yield Variable(name, bits, self._program.initial_memory[x])

    def _process(self, process: Process) -> Iterator[str]:
        thread, start = process.thread, process.start
        initial = dict(start.registers) if start else {}
        yield ""
        yield f"active proctype {process.name}() {{"
        for name, spelling in process.registers.items():
            bits = self._bits(self._possible.of_expression(thread, Register(name)), thread.at)
            value = evaluate(initial.get(name, Constant(0)), {})
            yield "    " + _declared(Variable(spelling, bits, value))
        yield from process.statements(self._monitor, self._processes[: process.t])
        yield "}"

    def _bits(self, values: Values, at: Position) -> int:
        most = self._program.max_value if values is None else max(values)
        if most.bit_length() > _MOST_BITS:
            message = f"values up to {most} cannot be written in Promela; lower max_value"
            raise self._program.mistake(message, at)
        return max(most.bit_length(), 1)


def _spelled(names: Iterable[str], taken: Iterable[str]) -> list[str]:
    return list(spellings(names, is_name, taken).values())


def _declared(variable: Variable) -> str:
    start = f" = {variable.initial}" if variable.initial else ""
    return f"unsigned {variable.name} : {variable.bits}{start};"
