import random
from itertools import islice

import msgspec
import pytest

from fencepost.models.robustness import non_robustness_witness
from fencepost.models.sc import findings, races
from fencepost.models.witnesses import ReplayError, replay, replay_assertion, replay_race, replay_run
from fencepost.verdicts import Edge
from tests.models.litmus import MP, MP_NON_ATOMIC, MP_NON_ATOMIC_RACE, SB, SB_ONE_FENCE, TWO_PLUS_TWO_W
from tests.models.showing import assertions_shown, race_shown, runs_shown, witness_shown
from tests.strategies import random_program

change = msgspec.structs.replace


def shown(program):
    found = non_robustness_witness(program)
    assert found is not None
    return witness_shown(program, found)


def changed_event(events, place, **fields):
    return (*events[:place], change(events[place], **fields), *events[place + 1 :])


@pytest.mark.parametrize("program", [SB, TWO_PLUS_TWO_W, SB_ONE_FENCE])
def test_witnesses_of_litmus_tests_are_accepted(program):
    replay(program, shown(program))


def test_an_sc_fence_is_shown_as_a_fence():
    assert any(event.kind == "F" and event.cell == "fence" for event in shown(SB_ONE_FENCE).events)


def test_witnesses_of_random_programs_are_accepted():
    accepted = 0
    for seed in range(120):
        program = random_program(random.Random(seed), most_accesses=3)
        found = non_robustness_witness(program)
        if found is not None:
            replay(program, witness_shown(program, found))
            accepted += 1
    assert accepted > 20


class TestWrongWitnesses:
    witness = shown(SB)

    def rejects(self, reason, **fields):
        with pytest.raises(ReplayError, match=reason):
            replay(SB, change(self.witness, **fields))

    def test_of_another_program(self):
        with pytest.raises(ReplayError):
            replay(MP, self.witness)

    def test_with_other_threads(self):
        self.rejects("the threads are", threads=("t1", "t0"))

    def test_without_an_initial_write(self):
        self.rejects("initial write", events=self.witness.events[1:])

    def test_with_another_initial_value(self):
        self.rejects("initial write", events=changed_event(self.witness.events, 0, written=1))

    def test_with_wrong_ids(self):
        self.rejects("has the id", events=changed_event(self.witness.events, 4, id=9))

    def test_with_a_value_the_program_does_not_write(self):
        self.rejects("does not enable", events=changed_event(self.witness.events, 4, written=2))

    def test_with_a_line_the_access_is_not_on(self):
        self.rejects("does not enable", events=changed_event(self.witness.events, 4, line=7))

    def test_with_a_value_that_is_not_in_memory(self):
        place = next(i for i, event in enumerate(self.witness.events) if event.kind == "R")
        self.rejects("reads 1, not 0", events=changed_event(self.witness.events, place, read=1))

    def test_with_a_non_atomic_mode(self):
        self.rejects("has the mode", events=changed_event(self.witness.events, 4, mode="na"))

    def test_whose_stale_write_is_the_latest(self):
        self.rejects("stale write is the latest", stale=self.witness.latest)

    def test_whose_latest_write_is_not_the_latest(self):
        self.rejects("is not the latest write", latest=self.witness.stale)

    def test_whose_stale_write_is_on_another_cell(self):
        other = next(event.id for event in self.witness.events if event.cell == "z")
        self.rejects("cannot be the predecessor", stale=other)

    def test_with_a_missing_edge(self):
        for place in range(len(self.witness.edges)):
            edges = self.witness.edges[:place] + self.witness.edges[place + 1 :]
            self.rejects("edges are missing", edges=edges)

    def test_with_an_edge_too_many(self):
        self.rejects("not in the graph", edges=(*self.witness.edges, Edge(0, 1, "mo")))
        self.rejects("no such event", edges=(*self.witness.edges, Edge(0, 99, "mo")))
        self.rejects("twice", edges=(*self.witness.edges, self.witness.edges[0]))

    def test_with_a_cycle_that_is_none(self):
        self.rejects("cycle is empty", cycle=())
        self.rejects("cycle is broken", cycle=self.witness.cycle[1:])
        wrong = change(self.witness.cycle[0], relation="rf")
        self.rejects("not in the graph", cycle=(wrong, *self.witness.cycle[1:]))


def test_a_step_that_the_model_forbids_is_rejected():
    """MP with both values seen, made to look as if the second read were stale."""
    run = [*runs_shown(MP)]
    full = max(run, key=lambda r: (len(r.events), [e.read for e in r.events if e.kind == "R"] == [1, 1]))
    events = changed_event(full.events, len(full.events) - 1, read=0)
    witness = change(
        shown(SB),
        threads=full.threads,
        events=events,
        stale=0,
        latest=next(e.id for e in events if e.cell == "x" and e.thread == 0),
    )
    with pytest.raises(ReplayError, match="ra does not allow"):
        replay(MP, witness)


def test_runs_of_random_programs_are_accepted():
    for seed in range(40):
        program = random_program(random.Random(seed))
        for run in islice(runs_shown(program), 20):
            replay_run(program, run)


def test_races_are_accepted():
    accepted = 0
    for seed in range(150):
        program = random_program(random.Random(seed), most_accesses=3)
        if races(program):
            replay_race(program, race_shown(program))
            accepted += 1
    assert accepted > 5


class TestWrongRaces:
    race = race_shown(MP_NON_ATOMIC_RACE)

    def rejects(self, reason, race, program=MP_NON_ATOMIC_RACE):
        with pytest.raises(ReplayError, match=reason):
            replay_race(program, race)

    def test_of_a_program_that_waits(self):
        self.rejects("does not enable", self.race, MP_NON_ATOMIC)

    def test_between_other_events(self):
        self.rejects("not the last two", change(self.race, first=0))

    def test_on_another_cell(self):
        self.rejects("is not on y", change(self.race, cell="y"))

    def test_after_which_nothing_is_enabled(self):
        first = self.race.run.events[-2]
        events = (*self.race.run.events[:-1], change(first, id=first.id + 1))
        self.rejects("of one thread", change(self.race, run=change(self.race.run, events=events)))

    def test_without_a_write(self):
        events = self.race.run.events
        place = next(place for place in (-1, -2) if events[place].kind == "W")
        events = changed_event(events, len(events) + place, kind="R", read=0, written=None)
        self.rejects("none of the racing", change(self.race, run=change(self.race.run, events=events)))


def test_assertions_are_accepted():
    accepted = 0
    for seed in range(80):
        program = random_program(random.Random(seed), most_accesses=2)
        for assertion in assertions_shown(program):
            replay_assertion(program, assertion)
            accepted += 1
            with pytest.raises(ReplayError, match="does not lead"):
                replay_assertion(program, change(assertion, line=99))
            with pytest.raises(ReplayError, match="does not lead"):
                replay_assertion(program, change(assertion, registers={"r": 77}))
    assert accepted > 10


def test_every_finding_has_a_run():
    for seed in range(60):
        program = random_program(random.Random(seed), most_accesses=2)
        by_runs = {(shown.kind, shown.thread, shown.column - 1) for shown in assertions_shown(program)}
        assert by_runs == {tuple(finding) for finding in findings(program)}
