"""What there is to say about a text: mistakes in it, and what a search has found in the program."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from fencepost.errors import InputError
from fencepost.lsp.languages import TPL, Language
from fencepost.report.findings import findings
from fencepost.verdicts import Answer

_MEANT = re.compile(r"did you mean `([^`]+)`\?")
_WORD = re.compile(r"\w+|\S")


class Place(NamedTuple):
    """From a line and column up to a later column of that line, all counted from 1."""

    line: int
    column: int
    end: int


class Problem(NamedTuple):
    """Something to underline; `related` says what else in the text it is about."""

    place: Place
    severity: Literal["error", "warning"]
    code: str
    message: str
    related: tuple[tuple[Place, str], ...] = ()


def mistakes(lines: list[str], language: Language = TPL) -> list[Problem]:
    """The first mistake in the text, if it is no program; else what its reader noticed."""
    try:
        program = language.read("\n".join(lines), "<text>")
    except InputError as error:
        return [
            Problem(word_at(lines, max(error.line, 1), max(error.column, 1)), "error", "input", error.message)
        ]
    return [Problem(word_at(lines, 1, 1), "warning", "input", warning) for warning in program.warnings]


def found(lines: list[str], answer: Answer) -> list[Problem]:
    """The findings of an answer about the text."""
    problems = []
    for one in findings(answer):
        related = tuple((word_at(lines, event.line, event.column), words) for event, words in one.related)
        place = _statement_at(lines, one.line, one.column)
        said = " ".join([one.message, *one.advice])
        problems.append(Problem(place, "warning", one.rule, said, related))
    return problems


def meant(message: str) -> str | None:
    """What a message about a mistake says was probably meant."""
    found_word = _MEANT.search(message)
    return None if found_word is None else found_word[1]


def word_at(lines: list[str], line: int, column: int) -> Place:
    """The word or sign that stands there; at the end of a line, its last character."""
    text = lines[line - 1] if 0 < line <= len(lines) else ""
    found_word = _WORD.match(text, column - 1)
    if found_word is not None:
        return Place(line, column, found_word.end() + 1)
    last = min(column, max(len(text), 1))
    return Place(line, last, last + 1)


def _statement_at(lines: list[str], line: int, column: int) -> Place:
    """From there to the next semicolon in the line."""
    start = word_at(lines, line, column)
    text = lines[line - 1] if 0 < line <= len(lines) else ""
    end = text.find(";", column - 1)
    return start if end < 0 else Place(line, column, end + 1)
