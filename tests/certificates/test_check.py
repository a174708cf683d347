"""True certificates pass, and each way in which one can be wrong is told."""

import json

import pytest

from fencepost.certificates import (
    FAILED,
    Bad,
    BasisState,
    Certificate,
    Checked,
    Refuted,
    Standing,
    check,
    decode,
    encode,
)
from fencepost.errors import InputError
from fencepost.program import Assert, Binary, Constant, Goto, Register
from fencepost.program.digest import program_digest
from tests.certificates.backward import search
from tests.models.litmus import MP, SB_FENCES, bcas, program, wait, write
from tests.models.litmus import read as load

X = 0
NOTHING = (0, 0, 0, 0)
IS_ONE = Assert(Binary("==", Register("a"), Constant(1)))

# The reader waits for x = 1 and then reads x again. It fails if that is 0.
COHERENT = program([write("x", 1)], [wait("x", 1), load("a", "x"), IS_ONE])
FAILS = [Bad((None, lambda pc, _: pc == FAILED))]
LAST_READS, FREE, IN_BLOCK_OF_WRITER = 1, 2, 3  # phases: the first one is for the last reads of the reader


def state(writer, reader, *lists, phase=LAST_READS):
    """Where the two threads stand, anywhere if None, and lists of the reader."""
    stands = (Standing(pc, () if pc is None else NOTHING) for pc in (writer, reader))
    return BasisState(tuple(stands), phase, ((), lists, ()))


STALE = (-1, X, 0, "R")
# To fail, the reader has to read the initial value after 1, which nobody can.
BASIS = (state(None, FAILED), state(None, 1, (STALE,)))


def checked(*basis, of=COHERENT, bad=FAILS, kept=None):
    return check(of, Certificate.of(of, "assertions", basis), bad, kept)


def refusal(*basis, **rest):
    answer = checked(*basis, **rest)
    assert isinstance(answer, Refuted), answer
    return answer.reason


def test_a_certificate_by_hand():
    assert checked(*BASIS) == Checked(basis=2, bad=1, predecessors=1)


def test_what_no_thread_can_do_alone_needs_no_basis():
    never = program([write("x", 1)], [load("a", "y"), IS_ONE])
    always = program([load("a", "x"), Assert(Constant(1))])
    assert checked(of=always, bad=[Bad((lambda pc, _: pc <= -2,))]) == Checked(0, 0, 0)
    assert "bad state" in refusal(of=never, bad=[Bad((None, lambda pc, _: pc <= -2))])


