"""Parsing a text by LALR tables, which lark makes (`make_tables.py`).

Texts are parsed as lark would parse them: rules whose names begin with `_` are parts of the rules around
them, and terminals without a name, or with a name that begins with `_`, do not become children.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from fencepost.formats.text.tree import Token, Tree

END = "$END"  # the type of the token after the last one, at whose end it stands
STRANGE = "$STRANGE"  # of a character with which no token begins


class Rule(msgspec.Struct, frozen=True):
    """It makes the symbol `origin` of `size` others, and a tree called `name`. The symbols at the places in
    `kept` become its children; an inlined symbol leaves its own children in its place."""

    origin: str
    name: str
    size: int
    kept: tuple[tuple[int, bool], ...]


class Tables(msgspec.Struct, frozen=True):
    """A regular expression with a group per terminal, the terminals that mean nothing, and for each state
    what to do with a symbol: go to that state, or use rule number `-1 - number` if the number is negative."""

    tokens: str
    ignored: frozenset[str]
    states: list[dict[str, int]]
    start: int
    end: int
    rules: list[Rule]


class UnexpectedError(Exception):
    """The parser stopped at `token`, where it would have taken any of the terminals `accepts`."""

    def __init__(self, token: Token, accepts: frozenset[str]) -> None:
        super().__init__(token)
        self.token = token
        self.accepts = accepts


# Between lexer and parser: may give tokens another type.
Words = Callable[[Iterator[Token]], Iterator[Token]]


class Parser:
    def __init__(self, tables: Tables, words: Words = iter) -> None:
        self._tables = tables
        self._match = re.compile(tables.tokens).match
        self._words = words

    def parse(self, text: str) -> Tree:
        """The tree of the text; raises `UnexpectedError`."""
        run = _Run(self._tables)
        last = Token("", END, 0, 1, 1)
        for last in self._words(self._tokens(text)):
            run.feed(last)
        run.feed(Token("", END, len(text), last.line, last.end_column))
        tree = run.values[-1]
        assert isinstance(tree, Tree)
        return tree

    def _tokens(self, text: str) -> Iterator[Token]:
        match, ignored = self._match, self._tables.ignored
        position = line_start = 0
        line = 1
        while position < len(text):
            found = match(text, position)
            kind = STRANGE if found is None else found.lastgroup or ""
            word = text[position] if found is None else found[0]
            if kind not in ignored:
                yield Token(word, kind, position, line, position - line_start + 1)
            elif "\n" in word:
                line += word.count("\n")
                line_start = position + word.rindex("\n") + 1
            position += len(word)


class _Run:
    """One pass over a text: the stack of the parser, as columns, and the last token on it.

    A value is a token, a tree, or for a rule that is inlined the list of its children.
    """

    def __init__(self, tables: Tables) -> None:
        self._tables = tables
        self._states = [tables.start]
        self.values: list[Any] = []
        self._firsts: list[Token | None] = []  # of the tokens that each value covers
        self._last: Token | None = None

    def feed(self, token: Token) -> None:
        kind, states, tables = token.type, self._states, self._tables.states
        while True:
            number = tables[states[-1]].get(kind)
            if number is None:
                raise UnexpectedError(token, self._accepts())
            if number >= 0:
                states.append(number)
                self.values.append(token)
                self._firsts.append(token)
                self._last = token
                return
            rule = self._tables.rules[-1 - number]
            self._reduce(rule)
            states.append(tables[states[-1]][rule.origin])
            if kind == END and states[-1] == self._tables.end:
                return

    def _reduce(self, rule: Rule) -> None:
        """Replaces the symbols on top of the stack by what the rule makes of them."""
        size, first = rule.size, None
        children: list[Any] = []
        if size:
            parts = self.values[-size:]
            first = next(filter(None, self._firsts[-size:]), None)
            del self._states[-size:], self.values[-size:], self._firsts[-size:]
            for place, inlined in rule.kept:
                if not inlined:
                    children.append(parts[place])
                elif children:
                    children += parts[place]
                else:  # a list that grows by one at a time is not copied each time
                    children = parts[place]
        last = None if first is None else self._last
        self.values.append(children if rule.origin[0] == "_" else Tree(rule.name, children, first, last))
        self._firsts.append(first)

    def _accepts(self) -> frozenset[str]:
        """The terminals that could come next: a state may have one that some state below it refuses."""
        symbols = self._tables.states[self._states[-1]]
        return frozenset(symbol for symbol in symbols if symbol.isupper() and self._takes(symbol))

    def _takes(self, terminal: str) -> bool:
        states = list(self._states)
        while True:
            number = self._tables.states[states[-1]].get(terminal)
            if number is None or number >= 0:
                return number is not None
            rule = self._tables.rules[-1 - number]
            del states[len(states) - rule.size :]
            states.append(self._tables.states[states[-1]][rule.origin])
            if terminal == END and states[-1] == self._tables.end:
                return True
