"""What must not happen in a program, as its file or the command line says it.

In a file, in whole-line comments; `//`, or `#` in languages where that starts one:

    // mutex: cs                      two different threads at one of these labels
    // error-label: broken            a thread at this label
    // bad: p0@cs && p1.r == 2        a formula

On the command line as the options --mutex, --error-label and --bad. `holdfast.program.properties` says what
they mean.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

from holdfast.errors import InputError
from holdfast.program import Program
from holdfast.program.conditions import And, Formula, Not, Or, RegisterIs, StandsAt, atoms, standings
from holdfast.program.properties import Property

if TYPE_CHECKING:
    from lark import Lark, Token, Tree

_STATED = re.compile(r"\s*(?://|#)\s*(mutex|error-label|bad)\s*:(.*)")
_GRAMMAR = os.path.join(os.path.dirname(__file__), "formula.lark")
_FORM = "a formula such as `p0@cs && p1.r == 2`"


def stated_property(program: Program) -> Property:
    """What the program's own file states."""
    mutex: list[str] = []
    errors: list[str] = []
    bad: list[Formula] = []
    for number, line in enumerate((program.source or "").split("\n"), start=1):
        match = _STATED.fullmatch(line.rstrip())
        if match is None:
            continue
        place = InputError("", program.file, number, match.start(2) + 1, line)
        if match[1] == "bad":
            bad.append(_formula(program, match[2], place))
        else:
            (mutex if match[1] == "mutex" else errors).extend(_labels(program, match[2], place))
    return Property(tuple(mutex), tuple(errors), _any_of(bad))


def given_property(
    program: Program, mutex: Sequence[str], error_labels: Sequence[str], bad: Sequence[str]
) -> Property:
    """What the options say; each of them can be there several times."""

    def place(option: str, text: str) -> InputError:
        return InputError("", f"--{option}", 1, 1, text)

    return Property(
        tuple(label for text in mutex for label in _labels(program, text, place("mutex", text))),
        tuple(label for text in error_labels for label in _labels(program, text, place("error-label", text))),
        _any_of([_formula(program, text, place("bad", text)) for text in bad]),
    )


def both(one: Property, other: Property) -> Property:
    """What either of them forbids. Their mutual exclusion is one: no two threads at labels of both lists."""
    parts = [part for part in (one.bad, other.bad) if part is not None]
    return Property((*one.mutex, *other.mutex), (*one.error_labels, *other.error_labels), _any_of(parts))


def spelled(wanted: Property) -> str:
    """The property as comments in a file state it."""
    lines = []
    if wanted.mutex:
        lines.append(f"mutex: {','.join(wanted.mutex)}")
    lines += [f"error-label: {label}" for label in wanted.error_labels]
    if wanted.bad is not None:
        lines.append(f"bad: {_spelled(wanted.bad)}")
    return "; ".join(lines)


def _spelled(formula: Formula) -> str:
    match formula:
        case StandsAt(thread, label):
            return f"{thread}@{label}"
        case RegisterIs(thread, register, value, comparison):
            return f"{thread}.{register} {comparison} {value}"
        case Not(part):
            return f"!({_spelled(part)})"
        case And(parts) | Or(parts):
            return (" && " if isinstance(formula, And) else " || ").join(f"({_spelled(p)})" for p in parts)
        case _:
            raise AssertionError(f"not in a formula about threads: {formula}")


def _any_of(parts: Sequence[Formula]) -> Formula | None:
    if not parts:
        return None
    return parts[0] if len(parts) == 1 else Or(tuple(parts))


def _labels(program: Program, text: str, place: InputError) -> list[str]:
    known = sorted({label for thread in program.threads for label in thread.labels})
    labels = [label.strip() for label in text.split(",")]
    for label in labels:
        if label not in known:
            names = ", ".join(known) if known else "none"
            raise _at(place, f"`{label}` is not a label of the program; its labels are: {names}")
    return labels


def _at(place: InputError, message: str, offset: int = 0) -> InputError:
    return InputError(message, place.file, place.line, place.column + offset, place.source_line)


def _formula(program: Program, text: str, place: InputError) -> Formula:
    from lark.exceptions import UnexpectedInput

    try:
        tree = _parser().parse(text)
    except UnexpectedInput as error:
        offset = max(error.column - 1, 0) if isinstance(error.column, int) and error.column > 0 else len(text)
        raise _at(place, f"expected {_FORM}", offset) from None
    except RecursionError:
        raise _at(place, "the formula is nested too deeply") from None
    formula = _built(tree.children[0])
    for part in (*atoms(formula), *standings(formula)):
        _check(program, part, place)
    return formula


@cache
def _parser() -> Lark:
    from lark import Lark

    with open(_GRAMMAR, encoding="utf-8") as file:
        return Lark(file.read(), parser="lalr")


def _built(tree: Tree[Token] | Token) -> Formula:
    assert not isinstance(tree, str)
    parts = tree.children
    match tree.data:
        case "either":
            return Or(tuple(_built(part) for part in parts))
        case "both":
            return And(tuple(_built(part) for part in parts))
        case "opposite":
            return Not(_built(parts[0]))
        case "stands":
            return StandsAt(str(parts[0]), str(parts[1]))
        case _:
            thread, register, comparison, value = (str(part) for part in parts)
            return RegisterIs(thread, register, int(value), "!=" if comparison == "!=" else "==")


def _check(program: Program, atom: object, place: InputError) -> None:
    assert isinstance(atom, StandsAt | RegisterIs)
    thread = next((thread for thread in program.threads if thread.name == atom.thread), None)
    if thread is None:
        names = ", ".join(thread.name for thread in program.threads)
        raise _at(place, f"`{atom.thread}` is not a thread; the threads are: {names}")
    if isinstance(atom, StandsAt) and atom.label not in thread.labels:
        names = ", ".join(thread.labels) or "none"
        raise _at(place, f"`{atom.label}` is not a label of {thread.name}; its labels are: {names}")
    if isinstance(atom, RegisterIs) and atom.register not in thread.registers:
        names = ", ".join(thread.registers) or "none"
        raise _at(place, f"`{atom.register}` is not a local of {thread.name}; its locals are: {names}")
