"""Where the names in a TPL text are declared, also in a text that is being typed and is no program yet.

Only words and brackets are looked at: `global` and `na` declare locations, `local` declares locals, `fn`
opens a function, a name before a colon is a label of its function. What a mistake is, the reader says.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from fencepost.formats.tpl.parser import KEYWORDS

Kind = Literal["location", "non-atomic location", "local", "label", "thread"]

_TOKEN = re.compile(r"//[^\n]*|(?P<word>[A-Za-z_]\w*)|(?P<sign>[^\s\w])|\n|\w+")
_DECLARES: dict[str, Kind] = {"global": "location", "na": "non-atomic location", "local": "local"}


class Word(NamedTuple):
    """A name, a keyword or a sign, and where it stands, both counted from 1."""

    text: str
    line: int
    column: int
    function: int  # how many functions begin before it


class Symbol(NamedTuple):
    """A name and where it is declared; locals and labels belong to a function."""

    kind: Kind
    word: Word

    @property
    def is_shared(self) -> bool:
        return self.kind not in ("local", "label")


class Symbols:
    """The words of a text and the declarations among them."""

    def __init__(self, text: str) -> None:
        self._words = list(_words(text))
        self.declared = list(_declarations(self._words))

    def word_at(self, line: int, column: int) -> Word | None:
        """The name or keyword that stands there, or ends there."""
        for word in self._words:
            end = word.column + len(word.text)
            if word.line == line and word.column <= column <= end and _is_name(word.text):
                return word
        return None

    def definition(self, word: Word) -> Symbol | None:
        """What the word refers to: a label after `goto`, else a local, else what all threads share."""
        here = [symbol for symbol in self.declared if symbol.word.text == word.text]
        own = [symbol for symbol in here if not symbol.is_shared and symbol.word.function == word.function]
        labels = [symbol for symbol in own if symbol.kind == "label"]
        at = self._words.index(word)
        names_label = (at > 0 and self._words[at - 1].text == "goto") or any(
            label.word == word for label in labels
        )
        if names_label:
            return next(iter(labels), None)
        others = [symbol for symbol in own if symbol.kind == "local"]
        return next(iter([*others, *(symbol for symbol in here if symbol.is_shared)]), None)

    def functions(self) -> list[Word]:
        """The names of the threads."""
        return [symbol.word for symbol in self.declared if symbol.kind == "thread"]


def _words(text: str) -> Iterator[Word]:
    line, line_start, functions = 1, 0, 0
    for token in _TOKEN.finditer(text):
        if token[0] == "\n":
            line, line_start = line + 1, token.end()
        elif token["word"] or token["sign"]:
            functions += token[0] == "fn"
            yield Word(token[0], line, token.start() - line_start + 1, functions)


def _declarations(words: Sequence[Word]) -> Iterator[Symbol]:
    declares: Kind | None = None
    depth = 0  # of brackets in a declaration
    for at, word in enumerate(words):
        before = words[at - 1].text if at else ""
        after = words[at + 1].text if at + 1 < len(words) else ""
        if word.text in _DECLARES:
            declares, depth = _DECLARES[word.text], 0
        elif word.text == ";":
            declares = None
        elif word.text in "[{" and declares:
            depth += 1
        elif word.text in "]}" and declares:
            depth -= 1
        elif not _is_name(word.text) or word.text in KEYWORDS:
            continue
        elif declares and depth == 0 and (before == "," or before in _DECLARES):
            yield Symbol(declares, word)
        elif before == "fn":
            yield Symbol("thread", word)
        elif after == ":" and before != "track" and word.function:
            yield Symbol("label", word)


def _is_name(text: str) -> bool:
    return text[0].isalpha() or text[0] == "_"
