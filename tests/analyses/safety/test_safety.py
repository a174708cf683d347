"""Safety by all engines together: they agree with the definition and with each other, and runs replay."""

import random
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import NamedTuple

import pytest
from msgspec.structs import replace

import fencepost
from fencepost.analyses.safety import all_models
from fencepost.analyses.safety.all_models import verify_under_all
from fencepost.analyses.safety.portfolio import certify, races, verify
from fencepost.certificates import Checked, check
from fencepost.certificates.question import bad_states, registers_asked_for
from fencepost.engine.search import Limits
from fencepost.formats import properties, tpl
from fencepost.memory_models import ENGINES, SAFETY_MODELS, Engine
from fencepost.models import op_sra, sc
from fencepost.models.explore import LimitReachedError
from fencepost.models.graphs import Graph
from fencepost.models.sra import racing_writes
from fencepost.models.threads import Label, ProgramLts, Threads
from fencepost.program import Program
from fencepost.program.conditions import And, Formula, RegisterIs, StandsAt
from fencepost.program.properties import Property, marked
from fencepost.verdicts import Answer, Racy, Safe, SafetyWitness, Unknown, Unsafe
from tests.strategies import random_program

EXAMPLES = Path(__file__).parents[3] / "examples" / "sra"
ENOUGH = Limits(seconds=120)


def graph_of(program: Program, witness: SafetyWitness) -> Graph:
    """The run of the witness, done again by the definition: each event must be possible where it comes."""
    source = {e.target: e.source for e in witness.edges if e.relation == "rf"}
    names = (*program.cells, "fence")
    serials = dict.fromkeys(range(len(program.threads)), 0)
    number: dict[int, int] = {}
    steps = []
    for event in witness.events:
        cell = names.index(event.cell)
        if event.thread is None:
            number[event.id] = cell
            continue
        serials[event.thread] += 1
        place = (serials[event.thread] - 1) * len(program.threads) + event.thread
        number[event.id] = len(program.initial_memory) + program.has_sc_fence + place
        label = Label(event.kind, cell, event.read, event.written)
        writer = witness.events[source[event.id]].thread if event.id in source else None
        steps.append(op_sra.SketchedStep(event.thread, label, writer=-1 if writer is None else writer))
    run = op_sra.complete(program, steps)
    assert run is not None
    return op_sra.replay(program, run).graph


def known_to(witness: SafetyWitness, event: int) -> set[int]:
    """The events that happen before it."""
    before = {event}
    for edge in sorted(witness.edges, key=lambda edge: -edge.target):
        if edge.relation in ("po", "rf") and edge.target in before:
            before.add(edge.source)
    return before


def check_answer(program: Program, answer: Answer, *, unsafe: bool) -> None:
    assert isinstance(answer, Unsafe if unsafe else Safe)
    if unsafe:
        assert isinstance(answer.witness, SafetyWitness)
        graph_of(program, answer.witness)


class Asked(NamedTuple):
    """A random program, and as what must not happen that all threads end with these registers."""

    program: Program
    wanted: Property
    registers: tuple[tuple[int, ...], ...]

    def is_bad(self, threads: Threads) -> bool:
        ended = all(at.pc == len(t.code) for at, t in zip(threads, self.program.threads, strict=True))
        return ended and tuple(at.registers for at in threads) == self.registers

    def goes_wrong(self, states: Iterable[Threads], findings: Collection[object]) -> bool:
        lts = ProgramLts(self.program)
        return bool(findings) or any(self.is_bad(at) or any(sc.racing(lts, at)) for at in states)


def asked(seed: int, *, loop_free: bool) -> Asked:
    source = random.Random(seed)
    program = random_program(source, threads=(2, 3), most_accesses=3, loop_free=loop_free)
    ends = tuple(replace(t, labels={**t.labels, "end": len(t.code)}) for t in program.threads)
    program = replace(program, threads=ends)
    registers = tuple(
        tuple(source.choice([0, 0, 1, program.max_value]) for _ in t.registers) for t in program.threads
    )
    parts: list[Formula] = [StandsAt(t.name, "end") for t in program.threads]
    for thread, values in zip(program.threads, registers, strict=True):
        parts += [RegisterIs(thread.name, name, v) for name, v in zip(thread.registers, values, strict=True)]
    return Asked(program, Property(bad=And(tuple(parts))), registers)


@pytest.mark.parametrize("engine", ENGINES)
def test_loop_free_programs_as_the_definition_says(engine: Engine) -> None:
    unsafe = total = 0
    for seed in range(250):
        question = asked(seed, loop_free=True)
        program = question.program
        try:
            states = op_sra.reachable_program_states(program, 20_000)
        except LimitReachedError:
            continue
        expected = question.goes_wrong(states, op_sra.findings(program))
        answer = verify(program, wanted=question.wanted, engine=engine, limits=ENOUGH)
        check_answer(program, answer, unsafe=expected)
        total, unsafe = total + 1, unsafe + expected
    assert total > 200
    assert 40 < unsafe < total - 40


