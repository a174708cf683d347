"""The answers for many files in one table, and how many there are of each kind.

The findings themselves are left to `text.findings`. rich is imported only when a table is made, because
importing it takes longer than checking a small program.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from io import StringIO
from typing import TYPE_CHECKING

from fencepost.errors import InputError
from fencepost.memory_models import DATA_RACES, DEADLOCKS, WRITE_RACES
from fencepost.report.printable import columns, counted, printable
from fencepost.report.story import headline, kind, models_asked, mood
from fencepost.verdicts import Answer, RaceFree, Racy, Safe, SafetyWitness, Unsafe

if TYPE_CHECKING:
    from rich.table import Table

ERROR = "input error"
_NO_LIMIT = 100_000  # columns; what is too wide is folded here, not by rich
_INDENT = "  "
_ALL = slice(None)  # columns
_NONE, _NOT_SEARCHED = "–", "?"
_USUAL = ("race", "assertion")
_ABOUT_BAD_STATES = {  # by criterion
    "safe": ("bad state", "answered by"),
    DEADLOCKS: ("bad state", "answered by"),
    DATA_RACES: ("data race", "answered by"),
    WRITE_RACES: ("write/write race",),
}


def summary(
    answers: Sequence[tuple[str, Answer | InputError]], *, color: bool = False, width: int = 80
) -> str:
    """One row per file, and a last line that counts; what the errors are is said elsewhere.

    Where the names of the files leave too little room for the rest, they have lines of their own, and what
    still does not fit is left out from the right.
    """
    from rich.console import Console

    out = StringIO()
    console = Console(
        file=out,
        width=_NO_LIMIT,
        force_terminal=color,
        force_jupyter=False,
        color_system="standard" if color else None,
        no_color=not color,
        legacy_windows=False,
    )
    found = _found_columns([answer for _, answer in answers])
    lines: list[str] = []
    if answers:
        table = _table(answers)
        fits = console.measure(table).maximum <= width
        columns_left = len(found) + 4
        while not fits and columns_left > 1 and console.measure(table).maximum + len(_INDENT) > width:
            table = _table(answers, slice(1, columns_left))
            columns_left -= 1
        console.print(table)
        lines = [line.rstrip() for line in out.getvalue().splitlines()]
        if not fits:
            lines = list(_with_files(lines, [file for file, _ in answers], width))
    if any(_NOT_SEARCHED in _row(answer, found) for _, answer in answers):
        lines += ["", f"{_NOT_SEARCHED}: not searched exhaustively"]
    return "\n".join([*lines, counts([answer for _, answer in answers])]) + "\n"


def counts(answers: Sequence[Answer | InputError]) -> str:
    """How many answers there are of each kind: `3 files: 2 robust, 1 not robust; 1 with a data race`.

    Where a verdict comes with a finding, semicolons keep the kinds apart.
    """
    number = Counter(ERROR if isinstance(answer, InputError) else kind(answer) for answer in answers)
    files = counted(len(answers), "file")
    between = "; " if any("," in what for what in number) else ", "
    kinds = between.join(
        counted(count, what) if what == ERROR else f"{count} {what}" for what, count in number.items()
    )
    given = [answer for answer in answers if isinstance(answer, Answer)]
    found = [
        f"{count} with {words}"
        for words, count in (
            ("a data race", sum(answer.race is not None for answer in given)),
            ("a failing assertion", sum(answer.assertion is not None for answer in given)),
            ("a deadlock", sum(answer.deadlock is not None for answer in given)),
        )
        if count
    ]
    return "; ".join([f"{files}: {kinds}" if kinds else files, *found])


def _with_files(table: Sequence[str], files: Sequence[str], width: int) -> Iterator[str]:
    """The lines of a table, with the name of each file above its row; names are broken after slashes."""
    head, rule, *rows = table
    yield from ("file", _INDENT + head, rule[:1] * len(_INDENT) + rule)
    for file, row in zip(files, rows, strict=True):
        line = ""
        for part in re.findall("[^/]*/|[^/]+", printable(file)):
            if line and columns(line + part) > width:
                yield line
                line = ""
            line += part
        yield from (line, _INDENT + row)


def _table(answers: Sequence[tuple[str, Answer | InputError]], shown: slice = _ALL) -> Table:
    """The columns `shown`, none of them broken."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    padding = (0, 1, 0, 1 if shown.start is None else 0)
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=padding)
    found = _found_columns([answer for _, answer in answers])
    for name in ("file", "verdict", *found, "states", "seconds")[shown]:
        table.add_column(name, justify="right" if name in ("states", "seconds") else "left", no_wrap=True)
    for file, answer in answers:
        verdict, *others = _row(answer, found)
        cells = [(file, ""), (verdict, _style(answer)), *((cell, "") for cell in others)]
        # Text, not str: a file may be called `[red]`.
        table.add_row(*(Text(printable(cell), style) for cell, style in cells[shown]))
    return table


