"""Safety under RC20 and C++20: against the definitions, and what is said where it cannot be decided."""

import random

import pytest
from msgspec.structs import replace

from fencepost.analyses.safety.portfolio import verify
from fencepost.engine.search import Limits
from fencepost.errors import InputError
from fencepost.formats import tpl
from fencepost.models import cpp20, rc20, sc
from fencepost.models.definition import definition, program_lts
from fencepost.models.enumerate import BOTTOM, reachable_graph_states, transitions
from fencepost.models.explore import LimitReachedError
from fencepost.models.shown_graphs import shown_graph
from fencepost.models.threads import NO_CELL
from fencepost.program.conditions import And, Not, RegisterIs, StandsAt, is_true
from fencepost.program.properties import Property, marked
from fencepost.verdicts import Safe, Unknown, Unsafe
from tests.interrupting import ENDLESS
from tests.strategies import random_program

MODELS = ("rc20", "cpp20")
CONSISTENT = {"rc20": rc20.is_rc20_consistent, "cpp20": cpp20.is_cpp20_consistent}
KINDS = ("final", "bad", "mutex", "nothing")


def asked(seed, kind, *, sc_accesses=False, loop_free=True):
    """A random program, and something that must not happen in it."""
    source = random.Random(seed)
    program = random_program(
        source, threads=(2, 3), most_accesses=3, modes=True, sc_accesses=sc_accesses, loop_free=loop_free
    )
    threads = tuple(replace(t, labels={"here": source.randrange(len(t.code) + 1)}) for t in program.threads)
    program = replace(program, threads=threads)
    registers = [
        RegisterIs(t.name, name, source.choice([0, 1, program.max_value]))
        for t in program.threads
        for name in t.registers
    ]
    chosen = tuple(source.sample(registers, min(2, len(registers))))
    match kind:
        case "final":
            return program, Property(at_end=And(chosen))
        case "bad":
            places = tuple(StandsAt(t.name, "here") for t in source.sample(program.threads, 2))
            named = {place.thread for place in places}
            return program, Property(bad=And((*places, *(a for a in chosen if a.thread in named))))
        case "mutex":
            return program, Property(mutex=("here",))
    return program, Property()


def goes_wrong(program, model, wanted, limit):
    """By the definition."""
    program = marked(program, wanted).program
    lts, memory = program_lts(program, model), definition(model).memory
    if any(fails(thread, thread.start.findings, thread.start.states) for thread in lts.threads):
        return True
    for state in reachable_graph_states(lts, memory, limit):
        if state.graph is BOTTOM or is_bad(program, wanted, state):
            return True
        steps = [(lts.threads[t], step) for t, step, _, _ in transitions(lts, memory, state)]
        if any(fails(thread, step.findings, step.successors) for thread, step in steps):
            return True
    return False


def fails(thread, findings, states):
    """Whether the thread fails before its next access; it passes fences on the way."""
    if findings:
        return True
    fences = [at for at in states if (access := thread.access(at)) is not None and access.cell == NO_CELL]
    steps = [thread.step(at, 0) for at in fences]
    return any(fails(thread, step.findings, step.successors) for step in steps)


def is_bad(program, wanted, state):
    at = dict(zip((t.name for t in program.threads), state.threads, strict=True))
    registers = {t.name: dict(zip(t.registers, at[t.name].registers, strict=True)) for t in program.threads}
    here = {t.name for t in program.threads if t.labels.get("here") == at[t.name].pc}
    if wanted.mutex and len(here) > 1:
        return True
    if wanted.bad is not None:
        places = {part.thread for part in wanted.bad.parts if isinstance(part, StandsAt)}
        values = And(tuple(part for part in wanted.bad.parts if isinstance(part, RegisterIs)))
        return places <= here and is_true(values, registers, {})
    ended = all(at[t.name].pc == len(t.code) for t in program.threads)
    return wanted.at_end is not None and ended and not is_true(wanted.at_end, registers, {})


def compare(seeds, kind, model, limit):
    compared = unsafe = 0
    for seed in seeds:
        program, wanted = asked(seed, kind, sc_accesses=model == "cpp20")
        try:
            expected = goes_wrong(program, model, wanted, limit)
        except LimitReachedError:
            continue
        try:
            answer = verify(program, model, wanted=wanted)
        except InputError:  # nothing was asked
            assert not expected
            assert kind == "nothing"
            continue
        told = f"seed {seed}, {wanted}:\n{tpl.write(program)}"
        assert isinstance(answer, Unsafe if expected else Safe), told
        if expected:
            check_witness(program, model, answer, told)
        compared, unsafe = compared + 1, unsafe + expected
    return compared, unsafe


def check_witness(program, model, answer, told):
    """The graph is one of the model, and not one of SC unless it is said to be."""
    if answer.engine == "sc" or answer.witness is None:
        assert (answer.witness or answer.race) is not None, told
        return
    shown = shown_graph(len(program.threads), answer.witness.events, answer.witness.edges)
    assert CONSISTENT[model](shown.graph), told
    assert sc.is_sc_consistent(shown.graph) == (answer.witness.cycle == ()), told


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("kind", KINDS)
def test_programs_without_loops_are_answered_as_the_definition_says(model, kind):
    compared, unsafe = compare(range(50), kind, model, 300)
    assert compared > 8
    assert 0 < unsafe < compared


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("kind", KINDS)
def test_programs_without_loops_are_answered_as_the_definition_says_by_the_thousand(model, kind):
    compare(range(1000, 2500), kind, model, 1000)


