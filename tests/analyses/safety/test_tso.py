"""`verify --model tso` against the machine with store buffers: unbounded ones for programs without loops,
bounded ones for others. Every run that is shown is done again by the machine."""

import random
from collections import Counter
from collections.abc import Collection, Sequence
from itertools import islice, product
from typing import NamedTuple

import pytest
from msgspec.structs import replace

import fencepost
from fencepost.analyses.safety.portfolio import verify
from fencepost.engine.search import Limits, Progress
from fencepost.errors import InputError
from fencepost.formats import properties, tpl
from fencepost.memory_models import ENGINES, Engine
from fencepost.models import sc
from fencepost.models.explore import LimitReachedError, reachable
from fencepost.models.threads import ProgramLts
from fencepost.models.tso import TsoState, accesses, on_x86, tso_initial_states, tso_states, tso_transitions
from fencepost.models.tso_witnesses import replay_tso_safety
from fencepost.program import (
    Assert,
    Cell,
    CellAccess,
    CompareExchange,
    Constant,
    Fence,
    FetchAdd,
    Instruction,
    Load,
    Location,
    Mode,
    Position,
    Program,
    Skip,
    Store,
    Thread,
)
from fencepost.program.conditions import And, CellIs, Formula, Not, RegisterIs, StandsAt, is_true
from fencepost.program.properties import Property
from fencepost.verdicts import Answer, Safe, SafetyAnswer, SafetyWitness, Unknown, Unsafe
from tests.strategies import random_program

BATCH = 100
ENOUGH = Limits(seconds=60)
MOST_STATES = 8_000
MOST_BUFFERED = 2

End = tuple[int, ...]  # what registers or cells hold


class Asked(NamedTuple):
    """A random program, and as what must not happen that all threads end with these registers, or, for some,
    that they end with these values in memory."""

    program: Program
    wanted: Property

    def goes_wrong(self, states: Collection[TsoState]) -> bool:
        program = on_x86(self.program)
        lts = ProgramLts(program)
        return any(part.start.findings for part in lts.threads) or any(
            self._fails(lts, state) or any(sc.racing(lts, state.threads)) or self._ends_badly(program, state)
            for state in states
        )

    def _fails(self, lts: ProgramLts, state: TsoState) -> bool:
        for t, at in enumerate(state.threads):
            for transition in accesses(lts, state, t):
                step = lts.threads[t].step(at, transition.events[0].read or 0)
                if step is not None and step.findings:
                    return True
        return False

    def _ends_badly(self, program: Program, state: TsoState) -> bool:
        if not has_ended(program, state):
            return False
        registers = {
            thread.name: dict(zip(thread.registers, at.registers, strict=True))
            for thread, at in zip(program.threads, state.threads, strict=True)
        }
        memory = dict(zip(program.cells, state.memory, strict=True))
        if self.wanted.at_end is not None:
            return state.is_plain and not is_true(self.wanted.at_end, registers, memory)
        assert isinstance(self.wanted.bad, And)
        named = [part for part in self.wanted.bad.parts if isinstance(part, RegisterIs)]
        return all(registers[part.thread][part.register] == part.value for part in named)


def drawn_program(source: random.Random, *, loop_free: bool) -> Program:
    if source.random() < (0.65 if loop_free else 0.2):
        program = overtaking_program(source)
    else:
        program = random_program(
            source,
            loop_free=loop_free,
            threads=(2, 3),
            most_accesses=source.choice([2, 3, 3, 4]),
            sc_accesses=source.random() < 0.2,
        )
    if source.random() < 0.7:
        program = without_assertions(program)
    if source.random() < 0.15:
        program = with_plain_locations(program, source)
    ends = tuple(replace(t, labels={**t.labels, "end": len(t.code)}) for t in program.threads)
    return replace(program, threads=ends)


