"""How programs, answers and witnesses show themselves in a notebook.

Their `_repr_html_` and `_repr_svg_` call these functions. `fencepost/__init__.py` sets them to those of
`report.html.notebook`, so that the values need not know the reports.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

answer_html: Callable[[Any], str]
program_html: Callable[[Any], str]
witness_svg: Callable[[Any], str]


class Interactive:
    """The web page of an answer, as what a cell of a notebook shows."""

    def __init__(self, answer: Any, program: Any, height: int) -> None:
        self._shown = answer, program, height

    def _repr_html_(self) -> str:
        html: str = import_module("fencepost.report.html.notebook").interactive_html(*self._shown)
        return html


def interactive(answer: Any, program: Any = None, *, height: int = 760) -> Interactive:
    """The answer as a graph to point at and a run to step through; with the program there is its text too."""
    return Interactive(answer, program, height)