def test_engines_never_contradict_each_other_on_loops() -> None:
    decided = unsafe = 0
    for seed in range(100):
        question = asked(seed, loop_free=False)
        program, wanted = question.program, question.wanted
        answers = [verify(program, wanted=wanted, engine=e, limits=Limits(seconds=1)) for e in ENGINES]
        verdicts = {answer.verdict for answer in answers if not isinstance(answer, Unknown)}
        assert len(verdicts) <= 1, tpl.write(program)
        under_sc = (state.threads for state in sc.reachable_states(program))
        if question.goes_wrong(under_sc, sc.findings(program)):
            assert verdicts == {"unsafe"}
        decided, unsafe = decided + bool(verdicts), unsafe + (verdicts == {"unsafe"})
        for answer in answers:
            if isinstance(answer, Unsafe):
                check_answer(program, answer, unsafe=True)
    assert decided > 90
    assert 20 < unsafe < decided - 20


def test_under_sc_as_the_explorer_says() -> None:
    for seed in range(200):
        question = asked(seed, loop_free=seed % 2 == 0)
        program = question.program
        under_sc = (state.threads for state in sc.reachable_states(program))
        expected = question.goes_wrong(under_sc, sc.findings(program))
        answer = verify(program, "sc", wanted=question.wanted, limits=ENOUGH)
        check_answer(program, answer, unsafe=expected)


def test_safe_answers_have_certificates_that_check() -> None:
    checked = 0
    for seed in range(100):
        program, wanted, _ = asked(seed, loop_free=seed % 2 == 0)
        answer, certificate = certify(program, wanted=wanted, limits=Limits(seconds=5))
        assert (certificate is not None) is isinstance(answer, Safe)
        if certificate is not None:
            bad, kept = bad_states(program, wanted), registers_asked_for(program, wanted)
            assert isinstance(check(program, certificate, bad, kept), Checked), tpl.write(program)
            checked += 1
    assert checked > 30


def test_race_witnesses_have_two_writes_that_nothing_orders() -> None:
    racy = 0
    for seed in range(150):
        program = random_program(random.Random(seed), threads=(2, 3), most_accesses=3)
        answer = races(program, kind="write-write", limits=ENOUGH)
        if isinstance(answer, Racy):
            assert isinstance(answer.witness, SafetyWitness)
            assert racing_writes(graph_of(program, answer.witness)) is not None
            earlier, later = (answer.witness.events[write] for write in answer.witness.bad.writes)
            assert earlier.cell == later.cell
            assert earlier.written is not None
            assert later == answer.witness.events[-1]
            assert earlier.id not in known_to(answer.witness, later.id)
            racy += 1
    assert racy > 40


STORE_BUFFERING = """
global x, y;
fn p { local a; x.store(1); a = y.load(); end: skip; }
fn q { local b; y.store(1); b = x.load(); end: skip; }
"""


class TestProperties:
    def test_labels_at_local_instructions(self) -> None:
        program = tpl.read(STORE_BUFFERING)
        together = Property(mutex=("end",))
        answer = verify(program, "sc", wanted=together)
        assert isinstance(answer, Unsafe)
        assert answer.witness is not None
        assert [place.label for place in answer.witness.bad.places] == ["end", "end"]
        assert all(event.cell in ("x", "y") for event in answer.witness.events)

    @pytest.mark.parametrize("model", ["sra", "ra", "tso"])
    def test_what_takes_no_weak_memory_is_told_so(self, model: str) -> None:
        answer = verify(tpl.read(STORE_BUFFERING), model, wanted=Property(mutex=("end",)))
        assert isinstance(answer, Unsafe)
        assert answer.engine == "sc"
        assert "without weak memory" in answer.because

    def test_error_label(self) -> None:
        answer = verify(tpl.read(STORE_BUFFERING), wanted=Property(error_labels=("end",)))
        assert isinstance(answer, Unsafe)
        assert answer.witness is not None
        assert answer.witness.bad.kind == "error-label"

    @pytest.mark.parametrize(("model", "verdict"), [("sc", "safe"), ("sra", "unsafe"), ("ra", "unsafe")])
    def test_formula_over_registers(self, model: str, verdict: str) -> None:
        program = tpl.read(STORE_BUFFERING)
        ends = And((StandsAt("p", "end"), StandsAt("q", "end")))
        old = properties.given_property(program, [], [], ["p.a == 0 && q.b == 0"]).bad
        assert old is not None
        assert verify(program, model, wanted=Property(bad=And((ends, old)))).verdict == verdict

    def test_marks_keep_the_program(self) -> None:
        """Marks add states, but take none away and let nothing else happen."""
        program = tpl.read(STORE_BUFFERING)
        with_marks = marked(program, Property(mutex=("end",))).program
        assert sc.findings(with_marks) == sc.findings(program)
        assert with_marks.threads[0].labels["end"] == program.threads[0].labels["end"]


TWO_PLUS_TWO_W = """
max_value 2;
global x, y;
fn p { local a; x.store(1); y.store(2); a = y.load(); end: skip; }
fn q { local b; y.store(1); x.store(2); b = x.load(); end: skip; }
// bad: p@end && q@end && p.a == 1 && q.b == 1
"""


