"""What the total order S of C++20 says about the cycle of a witness, in sentences.

S contains the seq_cst accesses and the SC fences. Its edges are in the witness (`Witness.order`). Accesses of
the cycle that are not in S are what it cannot order: there the run slips through.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fencepost.report.advice import repairs
from fencepost.report.labels import in_turn, named
from fencepost.verdicts import AnyWitness, Edge, Witness
from fencepost.verdicts.graph import MOST_EVENTS_FOR_S, sc_events_on_cycle

NAME = "S, the total order of seq_cst accesses and fences,"


def explain_order(witness: AnyWitness) -> str:
    """The chains of S on the cycle, and which accesses are not in S; nothing where S plays no part."""
    if not isinstance(witness, Witness):
        return ""
    inside = list(sc_events_on_cycle(witness.events, witness.cycle))
    return " ".join([*_order(witness, inside), *_outside(witness)]) if inside else ""


def _order(witness: Witness, inside: Sequence[int]) -> Iterator[str]:
    def name(event: int) -> str:
        return named(witness.threads, witness.events[event])

    if witness.order:
        chains = [" before ".join(map(name, chain)) for chain in _chains(witness.order)]
        yield f"{NAME} has {', and '.join(chains)}."
    elif len(inside) == 1:
        yield f"{NAME} has nothing of the cycle but {name(inside[0])}."
    elif len(witness.events) <= MOST_EVENTS_FOR_S:
        yield f"{NAME} leaves {in_turn([name(event) for event in inside])} in any order."


def _outside(witness: Witness) -> Iterator[str]:
    """The accesses that a repair would put into S, or beside a fence of S."""
    changes = [repair for repair in repairs(witness) if repair.change in ("seq_cst", "fence")]
    ends = [event for repair in changes for event in (repair.after, repair.place) if event is not None]
    weak = [event for event in ends if event.mode != "seq_cst"]
    names = list(dict.fromkeys(named(witness.threads, event) for event in weak))
    if len(names) == 1:
        yield f"{names[0]} is not seq_cst, so S does not have it."
    elif names:
        yield f"{in_turn(names)} are not seq_cst, so S does not have them."


def _chains(order: Sequence[Edge]) -> list[list[int]]:
    """Paths along the edges, each edge on one of them; they start as early as possible."""
    left = sorted(order, key=lambda edge: (edge.source, edge.target))
    chains: list[list[int]] = []
    while left:
        targets = {edge.target for edge in left}
        start = next(edge for edge in left if edge.source not in targets)
        chain = [start.source]
        step: Edge | None = start
        while step is not None:
            left.remove(step)
            chain.append(step.target)
            step = next((edge for edge in left if edge.source == chain[-1]), None)
        chains.append(chain)
    return chains
