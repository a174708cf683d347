"""Data races as bad states of `verify`, and as the question of `races`, against their definitions."""

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

import fencepost
from fencepost import races, verify
from fencepost.analyses.safety.portfolio import certify
from fencepost.certificates import Checked, Refuted, check
from fencepost.certificates.question import bad_states, registers_asked_for
from fencepost.engine.search import Limits
from fencepost.errors import InputError
from fencepost.formats import properties, tpl
from fencepost.memory_models import ENGINES
from fencepost.models import op_sra, sc
from fencepost.models.data_races import races_on_the_way, standing_races, unordered_pair
from fencepost.models.explore import LimitReachedError
from fencepost.models.tso_witnesses import replay_tso_safety
from fencepost.program import CellAccess, Load, Mode, Program, Store
from fencepost.program.properties import Property, asks_something
from fencepost.verdicts import RaceFree, Racy, Safe, SafetyWitness, Unknown, Unsafe
from tests.analyses.safety.test_safety import graph_of
from tests.strategies import programs

ENOUGH = Limits(seconds=60)
MOST_GRAPHS = 4_000
FEW_GRAPHS = 1_000  # to check each of them against the axioms takes long
IGNORED = Property(ignore_races=True)


@st.composite
def with_plain_locations(draw: st.DrawFn, *, loop_free: bool = True) -> Program:
    """Programs in which every location may be non-atomic that is only loaded and stored."""
    program: Program = draw(
        programs(loop_free=loop_free, threads=(2, 3), most_accesses=3, modes=draw(st.booleans()))
    )
    accesses = [i for thread in program.threads for i in thread.code if isinstance(i, CellAccess)]
    others = {i.cell.name for i in accesses if not isinstance(i, Load | Store)}
    plain = {
        location.name
        for location in program.locations
        if not location.atomic or (location.name not in others and draw(st.booleans()))
    }
    assume(plain)
    threads = [
        replace(
            thread,
            code=tuple(
                replace(i, mode=Mode.NA) if isinstance(i, Load | Store) and i.cell.name in plain else i
                for i in thread.code
            ),
        )
        for thread in program.threads
    ]
    locations = tuple(replace(one, atomic=one.name not in plain) for one in program.locations)
    return replace(program, locations=locations, threads=tuple(threads), tracking=())


ASKED = settings(
    max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much]
)


def check_witness(program: Program, answer: Unsafe | Racy) -> None:
    """The run can be done, and at its end the definition finds the race."""
    witness = answer.witness
    assert isinstance(witness, SafetyWitness)
    graph_of(program, witness)
    if witness.bad.kind == "data-race":
        assert witness.bad.cell in program.cells
        assert not program.atomic_cells[program.cells.index(witness.bad.cell)]
        one, other = witness.bad.places
        assert one.thread != other.thread
        pcs = [place.column - 1 for place in (one, other)]  # of random programs
        instructions = [
            program.threads[place.thread].code[pc] for place, pc in zip((one, other), pcs, strict=True)
        ]
        assert any(isinstance(instruction, Store) for instruction in instructions)
        location = witness.bad.cell.partition("[")[0]
        assert all(isinstance(i, Load | Store) and i.cell.name == location for i in instructions)


@ASKED
@given(with_plain_locations())
def test_the_definitions_agree(program: Program) -> None:
    for model in ("sc", "sra", "ra"):
        try:
            standing = standing_races(program, model, FEW_GRAPHS)
            assert bool(standing) is (unordered_pair(program, model, FEW_GRAPHS) is not None), model
        except LimitReachedError:
            continue


@ASKED
@given(with_plain_locations())
def test_every_engine_as_the_definition_says(program: Program) -> None:
    try:
        race = bool(standing_races(program, "sra", MOST_GRAPHS))
        wrong = race or bool(op_sra.findings(program, MOST_GRAPHS))
    except LimitReachedError:
        return
    for engine in ENGINES:
        answer = verify(program, engine=engine, limits=ENOUGH)
        assert isinstance(answer, Unsafe if wrong else Safe), engine
        if isinstance(answer, Unsafe):
            check_witness(program, answer)
    answer = races(program, "sra", limits=ENOUGH)
    assert isinstance(answer, Racy if race else RaceFree)
    if isinstance(answer, Racy):
        assert answer.witness is not None
        assert answer.witness.bad.kind == "data-race"
        check_witness(program, answer)


