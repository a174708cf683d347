"""A lark parser for a grammar file, built once per user.

Building lark's tables takes longer than reading a program does, so they are kept in the user's cache
directory, under a name that changes with the grammar, with lark and with Python. Whatever is wrong there, the
parser is built anew.
"""

from __future__ import annotations

import hashlib
import marshal
import os
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lark import Lark


def parser_for(grammar_file: str, between_lexer_and_parser: Any) -> Lark:
    """The LALR parser of the grammar in that file; tokens pass through the given `postlex` object."""
    import lark

    with open(grammar_file, encoding="utf-8") as file:
        grammar = file.read()
    name = os.path.splitext(os.path.basename(grammar_file))[0]
    tables = _table_file(name, f"{grammar}\0{lark.__version__}\0{sys.version}")
    kept = _load(tables, between_lexer_and_parser)
    if kept is not None:
        return kept
    # Words get their type after the lexer, so it needs no context; a contextual one would compile a regular
    # expression per parser state at each start.
    parser = lark.Lark(
        grammar, parser="lalr", lexer="basic", propagate_positions=True, postlex=between_lexer_and_parser
    )
    _save(parser, tables)
    return parser


def _table_file(name: str, key: str) -> str | None:
    """Where the tables for `key` are kept, None if this user has no place for them."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    if not os.path.isabs(base):
        return None
    return os.path.join(base, "holdfast", f"{name}-{hashlib.sha256(key.encode()).hexdigest()[:20]}.tables")


def _load(tables: str | None, between_lexer_and_parser: Any) -> Lark | None:
    from lark import Lark

    if tables is None:
        return None
    try:
        with open(tables, "rb") as file:
            content = file.read()
        if hashlib.sha256(content[32:]).digest() != content[:32]:
            return None
        data, memo = marshal.loads(content[32:])
        parser: Lark = Lark._load_from_dict(data, memo, postlex=between_lexer_and_parser)  # type: ignore[no-untyped-call]
    except Exception:
        return None
    return parser


def _save(parser: Lark, tables: str | None) -> None:
    """Keep the tables for the next start if that is possible."""
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
