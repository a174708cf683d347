"""Is this text a C litmus test, and how is it nested?

`parse` turns a text without header and comments into a tree by the grammar in `litmus.lark`. What to say
about a text without a tree is left to `wording.py`, what a text means to `reader.py`.
"""

from __future__ import annotations

import re

from fencepost.errors import InputError
from fencepost.formats.text.grammar import Grammar, WordError, nested
from fencepost.formats.text.lalr import UnexpectedError
from fencepost.formats.text.source import Source
from fencepost.formats.text.tree import Token, Tree

KEYWORDS = {
    "if": "IF",
    "else": "_ELSE",
    "while": "_WHILE",
    "do": "_DO",
    "for": "_FOR",
    "break": "JUMP",
    "continue": "JUMP",
    "_Atomic": "ATOMIC",
}
# Words of the final clauses; inside braces they are names like any other.
FINAL_WORDS = {
    "exists": "EXISTS",
    "forall": "FORALL",
    "locations": "_LOCATIONS",
    "filter": "_FILTER",
    "true": "TRUTH",
    "false": "TRUTH",
    "not": "NOT_WORD",
}
_TYPE = re.compile(
    r"int|long|short|char|unsigned|signed|void|bool|_Bool|float|double|volatile|const|static|register|auto"
    r"|u?int(8|16|32|64|ptr|max)_t|s?size_t|ptrdiff_t"
    r"|atomic_(bool|s?char|uchar|u?short|u?int|u?long|u?llong|u?int(_least|_fast)?(8|16|32|64)_t"
    r"|u?intptr_t|u?intmax_t|size_t|ptrdiff_t)"
)
_UNSUPPORTED = re.compile(
    "return|goto|switch|case|default|struct|union|enum|typedef|sizeof|extern|inline|restrict"
)

MOST_NESTED_STATEMENTS = 60
MOST_NESTED_PARENTHESES = 120


def parse(source: Source, bare_text: str) -> Tree:
    """The tree of `bare_text`, which is `source` without header and comments; raises `InputError`."""

    def failed(error: UnexpectedError) -> InputError:
        from fencepost.formats.litmus.wording import LitmusFailure

        return LitmusFailure(source, error, bare_text).error()

    return _GRAMMAR.parse(source, failed, bare_text)


def is_reserved(name: str) -> bool:
    """Whether C takes the word for itself."""
    return name in KEYWORDS or any(words.fullmatch(name) for words in (_TYPE, _UNSUPPORTED))


def _kind_of(word: Token, blocks: int) -> str:
    if _UNSUPPORTED.fullmatch(word):
        raise WordError(f"`{word}` is not supported in C litmus tests", word)
    if _TYPE.fullmatch(word):
        return "TYPE"
    if not blocks and word in FINAL_WORDS:
        return FINAL_WORDS[word]
    return KEYWORDS.get(word, "NAME")


_GRAMMAR = Grammar(
    __file__,
    "litmus",
    nested(_kind_of, blocks=MOST_NESTED_STATEMENTS, parentheses=MOST_NESTED_PARENTHESES),
)
