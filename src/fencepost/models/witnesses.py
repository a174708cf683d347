"""Checks what fencepost shows the user against the definitions: witnesses, races, failing assertions.

    what is shown   function           what must hold
    Witness         replay             all events but the last are a run of the program under SCG; the program
                                       enables the last; it is a step of the model with predecessor `stale`,
                                       which is not `latest`, the mo-last write; the edges and the cycle are
                                       in the graph; hbsc is reflexive (rocker-2019 Thm. 5.1); `unordered`
                                       are the edges of the cycle that are neither po nor in hb;
                                       `order` is the transitive reduction of S on the cycle
    Run             replay_run         the events are a run of the program under SC
    Race            replay_race        RA: so are all but the last two, and those conflict (rocker-2019 Def.
                                       6.1); RC20: so are all, and an earlier one conflicts with the last and
                                       does not happen before it
    Assertion       replay_assertion   after the run the thread meets the finding, with these registers

All raise `ReplayError` with the reason. Where the program has a choice, all outcomes are followed at once.

Under RC20 weak fences are events too. Each stands right after the access after which its thread passed it, or
at the beginning of the run; only those after the last access may be missing. Under CPP20 the same holds for
SC fences.
"""

from __future__ import annotations

from collections.abc import Sequence

from fencepost.memory_models import MODELS
from fencepost.models import cpp20
from fencepost.models.definition import definition, program_lts
from fencepost.models.enumerate import BOTTOM
from fencepost.models.graphs import NOTHING, Graph, initial_graph
from fencepost.models.graphs import Event as GraphEvent
from fencepost.models.relations import Relation, identity
from fencepost.models.sc import SCG
from fencepost.models.threads import NO_CELL, Finding, Label, Step, ThreadState
from fencepost.program import Mode, Program
from fencepost.verdicts import Assertion, Edge, Event, Race, Run, Witness
from fencepost.verdicts.graph import FENCE_CELL, MOST_EVENTS_FOR_S, sc_events_on_cycle


class ReplayError(Exception):
    """What is shown does not follow from the definitions."""


def replay(program: Program, witness: Witness, model: str = "ra") -> None:
    """Check that `witness` shows an execution that `model` allows and sequential consistency does not."""
    run = _RunUnderSc(program, witness.threads, model)
    *before, last = run.begin(witness.events)
    for event in before:
        run.follow(event)
    label = run.enabled_steps(last)[0].label
    require(run.graph.cells.atomic[label.cell], f"the last event is on the non-atomic cell {last.cell}")
    latest, stale = (run.number_of(event, "write") for event in (witness.latest, witness.stale))
    require(latest == run.graph.latest(label.cell), f"event {witness.latest} is not the latest write")
    require(stale != latest, "the stale write is the latest one")
    require(
        run.graph.fits(label, stale), f"event {witness.stale} cannot be the predecessor of the last event"
    )
    thread = run.thread_of(last)
    graph = definition(model).memory.step(run.graph, thread, label, stale)
    if graph is None or graph is BOTTOM:
        raise ReplayError(f"{model} does not allow the last event with predecessor {witness.stale}")
    events = [graph.event(number) for number in run.numbers]
    events.append(graph.event(graph.number(thread, len(graph.labels[thread]))))
    _check_edges(witness.edges, graph, events)
    _check_cycle(witness.cycle, graph, events)
    require(not graph.hbsc.is_irreflexive(), "hbsc is irreflexive")
    _check_unordered(witness, definition(model).hb(graph), events)
    _check_order(witness, graph, events, model)


def replay_run(program: Program, run: Run, model: str = "ra") -> None:
    """Check that `run` is a run of the program under sequential consistency."""
    _followed(program, run, run.events, model)