def without_assertions(program: Program) -> Program:
    def changed(thread: Thread) -> Thread:
        return replace(thread, code=tuple(Skip(at=i.at) if isinstance(i, Assert) else i for i in thread.code))

    return replace(program, threads=tuple(map(changed, program.threads)))


def overtaking_program(source: random.Random) -> Program:
    """Threads that store, do one or two other things, and load: often the load overtakes the store."""
    cells = [Cell(name) for name in "xyz"[: source.choice([2, 2, 3])]]

    def access(place: int, last: int, at: Position) -> Instruction:
        kind = source.choice(["store", "load", "load", "fence", "fadd", "cas"])
        cell, value = source.choice(cells), Constant(source.choice([1, 1, 2]))
        if place in (0, last):
            kind = "load" if place else "store"
        match kind:
            case "store":
                return Store(cell, value, source.choice([Mode.REL] * 9 + [Mode.SC]), at=at)
            case "load":
                return Load(f"r{place}", cell, at=at)
            case "fence":
                return Fence(Mode.SC, at=at)
            case "fadd":
                return FetchAdd(f"r{place}", cell, value, at=at)
            case _:
                return CompareExchange(f"r{place}", cell, Constant(source.choice([0, 1])), value, at=at)

    threads = []
    for number in range(source.choice([2, 2, 3])):
        last = source.choice([1, 2, 2, 3])
        code = tuple(access(n, last, Position(number + 1, n + 1)) for n in range(last + 1))
        threads.append(Thread(f"t{number}", code, tuple(f"r{n}" for n in range(last + 1))))
    return Program(tuple(Location(cell.name) for cell in cells), tuple(threads), 3)


def asked(program: Program, source: random.Random, states: Collection[TsoState]) -> Asked:
    """About how threads end in one of the states, one that needs store buffers if possible, or in none of
    them, though each thread in one of them, or anyhow."""
    values = [
        tuple(source.choice([0, 0, 1, program.max_value]) for _ in t.registers) for t in program.threads
    ]
    memory = tuple(source.randint(0, program.max_value) for _ in program.cells)
    ended = sorted(state for state in states if state.is_plain and has_ended(program, state))
    which = source.random() if ended else 1
    if which < 0.5:
        under_sc = sc.reachable_states(on_x86(program))
        weak = [state for state in ended if sc.ScState(state.threads, state.memory) not in under_sc]
        state = source.choice(weak or ended)
        values, memory = [at.registers for at in state.threads], state.memory
    elif which < 0.9:
        excluded = ends_excluded(ended)
        if excluded:
            *values, memory = source.choice(excluded)
    return about_end(program, values, memory if source.random() < 0.4 else None)


def about_end(program: Program, registers: Sequence[End], memory: End | None) -> Asked:
    """All threads have ended with these registers and, if it is given, this memory."""
    held: list[Formula] = [
        RegisterIs(thread.name, name, value)
        for thread, own in zip(program.threads, registers, strict=True)
        for name, value in zip(thread.registers, own, strict=True)
    ]
    if memory is not None:
        cells = [CellIs(cell, value) for cell, value in zip(program.cells, memory, strict=True)]
        return Asked(program, Property(at_end=Not(And((*held, *cells)))))
    stands: list[Formula] = [StandsAt(t.name, "end") for t in program.threads]
    return Asked(program, Property(bad=And((*stands, *held))))


def ends_excluded(ended: Collection[TsoState]) -> list[tuple[End, ...]]:
    """The registers of each thread as in one of these states, and memory as in another, but not together."""
    together = {(*(at.registers for at in state.threads), state.memory) for state in ended}
    apart = (sorted(set(column)) for column in zip(*together, strict=True))
    return [some for some in islice(product(*apart), 2000) if some not in together] if together else []


def has_ended(program: Program, state: TsoState) -> bool:
    return all(at.pc == len(t.code) for at, t in zip(state.threads, program.threads, strict=True))