class TestWrongCertificates:
    def test_a_bad_state_is_missing(self):
        assert refusal(BASIS[1]) == (
            "a bad state is not above the basis: t0 anywhere; t1 at -2 [0, 0, 0, 0]; phase 1"
        )

    def test_a_predecessor_is_missing(self):
        assert refusal(BASIS[0]) == (
            "from a state that is not above the basis, t1 gets to state 0 of it with R(x, 0):"
            " t0 anywhere; t1 at 1 [0, 0, 0, 0] may read x=0(start); phase 1"
        )

    def test_a_state_asks_for_more_than_its_predecessor_has(self):
        assert "state 0" in refusal(BASIS[0], state(None, 1, ((-1, X, 0, "S"),)))
        assert "state 0" in refusal(BASIS[0], state(None, 1, (STALE, STALE)))
        assert "state 0" in refusal(BASIS[0], state(None, 1, ((0, X, 1, "R"),)))
        assert "state 0" in refusal(BASIS[0], state(None, 1, (STALE,), phase=FREE))
        assert "state 0" in refusal(BASIS[0], state(1, 1, (STALE,)))

    def test_an_initial_state_is_in_the_basis(self):
        for lists in ((), ((STALE, STALE),)):
            for writer in (0, None):
                told = refusal(*BASIS, state(writer, 0, *lists, phase=FREE))
                assert told.startswith("state 2 of the basis is initial: ")

    def test_a_reachable_state_is_in_the_basis(self):
        """Its predecessor, in a block of the writer, leads to the initial state at once."""
        told = refusal(*BASIS, state(1, 0, phase=FREE))
        assert "t0 gets to state 2 of it with W(x, 1): t0 at 0 [0, 0, 0, 0]; t1 at 0" in told

    def test_the_write_that_a_thread_standing_anywhere_is_asked_for(self):
        """Only if an option is from it: that the reader is at its start tells nothing of the writer."""
        asked = state(None, 0, ((0, X, 1, "R"),), phase=FREE)
        assert "t0 gets to state 2 of it with W(x, 1)" in refusal(*BASIS, asked)

    def test_it_is_of_another_program(self):
        certificate = Certificate.of(MP, "assertions", BASIS)
        assert check(COHERENT, certificate, FAILS) == Refuted("it is the certificate of another program")

    @pytest.mark.parametrize(
        ("wrong", "told"),
        [
            (state(7, 1), "t0 cannot stand at 7 with the registers [0, 0, 0, 0]"),
            (state(1, 1, ((0, X, 3, "R"),)), "writer 0 never writes 3 to cell 0"),
            (state(1, 1, ((5, X, 1, "R"),)), "writer 5 never writes 1 to cell 0"),
            (state(1, 1, ((-1, 99, 0, "R"),)), "writer -1 never writes 0 to cell 99"),
            (BasisState(BASIS[0].threads[:1], FREE, ((), ())), "it is not of 2 threads"),
            (BasisState(BASIS[0].threads, FREE, ((),)), "it is not of 2 threads"),
            (state(1, 1, phase=5), "there is no phase 5"),
            (state(1, 1, phase=-1), "there is no phase -1"),
            (
                state(None, 1, phase=IN_BLOCK_OF_WRITER),
                "in phase 3 the thread whose reads are undone stands anywhere",
            ),
        ],
    )
    def test_a_state_is_not_of_the_program(self, wrong, told):
        assert refusal(*BASIS, wrong) == f"state 2 of the basis is not one of the program: {told}"

    def test_every_state_of_a_minimal_basis_is_needed(self):
        certificate = search(LOCKED, BOTH_INSIDE)
        assert len(certificate.basis) > 5
        for place in range(len(certificate.basis)):
            basis = certificate.basis[:place] + certificate.basis[place + 1 :]
            assert isinstance(checked(*basis, of=LOCKED, bad=BOTH_INSIDE), Refuted), place


# Two threads that for ever get a lock, write and release it, or do not care for the lock.
LOCKED = program(*[[bcas("x", 0, 1), write("y", 1), write("x", 0), Goto(0)]] * 2)
UNLOCKED = program(*[[wait("x", 0), write("y", 1), write("x", 0), Goto(0)]] * 2)
BOTH_INSIDE = [Bad((lambda pc, _: pc in (1, 2),) * 2)]

# Store buffering: both threads at their end, a = 0 in the first and b = 0 in the second.
BOTH_READ_0 = [
    Bad(
        (
            lambda pc, registers: pc == 3 and registers[0] == 0,
            lambda pc, registers: pc == 3 and registers[1] == 0,
        )
    )
]
KEPT = [frozenset("a"), frozenset("b")]


