"""What can answer a question about safety under a weak memory model: one row per kind of machine.

    sra    graphs of opSRA forward, potentials backward; RA is answered by it too (`portfolio`)
    tso    store buffers forward, load buffers backward

Each has a way to say that weak memory does not show, so that the answer is that of sequential consistency.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from msgspec.structs import replace

from fencepost.analyses.robustness import robust
from fencepost.analyses.safety.bad_states import BadProduct
from fencepost.analyses.safety.end_of_run import Run
from fencepost.analyses.safety.paths import Path
from fencepost.analyses.safety.tso_witness import tso_safety_witness
from fencepost.analyses.safety.witness import safety_witness
from fencepost.analyses.tso import persist
from fencepost.engine import _native
from fencepost.engine._native import Outcome
from fencepost.engine.search import Limits, Watcher
from fencepost.models.tso import on_x86
from fencepost.program import Program
from fencepost.verdicts import BadState, PersistenceAnswer, RobustnessAnswer, SafetyWitness, Unknown

MOST_ON_THE_WAY = 64  # the largest bound of a forward search

Backward = _native.Coverability | _native.TsoCoverability


class WeakEngines(NamedTuple):
    """The searches over a weak memory, and what is said about them."""

    called: str
    forward: type[_native.ForwardSearch] | type[_native.TsoForwardSearch]
    bounded: str  # what the forward search has at most so many of
    first_bound: int  # doubled when everything within has been seen
    backward: type[_native.Coverability] | type[_native.TsoCoverability]
    failing_cas_writes: bool
    as_compiled: Callable[[Program], Program]
    witness: Callable[[Program, Path, Callable[[Run], BadState]], SafetyWitness]
    does_not_show: Callable[[Program, Limits, Watcher | None], RobustnessAnswer | PersistenceAnswer]


def _robust_against_ra(program: Program, limits: Limits, watcher: Watcher | None) -> RobustnessAnswer:
    return robust(program, "ra", limits=limits, watcher=watcher)


def _same_on_tso(
    program: Program, limits: Limits, watcher: Watcher | None
) -> RobustnessAnswer | PersistenceAnswer:
    """Persistent or else robust: either way TSO reaches the states of sequential consistency alone."""
    started = time.monotonic()
    half = None if limits.seconds is None else limits.seconds / 2
    first = persist(program, limits=replace(limits, seconds=half), watcher=watcher)
    if first.holds or (isinstance(first, Unknown) and first.interrupted):
        return first
    second = robust(program, "tso", limits=limits.after(time.monotonic() - started), watcher=watcher)
    return replace(
        second,
        stats=first.stats + second.stats,
        race=second.race or first.race,
        assertion=second.assertion or first.assertion,
        deadlock=second.deadlock or first.deadlock,
    )


_SRA = WeakEngines(
    "SRA",
    forward=_native.ForwardSearch,
    bounded="writes of a cell in reach",
    first_bound=2,
    backward=_native.Coverability,
    failing_cas_writes=False,
    as_compiled=lambda program: program,
    witness=safety_witness,
    does_not_show=_robust_against_ra,
)
_TSO = WeakEngines(
    "TSO",
    forward=_native.TsoForwardSearch,
    bounded="writes in a store buffer",
    first_bound=1,
    backward=_native.TsoCoverability,
    failing_cas_writes=True,
    as_compiled=on_x86,
    witness=tso_safety_witness,
    does_not_show=_same_on_tso,
)
# Runs under SC are shown as those of SRA.
ENGINES_OF = {"sc": _SRA, "sra": _SRA, "ra": _SRA, "tso": _TSO}


class Counts(NamedTuple):
    """What a search has done so far."""

    states: int = 0
    transitions: int = 0
    bytes: int = 0


class Forward:
    """The forward search with a growing bound."""

    def __init__(self, engines: WeakEngines, graphs: _native.ThreadGraphs, bad: Sequence[BadProduct]) -> None:
        self._engines, self._graphs, self._bad = engines, graphs, bad
        self._bound = engines.first_bound
        self._search = engines.forward(graphs, bad, self._bound)
        self._before = Counts()  # with smaller bounds
        self.goes_on = True

    @property
    def stats(self) -> Counts:
        now = self._search.stats
        return Counts(self._before.states + now.states, self._before.transitions + now.transitions, now.bytes)

    def run(self, **given: Any) -> Outcome:
        start = time.perf_counter()
        seconds = given.pop("most_seconds")
        while True:
            left = seconds - (time.perf_counter() - start)
            outcome = self._search.run(**given, most_seconds=max(left, 0.0))
            if outcome != Outcome.COMPLETE or not self._search.stats.truncated:
                return outcome
            if self._bound >= MOST_ON_THE_WAY:
                self.goes_on = False
                return Outcome.TIME_LIMIT
            self._before = self.stats
            self._bound *= 2
            self._search = self._engines.forward(self._graphs, self._bad, self._bound)

    def path(self) -> list[_native.RunStep]:
        return self._search.path()

    def start_nodes(self) -> list[int]:
        return self._search.start_nodes()

    def stored_by(self) -> list[int] | None:
        """The threads whose writes reach memory, in this order; None: in that of the path."""
        return self._search.updates() if isinstance(self._search, _native.TsoForwardSearch) else None
