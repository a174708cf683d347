"""A changed program as text: the user's own text with a few statements changed, if at all possible.

The text of a program that was read from TPL, automata or a Persist program is edited in place. Reading the
result must give the changed program exactly; of automata and Persist programs all but the names of states is
compared, since edits need new ones. Where it does not, both the program and the changed program are written
anew in the language of the text, or in TPL if that cannot say it or if there is no such text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import NamedTuple

from msgspec.structs import replace

from fencepost.errors import InputError
from fencepost.formats import automata, persist, tpl
from fencepost.formats.automata import edits as automata_edits
from fencepost.formats.persist import edits as persist_edits
from fencepost.formats.tpl import edits as tpl_edits
from fencepost.formats.tpl.edits import Edit
from fencepost.formats.transitions.unbounded import forgets_modes
from fencepost.program import Position, Program

__all__ = ["ChangedText", "Edit", "changed_text"]


class ChangedText(NamedTuple):
    """The text before and after; `in_place` if the former is the user's own."""

    before: str
    after: str
    in_place: bool


def changed_text(program: Program, changed: Program, edits: Mapping[Position, Edit]) -> ChangedText:
    """The text of `program` and that of `changed`, which is `program` with the edits made."""
    source = program.source
    language = None if source is None else _language_of(program, source)
    if source is not None and language is not None:
        wanted = language.compared(changed)
        with suppress(InputError):
            for text in language.edited(source, program.file, edits):
                if language.compared(language.read(text, program.file)) == wanted:
                    return ChangedText(source, text, in_place=True)
        if language is not _TPL and not forgets_modes(changed):
            with suppress(InputError):
                return ChangedText(language.write(program), language.write(changed), in_place=False)
    before, after = (tpl.write(replace(p, condition=None)) for p in (program, changed))  # TPL has none
    return ChangedText(before, after, in_place=False)


class _Language(NamedTuple):
    """How to read, write and edit a language, and what of two programs in it is compared."""

    read: Callable[[str, str], Program]
    write: Callable[[Program], str]
    edited: Callable[[str, str, Mapping[Position, Edit]], Iterable[str]]
    compared: Callable[[Program], Program]


def _without_labels(program: Program) -> Program:
    return replace(program, threads=tuple(replace(thread, labels={}) for thread in program.threads))


_TPL = _Language(tpl.read, tpl.write, lambda *text: [tpl_edits.edited(*text)], lambda program: program)
_LANGUAGES = (
    _TPL,
    _Language(automata.read, automata.write, automata_edits.edited, _without_labels),
    _Language(persist.read, persist.write, persist_edits.edited, _without_labels),
)


def _language_of(program: Program, source: str) -> _Language | None:
    """The language in which `source` is the text of the program."""
    for language in _LANGUAGES:
        with suppress(InputError):
            if language.read(source, program.file) == program:
                return language
    return None
