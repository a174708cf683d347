"""Is this text a list of automata, and which word belongs to which transition?

`parse` turns a text into a tree by the grammar in `automata.lark`, and says what is wrong with a text without
a tree. The language has keywords only where no name is expected: a state may be called `end`. What the words
of a transition mean is left to `words.py`, the rest to `reader.py`.
"""

from __future__ import annotations

from collections.abc import Iterator

from fencepost.errors import InputError
from fencepost.formats.text.failure import Failure
from fencepost.formats.text.grammar import Grammar
from fencepost.formats.text.source import Source, quoted, suggestion
from fencepost.formats.text.tree import Token, Tree

KEYWORDS = {
    "memory_size": "_MEMORY_SIZE",
    "thread": "_THREAD",
    "initial": "_INITIAL",
    "transition": "_TRANSITION",
    "end": "_END",
}
_AFTER = {"memory_size": ["SIZE"], "thread": ["NAME"], "initial": ["NAME"], "transition": ["NAME", "NAME"]}


def parse(source: Source) -> Tree:
    """The tree of a program; raises `InputError`."""
    return _GRAMMAR.parse(source, lambda error: _Failure(source, error).error())


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


_GRAMMAR = Grammar(__file__, "automata", _words)


class _Failure(Failure):
    has_brackets = False

    def at_token(self) -> InputError:
        token, found = self.token, quoted(self.token)
        if token in ("thread", "memory_size") and "_END" in self.accepts:
            return self.mistake(f"expected `end` before {found}: the thread before it is not closed")
        if token.startswith("#"):
            return self.mistake(f"expected {self.expected()}, found {found}; a comment starts with `# `")
        meant = suggestion(token, (word for word, kind in KEYWORDS.items() if kind in self.accepts))
        return self.mistake(f"expected {self.expected()}, found {found}{meant}")

    def expected(self) -> str:
        accepts = self.accepts
        if "NAME" in accepts:
            return "a name"
        if "SIZE" in accepts:
            return "a number of cells"
        if "_TRANSITION" in accepts:
            return "`initial`, `transition` or `end`"
        return "`thread` or `memory_size`" if "_THREAD" in accepts else "an instruction"
