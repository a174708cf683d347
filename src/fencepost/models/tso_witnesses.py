"""Checks the runs under TSO that fencepost shows the user against the store-buffer machine.

    what a TsoWitness shows   what must hold
    events, delayed           they are a run of the machine: a write reaches memory at once or, if it is
                              delayed, after the last event, in the order given
    write                     is the first delayed one
    read                      is a later read by the same thread, from memory
    other                     is of another thread
    edges                     are po and mo between neighbours, rf, and fr to the next newer write (none from
                              an RMW, which is that write itself)
    cycle                     is closed, and each edge is in the run
        po                    the same thread, in the order of the run
        rf                    from a write to a read or RMW that takes its value from it
        mo                    two writes of one cell, as they reached memory
        fr                    from a read to a write of the cell that is mo-after what it reads
        so                    two writes, as they reached memory

Fences are in po only and need not be shown. Cycles against robustness are of po, rf, mo and fr, the others of
po, fr and so. Persistence does not record reads-from, so there an fr edge counts only if its target and all
later writes of the cell store other values than was read: then, too, the read precedes the target in each run
under SC with this trace. In all cases a cycle means that there is no such run.

A SafetyWitness of TSO is replayed too: a delayed write reaches memory after the event that its delay names,
in the order given. Its cycle is one against robustness; that there is none means that no write is delayed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

from fencepost.models.threads import ProgramLts
from fencepost.models.tso import TsoState, TsoTransition, accesses, on_x86, tso_initial_states, updates
from fencepost.models.tso_traces import Criterion, TsoRun, sc_traces, trace_of
from fencepost.models.witnesses import ReplayError, require, require_closed, require_initial_writes
from fencepost.program import Program
from fencepost.verdicts import Edge, Event, SafetyWitness, TsoWitness
from fencepost.verdicts.graph import FENCE_CELL

CYCLES_OF: dict[Criterion, tuple[str, ...]] = {
    "persistent": ("po", "fr", "so"),
    "robust": ("po", "rf", "mo", "fr"),
    "trf": ("po", "fr", "so"),
}


def replay_tso(program: Program, witness: TsoWitness, criterion: Criterion) -> None:
    """Check that `witness` shows a run under TSO that breaks the criterion; `ReplayError` says why not."""
    run = _followed(program, witness)
    _check_roles(witness, run)
    edges = set(witness.edges)
    require(len(edges) == len(witness.edges), "an edge is listed twice")
    require(edges == run.edges(), f"wrong or missing edges: {edges ^ run.edges()}")
    _check_cycle(witness.cycle, run, criterion)


def replay_tso_safety(program: Program, witness: SafetyWitness) -> set[TsoState]:
    """Where the run of the witness can end, all buffers empty; `ReplayError` says why it is no run."""
    run = _BufferedRun(program, witness.threads)
    delayed = {delay.write for delay in witness.delayed}
    for event in run.begin(witness.events):
        run.access(event)
        if event.kind == "W" and event.id not in delayed:
            run.update(event)
        for delay in witness.delayed:
            if delay.until == event.id:
                run.update(run.event(delay.write))
    require(not any(run.buffers), f"some writes never reach memory: {run.buffers}")
    require(set(witness.edges) == run.edges(), f"wrong or missing edges: {set(witness.edges) ^ run.edges()}")
    if witness.cycle:
        _check_cycle(witness.cycle, run, "robust")
    else:
        require(not delayed, "writes are delayed, but there is no cycle")
    for thread in range(len(witness.threads)):
        run.pass_fences(thread)
    return set(run.runs)


def is_beyond_sc(
    program: Program, witness: TsoWitness, criterion: Criterion, limit: int | None = None
) -> bool:
    """Whether SC lacks the trace of the run shown, by enumeration: for small loop-free programs."""
    trace = trace_of(program, _followed(program, witness).run, criterion)
    return trace not in sc_traces(program, criterion, limit)


def _followed(program: Program, witness: TsoWitness) -> _BufferedRun:
    run = _BufferedRun(program, witness.threads)
    last, delayed = len(witness.events) - 1, [delay.write for delay in witness.delayed]
    for event in run.begin(witness.events):
        run.access(event)
        if event.kind == "W" and event.id not in delayed:
            run.update(event)
    for delay in witness.delayed:
        require(delay.until == last, f"event {delay.write} is not delayed until the last event")
        run.update(run.event(delay.write))
    return run


def _check_roles(witness: TsoWitness, run: _BufferedRun) -> None:
    write, read, other = (run.event(id) for id in (witness.write, witness.read, witness.other))
    first = [delay.write for delay in witness.delayed[:1]]
    require(first == [write.id], f"event {write.id} is not the first delayed write")
    require(read.thread == write.thread, f"events {write.id} and {read.id} are of different threads")
    require(read.kind == "R" and read.id > write.id, f"event {read.id} is not a read after event {write.id}")
    require(read.id not in run.own_reads, f"event {read.id} reads its own buffer")
    require(other.thread not in (None, write.thread), f"event {other.id} is not of another thread")


def _check_cycle(cycle: Sequence[Edge], run: _BufferedRun, criterion: Criterion) -> None:
    for edge in cycle:
        require(edge.relation in CYCLES_OF[criterion], f"{edge.relation} does not count here: {edge}")
        require(run.has(edge), f"not in the run: {edge}")
        if criterion == "persistent" and edge.relation == "fr":
            require(run.stays_overwritten(edge), f"the value read comes back: {edge}")
    require_closed(cycle)


class _BufferedRun:
    """Follows events through the machine; where the program has a choice, all outcomes at once."""

    def __init__(self, program: Program, threads: Sequence[str]) -> None:
        names = tuple(thread.name for thread in program.threads)
        require(threads == names, f"the threads are {names}, not {threads}")
        self.program = program
        self.lts = ProgramLts(on_x86(program))
        self.cell_names = program.cells + ((FENCE_CELL,) if program.has_sc_fence else ())
        self.runs: dict[TsoState, TsoRun] = dict.fromkeys(tso_initial_states(self.lts), ())
        self.events: list[Event] = []
        self.buffers: list[list[Event]] = [[] for _ in names]
        self.stored: list[Event] = []  # the writes in memory, as they reached it
        self.sources: dict[int, Event] = {}  # by id, the write from which a read or RMW takes its value
        self.own_reads: set[int] = set()

    @property
    def run(self) -> TsoRun:
        return next(iter(self.runs.values()))

    def event(self, id: int) -> Event:
        require(0 <= id < len(self.events), f"there is no event {id}")
        return self.events[id]

    # The run.

    def begin(self, events: Sequence[Event]) -> Sequence[Event]:
        """Check the initial writes, and give the events after them."""
        require_initial_writes(events, self.cell_names, self.lts.initial_memory)
        self.stored += events[: len(self.cell_names)]
        self.events += self.stored
        return events[len(self.cell_names) :]

    def access(self, event: Event) -> None:
        """Let the access or fence happen; a write enters the buffer. Fences before it need not be shown."""
        require(event.id == len(self.events), f"event {len(self.events)} has the id {event.id}")
        thread = self._thread_of(event)
        self.pass_fences(thread)
        self._go(event, lambda state: self._shown_accesses(state, thread, event))
        self.events.append(event)
        if event.kind in ("R", "RMW"):
            self._record_source(thread, event)
        if event.kind == "W":
            self.buffers[thread].append(event)
        if event.kind == "RMW":
            self.stored.append(event)

    def pass_fences(self, thread: int) -> None:
        """Add what the thread can come to by fences alone; they are in no trace."""
        todo = list(self.runs.items())
        for state, run in todo:  # grows on the way
            for after in accesses(self.lts, state, thread):
                if after.events[0].kind == "F" and after.state not in self.runs:
                    self.runs[after.state] = run
                    todo.append((after.state, run))

    def update(self, write: Event) -> None:
        """Let the write reach memory."""
        thread = self._thread_of(write)
        require(self.buffers[thread][:1] == [write], f"event {write.id} is not the oldest in a buffer")
        self._go(write, lambda state: updates(state, thread))
        self.stored.append(self.buffers[thread].pop(0))

    def _go(self, event: Event, transitions: Callable[[TsoState], Iterator[TsoTransition]]) -> None:
        self.runs = {
            after: run + events for state, run in self.runs.items() for events, after in transitions(state)
        }
        require(bool(self.runs), f"the machine does not enable event {event.id}: {event}")

    def _thread_of(self, event: Event) -> int:
        if event.thread is None or not 0 <= event.thread < len(self.buffers):
            raise ReplayError(f"event {event.id} is of no thread")
        return event.thread

    def _shown_accesses(self, state: TsoState, thread: int, event: Event) -> Iterator[TsoTransition]:
        code = self.program.threads[thread].code
        shown = (event.kind, event.cell, event.read, event.written, event.line, event.column)
        for transition in accesses(self.lts, state, thread):
            _, kind, cell, read, written, _, _ = transition.events[0]
            at = code[state.threads[thread].pc].at
            if shown == (kind, self.cell_names[cell], read, written, at.line, at.column):
                yield transition

    def _record_source(self, thread: int, read: Event) -> None:
        own = [write for write in self.buffers[thread] if write.cell == read.cell]
        if own:
            self.own_reads.add(read.id)
        self.sources[read.id] = (own or [write for write in self.stored if write.cell == read.cell])[-1]

    # Its relations.

    def edges(self) -> set[Edge]:
        """What the edges of a witness must be."""
        threads = [[e for e in self.events if e.thread == thread] for thread in range(len(self.buffers))]
        cells = [[e for e in self.stored if e.cell == cell] for cell in self.cell_names]
        newer = {older.id: write.id for writes in cells for older, write in pairwise(writes)}
        overwritten = {read: newer.get(source.id, read) for read, source in self.sources.items()}
        return {
            *(Edge(event.id, after.id, "po") for events in threads for event, after in pairwise(events)),
            *(Edge(source.id, read, "rf") for read, source in self.sources.items()),
            *(Edge(older, write, "mo") for older, write in newer.items()),
            *(Edge(read, write, "fr") for read, write in overwritten.items() if write != read),
        }

    def has(self, edge: Edge) -> bool:
        source, target = self.event(edge.source), self.event(edge.target)
        match edge.relation:
            case "po":
                return source.thread is not None and source.thread == target.thread and source.id < target.id
            case "rf":
                return self.sources.get(target.id) == source
            case "mo":
                return source.cell == target.cell and self._stored_before(source, target)
            case "fr":
                read = self.sources.get(source.id)
                if read is None or read.cell != target.cell or source == target:
                    return False
                return self._stored_before(read, target)
            case "so":
                return self._stored_before(source, target)
            case "S":
                return False  # x86 has no such order

    def stays_overwritten(self, edge: Edge) -> bool:
        """Whether the target of an fr edge and all later writes of its cell store other values than read."""
        read, write = self.event(edge.source), self.event(edge.target)
        later = self.stored[self.stored.index(write) :]
        return all(event.written != read.read for event in later if event.cell == write.cell)

    def _stored_before(self, first: Event, second: Event) -> bool:
        if first not in self.stored or second not in self.stored or second.thread is None:
            return False
        return self.stored.index(first) < self.stored.index(second)