@ASKED
@given(with_plain_locations())
def test_certificates_are_about_races_too(program: Program) -> None:
    answer, certificate = certify(program, limits=Limits(seconds=5))
    assert (certificate is not None) is isinstance(answer, Safe)
    wanted = Property()
    bad, kept = bad_states(program, wanted), registers_asked_for(program, wanted)
    if certificate is not None:
        assert isinstance(check(program, certificate, bad, kept), Checked)
    elif asks_something(program, IGNORED):
        without, certificate = certify(program, wanted=IGNORED, limits=Limits(seconds=5))
        if certificate is not None:
            assert isinstance(without, Safe)
            assert isinstance(check(program, certificate, bad_states(program, IGNORED)), Checked)
            assert isinstance(check(program, certificate, bad, kept), Refuted)


@ASKED
@given(with_plain_locations())
def test_under_sc_and_ra_as_the_definition_says(program: Program) -> None:
    under_sc = bool(standing_races(program, "sc"))
    assert isinstance(races(program, "sc", limits=ENOUGH), Racy if under_sc else RaceFree)
    wrong = under_sc or bool(sc.findings(program))
    assert isinstance(verify(program, "sc", limits=ENOUGH), Unsafe if wrong else Safe)
    try:
        race = bool(standing_races(program, "ra", MOST_GRAPHS))
    except LimitReachedError:
        return
    answer = races(program, "ra", limits=ENOUGH)
    assert isinstance(answer, (Racy if race else RaceFree, Unknown))
    answer = verify(program, "ra", limits=ENOUGH)
    assert isinstance(answer, Unsafe | Unknown) or not race


@ASKED
@given(with_plain_locations())
def test_under_tso_as_the_definition_says(program: Program) -> None:
    try:
        race = bool(standing_races(program, "tso", MOST_GRAPHS))
    except LimitReachedError:
        return
    answer = races(program, "tso", limits=ENOUGH)
    assert isinstance(answer, Racy if race else RaceFree)
    if isinstance(answer, Racy):
        assert isinstance(answer.witness, SafetyWitness)
        assert answer.witness.bad.kind == "data-race"
        replay_tso_safety(program, answer.witness)


@pytest.mark.parametrize("model", ["rc20", "cpp20"])
@ASKED
@given(with_plain_locations())
def test_under_c20_atomics_as_the_definition_says(model: str, program: Program) -> None:
    try:
        race = races_on_the_way(program, model, MOST_GRAPHS)
    except LimitReachedError:
        return
    answer = races(program, model, limits=ENOUGH)
    assert isinstance(answer, Racy if race else RaceFree)
    if isinstance(answer, Racy):
        assert (answer.witness is None) is (answer.race is not None)


PETERSON = fencepost.load("examples/tutorial/peterson.tpl")
UNGUARDED = "na d; fn p { d.nastore(1); } fn q { local r; r = d.naload(); }"
RELAXED = """
na d; global f;
fn p { d.nastore(1); f.store(1, rlx); }
fn q { local r; wait(f, 1, rlx); r = d.naload(); }
"""


