"""TPL, our main input language: its reader, its writer, and the spelling of single instructions."""

from holdfast.formats.tpl_reader import read
from holdfast.formats.tpl_spelling import format_expression, format_instruction
from holdfast.formats.tpl_writer import write

__all__ = ["format_expression", "format_instruction", "read", "write"]
