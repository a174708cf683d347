"""Observational robustness: what it means, and the rule by which it is shown.

    observed_beyond_sc   the meaning: a graph of the model with observations that no SC-consistent graph has
    not_shown            the rule: an SC run after which a stale value may be used, or an access may leave SC

The *observations* of a graph are the memory at its end and, per thread, what it did and what it saw: its
accesses without the values of plain loads; the value of every expression in a condition, in an address, or of
a value to store or compare; the registers of `verify` and of the final condition; and where it stands. The
value of a load is observed only where its register is used (`static/register_uses.py`).

The rule follows SC runs. A load by t of x that could read a stale write, where t is hbsc-aware of the newest
one, *taints* its register. A clean load and an assignment from clean registers clean it, an assignment from a
tainted one passes the taint on, and any use of a tainted register is a violation. All other accesses are
checked as for robustness (Theorem 5.1 of rocker-2019).

What does a thread know after a tainting load? Under the model it may have read any of several writes. So
happens-before is taken in `known`, the graph without tainting loads, which has no more of it than any graph
of the model with the same events but other sources of these loads. hbsc is taken in the SC graph with them.

Why the rule is sound. Suppose it finds nothing, and let G be a graph of the model. By induction there is an
SC graph G' with the same events, mo, and rf, except for the sources of tainting loads. Take the last event e
of G, by t to x, with predecessor w, and let w* be the last write to x of which t is hbsc-aware in G'. If w is
w* or later in mo, e can be added to G' with the same w. If w is older, take the SC run to what is before t in
hbsc: there w* is the newest write, and t can read or precede w, since it knows no more than in G. So e is
found by the rule, or is a tainting load: then let it read w* in G'.

A load whose register no use needs orders other accesses in hbsc, though nobody can see it. So the rule may
also be applied to the program without such loads (`static.register_uses.without_unused_loads`): a graph of
the model without them is one too, and in an SC run they can be put back anywhere.

A data race on a non-atomic cell is found if G has one, by the same argument; but under models in which
it depends on what t knows, the rule may find one after a tainting load where no graph of the model has it.

Both are for programs without loops.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import product
from typing import Literal, NamedTuple

from fencepost.memory_models import MODELS
from fencepost.models.definition import definition, program_lts
from fencepost.models.enumerate import BOTTOM, Bottom, GraphMemory, reachable_graph_states
from fencepost.models.explore import reachable
from fencepost.models.graphs import NOTHING, Graph, initial_graph
from fencepost.models.sc import SCG, racing
from fencepost.models.threads import NO_CELL, Label, ProgramLts, ThreadLts, ThreadState
from fencepost.program import Assign, Load, Program, Register, Verify, expressions_of
from fencepost.static.liveness import assigned_register, registers_read
from fencepost.static.register_uses import registers_used, registers_used_at_end

# Local steps, seen one by one.

Path = tuple[ThreadState, ...]


def paths(lts: ThreadLts, start: ThreadState) -> Iterator[Path]:
    """Every way from `start` through local steps to an access or the end, with all states on it."""
    after = lts.local_successors(start)
    if not after:
        yield (start,)
    for state in after:
        for path in paths(lts, state):
            yield (start, *path)


# What is observed of a graph.


class Observations(NamedTuple):
    memory: tuple[int, ...]
    threads: tuple[tuple[object, ...], ...]


def observed_beyond_sc(
    program: Program, model: str, limit: int | None = None
) -> Observations | Bottom | None:
    """Observations that the model allows and SC does not, or ⊥ if there is a data race."""
    observer = _Observer(program_lts(program, model))
    under_sc: set[Observations] = set()
    for _, graph in reachable_graph_states(observer.lts, SCG, limit):
        assert graph is not BOTTOM
        under_sc.update(observer.observations(graph))
    found: Observations | None = None
    for _, graph in reachable_graph_states(observer.lts, definition(model).memory, limit):
        if graph is BOTTOM:
            return BOTTOM
        beyond = (seen for seen in observer.observations(graph) if seen not in under_sc)
        found = found or next(beyond, None)
    return found


class _Observer:
    def __init__(self, lts: ProgramLts) -> None:
        self.lts = lts
        self._of_thread = lru_cache(maxsize=None)(self._observe_thread)

    def observations(self, graph: Graph) -> Iterator[Observations]:
        """With the choices of the program unknown, there may be several."""
        memory = tuple(graph.written(graph.latest(cell)) for cell in range(len(graph.mo_lists)))
        seen = (self._of_thread(thread, labels) for thread, labels in enumerate(graph.labels))
        return (Observations(memory, threads) for threads in product(*seen))

    def _observe_thread(self, thread: int, labels: tuple[Label, ...]) -> tuple[tuple[object, ...], ...]:
        """What the thread may have observed on the ways that have these labels."""
        lts = self.lts.threads[thread]
        start = ThreadState(0, (0,) * len(lts.thread.registers))
        ways = {(self._seen(lts, path), path[-1]) for path in paths(lts, start)}
        for label in labels:
            ways = {
                ((*seen, _without_value(lts, at, label), *self._seen(lts, path)), path[-1])
                for seen, at in ways
                for after in self._after(lts, at, label)
                for path in paths(lts, after)
            }
        return tuple({(*seen, at.pc) for seen, at in ways})

    def _after(self, lts: ThreadLts, at: ThreadState, label: Label) -> Iterator[ThreadState]:
        if lts.access(at) is None:
            return
        value = label.read or 0
        step = lts.step(at, value)
        if step is not None and step.label == label:
            yield lts.past_access(at, value)

    def _seen(self, lts: ThreadLts, path: Path) -> tuple[object, ...]:
        return tuple(item for state in path for item in self._seen_at(lts, state))

    def _seen_at(self, lts: ThreadLts, state: ThreadState) -> Iterator[object]:
        if state.pc not in range(lts.end):
            for name in sorted(registers_used_at_end(self.lts.program, lts.thread)):
                yield name, lts.value(Register(name), state)
            return
        instruction = lts.code[state.pc]
        if isinstance(instruction, Verify):
            yield state.pc, lts.value(Register(instruction.register), state)
        elif registers_used(instruction):
            yield state.pc, *(lts.value(expression, state) for expression in expressions_of(instruction))


def _without_value(lts: ThreadLts, at: ThreadState, label: Label) -> Label:
    """The label as far as it is observed: a load's value is not."""
    access = lts.access(at)
    assert access is not None
    return label._replace(read=None) if isinstance(access.instruction, Load) else label


