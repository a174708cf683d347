"""A changed program as text: the user's own text with a few statements changed, if at all possible.

A text is edited in place if its language has a module `edits`. Reading the result must give the changed
program exactly; where labels are states, whose names edits make up, all but the labels. Where it does not,
both the program and the changed program are written anew in the language of the text, or in TPL if that
cannot say it or if there is no such text.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import NamedTuple

from msgspec.structs import replace

from fencepost.errors import InputError
from fencepost.formats.registry import Format, editor_of, format_of, reader_of, write
from fencepost.formats.text.edits import Edit
from fencepost.formats.transitions.writing import forgets_modes
from fencepost.program import Position, Program

__all__ = ["ChangedText", "Edit", "changed_text"]


class ChangedText(NamedTuple):
    """The text before and after; `in_place` if the former is the user's own."""

    before: str
    after: str
    in_place: bool


def changed_text(program: Program, changed: Program, edits: Mapping[Position, Edit]) -> ChangedText:
    """The text of `program` and that of `changed`, which is `program` with the edits made."""
    language, source = format_of(program), program.source or ""
    if language is not None and language.edits and _is_text_of(program, source, language):
        wanted = _compared(changed, language)
        with suppress(InputError):
            for text in editor_of(language)(source, program.file, edits):
                if _compared(reader_of(language)(text, program.file), language) == wanted:
                    return ChangedText(source, text, in_place=True)
        if language.name != "tpl" and not forgets_modes(changed):
            with suppress(InputError):
                before, after = (write(p, language.name) for p in (program, changed))
                return ChangedText(before, after, in_place=False)
    before, after = (write(replace(p, condition=None)) for p in (program, changed))  # TPL has none
    return ChangedText(before, after, in_place=False)


def _is_text_of(program: Program, source: str, language: Format) -> bool:
    """Whether the program is still the one that was read from the text."""
    with suppress(InputError):
        return reader_of(language)(source, program.file) == program
    return False


def _compared(program: Program, language: Format) -> Program:
    """What of the program must be as it should."""
    if not language.labels_are_states:
        return program
    return replace(program, threads=tuple(replace(thread, labels={}) for thread in program.threads))
