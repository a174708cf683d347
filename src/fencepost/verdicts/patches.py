"""Patches of C and C++ sources: what to replace, and what is left to do by hand."""

from __future__ import annotations

import msgspec

from fencepost.verdicts.sites import SiteChange


class Replacement(msgspec.Struct, frozen=True, kw_only=True):
    """Characters of a file that become `text`. Lines and columns count from 1; the end is not included."""

    file: str
    start_line: int
    start_column: int
    end_line: int
    end_column: int
    text: str


class ByHand(msgspec.Struct, frozen=True, kw_only=True):
    """A change that the patch does not make, with a sentence that says what to do."""

    change: SiteChange
    advice: str


class SourcePatch(msgspec.Struct, frozen=True, kw_only=True):
    """Changes of sites as a patch of the sources. `texts` are the new contents of the files that change."""

    replacements: tuple[Replacement, ...] = ()
    by_hand: tuple[ByHand, ...] = ()
    diff: str = ""
    texts: dict[str, bytes] = {}