def _found_columns(answers: Sequence[Answer | InputError]) -> tuple[str, ...]:
    """What there is to say about what was found, beside the verdict."""
    given = [answer for answer in answers if isinstance(answer, Answer)]
    criteria = {answer.criterion for answer in given}
    columns = _ABOUT_BAD_STATES.get(criteria.pop(), _USUAL) if len(criteria) == 1 else _USUAL
    return ("unsafe under", *columns) if any(map(models_asked, given)) else columns


def _row(answer: Answer | InputError, found: Sequence[str]) -> tuple[str, ...]:
    if isinstance(answer, InputError):
        return ERROR, *("" for _ in found), "", ""
    searched = answer.rules_out or answer.criterion in _ABOUT_BAD_STATES
    unseen = _NONE if searched and answer.holds is not None else _NOT_SEARCHED
    cells = [_FOUND[column](answer) or unseen for column in found]
    return _verdict(answer), *cells, f"{answer.stats.states:,}", f"{answer.stats.seconds:.2f}"


def _race(answer: Answer) -> str:
    return "" if answer.race is None else answer.race.cell


def _assertion(answer: Answer) -> str:
    return "" if answer.assertion is None else _line(answer.assertion.line) or "fails"


def _bad_state(answer: Answer) -> str:
    if not isinstance(answer.witness, SafetyWitness) or answer.holds is None:
        if answer.race is not None and answer.holds is False:
            return f"data-race, {_line(answer.race.run.events[answer.race.second].line)}".removesuffix(", ")
        return _assertion(answer) or ("" if answer.deadlock is None else "deadlock")
    bad = answer.witness.bad
    line = _line(bad.places[0].line) if bad.places else ""
    return f"{bad.kind}, {line}" if line else bad.kind


def _unsafe_under(answer: Answer) -> str:
    """The models under which the program goes wrong, and with a question mark those of which that is open."""
    marks = {"unsafe": "", "unknown": _NOT_SEARCHED}
    asked = models_asked(answer)
    return ", ".join(f"{one.model}{marks[one.verdict]}" for one in asked if one.verdict in marks)


def _engine(answer: Answer) -> str:
    return answer.engine if isinstance(answer, Safe | Unsafe | RaceFree | Racy) else ""


def _data_race(answer: Answer) -> str:
    if answer.race is not None or not isinstance(answer.witness, SafetyWitness):
        return _race(answer)
    bad = answer.witness.bad
    return ", ".join(part for part in (bad.cell, _line(bad.places[0].line)) if part)


def _write_race(answer: Answer) -> str:
    if not isinstance(answer.witness, SafetyWitness):
        return ""
    write = answer.witness.events[answer.witness.bad.writes[-1]]
    return ", ".join(part for part in (write.cell, _line(write.line)) if part)


_FOUND: dict[str, Callable[[Answer], str]] = {
    "race": _race,
    "assertion": _assertion,
    "unsafe under": _unsafe_under,
    "bad state": _bad_state,
    "answered by": _engine,
    "data race": _data_race,
    "write/write race": _write_race,
}


def _line(number: int) -> str:
    return f"line {number}" if number else ""


def _verdict(answer: Answer | InputError) -> str:
    return ERROR if isinstance(answer, InputError) else headline(answer)


def _style(answer: Answer | InputError) -> str:
    if isinstance(answer, InputError):
        return "red"
    return {"good": "green", "bad": "red", "warn": "yellow", "open": "yellow"}[mood(answer)]
