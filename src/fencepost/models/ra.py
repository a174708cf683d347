"""Release/acquire as a memory of execution graphs, and as a predicate on them.

    rocker-2019     here
    section 4.2     RAG, allows        w ∉ dom(mo ; hb? ; [E_τ]), and a write also w ∉ dom(mo|imm ; [RMW])
    section 6       RAG_NA             on non-atomic cells: wmax if τ has observed it, else ⊥
    Def. A.12       is_ra_consistent   hb, write coherence, read coherence, atomicity

In section 6, "τ has observed wmax" is `wmax ∈ dom(hb? ; [E_τ])`; read literally, a thread that starts with a
non-atomic access would race with the initial writes. As in the definition of VSC, Init ∪ E_τ is meant.
"""

from __future__ import annotations

from fencepost.models.definition import Definition
from fencepost.models.enumerate import BOTTOM, Bottom
from fencepost.models.graphs import Graph
from fencepost.models.relations import identity
from fencepost.models.threads import Label


def allows(graph: Graph, thread: int, label: Label, w: int) -> bool:
    """The third and fourth condition of a step of RAG, as they stand in section 4.2."""
    write = graph.event(w)
    observed = graph.mo >> (graph.hb | graph.id) >> identity(graph.of_thread(thread))
    taken = graph.mo.immediate() >> identity(graph.rmws)
    return write not in observed.domain and (not label.writes or write not in taken.domain)


class RaGraphs:
    """RAG: as `allows`, by bit masks."""

    def step(self, graph: Graph, thread: int, label: Label, w: int) -> Graph | None:
        order = graph.mo_lists[label.cell]
        newer = order[order.index(w) + 1 :]
        observed = graph.observed(thread)
        if any(observed >> write & 1 for write in newer):
            return None
        if label.writes and newer and graph.label(newer[0]).kind == "RMW":
            return None
        return graph.add(thread, label, w)


class RaGraphsNonAtomic:
    """RAG+NA; RAG where all cells are atomic."""

    def step(self, graph: Graph, thread: int, label: Label, w: int) -> Graph | Bottom | None:
        if graph.cells.atomic[label.cell]:
            return RAG.step(graph, thread, label, w)
        latest = graph.latest(label.cell)
        if not graph.observed(thread) >> latest & 1:
            return BOTTOM
        return graph.add(thread, label, w) if w == latest else None


RAG = RaGraphs()
RAG_NA = RaGraphsNonAtomic()
DEFINITION = Definition(RAG_NA, lambda graph: graph.hb)


def is_ra_consistent(graph: Graph) -> bool:
    hb, mo, fr = graph.hb, graph.mo, graph.fr
    return (
        hb.is_irreflexive()
        and (mo >> hb).is_irreflexive()  # write coherence
        and (fr >> hb).is_irreflexive()  # read coherence
        and (fr >> mo).is_irreflexive()  # atomicity
    )
