"""From a text to its tree: the grammar of one language, its keywords, and how deeply a text may be nested.

The tables of a grammar stand beside it, in a file that the build writes: importing lark takes longer than
reading a program. Where that file is missing, or was made of another grammar, lark makes the tables in
memory. `lalr.py` parses by them. What to say about a text without a tree is left to each language
(`failure.py`).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

import msgspec

from fencepost.errors import InputError
from fencepost.formats.text.lalr import Parser, Rule, Tables, UnexpectedError, Words
from fencepost.formats.text.source import Source
from fencepost.formats.text.tree import Token, Tree, position


class WordError(Exception):
    """A word that cannot stand where it does, and why."""

    def __init__(self, message: str, word: Token) -> None:
        super().__init__(message)
        self.at = position(word)


class Grammar:
    """The grammar `name.lark` beside the module `file`; tokens pass through `words` before the parser."""

    def __init__(self, file: str, name: str, words: Words = iter) -> None:
        self._path = os.path.join(os.path.dirname(file), name)
        self._words = words

    def parse(
        self, source: Source, failed: Callable[[UnexpectedError], InputError], text: str | None = None
    ) -> Tree:
        """The tree of the source, or of `text`, which is the source with parts of it blanked out."""
        try:
            return self.tree(source.text if text is None else text)
        except UnexpectedError as error:
            mistake = failed(error)
        except WordError as error:
            mistake = source.error(str(error), error.at)
        raise mistake

    def tree(self, text: str) -> Tree:
        """The tree of the text; raises `UnexpectedError` or `WordError`."""
        return self._parser.parse(text)

    @cached_property
    def _parser(self) -> Parser:
        with open(f"{self._path}.lark", encoding="utf-8") as file:
            grammar = file.read()
        tables = _built_tables(f"{self._path}.tables.json", grammar) or _new_tables(grammar)
        return Parser(tables, self._words)


def nested(kind_of: Callable[[Token, int], str], *, blocks: int = 0, parentheses: int) -> Words:
    """What stands between lexer and parser in a language with braces and parentheses.

    `kind_of` tells the type of a name that stands in so many blocks. Nesting has a limit because walks over
    the tree recurse.
    """

    def words(stream: Iterator[Token]) -> Iterator[Token]:
        open_blocks = open_parentheses = 0
        for token in stream:
            match token.type:
                case "NAME":
                    token.type = kind_of(token, open_blocks)
                case "LBRACE":
                    open_blocks += 1
                    if open_blocks > blocks:
                        raise _too_deep("blocks", blocks, token)
                case "RBRACE":
                    open_blocks -= 1
                case "LPAR" | "LSQB":
                    open_parentheses += 1
                    if open_parentheses > parentheses:
                        raise _too_deep("parentheses", parentheses, token)
                case "RPAR" | "RSQB":
                    open_parentheses -= 1
            yield token

    return words


def _too_deep(what: str, most: int, token: Token) -> WordError:
    return WordError(f"{what} may be nested {most} deep; this one is deeper", token)


def _built_tables(file: str, grammar: str) -> Tables | None:
    """The tables in the file, if they are those of the grammar."""
    try:
        with open(file, "rb") as stream:
            built = msgspec.json.decode(stream.read())
        return _as_tables(built["tables"]) if built["grammar"] == grammar else None
    except (OSError, ValueError, TypeError, KeyError):
        return None


def _new_tables(grammar: str) -> Tables:
    from fencepost.formats.text.make_tables import made_tables

    return _as_tables(made_tables(grammar))


def _as_tables(made: dict[str, Any]) -> Tables:
    # By hand: msgspec imports much in order to decode by type.
    rules = [Rule(origin, name, size, tuple(map(tuple, kept))) for origin, name, size, kept in made["rules"]]
    ignored = frozenset(made["ignored"])
    return Tables(made["tokens"], ignored, made["states"], made["start"], made["end"], rules)