def replay_race(program: Program, race: Race, model: str = "ra") -> None:
    """Check that `race` shows two conflicting accesses to a non-atomic cell that `model` does not order."""
    events = race.run.events
    require(0 <= race.first < race.second == len(events) - 1, "the second access is not the last event")
    first, second = events[race.first], events[race.second]
    require(first.thread != second.thread, "the racing accesses are of one thread")
    require("W" in (first.kind, second.kind), "none of the racing accesses writes")
    if MODELS[model].synchronises:
        _replay_next_accesses(program, race, model)
    else:
        _replay_unordered_accesses(program, race, model)
    for event in (first, second):
        require(event.cell == race.cell, f"event {event.id} is not on {race.cell}")


def _replay_next_accesses(program: Program, race: Race, model: str) -> None:
    """Both accesses are enabled after all other events."""
    require(race.first == race.second - 1, "these are not the last two events")
    run = _followed(program, race.run, race.run.events[:-2], model)
    first, second = race.run.events[-2:]
    for place, (event, other) in enumerate(((first, second), (second, first)), len(run.numbers)):
        require(event.id == place, f"event {place} has the id {event.id}")
        label = run.enabled_steps(event)[0].label
        require(not run.graph.cells.atomic[label.cell], f"{race.cell} is atomic")
        values = (None, run.graph.written(run.graph.latest(label.cell)), other.written)
        require(label.read in values, f"event {event.id} reads {label.read}")


def _replay_unordered_accesses(program: Program, race: Race, model: str) -> None:
    """All events are a run, and in its graph the first access does not happen before the second."""
    run = _followed(program, race.run, race.run.events, model)
    first, second = (run.graph.event(run.numbers[event]) for event in (race.first, race.second))
    require(not run.graph.cells.atomic[second.label.cell], f"{race.cell} is atomic")
    hb = definition(model).hb(run.graph)
    require((first, second) not in hb, "the first access happens before the second")


def replay_assertion(program: Program, assertion: Assertion, model: str = "ra") -> None:
    """Check that the run leads the thread to the finding, in the local steps after its last access."""
    run = _followed(program, assertion.run, assertion.run.events, model)
    require(0 <= assertion.thread < len(program.threads), f"there is no thread {assertion.thread}")
    thread = program.threads[assertion.thread]
    for finding in run.findings_met(assertion.thread):
        at = thread.code[finding.pc].at
        registers = dict(zip(thread.registers, finding.registers, strict=True))
        place = (finding.kind, at.line, at.column)
        same_place = place == (assertion.kind, assertion.line, assertion.column)
        if same_place and assertion.registers.items() <= registers.items():
            return
    raise ReplayError(f"the run does not lead thread {assertion.thread} to this {assertion.kind}")


