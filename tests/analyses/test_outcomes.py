"""Outcomes: the table against the definitions, the graphs replayed in them, and what is said of the rest."""

import random

import pytest

import fencepost
from fencepost.engine.search import Limits
from fencepost.errors import InputError
from fencepost.formats import load
from fencepost.formats.tpl import read, write
from fencepost.memory_models import MODELS, OUTCOME_MODELS
from fencepost.models import cpp20, ra, rc20, sc, sra
from fencepost.models.explore import LimitReachedError
from fencepost.models.outcomes import ends
from fencepost.models.shown_graphs import shown_graph
from fencepost.program.conditions import is_bad
from fencepost.verdicts.outcomes import Impossible, Listed, OutcomesUnknown, Possible
from tests.docs.pages import ROOT
from tests.strategies import random_program

LITMUS = sorted((ROOT / "examples" / "litmus-c").glob("*.litmus"))
SB = """global x, y;
fn t1 { local a; x.store(1); a = y.load(); }
fn t2 { local b; y.store(1); b = x.load(); }
"""
CONSISTENT = {
    "sc": sc.is_sc_consistent,
    "sra": sra.is_sra_consistent,
    "ra": ra.is_ra_consistent,
    "rc20": rc20.is_rc20_consistent,
    "cpp20": cpp20.is_cpp20_consistent,
}


def column(answer, model):
    return next(one for one in answer.models if one.model == model)


def allowed(answer, model):
    return {row.values for row in answer.outcomes if row.under[model] == "allowed"}


def by_definition(program, answer, model, limit):
    """The final states under the model, as the answer shows them; None if there is a race."""
    states = ends(program, model, limit)
    if states is None:
        return None
    found = set()
    for end in states:
        registers = {
            f"{thread.name}:{register}": value
            for thread, values in zip(program.threads, end.registers, strict=True)
            for register, value in zip(thread.registers, values, strict=True)
        }
        held = registers | dict(zip(program.cells, end.memory, strict=True))
        found.add(tuple(held[name] for name in answer.names))
    return found


def compare(program, limit):
    """The number of models that were compared."""
    answer = fencepost.outcomes(program)
    compared = 0
    for model in OUTCOME_MODELS:
        if column(answer, model).refused:
            assert program.sc_access is not None
            continue
        try:
            expected = by_definition(program, answer, model, limit)
        except LimitReachedError:
            continue
        compared += 1
        told = f"{model}:\n{write(program)}"
        assert (column(answer, model).race is not None) == (expected is None), told
        if expected is not None:
            assert allowed(answer, model) == expected, told
            assert column(answer, model).complete, told
    return compared


@pytest.mark.parametrize("file", LITMUS[::7], ids=lambda file: file.stem)
def test_litmus_tests_have_the_outcomes_of_the_definitions(file):
    compare(load(file), 150)


@pytest.mark.slow
@pytest.mark.parametrize("file", LITMUS, ids=lambda file: file.stem)
def test_all_litmus_tests_have_the_outcomes_of_the_definitions(file):
    program = load(file)
    takes = [model for model in OUTCOME_MODELS if program.sc_access is None or MODELS[model].sc_accesses]
    assert compare(program, None) == len(takes)


@pytest.mark.parametrize("file", LITMUS, ids=lambda file: file.stem)
def test_conditions_are_answered_as_the_table_says(file):
    program = load(file)
    answer = fencepost.outcomes(program)
    for row in answer.outcomes:
        registers = {}
        memory = {}
        for name, value in zip(answer.names, row.values, strict=True):
            thread, _, register = name.partition(":")
            if register:
                registers.setdefault(thread, {})[register] = value
            else:
                memory[name] = value
        assert row.sought == is_bad(program.condition, registers, memory)
    for one in answer.models:
        if not one.refused:
            sought = {row.values for row in answer.outcomes if row.sought}
            assert one.possible == (one.race is not None or bool(sought & allowed(answer, one.model)))
    assert isinstance(answer, Possible if any(one.possible for one in answer.models) else Impossible)


@pytest.mark.parametrize("seed", range(200))
def test_weaker_models_allow_what_stronger_ones_do(seed):
    program = random_program(
        random.Random(seed), modes=seed % 2 == 0, non_atomic=False, sc_accesses=seed % 5 == 0
    )
    answer = fencepost.outcomes(program)
    assert allowed(answer, "sc") <= allowed(answer, "tso")
    assert allowed(answer, "sc") <= allowed(answer, "cpp20")
    if program.sc_access is None:
        assert (
            allowed(answer, "sc")
            <= allowed(answer, "sra")
            <= allowed(answer, "ra")
            <= allowed(answer, "rc20")
        )