@pytest.mark.parametrize("model", MODELS)
def test_looping_programs_are_never_called_safe_where_sc_is_not(model):
    decided = 0
    for seed in range(60):
        program, wanted = asked(seed, "mutex", loop_free=False)
        limits = Limits(states=20_000)
        answer = verify(program, model, wanted=wanted, limits=limits)
        under_sc = verify(program, "sc", wanted=wanted, limits=limits)
        if isinstance(under_sc, Unsafe):
            assert isinstance(answer, Unsafe), f"seed {seed}:\n{tpl.write(program)}"
        decided += not isinstance(answer, Unknown)
    assert decided > 30


MP = """global x, f;
fn w {{ x.store(1, rlx); f.store(1, {store}); }}
fn r {{ local b; wait(f, 1, {load}); b = x.load(rlx); assert(b == 1); }}
"""


@pytest.mark.parametrize("model", MODELS)
def test_modes_count(model):
    assert isinstance(verify(tpl.read(MP.format(store="rel", load="acq")), model), Safe)
    answer = verify(tpl.read(MP.format(store="rlx", load="acq")), model)
    assert isinstance(answer, Unsafe)
    assert answer.witness.bad.kind == "assertion"


SB = """global x, y;
fn p {{ local a; x.store(1, {mode}); a = y.load({mode}); }}
fn q {{ local b; y.store(1, {mode}); b = x.load({mode}); }}
"""
NOT_BOTH = Property(at_end=Not(And((RegisterIs("p", "a", 0), RegisterIs("q", "b", 0)))))


def test_seq_cst_accesses_are_for_cpp20():
    program = tpl.read(SB.format(mode="sc"))
    assert isinstance(verify(program, "cpp20", wanted=NOT_BOTH), Safe)
    assert verify(program, wanted=NOT_BOTH).model == "cpp20"
    with pytest.raises(InputError, match="the model rc20 has no seq_cst accesses"):
        verify(program, "rc20", wanted=NOT_BOTH)


@pytest.mark.parametrize("model", MODELS)
def test_a_final_state_of_weak_memory_is_found(model):
    answer = verify(tpl.read(SB.format(mode="rlx")), model, wanted=NOT_BOTH)
    assert isinstance(answer, Unsafe)
    assert answer.witness.bad.kind == "final"


def test_a_data_race_is_unsafe_unless_it_is_ignored():
    writer = "fn w { d.nastore(1); f.store(1, rlx); }"
    racy = f"na d; global f; {writer} fn r {{ local a; wait(f, 1); a = d.naload(); }}"
    answer = verify(tpl.read(racy), "rc20")
    assert isinstance(answer, Unsafe)
    assert answer.race.cell == "d"
    with pytest.raises(InputError, match="nothing was asked"):
        verify(tpl.read(racy), "rc20", ignore_races=True)


def test_an_error_label():
    program = tpl.read(
        MP.format(store="rlx", load="rlx").replace("assert(b == 1);", "if (b == 0) { e: b = 1; }")
    )
    answer = verify(program, "rc20", wanted=Property(error_labels=("e",)))
    assert isinstance(answer, Unsafe)
    assert answer.witness.bad.kind == "error-label"
    assert answer.witness.bad.places[0].label == "e"


def test_robust_programs_with_loops_are_safe_as_under_sc():
    lock = "global l; fn p[2] { while (1) { lock(l); cs: unlock(l); } }"
    answer = verify(tpl.read(lock), "rc20", wanted=Property(mutex=("cs",)))
    assert isinstance(answer, Safe)
    assert answer.engine == "robustness"


def test_a_bug_that_needs_rounds_is_found():
    text = """global x, f;
    fn w { local i; while (i < 3) { x.store(i + 1, rlx); f.store(i + 1, rlx); i = i + 1; } }
    fn r { local a, b; wait(f, 3, rlx); b = x.load(rlx); assert(b == 3); }"""
    answer = verify(tpl.read(text), "rc20")
    assert isinstance(answer, Unsafe)
    assert answer.engine == "enumeration"


def test_what_was_covered_is_said():
    text = """global x, y, z, w;
    fn p { local a; x.store(1, rlx); x.store(2, rlx); z.store(1, rlx); a = y.load(rlx); }
    fn q {
        local r, s; y.store(1, rlx); r = z.load(rlx);
        while (1) { r = x.load(rlx); s = x.load(rlx); assert(!(r == 2 && s == 1)); w.store(r, rlx); }
    }"""
    answer = verify(tpl.read(text), "rc20", limits=Limits(states=5_000))
    assert isinstance(answer, Unknown)
    assert "no thread does an access more than" in answer.why
    assert "execution graphs" in answer.why


def test_an_interrupted_search_is_unknown():
    program = tpl.read(f"max_value 255; {ENDLESS} fn check {{ local r; r = a.load(); assert(r != 251); }}")
    answer = verify(program, "rc20", watcher=lambda progress: True)
    assert isinstance(answer, Unknown)
    assert answer.interrupted


def test_deadlocks_cannot_be_asked_about():
    program = tpl.read("global x; fn p { wait(x, 1); }")
    with pytest.raises(InputError, match="deadlocks cannot be asked about under rc20"):
        verify(program, "rc20", wanted=Property(deadlocks=True))


def test_there_is_no_backward_search():
    with pytest.raises(InputError, match="there is no backward search under cpp20"):
        verify(tpl.read(MP.format(store="rel", load="acq")), "cpp20", engine="backward")
