"""From automata, whatever language they were written in, to a `Program`, and what the user should know of it.

The languages have unbounded integers. The program follows values as far as they can go, which is found by
`ranges.py`, or, where no bound is known, up to `DEFAULT_MAX_VALUE` with a warning.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fencepost.formats.text.source import Source, quoted
from fencepost.formats.transitions.automaton import Automaton, registers_assigned, registers_read
from fencepost.formats.transitions.flat_code import flat_code
from fencepost.formats.transitions.sections import without_sections
from fencepost.formats.transitions.value_ranges import ValueRanges
from fencepost.program import (
    DEFAULT_MAX_VALUE,
    Location,
    Position,
    Program,
    Thread,
    constants_in,
)

# Where, and what.
Notice = tuple[Position, str]


def program_of(
    automata: Sequence[Automaton],
    ranges: ValueRanges,
    locations: tuple[Location, ...],
    source: Source,
    *,
    format: str,
    warnings: Sequence[Notice] = (),
) -> Program:
    """The program whose threads are `automata`; raises `InputError`."""
    growths = list(_growths(ranges))
    noticed = [*warnings, *growths]
    for automaton in automata:
        noticed += [*_never_assigned(automaton), *_never_reached(automaton)]
    noticed.sort(key=lambda notice: (notice[0].line, notice[0].column))
    threads = tuple(_threads(automata, ranges, source))
    # A section taken apart by values can name one that is never stored.
    largest = max([ranges.largest(), *(value for thread in threads for value in constants_in(thread.code))])
    return Program(
        locations,
        threads,
        max(largest, DEFAULT_MAX_VALUE if growths else 1),
        wraps=False,
        warnings=tuple(f"line {at.line}: {message}" for at, message in noticed),
        file=source.file,
        source=source.text,
        format=format,
    )


def _threads(automata: Sequence[Automaton], ranges: ValueRanges, source: Source) -> Iterator[Thread]:
    for number, automaton in enumerate(automata):
        code, labels = flat_code(without_sections(automaton, number, ranges, source))
        registers = dict.fromkeys(
            name for step in code for name in (*registers_assigned(step), *registers_read(step))
        )
        for tid in range(automaton.copies or 1):
            yield Thread(
                automaton.name, code, tuple(registers), labels, tid, automaton.copies, at=automaton.at
            )


def _growths(ranges: ValueRanges) -> Iterator[Notice]:
    known = set()
    for thread, register, at in ranges.growths():
        what = "memory" if register is None else f"register {quoted(register)} of {quoted(thread)}"
        if what not in known:
            known.add(what)
            limit = f"values are followed up to {DEFAULT_MAX_VALUE}"
            yield at, f"no bound was found for the values of {what}; {limit}"


def _never_assigned(automaton: Automaton) -> Iterator[Notice]:
    known = {name for _, _, step in automaton.transitions for name in registers_assigned(step)}
    for _, _, step in automaton.transitions:
        for register in registers_read(step):
            if register not in known:
                known.add(register)
                message = (
                    f"register {quoted(register)} of {quoted(automaton.name)} is never assigned; it is 0"
                )
                yield step.at, message


def _never_reached(automaton: Automaton) -> Iterator[Notice]:
    """The first transition that leaves a state to which no transition leads."""
    reached = automaton.reached()
    for state, _, step in automaton.transitions:
        if state not in reached:
            yield step.at, f"no way leads to the state {quoted(str(state))} of {quoted(automaton.name)}"
            return
