"""What was expected where the syntax of a TPL text is wrong.

One sentence names the token found, the one thing most likely missing, and the bracket that is still open.
"""

from __future__ import annotations

from fencepost.errors import InputError
from fencepost.formats.text.failure import PUNCTUATION, Failure
from fencepost.formats.text.source import one_of, quoted, suggestion
from fencepost.formats.tpl.parser import KEYWORDS

_SPELLED = {
    "_ASSIGN": "`=`",
    "DOT": "`.`",
    **PUNCTUATION,
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


class TplFailure(Failure):
    hint = ("#", "; comments start with `//`")

    def at_token(self) -> InputError:
        token, found = self.token, quoted(self.token)
        if token == "}" and self._wants_declaration():
            return self.mistake("this `}` closes nothing")
        if self.accepts == {"NAME"} and token in KEYWORDS and self.word_before() != ".":
            return self.mistake(f"{found} is a keyword and cannot be a name")
        if self._wants_statement() and token.type in _DECLARATIONS:
            opened = self.open_bracket()
            where = f" opened on line {opened[1]}" if opened else ""
            return self.mistake(f"expected `}}` before {found}: the block{where} is not closed")
        if self._wants_statement() and token == "local":
            return self.mistake("`local` declarations come first in a function")
        if self.accepts >= _AFTER_A_NAME and token == "(":
            word = self.words_before()[-1]
            message = f"there is no operation {quoted(word[0])}{suggestion(word[0], _STATEMENTS)}"
            return self.source.error(message, self.source.position(word.start()))
        if self.source.text.startswith("/*", token.start_pos):
            return self.mistake(f"expected {self.expected()}, found `/*`; comments start with `//`")
        meant = suggestion(token, ("global", "na", "track", "fn")) if self._wants_declaration() else ""
        return self.mistake(f"expected {self.expected()}, found {found}{meant}")

    def expected_at_end(self) -> str:
        return "`}`" if self._wants_statement() else self.expected()

    def expected(self) -> str:
        accepts = self.accepts
        before = self.word_before()
        if self._wants_statement():
            return "a statement or `}`"
        if self._wants_declaration():
            return "`global`, `na`, `track` or `fn`"
        if "NOT" in accepts:
            return "an expression" + (" or a mode" if "MODE" in accepts else "")
        if accepts >= _AFTER_A_NAME:
            return f"`=`, `.` or `:` after {quoted(before)}"
        if "SEMICOLON" in accepts and "COMMA" not in accepts:
            inside = self.open_bracket() is not None
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
