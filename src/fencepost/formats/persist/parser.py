"""Is this text a program as in Figure 8 of persist-2015, and how is it nested?

`parse` turns a text into a tree by the grammar in `persist.lark`, and says what is wrong with a text without
a tree. What names and numbers mean is left to `reader.py`.
"""

from __future__ import annotations

from fencepost.errors import InputError
from fencepost.formats.text.failure import Failure
from fencepost.formats.text.grammar import Grammar, nested
from fencepost.formats.text.source import Source, one_of, quoted, suggestion
from fencepost.formats.text.tree import Tree

KEYWORDS = {
    "program": "_PROGRAM",
    "vars": "_VARS",
    "procs": "_PROCS",
    "process": "_PROCESS",
    "regs": "_REGS",
    "init": "_INIT",
    "begin": "_BEGIN",
    "end": "_END",
    "goto": "_GOTO",
    "fence": "_FENCE",
    "arw": "_ARW",
    "skip": "_SKIP",
    "assume": "_ASSUME",
}
_STATEMENTS = ("fence", "arw", "skip", "assume")
_SPELLED = {
    **{kind: f"`{word}`" for word, kind in KEYWORDS.items()},
    "NAME": "a name",
    "COLON": "`:`",
    "EQUAL": "`=`",
    "SEMICOLON": "`;`",
    "LPAR": "`(`",
    "COMMA": "`,`",
    "RPAR": "`)`",
}

_GRAMMAR = Grammar(__file__, "persist", nested(lambda word, _: KEYWORDS.get(word, "NAME"), parentheses=250))


def parse(source: Source) -> Tree:
    """The tree of a program; raises `InputError`."""
    return _GRAMMAR.parse(source, lambda error: _Failure(source, error).error())


class _Failure(Failure):
    has_brackets = False

    def at_token(self) -> InputError:
        if self.accepts == {"NAME"} and self.token in KEYWORDS:
            return self.mistake(f"{quoted(self.token)} is a keyword and cannot be a name")
        meant = suggestion(self.token, (word for word, kind in KEYWORDS.items() if kind in self.accepts))
        return self.mistake(f"expected {self.expected()}, found {quoted(self.token)}{meant}")

    def expected(self) -> str:
        accepts = self.accepts
        if "NOT" in accepts:
            return "an expression"
        if "_SKIP" in accepts:
            return f"an assignment, {one_of(quoted(word) for word in _STATEMENTS)}"
        if "NAME" in accepts and "_END" in accepts:
            return "a label or `end`"
        if "$END" in accepts:
            return "`process`"
        return one_of(
            word
            for kind, word in _SPELLED.items()
            if kind in accepts and not (kind == "COMMA" and "NAME" in accepts)
        )
