"""TPL, our main input language: its reader, its writer, and the spelling of single instructions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fencepost.formats.tpl.reader import read
from fencepost.program.spelling import format_expression, format_instruction

if TYPE_CHECKING:
    from fencepost.program import Program

__all__ = ["format_expression", "format_instruction", "read", "write"]


def write(program: Program) -> str:
    """The program as TPL text."""
    from fencepost.formats.tpl import writer as tpl_writer

    return tpl_writer.write(program)