# The rule.


class NotShown(NamedTuple):
    """Why the rule does not hold: what happens first, and where.

    "access": it can leave SC. "use": of a tainted register. "race": perhaps, on a non-atomic cell.
    """

    kind: Literal["access", "use", "race"]
    thread: int
    pc: int


class _Thread(NamedTuple):
    at: ThreadState
    tainted: frozenset[str]


class _Run(NamedTuple):
    """What an SC run has led to."""

    threads: tuple[_Thread, ...]
    graph: Graph
    known: Graph  # without tainting loads


def not_shown(program: Program, model: str, limit: int | None = None) -> Iterator[NotShown]:
    """Every first violation of the rule, and every race that it cannot exclude, one after the other."""
    rule = _Rule(program_lts(program, model), model)
    for state in reachable(rule.start(), rule.successors, limit):
        if isinstance(state, NotShown):
            yield state
        else:
            yield from rule.races(state)


class _Rule:
    def __init__(self, lts: ProgramLts, model: str) -> None:
        self._lts = lts
        self._memory: GraphMemory = definition(model).memory
        self._synchronises = MODELS[model].synchronises

    def start(self) -> Iterator[_Run | NotShown]:
        empty = initial_graph(self._lts)
        ways = []
        for thread, lts in enumerate(self._lts.threads):
            nowhere = ThreadState(0, (0,) * len(lts.thread.registers))
            ways.append([self._untainted(thread, path) for path in paths(lts, nowhere)])
        for threads in product(*ways):
            yield _Run(threads, empty, empty)

    def _untainted(self, thread: int, path: Path) -> _Thread:
        arrived = self._arrived(thread, path, frozenset())
        assert isinstance(arrived, _Thread)  # what is not tainted may be used
        return arrived

    def successors(self, state: _Run | NotShown) -> Iterator[_Run | NotShown]:
        if isinstance(state, NotShown):
            return
        for thread in self._next_threads(state):
            yield from self._step(state, thread)

    def _next_threads(self, state: _Run) -> list[int]:
        """Weak fences commute with whatever the other threads do, and come at once."""
        fences: list[int] = []
        accesses: list[int] = []
        for thread, (at, _) in enumerate(state.threads):
            access = self._lts.threads[thread].access(at)
            if access is not None:
                (fences if access.cell == NO_CELL else accesses).append(thread)
        return fences[:1] or accesses

    def _step(self, state: _Run, thread: int) -> Iterator[_Run | NotShown]:
        lts, (at, tainted) = self._lts.threads[thread], state.threads[thread]
        access = lts.access(at)
        assert access is not None
        may_be_stale = self._may_be_stale(state, thread)
        loaded = frozenset({access.instruction.register} if isinstance(access.instruction, Load) else ())
        if may_be_stale and not loaded:
            yield NotShown("access", thread, at.pc)
            return
        is_fence = access.cell == NO_CELL
        w = NOTHING if is_fence else state.graph.latest(access.cell)
        value = 0 if is_fence else state.graph.written(w)
        step = lts.step(at, value)
        if step is None:
            return
        graph = state.graph.add(thread, step.label, w)
        known = state.known
        if may_be_stale:
            tainted |= loaded
        else:
            known = known.add(thread, step.label, NOTHING if is_fence else known.latest(access.cell))
            tainted -= {assigned_register(access.instruction)}
        for path in paths(lts, lts.past_access(at, value)):
            arrived = self._arrived(thread, path, tainted)
            if isinstance(arrived, NotShown):
                yield arrived
            else:
                yield _Run((*state.threads[:thread], arrived, *state.threads[thread + 1 :]), graph, known)

    def _may_be_stale(self, state: _Run, thread: int) -> bool:
        """Whether the next access can read, or come before, a write that is not the newest (Theorem 5.1)."""
        lts, at = self._lts.threads[thread], state.threads[thread].at
        access = lts.access(at)
        if access is None or access.cell == NO_CELL or not state.graph.cells.atomic[access.cell]:
            return False
        if not state.graph.observed_sc(thread) >> state.graph.latest(access.cell) & 1:
            return False
        known = state.known
        return any(
            known.fits(step.label, w) and self._memory.step(known, thread, step.label, w) is not None
            for w in known.mo_lists[access.cell][:-1]
            for step in lts.enabled(at)
        )

    def _arrived(self, thread: int, path: Path, tainted: frozenset[str]) -> _Thread | NotShown:
        lts = self._lts.threads[thread]
        for state in path:
            if state.pc not in range(lts.end):
                if tainted & registers_used_at_end(self._lts.program, lts.thread):
                    return NotShown("use", thread, state.pc)
                continue
            instruction = lts.code[state.pc]
            if tainted & registers_used(instruction):
                return NotShown("use", thread, state.pc)
            if isinstance(instruction, Assign):
                passed_on = bool(tainted & registers_read(instruction))
                register = {instruction.register}
                tainted = tainted | register if passed_on else tainted - register
        return _Thread(path[-1], tainted)

    def races(self, state: _Run) -> Iterator[NotShown]:
        if self._synchronises:
            threads = tuple(thread.at for thread in state.threads)
            for race in racing(self._lts, threads):
                yield NotShown("race", race.threads[0], race.pcs[0])
            return
        for thread, (at, _) in enumerate(state.threads):
            access = self._lts.threads[thread].access(at)
            if access is None or access.cell == NO_CELL or state.graph.cells.atomic[access.cell]:
                continue
            latest = state.known.latest(access.cell)
            step = self._lts.threads[thread].step(at, state.known.written(latest))
            assert step is not None
            if self._memory.step(state.known, thread, step.label, latest) is BOTTOM:
                yield NotShown("race", thread, at.pc)