class TestVerify:
    @pytest.mark.parametrize(("model", "verdict"), [("sc", "safe"), ("sra", "unsafe"), ("ra", "unsafe")])
    def test_the_broken_lock_of_the_tutorial(self, model: str, verdict: str) -> None:
        assert verify(PETERSON, model).verdict == verdict

    def test_a_safe_answer_is_about_races(self) -> None:
        assert verify(PETERSON, "sc").exhaustive
        wanted = properties.given_property(PETERSON, asserted=["data != 0"])
        answer = verify(PETERSON, wanted=wanted, ignore_races=True)
        assert isinstance(answer, Safe)
        assert not answer.exhaustive

    def test_nothing_asked_has_no_verdict(self) -> None:
        with pytest.raises(InputError, match="nothing was asked"):
            verify(tpl.read("global x; fn p { x.store(1); }"))
        with pytest.raises(InputError, match="data races are ignored"):
            verify(PETERSON, ignore_races=True)

    def test_what_can_fail_by_itself_is_asked(self) -> None:
        program = tpl.read("global x; fn p { local r; r = x.load(); r = 1 / r; }")
        assert isinstance(verify(program), Unsafe)

    @pytest.mark.parametrize(
        ("formula", "verdict"),
        [("data == 2", "unsafe"), ("t0.d == 1 || t1.d == 1", "unsafe"), ("flag0 == 0 && turn != 2", "safe")],
    )
    def test_assert_at_the_end(self, formula: str, verdict: str) -> None:
        wanted = properties.given_property(PETERSON, asserted=[formula], ignore_races=True)
        answer = verify(PETERSON, wanted=wanted)
        assert answer.verdict == verdict
        if answer.witness is not None:
            assert answer.witness.bad.kind == "final"
        answer, certificate = certify(PETERSON, wanted=wanted)
        if certificate is not None:
            kept = registers_asked_for(PETERSON, wanted)
            assert isinstance(check(PETERSON, certificate, bad_states(PETERSON, wanted), kept), Checked)
            assert "assert: " in certificate.question
            assert "ignore-races" in certificate.question

    def test_cells_of_arrays_and_comments(self) -> None:
        text = "global a[2]; fn p { a[1].store(1); }\n// assert: a[1] == 1 && a[0] == 0"
        program = tpl.read(text)
        assert isinstance(verify(program, wanted=properties.stated_property(program)), Safe)

    def test_too_large_for_graphs(self) -> None:
        counts = "local r; while (1) { r = FADD(x, 1); d.nastore(1); }"
        program = tpl.read(f"max_value 4294967295;\nglobal x;\nna d;\nfn p[2] {{ {counts} }}")
        limits = Limits(seconds=20, states=100_000)
        answer = verify(program, "ra", limits=limits)
        assert isinstance(answer, Unsafe)
        assert answer.race is not None
        assert isinstance(races(program, "sra", limits=limits), Racy)


class TestRaces:
    @pytest.mark.parametrize("model", ["sc", "ra", "sra", "rc20"])
    def test_a_race_without_weak_memory(self, model: str) -> None:
        assert races(tpl.read(UNGUARDED), model).verdict == "racy"

    @pytest.mark.parametrize(
        ("model", "verdict"), [("sra", "race-free"), ("ra", "race-free"), ("rc20", "racy")]
    )
    def test_a_flag_that_orders_nothing(self, model: str, verdict: str) -> None:
        assert races(tpl.read(RELAXED), model).verdict == verdict

    def test_the_broken_lock_has_a_race(self) -> None:
        answer = races(PETERSON)
        assert isinstance(answer, Racy)
        assert (answer.model, answer.criterion) == ("rc20", "data-race-free")

    NOT_ROBUST = """
        na d; global x, y;
        fn p { local a; START x.store(1, rlx); a = y.load(rlx); if (a == 0) { d.nastore(1); } END }
        fn q { local b, r; y.store(1, rlx); b = x.load(rlx); if (b == 2) { r = d.naload(); } }
        """

    @pytest.mark.parametrize("model", ["rc20", "cpp20"])
    def test_a_program_without_loops_need_not_be_robust(self, model: str) -> None:
        answer = races(tpl.read(self.NOT_ROBUST.replace("START", "").replace("END", "")), model)
        assert isinstance(answer, RaceFree)
        assert answer.engine == "enumeration"

    def test_unknown_says_what_was_not_looked_at(self) -> None:
        looping = self.NOT_ROBUST.replace("START", "while (1) {").replace("END", "}")
        answer = races(tpl.read(looping), limits=Limits(states=500))
        assert isinstance(answer, Unknown)
        assert "under sra there is none, and none was found in its execution graphs; but" in answer.why
        assert "fencepost fix --model rc20" in answer.why

    def test_without_non_atomic_locations(self) -> None:
        program = tpl.read("global x; fn p[2] { x.store(1); }")
        answer = races(program)
        assert isinstance(answer, RaceFree)
        assert "no non-atomic location" in answer.because
        assert isinstance(races(program, kind="write-write"), Racy)

    def test_write_write_races_are_of_sra(self) -> None:
        with pytest.raises(ValueError, match="write-write"):
            races(PETERSON, "rc20", kind="write-write")
