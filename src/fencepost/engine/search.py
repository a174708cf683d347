"""Running the native engine on a program: limits, tactics, progress, and why a search came to no end.

The runs that it finds are given names in `decode`; what a result means for a question is decided in
`analyses/`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from fencepost.engine import _native
from fencepost.engine._native import Outcome, StoreKind
from fencepost.engine.lower import Lowering
from fencepost.errors import InputError
from fencepost.memory_models import MODELS
from fencepost.program import Program, Thread
from fencepost.verdicts import Stats

if TYPE_CHECKING:
    from typing import TypedDict

    from fencepost.static.translations import Translation

    class Bounds(TypedDict):
        most_states: int
        most_seconds: float
        most_bytes: int
        report: Callable[[int, int, int, int, float], bool] | None


class Limits(msgspec.Struct, frozen=True):
    """When to give up. None is no limit; for memory it is most of what the machine has free.

    `asked` is what `seconds` was at first, if some of it is spent.
    """

    states: int | None = None
    seconds: float | None = None
    memory_mb: float | None = None
    asked: float | None = None

    def after(self, spent: float) -> Limits:
        """What is left of them after so many seconds."""
        if self.seconds is None:
            return self
        asked = self.seconds if self.asked is None else self.asked
        return replace(self, seconds=max(self.seconds - spent, 0.0), asked=asked)

    @property
    def time_limit(self) -> str:
        """The limit on time as the user gave it."""
        asked = self.seconds if self.asked is None else self.asked
        return "time limit" if asked is None else f"time limit of {asked:g} s"


class Variation(msgspec.Struct, frozen=True):
    """How searches of one program differ that forget states, or visit them at random.

    `seed` is that of the hash and of random choices. Of each state `bits_per_state` bits are kept. A random
    search goes no more than `deepest` steps from the start.
    """

    seed: int = 0
    bits_per_state: int = 3
    deepest: int | None = None


_SAME = Variation()


class Tactics(msgspec.Struct, frozen=True):
    """How to search; none of it changes a verdict, but for `bitstate`. `docs/engine.md` says why.

    Without `subsumption` every monitor is kept, not only the largest ones; without `partial_order` all
    threads are stepped in every state; without `symmetry` states in which equal threads have changed places
    are told apart; without `rotation`, states in which values that wrap around have all been moved on;
    without `translation`, nothing is proven by moving values back of which only differences matter.
    Without `local`, constants are not propagated, and every access is a point at which other threads get
    their turn, also one that none of them can see. Without `merging`, a search by location follows monitors
    through every state, also through those with the same future; without `lookahead`, also where nobody can
    ask about them any more. `threads` of the machine search together.

    `compress` keeps states in less memory, and every monitor. If it is None, states without monitors, or with
    every monitor, are moved into less memory when half of it is used. `bitstate` forgets states: it can find
    a violation in a program too large for memory, but not show that there is none. It has at most
    `bitstate_mb` for its bits, a power of two, and at most a quarter of all memory.

    With a `directory`, states are kept in files there, and every monitor: for programs with more states than
    memory. Such a search is breadth first.

    `part` is (number, of how many): a search by location searches its part of the topics only. Nothing is
    shown before all parts are searched.
    """

    subsumption: bool = True
    partial_order: bool = True
    symmetry: bool = True
    rotation: bool = True
    translation: bool = True
    local: bool = True
    merging: bool = True
    lookahead: bool = True
    threads: int = 1
    compress: bool | None = None
    bitstate: bool = False
    bitstate_mb: float = 128
    variation: Variation = _SAME
    part: tuple[int, int] = (0, 1)
    directory: str | None = None

    @property
    def store(self) -> StoreKind:
        if self.bitstate:
            return StoreKind.BITSTATE
        if self.compress:
            return StoreKind.COMPRESSED
        return StoreKind.MAXIMAL if self.subsumption else StoreKind.EXACT


REDUCED = Tactics()
EVERY_STATE = Tactics(
    subsumption=False,
    partial_order=False,
    symmetry=False,
    rotation=False,
    translation=False,
    local=False,
    merging=False,
    lookahead=False,
)


class Progress(msgspec.Struct, frozen=True):
    states: int
    transitions: int
    waiting: int
    memory_mb: float
    seconds: float


# Called about ten times a second; the search ends as interrupted when it returns True.
Watcher = Callable[[Progress], bool]

_MEGABYTE = 1 << 20
_DEEPEST = 2**32 - 1
_MOST_STATES = 2**64 - 1
_MOST_THREADS_OF_VIEWS = 30  # `TopicRules::most_threads`


def explore(
    program: Program,
    model: str,
    limits: Limits,
    order: str = "breadth-first",
    watcher: Watcher | None = None,
    *,
    tactics: Tactics = REDUCED,
    lowering: Lowering | None = None,
    observational: bool = False,
) -> _native.Result:
    """Search all states of `program` under sequential consistency with the monitor of `model`.

    If it is `observational`, a load of a stale value is a violation only where its register is used.
    `lowering` is the program's bytecode for the model and `tactics.local`, if there is one already. With
    partial-order reduction or several threads, runs are not shortest even breadth first.
    """
    if tactics.directory is not None and order != "breadth-first":
        raise ValueError(f"a search that keeps its states in files is breadth-first, not {order}")
    if lowering is None:
        lowering = lowering_for(program, model, local=tactics.local, observational=observational)
    code = lowering.renamed(exchanges=tactics.symmetry, rotations=tactics.rotation)
    with _as_input_errors(program):
        result = _explore(code, model, limits, order, watcher, tactics=tactics)
    if result.outcome == Outcome.ENDLESS_LOCAL_RUN and tactics.local:
        # Perhaps only because some accesses were made local.
        plainly = replace(tactics, local=False)
        return explore(program, model, limits, order, watcher, tactics=plainly, observational=observational)
    return result


def explore_translation(
    found: Translation,
    model: str,
    limits: Limits,
    watcher: Watcher | None = None,
    *,
    tactics: Tactics = REDUCED,
) -> _native.Result | None:
    """Search a translation of a program: if the search is complete, the program has no violation and no race.
    Nothing if exchanges of threads rename values that are moved."""
    try:
        lowering = lowering_for(found.program, model, local=tactics.local)
        code = lowering.translated(found, exchanges=tactics.symmetry)
    except InputError:  # it is no program of the user's that is refused
        code = None
    if code is None:
        return None
    return _explore(code, model, limits, "by-location", watcher, tactics=tactics)


def _explore(
    code: _native.Program,
    model: str,
    limits: Limits,
    order: str,
    watcher: Watcher | None,
    *,
    tactics: Tactics,
) -> _native.Result:
    return _native.explore(
        code,
        _native.Model[model.upper()],
        _native.Order[order.upper().replace("-", "_")],
        tactics.store,
        tactics.partial_order,
        tactics.merging,
        tactics.lookahead,
        tactics.threads,
        _native_variation(tactics),
        **bounds(limits, watcher),
        part=tactics.part,
        may_compress=tactics.compress is None,
        directory=tactics.directory or "",
    )


def lowering_for(
    program: Program, model: str, *, local: bool, observational: bool = False, cut_off: bool = True
) -> Lowering:
    """The bytecode that `explore` takes for the model."""
    return Lowering(
        program,
        monitored=model != "sc",
        ordered_by_s=MODELS[model].ordered_by_s,
        local=local,
        observational=observational,
        cut_off=cut_off,
    )


def explore_tso(
    program: Program,
    criterion: str,
    limits: Limits,
    watcher: Watcher | None = None,
    *,
    find_all: bool = False,
    pivot: int | None = None,
) -> _native.TsoResult:
    """Search all states of `program` under sequential consistency for a violation of a criterion of TSO.

    With `find_all`, search for all violations that differ in where fences could stand between the write and
    the read that overtakes it. With `pivot`, only writes and reads of that thread count; not for "robust".
    """
    code = Lowering(program, monitored=False, store_buffers=True, cut_off=True).plain
    with _as_input_errors(program):
        return _native.explore_tso(
            code, _native.Criterion[criterion.upper()], find_all, pivot, **bounds(limits, watcher)
        )


class TwoOfEach(msgspec.Struct, frozen=True):
    """A program as searches of views take it: each template as two threads, one that makes steps and one that
    shows what these do to others. A thread that is told apart from the rest of its template comes first."""

    program: Program
    templates: list[tuple[int, int]]  # the numbers of their threads
    actors: list[int]  # by the number that a thread has in the program as it was


def two_of_each(program: Program, apart: Thread | None = None) -> TwoOfEach:
    threads = [] if apart is None else [replace(apart, least=None, tid=0, copies=3)]
    templates: list[tuple[int, int]] = []
    actors: list[int] = []
    for thread in program.threads:
        actors.append(len(threads))
        if thread.least is None:
            threads.append(thread)
            continue
        templates.append((len(threads), len(threads) + 1))
        threads += [replace(thread, least=None, tid=tid, copies=3) for tid in (1, 2)]
    if len(threads) > _MOST_THREADS_OF_VIEWS:
        raise InputError(
            f"at most {_MOST_THREADS_OF_VIEWS} threads are supported beside a template, which counts as two "
            f"or three; this program comes to {len(threads)}",
            program.file,
        )
    return TwoOfEach(replace(program, threads=tuple(threads)), templates, actors)


def explore_any_number(
    program: Program,
    model: str,
    k: int,
    limits: Limits,
    watcher: Watcher | None = None,
    *,
    apart: Thread | None = None,
    exclusive: Sequence[tuple[int, int]] = (),
) -> _native.AnyNumberResult:
    """Collect the views of k threads of a program with templates (`native/engine/any_number`).

    With `apart`, a template, one of its threads is told apart from the others, and the search is for data
    races with what it has read. Without it, no two threads may stand at places of `exclusive`, a place being
    a thread and a pc. Threads whose assumptions fail stand at their ends under "sc", as for `verify`.
    """
    given = two_of_each(program, apart)
    code = lowering_for(given.program, model, local=False, cut_off=model != "sc").plain
    with _as_input_errors(program):
        return _native.explore_any_number(
            code,
            _native.Model[model.upper()],
            given.templates,
            k,
            None if apart is None else 0,
            [(given.actors[thread], pc) for thread, pc in exclusive],
            **bounds(limits, watcher),
        )


def explore_attacks(
    program: Program, k: int, limits: Limits, watcher: Watcher | None = None, *, apart: Thread | None = None
) -> _native.AnyNumberResult:
    """Collect the views of k threads of a program with templates that show attacks on its robustness against
    TSO: by a thread of the template `apart`, or without it by the threads that are there once."""
    given = two_of_each(program, apart)
    code = Lowering(given.program, monitored=False, store_buffers=True, cut_off=True).plain
    attacker = None if apart is None else 0
    with _as_input_errors(program):
        return _native.explore_attacks(code, given.templates, k, attacker, **bounds(limits, watcher))


def _native_variation(tactics: Tactics) -> _native.Variation:
    varied = tactics.variation
    deepest = _DEEPEST if varied.deepest is None else varied.deepest
    return _native.Variation(
        varied.seed, varied.bits_per_state, deepest, int(tactics.bitstate_mb * _MEGABYTE)
    )


def bounds(limits: Limits, watcher: Watcher | None) -> Bounds:
    """The limits as a native search takes them."""
    memory_mb = memory_to_use_mb() if limits.memory_mb is None else limits.memory_mb

    def report(states: int, transitions: int, waiting: int, memory: int, seconds: float) -> bool:
        assert watcher is not None
        return watcher(Progress(states, transitions, waiting, memory / _MEGABYTE, seconds))

    return {
        "most_states": _MOST_STATES if limits.states is None else min(limits.states, _MOST_STATES),
        "most_seconds": limits.seconds if limits.seconds is not None else 1e300,
        "most_bytes": int(memory_mb * _MEGABYTE),
        "report": report if watcher else None,
    }


@contextmanager
def _as_input_errors(program: Program) -> Iterator[None]:
    """What the engine refuses is a mistake in the program."""
    try:
        yield
    except ValueError as error:
        raise InputError(str(error), program.file) from None


def memory_to_use_mb() -> float:
    """Most of what the machine has free."""
    free = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return max(free * 0.8, 256 * _MEGABYTE) / _MEGABYTE


def stats(result: _native.Result) -> Stats:
    return Stats(
        states=result.states,
        transitions=result.transitions,
        seconds=round(result.seconds, 6),
        peak_memory_mb=round(result.peak_bytes / _MEGABYTE, 3),
        bits_used=msgspec.UNSET if result.bits_used is None else round(result.bits_used, 6),
        disk_mb=msgspec.UNSET if result.disk_bytes == 0 else round(result.disk_bytes / _MEGABYTE, 3),
        compressed_after=msgspec.UNSET if result.compressed_after is None else result.compressed_after,
    )


def why_unknown(program: Program, result: _native.Result, limits: Limits) -> str:
    """What kept the search from coming to an end."""
    covered = f"after {result.states:,} states"
    match result.outcome:
        case Outcome.STATE_LIMIT:
            return f"the limit of {limits.states:,} states was reached"
        case Outcome.TIME_LIMIT:
            return f"the {limits.time_limit} was reached {covered}"
        case Outcome.MEMORY_LIMIT:
            limit = "" if limits.memory_mb is None else f" of {int(limits.memory_mb):,} MB"
            return f"the memory limit{limit} was reached {covered}"
        case Outcome.INTERRUPTED:
            return f"the search was interrupted {covered}"
        case Outcome.INEXACT:
            return f"no violation was found {covered}, but bit-state hashing can miss states"
        case Outcome.DISK_FAILURE:
            return f"{result.disk_failure}; the search stopped {covered}"
        case Outcome.VALUE_LIMIT:
            thread = program.threads[result.endless_thread]
            at = thread.code[result.endless_pc].at
            return (
                f"a value of thread `{thread.name}` leaves the range 0..{program.max_value} that is followed "
                f"(line {at.line}); the search stopped {covered}"
            )
        case _:
            thread = program.threads[result.endless_thread]
            at = thread.code[min(result.endless_pc, len(thread.code) - 1)].at
            does = "has too many choices" if result.endless_choices else "runs too long"
            return (
                f"thread `{thread.name}` {does} without a memory access (line {at.line}); "
                f"the search stopped {covered}"
            )


def reachable_states(program: Program, most_states: int) -> set[tuple[int, ...]]:
    """Every state under sequential consistency, for tests: per thread the index of its next access (code
    size: ended, one more: diverged) and its registers, then the cells."""
    code = Lowering(program, monitored=False, keep_registers=True).plain
    return {tuple(state) for state in _native.reachable(code, most_states)}
