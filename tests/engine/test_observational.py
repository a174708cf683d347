"""Observational robustness: the engine does exactly what the rule in `models/observational.py` says."""

import pytest
from msgspec.structs import replace

from fencepost.analyses.robustness import robust
from fencepost.engine._native import Order, Outcome
from fencepost.engine.search import EVERY_STATE, REDUCED, Limits, explore
from fencepost.formats.tpl import read, write
from fencepost.memory_models import GRAPH_MODELS, MODELS, OBSERVATIONAL
from fencepost.models.explore import LimitReachedError
from fencepost.models.observational import not_shown
from fencepost.models.witnesses import replay
from fencepost.static.constants import with_constants
from fencepost.static.register_uses import without_unused_loads
from fencepost.verdicts import Robust, Unknown
from tests.models.observed_programs import NO_USES, USES, observed_program, store_buffering

MODELS_ASKED = [model for model in GRAPH_MODELS if OBSERVATIONAL in MODELS[model].criteria["robust"]]
FEW, BATCH = 20, 50
MOST_STATES = 20_000
WAYS = [
    ("breadth-first", EVERY_STATE),
    ("breadth-first", REDUCED),
    ("largest-first", REDUCED),
    ("by-location", REDUCED),  # which is largest first here
    ("depth-first", replace(REDUCED, partial_order=False)),
    ("breadth-first", replace(REDUCED, symmetry=False, subsumption=False)),
    ("largest-first", replace(REDUCED, threads=2)),
    ("breadth-first", replace(REDUCED, compress=True)),
]


def by_rule(program, model):
    kinds = {found.kind for found in not_shown(program, model, MOST_STATES)}
    return "fails" if kinds - {"race"} else "race" if kinds else "holds"


def by_engine(program, model, order, tactics):
    result = explore(program, model, Limits(), order, tactics=tactics, observational=True)
    fails = result.violation is not None or result.tainted_use is not None
    assert fails == (result.outcome == Outcome.VIOLATION)
    return "fails" if fails else "race" if result.race is not None else "holds"


def check_seeds(seeds, model):
    for seed in seeds:
        program = observed_program(seed, model)
        folded = with_constants(program)  # what the engine sees with `local`
        try:
            rule = {False: by_rule(program, model), True: by_rule(folded, model)}
        except LimitReachedError:
            continue
        for order, tactics in WAYS:
            found = by_engine(program, model, order, tactics)
            assert found == rule[tactics.local], f"seed {seed}, {order}, {tactics}:\n{write(program)}"
        check_answer(program, model, rule[True])


def check_answer(program, model, rule):
    answer = robust(program, model, criterion=OBSERVATIONAL)
    smaller = with_constants(without_unused_loads(program))
    if rule != "holds" and answer.race is None and by_rule(smaller, model) == "holds":
        rule = "holds"
    is_certain_race = rule == "race" and answer.race is not None
    assert isinstance(answer, Robust if rule == "holds" or is_certain_race else Unknown)
    assert (answer.witness is not None) == (rule == "fails")
    if rule == "holds":
        assert answer.exit_code == (0 if answer.assertion is None else 1)
    if answer.witness is not None and "stale values too" not in answer.why:
        replay(program, answer.witness, model)


@pytest.mark.parametrize("model", MODELS_ASKED)
def test_random_programs(model):
    check_seeds(range(FEW), model)


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS_ASKED)
@pytest.mark.parametrize("first_seed", range(0, 10_000, BATCH))
def test_many_random_programs(first_seed, model):
    check_seeds(range(first_seed, first_seed + BATCH), model)


def test_every_order_is_tried():
    orders = {order.upper().replace("-", "_") for order, _ in WAYS}
    assert orders == {name for name in vars(Order) if name.isupper()} - {"AT_RANDOM"}


def answer_to(text, model="ra", **options):
    return robust(read(text), model, criterion=OBSERVATIONAL, **options)


VALIDATED = """
max_value 2;
global seq, x, y;
fn writer { seq.store(1); x.store(1); y.store(1); seq.store(2); }
fn reader {
    local s0, a, b, s1;
    s0 = seq.load();
    a = x.load();
    b = y.load();
    s1 = FADD(seq, 0);
    if (s0 == s1 && s0 != 1) { assert(a == b); }
}
"""

PASSED_ON = """
max_value 3;
global x, y;
fn left { local r, s; x.store(1); r = y.load(); s = r + 1; r = 0; verify(s); }
fn right { local r, s; y.store(1); r = x.load(); s = r + 1; r = 0; verify(s); }
"""


@pytest.mark.parametrize("use", USES)
def test_uses(use):
    assert isinstance(robust(store_buffering(use), "ra", criterion=OBSERVATIONAL), Unknown)


