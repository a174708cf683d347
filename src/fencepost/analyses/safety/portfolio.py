"""Safety: can the program reach a bad state? RC20 and C++20 are left to `graph_search`.

Several engines can answer, and take turns (design.md, section 6; `weak_engines` has them by model):

    sc           all states under sequential consistency; a bad one is bad under every model
    forward      the model's machine with a bound, which is raised; finds bugs
    backward     coverability over what threads can still read: decides
    robustness   if weak memory does not show, what is safe under SC is safe

Under RA, what SRA reaches is reachable too; that nothing more is needs freedom from write/write races
(sra-2020, Theorem 3.14), which is one more question to the backward search, or robustness.

A data race is a bad state like others: two threads stand at conflicting accesses to one non-atomic cell. That
is the same as two accesses of a graph that happens-before does not order: without these two, what happens
before them is a graph of the model too, and in it both threads stand before their accesses. `races` asks only
about these states. Under RC20, where accesses need not synchronise, robustness answers. TSO has no
happens-before; there these states are what a data race is (`docs/verify.md` says why).

Deadlocks are asked about on their own, after everything else: for them a run that an assumption cuts off does
not count, while for final states it does.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Protocol

from msgspec.structs import replace

from fencepost.analyses.model_choice import chosen_model
from fencepost.analyses.robustness import mode_warnings, robust
from fencepost.analyses.safety.bad_states import (
    BadProduct,
    BadStates,
    data_races,
    deadlocks,
    kept_registers,
    number_of_states,
    write_races,
)
from fencepost.analyses.safety.certify import certificate_of
from fencepost.analyses.safety.end_of_run import Run, bad_state, data_race, deadlock
from fencepost.analyses.safety.graph_search import races_by_graphs, verify_by_graphs
from fencepost.analyses.safety.paths import Path
from fencepost.analyses.safety.weak_engines import ENGINES_OF, MOST_ON_THE_WAY, Backward, Counts, Forward
from fencepost.analyses.safety.witness import race_witness
from fencepost.certificates import Certificate
from fencepost.engine import _native
from fencepost.engine._native import Outcome, WhyUnbuilt
from fencepost.engine.lower import Lowering
from fencepost.engine.search import Limits, Watcher, bounds, memory_to_use_mb
from fencepost.errors import InputError
from fencepost.memory_models import (
    ANY_NUMBER_MODELS,
    CERTIFIED_MODELS,
    DATA_RACES,
    DEADLOCKS,
    MODELS,
    PRUNINGS,
    RACE_KINDS,
    Engine,
    RaceKind,
)
from fencepost.program import Program
from fencepost.program.properties import Marked, Property, asks_something, marked
from fencepost.verdicts import (
    BadState,
    PersistenceAnswer,
    RaceAnswer,
    RaceFree,
    Racy,
    Robust,
    RobustnessAnswer,
    Safe,
    SafetyAnswer,
    Stats,
    Unknown,
    Unsafe,
)

MOST_NODES = 200_000  # of a thread on its own
MOST_BAD_STATES = 1_000_000  # to go back from
MOST_WAITS = 10_000  # ways to wait in a deadlock: which threads for which cells, with which values there
FIRST_SLICE = 0.1  # seconds that an engine has before the next takes its turn; doubled each round
SC_SLICE = 4.0
ROBUSTNESS_SLICE = 4.0
_FULL = (Outcome.MEMORY_LIMIT, Outcome.STATE_LIMIT)

_ALL_ATOMIC = "the program has no non-atomic location, and only on those there are data races"
_UNDER_SC = "sequential consistency already does it, without weak memory"

_Decision = SafetyAnswer | RaceAnswer


class NothingAskedError(InputError):
    """Nothing is said to be bad."""


def _nothing_asked(program: Program) -> InputError:
    no_races = "there is no non-atomic location on which threads could race"
    if not all(program.atomic_cells):
        no_races = "data races are ignored"
    message = (
        f"nothing was asked: the program has no assertion and no final condition, {no_races}, and no "
        "property was given. To ask, put `assert(…)` or a comment such as `// assert: x == 1` into the "
        "program, or use --assert, --mutex, --error-label, --bad or --deadlocks"
    )
    return NothingAskedError(message, program.file)


def verify(
    program: Program,
    model: str | None = None,
    *,
    wanted: Property = Property(),  # noqa: B008 (a frozen value)
    ignore_races: bool = False,
    engine: Engine = "portfolio",
    limits: Limits = Limits(),  # noqa: B008 (a frozen value)
    without: Sequence[str] = (),
    watcher: Watcher | None = None,
) -> SafetyAnswer:
    """Whether no run of `program` under `model` reaches a bad state, with a run that does if there is one.

    Bad is what the program's assertions and final condition forbid, a data race unless `ignore_races` is set,
    and what `wanted` adds to that. Raises `InputError` if all this is nothing. `without` names prunings of
    the backward search to do without.
    """
    model = chosen_model(program, "verify", model)
    if ignore_races:
        wanted = dataclasses.replace(wanted, ignore_races=True)
    _check_what_is_asked(program, model, wanted, engine)
    if program.templates:
        from fencepost.analyses.safety.any_number import safe_for_any_number

        return safe_for_any_number(program, model, wanted=wanted, limits=limits, watcher=watcher)

    def ask(asked: Property, limits: Limits, criterion: str, model: str = model) -> SafetyAnswer:
        if MODELS[model].weak_fences:
            return verify_by_graphs(
                program,
                model,
                asked,
                limits,
                watcher=watcher,
                under_sc=lambda limits: ask(asked, limits, criterion, "sc"),
            )
        question = _Question(
            program, model, asked, limits, watcher=watcher, without=without, criterion=criterion
        )
        answer = question.under(engine)
        assert isinstance(answer, Safe | Unsafe | Unknown)
        return answer

    if not wanted.deadlocks:
        return ask(wanted, limits, "safe")
    started = time.monotonic()
    first: SafetyAnswer | None
    try:
        first = ask(dataclasses.replace(wanted, deadlocks=False), limits, "safe")
    except NothingAskedError:
        first = None
    if isinstance(first, Unsafe) or (isinstance(first, Unknown) and first.interrupted):
        return replace(first, criterion=DEADLOCKS)
    second = ask(Property(), limits.after(time.monotonic() - started), DEADLOCKS)
    if first is not None:
        return _both_answers(first, second)
    exhaustive = isinstance(second, Safe) and (not wanted.ignore_races or all(program.atomic_cells))
    return replace(second, exhaustive=exhaustive)


def _check_what_is_asked(program: Program, model: str, wanted: Property, engine: Engine) -> None:
    row = MODELS[model]
    if wanted.deadlocks and DEADLOCKS not in row.criteria["verify"]:
        others = ", ".join(name for name in MODELS if DEADLOCKS in MODELS[name].criteria.get("verify", ()))
        message = f"deadlocks cannot be asked about under {model}; they can under {others}"
        raise InputError(message, program.file)
    if engine != "portfolio":
        program.require_fixed_threads(f"--engine {engine}")
    if program.templates and not asks_something(program, wanted):
        raise _nothing_asked(program)
    if row.engines and engine not in row.engines:
        raise InputError(f"there is no {engine} search under {model}", program.file)


def _both_answers(first: SafetyAnswer, deadlocks: SafetyAnswer) -> SafetyAnswer:
    """What both answers say together; the first, about everything but deadlocks, is not unsafe."""
    both: dict[str, Any] = {
        "stats": first.stats + deadlocks.stats,
        "spent": {
            name: round(first.spent.get(name, 0.0) + deadlocks.spent.get(name, 0.0), 6)
            for name in first.spent | deadlocks.spent
        },
    }
    if isinstance(deadlocks, Unsafe):
        return replace(deadlocks, **both)
    if isinstance(first, Unknown):
        return replace(first, **both, criterion=DEADLOCKS)
    if isinstance(deadlocks, Unknown):
        why = f"apart from deadlocks it is safe; whether it has deadlocks is open: {deadlocks.why}"
        return replace(deadlocks, **both, why=why)
    assert isinstance(first, Safe)
    because = (
        f"{deadlocks.because}. The same without deadlocks was answered by {first.engine}: {first.because}"
    )
    if first.because == deadlocks.because:
        because = first.because
    return replace(deadlocks, **both, because=because, exhaustive=first.exhaustive)


def certify(
    program: Program,
    model: str = "sra",
    *,
    wanted: Property = Property(),  # noqa: B008 (a frozen value)
    limits: Limits = Limits(),  # noqa: B008 (a frozen value)
    without: Sequence[str] = (),
    watcher: Watcher | None = None,
) -> tuple[SafetyAnswer, Certificate | None]:
    """The answer of the backward search, and if it is safe the certificate for it. Raises `InputError` if
    `wanted` asks for deadlocks, which certificates do not cover, and `ValueError` if there are none for the
    model."""
    chosen_model(program, "verify", model)
    if model not in CERTIFIED_MODELS:
        raise ValueError(f"there are no certificates for {model}, only for {' and '.join(CERTIFIED_MODELS)}")
    if wanted.deadlocks:
        raise InputError("a certificate does not cover deadlocks; ask about them without one", program.file)
    question = _Question(program, model, wanted, limits, watcher=watcher, without=without)
    answer = question.under("backward")
    assert isinstance(answer, Safe | Unsafe | Unknown)
    return answer, question.certificate() if isinstance(answer, Safe) else None


def races(
    program: Program,
    model: str | None = None,
    *,
    kind: RaceKind = "data",
    limits: Limits = Limits(),  # noqa: B008 (a frozen value)
    without: Sequence[str] = (),
    watcher: Watcher | None = None,
) -> RaceAnswer:
    """Whether two accesses of some run of `program` under `model` race: happens-before does not order them.

    For the kind "data", one of them writes, and they access a non-atomic cell; the model is rc20 if none is
    given, or cpp20 where `robust` would take that. For "write-write", both write one cell, atomic or not; the
    model is sra.
    """
    criterion = RACE_KINDS[kind]
    model = chosen_model(program, "races", model or ("sra" if kind == "write-write" else None))
    if criterion not in MODELS[model].criteria["races"]:
        raise ValueError(f"{kind} races cannot be asked about under {model}")
    if program.templates:
        return _races_of_any_number(program, model, limits, watcher)
    if MODELS[model].weak_fences:
        return _races_by_robustness(program, model, limits, without, watcher)
    question = _Question(
        program, model, Property(), limits, watcher=watcher, without=without, criterion=criterion
    )
    answer = question.about_write_races() if kind == "write-write" else question.under("portfolio")
    assert isinstance(answer, RaceFree | Racy | Unknown)
    return answer


def _races_by_robustness(
    program: Program, model: str, limits: Limits, without: Sequence[str], watcher: Watcher | None
) -> RaceAnswer:
    """By robustness, which compares happens-before along the runs of SC; by SRA, all of whose graphs
    RC20 has, with less happens-before; and by enumerating graphs, which is exact without loops.
    C++20 has the graphs of SRA too if there are no seq_cst accesses: the order of SC fences, which SRA takes
    for RMWs of one location, is a possible S."""
    if all(program.atomic_cells):
        return RaceFree(**_about_races(program, model), engine="graphs", because=_ALL_ATOMIC)
    answer = robust(program, model, limits=limits, watcher=watcher)
    common = {
        **_about_races(program, model),
        "stats": answer.stats,
        "spent": {"robustness": answer.stats.seconds},
        "warnings": answer.warnings,
    }
    if answer.race is not None:
        because = "happens-before does not order two accesses of a run under sequential consistency"
        return Racy(**common, engine="robustness", because=because, race=answer.race)
    if isinstance(answer, Robust):
        no_race = "no run under sequential consistency has a data race"
        because = f"the program is robust under {model}, and {no_race}"
        return RaceFree(**common, engine="robustness", because=because)
    if isinstance(answer, Unknown) and answer.interrupted:
        return Unknown(**common, why=answer.why, interrupted=True)
    looked = "no interleaving has a data race"
    if program.sc_access is None:
        left = limits.after(answer.stats.seconds)
        under_sra = races(program, "sra", limits=left, without=without, watcher=watcher)
        common["stats"] = answer.stats + under_sra.stats
        common["spent"] = {**common["spent"], **under_sra.spent}
        if isinstance(under_sra, Racy):
            because = f"{under_sra.because}, and {model} orders no more than SRA"
            common |= {"witness": under_sra.witness, "race": under_sra.race}
            return Racy(**common, engine=under_sra.engine, because=because)
        if isinstance(under_sra, Unknown) and under_sra.interrupted:
            return Unknown(**common, why=under_sra.why, interrupted=True)
        looked = "under sra there is none" if isinstance(under_sra, RaceFree) else under_sra.why
    by_graphs = races_by_graphs(program, model, limits.after(common["stats"].seconds), watcher)
    common["stats"] += by_graphs.stats
    common["spent"] = {**common["spent"], **by_graphs.spent}
    if by_graphs.race is not None:
        because = f"a consistent execution graph of {model} has it"
        return Racy(**common, engine="enumeration", because=because, race=by_graphs.race)
    if by_graphs.why:
        why = _not_looked_at(model, looked, by_graphs.why)
        return Unknown(**common, why=why, interrupted=by_graphs.interrupted)
    because = f"no consistent execution graph of {model} has a data race, and there are no others"
    return RaceFree(**common, engine="enumeration", because=because)


def _races_of_any_number(program: Program, model: str, limits: Limits, watcher: Watcher | None) -> RaceAnswer:
    """By robustness alone."""
    if model not in ANY_NUMBER_MODELS:
        program.require_fixed_threads(f"races --model {model}")
    answer = robust(program, model, limits=limits, watcher=watcher)
    common = {
        **_about_races(program, model),
        "stats": answer.stats,
        "spent": {"robustness": answer.stats.seconds},
        "any_number": answer.any_number,
        "warnings": answer.warnings,
    }
    if answer.race is not None:
        because = "some number of threads has it under sequential consistency"
        return Racy(**common, engine="robustness", because=because, race=answer.race)
    if isinstance(answer, Robust):
        because = (
            f"the program is robust under {model}, and no run under sequential consistency has a data race"
        )
        return RaceFree(**common, engine="robustness", because=because)
    if isinstance(answer, Unknown):
        return Unknown(**common, why=answer.why, interrupted=answer.interrupted)
    why = (
        f"the program is not robust under {model}, and so far no number of threads has a data race; "
        "`--instances N` decides it for N threads"
    )
    return Unknown(**common, why=why)


def _not_looked_at(model: str, looked: str, why: str) -> str:
    return (
        f"the program is not robust under {model}, {looked}, and none was found in its execution graphs; but "
        f"{why}. To decide it, repair the program with `fencepost fix --model {model}` and ask again"
    )


def _about_races(program: Program, model: str) -> dict[str, Any]:
    return {
        "file": program.file,
        "question": "races",
        "model": model,
        "criterion": DATA_RACES,
        "stats": Stats(),
        "exhaustive": False,  # failing assertions are not looked for
        "warnings": program.warnings,
    }


class _Search(Protocol):
    """What the native searches have in common."""

    def run(
        self,
        most_states: int,
        most_seconds: float,
        most_bytes: int,
        report: Callable[[int, int, int, int, float], bool] | None,
    ) -> Outcome: ...
    def path(self) -> list[_native.RunStep]: ...
    def start_nodes(self) -> list[int]: ...


@dataclass
class _Spending:
    """How much of the limits is used up, by engine. The limit on time also counts what no engine does."""

    limits: Limits
    started: float = field(default_factory=time.monotonic)
    spent: dict[str, float] = field(default_factory=dict)
    stats: Stats = field(default_factory=Stats)
    stopped: Outcome | None = None  # why nothing goes on any more

    @property
    def seconds_left(self) -> float:
        if self.limits.seconds is None:
            return float("inf")
        return self.limits.seconds - (time.monotonic() - self.started)

    def add(self, engine: str, stats: Stats) -> None:
        self.spent[engine] = round(self.spent.get(engine, 0.0) + stats.seconds, 6)
        self.stats += stats


class _Question:
    """One question about one program, while it is being answered."""

    def __init__(
        self,
        program: Program,
        model: str,
        wanted: Property,
        limits: Limits,
        *,
        watcher: Watcher | None,
        without: Sequence[str],
        criterion: str = "safe",
    ) -> None:
        self._engines = ENGINES_OF[model]
        program = self._engines.as_compiled(program)
        self._program, self._model, self._wanted = program, model, wanted
        self._criterion = criterion
        self._watcher, self._without = watcher, without
        self._marked: Marked = marked(program, wanted)
        self._warnings = (*program.warnings, *mode_warnings(program, [model]))
        self._proof: Backward | None = None  # the backward search, once it has ended
        self._spending = _Spending(limits)
        self._counted: dict[str, Any] = {}  # by engine, the numbers of its search that are in `_spending`
        # Two searches can be there at a time, of which each may have half.
        self._memory_mb = (limits.memory_mb or memory_to_use_mb()) / 2
        self._kept = kept_registers(self._marked.program, wanted)
        cut_off = criterion == DEADLOCKS
        code = Lowering(self._marked.program, monitored=False, kept=self._kept, cut_off=cut_off).plain
        start = time.perf_counter()
        try:
            self._graphs = _native.thread_graphs(
                code, MOST_NODES, failing_cas_writes=self._engines.failing_cas_writes
            )
        except RuntimeError:  # of which there is no other; after the first access it is a limit like others
            message = f"before a thread's first access a value leaves the range 0..{program.max_value}"
            raise InputError(f"{message} that is followed", program.file) from None
        self._spending.add("graphs", Stats(seconds=time.perf_counter() - start))

    # The questions.

    def under(self, engine: Engine) -> _Decision:
        return self._under_sc() if self._model == "sc" else self._under_weak_memory(engine)

    def _under_sc(self) -> _Decision:
        bad = self._bad()
        if isinstance(bad, Unknown):
            return bad
        if not bad:
            return self._nothing_bad()
        search = _native.ScSearch(self._graphs, bad)
        match self._run("sc", search, self._spending.seconds_left):
            case Outcome.VIOLATION:
                return self._unsafe("sc", search, "an interleaving of the threads does it")
            case Outcome.COMPLETE if not self._graphs.value_limit:
                return self._safe("sc", "no interleaving of the threads reaches a bad state")
            case outcome:
                return self._unknown(outcome)

    def _under_weak_memory(self, engine: Engine) -> _Decision:
        bad = self._bad()
        if isinstance(bad, Unknown):
            return self._by_robustness_alone() or bad
        if not bad and engine == "portfolio":
            return self._nothing_bad()
        for answer in self._turns(engine, bad):
            if answer is not None:
                return answer
        return self._unknown(self._spending.stopped or Outcome.TIME_LIMIT)

    def about_write_races(self) -> _Decision:
        if self._graphs.unbuilt is not None:
            return self._unbuilt()
        search = self._backward(write_races(self._graphs))
        outcome = self._run("backward", search, self._spending.seconds_left)
        if outcome == Outcome.VIOLATION:
            witness = race_witness(self._marked.program, self._path(search))
            because = "SRA reaches a write by a thread that does not know of an earlier one"
            return self._violated("backward", because, witness=witness)
        if outcome == Outcome.COMPLETE and not self._graphs.value_limit:
            because = (
                "any two writes to a location are ordered in every run, so RA reaches no more states than SRA"
            )
            return self._safe("backward", because, search.stats.basis)
        return self._unknown(outcome)

    def certificate(self) -> Certificate | None:
        """The proof of a safe answer, if the backward search gave it."""
        if self._proof is None:
            return None
        return certificate_of(self._marked, self._wanted, self._graphs, self._proof)

    # The engines, in turns.

    def _turns(self, engine: Engine, bad: Sequence[BadProduct]) -> Iterator[_Decision | None]:
        goes_back = engine != "forward" and number_of_states(bad) <= MOST_BAD_STATES
        if engine == "backward" and not goes_back:
            why = f"there are more than {MOST_BAD_STATES:,} bad states to go back from"
            yield Unknown(**self._common(), why=why, spent=self._spending.spent)
        sc_is_safe = False
        if engine == "portfolio":
            sc_is_safe = yield from self._by_sequential_consistency(bad)
        forward = Forward(self._engines, self._graphs, bad) if engine != "backward" else None
        backward = self._backward(bad) if goes_back else None
        seconds = FIRST_SLICE if engine == "portfolio" else float("inf")
        while self._spending.stopped is None and self._spending.seconds_left > 0:
            if forward is not None:
                yield self._turn("forward", forward, seconds)
                if not forward.goes_on or (backward is not None and self._spending.stopped in _FULL):
                    forward = None  # the backward search may need less
                    self._spending.stopped = None
            if backward is not None and self._spending.stopped is None:
                yield self._turn("backward", backward, seconds)
            if sc_is_safe and self._spending.stopped is None:
                sc_is_safe = False  # robustness is asked once
                yield self._by_robustness(ROBUSTNESS_SLICE)
            if forward is None and backward is None:
                why = f"no bad state with at most {MOST_ON_THE_WAY} {self._engines.bounded}"
                yield Unknown(**self._common(), why=why, spent=self._spending.spent)
            seconds *= 2

    def _turn(self, name: str, search: Any, seconds: float) -> _Decision | None:
        match self._run(name, search, min(seconds, self._spending.seconds_left)):
            case Outcome.VIOLATION:
                so = ", and so does RA" if self._model == "ra" else ""
                return self._unsafe(name, search, f"{self._engines.called} reaches a bad state{so}")
            case Outcome.COMPLETE if self._graphs.value_limit:
                return self._unknown(Outcome.COMPLETE)
            case Outcome.COMPLETE:
                because = "no way leads from an initial state to a bad one"
                if name != "backward":
                    return self._none_reached(name, because, None)
                self._proof = search
                return self._none_reached(name, because, search.stats.basis)
            case Outcome.TIME_LIMIT:
                return None
            case outcome:
                self._spending.stopped = outcome
                return None

    def _by_sequential_consistency(
        self, bad: Sequence[BadProduct]
    ) -> Generator[_Decision | None, None, bool]:
        """An answer if there is a bug without weak memory; returns whether it is known that there is none."""
        search = _native.ScSearch(self._graphs, bad)
        outcome = self._run("sc", search, min(SC_SLICE, self._spending.seconds_left / 4))
        if outcome == Outcome.VIOLATION:
            yield self._unsafe("sc", search, _UNDER_SC)
        if outcome == Outcome.INTERRUPTED:
            self._spending.stopped = outcome
        return outcome == Outcome.COMPLETE and not self._graphs.value_limit

    def _by_robustness(self, seconds: float) -> _Decision | None:
        """Safe, if weak memory does not show; for programs that are safe under sequential consistency."""
        limits = replace(self._spending.limits, seconds=min(seconds, max(self._spending.seconds_left, 0.01)))
        answer = self._engines.does_not_show(self._marked.program, limits, self._watcher)
        self._spending.add("robustness", answer.stats)
        if isinstance(answer, Unknown) and answer.interrupted:
            self._spending.stopped = Outcome.INTERRUPTED
        return self._safe_as_under_sc(answer)

    def _safe_as_under_sc(self, answer: RobustnessAnswer | PersistenceAnswer) -> _Decision | None:
        """Safe, if the answer says that weak memory does not show; for what is safe without it."""
        if not answer.holds or answer.race is not None:
            return None
        against = {"tso": "on TSO"}.get(answer.model, f"against {answer.model.upper()}")
        because = f"the program is {answer.verdict} {against}, and safe under sequential consistency"
        return self._safe("robustness", because)

    def _by_robustness_alone(self) -> _Decision | None:
        """For programs that are too large for the other engines, and ask for nothing but their assertions and
        data races."""
        if self._criterion == DEADLOCKS:
            return self._deadlocks_by_robustness_alone()
        only_races = self._criterion == DATA_RACES
        if dataclasses.replace(self._wanted, ignore_races=False) != Property() or (
            self._program.condition is not None and not only_races
        ):
            return None
        answer = self._engines.does_not_show(self._program, self._spending.limits, self._watcher)
        self._spending.add("robustness", answer.stats)
        failing = None if only_races else answer.assertion
        race = None if self._wanted.ignore_races else answer.race
        if failing is not None or race is not None:
            return self._violated("robustness", _UNDER_SC, race=race, assertion=failing)
        return self._safe_as_under_sc(answer)

    def _deadlocks_by_robustness_alone(self) -> _Decision | None:
        answer = self._engines.does_not_show(self._program, self._spending.limits, self._watcher)
        self._spending.add("robustness", answer.stats)
        if answer.deadlock is not None:
            return self._violated("robustness", _UNDER_SC, deadlock=answer.deadlock)
        return self._safe_as_under_sc(answer)

    def _none_reached(self, engine: str, because: str, basis: int | None) -> _Decision:
        """Safe; under RA only if that reaches no more than SRA, over which the engines search."""
        if self._model != "ra":
            return self._safe(engine, because, basis)
        race = races(
            self._program,
            kind="write-write",
            limits=replace(self._spending.limits, seconds=self._time_left()),
            watcher=self._watcher,
        )
        self._spending.add("races", race.stats)
        if isinstance(race, RaceFree):
            return self._safe(
                engine, f"{because} under SRA, and without write/write races RA reaches nothing more", basis
            )
        robust_too = self._by_robustness(self._spending.seconds_left)
        if robust_too is not None:
            return robust_too
        why = "SRA has no data race" if self._is_about_races else "it is safe under SRA"
        if isinstance(race, Racy):
            why += ", but it has a write/write race, so that RA may reach more"
        else:
            why += f"; whether it has write/write races, so that RA may reach more, is open: {race.why}"
        return Unknown(**self._common(), why=why, spent=self._spending.spent, witness=race.witness)

    def _time_left(self) -> float | None:
        return None if self._spending.limits.seconds is None else max(self._spending.seconds_left, 0.01)

    # Parts.

    def _bad(self) -> list[BadProduct] | Unknown:
        program, built = self._marked.program, self._graphs.unbuilt is None
        if self._criterion == DATA_RACES:
            return data_races(program, self._graphs.threads) if built else self._unbuilt()
        if self._criterion == DEADLOCKS:
            return self._deadlocks() if built else self._unbuilt()
        bad = BadStates(program, self._wanted, self._graphs).products if built else []
        if not bad and not asks_something(self._program, self._wanted):
            raise _nothing_asked(self._program)
        return bad if built else self._unbuilt()

    def _deadlocks(self) -> list[BadProduct] | Unknown:
        found = deadlocks(self._marked.program, self._graphs.threads)
        bad = list(islice(found, MOST_WAITS + 1))
        if len(bad) <= MOST_WAITS:
            return bad
        why = f"there are more than {MOST_WAITS:,} ways for the threads to wait"
        return Unknown(**self._common(), why=why, spent=self._spending.spent)

    @property
    def _is_about_races(self) -> bool:
        return self._criterion in RACE_KINDS.values()

    def _backward(self, bad: Sequence[BadProduct]) -> Backward:
        return self._engines.backward(
            self._graphs, bad, **{name: name not in self._without for name in PRUNINGS}
        )

    def _run(self, name: str, search: Any, seconds: float) -> Outcome:
        limits = replace(
            self._spending.limits,
            seconds=None if seconds == float("inf") else max(seconds, 0),
            memory_mb=self._memory_mb,
        )
        start = time.perf_counter()
        before = self._counted.get(name, Counts())
        outcome: Outcome = search.run(**bounds(limits, self._watcher))
        after = search.stats
        self._counted[name] = after
        self._spending.add(
            name,
            Stats(
                states=after.states - before.states,
                transitions=after.transitions - before.transitions,
                seconds=round(time.perf_counter() - start, 6),
                peak_memory_mb=round(after.bytes / (1 << 20), 3),
            ),
        )
        return outcome

    def _path(self, search: _Search) -> Path:
        stored_by = search.stored_by() if isinstance(search, Forward) else None
        return Path(self._graphs, search.start_nodes(), search.path(), self._kept, stored_by)

    # Answers.

    def _common(self) -> dict[str, Any]:
        return {
            "file": self._program.file,
            "question": "races" if self._is_about_races else "verify",
            "model": self._model,
            "criterion": self._criterion,
            "stats": self._spending.stats,
            "exhaustive": False,
            "warnings": self._warnings,
        }

    def _safe(self, engine: str, because: str, basis: int | None = None) -> Safe | RaceFree:
        common = {**self._common(), "engine": engine, "because": because, "spent": self._spending.spent}
        if self._is_about_races:
            return RaceFree(**common, basis=basis)
        common["exhaustive"] = not self._wanted.ignore_races  # neither a race nor a failing assertion
        return Safe(**common, basis=basis)

    def _nothing_bad(self) -> _Decision:
        if self._graphs.value_limit:
            return self._unknown(Outcome.COMPLETE)
        because = "nothing that counts as bad can happen in any thread, whatever the others write"
        if self._criterion == DATA_RACES:
            because = "no two threads access one non-atomic location, one of them to write it"
            because = _ALL_ATOMIC if all(self._program.atomic_cells) else because
        if self._criterion == DEADLOCKS:
            because = "no thread can wait for a value that its location does not hold"
        return self._safe("graphs", because)

    def _unsafe(self, engine: str, search: _Search, because: str) -> Unsafe | Racy:
        witness = self._engines.witness(self._marked.program, self._path(search), self._what_is_bad)
        return self._violated(engine, because, witness=witness)

    def _what_is_bad(self, run: Run) -> BadState:
        """At the end of a run that an engine found."""
        bad: BadState | None
        if self._criterion == DATA_RACES:
            bad = data_race(run)  # whatever else goes wrong
        elif self._criterion == DEADLOCKS:
            bad = deadlock(run)
        else:
            bad = bad_state(self._marked, self._wanted, run)
        if bad is None:
            raise AssertionError("the engine found a bad state that the run does not come to")
        return bad

    def _violated(self, engine: str, because: str, **found: Any) -> Unsafe | Racy:
        common = {**self._common(), "engine": engine, "because": because, "spent": self._spending.spent}
        return Racy(**common, **found) if self._is_about_races else Unsafe(**common, **found)

    def _unbuilt(self) -> Unknown:
        unbuilt = self._graphs.unbuilt
        assert unbuilt is not None
        name = self._program.threads[unbuilt.thread].name
        match unbuilt.why:
            case WhyUnbuilt.TOO_MANY_NODES:
                why = f"thread `{name}` on its own already has too many states (lower max_value?)"
            case WhyUnbuilt.ENDLESS_LOCAL_RUN:
                why = f"thread `{name}` runs too long without a memory access"
            case _:
                why = f"thread `{name}` has too many choices without a memory access"
        return Unknown(**self._common(), why=why, spent=self._spending.spent)

    def _unknown(self, outcome: Outcome) -> Unknown:
        limits, states = self._spending.limits, self._spending.stats.states
        why = {
            Outcome.STATE_LIMIT: f"the limit of {limits.states or 0:,} states was reached",
            Outcome.MEMORY_LIMIT: f"the memory limit was reached after {states:,} states",
            Outcome.INTERRUPTED: f"the search was interrupted after {states:,} states",
            Outcome.COMPLETE: "a value may leave the range that is followed",
        }.get(outcome, f"the time limit was reached after {states:,} states")
        return Unknown(
            **self._common(), why=why, interrupted=outcome == Outcome.INTERRUPTED, spent=self._spending.spent
        )
