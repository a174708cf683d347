"""`docs/adding-a-model.md`, followed for a toy: release/acquire in which every write is an RMW.

The toy has an oracle of its own. It is RA of the same program with every store made an exchange.
"""

import random
from operator import or_
from pathlib import Path

import pytest
from msgspec.structs import replace

from fencepost.analyses.robustness import robust
from fencepost.memory_models import MODELS, MemoryModel
from fencepost.models.definition import ConsistentGraphs, Definition, definition, program_lts
from fencepost.models.enumerate import initial_graph_states, transitions
from fencepost.models.relations import identity
from fencepost.models.robustness import non_robustness_witness, not_robust_graph, state_beyond_sc
from fencepost.models.rules import Views
from fencepost.models.sc import SCG
from fencepost.models.threads import moved
from fencepost.models.witnesses import replay
from fencepost.program import Exchange, Mode, Program, Store
from tests.models.litmus import IRIW, MP, SB, SB_FENCES, TWO_PLUS_TWO_W, program, read, write
from tests.models.showing import witness_shown
from tests.strategies import random_program

# 1. The definition: a write comes after all writes before it in modification order, as if it had read them.


def hb(graph):
    return (graph.po | identity(graph.atomics) >> (graph.rf | graph.mo)).plus()


def is_consistent(graph):
    before = hb(graph)
    return before.is_irreflexive() and (graph.fr >> before).is_irreflexive()


DEFINITION = Definition(ConsistentGraphs(is_consistent), hb)

# 2. The row.

ROW = MemoryModel(
    "release/acquire with RMWs only",
    criteria={},
    definition="tests.models.test_adding_a_model",
    synchronises=True,
)


@pytest.fixture(autouse=True)
def toy(monkeypatch):
    monkeypatch.setitem(MODELS, "toy", ROW)


# 3. The rules: those of RC20, where every access acquires and releases, and a write reads the one before it.


class Toy:
    def __init__(self, graph):
        self.views = Views(0, or_)
        self._messages = dict.fromkeys(range(len(graph.cells.initial)), 0)
        for thread in range(len(graph.labels)):
            self.views.happen(thread, (1 << len(graph.cells.initial)) - 1)

    def take(self, thread, event, cell, *, writes):
        self.views.happen(thread, 1 << event)
        self.views.read(thread, self._messages[cell], 0, acquire=True)
        if writes:
            replaced = self._messages[cell]
            self._messages[cell] = self.views.write(thread, 0, release=True, replaced=replaced)


# 4. The tests.

R = program([write("x", 1), write("y", 1)], [write("y", 2), read("a", "x")])
BY_HAND = {  # robust against RA, and against the toy
    "MP": (MP, True, True),
    "SB": (SB, False, False),
    "SB with fences": (SB_FENCES, True, True),
    "IRIW": (IRIW, False, False),
    "2+2W": (TWO_PLUS_TWO_W, False, True),
    "R": (R, False, True),
}


def exchanging(test: Program) -> Program:
    """The program with every atomic store made an exchange."""

    def made(instruction):
        if isinstance(instruction, Store) and instruction.mode is not Mode.NA:
            return Exchange(None, instruction.cell, instruction.value, at=instruction.at)
        return instruction

    return replace(test, threads=tuple(replace(t, code=tuple(map(made, t.code))) for t in test.threads))


def test_the_page_shows_this_definition():
    here = Path(__file__)
    page = (here.parents[2] / "docs" / "adding-a-model.md").read_text()
    assert page.split("```")[1].strip() in here.read_text()


@pytest.mark.parametrize("name", BY_HAND)
def test_litmus_verdicts(name):
    test, under_ra, under_toy = BY_HAND[name]
    for model, verdict in (("ra", under_ra), ("toy", under_toy)):
        assert (not_robust_graph(test, model) is None) == verdict
        assert (state_beyond_sc(test, model) is None) == verdict
        assert (non_robustness_witness(test, model) is None) == verdict


def test_the_definition_agrees_with_ra_on_exchanges():
    verdicts = set()
    for seed in range(40):
        test = random_program(random.Random(seed), non_atomic=False, threads=(2, 3), most_accesses=2)
        is_robust = not_robust_graph(test, "toy") is None
        verdicts.add(is_robust)
        assert (not_robust_graph(exchanging(test), "ra") is None) == is_robust, seed
        assert (robust(exchanging(test), "ra").verdict == "robust") == is_robust, seed
    assert verdicts == {True, False}


def test_the_rules_are_the_happens_before_of_the_definition():
    for seed in range(40):
        source = random.Random(seed)
        lts = program_lts(random_program(source, non_atomic=False), "toy")
        state = source.choice(list(initial_graph_states(lts)))
        toy = Toy(state.graph)
        while steps := list(transitions(lts, SCG, state)):
            thread, step, _, graph = source.choice(steps)
            event = graph.number(thread, len(graph.labels[thread]))
            toy.take(thread, event, step.label.cell, writes=step.label.writes)
            assert {graph.event(e) for e in graph.numbers() if toy.views.current[thread] >> e & 1} == (
                (hb(graph) >> identity([graph.event(event)])).domain | {graph.event(event)}
            ), seed
            state = state._replace(
                threads=moved(state.threads, thread, source.choice(step.successors)), graph=graph
            )


def test_a_witness_of_the_toy_is_replayed():
    found = non_robustness_witness(SB, "toy")
    replay(SB, witness_shown(SB, found, "toy"), "toy")


def test_a_model_without_a_question_is_refused_by_the_analyses():
    with pytest.raises(ValueError, match="unknown model 'toy'; expected one of ra, rc20, cpp20, tso"):
        robust(SB, "toy")


def test_a_model_that_is_not_defined_by_graphs_says_so():
    with pytest.raises(ValueError, match=r"no definition of 'tso'.*; there are ra, rc20, cpp20, sc, toy"):
        definition("tso")
