"""Robustness: does every behaviour of a program under a memory model also exist under sequential consistency?

The engine explores the program under sequential consistency with the model's monitor; assertion failures,
data races on non-atomic locations, and deadlocks are findings of the same search.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from typing import Any

from msgspec.structs import replace

from fencepost.analyses.model_choice import chosen_model
from fencepost.engine._native import Outcome, Result, StoreKind
from fencepost.engine.decode import decode_deadlock, decode_failure, decode_race
from fencepost.engine.search import (
    REDUCED,
    Limits,
    Tactics,
    Watcher,
    explore,
    explore_translation,
    lowering_for,
    stats,
    why_unknown,
)
from fencepost.memory_models import ANY_NUMBER_MODELS, MODELS, OBSERVATIONAL, SWARM_ORDER
from fencepost.program import CellAccess, Fence, Mode, Program, access_modes
from fencepost.static.critical_values import critical_values
from fencepost.verdicts import NotRobust, Robust, RobustnessAnswer, Unknown

# How many states "auto" order looks at: at first, breadth first and then largest first; by location; and
# largest first once more, if the program is not decided by then.
NEAR_STATES = 5_000
MANY_STATES = 1_000_000
DEEP_STATES = 200_000


def robust(
    program: Program,
    model: str | None = None,
    *,
    criterion: str = "robust",
    limits: Limits = Limits(),  # noqa: B008 (a frozen value)
    order: str = "auto",
    tactics: Tactics = REDUCED,
    watcher: Watcher | None = None,
) -> RobustnessAnswer:
    """Whether `program` is robust against `model`, with a witness if it is not.

    If no model is named, it is "cpp20" for C litmus tests and programs with seq_cst accesses, else "ra".
    Breadth-first order gives a shortest witness: no run with fewer accesses leads to a violation. "auto"
    starts like that, since most violations are near, and goes over to the fastest order when none is found.
    Against TSO the order is always breadth first, and `criterion` may also be "trf", for triangular races.
    By the criterion "observational", only the values that the program uses count (`observational`).
    """
    model = chosen_model(program, "robust", model)
    row = MODELS[model]
    if criterion not in row.criteria["robust"]:
        known = ", ".join(row.criteria["robust"])
        raise ValueError(f"unknown criterion {criterion!r} for {model}; expected one of {known}")
    if row.orders and order not in (*row.orders, SWARM_ORDER):
        raise ValueError(f"unknown order {order!r}; expected one of {', '.join(row.orders)}")
    for_any_number = model in ANY_NUMBER_MODELS and criterion == "robust" and order != SWARM_ORDER
    if program.templates and for_any_number:
        from fencepost.analyses.any_number import robust_for_any_number

        return robust_for_any_number(program, model, limits=limits, watcher=watcher)
    if program.templates and model == "tso" and criterion == "robust":
        from fencepost.analyses.tso_any_number import robust_against_tso_for_any_number

        return robust_against_tso_for_any_number(program, limits, watcher)
    asked = "a swarm" if order == SWARM_ORDER else f"--model {model} --criterion {criterion}"
    program.require_fixed_threads(asked)
    if model == "tso":
        from fencepost.analyses.tso import robust_against_tso

        return robust_against_tso(program, criterion, limits, watcher)
    if criterion == OBSERVATIONAL:
        from fencepost.analyses.observational import observationally_robust

        return observationally_robust(
            program, model, limits=limits, order=order, tactics=tactics, watcher=watcher
        )
    started = time.monotonic()
    result, translated = _search(program, model, limits, order, watcher, tactics=tactics, translates=True)
    common = found_besides(program, "robust", model, "robust", result)
    if translated:  # assertions were left out
        common["exhaustive"] = False
    # With the time for what was tried before, and for lowering the program.
    common["stats"] = replace(common["stats"], seconds=round(time.monotonic() - started, 6))
    common["warnings"] = all_warnings(program, model)
    match result.outcome:
        case Outcome.COMPLETE:
            return Robust(**common)
        case Outcome.VIOLATION:
            from fencepost.analyses.witness import build_witness

            assert result.violation is not None
            return NotRobust(**common, witness=build_witness(program, model, result.violation))
        case _:
            return undecided(program, result, limits, common)


def all_warnings(program: Program, model: str) -> tuple[str, ...]:
    return (*program.warnings, *_tracking_warnings(program), *mode_warnings(program, [model]))


def found_besides(
    program: Program, question: str, model: str, criterion: str, result: Result
) -> dict[str, Any]:
    """What an answer has besides its verdict, whatever that is."""
    return {
        "file": program.file,
        "question": question,
        "model": model,
        "criterion": criterion,
        "stats": stats(result),
        "race": decode_race(program, model, result),
        "assertion": decode_failure(program, model, result),
        "deadlock": decode_deadlock(program, model, result),
        "exhaustive": result.outcome == Outcome.COMPLETE,
        "warnings": program.warnings,
    }


def undecided(program: Program, result: Result, limits: Limits, common: dict[str, Any]) -> Unknown:
    why = why_unknown(program, result, limits)
    return Unknown(**common, why=why, interrupted=result.outcome == Outcome.INTERRUPTED)


def search(
    program: Program,
    model: str,
    limits: Limits,
    order: str = "auto",
    watcher: Watcher | None = None,
    *,
    tactics: Tactics = REDUCED,
    observational: bool = False,
) -> Result:
    """The engine's result, for the orders of `robust`."""
    return _search(
        program, model, limits, order, watcher, tactics=tactics, observational=observational, translates=False
    )[0]


