"""Reductions do not change answers: subsumption, dead registers and search orders against none of them."""

import random

import pytest

from engine.against_definitions import check_against_definitions
from holdfast.analyses.robustness import robust
from holdfast.engine._native import Model, Order
from holdfast.engine._native import explore as native_explore
from holdfast.engine.explore import Limits, explore
from holdfast.engine.lower import lower
from holdfast.formats.tpl import read, write
from strategies import random_program

BATCH = 250
ORDERS = ["auto", "breadth-first", "depth-first", "largest-first"]
LIMITS = Limits(states=200_000)


def unreduced(program, model):
    """Whether the program is robust, with every register and every monitor kept."""
    code = lower(program, monitored=True, keep_registers=True)
    result = native_explore(code, Model[model.upper()], Order.BREADTH_FIRST, False, 10**6, 60.0, 10**9, None)
    return result.violation is None


@pytest.mark.parametrize("model", ["ra", "rc20"])
@pytest.mark.parametrize("first_seed", range(0, 500, BATCH))
def test_looping_programs_keep_their_verdict(first_seed, model):
    verdicts = set()
    for seed in range(first_seed, first_seed + BATCH):
        program = random_program(random.Random(seed), loop_free=False)
        expected = "robust" if unreduced(program, model) else "not-robust"
        verdicts.add(expected)
        for order in ORDERS:
            for subsumption in (True, False):
                answer = robust(program, model, limits=LIMITS, order=order, subsumption=subsumption)
                assert answer.verdict == expected, f"seed {seed}, {order}:\n{write(program)}"
    assert verdicts == {"robust", "not-robust"}


@pytest.mark.parametrize("order", ORDERS)
def test_witnesses_replay_in_every_order(order):
    for seed in range(BATCH):
        check_against_definitions(random_program(random.Random(seed)), order=order)


def test_subsumption_keeps_shortest_witnesses():
    for seed in range(BATCH):
        program = random_program(random.Random(seed))
        lengths = {
            len(answer.witness.events) if answer.witness else None
            for answer in (
                robust(program, order="breadth-first", subsumption=subsumption)
                for subsumption in (True, False)
            )
        }
        assert len(lengths) == 1


def test_subsumption_saves_states():
    program = read(
        """
        max_value 3;
        global next, serving;
        fn worker[3] {
            local ticket, now;
            while (1) {
                ticket = FADD(next, 1);
                wait(serving, ticket);
                now = serving.load();
                serving.store(now + 1);
            }
        }
        """
    )
    with_all, without = (explore(program, "ra", Limits(), subsumption=s).states for s in (True, False))
    assert with_all < without


def test_dead_registers_do_not_tell_states_apart():
    program = read("global x; fn t { local r; oneof({ r = 1; } { r = 2; } { r = 3; }); x.store(1); }")
    assert explore(program, "sc", Limits()).states == 2
