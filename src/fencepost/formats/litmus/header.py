"""The parts of a C litmus test that have no grammar: its header and its comments.

    C name                      the language, then the name of the test
    "a description"             optional
    Key=value                   any number of lines; of these only `MaxValue` means something to us
    { initial values } …        from here on it is `litmus.lark`'s

Comments are `// …`, `/* … */`, and herd's `(* … *)`, which nest outside of processes. Inside a process `(*x`
is more often a dereference: there `(*` starts a comment only where a blank or a `*` follows and a `*)` comes
later, or where its `*)` comes before anything that a dereference would be followed by. Comments are blanked
out, so that every token keeps its place.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from fencepost.formats.text.source import Source, quoted, whole_number
from fencepost.program import LARGEST_MAX_VALUE


class BareText(NamedTuple):
    """The text from the initial values on, everything else blanked out, and what the header says."""

    text: str
    max_value: int | None


def bare(source: Source) -> BareText:
    """Everything but the header and the comments; raises `InputError`."""
    header = _Header(source)
    start = header.read()
    return BareText(_blanked(source.text[:start]) + _without_comments(source, start), header.max_value)


# --- the header

_BLANK = re.compile(r"\s+")
_WORD = re.compile(r"[^\s{]+")
_KEY_LINE = re.compile(r"([A-Za-z][\w.-]*)[ \t]*=[ \t]*([^\n]*)")
_ASSEMBLY = ("X86", "X86_64", "PPC", "ARM", "AArch64", "MIPS", "RISCV", "SPARC", "PTX", "BPF")
_OTHER_LANGUAGES = ("LISA", "Java", "ASL", "OpenCL", "CPP")


class _Header:
    def __init__(self, source: Source) -> None:
        self._source = source
        self._text = source.text
        self._offset = 0
        self.max_value: int | None = None

    def read(self) -> int:
        """Where the initial values start."""
        self._language()
        self._skip()
        if self._word() is None:
            raise self._error("expected the name of the test after `C`")
        self._offset += len(self._word() or "")
        self._skip()
        while not self._text.startswith("{", self._offset):
            self._entry()
            self._skip()
        return self._offset

    def _language(self) -> None:
        self._skip()
        word = self._word()
        if word == "C":
            self._offset += 1
            return
        known = {name.lower(): name for name in (*_ASSEMBLY, *_OTHER_LANGUAGES)}
        language = known.get((word or "").lower())
        if language is None:
            found = "the file ends here" if word is None else f"found {quoted(word)}"
            raise self._error(f"expected `C` and the name of the test, {found}")
        article = "an" if language[0] in "AX" or language in ("MIPS", "OpenCL") else "a"
        kind = f"{language} assembly" if language in _ASSEMBLY else language
        raise self._error(f"{article} {kind} litmus test; fencepost reads C litmus tests")

    def _entry(self) -> None:
        """A description, or a `Key=value` line."""
        if self._text.startswith('"', self._offset):
            end = self._text.find('"', self._offset + 1)
            if end < 0:
                raise self._error('this description is not closed; expected another `"`')
            self._offset = end + 1
            return
        match = _KEY_LINE.match(self._text, self._offset)
        if match is None:
            word = self._word()
            found = "but the file ends here" if word is None else f"found {quoted(word)}"
            raise self._error(f"expected the initial values, as in `{{ x = 0; }}`, {found}")
        if match[1] == "MaxValue":
            self._set_max_value(match[2].strip())
        self._offset = match.end()

    def _set_max_value(self, number: str) -> None:
        plain = re.fullmatch(r"[0-9]+", number) is not None
        self.max_value = whole_number(number, LARGEST_MAX_VALUE) if plain else None
        if not self.max_value:
            raise self._error(f"MaxValue must be a number between 1 and {LARGEST_MAX_VALUE}")

    def _word(self) -> str | None:
        match = _WORD.match(self._text, self._offset)
        return None if match is None else match[0]

    def _skip(self) -> None:
        """Go past blanks and comments."""
        while True:
            blank = _BLANK.match(self._text, self._offset)
            end = blank.end() if blank else _comment_end(self._source, self._offset)
            if end is None:
                return
            self._offset = end

    def _error(self, message: str) -> Exception:
        return self._source.error(message, self._source.position(self._offset))


# --- comments

# `/\` and `\/` are tokens of the final condition, which may be followed by `*x`.
_INTERESTING = re.compile(r"/\\|\\/|//|/\*|\(\*|\S")
_HERD_BRACKET = re.compile(r"\(\*|\*\)")
_NOT_IN_SHORT_COMMENT = re.compile(r"\(\*|\*\)|[()\n;{}]")


def _without_comments(source: Source, start: int) -> str:
    """The text from `start` on with its comments blanked out."""
    text = source.text
    parts: list[str] = []
    last_closing = text.rfind("*)")
    depth, last, in_process, done, offset = 0, "", False, start, start
    while match := _INTERESTING.search(text, offset):
        offset, token = match.end(), match[0]
        closed = token != "(*" or not in_process or offset <= last_closing
        end = _comment_end(source, match.start(), in_process=in_process) if closed else None
        if end is not None:
            parts += [text[done : match.start()], _blanked(text[match.start() : end])]
            offset = done = end
            continue
        if token == "(*":  # not a comment
            offset -= 1
            token = "("
        if token == "{":
            in_process = in_process or (depth == 0 and last == ")")
            depth += 1
        elif token == "}":
            depth = max(depth - 1, 0)
            in_process = in_process and depth > 0
        last = token
    return "".join([*parts, text[done:]])


def _comment_end(source: Source, start: int, *, in_process: bool = False) -> int | None:
    """Where the comment that starts at `start` ends; None if none starts there."""
    text = source.text
    if text.startswith("//", start):
        end = text.find("\n", start)
        return len(text) if end < 0 else end
    if text.startswith("/*", start):
        end = text.find("*/", start + 2)
        if end < 0:
            raise source.error("this comment is not closed; expected `*/`", source.position(start))
        return end + 2
    if text.startswith("(*", start):
        return (_comment_end_in_process if in_process else _herd_comment_end)(source, start)
    return None


def _herd_comment_end(source: Source, start: int) -> int:
    depth = 0
    for match in _HERD_BRACKET.finditer(source.text, start):
        depth += 1 if match[0] == "(*" else -1
        if depth == 0:
            return match.end()
    raise source.error("this comment is not closed; expected `*)`", source.position(start))


def _comment_end_in_process(source: Source, start: int) -> int | None:
    """Where that comment ends, given that there is a `*)` somewhere; None for a dereference."""
    text = source.text
    if text[start + 2 : start + 3] not in (" ", "\t", "\n", "*"):
        match = _NOT_IN_SHORT_COMMENT.search(text, start + 2)
        return match.end() if match is not None and match[0] == "*)" else None
    match = _HERD_BRACKET.search(text, start + 2)
    if match is None:
        return None
    if match[0] == "(*":
        message = "cannot tell whether `(*` starts a comment or reads a location; write `//` or `(*x`"
        raise source.error(message, source.position(start))
    return match.end()


def _blanked(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)