def with_plain_locations(program: Program, source: random.Random) -> Program:
    """Some locations that are only loaded and stored become non-atomic."""
    accesses = [i for thread in program.threads for i in thread.code if isinstance(i, CellAccess)]
    others = {i.cell.name for i in accesses if not isinstance(i, Load | Store) or i.mode is Mode.SC}
    plain = {one.name for one in program.locations if one.name not in others and source.random() < 0.5}
    threads = tuple(
        replace(
            thread,
            code=tuple(
                replace(i, mode=Mode.NA) if isinstance(i, Load | Store) and i.cell.name in plain else i
                for i in thread.code
            ),
        )
        for thread in program.threads
    )
    locations = tuple(replace(one, atomic=one.atomic and one.name not in plain) for one in program.locations)
    return replace(program, locations=locations, threads=threads, tracking=())


def check_witness(question: Asked, answer: Answer) -> None:
    """The run can be done, and what is said of its end is so."""
    witness = answer.witness
    assert isinstance(witness, SafetyWitness)
    ends = replay_tso_safety(question.program, witness)
    program = on_x86(question.program)
    lts = ProgramLts(program)
    match witness.bad.kind:
        case "data-race":
            assert any(race.cell == witness.bad.cell for end in ends for race in sc.racing(lts, end.threads))
        case "bad" | "final":
            assert question.goes_wrong(ends)


def check_batch(first: int, size: int = BATCH) -> Counter[str]:
    seen: Counter[str] = Counter()
    for seed in range(first, first + size):
        source = random.Random(seed)
        program = drawn_program(source, loop_free=True)
        engine: Engine = ("portfolio", "portfolio", *ENGINES)[seed % 5]
        try:
            states = set(tso_states(ProgramLts(on_x86(program)), MOST_STATES))
        except LimitReachedError:
            continue
        question = asked(program, source, states)
        try:
            answer = verify(question.program, "tso", wanted=question.wanted, engine=engine, limits=ENOUGH)
            assert isinstance(answer, Unsafe if question.goes_wrong(states) else Safe)
            if isinstance(answer, Unsafe):
                check_witness(question, answer)
                assert isinstance(answer.witness, SafetyWitness)
                seen["weak"] += bool(answer.witness.cycle)
        except AssertionError as error:
            raise AssertionError(f"seed {seed}, {engine}:\n{tpl.write(question.program)}") from error
        seen[answer.verdict] += 1
    return seen


def bounded_states(program: Program) -> set[TsoState]:
    """With at most `MOST_BUFFERED` writes in a buffer, as far as the limit goes."""
    lts = ProgramLts(on_x86(program))
    found: set[TsoState] = set()

    def successors(state: TsoState) -> list[TsoState]:
        after = (transition.state for transition in tso_transitions(lts, state))
        return [one for one in after if all(len(buffer) <= MOST_BUFFERED for buffer in one.buffers)]

    try:
        for state in reachable(tso_initial_states(lts), successors, 3_000):
            found.add(state)
    except LimitReachedError:
        pass
    return found


def check_loops(seeds: range) -> Counter[str]:
    """Where a bounded search finds something bad, no engine says safe; and engines do not contradict."""
    seen: Counter[str] = Counter()
    for seed in seeds:
        source = random.Random(seed)
        program = drawn_program(source, loop_free=False)
        states = bounded_states(program)
        question = asked(program, source, states)
        wrong = question.goes_wrong(states)
        for engine in ENGINES if seed % 4 == 0 else ("portfolio",):
            answer = verify(
                question.program, "tso", wanted=question.wanted, engine=engine, limits=Limits(seconds=2)
            )
            try:
                assert not (wrong and isinstance(answer, Safe))
                if isinstance(answer, Unsafe):
                    check_witness(question, answer)
            except AssertionError as error:
                raise AssertionError(f"seed {seed}, {engine}:\n{tpl.write(question.program)}") from error
            seen[answer.verdict] += 1
            seen["wrong"] += wrong
    return seen


