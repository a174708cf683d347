"""Is this text TPL, and how is it nested?

`parse` turns a text into a tree by the grammar in `tpl.lark`. What to say about a text without a tree is left
to `wording.py`, what names and numbers mean to `reader.py`.
"""

from __future__ import annotations

from collections.abc import Iterator

from fencepost.errors import InputError
from fencepost.formats.text.grammar import Grammar, nested
from fencepost.formats.text.lalr import UnexpectedError
from fencepost.formats.text.source import Source
from fencepost.formats.text.tree import Token, Tree

KEYWORDS = {
    "max_value": "_MAX_VALUE",
    "global": "GLOBAL",
    "na": "NA",
    "track": "_TRACK",
    "fn": "_FN",
    "local": "_LOCAL",
    "if": "IF",
    "else": "_ELSE",
    "while": "_WHILE",
    "goto": "_GOTO",
    "oneof": "_ONEOF",
    "assert": "CHECK",
    "assume": "CHECK",
    "skip": "_SKIP",
    "fence": "_FENCE",
    **dict.fromkeys(("FADD", "exchange", "XCHG", "CAS", "BCAS", "wait", "lock", "unlock", "verify"), "CALL"),
    **dict.fromkeys(("rlx", "acq", "rel", "acq_rel", "seq_cst"), "MODE"),
}

# Parentheses may nest deeper than blocks because `oneof(` opens one around its blocks.
MOST_NESTED_BLOCKS = 100
MOST_NESTED_PARENTHESES = 250

_nested = nested(
    lambda word, _: KEYWORDS.get(word, "NAME"),
    blocks=MOST_NESTED_BLOCKS,
    parentheses=MOST_NESTED_PARENTHESES,
)


def _words(stream: Iterator[Token]) -> Iterator[Token]:
    """The tokens with their types.

    After a dot, calls are the names of methods. `for` and `do` are keywords only where TPL as others read it
    has no such name.
    """
    typed = _nested(stream)
    before, token = "", next(typed, None)
    while token is not None:
        after = next(typed, None)
        if token.type == "CALL" and before == ".":
            token.type = "NAME"
        elif token == "*" and after == "]":
            token.type = "STAR"  # any number of threads
        elif token == "for" and after == "(" and before != ".":
            token.type = "_FOR"
        elif token == "do" and after == "{" and before != "fn":
            token.type = "_DO"
        yield token
        before, token = str(token), after


_GRAMMAR = Grammar(__file__, "tpl", _words)


def parse(source: Source) -> Tree:
    """The tree of a program; raises `InputError`."""

    def failed(error: UnexpectedError) -> InputError:
        from fencepost.formats.tpl.wording import TplFailure

        return TplFailure(source, error).error()

    return _GRAMMAR.parse(source, failed)
