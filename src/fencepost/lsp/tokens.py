"""What each word of a text is, for colours: an editor's own grammar cannot tell a location from a local."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from fencepost.formats.litmus.calls import ORDER
from fencepost.formats.tpl.parser import KEYWORDS
from fencepost.lsp.languages import LITMUS, Language
from fencepost.lsp.symbols import Symbols, Word, is_type

# The kinds, as the protocol calls them, and what can be added to one. An editor gets their numbers.
KINDS = (
    "keyword",
    "type",
    "function",
    "method",
    "enumMember",
    "property",
    "variable",
    "label",
    "number",
    "comment",
)
MODIFIERS = ("declaration", "nonAtomic")
_OF_SYMBOLS = {
    "location": "property",
    "non-atomic location": "property",
    "local": "variable",
    "label": "label",
    "thread": "function",
}


class ColouredWord(NamedTuple):
    """A word and its kind; a comment of several lines is one of them per line."""

    line: int
    column: int
    length: int
    kind: str
    modifiers: tuple[str, ...] = ()


def coloured(language: Language, symbols: Symbols) -> list[ColouredWord]:
    """The words in the order of the text."""
    return sorted([*_comments(symbols), *_words(language, symbols)])


def _comments(symbols: Symbols) -> Iterator[ColouredWord]:
    for comment in symbols.comments:
        for number, text in enumerate(comment.text.split("\n")):
            if text:
                yield ColouredWord(
                    comment.line + number, 1 if number else comment.column, len(text), "comment"
                )


def _words(language: Language, symbols: Symbols) -> Iterator[ColouredWord]:
    declared = {symbol.word for symbol in symbols.declared}
    before = ""
    for at, word in enumerate(symbols.words):
        following = symbols.words[at + 1].text if at + 1 < len(symbols.words) else ""
        kind, *modifiers = _kind(language, symbols, word, before, following)
        if kind:
            modifiers += ["declaration"] if word in declared else []
            yield ColouredWord(word.line, word.column, len(word.text), kind, tuple(modifiers))
        before = word.text


def _kind(language: Language, symbols: Symbols, word: Word, before: str, following: str) -> list[str]:
    """The kind and the modifiers; an empty kind for signs."""
    text = word.text
    if text[0].isdigit():
        return ["number"]
    if not word.is_name:
        return [""]
    if before == "." and text in language.methods:
        return ["method"]
    if text in language.calls and (following == "(" or text == "fence"):
        return ["function"]
    if KEYWORDS.get(text) == "MODE" if language is not LITMUS else text.startswith(ORDER):
        return ["enumMember"]
    symbol = symbols.definition(word)
    if symbol is not None and (text not in symbols.keywords or word == symbol.word):
        return [_OF_SYMBOLS[symbol.kind], *(["nonAtomic"] if symbol.kind == "non-atomic location" else [])]
    if language is LITMUS and is_type(text):
        return ["type"]
    return ["keyword"] if text in symbols.keywords or text in ("for", "do", "break", "continue") else [""]
