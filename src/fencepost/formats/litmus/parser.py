"""Is this text a C litmus test, and how is it nested?

`parse` turns a text without header and comments into a tree by the grammar in `litmus.lark`. What to say
of a text that has no tree is left to `wording.py`, what it means to `reader.py`. How it
is parsed is left to `lalr.py` and `formats/text/tables.py`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from functools import cache

from fencepost.formats.text.lalr import Parser, UnexpectedError
from fencepost.formats.text.source import Source
from fencepost.formats.text.tables import parser_for
from fencepost.formats.text.tree import Token, Tree
from fencepost.program import Position

KEYWORDS = {
    "if": "IF",
    "else": "_ELSE",
    "while": "_WHILE",
    "do": "_DO",
    "for": "_FOR",
    "break": "JUMP",
    "continue": "JUMP",
    "_Atomic": "ATOMIC",
}
# Words of the final clauses; inside braces they are names like any other.
FINAL_WORDS = {
    "exists": "EXISTS",
    "forall": "FORALL",
    "locations": "_LOCATIONS",
    "filter": "_FILTER",
    "true": "TRUTH",
    "false": "TRUTH",
    "not": "NOT_WORD",
}
_TYPE = re.compile(
    r"int|long|short|char|unsigned|signed|void|bool|_Bool|float|double|volatile|const|static|register|auto"
    r"|u?int(8|16|32|64|ptr|max)_t|s?size_t|ptrdiff_t"
    r"|atomic_(bool|s?char|uchar|u?short|u?int|u?long|u?llong|u?int(_least|_fast)?(8|16|32|64)_t"
    r"|u?intptr_t|u?intmax_t|size_t|ptrdiff_t)"
)
_UNSUPPORTED = re.compile(
    "return|goto|switch|case|default|struct|union|enum|typedef|sizeof|extern|inline|restrict"
)

# Whoever walks the tree recurses over statements and parentheses; this keeps it away from Python's limit.
MOST_NESTED_STATEMENTS = 60
MOST_NESTED_PARENTHESES = 120

_GRAMMAR = os.path.join(os.path.dirname(__file__), "litmus.lark")


def parse(source: Source, bare_text: str) -> Tree:
    """The tree of `bare_text`, which is `source` without header and comments; raises `InputError`."""
    try:
        return _parser().parse(bare_text)
    except UnexpectedError as error:
        from fencepost.formats.litmus.wording import syntax_error

        mistake = syntax_error(source, bare_text, error)
    except _WordError as error:
        mistake = source.error(str(error), error.at)
    raise mistake


def is_reserved(name: str) -> bool:
    """Whether C takes the word for itself."""
    return name in KEYWORDS or any(words.fullmatch(name) for words in (_TYPE, _UNSUPPORTED))


def position(node: Token | Tree) -> Position:
    """Where the first token of `node` stands."""
    return Position(node.line, node.column)


def as_tree(node: Token | Tree) -> Tree:
    assert not isinstance(node, str)
    return node


def as_token(node: Token | Tree) -> Token:
    assert isinstance(node, str)
    return node


def trees(node: Tree, kind: str) -> list[Tree]:
    """The children of `node` that are trees of that kind."""
    return [child for child in node.children if not isinstance(child, str) and child.data == kind]


def tokens(node: Tree, kind: str) -> list[Token]:
    """The children of `node` that are tokens of that kind."""
    return [child for child in node.children if isinstance(child, str) and child.type == kind]


# --- the parser


class _WordError(Exception):
    def __init__(self, message: str, token: Token) -> None:
        super().__init__(message)
        self.at = position(token)


def _words(stream: Iterator[Token]) -> Iterator[Token]:
    """Between lexer and parser: names that are keywords become keywords, and nesting has a limit."""
    braces = parentheses = 0
    for token in stream:
        match token.type:
            case "NAME":
                token.type = _type_of(token, in_braces=braces > 0)
            case "LBRACE":
                braces += 1
                _check_depth("blocks", braces, MOST_NESTED_STATEMENTS, token)
            case "RBRACE":
                braces -= 1
            case "LPAR" | "LSQB":
                parentheses += 1
                _check_depth("parentheses", parentheses, MOST_NESTED_PARENTHESES, token)
            case "RPAR" | "RSQB":
                parentheses -= 1
        yield token


def _type_of(word: Token, *, in_braces: bool) -> str:
    if _UNSUPPORTED.fullmatch(word):
        raise _WordError(f"`{word}` is not supported in C litmus tests", word)
    if _TYPE.fullmatch(word):
        return "TYPE"
    if not in_braces and word in FINAL_WORDS:
        return FINAL_WORDS[word]
    return KEYWORDS.get(word, "NAME")


def _check_depth(what: str, depth: int, most: int, token: Token) -> None:
    if depth > most:
        raise _WordError(f"{what} may be nested {most} deep; this one is deeper", token)


@cache
def _parser() -> Parser:
    return parser_for(_GRAMMAR, _words)