@pytest.mark.parametrize("seed", range(40))
def test_random_programs_have_the_outcomes_of_the_definitions(seed):
    compare(random_program(random.Random(seed), modes=seed % 4 != 1, sc_accesses=seed % 4 == 3), 100)


@pytest.mark.slow
@pytest.mark.parametrize("batch", range(40))
def test_random_programs_have_the_outcomes_of_the_definitions_by_the_thousand(batch):
    for seed in range(100_000 + 500 * batch, 100_000 + 500 * (batch + 1)):
        compare(random_program(random.Random(seed), modes=seed % 4 != 1, sc_accesses=seed % 4 == 3), 500)


@pytest.mark.parametrize("seed", range(60))
def test_graphs_are_consistent_and_end_so(seed):
    program = random_program(random.Random(seed), modes=seed % 2 == 0, sc_accesses=seed % 3 == 0)
    for model in OUTCOME_MODELS:
        answer = fencepost.outcomes(program, [model])
        for row in answer.outcomes[:4]:
            witness = fencepost.outcomes(program, [model], explain=row.number).witness
            check_graph(program, model, answer.names, row.values, witness)


def check_graph(program, model, names, values, witness):
    told = f"{model} {values}:\n{write(program)}"
    shown = shown_graph(len(program.threads), witness.events, witness.edges)
    if model != "tso":
        assert CONSISTENT[model](shown.graph), told
    assert sc.is_sc_consistent(shown.graph) == (witness.cycle == ()), told
    held = dict(zip(names, values, strict=True))
    initial = [event for event in witness.events if event.thread is None]
    for number, event in enumerate(initial):
        if event.cell in held:
            assert shown.graph.written(shown.graph.latest(number)) == held[event.cell], told
    for place in witness.bad.places:
        for register, value in place.registers.items():
            assert held[f"{witness.threads[place.thread]}:{register}"] == value
    for edge in witness.edges:
        if edge.relation in ("po", "rf"):
            assert edge.source < edge.target
        if model == "sc":
            assert edge.source < edge.target


def test_without_a_condition_everything_is_shown():
    answer = fencepost.outcomes(read(SB))
    assert isinstance(answer, Listed)
    assert answer.exit_code == 0
    assert answer.names == ("t1:a", "t2:b", "x", "y")
    assert {row.values[:2] for row in answer.outcomes} == {(0, 0), (0, 1), (1, 0), (1, 1)}
    assert answer.outcomes[0].under == {
        "sc": "forbidden",
        "tso": "allowed",
        "sra": "allowed",
        "ra": "allowed",
        "rc20": "allowed",
        "cpp20": "allowed",
    }


def test_a_weak_outcome_is_explained_by_a_cycle():
    answer = fencepost.outcomes(read(SB), explain=1)
    assert answer.witness_model == "tso"
    assert sorted(edge.relation for edge in answer.witness.cycle) == ["fr", "fr", "po", "po"]


def test_an_outcome_of_sc_is_explained_by_an_interleaving():
    answer = fencepost.outcomes(read(SB), explain=2)
    assert answer.witness_model == "sc"
    assert answer.witness.cycle == ()


def test_there_is_no_outcome_with_that_number():
    with pytest.raises(InputError, match="no outcome 5 to explain; they are numbered from 1 to 4"):
        fencepost.outcomes(read(SB), explain=5)


def test_models_that_do_not_take_a_program_say_so():
    answer = fencepost.outcomes(read(SB.replace("load()", "load(sc)")))
    assert {one.model for one in answer.models if one.refused} == {"sra", "ra", "rc20"}
    assert "seq_cst" in column(answer, "ra").refused
    assert "ra" not in answer.outcomes[0].under


def test_a_program_that_no_model_takes_is_unknown():
    answer = fencepost.outcomes(read(SB.replace("load()", "load(sc)")), ["sra", "ra"])
    assert isinstance(answer, OutcomesUnknown)
    assert answer.exit_code == 3
    assert "no model takes the program" in answer.why


def test_on_x86_a_seq_cst_store_is_an_exchange():
    """It empties the buffer; a weaker store in the other thread does not. A seq_cst load is a load."""
    strong = SB.replace("store(1)", "store(1, sc)")
    answer = fencepost.outcomes(read(strong), ["tso"], explain=1)
    assert {row.values[:2] for row in answer.outcomes} == {(0, 1), (1, 0), (1, 1)}
    assert {event.kind for event in answer.witness.events if event.written and event.thread is not None} == {
        "RMW"
    }
    loads = fencepost.outcomes(read(SB.replace("load()", "load(sc)")), ["tso"])
    assert {row.values[:2] for row in loads.outcomes} == {(0, 0), (0, 1), (1, 0), (1, 1)}


