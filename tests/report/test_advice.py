"""Where ordering is missing in a witness, and what would supply it."""

from holdfast.analyses.robustness import robust
from holdfast.analyses.tso import persist
from holdfast.formats.tpl import read
from holdfast.report.advice import advice


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
    gaps, fences = advice_about(STORE_BUFFERING, "ra")
    assert gaps == "No happens-before orders line 4 and line 6; line 7 and line 3."
    assert fences == (
        "SC fences would forbid this run: in `t2` between `y.store(1)` (line 6) and `r = x.load()` (line 7); "
        "and in `t1` between `x.store(1)` (line 3) and `r = y.load()` (line 4)."
    )
    fenced = STORE_BUFFERING.replace(".store(1);", ".store(1); fence;")
    assert robust(read(fenced), "ra").holds


def message_passing(store, load):
    return f"global d, f;\nfn w {{ d.store(1);\n{store}; }}\nfn r {{ local a;\n{load};\na = d.load(); }}"


def test_a_relaxed_flag_is_named_on_the_side_that_is_too_weak():
    both = advice_about(message_passing("f.store(1)", "a = f.load()"), "rc20")
    assert both[1] == (
        "The value passes from line 3 to line 5 without order: `f.store(1)` (line 3) is not release and "
        "`a = f.load()` (line 5) is not acquire."
    )
    load_only = advice_about(message_passing("f.store(1, rel)", "a = f.load()"), "rc20")
    assert load_only[1].endswith("order: `a = f.load()` (line 5) is not acquire.")
    store_only = advice_about(message_passing("f.store(1)", "a = f.load(acq)"), "rc20")
    assert store_only[1].endswith("order: `f.store(1)` (line 3) is not release.")


def test_a_run_under_tso_takes_one_fence_in_the_thread_whose_write_waits():
    said = advice(persist(read(STORE_BUFFERING)).witness)
    assert said == [
        "A fence, `fence;` in TPL and `mfence` on x86, would forbid this run: in `t1` between `x.store(1)` "
        "(line 3) and `r = y.load()` (line 4)."
    ]
    fenced = STORE_BUFFERING.replace("x.store(1);", "x.store(1); fence;")
    assert advice(persist(read(fenced)).witness) != said