@pytest.mark.parametrize("first", range(0, 4 * BATCH, BATCH))
def test_loop_free_programs_as_the_machine_says(first: int) -> None:
    seen = check_batch(first)
    assert min(seen["safe"], seen["unsafe"]) > 20
    assert seen["weak"] > 2


@pytest.mark.slow
@pytest.mark.parametrize("first", range(10_000, 22_000, BATCH))
def test_many_loop_free_programs(first: int) -> None:
    check_batch(first)


def test_programs_with_loops() -> None:
    seen = check_loops(range(60))
    assert min(seen["safe"], seen["unsafe"], seen["wrong"]) > 15


@pytest.mark.slow
@pytest.mark.parametrize("first", range(1000, 3000, 100))
def test_many_programs_with_loops(first: int) -> None:
    check_loops(range(first, first + 100))


STORE_BUFFERING = """
global x, y;
fn p { local a; x.store(1); a = y.load(); if (a == 0) { first: skip; } }
fn q { local b; y.store(1); b = x.load(); if (b == 0) { first: skip; } }
"""


def answered(text: str, engine: Engine = "portfolio", **given: object) -> SafetyAnswer:
    program = tpl.read(text)
    return verify(program, "tso", wanted=Property(**given), engine=engine, limits=ENOUGH)


class TestProperties:
    @pytest.mark.parametrize("engine", ENGINES)
    def test_mutual_exclusion(self, engine: Engine) -> None:
        answer = answered(STORE_BUFFERING, engine, mutex=("first",))
        assert isinstance(answer, Unsafe)
        assert isinstance(answer.witness, SafetyWitness)
        assert [place.label for place in answer.witness.bad.places] == ["first", "first"]
        assert len(answer.witness.delayed) == 1
        assert answer.witness.cycle

    def test_what_interleavings_do_has_no_buffered_write(self) -> None:
        for engine in ENGINES:
            answer = answered(STORE_BUFFERING, engine, error_labels=("first",))
            assert isinstance(answer.witness, SafetyWitness)
            assert answer.witness.bad.kind == "error-label"
            assert not answer.witness.delayed

    @pytest.mark.parametrize("engine", ENGINES)
    @pytest.mark.parametrize(
        "stronger",
        ["x.store(1, sc)", "x.store(1); fence", "a = exchange(x, 1)", "a = CAS(x, 7, 1); x.store(1)"],
    )
    def test_one_thread_with_a_fence_is_not_enough(self, engine: Engine, stronger: str) -> None:
        text = STORE_BUFFERING.replace("x.store(1)", stronger)
        assert isinstance(answered(text, engine, mutex=("first",)), Unsafe)

    @pytest.mark.parametrize("engine", ENGINES)
    @pytest.mark.parametrize("stronger", ["x.store(1, sc)", "x.store(1); fence", "a = exchange(x, 1)"])
    def test_both_threads_with_a_fence_are(self, engine: Engine, stronger: str) -> None:
        text = STORE_BUFFERING.replace("x.store(1)", stronger)
        text = text.replace("y.store(1)", stronger.replace("x", "y", 1).replace("a =", "b ="))
        text = text.replace("eychange", "exchange")
        assert isinstance(answered(text, engine, mutex=("first",)), Safe)

    @pytest.mark.parametrize("engine", ENGINES)
    def test_a_failing_compare_exchange_waits_for_the_store_buffer(self, engine: Engine) -> None:
        text = STORE_BUFFERING.replace("a = y.load()", "a = CAS(y, 1, 1)").replace(
            "b = x.load()", "b = CAS(x, 1, 1)"
        )
        assert isinstance(answered(text, engine, mutex=("first",)), Safe)

    def test_a_seq_cst_store_is_shown_as_it_is_written(self) -> None:
        answer = answered(STORE_BUFFERING.replace("x.store(1)", "x.store(1, sc)"), mutex=("first",))
        assert isinstance(answer.witness, SafetyWitness)
        assert "x.store(1, sc)" in [event.text for event in answer.witness.events]

    def test_final_states_are_those_of_memory(self) -> None:
        text = "global x; fn p { local r; x.store(1); r = x.load(); }"
        program = tpl.read(text)
        for formula, verdict in (("x == 1", "safe"), ("x == 0", "unsafe")):
            wanted = properties.given_property(program, asserted=[formula])
            assert verify(program, "tso", wanted=wanted).verdict == verdict

    def test_a_data_race_in_a_critical_section(self) -> None:
        """Between two threads that both miss the other's flag."""
        guarded = STORE_BUFFERING.replace("global x, y;", "global x, y; na d;").replace(
            "skip", "d.nastore(1)"
        )
        assert isinstance(verify(tpl.read(guarded), "sc"), Safe)
        answer = verify(tpl.read(guarded), "tso")
        assert isinstance(answer.witness, SafetyWitness)
        assert answer.witness.bad.kind == "data-race"
        assert answer.witness.delayed
        assert isinstance(
            verify(tpl.read(guarded), "tso", wanted=Property(mutex=("first",)), ignore_races=True), Unsafe
        )

    def test_a_choice_decides_what_is_bad(self) -> None:
        """The run shows the choice that the question is about, although the thread itself forgets it."""
        text = "global x; fn p { local r; x.store(1); oneof({ r = 0; }{ r = 1; }); }"
        program = tpl.read(text)
        for value in (0, 1):
            wanted = properties.given_property(program, asserted=[f"p.r == {value}"])
            for model in ("tso", "sra"):
                answer = verify(program, model, wanted=wanted)
                assert isinstance(answer.witness, SafetyWitness)
                assert answer.witness.bad.places[0].registers == {"r": 1 - value}

    def test_nothing_asked(self) -> None:
        with pytest.raises(InputError, match="nothing was asked"):
            verify(tpl.read(STORE_BUFFERING), "tso")


