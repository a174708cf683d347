"""The rule of observational robustness against its meaning."""

from collections import Counter

import pytest

from fencepost.formats import load
from fencepost.formats.tpl import read, write
from fencepost.memory_models import GRAPH_MODELS, MODELS, OBSERVATIONAL
from fencepost.models import rc20
from fencepost.models.enumerate import BOTTOM
from fencepost.models.explore import LimitReachedError
from fencepost.models.observational import not_shown, observed_beyond_sc
from fencepost.models.robustness import not_robust_graph
from fencepost.static.register_uses import without_unused_loads
from tests.models.observed_programs import NO_USES, USES, observed_program, store_buffering

GRAPHS = [model for model in GRAPH_MODELS if OBSERVATIONAL in MODELS[model].criteria["robust"]]
FEW, BATCH = 20, 50
MOST_STATES = 20_000


def kinds(program, model="ra"):
    return {found.kind for found in not_shown(program, model)}


def check(program, model):
    """The rule never holds where weak memory shows; what it says, and what is true."""
    found = {one.kind for one in not_shown(program, model, MOST_STATES)}
    if found and (smaller := without_unused_loads(program)) != program:
        found = {one.kind for one in not_shown(smaller, model, MOST_STATES)} and found
    truth = observed_beyond_sc(program, model, MOST_STATES)
    if not found - {"race"}:
        assert truth is None or (truth is BOTTOM and "race" in found)
    return found, truth


def check_seed(seed, model):
    """What `check` says of a random program; None if it has too many graphs."""
    program = observed_program(seed, model)
    try:
        return check(program, model)
    except LimitReachedError:
        return None
    except AssertionError as error:
        raise AssertionError(f"seed {seed}:\n{write(program)}") from error


@pytest.mark.parametrize("model", GRAPHS)
def test_the_rule_never_holds_where_weak_memory_shows(model):
    compared = [result for seed in range(FEW) if (result := check_seed(seed, model)) is not None]
    seen = Counter((not found, truth is None) for found, truth in compared)
    assert seen[True, True] > 0
    assert seen[False, False] > 0


@pytest.mark.slow
@pytest.mark.parametrize("model", GRAPHS)
@pytest.mark.parametrize("first_seed", range(0, 10_000, BATCH))
def test_the_rule_never_holds_where_weak_memory_shows_in_many(first_seed, model):
    """Where the rule fails, it is not wrong whatever the truth is: that need not be found out."""
    for seed in range(first_seed, first_seed + BATCH):
        if may_hold(seed, model):
            check_seed(seed, model)


def may_hold(seed, model):
    program = observed_program(seed, model)
    try:
        return any(
            all(found.kind == "race" for found in not_shown(variant, model, MOST_STATES))
            for variant in (program, without_unused_loads(program))
        )
    except LimitReachedError:
        return False


# What is a use, and what is not.


def test_values_that_nobody_uses_do_not_show():
    assert not_robust_graph(store_buffering(), "ra") is not None
    assert observed_beyond_sc(store_buffering(), "ra") is None
    assert kinds(store_buffering()) == set()


@pytest.mark.parametrize("use", USES)
def test_uses(use):
    assert kinds(store_buffering(use)) == {"use"}


@pytest.mark.parametrize("use", NO_USES)
def test_what_is_no_use(use):
    assert check(store_buffering(use), "ra") == (set(), None)


def test_a_final_condition_uses_registers():
    text = """C SB
{ x = 0; y = 0; }
P0 (atomic_int* x, atomic_int* y) {
  atomic_store_explicit(x, 1, memory_order_release);
  int r = atomic_load_explicit(y, memory_order_acquire);
}
P1 (atomic_int* x, atomic_int* y) {
  atomic_store_explicit(y, 1, memory_order_release);
  int s = atomic_load_explicit(x, memory_order_acquire);
}
exists (0:r=0 /\\ 1:s=0)
"""
    from fencepost.formats.litmus import read as read_litmus

    program = read_litmus(text)
    assert observed_beyond_sc(program, "ra") is not None
    assert kinds(program) == {"use"}


# What a tainting load teaches.


def test_a_tainting_load_teaches_nothing():
    """`left` may read the old x, and then the old y too. If it knew what came before the new x, the load of y
    would be clean, and the rule would hold."""
    program = read("""
max_value 1;
global x, y, z;
fn left { local r; z.store(1); r = x.load(); r = y.load(); verify(r); }
fn right { local s; y.store(1); x.store(1); s = z.load(); verify(s); }
""")
    assert check(program, "ra")[0] == {"use"}
    assert observed_beyond_sc(program, "ra") is not None


def test_loads_that_nothing_uses_can_be_left_out():
    """With them the rule fails: `right` reads the old x, so that all it did comes before `left`."""
    program = store_buffering("verify(r);", "")
    assert kinds(program) == {"use"}
    assert kinds(without_unused_loads(program)) == set()
    assert observed_beyond_sc(program, "ra") is None


def test_the_rule_is_not_complete():
    """All values are 0, so that it makes no difference which write is read."""
    program = store_buffering("verify(r);", stored=0)
    assert kinds(program) == {"use"}
    assert observed_beyond_sc(program, "ra") is None


def test_a_race_that_only_a_stale_value_makes():
    """Under SC the reader always synchronises; if it reads the old x, it does not."""
    program = read("""
max_value 1;
global x, f;
na d;
fn writer { d.nastore(1); x.store(1, rel); f.store(1, rlx); }
fn reader { local r; wait(f, 1, rlx); r = x.load(acq); r = d.naload(); }
""")
    assert rc20.races(program) == set()
    assert check(program, "rc20") == ({"race"}, BOTTOM)


def test_a_race_that_the_rule_cannot_exclude():
    """The load may read 1 or 2, and synchronises either way; the rule learns from neither."""
    program = read("""
max_value 2;
global x, f;
na d;
fn writer { d.nastore(1); x.store(1, rel); x.store(2, rel); f.store(1, rlx); }
fn reader { local r; wait(x, 1, rlx); wait(f, 1, rlx); r = x.load(acq); r = d.naload(); }
""")
    assert check(program, "rc20") == ({"race"}, None)


# Sequence locks.


@pytest.mark.parametrize("name", ["seqlock-fences", "seqlock-rdmw"])
def test_sequence_locks_that_are_right(name):
    assert check(load(f"examples/rc20/{name}.tpl"), "rc20") == (set(), None)


@pytest.mark.parametrize("name", ["seqlock-no-fences", "seqlock-rdmw-plain-writer"])
def test_sequence_locks_that_are_broken(name):
    program = load(f"examples/rc20/{name}.tpl")
    assert kinds(program, "rc20") & {"use", "access"}
    assert observed_beyond_sc(program, "rc20") not in (None, BOTTOM)
