"""What was expected where the syntax of a TPL text is wrong, in plain words.

The parser tells the terminals that it would have accepted; here they become one sentence that names the
token found, the one thing most likely missing, and the bracket that is still open.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fencepost.formats.text import lalr
from fencepost.formats.text.source import Source, one_of, quoted, suggestion
from fencepost.formats.tpl.parser import KEYWORDS, position

if TYPE_CHECKING:
    from fencepost.errors import InputError
    from fencepost.formats.text.tree import Token


def syntax_error(source: Source, error: lalr.UnexpectedError) -> InputError:
    token = error.token
    failure = _Failure(source, token.start_pos, error.accepts)
    match token.type:
        case lalr.END:
            return failure.at_end(token)
        case lalr.STRANGE:
            return failure.at_character(token)
        case _:
            return failure.at_token(token)


_SPELLED = {
    "_ASSIGN": "`=`",
    "DOT": "`.`",
    "COLON": "`:`",
    "COMMA": "`,`",
    "SEMICOLON": "`;`",
    "LPAR": "`(`",
    "RPAR": "`)`",
    "LBRACE": "`{`",
    "RBRACE": "`}`",
    "LSQB": "`[`",
    "RSQB": "`]`",
    "NUMBER": "a number",
    "NAME": "a name",
    "MODE": "a mode (`acq`, `rel`, `acq_rel` or `seq_cst`)",
    "IF": "`if`",
    "_GOTO": "`goto`",
}
_NAME_AFTER = {
    "goto": "a label",
    "fn": "the name of the function",
    "global": "the name of a location",
    "na": "the name of a location",
    "track": "the name of a location",
    "local": "the name of a local",
    ".": one_of(("`load`", "`store`", "`naload`", "`nastore`")),
}
_DECLARATIONS = ("_MAX_VALUE", "GLOBAL", "NA", "_TRACK", "_FN")
_STATEMENTS = [word for word, kind in KEYWORDS.items() if kind not in ("MODE", *_DECLARATIONS)]
_AFTER_A_NAME = {"_ASSIGN", "COLON", "DOT"}  # accepted after the name that starts a statement
_WORD = re.compile(r"//[^\n]*|\w+|[^\s\w]")


@dataclass(frozen=True)
class _Failure:
    """The parser stopped at `offset`, where it would have taken one of the terminals `accepts`."""

    source: Source
    offset: int
    accepts: frozenset[str]

    def at_character(self, character: Token) -> InputError:
        hint = "; comments start with `//`" if character == "#" else ""
        message = f"unexpected character {quoted(character)}; expected {self._expected()}{hint}"
        return self.source.error(message, position(character))

    def at_end(self, end: Token) -> InputError:
        expected = "`}`" if self._wants_statement() else self._expected()
        message = f"expected {expected}, but the file ends here"
        opened = self.source.open_bracket(self.offset)
        if opened is not None:
            bracket, line = opened
            what = "block opened" if bracket == "{" else f"`{bracket}`"
            message += f"; the {what} on line {line} is not closed"
        return self.source.error(message, position(end))

    def at_token(self, token: Token) -> InputError:
        found, at = quoted(token), position(token)
        before, start = self._before()
        if token == "}" and self._wants_declaration():
            return self.source.error("this `}` closes nothing", at)
        if self.accepts == {"NAME"} and token in KEYWORDS and before != ".":
            return self.source.error(f"{found} is a keyword and cannot be a name", at)
        if self._wants_statement() and token.type in _DECLARATIONS:
            opened = self.source.open_bracket(self.offset)
            where = f" opened on line {opened[1]}" if opened else ""
            return self.source.error(f"expected `}}` before {found}: the block{where} is not closed", at)
        if self._wants_statement() and token == "local":
            return self.source.error("`local` declarations come first in a function", at)
        if self.accepts >= _AFTER_A_NAME and token == "(":
            message = f"there is no operation {quoted(before)}{suggestion(before, _STATEMENTS)}"
            return self.source.error(message, self.source.position(start))
        if self.source.text.startswith("/*", self.offset):
            message = f"expected {self._expected()}, found `/*`; comments start with `//`"
            return self.source.error(message, at)
        meant = suggestion(token, ("global", "na", "track", "fn")) if self._wants_declaration() else ""
        return self.source.error(f"expected {self._expected()}, found {found}{meant}", at)

    def _expected(self) -> str:
        accepts = self.accepts
        before, _ = self._before()
        if self._wants_statement():
            return "a statement or `}`"
        if self._wants_declaration():
            return "`global`, `na`, `track` or `fn`"
        if "NOT" in accepts:
            return "an expression" + (" or a mode" if "MODE" in accepts else "")
        if accepts >= _AFTER_A_NAME:
            return f"`=`, `.` or `:` after {quoted(before)}"
        if "SEMICOLON" in accepts and "COMMA" not in accepts:
            inside = self.source.open_bracket(self.offset) is not None
            return "`;` after the statement" if inside else "`;` after the declaration"
        if accepts == {"NAME"}:
            return _NAME_AFTER.get(before, "a name")
        if accepts == {"LPAR"}:
            return f"`(` after {quoted(before)}"
        if accepts & {"COMMA", "RPAR", "RSQB"}:
            accepts -= {"_ASSIGN", "LSQB", "DOT"}
        return one_of(word for terminal, word in _SPELLED.items() if terminal in accepts)

    def _wants_statement(self) -> bool:
        return "_WHILE" in self.accepts

    def _wants_declaration(self) -> bool:
        return "_FN" in self.accepts

    def _before(self) -> tuple[str, int]:
        """The last token before the failure, as far as messages need it, and its offset."""
        last = ("", 0)
        for match in _WORD.finditer(self.source.text, 0, self.offset):
            if not match[0].startswith("//"):
                last = (match[0], match.start())
        return last
