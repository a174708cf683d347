"""What was expected where the syntax of a C litmus test is wrong.

One sentence names what was found, the one thing most likely missing, and the bracket that is still open.
"""

from __future__ import annotations

import re

from fencepost.errors import InputError
from fencepost.formats.litmus.parser import FINAL_WORDS, KEYWORDS
from fencepost.formats.text.failure import PUNCTUATION, Failure
from fencepost.formats.text.source import one_of, quoted, suggestion

_SPELLED = {
    "ASSIGN": "`=`",
    **PUNCTUATION,
    "STAR": "`*`",
    "_WHILE": "`while`",
    "AND": r"`/\`",
    "OR": r"`\/`",
    "EXISTS": "`exists`",
    "TYPE": "a type",
    "NUMBER": "a number",
    "NAME": "a name",
}


class LitmusFailure(Failure):
    hint = ("?", "; `?:` is not supported")

    def at_token(self) -> InputError:
        token, found = self.token, quoted(self.token)
        if token == "}" and self._wants_process():
            return self.mistake("this `}` closes nothing")
        if self.accepts == {"NAME"} and (token.type == "TYPE" or token in KEYWORDS):
            return self.mistake(f"{found} is a keyword and cannot be a name")
        if token.type == "NAME" and {"TYPE", "ATOMIC", "RPAR"} <= self.accepts:
            return self._wrong_parameter()
        if token.type == "_ELSE":
            return self.mistake("this `else` belongs to no `if`")
        meant = suggestion(token, FINAL_WORDS) if self._wants_process() and token.type == "NAME" else ""
        return self.mistake(f"expected {self.expected()}, found {found}{meant}")

    def _wrong_parameter(self) -> InputError:
        """A name where the parameters of a process start: no process after all, or no type."""
        words = self.words_before()[-2:]
        if len(words) == 2 and words[1][0] == "(" and not re.fullmatch(r"P[0-9]+", words[0][0]):
            meant = suggestion(words[0][0], FINAL_WORDS)
            message = f"expected a process or a final condition, found {quoted(words[0][0])}{meant}"
            return self.source.error(message, self.source.position(words[0].start()))
        return self.mistake(f"there is no type {quoted(self.token)}; expected `atomic_int*` or `int*`")

    def expected_at_end(self) -> str:
        return "`}`" if self._wants_statement() else self.expected()

    def expected(self) -> str:
        accepts = self.accepts
        before = self.word_before()
        if self._wants_statement():
            return "a statement or `}`" if "RBRACE" in accepts else "a statement"
        if self._wants_process():
            processes = "a process, as in `P0(atomic_int* x) { … }`, or " if "NAME" in accepts else ""
            return f"{processes}a final condition"
        if "TRUTH" in accepts:
            return "a condition, as in `0:r0=1` or `x=1`"
        if "STEP" in accepts and "NUMBER" in accepts:
            return "an expression"
        if {"NUMBER", "SIGN", "AMP"} <= accepts:
            return "a number"
        if {"LSQB", "RBRACE", "NAME"} <= accepts:
            return "an initial value, as in `x = 0`, or `}`"
        if {"ASSIGN", "NOT_EQUAL"} <= accepts and "OPERATOR" not in accepts:
            return "`=` or `!=`"
        if accepts == {"LPAR"}:
            return f"`(` after {quoted(before)}"
        if accepts == {"NAME"}:
            return "a name"
        if "OPERATOR" in accepts:  # after an operand
            accepts &= {"SEMICOLON", "RPAR", "COMMA"}
        if accepts >= {"SEMICOLON"}:
            accepts -= {"COMMA", "ASSIGN", "LSQB"}
        if "NAME" in accepts:
            accepts -= {"TYPE", "STAR"}
        return one_of([word for terminal, word in _SPELLED.items() if terminal in accepts] or ["the end"])

    def _wants_statement(self) -> bool:
        return "_FOR" in self.accepts

    def _wants_process(self) -> bool:
        return "FORALL" in self.accepts
