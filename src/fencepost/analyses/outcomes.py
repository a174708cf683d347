"""Outcomes: how can a program end, and which memory models allow it?

The engine enumerates the consistent execution graphs of each model (`native/engine/graphs/enumeration.hpp`);
the definition that it is held against is `models/outcomes.py`. Of a final state we look at what the final
condition of the program names, or at everything if it has none. Programs without loops are answered exactly.
In others no thread does an access more than `unroll` times, and what was not looked at is said. Loops that
only wait do not count.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import Any, Literal, NamedTuple

from fencepost.analyses.execution_graphs import failure_state, final_state, graph_witness, race_in, race_state
from fencepost.analyses.robustness import mode_warnings
from fencepost.engine import _native
from fencepost.engine._native import Outcome
from fencepost.engine.graphs import (
    MOST_UNROLLED,
    Observed,
    all_observed,
    enumerate_graphs,
    has_loops,
    why_inexact,
)
from fencepost.engine.search import Limits, Watcher
from fencepost.errors import InputError
from fencepost.formats.formula import spelled
from fencepost.memory_models import MODELS, OUTCOME_MODELS
from fencepost.models.tso import on_x86
from fencepost.program import Program
from fencepost.program.conditions import CellIs, FinalCondition, RegisterIs, atoms, is_bad
from fencepost.verdicts import Race, Stats
from fencepost.verdicts.outcomes import (
    AnyOutcomesAnswer,
    FinalState,
    Impossible,
    Listed,
    OutcomesUnknown,
    Possible,
    UnderModel,
)

DEFAULT_UNROLL = 2  # accesses of a thread, if it has loops

_Values = tuple[int, ...]
_Allowed = Literal["allowed", "forbidden", "unknown"]


def outcomes(
    program: Program,
    models: Iterable[str] | None = None,
    *,
    unroll: int = DEFAULT_UNROLL,
    explain: int | None = None,
    limits: Limits = Limits(),  # noqa: B008 (a frozen value)
    watcher: Watcher | None = None,
) -> AnyOutcomesAnswer:
    """The final states of `program`, and which of `models` allow them; all models if none are named.

    `explain` is the number of a final state to show an execution graph of. Raises `ValueError` for a model
    that is not there, and `InputError` if there is no final state with that number.
    """
    asked = _checked(models)
    if not 1 <= unroll <= MOST_UNROLLED:
        raise ValueError(f"unroll is between 1 and {MOST_UNROLLED}")
    program.require_fixed_threads()
    return _Question(program, unroll, limits, watcher).answer(asked, explain)


def why_refused(program: Program, model: str) -> str:
    """Why the model does not take the program; nothing if it does."""
    if program.sc_access is None or MODELS[model].sc_accesses:
        return ""
    return f"the model has no seq_cst accesses, and line {program.sc_access.at.line} has one"


def looked_at(program: Program) -> Observed:
    """What the final condition names; everything if that is nothing."""
    named = [] if program.condition is None else list(dict.fromkeys(atoms(program.condition.formula)))
    registers = dict.fromkeys((a.thread, a.register) for a in named if isinstance(a, RegisterIs))
    cells = dict.fromkeys(a.cell for a in named if isinstance(a, CellIs))
    return Observed(tuple(registers), tuple(cells)) if named else all_observed(program)


def _checked(models: Iterable[str] | None) -> tuple[str, ...]:
    """The models in the order of the table, the strongest first."""
    wanted = set(OUTCOME_MODELS if models is None else models)
    if not wanted or not wanted.issubset(OUTCOME_MODELS):
        unknown = ", ".join(repr(name) for name in sorted(wanted.difference(OUTCOME_MODELS))) or "none"
        raise ValueError(f"unknown model {unknown}; expected some of {', '.join(OUTCOME_MODELS)}")
    return tuple(model for model in OUTCOME_MODELS if model in wanted)


class _Column(NamedTuple):
    """What the engine found under one model."""

    model: str
    program: Program  # as the model takes it
    refused: str = ""
    found: _native.Enumeration | None = None
    why: str = ""  # there may be more
    race: Race | None = None

    @property
    def complete(self) -> bool:
        return not self.why

    @property
    def interrupted(self) -> bool:
        return self.found is not None and self.found.outcome == Outcome.INTERRUPTED

    @property
    def ends(self) -> dict[_Values, _native.FoundEnd]:
        return {} if self.found is None else {tuple(end.values): end for end in self.found.ends}


class _Question:
    """One question about one program, while it is being answered."""

    def __init__(self, program: Program, unroll: int, limits: Limits, watcher: Watcher | None) -> None:
        self._program, self._unroll = program, unroll
        self._limits, self._watcher = limits, watcher
        self._observed = looked_at(program)
        self._started = time.monotonic()

    def answer(self, models: Sequence[str], explain: int | None) -> AnyOutcomesAnswer:
        columns: list[_Column] = []
        for model in models:
            stopped = any(column.interrupted for column in columns)
            why = "the search was interrupted before it began" if stopped else ""
            columns.append(_Column(model, self._program, why=why) if stopped else self._under(model))
        rows = self._rows(columns)
        told = [self._told(column, rows) for column in columns]
        common = {**self._common(columns), **self._explained(columns, rows, explain)}
        common |= {"outcomes": tuple(rows), "models": tuple(told)}
        asked = [column for column in told if not column.refused]
        if self._program.condition is not None and any(column.possible for column in asked):
            return Possible(**common)
        why = next((f"under {c.model}, {c.why}" for c in asked if not c.complete), "")
        if why or not asked:
            interrupted = any(column.interrupted for column in columns)
            return OutcomesUnknown(**common, why=why or "no model takes the program", interrupted=interrupted)
        return Listed(**common) if self._program.condition is None else Impossible(**common)

    def _under(self, model: str) -> _Column:
        refused = why_refused(self._program, model)
        if refused:
            return _Column(model, self._program, refused=refused)
        program = on_x86(self._program) if model == "tso" else self._program
        limits = self._limits.after(time.monotonic() - self._started)
        found = enumerate_graphs(
            program, model, self._observed, limits, unroll=self._unroll, watcher=self._watcher
        )
        race = None if found.race is None else race_in(program, model, found.race)
        why = "" if race else why_inexact(program, found, limits, self._unroll)
        return _Column(model, program, found=found, why=why, race=race)

    def _rows(self, columns: Sequence[_Column]) -> list[FinalState]:
        values = sorted({values for column in columns for values in column.ends})
        return [
            FinalState(
                number=number,
                values=one,
                under={c.model: _allows(c, one) for c in columns if not c.refused},
                sought=self._is_sought(one),
            )
            for number, one in enumerate(values, start=1)
        ]

    def _is_sought(self, values: _Values) -> bool:
        condition = self._program.condition
        return condition is not None and is_bad(condition, *self._observed.state(values))

    def _told(self, column: _Column, rows: Sequence[FinalState]) -> UnderModel:
        if column.refused:
            return UnderModel(model=column.model, refused=column.refused)
        found = column.found
        failure = None if found is None else found.failure
        return UnderModel(
            model=column.model,
            possible=self._possible(column, rows),
            complete=column.complete,
            why=column.why,
            race=None if column.race is None else race_state(column.race),
            failure=None if failure is None else failure_state(column.program, failure.failure),
            graphs=0 if found is None else found.graphs,
            blocked=0 if found is None else found.blocked,
            seconds=0.0 if found is None else round(found.seconds, 6),
        )

    def _possible(self, column: _Column, rows: Sequence[FinalState]) -> bool | None:
        if self._program.condition is None:
            return None
        if column.race is not None or any(row.sought and row.values in column.ends for row in rows):
            return True
        return False if column.complete else None

    def _explained(
        self, columns: Sequence[_Column], rows: Sequence[FinalState], explain: int | None
    ) -> dict[str, Any]:
        """The graph of the final state that was asked about, or of one that the condition looks for."""
        if explain is not None and not 1 <= explain <= len(rows):
            there = f"they are numbered from 1 to {len(rows)}" if rows else "none was found"
            raise InputError(f"there is no outcome {explain} to explain; {there}", self._program.file)
        sought = (row.number for row in rows if row.sought)
        number = explain if explain is not None else next(sought, None)
        if number is None:
            return {}
        values = rows[number - 1].values
        column = next(column for column in columns if values in column.ends)
        bad = final_state(self._program, *self._observed.state(values))
        witness = graph_witness(column.program, column.model, column.ends[values].graph, bad)
        return {"witness": witness, "explained": explain, "witness_model": column.model}

    def _common(self, columns: Sequence[_Column]) -> dict[str, Any]:
        program = self._program
        found = [column.found for column in columns if column.found is not None]
        asked = [column.model for column in columns if not column.refused]
        return {
            "file": program.file,
            "question": "outcomes",
            "model": ",".join(column.model for column in columns),
            "criterion": "outcomes",
            "threads": tuple(thread.name for thread in program.threads),
            "names": self._observed.names,
            "condition": _condition_text(program.condition),
            "loops": has_loops(program),
            "unroll": self._unroll,
            "race": next((column.race for column in columns if column.race is not None), None),
            "exhaustive": all(column.complete for column in columns),
            "stats": Stats(
                states=sum(one.steps for one in found),
                transitions=sum(one.graphs + one.blocked for one in found),
                seconds=round(time.monotonic() - self._started, 6),
            ),
            "warnings": (*program.warnings, *mode_warnings(program, asked)),
        }


def _allows(column: _Column, values: _Values) -> _Allowed:
    if values in column.ends or column.race is not None:
        return "allowed"
    return "forbidden" if column.complete else "unknown"


def _condition_text(condition: FinalCondition | None) -> str:
    return "" if condition is None else f"{condition.quantifier} {spelled(condition.formula)}"