class TestQuestions:
    def test_registers_that_a_question_needs_are_kept(self):
        """Otherwise they count as 0 where the thread has ended, and the bad state cannot be told apart."""
        assert isinstance(checked(of=SB_FENCES, bad=BOTH_READ_0, kept=KEPT), Refuted)
        assert search(SB_FENCES, BOTH_READ_0) is None
        assert search(SB_FENCES, BOTH_READ_0, KEPT) is not None

    def test_states_above_the_basis_that_are_not_possible_need_no_predecessors(self):
        """Nobody has written x = 1 before the writer's first step."""
        impossible = state(0, 0, ((0, X, 1, "R"),), phase=FREE)
        assert checked(*BASIS, impossible) == Checked(basis=3, bad=1, predecessors=1)

    def test_a_state_covers_those_in_which_more_may_be_read(self):
        """To read 0 twice after 1 is more than to read it once, and that is impossible already."""
        both_zero = [
            wait("x", 1),
            load("a", "x"),
            load("b", "x"),
            Assert(Binary("|", Register("a"), Register("b"))),
        ]
        twice = program([write("x", 1)], both_zero)
        exact = (state(None, FAILED), state(None, 2, (STALE,)), state(None, 1, (STALE, STALE)))
        less = (*exact[:2], state(None, 1, (STALE,)))
        assert checked(*exact, of=twice) == checked(*less, of=twice) == Checked(3, 1, 2)

    def test_final_memory(self):
        """After x = 1; x = 2 the last write is not the first one."""
        twice = program([write("x", 1), write("x", 2)])
        ended = (lambda pc, _: pc == 2,)
        assert search(twice, [Bad(ended, ((X, 2),))]) is None
        assert checked(of=twice, bad=[Bad(ended, ((X, 1),))]) == Checked(0, 0, 0)
        assert checked(of=twice, bad=[Bad(ended, ((X, 3),))]) == Checked(0, 0, 0)

    def test_the_final_memory_of_two_writers_is_decided_by_the_last(self):
        raced = program([write("x", 1), write("y", 1)], [wait("y", 1), write("x", 2)])
        ended = (lambda pc, _: pc == 2,) * 2
        first, second = [Bad(ended, ((X, 1),))], [Bad(ended, ((X, 2),))]
        assert search(raced, second) is None
        certificate = search(raced, first)
        assert isinstance(check(raced, certificate, first), Checked)
        assert isinstance(check(raced, certificate, second), Refuted)

    def test_a_write_that_its_own_thread_overwrites_may_be_read_in_a_race(self):
        """The second thread has observed x = 1, and not x = 2."""
        raced = program([write("x", 1), write("y", 1), write("x", 2)], [wait("y", 1), write("x", 3)])
        about_to_write = [Bad((lambda pc, _: pc == 3, lambda pc, _: pc == 1), race=(1, X))]
        assert search(raced, about_to_write) is None
        ordered = program([write("x", 1), write("x", 2), write("y", 1)], [wait("y", 1), write("x", 3)])
        certificate = search(ordered, about_to_write)
        assert isinstance(check(ordered, certificate, about_to_write), Checked)


class TestLoops:
    def test_a_lock_is_certified(self):
        certificate = search(LOCKED, BOTH_INSIDE)
        assert isinstance(check(LOCKED, certificate, BOTH_INSIDE), Checked)

    def test_what_holds_with_a_lock_does_not_hold_without(self):
        assert search(UNLOCKED, BOTH_INSIDE) is None
        basis = search(LOCKED, BOTH_INSIDE).basis
        assert isinstance(checked(*basis, of=UNLOCKED, bad=BOTH_INSIDE), Refuted)


class TestFile:
    def test_what_was_written_is_read(self):
        certificate = Certificate.of(COHERENT, "assertions", BASIS)
        assert decode(encode(certificate), "c.json") == certificate

    def test_the_form(self):
        certificate = Certificate.of(COHERENT, "assertions", BASIS[1:])
        standing = [{"pc": None, "registers": []}, {"pc": 1, "registers": [0, 0, 0, 0]}]
        assert json.loads(encode(certificate)) == {
            "format": "fencepost-certificate",
            "version": 2,
            "model": "sra",
            "question": "assertions",
            "program": program_digest(COHERENT),
            "basis": [{"threads": standing, "phase": 1, "potentials": [[], [[[-1, 0, 0, "R"]]], []]}],
        }

    @pytest.mark.parametrize(
        ("text", "told"),
        [
            ("", "c.json:1:1: expected a certificate of fencepost, which is JSON; this is not"),
            (
                '{"format":\n  oops}',
                "c.json:2:3: expected a certificate of fencepost, which is JSON; this is not",
            ),
            ("[]", "c.json: not a certificate of fencepost: expected `object`, got `array`"),
            (
                '{"format": "other"}',
                "c.json: not a certificate of fencepost: invalid enum value 'other' - at `$.format`",
            ),
        ],
    )
    def test_what_is_no_certificate_is_refused_with_its_place(self, text, told):
        with pytest.raises(InputError) as caught:
            decode(text.encode(), "c.json")
        assert str(caught.value) == told

    @pytest.mark.parametrize("part", ["format", "version", "model", "question", "program", "basis"])
    def test_every_part_is_needed(self, part):
        fields = json.loads(encode(Certificate.of(COHERENT, "assertions", BASIS)))
        del fields[part]
        with pytest.raises(InputError, match=f"missing required field `{part}`"):
            decode(json.dumps(fields).encode(), "c.json")
