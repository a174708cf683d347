"""What was expected where the syntax of a TPL text is wrong.

One sentence names the token found, the one thing most likely missing, and the bracket that is still open.
"""

from __future__ import annotations

import re

from fencepost.errors import InputError
from fencepost.formats.text.failure import PUNCTUATION, Failure
from fencepost.formats.text.lalr import STRANGE
from fencepost.formats.text.source import one_of, quoted, suggestion
from fencepost.formats.text.tree import Token
from fencepost.formats.tpl.parser import KEYWORDS

_SPELLED = {
    "_ASSIGN": "`=`",
    "DOT": "`.`",
    **PUNCTUATION,
    "NUMBER": "a number",
    "NAME": "a name",
    "MODE": "a mode (`acq`, `rel`, `acq_rel` or `seq_cst`)",
    "_WHILE": "`while`",
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
# What to write for words of C.
_TYPES = (
    *("int", "unsigned", "signed", "long", "short", "char", "bool", "_Bool", "auto", "const", "static"),
    *("volatile", "struct", "void", "size_t", "std", "atomic", "_Atomic", "extern", "register", "let", "var"),
)
_ACCESS = {
    **{"load": "r = x.load()", "store": "x.store(e)", "exchange": "r = x.exchange(e)"},
    **{f"fetch_{name}": f"r = x.fetch_{name}(e)" for name in ("add", "sub", "and", "or", "xor")},
}
_INSTEAD = {
    "switch": "write `if (…) { … } else if (…) { … }`",
    "return": "write `goto end;` and a label `end:` before the last `}`",
    "atomic_thread_fence": "write `fence;`, `fence(acq)`, `fence(rel)` or `fence(acq_rel)`",
    "atomic_flag_test_and_set": "write `r = x.exchange(1)`",
    "atomic_flag_clear": "write `x.store(0)`",
    **{f"atomic_{name}": f"write `{form}`" for name, form in _ACCESS.items()},
    **dict.fromkeys(
        ("atomic_compare_exchange_strong", "atomic_compare_exchange_weak", "compare_exchange"),
        "write `r = x.compare_exchange(e1, e2)`",
    ),
    **dict.fromkeys(("fetch_add", "FAA"), "write `FADD(x, e)` or `x.fetch_add(e)`"),
}
_SIGNS = {
    "?": "there is no `?:`; write `if (…) { … } else { … }`",
    "~": "there is no `~`; write `max_value - e` with the number for max_value",
    '"': "there are no strings",
    "'": "there are no characters; write numbers",
}
_DIRECTIVE = re.compile(r"#(include|define|if|ifdef|ifndef|pragma)\b")
_NO_C = "this is C, not TPL (docs/tpl.md); to watch a C program while it runs, build it with fencepost-cc"
_DECLARATIONS = ("_MAX_VALUE", "GLOBAL", "NA", "_TRACK", "_FN")
_STATEMENTS = [word for word, kind in KEYWORDS.items() if kind not in ("MODE", *_DECLARATIONS)]
_AFTER_A_NAME = {"_ASSIGN", "COLON", "DOT"}  # accepted after the name that starts a statement


class TplFailure(Failure):
    hint = ("#", "; comments start with `//`")

    def error(self) -> InputError:
        if self.token.type == STRANGE and self.token in _SIGNS:
            return self.mistake(_SIGNS[self.token])
        if self.token == "#" and _DIRECTIVE.match(self.source.text, self.token.start_pos):
            return self.mistake(_NO_C)
        return super().error()

    def at_token(self) -> InputError:
        token, found = self.token, quoted(self.token)
        spelled_in_c = self._spelled_in_c()
        if spelled_in_c is not None:
            return spelled_in_c
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
        if token == "=" and "OPERATOR" in self.accepts:
            meant = "; to compare, write `==`"
        if "LBRACE" in self.accepts and self.word_before() in (")", "else", "do"):
            meant = "; an empty block is `{ }`" if token == ";" else "; one statement needs braces, too"
        return self.mistake(f"expected {self.expected()}, found {found}{meant}")

    def _spelled_in_c(self) -> InputError | None:
        """What to write instead, if this is C."""
        token, words = self.token, self.words_before()[-2:]
        before = words[-1] if words else None
        word = before[0] if before is not None else ""
        instead = _INSTEAD.get(word.removesuffix("_explicit"))
        if before is not None and instead is not None and (token == "(" or not self._wants_statement()):
            return self._before(before, f"there is no {quoted(word)}; {instead}")
        if token.type == "NAME" and before is not None and _is_type(word):
            return self._before(before, self._no_type(word))
        if self._wants_declaration() and token.type == "NAME" and _is_type(token):
            return self.mistake(self._no_type(token))
        if token.type == "SIGN" and self._text_after() == token * 2:
            return self.mistake(_no_step(token))
        stepped = [match[0] for match in words] in (["+"] * 2, ["-"] * 2)
        if "NOT" in self.accepts and stepped and words[0].end() == words[1].start():
            return self._before(words[0], _no_step(word))
        if "NOT" in self.accepts and token in ("&", "*"):
            what = "no addresses" if token == "&" else "no pointers"
            return self.mistake(f"there are {what}; write the name of the location without {quoted(token)}")
        if "NOT" in self.accepts and token in ("<", ">") and word == token:
            return self.mistake(f"there is no `{token * 2}`; multiply or divide by a power of two")
        if token == ":" and (word == ":" or self._text_after() == "::"):
            return self.mistake("there are no namespaces; write modes as `rlx`, `acq`, `rel` or `acq_rel`")
        return None

    def _no_type(self, word: str) -> str:
        where = "locations with `global x;` and threads with `fn t { … }`"
        if self.open_bracket():
            where = "locals with `local r;`"
        return f"there are no types such as {quoted(word)}; declare {where}"

    def _before(self, word: re.Match[str], message: str) -> InputError:
        return self.source.error(message, self.source.position(word.start()))

    def _text_after(self) -> str:
        """The token and the character after it, if it is a sign."""
        return self.source.text[self.token.start_pos :][:2]

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
        return "_ONEOF" in self.accepts

    def _wants_declaration(self) -> bool:
        return "_FN" in self.accepts


def lone_word(word: Token, semicolon: Token) -> tuple[str, Token]:
    """What to say of a statement that consists of one word, and at which of its tokens."""
    if word in _INSTEAD:
        return f"there is no {quoted(word)}; {_INSTEAD[word]}", word
    return f"expected `=`, `.` or `:` after {quoted(word)}, found `;`", semicolon


def _no_step(sign: str) -> str:
    method = "fetch_add" if sign == "+" else "fetch_sub"
    return f"there is no `{sign * 2}`; write `r {sign}= 1` for a local, `x.{method}(1)` for a location"


def _is_type(word: str) -> bool:
    return word in _TYPES or re.fullmatch(r"u?int\d+_t|u?intptr_t|atomic_\w+", word) is not None
