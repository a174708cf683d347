"""The words of the input languages by kind, and program text as HTML in these colours.

The editor of the playground colours by the same words. Kinds are `comment`, `keyword`, `mode` (how an access
is ordered), `number`, `access` and, for other words, none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape
from typing import NamedTuple

from fencepost.formats.tpl.parser import KEYWORDS
from fencepost.report.printable import printable

MODES = ("rlx", "acq", "rel", "acq_rel", "sc", "seq_cst")
_TAB = 4
_TOKEN = re.compile(r"(?P<comment>//.*|#.*)|(?P<number>\b\d\w*)|(?P<word>[A-Za-z_]\w*)|\s+|.")
_ACCESS = re.compile(r"(load|store|naload|nastore|atomic_\w+)$")


class Language(NamedTuple):
    comment: str  # what begins one
    keywords: tuple[str, ...]


_C = "if else while do int atomic_int exists forall locations C void volatile const"
_AUTOMATA = "memory_size thread initial transition end read write check mfence local lock unlock noop arw"
_PERSIST = "data process begin end if then else while do goto"
_LANGUAGES = {
    "tpl": Language("//", tuple(word for word in KEYWORDS if word not in MODES)),
    "litmus": Language("//", tuple(_C.split())),
    "automata": Language("#", tuple(_AUTOMATA.split())),
    "persist": Language("//", tuple(_PERSIST.split())),
}


def language(name: str) -> Language | None:
    """The words of the language that is called `name`."""
    return _LANGUAGES.get(name)


def coloured(line: str, name: str) -> str:
    """One line of a program as HTML."""
    words = language(name)
    text = printable(line.expandtabs(_TAB).rstrip())
    return escape(text) if words is None else "".join(_pieces(text, words))


def _pieces(text: str, words: Language) -> Iterator[str]:
    at = 0
    while at < len(text):
        found = _TOKEN.match(text, at)
        assert found is not None
        at, kind = found.end(), found.lastgroup
        if kind == "comment" and not found[0].startswith(words.comment):
            found = re.compile(".").match(text, found.start())
            assert found is not None
            at, kind = found.end(), None
        if kind == "word":
            kind = _kind(found[0], words)
        said = escape(found[0])
        yield f'<span class="tok-{kind}">{said}</span>' if kind else said


def _kind(word: str, words: Language) -> str | None:
    if word in MODES or word.startswith("memory_order_"):
        return "mode"
    if word in words.keywords:
        return "keyword"
    return "access" if _ACCESS.match(word) else None