class TestReleaseAcquire:
    def test_a_race_leaves_it_open(self) -> None:
        program = tpl.read(TWO_PLUS_TWO_W)
        wanted = properties.stated_property(program)
        assert isinstance(verify(program, "sra", wanted=wanted), Safe)
        answer = verify(program, "ra", wanted=wanted)
        assert isinstance(answer, Unknown)
        assert "write/write race" in answer.why
        assert answer.witness is not None

    def test_without_races_sra_answers(self) -> None:
        program = fencepost.load(str(EXAMPLES / "barrier-spin.tpl"))
        wanted = properties.stated_property(program)
        answer = verify(program, "ra", wanted=wanted)
        assert isinstance(answer, Safe)
        assert "races" in answer.spent
        assert "without write/write races" in answer.because


# Coherence keeps the assertion from failing, which no thread on its own can know.
NOT_FOLLOWED = """max_value 3;
global x, y;
fn p { local r; while (1) { r = FADD(x, 1); } }
fn q { local a, b; a = y.load(); b = y.load(); assert(a == 0 || b == 1); }
fn w { y.store(1); }
"""


class TestLimits:
    @pytest.mark.parametrize("model", ["ra", "tso"])
    def test_too_many_local_states(self, model: str) -> None:
        counts = "local r; while (1) { r = FADD(x, 1); assert(r != 3); }"
        program = tpl.read(f"max_value 4294967295;\nglobal x;\nfn p[2] {{ {counts} }}")
        answer = verify(program, model, limits=Limits(seconds=20, states=100_000))
        assert isinstance(answer, Unsafe)
        assert answer.engine == "robustness"
        assert answer.assertion is not None

    @pytest.mark.parametrize("model", SAFETY_MODELS)
    def test_a_value_that_is_not_followed(self, model: str) -> None:
        """Where values do not wrap, a fourth step would make 4; what comes after it is unknown."""
        text = "max_value 3;\nglobal x;\nfn p { local r; while (1) { r = FADD(x, 1); assert(r != 3); } }"
        program = replace(tpl.read(text), wraps=False)
        answer = verify(program, model)
        assert isinstance(answer, Unknown)
        assert "range" in answer.why

    @pytest.mark.parametrize("model", SAFETY_MODELS)
    def test_no_bad_state_where_a_value_is_not_followed_is_not_safe(self, model: str) -> None:
        """The search comes to its end without a bad state, but one thread was not followed to its own."""
        program = replace(tpl.read(NOT_FOLLOWED), wraps=False)
        answer = verify(program, model)
        assert isinstance(answer, Unknown)
        assert "range" in answer.why
        assert isinstance(verify(tpl.read(NOT_FOLLOWED.replace("while", "if")), model), Safe)

    def test_too_many_bad_states_to_go_back_from(self) -> None:
        code = "a = x.load(); b = y.load(); x.store(a + 1); y.store(b + 1); cs: x.store(a + b);"
        program = tpl.read(f"global x, y;\nfn p[2] {{ local a, b; while (1) {{ {code} }} }}")
        together = Property(mutex=("cs",))
        assert isinstance(verify(program, wanted=together), Unsafe)
        answer = verify(program, wanted=together, engine="backward")
        assert isinstance(answer, Unknown)
        assert "bad states" in answer.why

    def test_time_limit(self) -> None:
        program = fencepost.load(str(EXAMPLES / "bakery-3-fences.tpl"))
        wanted = properties.stated_property(program)
        answer = verify(program, wanted=wanted, engine="backward", limits=Limits(seconds=0.2))
        assert isinstance(answer, Unknown)
        assert "time limit" in answer.why

    def test_state_limit(self) -> None:
        program = fencepost.load(str(EXAMPLES / "bakery-3-fences.tpl"))
        wanted = properties.stated_property(program)
        answer = verify(program, wanted=wanted, engine="backward", limits=Limits(states=1000))
        assert isinstance(answer, Unknown)
        assert "1,000 states" in answer.why


def test_of_required_models_the_worst_answer_counts(monkeypatch):
    """Unknown under one of them is worse than safe, in whatever order they stand."""
    program = tpl.read("global x; fn a { x.store(1); } fn b { local r; r = x.load(); assert(r < 2); }", "t")
    large = tpl.read(
        "global x; fn a[3] { local r; while (1) { r = x.load(); x.store(r + 1); assert(r < 9); } }", "u"
    )
    unknown = verify(large, "sra", limits=Limits(states=1))
    assert isinstance(unknown, Unknown)
    monkeypatch.setattr(
        all_models,
        "verify",
        lambda program, model, **how: unknown if model == "sra" else verify(program, model, **how),
    )
    for require in (("sc", "sra"), ("sra", "sc")):
        answer = verify_under_all(program, require=require)
        assert [one.verdict for one in answer.models if one.required] == ["safe", "unknown"]
        assert answer.verdict == "unknown"
