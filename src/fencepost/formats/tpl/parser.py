"""Is this text TPL, and how is it nested?

`parse` turns a text into a lark tree by the grammar in `tpl.lark`. What to say of a text that has no tree is
left to `wording.py`, what names and numbers mean to `reader.py`, how it is
parsed to `lalr.py` and `formats/text/tables.py`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cache

from fencepost.formats.text.lalr import Parser, UnexpectedError
from fencepost.formats.text.source import Source
from fencepost.formats.text.tables import parser_for
from fencepost.formats.text.tree import Token, Tree
from fencepost.program import Position

KEYWORDS = {
    "max_value": "_MAX_VALUE",
    "global": "GLOBAL",
    "na": "NA",
    "track": "_TRACK",
    "fn": "_FN",
    "local": "_LOCAL",
    "if": "IF",
    "else": "_ELSE",
    "while": "_WHILE",
    "goto": "_GOTO",
    "oneof": "_ONEOF",
    "assert": "CHECK",
    "assume": "CHECK",
    "skip": "_SKIP",
    "fence": "_FENCE",
    **dict.fromkeys(("FADD", "exchange", "XCHG", "CAS", "BCAS", "wait", "lock", "unlock", "verify"), "CALL"),
    **dict.fromkeys(("rlx", "acq", "rel", "acq_rel", "seq_cst"), "MODE"),
}

# Whoever walks the tree recurses over blocks, so these keep it away from Python's recursion limit.
# Parentheses may nest deeper than blocks because `oneof(` opens one around its blocks.
MOST_NESTED_BLOCKS = 100
MOST_NESTED_PARENTHESES = 250

_GRAMMAR = os.path.join(os.path.dirname(__file__), "tpl.lark")


def parse(source: Source) -> Tree:
    """The tree of a program; raises `InputError`."""
    try:
        return _parser().parse(source.text)
    except UnexpectedError as error:
        from fencepost.formats.tpl.wording import syntax_error

        mistake = syntax_error(source, error)
    except _TooDeepError as error:
        mistake = source.error(str(error), error.at)
    raise mistake


def position(node: Token | Tree) -> Position:
    """Where the first token of `node` stands."""
    return Position(node.line, node.column)


def as_tree(node: Token | Tree) -> Tree:
    assert not isinstance(node, str)
    return node


def as_token(node: Token | Tree) -> Token:
    assert isinstance(node, str)
    return node


# --- the parser and its tables


class _TooDeepError(Exception):
    def __init__(self, what: str, most: int, token: Token) -> None:
        super().__init__(f"{what} may be nested {most} deep; this one is deeper")
        self.at = position(token)


def _words(stream: Iterator[Token]) -> Iterator[Token]:
    """Between lexer and parser: names that are keywords become keywords, and nesting has a limit."""
    blocks = parentheses = 0
    for token in stream:
        match token.type:
            case "NAME":
                token.type = KEYWORDS.get(token, "NAME")
            case "LBRACE":
                blocks += 1
                if blocks > MOST_NESTED_BLOCKS:
                    raise _TooDeepError("blocks", MOST_NESTED_BLOCKS, token)
            case "RBRACE":
                blocks -= 1
            case "LPAR" | "LSQB":
                parentheses += 1
                if parentheses > MOST_NESTED_PARENTHESES:
                    raise _TooDeepError("parentheses", MOST_NESTED_PARENTHESES, token)
            case "RPAR" | "RSQB":
                parentheses -= 1
        yield token


@cache
def _parser() -> Parser:
    return parser_for(_GRAMMAR, _words)
