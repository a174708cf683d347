"""The names of the memory models, in the one place that knows them."""

from __future__ import annotations

# Name, and what it is called in sentences.
MODELS = {
    "sc": "sequential consistency",
    "ra": "release/acquire",
    "rc20": "C++20 atomics",
}

# Those against which robustness can be asked.
ROBUSTNESS_MODELS = ("ra", "rc20")
