"""holdfast: can weak memory break this program?

    >>> import holdfast
    >>> program = holdfast.load("peterson.tpl")
    >>> answer = holdfast.robust(program, model="ra")
    >>> answer.verdict, answer.witness

Names are imported when first used, so that `import holdfast` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from holdfast.analyses.fix import fix
    from holdfast.analyses.robustness import robust
    from holdfast.analyses.tso import persist
    from holdfast.engine.explore import Limits, Tactics
    from holdfast.errors import InputError
    from holdfast.formats import load
    from holdfast.program import Program, Thread
    from holdfast.verdicts import (
        Answer,
        Assertion,
        Edge,
        Event,
        Fragile,
        NotRobust,
        Persistent,
        Race,
        Robust,
        TsoWitness,
        Unknown,
        Witness,
    )

__version__ = "0.1.0"

_HOME = {
    "Answer": "verdicts",
    "Assertion": "verdicts",
    "Edge": "verdicts",
    "Event": "verdicts",
    "Fragile": "verdicts",
    "InputError": "errors",
    "Limits": "engine.explore",
    "NotRobust": "verdicts",
    "Persistent": "verdicts",
    "Program": "program",
    "Race": "verdicts",
    "Robust": "verdicts",
    "Tactics": "engine.explore",
    "Thread": "program",
    "TsoWitness": "verdicts",
    "Unknown": "verdicts",
    "Witness": "verdicts",
    "fix": "analyses.fix",
    "load": "formats",
    "persist": "analyses.tso",
    "robust": "analyses.robustness",
}

__all__ = [
    "Answer",
    "Assertion",
    "Edge",
    "Event",
    "Fragile",
    "InputError",
    "Limits",
    "NotRobust",
    "Persistent",
    "Program",
    "Race",
    "Robust",
    "Tactics",
    "Thread",
    "TsoWitness",
    "Unknown",
    "Witness",
    "fix",
    "load",
    "persist",
    "robust",
]


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module 'holdfast' has no attribute {name!r}")
    return getattr(import_module(f"holdfast.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return __all__
