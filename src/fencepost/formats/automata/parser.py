"""Is this text a list of automata, and which word belongs to which transition?

`parse` turns a text into a tree by the grammar in `automata.lark`, and words what is wrong with a text
that has no tree. The language has keywords only where no name is expected: a state may be called `end`. What
the words of a transition mean is left to `words.py`, the rest to `reader.py`. How it
is parsed is left to `lalr.py` and `formats/text/tables.py`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cache

from fencepost.errors import InputError
from fencepost.formats.text.lalr import END, Parser, UnexpectedError
from fencepost.formats.text.source import Source, quoted, suggestion
from fencepost.formats.text.tables import parser_for
from fencepost.formats.text.tree import Token, Tree
from fencepost.formats.tpl.parser import position

KEYWORDS = {
    "memory_size": "_MEMORY_SIZE",
    "thread": "_THREAD",
    "initial": "_INITIAL",
    "transition": "_TRANSITION",
    "end": "_END",
}
_AFTER = {"memory_size": ["SIZE"], "thread": ["NAME"], "initial": ["NAME"], "transition": ["NAME", "NAME"]}

_GRAMMAR = os.path.join(os.path.dirname(__file__), "automata.lark")


def parse(source: Source) -> Tree:
    """The tree of a program; raises `InputError`."""
    try:
        return _parser().parse(source.text)
    except UnexpectedError as error:
        mistake = _syntax_error(source, error)
    raise mistake


def _words(stream: Iterator[Token]) -> Iterator[Token]:
    """Between lexer and parser: what a word is, by the words before it."""
    expected: list[str] = []
    for token in stream:
        if expected:
            token.type = expected.pop()
        else:
            token.type = KEYWORDS.get(token, "WORD")
            expected = list(_AFTER.get(token, ()))
        yield token


@cache
def _parser() -> Parser:
    return parser_for(_GRAMMAR, _words)


def _syntax_error(source: Source, error: UnexpectedError) -> InputError:
    token, accepts, at = error.token, error.accepts, position(error.token)
    expected = _expected(accepts)
    if token.type == END:
        return source.error(f"expected {expected}, but the file ends here", at)
    if token in ("thread", "memory_size") and "_END" in accepts:
        return source.error(f"expected `end` before {quoted(token)}: the thread before it is not closed", at)
    if token.startswith("#"):
        return source.error(f"expected {expected}, found {quoted(token)}; a comment starts with `# `", at)
    meant = suggestion(token, (word for word, kind in KEYWORDS.items() if kind in accepts))
    return source.error(f"expected {expected}, found {quoted(token)}{meant}", at)


def _expected(accepts: frozenset[str]) -> str:
    if "NAME" in accepts:
        return "a name"
    if "SIZE" in accepts:
        return "a number of cells"
    if "_TRANSITION" in accepts:
        return "`initial`, `transition` or `end`"
    return "`thread` or `memory_size`" if "_THREAD" in accepts else "an instruction"