class TestWhoAnswers:
    def test_persistence_answers_for_sequential_consistency(self) -> None:
        """The threads keep writing, so the store buffers have no bound."""
        text = """max_value 3; global x, y;
        fn p { local a; while (1) { x.store(a); a = (a + 1) % 3; } }
        fn q { local b; b = x.load(); assert(b != 3); while (1) { y.store(1); } }"""
        answer = verify(tpl.read(text), "tso", engine="backward", limits=ENOUGH)
        assert isinstance(answer, Safe)
        assert answer.basis is not None
        assert isinstance(verify(tpl.read(text), "tso", limits=ENOUGH), Safe)


class TestLimits:
    BAKERY = fencepost.load("examples/tso-mutex/lambak-4.aut")
    MUTEX = Property(mutex=("cs",))

    @pytest.mark.parametrize("engine", ENGINES)
    def test_of_states(self, engine: Engine) -> None:
        answer = verify(self.BAKERY, "tso", wanted=self.MUTEX, engine=engine, limits=Limits(states=1000))
        assert isinstance(answer, Unknown)
        assert "1,000 states" in answer.why

    @pytest.mark.parametrize("engine", ENGINES)
    def test_of_time(self, engine: Engine) -> None:
        answer = verify(self.BAKERY, "tso", wanted=self.MUTEX, engine=engine, limits=Limits(seconds=0.2))
        assert isinstance(answer, Unknown)
        assert "time limit" in answer.why

    @pytest.mark.parametrize("engine", ENGINES)
    def test_stopped_by_the_user(self, engine: Engine) -> None:
        seen: list[Progress] = []

        def stop(progress: Progress) -> bool:
            seen.append(progress)
            return True

        answer = verify(self.BAKERY, "tso", wanted=self.MUTEX, engine=engine, watcher=stop)
        assert isinstance(answer, Unknown)
        assert answer.interrupted
        assert seen[0].states > 0