def test_a_model_that_is_not_there():
    with pytest.raises(ValueError, match="unknown model 'power'"):
        fencepost.outcomes(read(SB), ["sc", "power"])


def test_models_come_in_the_order_of_the_table():
    answer = fencepost.outcomes(read(SB), ["rc20", "sc"])
    assert [one.model for one in answer.models] == ["sc", "rc20"]
    assert answer.model == "sc,rc20"


def test_a_data_race_allows_everything():
    answer = fencepost.outcomes(read("na d; fn t1 { d.nastore(1); } fn t2 { d.nastore(2); }"))
    assert {one.model for one in answer.models if one.race is not None} == {
        "sc",
        "sra",
        "ra",
        "rc20",
        "cpp20",
    }
    assert answer.race is not None
    assert answer.exit_code == 1
    assert len(answer.outcomes) == 2  # which TSO has, where there are no data races
    assert {says for row in answer.outcomes for says in row.under.values()} == {"allowed"}


def test_a_failing_assertion_is_told():
    program = read(SB.replace("b = x.load();", "b = x.load(); assert(b == 1);"))
    answer = fencepost.outcomes(program, ["sc"])
    assert column(answer, "sc").failure.places[0].text == "assert(b == 1)"
    assert answer.exit_code == 1


LOOP = "global x; fn t { local i; i = 0; while (i < 3) { FADD(x, 1); i = i + 1; } }"


def test_loops_are_followed_so_far_and_no_further():
    answer = fencepost.outcomes(read(LOOP), unroll=2)
    assert isinstance(answer, OutcomesUnknown)
    assert answer.exit_code == 3
    assert answer.outcomes == ()
    assert "more than 2 times" in answer.why
    exact = fencepost.outcomes(read(LOOP), unroll=3)
    assert isinstance(exact, Listed)
    assert [row.values for row in exact.outcomes] == [(3, 3)]


def test_loops_that_only_wait_do_not_count():
    waiting = (
        "global f, x; fn t1 { x.store(1); f.store(1); } fn t2 { local a; while (a == 0) { a = f.load(); } }"
    )
    answer = fencepost.outcomes(read(waiting), unroll=1)
    assert isinstance(answer, Listed)
    assert answer.loops


def test_what_a_limit_leaves_open():
    answer = fencepost.outcomes(read(SB), ["sc", "ra"], limits=Limits(states=5))
    assert isinstance(answer, OutcomesUnknown)
    assert "limit of 5 events" in column(answer, "ra").why
    assert all("forbidden" not in row.under.values() for row in answer.outcomes)


@pytest.mark.parametrize("name", ["SB+facq+facq", "MP+rlx+rlx"])
def test_nothing_is_ruled_out_where_a_limit_was_reached(name):
    """Some models come to their end with fewer events than others."""
    program = load(ROOT / "examples" / "litmus-c" / f"{name}.litmus")
    seen = set()
    for events in range(1, 20):
        answer = fencepost.outcomes(program, limits=Limits(states=events))
        assert answer.exhaustive == all(one.complete for one in answer.models)
        assert answer.exhaustive or answer.holds is not True
        for one in answer.models:
            told = {row.under[one.model] for row in answer.outcomes}
            seen.update((one.complete, says) for says in told)
            assert (one.why == "") == one.complete
            assert one.possible in ((True, False) if one.complete else (True, None))
    assert {says for complete, says in seen if complete} == {"allowed", "forbidden"}
    assert {says for complete, says in seen if not complete} == {"allowed", "unknown"}


def test_an_interrupted_search_is_unknown():
    stores = "".join(f"x.store({n}); " for n in range(1, 6))
    program = read("global x; " + "".join(f"fn t{n} {{ {stores} }} " for n in range(4)))
    answer = fencepost.outcomes(program, watcher=lambda progress: True)
    assert isinstance(answer, OutcomesUnknown)
    assert answer.interrupted
    assert "before it began" in column(answer, "cpp20").why


def test_a_thread_that_never_comes_to_an_access_is_told():
    program = read("global x; fn t { local r; while (1) { skip; } x.store(1); } fn u { x.store(1); }")
    answer = fencepost.outcomes(program, ["ra"])
    assert answer.verdict in ("unknown", "listed")
    program = read(
        "max_value 18446744073709551615; global x;"
        "fn t { local r; while (1) { r = r + 1; } } fn u { x.store(1); }"
    )
    answer = fencepost.outcomes(program, ["ra"])
    assert answer.verdict == "unknown"
    assert "thread `t` runs too long" in answer.why
