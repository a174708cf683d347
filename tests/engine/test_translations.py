"""What a translation does not find is not there, and Chase and Lev's deque is decided by one."""

import random

import pytest
from msgspec.structs import replace

from fencepost.analyses import robustness
from fencepost.analyses.robustness import robust
from fencepost.engine._native import Outcome
from fencepost.engine.search import REDUCED, Limits, explore, explore_translation
from fencepost.formats.tpl import read
from fencepost.static import translations
from fencepost.static.rewriting import with_early_branches
from fencepost.static.translations import translation
from tests.engine.deques import chase_lev, program_with_indices
from tests.strategies import random_program

BATCH = 150
FEW = Limits(states=30_000)
PLAIN = replace(REDUCED, translation=False)


def proves(program, model="ra", limits=FEW, **tactics):
    found = translation(program)
    if found is None:
        return False
    result = explore_translation(found, model, limits, tactics=replace(REDUCED, **tactics))
    return result is not None and result.outcome == Outcome.COMPLETE


def check_proofs(seeds, model):
    proven = 0
    for seed in seeds:
        program = program_with_indices(random.Random(seed))
        if not proves(program, model):
            continue
        answer = robust(program, model, limits=FEW, tactics=PLAIN)
        assert answer.verdict in ("robust", "unknown"), seed
        assert answer.race is None, seed
        proven += answer.verdict == "robust"
    return proven


@pytest.mark.parametrize("model", ["ra", "rc20", "cpp20"])
def test_what_is_proven_by_translation_is_robust(model):
    assert check_proofs(range(BATCH), model) > BATCH / 20


@pytest.mark.parametrize("reduction", ["symmetry", "partial_order", "merging", "lookahead"])
def test_proofs_by_translation_do_not_depend_on_other_reductions(reduction):
    for seed in range(BATCH):
        program = program_with_indices(random.Random(seed))
        assert proves(program) == proves(program, **{reduction: False}), seed


@pytest.mark.slow
@pytest.mark.parametrize("first_seed", range(1000, 21000, 1000))
def test_what_is_proven_by_translation_is_always_robust(first_seed):
    check_proofs(range(first_seed, first_seed + 1000), "ra")


@pytest.mark.parametrize("slots", [1, 2, 3])
def test_deques_are_robust_however_far_their_indices_come(slots):
    program = read(chase_lev(slots))
    assert proves(program, limits=Limits(states=2_000_000))


@pytest.mark.parametrize("fence", range(4))
def test_deques_need_each_fence(fence):
    assert not proves(read(chase_lev(2, without_fence=fence)), limits=Limits(states=2_000_000))
    assert robust(read(chase_lev(2, bound=4, without_fence=fence)), "ra").verdict == "not-robust"


# Only a thread that has read `top` long before `bottom` sees them so far from each other.
FAR = """
    max_value 63;
    global top=1, bottom=1, f, g;
    fn queue {{
        local b, t, r;
        while (1) {{
            b = bottom.load();
            t = top.load();
            if (b < 9 && t <= b && b - t < 1) {{ bottom.store(b + 1); r = CAS(top, t, t + 1); }}
        }}
    }}
    fn late {{
        local b, t, o;
        t = top.load();
        b = bottom.load();
        if ({condition}) {{ {then} }}
    }}
    fn other {{ local o; g.store(1); o = f.load(); }}
"""
BUFFER = "f.store(1); o = g.load();"


@pytest.mark.parametrize("condition", ["b - t > 3", "b - t == 4", "!(b <= t + 3)", "t + 4 == b"])
def test_comparisons_must_not_depend_on_how_stale_a_value_is(condition, monkeypatch):
    program = read(FAR.format(condition=condition, then=BUFFER))
    assert robust(program, "ra", tactics=PLAIN).verdict == "not-robust"
    assert not proves(program)
    monkeypatch.setattr(translations._Attempt, "_agreeing", lambda *_: iter(()))
    assert proves(program)


def test_comparisons_that_any_stale_value_answers_alike_are_followed():
    assert proves(read(FAR.format(condition="t < b", then="f.store(1);")))


@pytest.mark.parametrize(
    "then",
    [
        "o = f.load(); t = t + 1; r = CAS(top, t, t + 1);",
        "bottom.store(b - 3);",
        "bottom.store(7);",
        "r = CAS(top, t, t + 2);",
        "top.store(b);",
    ],
)
def test_values_that_are_used_in_other_ways_are_not_moved(then):
    program = read(FAR.replace("local b, t, o;", "local b, t, o, r;").format(condition="t < b", then=then))
    assert not proves(program)


def test_values_without_a_bound_are_not_moved():
    text = FAR.format(condition="t < b", then="f.store(1);")
    assert translation(read(text)) is not None
    assert translation(read(text.replace("b < 9 && ", ""))) is None
    assert translation(read(text.replace("b < 9", "b <= 62"))) is not None
    assert translation(read(text.replace("b < 9", "b <= 63"))) is None


def test_a_proof_by_translation_looks_for_no_assertions(monkeypatch):
    monkeypatch.setattr(robustness, "NEAR_STATES", 100)
    monkeypatch.setattr(robustness, "MANY_STATES", 200)
    program = read(chase_lev(2))
    answer = robust(program, "ra", limits=Limits(seconds=120))
    assert (answer.verdict, answer.exhaustive) == ("robust", False)
    bounded = Limits(states=100_000)
    assert robust(program, "ra", limits=bounded, tactics=PLAIN).verdict == "unknown"


@pytest.mark.parametrize("seed", range(BATCH))
def test_early_branches_change_no_graph(seed):
    program = random_program(random.Random(seed), loop_free=False)
    early = replace(program, threads=tuple(map(with_early_branches, program.threads)))
    before, after = (explore(p, "ra", FEW, tactics=PLAIN) for p in (program, early))
    if Outcome.COMPLETE in (before.outcome, after.outcome):
        assert before.outcome == after.outcome
        assert (before.race is None) == (after.race is None)
        assert (before.failure is None) == (after.failure is None)
