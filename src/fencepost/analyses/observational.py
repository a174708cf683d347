"""Observational robustness: does weak memory show in the values that a program uses?

The engine follows the rule of `models/observational.py`. If the rule holds, the program is observationally
robust. If not, it may still hold without the loads that nothing uses: they order other accesses, although
nobody can see it. If that does not help, nothing is decided: the answer is `Unknown`, with the run in which
the rule fails.
"""

from __future__ import annotations

import time
from functools import partial

from msgspec.structs import replace

from fencepost.analyses.happens_before import Knowledge
from fencepost.analyses.robustness import all_warnings, found_besides, search, undecided
from fencepost.analyses.witness import StaleLoad, atomic_cells, build_witness, needs_other_stale_values
from fencepost.engine._native import FailedRun, Outcome, Result
from fencepost.engine.search import Limits, Tactics, Watcher
from fencepost.memory_models import OBSERVATIONAL
from fencepost.program import Load, Program
from fencepost.program.spelling import statement_text
from fencepost.static.register_uses import unused_loads, without_unused_loads
from fencepost.verdicts import Race, Robust, Unknown, Witness

MOST_LINES = 5  # that a warning names


def observationally_robust(
    program: Program,
    model: str,
    *,
    limits: Limits,
    order: str,
    tactics: Tactics,
    watcher: Watcher | None,
) -> Robust | Unknown:
    if order == "by-location":
        raise ValueError("observational robustness cannot be decided by location")
    started = time.monotonic()
    by_rule = partial(_by_rule, model=model, order=order, tactics=tactics, watcher=watcher)
    first = by_rule(program, limits=limits)
    smaller = without_unused_loads(program)
    if not _is_failure_of_rule(first) or smaller == program:
        return first
    second = by_rule(smaller, limits=limits.after(time.monotonic() - started))
    # A race without the loads need not be one with them.
    best = second if isinstance(second, Robust) and second.race is None else first
    return replace(best, stats=first.stats + second.stats, warnings=first.warnings)


def _is_failure_of_rule(answer: Robust | Unknown) -> bool:
    """Whether the rule fails, and not only the search for want of time or memory."""
    return isinstance(answer, Unknown) and (answer.witness is not None or answer.exhaustive)


def _by_rule(
    program: Program,
    *,
    model: str,
    limits: Limits,
    order: str,
    tactics: Tactics,
    watcher: Watcher | None,
) -> Robust | Unknown:
    started = time.monotonic()
    result = search(program, model, limits, order, watcher, tactics=tactics, observational=True)
    common = found_besides(program, "robust", model, OBSERVATIONAL, result)
    common["warnings"] = (*all_warnings(program, model), *_unused_load_warnings(program))
    witness, why = _doubt(program, model, result)
    if common["race"] is not None and not _is_certain(program, common["race"]):
        why = why or _possible_race(common["race"])
        common["race"] = None
    common["stats"] = replace(common["stats"], seconds=round(time.monotonic() - started, 6))
    if why:
        return Unknown(**common, why=why, witness=witness)
    if result.outcome != Outcome.COMPLETE:
        return undecided(program, result, limits, common)
    return Robust(**common)


def _doubt(program: Program, model: str, result: Result) -> tuple[Witness | None, str]:
    """Where the rule fails, and why that is so; no reason if it does not."""
    if result.violation is not None:
        instruction = program.threads[result.violation.thread].code[result.violation.pc]
        access = _statement(program, instruction.at.line, statement_text(program, instruction))
        witness = build_witness(program, model, result.violation)
        why = f"{access} can leave sequential consistency, and that may show"
    elif result.tainted_use is not None:
        witness = build_witness(program, model, _stale_load(program, result.tainted_use))
        why = _use(program, result.tainted_use)
    else:
        return None, ""
    if needs_other_stale_values(program, model, witness):
        why += ". The run needs earlier loads to read stale values too; it shows them with the newest ones"
    return witness, why


def _stale_load(program: Program, found: FailedRun) -> StaleLoad:
    """The load that tainted the used register; where the taint was passed on, the last one that taints."""
    thread = program.threads[found.failure.thread]
    used = thread.registers[found.failure.reg]
    loads = [n for n, e in enumerate(found.run) if e.taints and e.thread == found.failure.thread]

    def is_into_used(n: int) -> bool:
        load = thread.code[found.run[n].pc]
        return isinstance(load, Load) and load.register == used

    last = next(filter(is_into_used, reversed(loads)), loads[-1])
    load = found.run[last]
    return StaleLoad(found.run[:last], load.thread, load.pc, load.cell)


def _use(program: Program, found: FailedRun) -> str:
    thread = program.threads[found.failure.thread]
    value = f"the value of `{thread.registers[found.failure.reg]}` in thread `{thread.name}` may be stale"
    if found.failure.pc == len(thread.code):
        return f"{value}, and the final condition asks for it"
    instruction = thread.code[found.failure.pc]
    use = _statement(program, instruction.at.line, statement_text(program, instruction))
    return f"{value} where {use} uses it"


def _statement(program: Program, line: int, text: str) -> str:
    return f"`{text}` (line {line})" if line else f"`{text}`"


# Data races. The monitors learn nothing from loads that may be stale, so they may miss what orders two
# accesses.


def _is_certain(program: Program, race: Race) -> bool:
    """Whether the two accesses race in the run itself, in which every load reads the newest write."""
    first, second = race.run.events[race.first], race.run.events[race.second]
    assert first.thread is not None
    assert second.thread is not None
    knowledge = Knowledge(atomic_cells(program))
    knowledge.take(race.run.events[: race.second])
    place = sum(event.thread == first.thread for event in race.run.events[: race.first + 1])
    return knowledge.happened(second.thread).get(first.thread, 0) < place


def _possible_race(race: Race) -> str:
    first, second = (race.run.events[event] for event in (race.first, race.second))
    return (
        f"if a load reads a stale value, the accesses to `{race.cell}` in lines {first.line} and "
        f"{second.line} may be a data race"
    )


def _unused_load_warnings(program: Program) -> list[str]:
    """A value that nothing uses can be anything; perhaps the program only does not say that it matters."""
    loads = {load.at.line for thread in program.threads for load in unused_loads(program, thread)}
    if not loads:
        return []
    lines = sorted(loads)
    named = ", ".join(map(str, lines[:MOST_LINES])) + (", …" if len(lines) > MOST_LINES else "")
    return [
        f"nothing uses what the loads in line{'s' * (len(lines) > 1)} {named} read, so it may be stale; "
        "`verify(r);` says that the value of `r` matters"
    ]
