"""The parser for a grammar file, whose tables lark makes once per user.

Importing lark and making tables takes longer than reading a program does, so they are kept in the user's
cache directory, under a name that changes with the grammar and with Python. Whatever is wrong there, they are
made anew. `lalr.py` says what the tables mean.
"""

from __future__ import annotations

import marshal
import os
import sys
import zlib
from typing import Any

from msgspec.structs import astuple

from fencepost.formats.text.lalr import Parser, Rule, Tables, Words

_LAYOUT = 1  # grows when tables mean something else


def parser_for(grammar_file: str, words: Words = iter) -> Parser:
    """The LALR parser of the grammar in that file; tokens pass through `words`."""
    with open(grammar_file, "rb") as file:
        grammar = file.read()
    kept = _table_file(os.path.splitext(os.path.basename(grammar_file))[0], grammar)
    tables = _load(kept, grammar)
    if tables is None:
        tables = _made(grammar.decode())
        _save(tables, kept, grammar)
    return Parser(tables, words)


def _made(grammar: str) -> Tables:
    """What lark makes of a grammar. None of ours has `?rule`, `[…]`, or strings that are names as well."""
    from lark import Lark
    from lark.parsers.lalr_analysis import Shift

    # Words get their type after the lexer, so it needs no context.
    lark: Any = Lark(grammar, parser="lalr", lexer="basic")
    lexer, table = lark.parser.lexer, lark.parser.parser._parse_table
    assert lexer.scanner is not None
    assert not lexer.callback
    number = {rule: -1 - index for index, rule in enumerate(lark.rules)}
    return Tables(
        tokens="|".join(f"(?P<{term.name}>{term.pattern.to_regexp()})" for term in lexer.terminals),
        ignored=frozenset(lexer.ignore_types),
        states=[
            {str(symbol): goal if action is Shift else number[goal] for symbol, (action, goal) in row.items()}
            for _, row in sorted(table.states.items())
        ],
        rules=[_rule(rule) for rule in lark.rules],
        start=table.start_states["start"],
        end=table.end_states["start"],
    )


def _rule(rule: Any) -> Rule:
    assert not rule.options.expand1
    assert not rule.options.empty_indices
    kept = (
        (place, not symbol.is_term and symbol.name.startswith("_"))
        for place, symbol in enumerate(rule.expansion)
        if not (symbol.is_term and symbol.filter_out)
    )
    return Rule(str(rule.origin.name), str(rule.alias or rule.origin.name), len(rule.expansion), tuple(kept))


def _table_file(name: str, grammar: bytes) -> str | None:
    """Where the tables of the grammar are kept, None if this user has no place for them."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    if not os.path.isabs(base):
        return None
    file = f"{name}-{zlib.crc32(grammar):08x}.{_LAYOUT}-{sys.implementation.cache_tag}.tables"
    return os.path.join(base, "fencepost", file)


def _load(file: str | None, grammar: bytes) -> Tables | None:
    if file is None:
        return None
    try:
        with open(file, "rb") as stream:
            content = stream.read()
        if zlib.crc32(content[4:]) != int.from_bytes(content[:4], "big"):
            return None
        made_of, (tokens, ignored, states, start, end), rules = marshal.loads(content[4:])
    except (OSError, ValueError, EOFError, TypeError):
        return None
    if made_of != grammar:
        return None
    return Tables(tokens, ignored, states, start, end, [Rule(*rule) for rule in rules])


def _save(tables: Tables, file: str | None, grammar: bytes) -> None:
    """Keep the tables for the next start if that is possible."""
    if file is None:
        return
    content = marshal.dumps((grammar, astuple(tables)[:-1], [astuple(rule) for rule in tables.rules]))
    try:
        os.makedirs(os.path.dirname(file), mode=0o700, exist_ok=True)
        fresh = f"{file}.{os.getpid()}"
        with open(fresh, "wb") as stream:
            stream.write(zlib.crc32(content).to_bytes(4, "big") + content)
        os.replace(fresh, file)
    except OSError:
        return
