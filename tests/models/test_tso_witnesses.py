import random
from itertools import combinations

import msgspec
import pytest

from fencepost.models.threads import ProgramLts
from fencepost.models.tso import accesses, tso_initial_states, updates
from fencepost.models.tso_traces import is_persistent, is_robust, is_triangular_race_free, sc_traces, trace_of
from fencepost.models.tso_witnesses import is_beyond_sc, replay_tso
from fencepost.models.witnesses import ReplayError
from fencepost.verdicts import Delay, Edge, Event, TsoWitness
from tests.models.litmus import MP, SB, SB_OF_ZEROS, SB_ONE_FENCE, SC_FENCE, program, read, write
from tests.strategies import random_program

change = msgspec.structs.replace
DECIDE = {"persistent": is_persistent, "robust": is_robust, "trf": is_triangular_race_free}
BACK_AND_FORTH = program([write("y", 1), read("a", "x")], [write("x", 1), write("x", 0)])
SB_OWN_READ = program(
    [write("x", 1), read("a", "x"), read("b", "y")], [write("y", 1), SC_FENCE, read("c", "x")]
)
TWO_IN_THE_BUFFER = program(
    [write("x", 1), write("y", 1), read("a", "z")], [write("z", 1), read("a", "x"), read("b", "y")]
)


# From a program to a witness: by search, so that the tests do not need the engine.


def shown(test, criterion):
    """A witness, if one of those runs has a cycle."""
    runs = runs_with_one_buffer(test, criterion)
    return next((witness for run in runs if (witness := witness_of(test, run, criterion))), None)


def witness_of(test, run, criterion, hidden=()):
    events, delayed = shown_events(test, run, hidden)
    relations = relations_of(events, delayed)
    cycle = shortest_cycle(events, delayed[0], relations, criterion)
    if cycle is None:
        return None
    on_cycle, keeper = [events[edge.source] for edge in cycle], events[delayed[0]].thread
    return TsoWitness(
        threads=tuple(thread.name for thread in test.threads),
        events=events,
        delayed=tuple(Delay(write, len(events) - 1) for write in delayed),
        write=delayed[0],
        read=next(event.id for event in on_cycle if event.thread == keeper and event.kind == "R"),
        other=next(event.id for event in on_cycle if event.thread != keeper),
        edges=tuple(near_edges(relations)),
        cycle=cycle,
    )


def runs_with_one_buffer(test, criterion):
    """The runs with a trace that SC lacks in which one thread keeps its writes from some point on.

    They are given without the updates at their end.
    """
    lts, under_sc = ProgramLts(test), sc_traces(test, criterion)
    frontier = [(state, ()) for state in tso_initial_states(lts)]
    seen = set()
    while frontier:
        level, frontier = frontier, []
        for state, run in level:
            node = (state, trace_of(test, run, "trf"))
            if node in seen:
                continue
            seen.add(node)
            if not state.is_plain and trace_of(test, drained(state, run), criterion) not in under_sc:
                yield run
            for thread in range(len(test.threads)):
                for events, after in accesses(lts, state, thread):
                    if state.is_plain or after.buffers == state.buffers or state.buffers[thread]:
                        frontier.append((after, run + events))
                    if not state.buffers[thread]:
                        frontier += [(end, run + events + last) for last, end in updates(after, thread)]


def drained(state, run):
    for thread in range(len(state.buffers)):
        while state.buffers[thread]:
            ((events, state),) = updates(state, thread)
            run += events
    return run


def shown_events(test, run, hidden):
    """The events of the run without updates and hidden kinds, and the ids of the writes left in a buffer."""
    names = (*test.cells, "fence")
    initial = enumerate(ProgramLts(test).initial_memory)
    events = [
        Event(id=cell, thread=None, kind="W", cell=names[cell], written=value) for cell, value in initial
    ]
    buffers = [[] for _ in test.threads]
    for thread, kind, cell, value, written, pc, _ in run:
        if kind == "U":
            buffers[thread].pop(0)
        if kind == "U" or kind in hidden:
            continue
        if kind == "W":
            buffers[thread].append(len(events))
        at = test.threads[thread].code[pc].at
        shared = {"read": value, "written": written, "line": at.line, "column": at.column}
        events.append(Event(id=len(events), thread=thread, kind=kind, cell=names[cell], **shared))
    (delayed,) = filter(None, buffers)
    return tuple(events), delayed


