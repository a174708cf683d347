"""Is this text TPL, and how is it nested?

`parse` turns a text into a lark tree by the grammar in `tpl.lark`. What to say of a text that has no tree is
left to `tpl_wording.py`, what names and numbers mean to `tpl_reader.py`. Importing lark and building its
tables takes longer than reading a program does, so both wait until a text is parsed, and the tables are kept
in the user's cache directory under a name that changes with the grammar, with lark and with Python.
"""

from __future__ import annotations

import marshal
import os
import sys
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING

from holdfast.formats.diagnose import Source
from holdfast.program import Position

if TYPE_CHECKING:
    from lark import Lark, Token, Tree

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


def parse(source: Source) -> Tree[Token]:
    """The tree of a program; raises `InputError`."""
    from lark.exceptions import UnexpectedInput

    try:
        return _parser().parse(source.text)
    except UnexpectedInput as error:
        from holdfast.formats.tpl_wording import syntax_error

        mistake = syntax_error(source, error)
    except _TooDeepError as error:
        mistake = source.error(str(error), error.at)
    raise mistake


def position(node: Token | Tree[Token]) -> Position:
    """Where the first token of `node` stands."""
    place = node if isinstance(node, str) else node.meta
    return Position(place.line or 1, place.column or 1)


def as_tree(node: Token | Tree[Token]) -> Tree[Token]:
    assert not isinstance(node, str)
    return node


def as_token(node: Token | Tree[Token]) -> Token:
    assert isinstance(node, str)
    return node


# --- the parser and its tables


class _TooDeepError(Exception):
    def __init__(self, what: str, most: int, token: Token) -> None:
        super().__init__(f"{what} may be nested {most} deep; this one is deeper")
        self.at = position(token)


class _Keywords:
    """Between lexer and parser: names that are keywords become keywords, and nesting has a limit."""

    always_accept = ("NAME",)

    def process(self, stream: Iterator[Token]) -> Iterator[Token]:
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
def _parser() -> Lark:
    import lark

    with open(_GRAMMAR, encoding="utf-8") as file:
        grammar = file.read()
    tables = _table_file(f"{grammar}\0{lark.__version__}\0{sys.version}")
    return _load(tables) or _build(grammar, tables)


def _build(grammar: str, tables: str | None) -> Lark:
    from lark import Lark

    # A keyword is the same token everywhere (see `_Keywords`), so the lexer needs no context; a contextual
    # one would compile a regular expression per parser state at each start.
    parser = Lark(grammar, parser="lalr", lexer="basic", propagate_positions=True, postlex=_Keywords())
    _save(parser, tables)
    return parser


def _table_file(key: str) -> str | None:
    """Where the tables for `key` are kept, None if this user has no place for them."""
    import hashlib

    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    if not os.path.isabs(base):
        return None
    return os.path.join(base, "holdfast", f"tpl-{hashlib.sha256(key.encode()).hexdigest()[:20]}.tables")


def _load(tables: str | None) -> Lark | None:
    """The parser with the kept tables; None, for whatever reason, if there are none that can be used."""
    import hashlib

    from lark import Lark

    if tables is None:
        return None
    try:
        with open(tables, "rb") as file:
            content = file.read()
        if hashlib.sha256(content[32:]).digest() != content[:32]:
            return None
        data, memo = marshal.loads(content[32:])
        parser: Lark = Lark._load_from_dict(data, memo, postlex=_Keywords())  # type: ignore[no-untyped-call]
    except Exception:
        return None
    return parser


def _save(parser: Lark, tables: str | None) -> None:
    """Keep the tables for the next start if that is possible."""
    import hashlib

    from lark.grammar import Rule
    from lark.lexer import TerminalDef

    if tables is None:
        return
    try:
        data, memo = parser.memo_serialize([TerminalDef, Rule])
        data["options"] = {**data["options"], "postlex": None}
        content = marshal.dumps((data, memo))
        os.makedirs(os.path.dirname(tables), mode=0o700, exist_ok=True)
        fresh = f"{tables}.{os.getpid()}"
        with open(fresh, "wb") as file:
            file.write(hashlib.sha256(content).digest() + content)
        os.replace(fresh, tables)
    except (OSError, ValueError):
        return
