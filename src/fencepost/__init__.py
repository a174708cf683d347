"""fencepost: can weak memory break this program?

    >>> import fencepost
    >>> program = fencepost.load("peterson.tpl")
    >>> answer = fencepost.robust(program, model="ra")
    >>> answer.verdict, answer.witness

Names are imported when first used, so that `import fencepost` costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING

from fencepost import notebook
from fencepost.notebook import interactive

if TYPE_CHECKING:
    from fencepost.analyses.outcomes import outcomes
    from fencepost.analyses.repair.fix import fix
    from fencepost.analyses.repair.relax import relax
    from fencepost.analyses.robustness import robust
    from fencepost.analyses.safety.portfolio import races, verify
    from fencepost.analyses.tso import persist
    from fencepost.engine.search import Limits, Tactics
    from fencepost.errors import InputError
    from fencepost.formats import load
    from fencepost.program import Program, Thread
    from fencepost.program.properties import Property
    from fencepost.verdicts import (
        Answer,
        Assertion,
        BadState,
        Edge,
        Event,
        Fragile,
        NotRobust,
        Persistent,
        Place,
        Race,
        RaceFree,
        Racy,
        Robust,
        Safe,
        SafetyWitness,
        TsoWitness,
        Unknown,
        Unsafe,
        Witness,
    )

__version__ = "0.1.0"

# Which module has which names.
_NAMES_IN = {
    "analyses.outcomes": "outcomes",
    "analyses.repair.fix": "fix",
    "analyses.repair.relax": "relax",
    "analyses.robustness": "robust",
    "analyses.safety.portfolio": "races verify",
    "analyses.tso": "persist",
    "engine.search": "Limits Tactics",
    "errors": "InputError",
    "formats": "load",
    "program": "Program Thread",
    "program.properties": "Property",
    "verdicts": (
        "Answer Assertion BadState Edge Event Fragile NotRobust Persistent Place Race RaceFree Racy "
        "Robust Safe SafetyWitness TsoWitness Unknown Unsafe Witness"
    ),
}
_HOME = {name: module for module, names in _NAMES_IN.items() for name in names.split()}

__all__ = [
    "Answer",
    "Assertion",
    "BadState",
    "Edge",
    "Event",
    "Fragile",
    "InputError",
    "Limits",
    "NotRobust",
    "Persistent",
    "Place",
    "Program",
    "Property",
    "Race",
    "RaceFree",
    "Racy",
    "Robust",
    "Safe",
    "SafetyWitness",
    "Tactics",
    "Thread",
    "TsoWitness",
    "Unknown",
    "Unsafe",
    "Witness",
    "fix",
    "interactive",
    "load",
    "outcomes",
    "persist",
    "races",
    "relax",
    "robust",
    "verify",
]


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module 'fencepost' has no attribute {name!r}")
    return getattr(import_module(f"fencepost.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return __all__


def _from_reports(name: str) -> Callable[[object], str]:
    """A function of `report.html.notebook`, which is imported when it is called."""

    def rendered(value: object) -> str:
        html: str = getattr(import_module("fencepost.report.html.notebook"), name)(value)
        return html

    return rendered


notebook.answer_html = _from_reports("answer_html")
notebook.program_html = _from_reports("program_html")
notebook.witness_svg = _from_reports("witness_svg")
