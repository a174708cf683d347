"""What each memory model means: small, slow, obviously right. The oracles of the tests."""

from fencepost.models.definition import Definition, definition, program_lts
from fencepost.models.enumerate import BOTTOM, GraphMemory, GraphState, reachable_graph_states
from fencepost.models.explore import LimitReachedError
from fencepost.models.graphs import Graph, initial_graph
from fencepost.models.ra import RAG, RAG_NA, is_ra_consistent
from fencepost.models.ra_timestamps import timestamp_states
from fencepost.models.rc20 import RC20, Rc20Race, is_rc20_consistent
from fencepost.models.rc20 import races as rc20_races
from fencepost.models.robustness import (
    NonRobustnessWitness,
    non_robustness_witness,
    not_robust_graph,
    state_beyond_sc,
)
from fencepost.models.sc import (
    SCG,
    ScFinding,
    ScRace,
    ScState,
    findings,
    is_sc_consistent,
    races,
    reachable_states,
    sc_successors,
)
from fencepost.models.threads import DIVERGED, Label, ProgramLts, ThreadLts, ThreadState
from fencepost.models.witnesses import ReplayError, replay, replay_assertion, replay_race, replay_run

__all__ = [
    "BOTTOM",
    "DIVERGED",
    "RAG",
    "RAG_NA",
    "RC20",
    "SCG",
    "Definition",
    "Graph",
    "GraphMemory",
    "GraphState",
    "Label",
    "LimitReachedError",
    "NonRobustnessWitness",
    "ProgramLts",
    "Rc20Race",
    "ReplayError",
    "ScFinding",
    "ScRace",
    "ScState",
    "ThreadLts",
    "ThreadState",
    "definition",
    "findings",
    "initial_graph",
    "is_ra_consistent",
    "is_rc20_consistent",
    "is_sc_consistent",
    "non_robustness_witness",
    "not_robust_graph",
    "program_lts",
    "races",
    "rc20_races",
    "reachable_graph_states",
    "reachable_states",
    "replay",
    "replay_assertion",
    "replay_race",
    "replay_run",
    "sc_successors",
    "state_beyond_sc",
    "timestamp_states",
]
