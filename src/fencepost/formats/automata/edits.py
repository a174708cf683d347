"""Changing a few transitions of a text of automata and leaving everything else as it is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from fencepost.formats.automata.parser import parse
from fencepost.formats.text.edits import Edit
from fencepost.formats.text.source import Source
from fencepost.formats.text.tree import as_token, as_tree
from fencepost.formats.transitions.edits import Arrow, Kind, Language, arrow_of, with_edits
from fencepost.program import Position

_AUTOMATA = Language("transition {} {} {}".format, "mfence", ("lock", "unlock"))
_KINDS: dict[str, Kind] = {
    "check": "check",
    "noop": "noop",
    "lock": "lock",
    "unlock": "unlock",
    "write": "write",
}


def edited(text: str, file: str, edits: Mapping[Position, Edit]) -> Iterator[str]:
    """Texts of which one should have the edits made; raises `InputError` if it is not a text of automata."""
    return with_edits(text, list(_arrows(text, file)), edits, _AUTOMATA)


def _arrows(text: str, file: str) -> Iterator[Arrow]:
    for thread, item in enumerate(parse(Source(text, file)).children):
        for part in as_tree(item).children:
            if not isinstance(part, str) and part.data == "transition":
                source, target, word = map(as_token, part.children[:3])
                kind = _KINDS.get(str(word), "other")
                yield arrow_of(thread, source, target, kind, part)
