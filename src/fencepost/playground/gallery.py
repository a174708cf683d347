"""The example programs of the playground, all in memory, so that no request names a file."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import NamedTuple

from fencepost.formats import FORMATS

_FOLDERS = {
    "tutorial": "Tutorial",
    "litmus": "Small programs of the papers",
    "rocker": "Algorithms",
    "rc20": "Algorithms with C++20 modes",
    "any-number": "Any number of threads",
    "sra": "Causal consistency",
    "litmus-c": "C litmus tests",
    "tso": "Automata for x86",
}


class Example(NamedTuple):
    folder: str
    name: str
    format: str
    text: str


@cache
def examples() -> tuple[Example, ...]:
    """Every program of the folders that exist, in alphabetical order."""
    formats = {ending: known.name for known in FORMATS for ending in known.endings}
    return tuple(
        Example(title, path.stem, formats[path.suffix], path.read_text(encoding="utf-8"))
        for folder, title in _FOLDERS.items()
        for path in sorted((_directory() / folder).glob("*"))
        if path.suffix in formats
    )


def _directory() -> Path:
    """Beside this module in an installed package, else in the repository."""
    installed = Path(__file__).parent / "examples"
    return installed if installed.is_dir() else Path(__file__).parents[3] / "examples"
