"""Fences against TSO: `fix` finds sets that will do, and no smaller ones do, wherever fences are put."""

import random
from collections.abc import Iterable, Iterator
from itertools import combinations

import pytest

from fencepost.analyses.repair.changes import Change, apply
from fencepost.analyses.repair.either import fix_for_either
from fencepost.analyses.repair.fix import fix
from fencepost.analyses.robustness import robust
from fencepost.analyses.tso import persist
from fencepost.engine.search import Limits
from fencepost.formats import tpl
from fencepost.memory_models import TSO_CRITERIA
from fencepost.program import Program
from fencepost.verdicts.repair import MadePersistent, NotRepairable, Repaired, RepairUnknown
from tests.strategies import random_program


def read(text: str) -> Program:
    return tpl.read(text, "test.tpl")


def holds(program: Program, criterion: str) -> bool:
    if criterion == "either":
        return holds(program, "persistent") or holds(program, "robust")
    answer = persist(program) if criterion == "persistent" else robust(program, "tso", criterion=criterion)
    assert answer.holds is not None
    return answer.holds


def fences_everywhere(program: Program) -> Iterator[Change]:
    """A fence before each instruction of each function."""
    functions: dict[object, list[int]] = {}
    for number, thread in enumerate(program.threads):
        functions.setdefault(number if thread.copies is None else thread.family, []).append(number)
    for threads in functions.values():
        for pc in range(len(program.threads[threads[0]].code)):
            yield Change("sc-fence", tuple(threads), pc, "before")


def programs_to_repair(seeds: Iterable[int]) -> Iterator[tuple[int, Program, str]]:
    for seed in seeds:
        source = random.Random(seed)
        program = random_program(source, loop_free=source.random() < 0.6, threads=(2, 3))
        criterion = source.choice([*TSO_CRITERIA, "either", "either"])
        if sum(len(thread.code) for thread in program.threads) <= 24 and not holds(program, criterion):
            yield seed, program, criterion


def check_minimum(seed: int, program: Program, criterion: str) -> int:
    answer = fix(program, "tso", criterion=criterion, ignore_races=True)
    assert isinstance(answer, MadePersistent | Repaired)
    assert criterion in (answer.verdict, "trf", "either")
    assert answer.criterion == criterion
    assert answer.cost == answer.lower_bound
    assert answer.edits is not None
    assert answer.repaired is not None
    if criterion == "either":
        assert holds(tpl.read(answer.repaired, "repaired.tpl"), answer.verdict)
    assert holds(tpl.read(answer.repaired, "repaired.tpl"), criterion)
    places = list(fences_everywhere(program))
    for fewer in combinations(places, len(answer.edits) - 1):
        assert not holds(apply(program, fewer).program, criterion), f"seed {seed}:\n{tpl.write(program)}"
    return len(answer.edits)


def test_no_smaller_set_of_fences_will_do():
    sizes = [check_minimum(*case) for case in programs_to_repair(range(300))]
    assert len(sizes) > 60
    assert max(sizes) >= 3


@pytest.mark.slow
def test_no_smaller_set_of_fences_will_do_for_many_programs():
    assert len([check_minimum(*case) for case in programs_to_repair(range(300, 6000))]) > 1000


def test_every_fence_of_a_minimum_is_needed():
    """Of all minima, which `find_all` lists."""
    for _, program, criterion in programs_to_repair(range(150)):
        answer = fix(program, "tso", criterion=criterion, find_all=True, ignore_races=True)
        assert answer.minima
        assert all(len(edits) == len(answer.edits or ()) for edits in answer.minima)
        assert len(set(answer.minima)) == len(answer.minima)


SB = """global x, y;
fn a { local r; x.store(1); r = y.load(); }
fn b { local r; y.store(1); r = x.load(); }
"""


def test_store_buffering_needs_a_fence_in_each_thread():
    answer = fix(read(SB), "tso")
    assert isinstance(answer, MadePersistent)
    assert answer.criterion == "either"
    assert [(edit.function, edit.text) for edit in answer.edits or ()] == [("a", "fence"), ("b", "fence")]
    assert answer.cost == 20
    assert "+fn a { local r; x.store(1); fence; r = y.load(); }" in answer.diff


