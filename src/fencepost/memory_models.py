"""The names of the memory models, in the one place that knows them."""

from __future__ import annotations

# Name, and what it is called in sentences.
MODELS = {
    "sc": "sequential consistency",
    "ra": "release/acquire",
    "sra": "strong release/acquire",
    "rc20": "C++20 atomics",
    "tso": "total store order (x86)",
}

# Those whose runs are execution graphs, and all against which robustness can be asked.
GRAPH_MODELS = ("ra", "rc20")
ROBUSTNESS_MODELS = (*GRAPH_MODELS, "tso")

# What can be asked about TSO: persistence, robustness, freedom from triangular races.
TSO_CRITERIA = ("persistent", "robust", "trf")

# Those under which safety can be asked.
SAFETY_MODELS = ("sra", "ra", "sc")

# What keeps the backward search for safety small, each of which can be switched off.
PRUNINGS = ("sources", "pairs", "joint", "subsumption")
