"""A changed program as text: the user's own text with a few statements changed, if at all possible.

The text of a program that was read from TPL is edited in place. Reading the result must give the changed
program exactly. Where it does not, or where there is no such text, both the program and the changed program
are written out anew.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from holdfast.errors import InputError
from holdfast.formats import tpl
from holdfast.formats.tpl_edits import Edit, edited
from holdfast.program import Position, Program

__all__ = ["ChangedText", "Edit", "changed_text"]


class ChangedText(NamedTuple):
    """The text before and after; `in_place` if the former is the user's own."""

    before: str
    after: str
    in_place: bool


def changed_text(program: Program, changed: Program, edits: Mapping[Position, Edit]) -> ChangedText:
    """The text of `program` and that of `changed`, which is `program` with the edits made."""
    if program.source is not None:
        try:
            text = edited(program.source, program.file, edits)
            if tpl.read(text, program.file) == changed:
                return ChangedText(program.source, text, in_place=True)
        except InputError:  # another language than TPL
            pass
    return ChangedText(tpl.write(_without_condition(program)), tpl.write(_without_condition(changed)), False)


def _without_condition(program: Program) -> Program:
    """TPL has no final conditions; what a program does is not decided by them."""
    return replace(program, condition=None)
