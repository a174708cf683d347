"""The example programs of the playground, all in memory, so that no request names a file."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

from fencepost.formats import FORMATS

_FOLDERS = {
    "tutorial": "Tutorial",
    "litmus": "Small programs of the papers",
    "rocker": "Algorithms",
    "rc20": "Algorithms with C++20 modes",
    "cpp20": "seq_cst accesses of C++20",
    "observational": "Observational robustness",
    "sra": "Causal consistency",
    "any-number": "Any number of threads",
    "litmus-c": "C litmus tests",
    "outcomes": "C litmus tests with outcomes",
    "tso": "Automata for x86",
}
_LONGEST_LINE_ABOUT = 118
# Litmus tests are called after their shape, and many say no more about themselves.
_SHAPES = {
    "2+2W": "Two threads write two locations in opposite orders",
    "3.2W": "Three threads write three locations in a ring",
    "3LB": "Load buffering with three threads",
    "3SB": "Store buffering with three threads",
    "Co": "Coherence: accesses to one location",
    "IRIW": "Independent reads of independent writes",
    "ISA2": "Message passing through a second thread's flag",
    "LB": "Load buffering",
    "MP": "Message passing",
    "R": "One thread writes two locations, the other writes the second and reads the first",
    "RWC": "Read-to-write causality",
    "S": "Message passing with a write in place of the last read",
    "SB": "Store buffering",
    "W+RWC": "Write and read-to-write causality",
    "WRC": "Write-to-read causality",
    "WWC": "Write-to-write causality",
    "Z6": "Three threads in a ring of writes and reads",
}
_SHAPE = re.compile(r"(W\+RWC|2\+2W|3\.2W|Co|\w+)")
# Comments that are for programs, and sentences that say nothing about this one.
_STATES = re.compile(r"(expect|mutex|error-label|bad|assert|outcomes|fences)\b[^.]*:")
_EMPTY = re.compile(r"Computed\.|Of the mixtures in [^,]*,[^.]*\.|Verdicts: .*|\([^()]*\b\d{4}\b[^()]*\)")
_OUTCOME = re.compile(r"The outcome below: ")
_COMMENT = re.compile(r"\s*(?://|#)\s?(.*?)\s*$")
_SENTENCE = re.compile(r".*?\.(?=\s|$)")


class Example(NamedTuple):
    folder: str
    name: str
    format: str
    about: str
    text: str


@cache
def examples() -> tuple[Example, ...]:
    """Every program of the folders that exist, in alphabetical order."""
    formats = {ending: known.name for known in FORMATS for ending in known.endings}
    return tuple(
        Example(title, path.stem, formats[path.suffix], about(path.stem, text), text)
        for folder, title in _FOLDERS.items()
        for path in sorted((_directory() / folder).glob("*"))
        if path.suffix in formats
        for text in [path.read_text(encoding="utf-8")]
    )


def about(name: str, text: str) -> str:
    """The first sentence of the comments at the head of the program, or as much of it as fits on a line."""
    said = re.sub(r"\s+", " ", _EMPTY.sub("", " ".join(_comments(text))))
    said = re.sub(r" ([,:])", r"\1", said).strip()
    outcome = _OUTCOME.search(said)
    before = said[: outcome.start()] if outcome else said
    first = _SENTENCE.match(before)
    sentence = (first[0] if first else before).strip().rstrip(".")
    shape = _SHAPE.match(name)
    if shape and shape[1] in _SHAPES and _SHAPES[shape[1]].split()[0] not in sentence:
        rest = f": {said[outcome.end() :].rstrip('.')}" if outcome and not sentence else ""
        sentence = _SHAPES[shape[1]] + (f". {sentence}" if sentence else rest)
    if len(sentence) > _LONGEST_LINE_ABOUT:
        sentence = sentence[:_LONGEST_LINE_ABOUT].rpartition(" ")[0].rstrip(",;:") + " …"
    return sentence


def _comments(text: str) -> list[str]:
    """The first lines that are comments, but for those that a program reads."""
    lines: list[str] = []
    for line in text.split("\n"):
        comment = _COMMENT.match(line)
        if comment is None or _STATES.match(comment[1]):
            if lines:
                break
        else:
            lines.append(comment[1])
    return lines


def _directory() -> Path:
    """Beside this module in an installed package, else in the repository."""
    installed = Path(__file__).parent / "examples"
    return installed if installed.is_dir() else Path(__file__).parents[3] / "examples"
