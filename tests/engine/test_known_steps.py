"""Steps that the engine keeps and looks up, and those that it runs each time, lead to the same states."""

import pytest

from fencepost.analyses.robustness import robust
from fencepost.engine._native import Outcome
from fencepost.engine.search import EVERY_STATE, Limits, explore
from fencepost.formats.tpl import read
from fencepost.models.witnesses import replay
from fencepost.verdicts import NotRobust


@pytest.mark.parametrize("model", ["ra", "rc20"])
def test_large_values_lead_to_as_many_states_as_small_ones(model):
    def search(first: int):
        one, two, three = first + 1, first + 2, first + 3
        program = read(
            f"""
            max_value 2000;
            global x, y;
            fn t1 {{
                local r;
                r = XCHG(x, {one}); r = FADD(x, 1); r = XCHG(y, {one}); r = FADD(y, 0); r = XCHG(x, r);
            }}
            fn t2 {{
                local r;
                r = CAS(x, {two}, {three}); if (r != {two}) {{ r = XCHG(y, {two}); }} BCAS(y, {one}, {two});
            }}
            fn t3 {{ local r, s; r = FADD(x, 0); s = FADD(y, 0); if (r == s) {{ r = XCHG(x, {two}); }} }}
            """
        )
        result = explore(program, model, Limits(), tactics=EVERY_STATE)
        assert result.outcome == Outcome.COMPLETE
        return result.states, result.transitions

    assert search(0) == search(100) == search(1000)


def test_a_program_that_does_nothing_twice_is_searched_to_its_end():
    program = read(
        """
        max_value 140000;
        global x;
        fn t { local i; while (i < 140000) { i = i + 1; x.store(i % 2); } }
        """
    )
    result = explore(program, "ra", Limits(), tactics=EVERY_STATE)
    assert result.outcome == Outcome.COMPLETE
    assert result.states == 140_001


def test_choices_between_fences_are_replayed():
    program = read(
        """
        global x, y;
        fn t1 {
            local r;
            x.store(1, rlx);
            oneof({ fence(acq); } { fence(rel); } { skip; });
            y.store(1, rlx);
        }
        fn t2 { local r, s; r = y.load(rlx); s = x.load(rlx); }
        """
    )
    answer = robust(program, model="rc20", order="breadth-first")
    assert isinstance(answer, NotRobust)
    replay(program, answer.witness, "rc20")
