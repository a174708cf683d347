"""What was expected where the syntax of a C litmus test is wrong, in plain words.

The parser tells the terminals that it would have accepted; here they become one sentence that names what was
found, the one thing most likely missing, and the bracket that is still open.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fencepost.formats.litmus.parser import FINAL_WORDS, KEYWORDS, position
from fencepost.formats.text import lalr
from fencepost.formats.text.source import Source, one_of, quoted, suggestion

if TYPE_CHECKING:
    from fencepost.errors import InputError
    from fencepost.formats.text.tree import Token


def syntax_error(source: Source, bare_text: str, error: lalr.UnexpectedError) -> InputError:
    token = error.token
    failure = _Failure(source, Source(bare_text, source.file), token.start_pos, error.accepts)
    match token.type:
        case lalr.END:
            return failure.at_end()
        case lalr.STRANGE:
            return failure.at_character(token)
        case _:
            return failure.at_token(token)


_SPELLED = {
    "ASSIGN": "`=`",
    "COLON": "`:`",
    "COMMA": "`,`",
    "SEMICOLON": "`;`",
    "LPAR": "`(`",
    "RPAR": "`)`",
    "LBRACE": "`{`",
    "RBRACE": "`}`",
    "LSQB": "`[`",
    "RSQB": "`]`",
    "STAR": "`*`",
    "_WHILE": "`while`",
    "AND": r"`/\`",
    "OR": r"`\/`",
    "EXISTS": "`exists`",
    "TYPE": "a type",
    "NUMBER": "a number",
    "NAME": "a name",
}
_WORD = re.compile(r"\w+|[^\s\w]")


@dataclass(frozen=True)
class _Failure:
    """The parser stopped at `offset`, where it would have taken one of the terminals `accepts`."""

    source: Source
    bare: Source
    offset: int
    accepts: frozenset[str]

    def at_character(self, character: Token) -> InputError:
        hint = "; `?:` is not supported" if character == "?" else ""
        message = f"unexpected character {quoted(character)}; expected {self._expected()}{hint}"
        return self.source.error(message, position(character))

    def at_end(self) -> InputError:
        message = f"expected {'`}`' if self._wants_statement() else self._expected()}, but the file ends here"
        opened = self.bare.open_bracket(self.offset)
        if opened is not None:
            bracket, line = opened
            what = "block opened" if bracket == "{" else f"`{bracket}`"
            message += f"; the {what} on line {line} is not closed"
        return self.source.error(message, self.source.position(len(self.source.text.rstrip())))

    def at_token(self, token: Token) -> InputError:
        found, at = quoted(token), position(token)
        if token == "}" and self._wants_process():
            return self.source.error("this `}` closes nothing", at)
        if self.accepts == {"NAME"} and (token.type == "TYPE" or token in KEYWORDS):
            return self.source.error(f"{found} is a keyword and cannot be a name", at)
        if token.type == "NAME" and {"TYPE", "ATOMIC", "RPAR"} <= self.accepts:
            return self._wrong_parameter(token)
        if token.type == "_ELSE":
            return self.source.error("this `else` belongs to no `if`", at)
        meant = suggestion(token, FINAL_WORDS) if self._wants_process() and token.type == "NAME" else ""
        return self.source.error(f"expected {self._expected()}, found {found}{meant}", at)

    def _wrong_parameter(self, token: Token) -> InputError:
        """A name where the parameters of a process start: no process after all, or no type."""
        words = list(_WORD.finditer(self.bare.text, 0, self.offset))[-2:]
        if len(words) == 2 and words[1][0] == "(" and not re.fullmatch(r"P[0-9]+", words[0][0]):
            meant = suggestion(words[0][0], FINAL_WORDS)
            message = f"expected a process or a final condition, found {quoted(words[0][0])}{meant}"
            return self.source.error(message, self.source.position(words[0].start()))
        message = f"there is no type {quoted(token)}; expected `atomic_int*` or `int*`"
        return self.source.error(message, position(token))

    def _expected(self) -> str:
        accepts = self.accepts
        before = self._before()
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

    def _before(self) -> str:
        """The last token before the failure."""
        last = ""
        for match in _WORD.finditer(self.bare.text, 0, self.offset):
            last = match[0]
        return last