def relations_of(events, delayed):
    """The relations of the run in which the delayed writes reach memory last, as pairs of ids."""
    writes = [event for event in events if event.kind in ("W", "RMW")]
    stored = [event for event in writes if event.id not in delayed] + [events[id] for id in delayed]
    so = {(a.id, b.id) for a, b in combinations(stored, 2) if b.thread is not None}
    mo = {(a, b) for a, b in so if events[a].cell == events[b].cell}
    po = {(a.id, b.id) for a, b in combinations(events, 2) if a.thread == b.thread is not None}
    rf = set()
    for event in events:
        if event.kind in ("R", "RMW"):
            before = [w.id for w in writes if w.id < event.id and w.cell == event.cell]
            own = [id for id in before if id in delayed and (id, event.id) in po]
            rf.add(((own or [id for id in before if id not in delayed])[-1], event.id))
    fr = {(b, c) for a, b in rf for other, c in mo if a == other and b != c}
    return {"po": po, "rf": rf, "mo": mo, "fr": fr, "so": so}


def near_edges(relations):
    po, rf, mo, fr, _ = relations.values()
    near = {"po": po - product(po, po), "rf": rf, "mo": mo - product(mo, mo), "fr": fr - product(fr, mo) - mo}
    return [Edge(*pair, name) for name, pairs in near.items() for pair in pairs]


def product(first, second):
    return {(a, c) for a, b in first for other, c in second if b == other}


def shortest_cycle(events, start, relations, criterion):
    def counts(name, source, target):
        later = [target, *(b for a, b in relations["mo"] if a == target)]
        values = {events[id].written for id in later}
        return (criterion, name) != ("persistent", "fr") or events[source].read not in values

    names = ("po", "rf", "mo", "fr") if criterion == "robust" else ("po", "fr", "so")
    edges = [Edge(*pair, name) for name in names for pair in relations[name] if counts(name, *pair)]
    paths, seen = [(edge,) for edge in edges if edge.source == start], set()
    while paths:
        for path in paths:
            if path[-1].target == start:
                return path
        ends = {path[-1].target: path for path in paths if path[-1].target not in seen}
        seen |= set(ends)
        paths = [(*path, edge) for end, path in ends.items() for edge in edges if edge.source == end]
    return None


# What is accepted.


@pytest.mark.parametrize("test", [SB, SB_ONE_FENCE, TWO_IN_THE_BUFFER])
@pytest.mark.parametrize("criterion", DECIDE)
def test_witnesses_of_litmus_tests_are_accepted(test, criterion):
    witness = shown(test, criterion)
    replay_tso(test, witness, criterion)
    assert is_beyond_sc(test, witness, criterion)


@pytest.mark.parametrize("criterion", DECIDE)
def test_fences_need_not_be_shown(criterion):
    run = max(runs_with_one_buffer(SB_ONE_FENCE, criterion), key=len)
    witness = witness_of(SB_ONE_FENCE, run, criterion, hidden="F")
    assert "F" in {event.kind for event in run} - {event.kind for event in witness.events}
    replay_tso(SB_ONE_FENCE, witness, criterion)
    assert is_beyond_sc(SB_ONE_FENCE, witness, criterion)


def check(test, criterion, seed):
    """There is a witness if and only if the criterion is not met, and it is accepted."""
    witness = shown(test, criterion)
    assert (witness is None) == DECIDE[criterion](test), seed
    if witness is not None:
        replay_tso(test, witness, criterion)
        assert is_beyond_sc(test, witness, criterion), seed
    return witness is not None


@pytest.mark.parametrize("criterion", DECIDE)
def test_witnesses_of_random_programs_are_accepted(criterion):
    found = [
        check(random_program(random.Random(seed), most_accesses=3), criterion, seed) for seed in range(60)
    ]
    assert sum(found) > 5


@pytest.mark.slow
@pytest.mark.parametrize("criterion", DECIDE)
def test_witnesses_of_many_random_programs_are_accepted(criterion):
    for seed in range(20_000, 20_500):
        check(random_program(random.Random(seed)), criterion, seed)


# What is not.


