"""Why a run is possible, and what would forbid it."""

from itertools import product
from pathlib import Path

import pytest

from fencepost.analyses.repair.changes import Change, apply
from fencepost.analyses.robustness import robust
from fencepost.analyses.tso import persist
from fencepost.engine.search import Limits
from fencepost.formats import load
from fencepost.formats.tpl import read
from fencepost.program import Load, Store, Wait
from fencepost.report.advice import advice, reason, repairs


def advice_about(text, model):
    witness = robust(read(text), model).witness
    assert witness is not None
    return advice(witness)


STORE_BUFFERING = """global x, y;
fn t1 { local r;
  x.store(1);
  r = y.load(); }
fn t2 { local r;
  y.store(1);
  r = x.load(); }
"""


def test_store_buffering_wants_fences_in_both_threads():
    assert advice_about(STORE_BUFFERING, "ra") == [
        "To forbid this run, insert an SC fence (`fence;` in TPL, "
        "`atomic_thread_fence(memory_order_seq_cst);` in C) in `t1` before `r = y.load()` (line 4) "
        "and in `t2` before `r = x.load()` (line 7)."
    ]
    fenced = STORE_BUFFERING.replace(".store(1);", ".store(1); fence;")
    assert robust(read(fenced), "ra").holds


def message_passing(store, load):
    return f"global d, f;\nfn w {{ d.store(1);\n{store}; }}\nfn r {{ local a;\n{load};\na = d.load(); }}"


@pytest.mark.parametrize(
    ("store", "load", "said"),
    [
        (
            "f.store(1)",
            "a = f.load()",
            "make `f.store(1)` (line 3) release and make `a = f.load()` (line 5) acquire",
        ),
        ("f.store(1, rel)", "a = f.load()", "make `a = f.load()` (line 5) acquire"),
        ("f.store(1)", "a = f.load(acq)", "make `f.store(1)` (line 3) release"),
    ],
)
def test_a_relaxed_flag_is_named_on_the_side_that_is_too_weak(store, load, said):
    text = message_passing(store, load)
    assert advice_about(text, "rc20") == [f"To forbid this run, {said}."]
    witness = robust(read(text), "rc20").witness
    assert reason(witness).endswith(", so that line 5 sees line 3 without what came before it")


def test_readers_that_disagree_want_fences_between_their_loads():
    witness = robust(load("examples/litmus/iriw.tpl"), "ra").witness
    assert [(repair.after.line, repair.place.line) for repair in repairs(witness)] == [(13, 14), (19, 20)]


@pytest.mark.parametrize(
    ("folder", "model"),
    [
        *product(["litmus", "tutorial", "rc20"], ["ra", "rc20", "cpp20", "tso"]),
        *product(["cpp20"], ["cpp20", "tso"]),
    ],
)
def test_the_repairs_forbid_the_run_that_was_shown(folder, model):
    """With the changes made, a search finds another run, or none."""
    limits = Limits(states=100_000)
    for file in sorted(Path("examples", folder).glob("*.tpl")):
        program = load(file)
        witness = robust(program, model, limits=limits).witness
        if witness is not None:
            changes = [change_of(program, repair) for repair in repairs(witness)]
            assert changes, file
            then = robust(apply(program, changes).program, model, limits=limits).witness
            assert then is None or accesses(then) != accesses(witness), file


def change_of(program, repair):
    """The repair as `fix` would make it."""
    thread = program.threads[repair.place.thread]
    (pc,) = (
        pc
        for pc, i in enumerate(thread.code)
        if (i.at.line, i.at.column) == (repair.place.line, repair.place.column)
    )
    copies = tuple(n for n, other in enumerate(program.threads) if other.family == thread.family)
    if repair.change == "fence":
        return Change("sc-fence", copies, pc, "before")
    if repair.change == "seq_cst":
        kinds = {Load: "sc-load", Wait: "sc-load", Store: "sc-store"}
        return Change(kinds.get(type(thread.code[pc]), "sc-rmw"), copies, pc)
    kinds = {Load: "acquire-load", Wait: "acquire-load", Store: "release-store"}
    return Change(kinds.get(type(thread.code[pc]), f"{repair.change}-rmw"), copies, pc)


def accesses(witness):
    events = [event for event in witness.events if event.thread is not None and event.kind != "F"]
    return [(event.thread, event.kind, event.cell, event.read, event.written) for event in events]


def test_a_run_under_tso_takes_one_fence_in_the_thread_whose_write_waits():
    said = advice(persist(read(STORE_BUFFERING)).witness)
    assert said == [
        "To forbid this run, insert a fence (`fence;` in TPL, `mfence` on x86) in `t1` before "
        "`r = y.load()` (line 4)."
    ]
    fenced = STORE_BUFFERING.replace("x.store(1);", "x.store(1); fence;")
    assert advice(persist(read(fenced)).witness) != said
