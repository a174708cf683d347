"""The random programs reach every rule: no label is executed in too few of them, and accesses of every kind
leave sequential consistency."""

import pytest

from fencepost.memory_models import GRAPH_MODELS as MODELS
from tests.engine.rules_fired import counts, leaving, possible_labels

PROGRAMS = 800


@pytest.mark.parametrize("model", MODELS)
def test_every_rule_is_reached(model):
    steps, found = counts(model, range(PROGRAMS))
    assert {label: steps[label] for label in possible_labels(model) if steps[label] < 5} == {}
    assert {kind: found[kind] for kind in leaving(model) if found[kind] == 0} == {}
    if model != "ra":  # whose races are not found by its monitor
        assert found["race with a write"] > 5
        assert found["race with a read"] > 5
