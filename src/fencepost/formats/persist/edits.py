"""Changing a few instructions of a program as in Figure 8 of persist-2015 and leaving the rest as it is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from fencepost.formats.persist.parser import parse
from fencepost.formats.text.edits import Edit
from fencepost.formats.text.source import Source
from fencepost.formats.text.tree import as_token, as_tree
from fencepost.formats.transitions.edits import Arrow, Kind, Language, arrow_of, with_edits
from fencepost.program import Position

_PERSIST = Language(lambda source, target, step: f"{source}: {step}; goto {target}", "fence")
_KINDS: dict[str, Kind] = {"assume": "check", "skip": "noop"}


def edited(text: str, file: str, edits: Mapping[Position, Edit]) -> Iterator[str]:
    """Texts of which one should have the edits made; raises `InputError` if it is not in the language."""
    return with_edits(text, list(_arrows(text, file)), edits, _PERSIST)


def _arrows(text: str, file: str) -> Iterator[Arrow]:
    _, _, *processes = parse(Source(text, file)).children
    for thread, process in enumerate(map(as_tree, processes)):
        for part in process.children:
            if not isinstance(part, str) and part.data == "instruction":
                label, statement, target = part.children
                kind = _KINDS.get(as_tree(statement).data, "other")
                yield arrow_of(thread, as_token(label), as_token(target), kind, part)