class TestWrongWitnesses:
    witness = shown(SB, "robust")

    def rejects(self, reason, criterion="robust", **fields):
        with pytest.raises(ReplayError, match=reason):
            replay_tso(SB, change(self.witness, **fields), criterion)

    def event(self, place, **fields):
        events = self.witness.events
        return (*events[:place], change(events[place], **fields), *events[place + 1 :])

    def test_of_another_program(self):
        with pytest.raises(ReplayError, match="does not enable"):
            replay_tso(MP, self.witness, "robust")

    def test_with_other_threads(self):
        self.rejects("the threads are", threads=("t1", "t0"))

    def test_without_an_initial_write(self):
        self.rejects("initial write", events=self.witness.events[1:])

    def test_with_wrong_ids(self):
        self.rejects("has the id", events=self.event(5, id=9))

    @pytest.mark.parametrize(
        "fields", [{"cell": "y"}, {"written": 2}, {"line": 7}, {"column": 7}, {"kind": "R"}]
    )
    def test_with_an_event_that_is_not_the_programs(self, fields):
        self.rejects("does not enable", events=self.event(self.witness.write, **fields))

    @pytest.mark.parametrize("thread", [None, 2])
    def test_with_an_event_of_no_thread(self, thread):
        self.rejects("is of no thread", events=self.event(self.witness.write, thread=thread))

    def test_with_a_value_that_is_not_in_memory(self):
        self.rejects("does not enable", events=self.event(self.witness.read, read=1))

    def test_without_delay(self):
        self.rejects("does not enable", delayed=())

    def test_with_a_delay_that_ends_early(self):
        self.rejects(
            "not delayed until the last event", delayed=(Delay(self.witness.write, self.witness.read),)
        )

    def test_with_a_delay_of_a_read(self):
        last = len(self.witness.events) - 1
        self.rejects(
            "not the oldest in a buffer", delayed=(*self.witness.delayed, Delay(self.witness.read, last))
        )

    def test_with_another_write(self):
        self.rejects("not the first delayed write", write=self.witness.other)

    def test_with_a_read_that_is_a_write(self):
        self.rejects("is not a read after", read=self.witness.write)

    def test_with_a_read_of_another_thread(self):
        self.rejects("are of different threads", read=self.witness.other)

    def test_with_an_other_event_of_the_same_thread(self):
        self.rejects("is not of another thread", other=self.witness.read)
        self.rejects("is not of another thread", other=0)

    def test_with_an_event_that_does_not_exist(self):
        self.rejects("there is no event 99", other=99)

    def test_with_an_edge_too_few(self):
        self.rejects("wrong or missing edges", edges=self.witness.edges[1:])

    def test_with_an_edge_listed_twice(self):
        self.rejects("listed twice", edges=self.witness.edges[:1] + self.witness.edges)

    def test_with_a_far_edge(self):
        self.rejects("wrong or missing edges", edges=(*self.witness.edges, Edge(0, self.witness.write, "so")))

    def test_with_an_open_cycle(self):
        self.rejects("the cycle is broken", cycle=self.witness.cycle[1:])
        self.rejects("the cycle is empty", cycle=())

    @pytest.mark.parametrize("relation", ["rf", "mo", "fr"])
    def test_with_an_edge_that_is_not_there(self, relation):
        first, *others = self.witness.cycle
        edge = Edge(first.source, first.target, relation)
        self.rejects("not in the run", cycle=(edge, *others))

    def test_with_a_relation_that_does_not_count(self):
        cycle = shown(SB, "trf").cycle
        assert any(edge.relation == "so" for edge in cycle)
        self.rejects("so does not count", cycle=cycle)

    def test_for_a_criterion_with_other_relations(self):
        mo = Edge(0, self.witness.write, "mo")
        self.rejects("mo does not count", criterion="persistent", cycle=(mo,))


def test_an_fr_edge_to_the_same_value_says_nothing_about_persistence():
    witness = shown(SB_OF_ZEROS, "trf")
    replay_tso(SB_OF_ZEROS, witness, "trf")
    with pytest.raises(ReplayError, match="the value read comes back"):
        replay_tso(SB_OF_ZEROS, witness, "persistent")


def test_an_fr_edge_says_nothing_about_persistence_if_the_old_value_comes_back():
    """The read could as well come after both writes of the other thread."""
    run = max(runs_with_one_buffer(BACK_AND_FORTH, "trf"), key=len)
    witness = witness_of(BACK_AND_FORTH, run, "trf")
    assert [event.written for event in witness.events[-2:]] == [1, 0]
    replay_tso(BACK_AND_FORTH, witness, "trf")
    assert is_beyond_sc(BACK_AND_FORTH, witness, "trf")
    assert not is_beyond_sc(BACK_AND_FORTH, witness, "persistent")
    with pytest.raises(ReplayError, match="the value read comes back"):
        replay_tso(BACK_AND_FORTH, witness, "persistent")


def test_the_read_is_not_one_of_the_own_buffer():
    witness = shown(SB_OWN_READ, "robust")
    own = next(e for e in witness.events if e.kind == "R" and e.cell == "x" and e.thread == 0)
    assert own.read == 1
    with pytest.raises(ReplayError, match="reads its own buffer"):
        replay_tso(SB_OWN_READ, change(witness, read=own.id), "robust")