class _RunUnderSc:
    """Follows events under SC: the graph so far, and everywhere that each thread can stand."""

    def __init__(self, program: Program, threads: tuple[str, ...], model: str) -> None:
        names = tuple(thread.name for thread in program.threads)
        require(threads == names, f"the threads are {names}, not {threads}")
        self.program = program
        self.model = model
        self.lts = program_lts(program, model)
        has_fence_cell = len(self.lts.initial_memory) > len(program.cells)
        self.cell_names = program.cells + ((FENCE_CELL,) if has_fence_cell else ())
        self.graph = initial_graph(self.lts)
        self.numbers: list[int] = []  # of each event, its number in the graph
        self.stands: list[set[ThreadState]] = [set(thread.start.states) for thread in self.lts.threads]
        self.findings: list[frozenset[Finding]] = [thread.start.findings for thread in self.lts.threads]

    def begin(self, events: Sequence[Event]) -> Sequence[Event]:
        """Check the initial writes, and give the events after them."""
        require_initial_writes(events, self.cell_names, self.lts.initial_memory)
        self.numbers += range(len(self.cell_names))
        return events[len(self.cell_names) :]

    def follow(self, event: Event) -> None:
        """Let `event` happen under SC."""
        require(event.id == len(self.numbers), f"event {len(self.numbers)} has the id {event.id}")
        thread, steps = self.thread_of(event), self.enabled_steps(event)
        label = steps[0].label
        if label.kind == "F":
            self.graph = self.graph.add(thread, label, NOTHING)
        else:
            self._access(thread, label, event)
        self.numbers.append(self.graph.number(thread, len(self.graph.labels[thread])))
        self.stands[thread] = {state for step in steps for state in step.successors}
        self.findings[thread] = self.findings[thread].union(*(step.findings for step in steps))

    def _access(self, thread: int, label: Label, event: Event) -> None:
        latest = self.graph.latest(label.cell)
        if not self.graph.fits(label, latest):
            raise ReplayError(f"event {event.id} reads {event.read}, not {self.graph.written(latest)}")
        graph = SCG.step(self.graph, thread, label, latest)
        assert graph is not None
        self.graph = graph
        self.findings[thread] = frozenset()

    def enabled_steps(self, event: Event) -> list[Step]:
        """The steps, at least one, in which the thread does what `event` shows."""
        thread = self.thread_of(event)
        if not _is_weak_fence(event):
            self._leave_fences()
        lts = self.lts.threads[thread]
        steps = [
            step
            for state in self.stands[thread]
            if (step := lts.step(state, event.read or 0)) is not None
            and self._shown(step.label) == (event.kind, event.cell, event.read, event.written)
            and (event.line, event.column) == self._place(thread, state)
        ]
        if not steps:
            raise ReplayError(f"the program does not enable event {event.id}: {event}")
        steps = [step for step in steps if _mode(step.label, self.model) == event.mode]
        require(bool(steps), f"event {event.id} has the mode {event.mode!r}")
        return steps

    def findings_met(self, thread: int) -> set[Finding]:
        """What goes wrong in the thread after its last access, behind fences that are not shown too."""
        found = set(self.findings[thread])
        frontier, seen = list(self.stands[thread]), set(self.stands[thread])
        while frontier:
            state = frontier.pop()
            step = self.lts.threads[thread].step(state, 0) if self._at_weak_fence(thread, state) else None
            if step is not None:
                found |= step.findings
                frontier += set(step.successors) - seen
                seen |= set(step.successors)
        return found

    def _leave_fences(self) -> None:
        """Before an access all threads have passed their weak fences, or do so for ever and show none."""
        for thread, stands in enumerate(self.stands):
            ways = [way for state in stands for way in self.lts.threads[thread].past_fences(state)]
            past = {way.state for way in ways if not way.fences}
            require(bool(past), f"a fence of thread {thread} is missing before event {len(self.numbers)}")
            self.stands[thread] = past

    def _at_weak_fence(self, thread: int, state: ThreadState) -> bool:
        access = self.lts.threads[thread].access(state)
        return access is not None and access.cell == NO_CELL

    def thread_of(self, event: Event) -> int:
        if event.thread is None or not 0 <= event.thread < len(self.program.threads):
            raise ReplayError(f"event {event.id} is of no thread")
        return event.thread

    def number_of(self, event: int, what: str) -> int:
        require(0 <= event < len(self.numbers), f"the {what} {event} is not among the events before the last")
        return self.numbers[event]

    def _shown(self, label: Label) -> tuple[str, str, int | None, int | None]:
        kind = "F" if label.cell == self.lts.fence_cell else label.kind
        name = self.cell_names[label.cell] if label.cell != NO_CELL else ""
        return kind, name, label.read, label.written

    def _place(self, thread: int, state: ThreadState) -> tuple[int, int]:
        at = self.program.threads[thread].code[state.pc].at
        return at.line, at.column


def _is_weak_fence(event: Event) -> bool:
    return event.kind == "F" and event.cell == ""


def _mode(label: Label, model: str) -> str:
    """How the modes of an event are spelled; a fence has one, and RA synchronises by every access."""
    modes = [mode.value for mode in (label.load_mode, label.store_mode) if mode is not None]
    if MODELS[model].synchronises and label.kind != "F" and not {Mode.SC.value, Mode.NA.value} & set(modes):
        modes = [Mode.ACQ.value] * label.reads + [Mode.REL.value] * label.writes
    if label.load_mode is Mode.SC:
        return modes[0]
    return ("_" if label.kind == "F" else ",").join(modes)


