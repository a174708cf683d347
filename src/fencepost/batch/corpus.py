"""A corpus of programs: ask every question, measure, and compare with what the files' headers expect."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from fencepost.batch.jobs import Job, Outcome, Question, Where, run_jobs
from fencepost.engine.search import Limits
from fencepost.errors import InputError
from fencepost.formats import BY_ENDING, load_as
from fencepost.formats.headers import expectations
from fencepost.memory_models import (
    EXIT_HOLDS,
    EXIT_UNDECIDED,
    EXIT_VIOLATED,
    EXIT_WRONG_INPUT,
    MODELS,
    OBSERVATIONAL,
    models_for,
)
from fencepost.report.story import brief
from fencepost.verdicts import Answer
from fencepost.verdicts import Question as QuestionName

if TYPE_CHECKING:
    from fencepost.batch.jobs import Display


def _about_all_models(*names: QuestionName) -> tuple[Question, ...]:
    return tuple(Question.of(name, model) for name in names for model in models_for(name))


# Asked about every program; and those asked only where the header of the file answers them.
QUESTIONS = _about_all_models("robust", "persist")
QUESTIONS_OF_HEADERS = (
    *_about_all_models("verify", "races"),
    *(
        Question("robust", model, OBSERVATIONAL)
        for model in models_for("robust")
        if OBSERVATIONAL in MODELS[model].criteria["robust"]
    ),
)

_NO_LIMIT = 100_000
_WIDTH_OF_FILES = 160  # of the table when it does not go to a terminal


@dataclass(frozen=True, slots=True)
class Row:
    """One program and question: what was found, and what its header says of it.

    Both have an entry for the criterion, for "race", for "assertion", and for "egr", which is what Rocker
    calls robust; None means undecided.
    """

    file: str
    question: Question
    found: dict[str, bool | None]
    expected: dict[str, bool]
    outcome: Outcome

    @property
    def holds(self) -> bool | None:
        """Whether the program has the property asked for."""
        return self.found[self.question.criterion]

    @property
    def is_stated(self) -> bool:
        return self.question.criterion in self.expected or "egr" in self.expected

    @property
    def is_undecided(self) -> bool:
        """Whether what the header says could be neither confirmed nor refuted."""
        stated = {self.question.criterion, "egr"} & self.expected.keys()
        return any(self.found[asked] is None for asked in stated)

    @property
    def differences(self) -> list[str]:
        return [question for question, wanted in self.expected.items() if self.found[question] is not wanted]


def measure(files: Sequence[str], limits: Limits, where: Where, display: Display | None) -> list[Row]:
    """Ask every question about every file; about safety only what its header answers."""
    headers = [_expectations(file) for file in files]
    asked = [
        (file, question, header)
        for file, header in zip(files, headers, strict=True)
        for question in (*_questions_about(file), *QUESTIONS_OF_HEADERS)
        if question in QUESTIONS or _key(question) in header
    ]
    outcomes = run_jobs([Job(file, question, limits) for file, question, _ in asked], where, display)
    return [
        _row(file, question, header, outcome)
        for (file, question, header), outcome in zip(asked, outcomes, strict=True)
    ]


def _questions_about(file: str) -> tuple[Question, ...]:
    """All of them, but a program with seq_cst accesses is for models that have them."""
    try:
        has_sc_accesses = load_as(file, BY_ENDING).sc_access is not None
    except InputError:
        return QUESTIONS  # the answer will say what is wrong
    return tuple(q for q in QUESTIONS if not has_sc_accesses or MODELS[q.model_name].sc_accesses)


def _expectations(file: str) -> dict[tuple[str, str], bool]:
    try:
        with open(file, encoding="utf-8") as stream:
            return expectations(stream.read(), file)
    except (OSError, UnicodeDecodeError):
        return {}  # loading the program will say what is wrong


def _key(question: Question) -> tuple[str, str]:
    """What headers call the question."""
    return (OBSERVATIONAL if question.criterion == OBSERVATIONAL else question.name), question.model_name


def _row(file: str, question: Question, header: dict[tuple[str, str], bool], outcome: Outcome) -> Row:
    if question in QUESTIONS_OF_HEADERS:
        found = _found(question, outcome.answer)
        holds = found[question.criterion]
        if question.criterion == OBSERVATIONAL:
            holds = _both(holds, found["race"])
        expected = {question.criterion: header[_key(question)]}
        return Row(file, question, {question.criterion: holds}, expected, outcome)
    # Assertions are checked under sequential consistency, whatever the model.
    models = {question.criterion: question.model_name, "race": question.model_name, "assertion": "sc"}
    if question.criterion == "robust":
        models["egr"] = question.model_name
    expected = {asked: header[asked, model] for asked, model in models.items() if (asked, model) in header}
    found = _found(question, outcome.answer)
    found["egr"] = _both(found[question.criterion], found["race"])
    return Row(file, question, found, expected, outcome)


def _both(robust: bool | None, race: bool | None) -> bool | None:
    """Robustness as Rocker has it: a program with a data race is not robust."""
    if robust is False or race:
        return False
    return None if robust is None or race is None else True


def _found(question: Question, answer: Answer | None) -> dict[str, bool | None]:
    """Whether the program has the property asked for, and what else was found; None if undecided."""
    if answer is None:
        return {question.criterion: None, "race": None, "assertion": None}

    def finding(value: object) -> bool | None:
        # A search that ended at a violation has not looked everywhere: nothing found is no answer.
        return True if value is not None else (False if answer.rules_out else None)

    return {
        question.criterion: answer.holds,
        "race": finding(answer.race),
        "assertion": finding(answer.assertion),
    }


def exit_code(rows: Sequence[Row], *, check_expected: bool) -> int:
    if any(row.outcome.error for row in rows):
        return EXIT_WRONG_INPUT
    if check_expected and any(_is_wrong(row, q) for row in rows for q in row.differences):
        return EXIT_VIOLATED
    return EXIT_UNDECIDED if any(row.holds is None for row in rows) else EXIT_HOLDS


def _is_wrong(row: Row, question: str) -> bool:
    return row.found[question] is not None


def as_json(rows: Sequence[Row]) -> bytes:
    """The measurements, without witnesses."""
    entries = []
    for row in rows:
        answer = row.outcome.answer
        if answer is None:
            continue
        seconds = answer.stats.seconds
        entries.append(
            {
                "file": row.file,
                "question": row.question.name,
                "model": row.question.model_name,
                "criterion": row.question.criterion,
                "verdict": answer.verdict,
                "expected": row.expected,
                "states": answer.stats.states,
                "transitions": answer.stats.transitions,
                "seconds": seconds,
                "states_per_second": round(answer.stats.states / seconds) if seconds > 0 else None,
                "peak_memory_mb": answer.stats.peak_memory_mb,
            }
        )
    return msgspec.json.format(msgspec.json.encode(entries)) + b"\n"


def print_table(rows: Sequence[Row], *, check_expected: bool) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, header_style="bold")
    for name in ("program", "question", "model", "verdict"):
        table.add_column(name)
    if check_expected:
        table.add_column("as expected")
    for name in ("states", "transitions", "states/s", "MB", "seconds"):
        table.add_column(name, justify="right")
    for row in rows:
        cells: list[str | Text] = [Text(row.file), *_key(row.question), _verdict(row)]
        if check_expected:
            cells.append(_comparison(row))
        table.add_row(*cells, *_numbers(row))
    console = Console() if sys.stdout.isatty() else Console(width=_WIDTH_OF_FILES)
    # Rather lines that the terminal breaks than names that we break.
    console.width = max(console.width, Console(width=_NO_LIMIT).measure(table).maximum)
    console.print(table)
    console.print(_conclusion(rows, check_expected=check_expected), highlight=False)


def _verdict(row: Row) -> str:
    if row.outcome.answer is None:
        return "[red]error[/]"
    return brief(row.outcome.answer)


def _comparison(row: Row) -> str:
    wrong = [question for question in row.differences if _is_wrong(row, question)]
    if wrong:
        return f"[bold red]NO: {', '.join(wrong)}[/]"
    if not row.is_stated:
        return "[dim]nothing stated[/]"
    return "[yellow]undecided[/]" if row.is_undecided else "[green]yes[/]"


def _numbers(row: Row) -> list[str]:
    if row.outcome.answer is None:
        return ["", "", "", "", ""]
    s = row.outcome.answer.stats
    rate = f"{s.states / s.seconds:,.0f}" if s.seconds > 0 else ""
    return [f"{s.states:,}", f"{s.transitions:,}", rate, f"{s.peak_memory_mb:,.1f}", f"{s.seconds:.3f}"]


def _conclusion(rows: Sequence[Row], *, check_expected: bool) -> str:
    lines = list(dict.fromkeys(str(row.outcome.error) for row in rows if row.outcome.error))
    if check_expected:
        stated = [row for row in rows if row.is_stated]
        wrong = sum(any(_is_wrong(row, q) for q in row.differences) for row in stated)
        undecided = sum(row.is_undecided for row in stated)
        lines.append(
            f"{len(rows)} answers, {len(stated)} with a stated verdict: "
            f"{len(stated) - wrong - undecided} as expected, {wrong} different, {undecided} undecided"
        )
    else:
        lines.append(f"{len(rows)} answers")
    return "\n".join(lines)
