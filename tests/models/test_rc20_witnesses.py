"""What is shown of RC20: runs with weak fences in them, unordered edges, races between any two accesses."""

import random
from itertools import islice

import msgspec
import pytest

from fencepost.models.rc20 import races
from fencepost.models.robustness import non_robustness_witness
from fencepost.models.witnesses import ReplayError, replay, replay_assertion, replay_race, replay_run
from fencepost.program import Assert, Binary, Choose, Constant, Register
from tests.models.litmus import na_read, na_write, program, read, wait, write
from tests.models.litmus_rc20 import ACQ, ACQUIRE, RACES, REL, RELEASE, VERDICTS, mp, passing, sb
from tests.models.showing import assertions_shown, race_shown, runs_shown, witness_shown
from tests.strategies import random_program

change = msgspec.structs.replace

NOT_ROBUST = [name for name, (_, robust) in VERDICTS.items() if not robust]
RACY = [name for name, (_, racy) in RACES.items() if racy]


def shown(test):
    found = non_robustness_witness(test, "rc20")
    assert found is not None
    return witness_shown(test, found, "rc20")


def changed_event(events, place, **fields):
    return (*events[:place], change(events[place], **fields), *events[place + 1 :])


def renumbered(events):
    return tuple(change(event, id=place) for place, event in enumerate(events))


def is_weak_fence(event):
    return event.kind == "F" and event.cell == ""


@pytest.mark.parametrize("name", NOT_ROBUST)
def test_witnesses_of_litmus_tests_are_accepted(name):
    test, _ = VERDICTS[name]
    replay(test, shown(test), "rc20")


def test_witnesses_of_random_programs_are_accepted():
    accepted = with_fences = 0
    for seed in range(250):
        test = random_program(random.Random(seed), modes=True, most_accesses=3)
        found = non_robustness_witness(test, "rc20")
        if found is not None:
            witness = witness_shown(test, found, "rc20")
            replay(test, witness, "rc20")
            accepted += 1
            with_fences += any(map(is_weak_fence, witness.events))
    assert accepted > 20
    assert with_fences > 10


def test_runs_of_random_programs_are_accepted():
    for seed in range(40):
        test = random_program(random.Random(seed), modes=True)
        for run in islice(runs_shown(test, "rc20"), 20):
            replay_run(test, run, "rc20")


class TestUnorderedEdges:
    """MP in which only the writer releases: the flag is read, and its message is not taken."""

    test = mp(w=REL)
    witness = shown(test)

    def rejects(self, **fields):
        with pytest.raises(ReplayError, match="unordered edges are"):
            replay(self.test, change(self.witness, **fields), "rc20")

    def test_are_the_flag_and_the_stale_read(self):
        assert {edge.relation for edge in self.witness.unordered} == {"rf", "fr"}

    def test_cannot_be_left_out(self):
        self.rejects(unordered=())
        self.rejects(unordered=self.witness.unordered[1:])

    def test_are_never_po(self):
        self.rejects(unordered=self.witness.cycle)

    def test_are_fewer_where_the_flag_is_acquired(self):
        test = program(
            [write("z", 1), write("x", 1)],  # x may overtake z
            [read("a", "x"), write("y", 1, REL)],
            [read("a", "y", ACQ), read("b", "z")],
        )
        witness = shown(test)
        replay(test, witness, "rc20")
        events = witness.events
        covered = [edge for edge in witness.cycle if edge.relation == "rf" and edge not in witness.unordered]
        assert {events[edge.source].cell for edge in covered} == {"y"}


class TestFencesInRuns:
    test = sb(f=RELEASE)
    witness = shown(test)
    place = next(i for i, event in enumerate(witness.events) if is_weak_fence(event))

    def rejects(self, reason, events, test=None):
        with pytest.raises(ReplayError, match=reason):
            replay(test or self.test, change(self.witness, events=renumbered(events)), "rc20")

    def test_are_shown(self):
        assert self.witness.events[self.place].mode == "rel"

    def test_cannot_be_left_out(self):
        events = self.witness.events
        self.rejects("is missing", (*events[: self.place], *events[self.place + 1 :]))

    def test_stand_right_after_the_access_before_them(self):
        events = list(self.witness.events)
        events[self.place], events[self.place + 1] = events[self.place + 1], events[self.place]
        self.rejects("is missing", events)

    def test_have_their_mode(self):
        self.rejects("has the mode", changed_event(self.witness.events, self.place, mode="acq"))

    def test_do_not_occur_under_ra(self):
        with pytest.raises(ReplayError, match=r"does not enable|has the mode"):
            replay(self.test, self.witness, "ra")

    def test_before_the_first_access_stand_first(self):
        test = program([RELEASE, write("x", 1)], [ACQUIRE, write("y", 1)])
        full = max(runs_shown(test, "rc20"), key=lambda run: len(run.events))
        replay_run(test, full, "rc20")
        assert [event.kind for event in full.events if event.thread is not None] == ["F", "F", "W", "W"]
        *init, f0, f1, w0, w1 = full.events
        late = change(full, events=renumbered([*init, f0, w0, f1, w1]))
        with pytest.raises(ReplayError, match="is missing"):
            replay_run(test, late, "rc20")

    def test_on_one_of_two_ways_belong_to_it(self):
        """After the other thread's access the way with the fence is over."""
        test = program([write("x", 1), Choose((2, 3)), RELEASE, write("y", 1)], [read("a", "z")])
        full = max(runs_shown(test, "rc20"), key=lambda run: (len(run.events), run.events[-1].thread))
        *init, w_x, fence, w_y, r_z = full.events
        replay_run(test, change(full, events=renumbered([*init, w_x, r_z, w_y])), "rc20")
        with pytest.raises(ReplayError, match="does not enable"):
            replay_run(test, change(full, events=renumbered([*init, w_x, r_z, fence, w_y])), "rc20")