@pytest.mark.parametrize("use", NO_USES)
def test_what_is_no_use(use):
    assert isinstance(robust(store_buffering(use), "ra", criterion=OBSERVATIONAL), Robust)


def test_loads_that_are_validated():
    assert isinstance(answer_to(VALIDATED), Robust)


@pytest.mark.parametrize(("order", "tactics"), WAYS)
def test_a_taint_changes_with_the_threads_that_are_exchanged(order, tactics):
    """The thread whose load may be stale is overtaken by its equal before it uses the value."""
    program = read("""max_value 2; global x, y, m, n, done, z;
        fn f[2] {
            local k, r;
            k = FADD(n, 1);
            if (k != 0) { wait(m, 1); done.store(1); }
            else { wait(y, 1, rlx); r = x.load(rlx); m.store(1); wait(done, 1); z.store(r); }
        }
        fn writer { x.store(1, rlx); y.store(1, rlx); }""")
    assert by_engine(program, "rc20", order, tactics) == by_rule(program, "rc20") == "fails"


def test_a_taint_is_passed_on_by_an_assignment():
    answer = answer_to(PASSED_ON)
    assert isinstance(answer, Unknown)
    assert "the value of `s`" in answer.why
    assert answer.witness.access.text.startswith("r = ")


def test_a_loop_that_reads_again_until_it_is_clean():
    """A stale value that ends nothing is overwritten by the next round; what ends the loop is clean."""
    text = """
max_value 1;
global x, y, z;
fn left { local r; x.store(1); r = y.load(); r = z.load(); while (r == 0) { r = z.load(); } }
fn right { local r; y.store(1); r = x.load(); z.store(1); }
"""
    assert isinstance(answer_to(text), Robust)


@pytest.mark.parametrize(("use", "outcome"), [("", Outcome.COMPLETE), ("verify(r);", Outcome.VIOLATION)])
def test_equal_threads_are_exchanged_with_their_taints(use, outcome):
    program = read(f"""
max_value 1;
global x, y, z;
fn left[2] {{ local r; x.store(1); r = y.load(); z.store(1); {use} }}
fn right[2] {{ local r; y.store(1); r = x.load(); z.store(1); {use} }}
""")
    symmetric, plain = (
        explore(program, "ra", Limits(), tactics=tactics, observational=True)
        for tactics in (REDUCED, replace(REDUCED, symmetry=False))
    )
    assert symmetric.outcome == plain.outcome == outcome
    assert symmetric.states < plain.states


def test_a_race_that_only_a_stale_value_makes_leaves_the_answer_open():
    answer = answer_to(
        """
max_value 1;
global x, f;
na d;
fn writer { d.nastore(1); x.store(1, rel); f.store(1, rlx); }
fn reader { local r; wait(f, 1, rlx); r = x.load(acq); r = d.naload(); }
""",
        "rc20",
    )
    assert isinstance(answer, Unknown)
    assert answer.race is None
    assert "may be a data race" in answer.why


def test_a_race_without_stale_values_is_a_finding():
    answer = answer_to("na d;\nfn a { d.nastore(1); }\nfn b { local r; r = d.naload(); }\n", "rc20")
    assert answer.race is not None
    assert answer.exit_code == 1


def test_a_limit_leaves_the_answer_open():
    answer = answer_to(VALIDATED, limits=Limits(states=3))
    assert isinstance(answer, Unknown)
    assert "limit of 3 states" in answer.why


def test_loads_that_nothing_uses_are_named():
    answer = answer_to("global x, y;\nfn a {\n local r;\n x.store(1);\n r = y.load();\n}\n")
    assert any("line 5" in warning and "verify" in warning for warning in answer.warnings)


@pytest.mark.parametrize(("model", "criterion"), [("tso", OBSERVATIONAL), ("ra", "trf")])
def test_criteria_that_a_model_does_not_have(model, criterion):
    with pytest.raises(ValueError, match="criterion"):
        robust(read(VALIDATED), model, criterion=criterion)


def test_one_location_at_a_time_is_not_enough():
    with pytest.raises(ValueError, match="by location"):
        answer_to(VALIDATED, order="by-location")


def test_a_load_comes_before_the_next_write_whatever_it_reads():
    """Nobody uses what `t` loads, be it stale or not; but its store to z comes before that of `w` to x."""
    program = read(
        """
        max_value 2;
        global x, y, z, shown;
        fn u { x.store(1, rlx); y.store(1, rlx); }
        fn t { local r; wait(y, 1, rlx); z.store(1, rlx); r = x.load(rlx); }
        fn w { local s; x.store(2, rlx); s = z.load(rlx); shown.store(s, rlx); }
        """
    )
    assert by_rule(program, "rc20") == "fails"
    assert {by_engine(program, "rc20", order, tactics) for order, tactics in WAYS} == {"fails"}
