"""The random programs themselves: do they cover what the tests rely on?"""

import random
import time
from typing import get_args

import pytest
from hypothesis import HealthCheck, find, given, settings

from fencepost.models.rc20 import races as rc20_races
from fencepost.models.robustness import non_robustness_witness
from fencepost.models.sc import findings, races
from fencepost.models.threads import DIVERGED, ProgramLts
from fencepost.program import Fence, Instruction, Mode, ThreadId, expressions_of, jump_targets, subexpressions
from tests.models.strength import weakened
from tests.strategies import programs, random_program


def drawn(count, **limits):
    return [random_program(random.Random(seed), **limits) for seed in range(count)]


def instructions(programs):
    return [instruction for p in programs for thread in p.threads for instruction in thread.code]


def test_all_instructions_occur():
    kinds = {type(instruction) for instruction in instructions(drawn(500))}
    assert kinds == set(get_args(Instruction))


def test_all_fences_occur():
    modes = {instruction.mode for instruction in instructions(drawn(500)) if isinstance(instruction, Fence)}
    assert modes == {Mode.ACQ, Mode.REL, Mode.ACQ_REL, Mode.SC}


def test_loop_free_programs_jump_forward_only():
    for program in drawn(300):
        for thread in program.threads:
            for pc, instruction in enumerate(thread.code):
                assert all(target > pc for target in jump_targets(instruction))


def test_programs_with_loops_jump_back_and_diverge():
    looping = drawn(500, loop_free=False)
    back = diverging = 0
    for program in looping:
        for number, thread in enumerate(program.threads):
            jumps = [t <= pc for pc, code in enumerate(thread.code) for t in jump_targets(code)]
            back += any(jumps)
            lts = ProgramLts(program).threads[number]
            diverging += any(state.pc == DIVERGED for state in lts.start.states)
    assert back > 100
    assert diverging > 5


def test_shapes_vary():
    programs = drawn(500)
    assert {len(program.threads) for program in programs} == {2, 3, 4}
    assert {program.max_value for program in programs} == {1, 2, 3}
    assert {len(program.cells) for program in programs} == {1, 2, 3, 4}
    assert any(thread.copies for program in programs for thread in program.threads)
    assert any(location.is_array for program in programs for location in program.locations)
    assert any(not all(program.atomic_cells) for program in programs)
    assert any(
        isinstance(part, ThreadId)
        for instruction in instructions(programs)
        for expression in expressions_of(instruction)
        for part in subexpressions(expression)
    )


def test_non_atomic_cells_can_be_left_out():
    assert all(all(program.atomic_cells) for program in drawn(200, non_atomic=False))


def test_a_good_share_is_not_robust_and_some_race_or_go_wrong():
    programs = drawn(250)
    not_robust = sum(non_robustness_witness(program) is not None for program in programs)
    assert 0.25 <= not_robust / len(programs) <= 0.6
    assert sum(bool(races(program)) for program in programs) >= 10
    assert {finding.kind for program in programs for finding in findings(program)} == {
        "assertion",
        "division-by-zero",
        "index-out-of-range",
    }


def test_with_modes_synchronisation_decides():
    """Robustness, races, and how often modes and fences alone make the difference."""
    programs = drawn(400, modes=True)
    fences = [i.mode for i in instructions(programs) if isinstance(i, Fence)]
    assert min(fences.count(mode) for mode in (Mode.ACQ, Mode.REL, Mode.ACQ_REL, Mode.SC)) >= 50
    not_robust = [p for p in programs if non_robustness_witness(p, "rc20") is not None]
    assert 0.15 <= len(not_robust) / len(programs) <= 0.5
    assert sum(non_robustness_witness(program) is None for program in not_robust) >= 20
    racy = [program for program in programs if rc20_races(program)]
    assert 0.15 <= len(racy) / len(programs) <= 0.4
    assert sum(not races(program) for program in racy) >= 20
    relaxed = (weakened(program, random.Random(0), 100) for program in programs if program not in racy)
    assert sum(bool(rc20_races(program)) for program in relaxed) >= 10


@settings(max_examples=50, deadline=None)
@given(programs(loop_free=False))
def test_the_strategy_draws_valid_programs(program):
    assert 2 <= len(program.threads) <= 4


@pytest.mark.slow
def test_the_strategy_shrinks_to_a_plain_program():
    smallest = find(
        programs(threads=(2, 2)),
        lambda program: non_robustness_witness(program) is not None,
        settings=settings(max_examples=2000, suppress_health_check=list(HealthCheck), deadline=None),
    )
    assert sum(len(thread.code) for thread in smallest.threads) <= 6


def test_drawing_is_fast():
    start = time.process_time()
    drawn(500)
    assert time.process_time() - start < 5
