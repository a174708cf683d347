"""Where a text stops being in its language: the frame of the message that says so.

The parser tells the terminals that it would have accepted. Each language turns them into words (`expected`)
and knows the mistakes that are worth a message of their own (`at_token`).
"""

from __future__ import annotations

import re
from typing import ClassVar

from fencepost.errors import InputError
from fencepost.formats.text.lalr import END, STRANGE, UnexpectedError
from fencepost.formats.text.source import Source, quoted
from fencepost.formats.text.tree import position

PUNCTUATION = {
    "COLON": "`:`",
    "COMMA": "`,`",
    "SEMICOLON": "`;`",
    "LPAR": "`(`",
    "RPAR": "`)`",
    "LBRACE": "`{`",
    "RBRACE": "`}`",
    "LSQB": "`[`",
    "RSQB": "`]`",
}
_WORD = re.compile(r"//[^\n]*|\w+|[^\s\w]")


class Failure:
    """The parser stopped at `token`, where it would have taken one of the terminals `accepts`."""

    has_brackets: ClassVar[bool] = True  # whether brackets nest, and `//` starts a comment
    hint: ClassVar[tuple[str, str]] = ("", "")  # what to add about one strange character

    def __init__(self, source: Source, error: UnexpectedError, text: str | None = None) -> None:
        """`text` is that of the source with its comments blanked out, in languages with other comments."""
        self.source = source
        self.token = error.token
        self.accepts = error.accepts
        self._bare = source if text is None else Source(text, source.file)

    def error(self) -> InputError:
        if self.token.type == END:
            return self._at_end()
        if self.token.type == STRANGE:
            hint = self.hint[1] if self.token == self.hint[0] else ""
            return self.mistake(
                f"unexpected character {quoted(self.token)}; expected {self.expected()}{hint}"
            )
        return self.at_token()

    def expected(self) -> str:
        """What could stand at the token."""
        raise NotImplementedError

    def expected_at_end(self) -> str:
        return self.expected()

    def at_token(self) -> InputError:
        """What is wrong with a token that is one of the language."""
        raise NotImplementedError

    def mistake(self, message: str) -> InputError:
        """A mistake at the token."""
        return self.source.error(message, position(self.token))

    def open_bracket(self) -> tuple[str, int] | None:
        """The innermost bracket that is open at the token, and its line."""
        return self._bare.open_bracket(self.token.start_pos) if self.has_brackets else None

    def words_before(self) -> list[re.Match[str]]:
        """The words before the token."""
        found = _WORD.finditer(self._bare.text, 0, self.token.start_pos)
        return [word for word in found if not word[0].startswith("//")]

    def word_before(self) -> str:
        words = self.words_before()
        return words[-1][0] if words else ""

    def _at_end(self) -> InputError:
        message = f"expected {self.expected_at_end()}, but the file ends here"
        opened = self.open_bracket()
        if opened is not None:
            bracket, line = opened
            what = "block opened" if bracket == "{" else f"`{bracket}`"
            message += f"; the {what} on line {line} is not closed"
        return self.mistake(message)