def test_modes_of_accesses_are_checked():
    witness = shown(mp(w=REL))
    place = next(i for i, event in enumerate(witness.events) if event.mode == "rel")
    with pytest.raises(ReplayError, match="has the mode 'rlx'"):
        replay(mp(w=REL), change(witness, events=changed_event(witness.events, place, mode="rlx")), "rc20")


def test_a_step_that_synchronisation_forbids_is_rejected():
    """The witness of relaxed MP, presented for MP with fences in the places that it needs."""
    witness = shown(mp())
    strong = mp(w=REL, r=ACQ)
    events = tuple(
        change(event, mode={"W": "rel", "R": "acq"}[event.kind]) if event.thread is not None else event
        for event in witness.events
    )
    with pytest.raises(ReplayError, match="rc20 does not allow"):
        replay(strong, change(witness, events=events), "rc20")


# Races.


@pytest.mark.parametrize("name", RACY)
def test_races_of_litmus_tests_are_accepted(name):
    test, _ = RACES[name]
    replay_race(test, race_shown(test, "rc20"), "rc20")


def test_races_of_random_programs_are_accepted():
    accepted = 0
    for seed in range(150):
        test = random_program(random.Random(seed), modes=True)
        if races(test):
            replay_race(test, race_shown(test, "rc20"), "rc20")
            accepted += 1
    assert accepted > 20


class TestWrongRaces:
    test = passing([write("y", 1), na_write("p", 2)], [wait("y", 1), na_read("a", "p")])
    race = race_shown(test, "rc20")

    def rejects(self, reason, race, test=None):
        with pytest.raises(ReplayError, match=reason):
            replay_race(test or self.test, race, "rc20")

    def test_whose_second_access_is_not_the_last(self):
        self.rejects("not the last event", change(self.race, second=self.race.first))

    def test_with_an_access_to_another_cell(self):
        flag = next(e.id for e in self.race.run.events if e.cell == "y" and e.thread == 0)
        self.rejects("is not on p", change(self.race, first=flag))

    def test_with_an_initial_write(self):
        initial = next(e.id for e in self.race.run.events if e.cell == "p")
        self.rejects("happens before", change(self.race, first=initial))

    def test_of_two_reads(self):
        test, _ = RACES["readers only"]
        full = max(runs_shown(test, "rc20"), key=lambda run: len(run.events))
        last = len(full.events) - 1
        self.rejects("none of the racing", change(self.race, first=last - 1, second=last, run=full), test)

    def test_that_are_ordered(self):
        test, _ = RACES["release/acquire flag"]
        full = max(runs_shown(test, "rc20"), key=lambda run: len(run.events))
        first = next(e.id for e in full.events if e.cell == "p" and e.thread == 0)
        race = change(self.race, first=first, second=len(full.events) - 1, run=full)
        self.rejects("happens before", race, test)

    def test_on_an_atomic_cell(self):
        test = program([write("x", 1)], [read("a", "x")])
        full = max(runs_shown(test, "rc20"), key=lambda run: [e.read for e in run.events if e.read])
        first, second = len(full.events) - 2, len(full.events) - 1
        self.rejects("is atomic", change(self.race, cell="x", first=first, second=second, run=full), test)


# Assertions.


def test_assertions_of_random_programs_are_accepted():
    accepted = 0
    for seed in range(200):
        test = random_program(random.Random(seed), modes=True, most_accesses=2)
        for assertion in assertions_shown(test, "rc20"):
            replay_assertion(test, assertion, "rc20")
            accepted += 1
            with pytest.raises(ReplayError, match="does not lead"):
                replay_assertion(test, change(assertion, line=99), "rc20")
    assert accepted > 10


def test_fences_after_the_last_access_may_be_missing():
    failing = [read("a", "x"), ACQUIRE, RELEASE, Assert(Binary("==", Register("a"), Constant(1)))]
    [assertion] = assertions_shown(program(failing), "rc20")
    *before, _ = assertion.run.events
    for events in (assertion.run.events, before, before[:-1]):
        run = change(assertion.run, events=tuple(events))
        replay_assertion(program(failing), change(assertion, run=run), "rc20")
    run = change(assertion.run, events=tuple(before[:-2]))
    with pytest.raises(ReplayError, match="does not lead"):
        replay_assertion(program(failing), change(assertion, run=run), "rc20")