def test_a_robust_program_needs_no_fence_although_it_is_fragile():
    """The two writes reach memory in another order than under SC, but nobody sees that."""
    program = read(
        "global x, y, z;\nfn a { local r; y.store(1); r = x.load(); }\nfn b { x.store(1); z.store(1); }\n"
    )
    assert fix(program, "tso", criterion="robust").edits == ()
    assert len(fix(program, "tso", criterion="persistent").edits or ()) == 1
    either = fix(program, "tso")
    assert isinstance(either, Repaired)
    assert (either.criterion, either.edits, either.cost) == ("either", (), 0)


def test_a_persistent_program_needs_no_fence_although_it_is_not_robust():
    """Store buffering with values that are there already."""
    program = read(SB.replace("store(1)", "store(0)"))
    assert len(fix(program, "tso", criterion="robust").edits or ()) == 2
    either = fix(program, "tso")
    assert isinstance(either, MadePersistent)
    assert either.edits == ()


def test_all_minima_for_either_are_those_for_both():
    for _, program, criterion in programs_to_repair(range(150)):
        if criterion != "either":
            continue
        single = [
            fix(program, "tso", criterion=c, find_all=True, ignore_races=True) for c in TSO_CRITERIA[:2]
        ]
        least = min(answer.cost for answer in single)
        expected = {edits for answer in single if answer.cost == least for edits in answer.minima}
        either = fix(program, "tso", find_all=True, ignore_races=True)
        assert (either.cost, set(either.minima)) == (least, expected)


def test_one_criterion_undecided_leaves_either_open():
    known = fix(read(SB), "tso", criterion="robust")
    unknown = RepairUnknown(
        file="test.tpl",
        question="fix",
        model="tso",
        stats=known.stats,
        edits=None,
        cost=None,
        lower_bound=10,
        why="a limit",
    )

    def repair(criterion, limits, most=None):
        return unknown if criterion == "persistent" else known

    answer = fix_for_either(repair, Limits(), find_all=False)
    assert isinstance(answer, RepairUnknown)
    assert (answer.cost, answer.lower_bound, answer.why, answer.criterion) == (20, 10, "a limit", "either")


def test_without_fences_nothing_makes_it_persistent_or_robust():
    answer = fix(read(SB), "tso", without=["sc-fence"])
    assert isinstance(answer, NotRepairable)
    assert answer.witness is not None
    assert answer.criterion == "either"


def test_one_fence_where_ways_cross_does_the_work_of_two():
    """Either of two writes, then either of two reads: a fence in between, not one for each."""
    program = read(
        """max_value 1; global x, y, u, v;
fn a {
    local r;
    oneof({ x.store(1); }{ y.store(1); });
    oneof({ r = u.load(); }{ r = v.load(); });
}
fn b { local r; u.store(1); fence; r = x.load(); }
fn c { local r; v.store(1); fence; r = y.load(); }
"""
    )
    answer = fix(program, "tso")
    assert len(answer.edits or ()) == 1
    assert holds(read(answer.repaired or ""), "persistent")


LOOP = """max_value 1; global x, y;
fn a { local r; x.store(1); r = y.load(); while (r == 0) { r = y.load(); } }
fn b { local r; y.store(1); fence; r = x.load(); }
"""


def test_loops_can_be_made_to_cost_more():
    """The fence is outside the loop anyway; a price per loop does not change what it costs there."""
    plain, weighed = fix(read(LOOP), "tso"), fix(read(LOOP), "tso", loop_weight=10)
    assert plain.cost == weighed.cost == 10
    inside = read(
        """max_value 1; global x, y;
fn a { local r; while (r == 0) { x.store(1); r = y.load(); } }
fn b { local r; y.store(1); fence; r = x.load(); }
"""
    )
    assert fix(inside, "tso").cost == 10
    assert fix(inside, "tso", loop_weight=10).cost == 100


def test_a_limit_is_no_repair():
    answer = fix(read(SB), "tso", limits=Limits(states=2))
    assert isinstance(answer, RepairUnknown)
    assert answer.edits is None


@pytest.mark.parametrize(("model", "criterion"), [("ra", "persistent"), ("rc20", "trf"), ("tso", "drf")])
def test_criteria_that_do_not_go_with_the_model_are_refused(model, criterion):
    with pytest.raises(ValueError, match="does not go with"):
        fix(read(SB), model, criterion=criterion)
