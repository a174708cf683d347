"""A safe answer with its proof: the basis of the backward search, in the form that `certificates` checks."""

from __future__ import annotations

from fencepost.certificates import BasisState, Certificate, Standing
from fencepost.certificates.certificate import CertifiedModel, FileOption, Flag
from fencepost.engine import _native
from fencepost.formats.properties import spelled
from fencepost.program.properties import Marked, Property

_FLAGS: dict[_native.Flag, Flag] = {_native.Flag.R: "R", _native.Flag.U: "U", _native.Flag.S: "S"}


def certificate_of(
    marked: Marked,
    wanted: Property,
    graphs: _native.ThreadGraphs,
    search: _native.Coverability | _native.TsoCoverability,
) -> Certificate:
    """The certificate of a search that has come to its end without finding a way to a bad state."""
    model: CertifiedModel = "tso" if isinstance(search, _native.TsoCoverability) else "sra"
    nodes = [graph.nodes for graph in graphs.threads]

    def standing(thread: int, node: int) -> Standing:
        if node == len(nodes[thread]):
            return Standing(None, ())
        return Standing(nodes[thread][node].pc, tuple(nodes[thread][node].registers))

    def option(writer: int, cell: int, value: int, flag: _native.Flag) -> FileOption:
        nobody = model == "tso" or writer == len(nodes)
        return (-1 if nobody else writer, cell, value, _FLAGS[flag])

    basis = tuple(
        BasisState(
            tuple(standing(thread, node) for thread, node in enumerate(places)),
            phase,
            tuple(tuple(tuple(option(*one) for one in options) for options in lists) for lists in potentials),
        )
        for places, phase, potentials in search.basis()
    )
    return Certificate.of(marked.program, spelled(wanted), basis, model)