def _search(
    program: Program,
    model: str,
    limits: Limits,
    order: str,
    watcher: Watcher | None,
    *,
    tactics: Tactics,
    observational: bool = False,
    translates: bool,
) -> tuple[Result, bool]:
    """Also whether it is that of a translation, which may be tried if the program is large."""
    if order == "auto":
        attempts = _attempts(tactics, by_location=not observational)
    else:
        attempts = iter([(order, None, _shortest(tactics) if order == "breadth-first" else tactics)])
    started = time.monotonic()
    lowering = lowering_for(program, model, local=tactics.local, observational=observational)
    may_go_without_bounds = order == "auto"
    for attempted, states, how in attempts:
        if states is not None and limits.states is not None and states >= limits.states:
            continue
        bounded = limits.after(time.monotonic() - started)
        if may_go_without_bounds and states != NEAR_STATES:
            may_go_without_bounds = False
            free = _without_bounds(program, how)
            few = bounded if limits.states is not None else replace(bounded, states=MANY_STATES)
            if free is not None:
                result = explore(
                    free, model, few, attempted, watcher, tactics=how, observational=observational
                )
                if _finds_nothing(result) or result.outcome == Outcome.INTERRUPTED:
                    return result, False
            bounded = limits.after(time.monotonic() - started)
        if translates and order == "auto" and attempted == "largest-first" and states == DEEP_STATES:
            found = _of_translation(program, model, bounded, how, watcher)
            if found is not None and found.outcome in (Outcome.COMPLETE, Outcome.INTERRUPTED):
                return found, True
            bounded = limits.after(time.monotonic() - started)
        if states is not None:
            bounded = replace(bounded, states=states)
        result = explore(
            program,
            model,
            bounded,
            attempted,
            watcher,
            tactics=how,
            lowering=lowering,
            observational=observational,
        )
        # Where one order meets a value that is not followed, another may meet a violation before.
        if states is None or result.outcome not in (Outcome.STATE_LIMIT, Outcome.VALUE_LIMIT):
            return result, False
    raise AssertionError("the last attempt has no limit of its own")


def _without_bounds(program: Program, tactics: Tactics) -> Program | None:
    """A program with more runs, which may have far fewer states. What is not found in it is not in this one
    either; what is found there may need runs that this one does not have."""
    from fencepost.static.rotations import without_bounds

    exact = tactics.store is not StoreKind.BITSTATE and tactics.part == (0, 1)
    return without_bounds(program) if tactics.rotation and exact else None


def _of_translation(
    program: Program, model: str, limits: Limits, tactics: Tactics, watcher: Watcher | None
) -> Result | None:
    from fencepost.static.translations import translation

    exact = tactics.store is StoreKind.MAXIMAL and tactics.part == (0, 1)
    found = translation(program) if tactics.translation and exact else None
    return None if found is None else explore_translation(found, model, limits, watcher, tactics=tactics)


def _finds_nothing(result: Result) -> bool:
    found = (result.violation, result.tainted_use, result.race, result.failure, result.deadlock)
    return result.outcome == Outcome.COMPLETE and all(finding is None for finding in found)


