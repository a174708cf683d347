"""Safety under RC20 and C++20, where accesses have modes: can a bad state be reached?

There is no machine with finitely many states to search, and with loops the question cannot be decided. What
can be asked instead, in this order:

    sc            what sequential consistency does, these models do
    enumeration   all consistent execution graphs: exact for programs without loops
    robustness    if weak memory does not show, what is safe under SC is safe
    enumeration   of programs with loops, with ever more rounds: finds bugs

A failing assertion, a data race and a final state are seen when graphs are enumerated. For properties about
where threads stand, they may stop there (`stops`).
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from msgspec.structs import replace

from fencepost.analyses.execution_graphs import failure_state, final_state, graph_witness, race_in
from fencepost.analyses.robustness import robust
from fencepost.analyses.safety.stops import Standing, Stopping, at_labels, breaks_mutex, is_bad, stopping
from fencepost.engine import _native
from fencepost.engine._native import Outcome
from fencepost.engine.graphs import MOST_UNROLLED, Observed, enumerate_graphs, has_loops, times, why_inexact
from fencepost.engine.search import Limits, Watcher
from fencepost.program import Program
from fencepost.program.conditions import CellIs, RegisterIs, atoms, is_true, threads_named
from fencepost.program.properties import Property, bad_ends, marked
from fencepost.program.spelling import statement_text
from fencepost.verdicts import BadState, Place, Race, Robust, Safe, SafetyAnswer, Stats, Unknown, Unsafe

FIRST_SLICE = 2.0  # seconds that the enumeration has before robustness is asked
ROBUSTNESS_SLICE = 4.0
SC_SLICE = 4.0
FIRST_UNROLL = 1
MOST_EVENTS = 5_000_000  # after which loops are not followed further, if no limit is given

_UNDER_SC = "sequential consistency already does it, without weak memory"


def verify_by_graphs(
    program: Program,
    model: str,
    wanted: Property,
    limits: Limits,
    *,
    watcher: Watcher | None,
    under_sc: Callable[[Limits], SafetyAnswer],
) -> SafetyAnswer:
    """Whether no run under the model reaches a bad state; `under_sc` answers that without weak memory."""
    return _Question(program, model, wanted, limits, watcher).answer(under_sc)


class GraphRaces(NamedTuple):
    """What the enumeration says about data races: one, or in `why` what was not looked at; else there are
    none."""

    race: Race | None
    why: str
    interrupted: bool
    stats: Stats
    spent: dict[str, float]


def races_by_graphs(program: Program, model: str, limits: Limits, watcher: Watcher | None) -> GraphRaces:
    """Whether some consistent execution graph of the model has a data race."""
    return _Question(program, model, Property(), limits, watcher).races()


class _Looked(NamedTuple):
    """An answer, and whether all graphs within the bound on rounds were looked at."""

    answer: SafetyAnswer
    to_the_end: bool = True

    @property
    def decides(self) -> bool:
        return not isinstance(self.answer, Unknown) or self.answer.interrupted


class _Question:
    """One question about one program, while it is being answered."""

    def __init__(
        self, program: Program, model: str, wanted: Property, limits: Limits, watcher: Watcher | None
    ) -> None:
        self._program, self._model, self._wanted = program, model, wanted
        self._limits, self._watcher = limits, watcher
        self._started = time.monotonic()
        self._spent: dict[str, float] = {}
        self._stats = Stats()
        self._loops = has_loops(program)

    def answer(self, under_sc: Callable[[Limits], SafetyAnswer]) -> SafetyAnswer:
        sc = under_sc(self._slice(SC_SLICE))
        self._add(sc.stats, sc.spent)
        if isinstance(sc, Unsafe):
            return self._unsafe("sc", _UNDER_SC, witness=sc.witness, race=sc.race, assertion=sc.assertion)
        if isinstance(sc, Unknown) and sc.interrupted:
            return self._unknown(sc.why, interrupted=True)
        if isinstance(sc, Safe) and sc.engine == "graphs":
            return self._safe("graphs", sc.because)
        unroll = FIRST_UNROLL if self._loops else 1
        looked = self._enumerated(unroll, self._slice(FIRST_SLICE))
        if looked.decides:
            return looked.answer
        if isinstance(sc, Safe):
            found = self._by_robustness()
            if found is not None:
                return found
        if not looked.to_the_end:
            looked = self._enumerated(unroll, self._left)
        while looked.to_the_end and not looked.decides and self._goes_on(unroll):
            unroll = min(2 * unroll, MOST_UNROLLED)
            looked = self._enumerated(unroll, self._left)
        return looked.answer

    def races(self) -> GraphRaces:
        unroll = 1
        while True:
            found = self._enumerate(self._program, Observed((), ()), unroll, self._left)
            if found.race is not None or found.outcome != Outcome.COMPLETE or not self._goes_on(unroll):
                break
            if not found.truncated:
                break
            unroll = min(2 * unroll, MOST_UNROLLED)
        race = None if found.race is None else race_in(self._program, self._model, found.race)
        why = "" if race is not None else why_inexact(self._program, found, self._limits, unroll)
        return GraphRaces(race, why, found.outcome == Outcome.INTERRUPTED, self._stats, self._spent)

    def _goes_on(self, unroll: int) -> bool:
        """Whether to look for bugs that need more rounds."""
        if not self._loops or unroll == MOST_UNROLLED:
            return False
        if self._limits.states is None and self._limits.seconds is None:
            return self._stats.states < MOST_EVENTS
        return self._left.seconds is None or self._left.seconds > 0

    # The engines.

    def _by_robustness(self) -> Safe | Unknown | None:
        """For programs that are safe under sequential consistency."""
        limits = self._slice(ROBUSTNESS_SLICE)
        answer = robust(self._program, self._model, limits=limits, watcher=self._watcher)
        self._add(answer.stats, {"robustness": answer.stats.seconds})
        if isinstance(answer, Unknown) and answer.interrupted:
            return self._unknown(answer.why, interrupted=True)
        if not isinstance(answer, Robust) or answer.race is not None:
            return None
        because = f"the program is robust under {self._model}, and safe under sequential consistency"
        return self._safe("robustness", because)

    def _enumerated(self, unroll: int, limits: Limits) -> _Looked:
        """What all graphs say in which no thread does an access more often."""
        bad, first = self._ends_and_failures(unroll, limits)
        found = [first]
        if bad is None and (self._wanted.mutex or self._wanted.bad is not None):
            bad, second = self._standings(unroll, limits.after(first.seconds))
            found.append(second)
        if bad is not None:
            return _Looked(bad)
        whys = [why_inexact(self._program, one, limits, unroll) for one in found]
        if not any(whys):
            because = (
                f"no consistent execution graph of {self._model} has a bad state, and there are no others"
            )
            return _Looked(self._safe("enumeration", because))
        rounds = f"if no thread does an access more than {times(unroll)}, " if self._loops else ""
        for one, why in zip(found, whys, strict=True):
            if one.outcome != Outcome.COMPLETE:
                interrupted = one.outcome == Outcome.INTERRUPTED
                none = f"{rounds}{why}, and no bad state was found until then"
                return _Looked(self._unknown(none, interrupted=interrupted), to_the_end=False)
        graphs = sum(one.graphs + one.blocked for one in found)
        none = f"{rounds}none of the {graphs:,} execution graphs has a bad state"
        return _Looked(self._unknown(f"{none}. Runs with more rounds were not looked at"))

    def _ends_and_failures(self, unroll: int, limits: Limits) -> tuple[Unsafe | None, _native.Enumeration]:
        """By failing assertions, data races and final states."""
        made = marked(self._program, dataclasses.replace(self._wanted, mutex=(), bad=None))
        program = made.program
        ends = bad_ends(program, self._wanted)
        named = list(dict.fromkeys(atom for end in ends for atom in atoms(end.formula)))
        observed = Observed(
            tuple(dict.fromkeys((a.thread, a.register) for a in named if isinstance(a, RegisterIs))),
            tuple(dict.fromkeys(a.cell for a in named if isinstance(a, CellIs))),
        )
        seen: list[tuple[int, ...]] = []

        def is_sought(values: Sequence[int]) -> bool:
            state = observed.state(values)
            if any(is_true(end.formula, *state) is end.wanted for end in ends):
                seen.append(tuple(values))
            return bool(seen)

        found = self._enumerate(
            program,
            observed,
            unroll,
            limits,
            find_races=not self._wanted.ignore_races,
            stop_at_failure=True,
            on_end=is_sought if ends else None,
        )
        if found.race is not None:
            return self._found(race=race_in(program, self._model, found.race)), found
        if found.failure is not None:
            failure = found.failure.failure
            bad = failure_state(program, failure)
            if made.origins[failure.thread][failure.pc] is None:
                bad = self._error_label(program, failure)
            witness = graph_witness(program, self._model, found.failure.graph, bad)
            return self._found(witness=witness), found
        if seen:
            end = next(end for end in found.ends if tuple(end.values) == seen[0])
            bad = final_state(program, *observed.state(seen[0]))
            return self._found(witness=graph_witness(program, self._model, end.graph, bad)), found
        return None, found

    def _error_label(self, program: Program, failure: _native.Failure) -> BadState:
        thread = program.threads[failure.thread]
        label = next(
            label
            for label, pc in thread.labels.items()
            if label in self._wanted.error_labels and pc <= failure.pc < pc + 2
        )
        at = thread.code[failure.pc].at
        place = Place(thread=failure.thread, line=at.line, column=at.column, text="", label=label)
        return BadState(kind="error-label", places=(place,))

    def _standings(self, unroll: int, limits: Limits) -> tuple[Unsafe | None, _native.Enumeration]:
        """By where threads stand."""
        made = stopping(self._program, self._wanted)
        formula = self._wanted.bad
        named = [] if formula is None else [a for a in atoms(formula) if isinstance(a, RegisterIs)]
        notes = [(stop.thread, stop.register) for stop in made.stops]
        observed = Observed(tuple(dict.fromkeys([*notes, *((a.thread, a.register) for a in named)])), ())
        seen: list[tuple[int, ...]] = []

        def is_sought(values: Sequence[int]) -> bool:
            standing = _standing(made, observed, values)
            if breaks_mutex(self._program, self._wanted, standing) or (
                formula is not None and is_bad(self._program, formula, standing)
            ):
                seen.append(tuple(values))
            return bool(seen)

        found = self._enumerate(
            made.program, observed, unroll, limits, find_races=False, all_leaves=True, on_end=is_sought
        )
        if not seen:
            return None, found
        end = next(end for end in found.ends if tuple(end.values) == seen[0])
        bad = self._bad_standing(_standing(made, observed, seen[0]))
        return self._found(witness=graph_witness(made.program, self._model, end.graph, bad)), found

    def _bad_standing(self, standing: Standing) -> BadState:
        labels = at_labels(self._program, self._wanted, standing)
        if len(labels) >= 2:
            places = [self._place(name, standing, label) for name, label in labels.items()]
            return BadState(kind="mutex", places=tuple(places))
        assert self._wanted.bad is not None
        threads = threads_named(self._wanted.bad)
        names = [thread.name for thread in self._program.threads if thread.name in threads]
        return BadState(kind="bad", places=tuple(self._place(name, standing) for name in names))

    def _place(self, name: str, standing: Standing, label: str = "") -> Place:
        number = next(n for n, thread in enumerate(self._program.threads) if thread.name == name)
        code, pc = self._program.threads[number].code, standing.places[name]
        registers = {} if label else standing.registers.get(name, {})
        if pc == len(code):
            return Place(thread=number, line=0, column=0, text="", label=label, registers=registers)
        text = "" if label else statement_text(self._program, code[pc])
        at = code[pc].at
        return Place(
            thread=number, line=at.line, column=at.column, text=text, label=label, registers=registers
        )

    def _enumerate(
        self, program: Program, observed: Observed, unroll: int, limits: Limits, **how: Any
    ) -> _native.Enumeration:
        if limits.states is None and limits.seconds is None and self._loops:
            limits = replace(limits, states=4 * MOST_EVENTS)
        found = enumerate_graphs(
            program, self._model, observed, limits, unroll=unroll, watcher=self._watcher, **how
        )
        stats = Stats(
            states=found.steps,
            transitions=found.graphs + found.blocked,
            seconds=round(found.seconds, 6),
        )
        self._add(stats, {"enumeration": found.seconds})
        return found

    # Limits.

    @property
    def _left(self) -> Limits:
        return self._limits.after(time.monotonic() - self._started)

    def _slice(self, seconds: float) -> Limits:
        left = self._left
        return replace(left, seconds=seconds if left.seconds is None else min(seconds, left.seconds))

    def _add(self, stats: Stats, spent: dict[str, float]) -> None:
        self._stats += stats
        for engine, seconds in spent.items():
            self._spent[engine] = round(self._spent.get(engine, 0.0) + seconds, 6)

    # Answers.

    def _common(self) -> dict[str, Any]:
        return {
            "file": self._program.file,
            "question": "verify",
            "model": self._model,
            "criterion": "safe",
            "stats": self._stats,
            "exhaustive": False,
            "warnings": self._program.warnings,
            "spent": self._spent,
        }

    def _safe(self, engine: str, because: str) -> Safe:
        common = {**self._common(), "exhaustive": not self._wanted.ignore_races}
        return Safe(**common, engine=engine, because=because)

    def _found(self, **found: Any) -> Unsafe:
        return self._unsafe("enumeration", f"a consistent execution graph of {self._model} does it", **found)

    def _unsafe(self, engine: str, because: str, **found: Any) -> Unsafe:
        return Unsafe(**self._common(), engine=engine, because=because, **found)

    def _unknown(self, why: str, *, interrupted: bool = False) -> Unknown:
        return Unknown(**self._common(), why=why, interrupted=interrupted)


def _standing(made: Stopping, observed: Observed, values: Sequence[int]) -> Standing:
    registers, _ = observed.state(values)
    notes = {(stop.thread, stop.register): stop.pc for stop in made.stops}
    places = {
        thread: notes[thread, register]
        for thread, held in registers.items()
        for register, value in held.items()
        if (thread, register) in notes and value
    }
    shown = {
        thread: {name: value for name, value in held.items() if (thread, name) not in notes}
        for thread, held in registers.items()
    }
    return Standing(places, shown)
