"""Which language a document is in, and what the server knows of that language."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple
from urllib.parse import unquote

from fencepost.formats.registry import Reading, load_as
from fencepost.lsp.calls import LITMUS_CALLS, TPL_CALLS, TPL_METHODS, Call, Signature
from fencepost.lsp.symbols import LitmusSymbols, Symbols
from fencepost.program import Program


class Language(NamedTuple):
    """A language: its name, the names in a text of it, and the calls and the accesses after a dot."""

    name: str
    symbols: Callable[[str], Symbols]
    calls: Mapping[str, Signature]
    methods: Mapping[str, Signature]

    def read(self, text: str, file: str) -> Program:
        """The program; raises `InputError`."""
        return load_as(file, Reading(self.name), text)

    def signature(self, call: Call) -> Signature | None:
        return (self.methods if call.after_dot else self.calls).get(call.name.text)


TPL = Language("tpl", Symbols, TPL_CALLS, TPL_METHODS)
LITMUS = Language("litmus", LitmusSymbols, LITMUS_CALLS, {})


def language_of(uri: str) -> Language:
    return LITMUS if uri.endswith(".litmus") else TPL


def file_of(uri: str) -> str:
    """The name of the file, for messages."""
    return unquote(uri.rpartition("/")[2])