def _attempts(tactics: Tactics, *, by_location: bool) -> Iterator[tuple[str, int | None, Tactics]]:
    """What "auto" tries, one after the other: an order, how many states it may look at, and how.

    Most violations are near the start, and breadth first finds a shortest run to them. By location is the
    fastest way to decide, but it builds the states of the whole program before it looks for violations; in a
    large program a search into the depth may meet one sooner.
    """
    # Without symmetry, which so few states do not need, threads keep the places they have in the text.
    plain = replace(
        _shortest(tactics), symmetry=False, rotation=False, compress=False, bitstate=False, directory=None
    )
    yield "breadth-first", NEAR_STATES, plain
    match tactics.store:
        case _ if tactics.directory is not None:
            yield "breadth-first", None, tactics
        case StoreKind.BITSTATE:  # a store that forgets states is for going deep
            yield "depth-first", None, tactics
        case StoreKind.COMPRESSED:
            yield "breadth-first", None, tactics
        case _ if not by_location:
            yield "largest-first", None, tactics
        case _:
            yield "largest-first", NEAR_STATES, replace(tactics, threads=1)
            yield "by-location", MANY_STATES, tactics
            yield "largest-first", DEEP_STATES, tactics
            yield "by-location", None, tactics


def _shortest(tactics: Tactics) -> Tactics:
    return replace(tactics, partial_order=False, threads=1)


def mode_warnings(program: Program, models: Iterable[str]) -> list[str]:
    """What the models in which every access acquires and releases make of weaker accesses and weak fences.

    They are weaker because somebody said so: `rlx` is written, or other accesses of the program carry modes.
    A program without any modes is meant to be read with those of the model. The modes of `lock(x)` and
    `unlock(x)` are not written by anybody.
    """
    synchronising = [model for model in models if MODELS[model].synchronises]
    if not synchronising:
        return []
    relaxed, weak_fences, carries_modes = [], [], False
    for instruction in (i for thread in program.threads for i in thread.code):
        if isinstance(instruction, Fence) and instruction.mode is not Mode.SC:
            weak_fences.append(instruction)
        elif isinstance(instruction, CellAccess) and not _is_lock(program, instruction):
            modes = {*access_modes(instruction), getattr(instruction, "failure_mode", None)}
            if Mode.RLX in modes:
                relaxed.append(instruction)
            carries_modes |= bool(modes & {Mode.ACQ, Mode.REL}) or _is_written_relaxed(program, instruction)
    ignored = [*(relaxed if carries_modes or weak_fences else []), *weak_fences]
    if not ignored:
        return []
    lines = sorted({instruction.at.line for instruction in ignored if instruction.at.line})
    at = f", first in line {lines[0]}" if lines else ""
    what = [
        *(["relaxed accesses as acquire and release"] if ignored[0] in relaxed else []),
        *(["acquire and release fences as nothing"] if weak_fences else []),
    ]
    takes = f"{' and '.join(synchronising)} {'takes' if len(synchronising) == 1 else 'take'}"
    return [f"{takes} {' and '.join(what)}{at}; `--model rc20` takes the modes as they are written"]


def _is_written_relaxed(program: Program, access: CellAccess) -> bool:
    statement = _written(program, access)
    return "rlx" in statement or "relaxed" in statement


def _is_lock(program: Program, access: CellAccess) -> bool:
    return _written(program, access).startswith(("lock", "unlock"))


def _written(program: Program, access: CellAccess) -> str:
    """The rest of the line from where the access stands, up to a semicolon."""
    line = program.source_line(access.at.line) or ""
    return line[max(access.at.column - 1, 0) :].partition(";")[0]


def _tracking_warnings(program: Program) -> list[str]:
    """Where a `track` declaration leaves out a critical value. The engine tracks it all the same."""
    warnings = []
    critical = critical_values(program) if program.tracking else {}
    for tracking in program.tracking:
        needed = critical.get(tracking.location, frozenset())
        if tracking.values is None:
            continue
        if needed is None:
            missing = "any value"
        elif needed <= set(tracking.values):
            continue
        else:
            missing = ", ".join(str(value) for value in sorted(needed - set(tracking.values)))
        warnings.append(
            f"line {tracking.at.line}: `track {tracking.location}` leaves out critical values ({missing}); "
            "they are tracked all the same"
        )
    return warnings
