"""What must not happen in a program, as its file or the command line says it.

In a file, in whole-line comments; `//`, or `#` in languages where that starts one:

    // mutex: cs                      two different threads at one of these labels
    // error-label: broken            a thread at this label
    // bad: p0@cs && p1.r == 2        no state with this formula
    // assert: x == 1 && p1.r == 2    every final state has this formula

On the command line as the options --mutex, --error-label, --bad and --assert. --deadlocks is an option alone.
`fencepost.program.properties` says what they mean.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from fencepost.formats import formula
from fencepost.formats.formula import Place, read_final_formula, read_formula
from fencepost.program import Program
from fencepost.program.conditions import And, Formula, Or
from fencepost.program.properties import Property

_STATED = re.compile(r"\s*(?://|#)\s*(mutex|error-label|bad|assert)\s*:\s*(.*)")


def stated_property(program: Program) -> Property:
    """What the program's own file states."""
    mutex: list[str] = []
    errors: list[str] = []
    bad: list[Formula] = []
    asserted: list[Formula] = []
    for number, line in enumerate((program.source or "").split("\n"), start=1):
        match = _STATED.fullmatch(line.rstrip())
        if match is None:
            continue
        place = Place(program.file, number, match.start(2) + 1, line)
        if match[1] == "bad":
            bad.append(read_formula(program, match[2], place))
        elif match[1] == "assert":
            asserted.append(read_final_formula(program, match[2], place))
        else:
            (mutex if match[1] == "mutex" else errors).extend(_labels(program, match[2], place))
    return Property(tuple(mutex), tuple(errors), _any_of(bad), _all_of(asserted))


def given_property(
    program: Program,
    mutex: Sequence[str] = (),
    error_labels: Sequence[str] = (),
    bad: Sequence[str] = (),
    *,
    asserted: Sequence[str] = (),
    ignore_races: bool = False,
    deadlocks: bool = False,
) -> Property:
    """What the options say; each of them can be there several times."""

    def place(option: str, text: str) -> Place:
        return Place(f"--{option}", 1, 1, text)

    return Property(
        tuple(label for text in mutex for label in _labels(program, text, place("mutex", text))),
        tuple(label for text in error_labels for label in _labels(program, text, place("error-label", text))),
        _any_of([read_formula(program, text, place("bad", text)) for text in bad]),
        _all_of([read_final_formula(program, text, place("assert", text)) for text in asserted]),
        ignore_races,
        deadlocks,
    )


def both(one: Property, other: Property) -> Property:
    """What either of them forbids. Their mutual exclusion is one: no two threads at labels of both lists."""
    return Property(
        (*one.mutex, *other.mutex),
        (*one.error_labels, *other.error_labels),
        _any_of([part for part in (one.bad, other.bad) if part is not None]),
        _all_of([part for part in (one.at_end, other.at_end) if part is not None]),
        one.ignore_races or other.ignore_races,
        one.deadlocks or other.deadlocks,
    )


def spelled(wanted: Property) -> str:
    """The property as comments in a file state it."""
    lines = []
    if wanted.mutex:
        lines.append(f"mutex: {','.join(wanted.mutex)}")
    lines += [f"error-label: {label}" for label in wanted.error_labels]
    if wanted.bad is not None:
        lines.append(f"bad: {formula.spelled(wanted.bad)}")
    if wanted.at_end is not None:
        lines.append(f"assert: {formula.spelled(wanted.at_end)}")
    if wanted.ignore_races:
        lines.append("ignore-races")
    return "; ".join(lines)


def _any_of(parts: Sequence[Formula]) -> Formula | None:
    if not parts:
        return None
    return parts[0] if len(parts) == 1 else Or(tuple(parts))


def _all_of(parts: Sequence[Formula]) -> Formula | None:
    if not parts:
        return None
    return parts[0] if len(parts) == 1 else And(tuple(parts))


def _labels(program: Program, text: str, place: Place) -> list[str]:
    known = sorted({label for thread in program.threads for label in thread.labels})
    labels: list[str] = []
    offset = 0
    for part in text.split(","):
        label = part.strip()
        if label not in known:
            names = ", ".join(known) or "none"
            message = f"`{label}` is not a label of the program; its labels are: {names}"
            raise place.error(message, offset + len(part) - len(part.lstrip()))
        labels.append(label)
        offset += len(part) + 1
    return labels
