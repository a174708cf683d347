"""Robustness against TSO for any number of threads (Bouajjani, Derevenetc and Meyer, ESOP 2013).

One thread is the attacker (`native/engine/tso/tso.hpp` has the rule): in some state of sequential consistency
it delays a write and runs on alone up to a read, which overtakes the write. Then others go on without it. All
of them are alike, so both halves are searches of views (`native/engine/any_number/attacks.hpp`), one for each
template that the attacker may be of, and one for the threads that are there once. Other criteria of TSO need
a fixed number of threads.
"""

from __future__ import annotations

import time

from fencepost.analyses.any_number import Robustness, Views, joined
from fencepost.analyses.tso import robust_against_tso
from fencepost.engine import _native
from fencepost.engine._native import Outcome
from fencepost.engine.search import Limits, Watcher, explore_any_number, explore_attacks
from fencepost.models.tso import on_x86
from fencepost.program import Program, Thread
from fencepost.verdicts import RobustnessAnswer


def robust_against_tso_for_any_number(
    program: Program, limits: Limits, watcher: Watcher | None
) -> RobustnessAnswer:
    """Whether the program is robust against TSO with every number of threads of its templates."""
    return _TsoRobustness(on_x86(program), "tso", limits, watcher).answer()


class _TsoRobustness(Robustness):
    def look(self, k: int, limits: Limits) -> Views:
        return tso_views_of(self.program, k, limits, self.watcher)

    def ask(self, program: Program, limits: Limits) -> RobustnessAnswer:
        return robust_against_tso(program, "robust", limits, self.watcher)


def tso_views_of(program: Program, k: int, limits: Limits, watcher: Watcher | None) -> Views:
    """What the views of k threads show of a program with the instructions of x86."""
    started = time.monotonic()
    # Races and failing assertions are those of sequential consistency.
    parts: list[tuple[Thread | None, _native.AnyNumberResult]] = [
        (None, explore_any_number(program, "sc", k, limits, watcher))
    ]
    alone = [None] if len(program.templates) < len(program.threads) else []
    for attacker in (*alone, *program.templates):
        if parts[-1][1].search.outcome != Outcome.COMPLETE:
            break
        left = limits.after(time.monotonic() - started)
        parts.append((attacker, explore_attacks(program, k, left, watcher, apart=attacker)))
    return joined(program, k, parts, limits)