def _followed(program: Program, run: Run, events: Sequence[Event], model: str) -> _RunUnderSc:
    followed = _RunUnderSc(program, run.threads, model)
    for event in followed.begin(events):
        followed.follow(event)
    return followed


def _check_edges(shown: Sequence[Edge], graph: Graph, events: list[GraphEvent]) -> None:
    """All neighbours on atomic cells and in po; those on non-atomic cells may be left out."""
    inner = identity(graph.events - graph.init)
    neighbours = {
        "po": (inner >> graph.po).immediate(),
        "rf": graph.rf,
        "mo": graph.mo.immediate(),
        "fr": (~graph.rf >> graph.mo.immediate()) - graph.id,
    }
    edges = [(_events_at(events, edge), edge.relation) for edge in shown]
    require(len(set(edges)) == len(edges), "an edge is listed twice")
    possible = {(pair, name) for name, pairs in neighbours.items() for pair in pairs}
    needed = {(pair, name) for pair, name in possible if name == "po" or pair[0] in graph.atomics}
    require(set(edges) <= possible, f"not in the graph: {set(edges) - possible}")
    require(needed <= set(edges), f"edges are missing: {needed - set(edges)}")


def _check_cycle(cycle: Sequence[Edge], graph: Graph, events: list[GraphEvent]) -> None:
    atomic = identity(graph.atomics)
    relations: dict[str, Relation[GraphEvent]] = {
        "po": graph.po,
        "rf": atomic >> graph.rf,
        "mo": atomic >> graph.mo,
        "fr": atomic >> graph.fr,
    }
    for edge in cycle:
        require(_events_at(events, edge) in relations[edge.relation], f"not in the graph: {edge}")
    require_closed(cycle)


def _check_unordered(witness: Witness, hb: Relation[GraphEvent], events: list[GraphEvent]) -> None:
    """What the last event learns from its predecessor, the stale write, does not count."""
    last = len(events) - 1
    unordered = tuple(
        edge
        for edge in witness.cycle
        if edge.relation != "po" and (edge.target == last or _events_at(events, edge) not in hb)
    )
    require(witness.unordered == unordered, f"the unordered edges are {unordered}")


def _check_order(witness: Witness, graph: Graph, events: list[GraphEvent], model: str) -> None:
    """Where S has events on the cycle, as neighbours among them; of long runs S may be left out."""
    expected: set[tuple[GraphEvent, GraphEvent]] = set()
    if MODELS[model].ordered_by_s and (witness.order or len(events) <= MOST_EVENTS_FOR_S):
        wanted = {events[number] for number in sc_events_on_cycle(witness.events, witness.cycle)}
        between = Relation(frozenset((a, b) for a, b in cpp20.before_in_s(graph).plus() if {a, b} <= wanted))
        expected = set(between.immediate())
    shown = {_events_at(events, edge) for edge in witness.order}
    require(shown == expected, f"S has {expected} on the cycle")
    require(all(edge.relation == "S" for edge in witness.order), "an edge of the order is not of S")


def _events_at(events: list[GraphEvent], edge: Edge) -> tuple[GraphEvent, GraphEvent]:
    ends = (edge.source, edge.target)
    require(all(0 <= end < len(events) for end in ends), f"no such event: {edge}")
    return events[edge.source], events[edge.target]


def require_initial_writes(events: Sequence[Event], cells: Sequence[str], values: Sequence[int]) -> None:
    for cell, (name, value) in enumerate(zip(cells, values, strict=True)):
        shown = [(e.id, e.thread, e.kind, e.cell, e.read, e.written) for e in events[cell : cell + 1]]
        expected = [(cell, None, "W", name, None, value)]
        require(shown == expected, f"event {cell} is {shown}, not the initial write {expected}")


def require_closed(cycle: Sequence[Edge]) -> None:
    require(bool(cycle), "the cycle is empty")
    for edge, following in zip(cycle, (*cycle[1:], cycle[0]), strict=True):
        require(edge.target == following.source, f"the cycle is broken after {edge}")


def require(holds: bool, otherwise: str) -> None:
    if not holds:
        raise ReplayError(otherwise)
