"""Reports of cpp20 name the access that is not seq_cst, and propose to make it so."""

import pytest

from fencepost import robust
from fencepost.formats.tpl import read
from fencepost.report.advice import advice
from fencepost.report.explain import claim

LEFT = "fn left { local r; x.store(1, %s); %s r = y.load(%s); }"
RIGHT = "fn right { local s; y.store(1, %s); %s s = x.load(%s); }"


def witness(left, right):
    program = read("\n".join(["max_value 1; global x, y;", LEFT % left, RIGHT % right]))
    found = robust(program, "cpp20").witness
    assert found is not None
    return found


def test_the_store_that_is_not_seq_cst_is_named():
    found = witness(("rel", "", "sc"), ("sc", "", "sc"))
    words = "`r = y.load(sc)` is seq_cst but `x.store(1, rel)` is not, so that nothing orders the two"
    assert f"because {words}." in claim(found)
    assert advice(found) == ["To forbid this run, make `x.store(1, rel)` (line 2) seq_cst."]


def test_a_thread_with_its_fence_needs_nothing():
    found = witness(("sc", "", "acq"), ("rlx", "fence;", "rlx"))
    assert advice(found) == ["To forbid this run, make `r = y.load(acq)` (line 2) seq_cst."]


def test_where_nothing_is_seq_cst_a_fence_is_proposed():
    found = witness(("rel", "", "acq"), ("sc", "", "sc"))
    [said] = advice(found)
    assert said.startswith("To forbid this run, insert an SC fence")
    assert said.count("before") == 1


@pytest.mark.parametrize("mode", ["acq", "rlx"])
def test_a_seq_cst_store_is_not_asked_to_release(mode):
    program = read(
        "max_value 1; global x, y;\nfn a { x.store(1, sc); y.store(1, sc); }\n"
        f"fn b {{ local r, s; r = y.load({mode}); s = x.load({mode}); }}"
    )
    answer = robust(program, "cpp20")
    assert answer.holds == (mode == "acq")
    if answer.witness is not None:
        assert "acquire" in advice(answer.witness)[0]
        assert "release" not in advice(answer.witness)[0]
