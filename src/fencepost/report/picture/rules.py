"""What an arrow of an execution graph means, and which rule put it there.

The sentence about the two accesses is that of `explain`. The rule says where the edge comes from: the text of
the thread, the values of the run, the order of the writes, or a combination of these. For edges of the
cycle it also says whether the memory model keeps their order.
"""

from __future__ import annotations

from fencepost.report import explain
from fencepost.report.cycle import overtaking
from fencepost.report.labels import named, thread
from fencepost.report.picture.layout import Arrow, Gap
from fencepost.verdicts import AnyWitness, Edge, SafetyWitness, TsoWitness

RELATIONS = {
    "po": "program order",
    "rf": "reads-from",
    "mo": "modification order",
    "fr": "from-reads",
    "so": "store order",
    "S": "order of seq_cst",
}
_RULES = {
    "po": "Both belong to one thread, and its code runs them in this order.",
    "rf": "The read returns the value that this write stored.",
    "mo": "All threads agree on one order of the writes to a location; these two stand in it like this.",
    "so": "Writes reach memory one after the other, and this is the order in which these two do.",
    "S": "All threads agree on one order of the seq_cst accesses and SC fences, with these two like this.",
}
_UNORDERED = "The memory model does not keep this order: here ordering is missing."
_ORDERED = "The memory model keeps this order."


def explain_arrow(witness: AnyWitness, arrow: Arrow) -> str:
    """What the arrow means and which rule gave it; an arrow of several relations has a sentence for each."""
    if isinstance(arrow.source, Gap) or isinstance(arrow.target, Gap):
        return f"po, program order. {_RULES['po']} Some accesses between are not shown."
    edges = [Edge(arrow.source, arrow.target, relation) for relation in arrow.relations]  # type: ignore[arg-type]
    return " ".join(explain_edge(witness, edge) for edge in edges)


def explain_edge(witness: AnyWitness, edge: Edge) -> str:
    """The edge in a sentence, then its rule, then what the model makes of it if it is on the cycle."""
    said = f"{edge.relation}, {RELATIONS[edge.relation]}. {explain.explain_edge(witness, edge)}"
    return " ".join([said, _rule(witness, edge), *_kept(witness, edge)])


def _rule(witness: AnyWitness, edge: Edge) -> str:
    if edge.relation != "fr":
        return _RULES[edge.relation]
    origin = next(
        (e.source for e in witness.edges if e.relation == "rf" and e.target == edge.source), edge.target
    )
    if origin == edge.target:
        return "The read returns an older value than this write stored."
    return f"It reads from {named(witness.threads, witness.events[origin])}, which is older (rf⁻¹ ; mo)."


def _kept(witness: AnyWitness, edge: Edge) -> list[str]:
    if edge not in witness.cycle:
        return []
    if isinstance(witness, TsoWitness | SafetyWitness):
        if edge in _passed_by_reads(witness):
            owner = thread(witness.threads, witness.events[edge.source])
            return [f"The store buffer of {owner} does not keep this order: here a fence is missing."]
        return []
    if edge in witness.unordered:
        return [_UNORDERED]
    return [] if edge.relation == "po" else [_ORDERED]


def _passed_by_reads(witness: TsoWitness | SafetyWitness) -> list[Edge]:
    """The steps from a write in a store buffer to the read that overtakes it."""
    if isinstance(witness, TsoWitness):
        return [Edge(witness.write, witness.read, "po")]
    return overtaking(witness)
