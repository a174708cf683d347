"""Is this text a program as in Figure 8 of persist-2015, and how is it nested?

`parse` turns a text into a tree by the grammar in `persist.lark`, and words what is wrong with a text
that has no tree. What names and numbers mean is left to `reader.py`. How it is parsed
is left to `lalr.py` and `formats/text/tables.py`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cache

from fencepost.errors import InputError
from fencepost.formats.text.lalr import END, STRANGE, Parser, UnexpectedError
from fencepost.formats.text.source import Source, one_of, quoted, suggestion
from fencepost.formats.text.tables import parser_for
from fencepost.formats.text.tree import Token, Tree
from fencepost.formats.tpl.parser import MOST_NESTED_PARENTHESES, position

KEYWORDS = {
    "program": "_PROGRAM",
    "vars": "_VARS",
    "procs": "_PROCS",
    "process": "_PROCESS",
    "regs": "_REGS",
    "init": "_INIT",
    "begin": "_BEGIN",
    "end": "_END",
    "goto": "_GOTO",
    "fence": "_FENCE",
    "arw": "_ARW",
    "skip": "_SKIP",
    "assume": "_ASSUME",
}
_STATEMENTS = ("fence", "arw", "skip", "assume")
_SPELLED = {
    **{kind: f"`{word}`" for word, kind in KEYWORDS.items()},
    "NAME": "a name",
    "COLON": "`:`",
    "EQUAL": "`=`",
    "SEMICOLON": "`;`",
    "LPAR": "`(`",
    "COMMA": "`,`",
    "RPAR": "`)`",
}

_GRAMMAR = os.path.join(os.path.dirname(__file__), "persist.lark")


def parse(source: Source) -> Tree:
    """The tree of a program; raises `InputError`."""
    try:
        return _parser().parse(source.text)
    except UnexpectedError as error:
        mistake = _syntax_error(source, error)
    except _TooDeepError as error:
        mistake = source.error(str(error), error.at)
    raise mistake


class _TooDeepError(Exception):
    def __init__(self, token: Token) -> None:
        super().__init__(f"parentheses may be nested {MOST_NESTED_PARENTHESES} deep; this one is deeper")
        self.at = position(token)


def _words(stream: Iterator[Token]) -> Iterator[Token]:
    """Between lexer and parser: names that are keywords become keywords, and nesting has a limit."""
    depth = 0
    for token in stream:
        if token.type == "NAME":
            token.type = KEYWORDS.get(token, "NAME")
        depth += (token.type == "LPAR") - (token.type == "RPAR")
        if depth > MOST_NESTED_PARENTHESES:
            raise _TooDeepError(token)
        yield token


@cache
def _parser() -> Parser:
    return parser_for(_GRAMMAR, _words)


def _syntax_error(source: Source, error: UnexpectedError) -> InputError:
    token, accepts, at = error.token, error.accepts, position(error.token)
    expected = _expected(accepts)
    if token.type == STRANGE:
        return source.error(f"unexpected character {quoted(token)}; expected {expected}", at)
    if token.type == END:
        return source.error(f"expected {expected}, but the file ends here", at)
    if accepts == {"NAME"} and token in KEYWORDS:
        return source.error(f"{quoted(token)} is a keyword and cannot be a name", at)
    meant = suggestion(token, (word for word, kind in KEYWORDS.items() if kind in accepts))
    return source.error(f"expected {expected}, found {quoted(token)}{meant}", at)


def _expected(accepts: frozenset[str]) -> str:
    if "NOT" in accepts:
        return "an expression"
    if "_SKIP" in accepts:
        return f"an assignment, {one_of(quoted(word) for word in _STATEMENTS)}"
    if "NAME" in accepts and "_END" in accepts:
        return "a label or `end`"
    if "$END" in accepts:
        return "`process`"
    return one_of(
        word
        for kind, word in _SPELLED.items()
        if kind in accepts and not (kind == "COMMA" and "NAME" in accepts)
    )
