"""The outline of a document: its locations, its threads with their locals and labels, a final condition."""

from __future__ import annotations

from typing import NamedTuple

from fencepost.lsp.languages import LITMUS, Language
from fencepost.lsp.symbols import Symbols, Word

_QUANTIFIERS = ("exists", "forall")


class Entry(NamedTuple):
    """A name, what it is, the words from the first to the last of what it stands for, and what is in it."""

    name: Word
    what: str
    first: Word
    last: Word
    inside: tuple[Entry, ...] = ()


def outline(language: Language, symbols: Symbols) -> list[Entry]:
    """The entries in the order of the text; a location is named once, where it is declared first."""
    entries: list[Entry] = []
    locations: set[str] = set()
    for symbol in symbols.declared:
        word = symbol.word
        if symbol.kind == "thread":
            first, last = _extent(symbols, word)
            inside = [
                Entry(each.word, each.kind, each.word, each.word)
                for each in symbols.declared
                if each.word.function == word.function and each.kind in ("local", "label")
            ]
            entries.append(Entry(word, symbol.kind, first, last, tuple(inside)))
        elif symbol.is_shared and word.text not in locations:
            locations.add(word.text)
            entries.append(Entry(word, symbol.kind, word, word))
    if language is LITMUS:
        entries += _final_condition(symbols)
    return entries


def _extent(symbols: Symbols, name: Word) -> tuple[Word, Word]:
    """From the word `fn`, if there is one, to the closing brace."""
    at = symbols.words.index(name)
    first = symbols.words[at - 1] if at and symbols.words[at - 1].text == "fn" else name
    depth, last = 0, name
    for word in symbols.words[at:]:
        if word.function != name.function:
            break
        depth += (word.text == "{") - (word.text == "}")
        last = word
        if word.text == "}" and depth == 0:
            break
    return first, last


def _final_condition(symbols: Symbols) -> list[Entry]:
    depth = 0
    for word in symbols.words:
        depth += (word.text in ("{", "(")) - (word.text in ("}", ")"))
        if depth == 0 and word.text in _QUANTIFIERS and word.function:
            return [Entry(word, "condition", word, symbols.words[-1])]
    return []
