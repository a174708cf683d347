"""What a memory model is, by execution graphs, and where the definition of each model is found.

The table in `memory_models` names the module of a model; that module has a `DEFINITION`. The definitions of
SRA by potentials and of TSO by store buffers are of another kind, and stand alone.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import NamedTuple

from fencepost.memory_models import MODELS
from fencepost.models.enumerate import GraphMemory
from fencepost.models.graphs import Event, Graph
from fencepost.models.relations import Relation
from fencepost.models.threads import Label, ProgramLts
from fencepost.program import Program


class Definition(NamedTuple):
    """Which steps the model allows from which graphs, and its happens-before."""

    memory: GraphMemory
    hb: Callable[[Graph], Relation[Event]]


class ConsistentGraphs:
    """The memory of a model given by a predicate: any event may come next, anywhere in mo, that leaves the
    graph consistent.

    It builds all consistent graphs only if each of them, without an event last in po ∪ rf, is consistent.
    """

    def __init__(self, is_consistent: Callable[[Graph], bool]) -> None:
        self._is_consistent = is_consistent

    def step(self, graph: Graph, thread: int, label: Label, w: int) -> Graph | None:
        after = graph.add(thread, label, w)
        return after if self._is_consistent(after) else None


def definition(model: str) -> Definition:
    """The definition of a model by execution graphs; raises `ValueError` if it has none."""
    if model not in MODELS or not MODELS[model].definition:
        known = ", ".join(name for name, row in MODELS.items() if row.definition)
        raise ValueError(f"no definition of {model!r} by execution graphs; there are {known}")
    found = import_module(MODELS[model].definition).DEFINITION
    assert isinstance(found, Definition)
    return found


def program_lts(program: Program, model: str) -> ProgramLts:
    """The program as a transition system; fences that do nothing under the model are no events."""
    row = MODELS[model]
    return ProgramLts(program, silent_fences=not row.weak_fences, ordered_by_s=row.ordered_by_s)
