"""The words of a text and where its names are declared, also in a text that is being typed.

It need not be a program yet: only words, brackets and comments are looked at. What a mistake is, the reader
says. `Symbols` is for TPL, `LitmusSymbols` for C litmus tests.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from typing import ClassVar, Literal, NamedTuple

from fencepost.formats.litmus.parser import FINAL_WORDS, TYPE
from fencepost.formats.litmus.parser import KEYWORDS as LITMUS_KEYWORDS
from fencepost.formats.tpl.parser import KEYWORDS

Kind = Literal["location", "non-atomic location", "local", "label", "thread"]

_TPL_TOKEN = re.compile(r"(?P<comment>//[^\n]*)|(?P<word>[A-Za-z_]\w*)|\n|(?P<number>\w+)|(?P<sign>[^\s\w])")
# herd's comments start with `(*` and a blank or another star: `(*x)` is a dereference.
_LITMUS_TOKEN = re.compile(
    r"(?P<comment>//[^\n]*|/\*.*?(?:\*/|\Z)|\(\*(?=[\s*]).*?(?:\*\)|\Z))"
    r"|(?P<word>[A-Za-z_]\w*)|\n|(?P<number>\w+)|(?P<sign>[^\s\w])",
    re.DOTALL,
)
_DECLARES: dict[str, Kind] = {"global": "location", "na": "non-atomic location", "local": "local"}


class Word(NamedTuple):
    """A name, a keyword, a number, a sign or a comment, and where it stands, both counted from 1."""

    text: str
    line: int
    column: int
    function: int  # how many functions begin before it

    @property
    def end(self) -> int:
        """The column behind it, if it stands in one line."""
        return self.column + len(self.text)

    @property
    def is_name(self) -> bool:
        """Whether it is a name or a keyword."""
        return self.text[0].isalpha() or self.text[0] == "_"

    @property
    def is_sign(self) -> bool:
        return not (self.text[0].isalnum() or self.text[0] == "_")


class Symbol(NamedTuple):
    """A name and where it is declared; locals and labels belong to a function."""

    kind: Kind
    word: Word

    @property
    def is_shared(self) -> bool:
        return self.kind not in ("local", "label")


class Symbols:
    """The words of a text and the declarations among them."""

    _token: ClassVar[re.Pattern[str]] = _TPL_TOKEN
    keywords: ClassVar[Collection[str]] = KEYWORDS.keys()

    def __init__(self, text: str) -> None:
        self.comments: list[Word] = []
        self.words = list(self._without_comments(text))
        self.declared = list(self._declarations())

    def word_at(self, line: int, column: int) -> Word | None:
        """The name or keyword that stands there, or ends there."""
        for word in self.words:
            if word.line == line and word.column <= column <= word.end and word.is_name:
                return word
        return None

    def comment_at(self, line: int, column: int) -> Word | None:
        """The comment in which something is typed there."""
        for comment in self.comments:
            first, *more = comment.text.split("\n")
            last_line = comment.line + len(more)
            last_column = len(more[-1]) + 1 if more else comment.column + len(first)
            is_open = comment.text.startswith("//")
            end = last_column + 1 if is_open else last_column
            if (comment.line, comment.column + 1) < (line, column) < (last_line, end):
                return comment
        return None

    def before(self, line: int, column: int) -> list[Word]:
        """The words before the one that is being typed there."""
        here = (line, column)
        return [
            word
            for word in self.words
            if (word.line, word.end) < here or ((word.line, word.end) == here and word.is_sign)
        ]

    def definition(self, word: Word) -> Symbol | None:
        """What the word refers to: a label after `goto`, else a local, else what all threads share."""
        here = [symbol for symbol in self.declared if symbol.word.text == word.text]
        own = [symbol for symbol in here if not symbol.is_shared and symbol.word.function == word.function]
        labels = [symbol for symbol in own if symbol.kind == "label"]
        at = self.words.index(word)
        names_label = (at > 0 and self.words[at - 1].text == "goto") or any(
            label.word == word for label in labels
        )
        if names_label:
            return next(iter(labels), None)
        others = [symbol for symbol in own if symbol.kind == "local"]
        return next(iter([*others, *(symbol for symbol in here if symbol.is_shared)]), None)

    def functions(self) -> list[Word]:
        """The names of the threads."""
        return [symbol.word for symbol in self.declared if symbol.kind == "thread"]

    def of_function(self, kind: Kind, function: int) -> list[Word]:
        """The locals or labels of a function."""
        return [
            symbol.word
            for symbol in self.declared
            if symbol.kind == kind and symbol.word.function == function
        ]

    def _without_comments(self, text: str) -> Iterator[Word]:
        line, line_start, functions, depth = 1, 0, 0, 0
        for token in self._token.finditer(text):
            word = Word(token[0], line, token.start() - line_start + 1, functions)
            if token["comment"]:
                self.comments.append(word)
            elif token["word"] or token["number"] or token["sign"]:
                depth += (token[0] in "({[") - (token[0] in ")}]")
                if token["word"] and self._begins_function(text, token, depth):
                    functions += 1
                yield word._replace(function=functions)
            breaks = token[0].count("\n")
            if breaks:
                line, line_start = line + breaks, token.start() + token[0].rfind("\n") + 1

    def _begins_function(self, text: str, token: re.Match[str], depth: int) -> bool:
        return token[0] == "fn"

    def _declarations(self) -> Iterator[Symbol]:
        words = self.words
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
            elif not word.is_name or word.text in KEYWORDS:
                continue
            elif declares and depth == 0 and (before == "," or before in _DECLARES):
                yield Symbol(declares, word)
            elif before == "fn":
                yield Symbol("thread", word)
            elif after == ":" and before != "track" and word.function:
                yield Symbol("label", word)


class LitmusSymbols(Symbols):
    """The same for C litmus tests: a process is a name before a parenthesis outside of all brackets."""

    _token = _LITMUS_TOKEN
    keywords = LITMUS_KEYWORDS.keys() | FINAL_WORDS.keys()

    def _begins_function(self, text: str, token: re.Match[str], depth: int) -> bool:
        return depth == 0 and token[0] not in self.keywords and text[token.end() :].lstrip()[:1] == "("

    def _declarations(self) -> Iterator[Symbol]:
        words: Sequence[Word] = self.words
        depth = 0  # of all brackets
        for at, word in enumerate(words):
            before = words[at - 1].text if at else ""
            after = words[at + 1].text if at + 1 < len(words) else ""
            depth += (word.text in "({[") - (word.text in ")}]")
            if not word.is_name or is_type(word.text) or word.text in self.keywords:
                continue
            if depth == 0 and after == "(" and word.function:
                yield Symbol("thread", word)
            elif word.function and (before == "*" or is_type(before)) and after in (",", ")", "=", ";", "["):
                is_parameter = depth == 1 and self._in_parentheses(at)
                if is_parameter or self._starts_declaration(at):
                    yield Symbol("location" if is_parameter else "local", word)
            elif not word.function and depth == 1 and after in ("=", ";", "}", "["):
                yield Symbol("location", word)

    def _in_parentheses(self, at: int) -> bool:
        """Whether the innermost bracket that is open there is a parenthesis."""
        depth = 0
        for word in reversed(self.words[:at]):
            depth += (word.text in ")}]") - (word.text in "({[")
            if depth < 0:
                return word.text == "("
        return False

    def _starts_declaration(self, at: int) -> bool:
        """Whether only types and stars stand between the begin of the statement and the name."""
        start = at
        while start and (self.words[start - 1].text == "*" or is_type(self.words[start - 1].text)):
            start -= 1
        return (
            start < at
            and is_type(self.words[start].text)
            and self.words[start - 1].text in ("{", "}", ";", "(")
        )


def is_type(word: str) -> bool:
    """Whether the word is one of C's types, or part of one."""
    return word == "_Atomic" or TYPE.fullmatch(word) is not None
