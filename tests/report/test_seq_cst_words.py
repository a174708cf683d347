"""Reports of cpp20 name the access that is not seq_cst, and propose to make it so."""

import pytest

from fencepost import robust
from fencepost.formats.tpl import read
from fencepost.report.advice import advice
from fencepost.report.explain import claim
from fencepost.report.picture import svg
from fencepost.report.text import answer as text
from fencepost.report.total_order import explain_order

LEFT = "fn left { local r; x.store(1, %s); %s r = y.load(%s); }"
RIGHT = "fn right { local s; y.store(1, %s); %s s = x.load(%s); }"


def store_buffering(left, right):
    return read("\n".join(["max_value 1; global x, y;", LEFT % left, RIGHT % right]))


def witness(left, right):
    found = robust(store_buffering(left, right), "cpp20").witness
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


def test_what_s_orders_on_the_cycle_is_told_and_what_it_does_not_have():
    found = witness(("rel", "", "sc"), ("sc", "", "sc"))
    assert explain_order(found) == (
        "S, the total order of seq_cst accesses and fences, has `r = y.load(sc)` (left, line 2) before "
        "`y.store(1, sc)` (right, line 3) before `s = x.load(sc)` (right, line 3). `x.store(1, rel)` "
        "(left, line 2) is not seq_cst, so S does not have it."
    )


def test_where_s_orders_nothing_of_the_cycle_that_is_told():
    found = witness(("rel", "", "sc"), ("rel", "", "sc"))
    assert found.order == ()
    assert "leaves `r = y.load(sc)` (left, line 2) and `s = x.load(sc)`" in explain_order(found)


def test_fences_between_accesses_of_the_cycle_are_in_the_order():
    found = witness(("sc", "", "acq"), ("rlx", "fence;", "rlx"))
    [edge] = found.order
    assert {found.events[edge.source].text, found.events[edge.target].text} == {"fence", "x.store(1, sc)"}


def test_edges_of_s_between_threads_are_drawn():
    found = witness(("rel", "", "sc"), ("sc", "", "sc"))
    assert "fr+S" in svg.render(found)
    assert "S: comes first in the order of seq_cst" in svg.render(found)


def test_where_nothing_is_seq_cst_nothing_is_said_of_s():
    found = witness(("rel", "", "acq"), ("rel", "", "acq"))
    assert explain_order(found) == ""
    assert "S:" not in svg.render(found)


def test_the_terminal_tells_the_order_below_the_cycle():
    program = store_buffering(("rel", "", "sc"), ("sc", "", "sc"))
    said = text.render(robust(program, "cpp20"), color=False, width=400)
    assert "S, the total order of seq_cst accesses and fences, has" in said
