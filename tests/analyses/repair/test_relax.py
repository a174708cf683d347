"""`fencepost relax`: the cheapest orders are those that trying all of them finds."""

import itertools
import json
from random import Random

import pytest
from click.testing import CliRunner
from msgspec.structs import replace

from fencepost.analyses.repair.changes import DEFAULT_COSTS, apply
from fencepost.analyses.repair.relax import relax
from fencepost.analyses.repair.weakening import weakest
from fencepost.analyses.robustness import robust
from fencepost.analyses.safety.portfolio import verify
from fencepost.cli.commands.relax import relax as command
from fencepost.engine.search import Limits
from fencepost.errors import InputError
from fencepost.formats.properties import given_property
from fencepost.formats.tpl import read, write
from fencepost.program import Fence, Skip
from fencepost.verdicts.relax import NothingToRelax, Relaxed, RelaxedSafe, RelaxUnknown, UnsafeToRelax
from fencepost.verdicts.union import decode
from tests.analyses.repair.repairing import is_right
from tests.fenced_rings import fenced_ring
from tests.strategies import random_program

MOST_ORDERS = 9  # of a program; all subsets of more take too long
SB = """max_value 1;
global x, y;
fn left {
    local r;
    x.store(1, sc);
    fence;  // full
    r = y.load(sc);
}
fn right {
    local r;
    y.store(1, sc); fence(sc);
    r = x.load(sc);
}
"""


def drawn(seed):
    if seed % 2:
        return fenced_ring(seed, sc_percent=60)
    return random_program(Random(seed), loop_free=seed % 4 == 0, modes=True, sc_accesses=True)


def least_cost(start, will_do=None):
    """By trying all choices of orders, the cheap ones first."""
    changes = start.offered.changes
    chosen = [s for n in range(len(changes) + 1) for s in itertools.combinations(changes, n)]

    def cost(some):
        return sum(DEFAULT_COSTS[change.kind] for change in some)

    program = start.offered.program
    will_do = will_do or (lambda program, some: is_right(program, "cpp20", some))
    return next(cost(some) for some in sorted(chosen, key=cost) if will_do(program, some))


def compare(seeds, *, trade=False):
    compared = weaker = 0
    for seed in seeds:
        program = drawn(seed)
        start = weakest(program, "cpp20", trade=trade)
        if len(start.offered.changes) > MOST_ORDERS or not is_right(program, "cpp20"):
            continue
        compared += 1
        answer = relax(program, trade=trade)
        assert isinstance(answer, Relaxed)
        assert answer.cost == answer.lower_bound == least_cost(start), f"seed {seed}:\n{write(program)}"
        assert answer.cost_before - answer.cost == sum(one.saves for one in answer.weakenings)
        assert is_right(read(answer.relaxed, ""), "cpp20")
        # Each order that stays is needed, and the answer shows why.
        assert all(one.broken.witness or one.broken.race for one in answer.needed)
        weaker += bool(answer.weakenings)
    return compared, weaker


def test_no_choice_of_orders_is_cheaper():
    compared, weaker = compare(range(500))
    assert compared > 60
    assert weaker > compared / 2


def test_no_choice_of_traded_orders_is_cheaper():
    compared, _ = compare(range(500), trade=True)
    assert compared > 30


def forbidden_end(program, source):
    """That two registers of different threads do not end with two values, and often nothing else."""
    ends = [
        f"{thread.name}.{register} == {source.randint(0, program.max_value)}"
        for thread in source.sample(program.threads, k=min(2, len(program.threads)))
        for register in thread.registers[:1]
    ]
    return given_property(program, asserted=[f"!({' && '.join(ends)})"] if ends else [])


def compare_safety(seeds, *, trade=False):
    """How many programs were compared, and in how many less is needed than for robustness."""
    compared = cheaper = 0
    for seed in seeds:
        program = drawn(seed)
        start = weakest(program, "cpp20", trade=trade)
        if not 0 < len(start.offered.changes) <= MOST_ORDERS:
            continue
        wanted = forbidden_end(program, Random(seed))

        def is_safe(program, changes=(), wanted=wanted):
            return verify(apply(program, changes).program, "cpp20", wanted=wanted).holds

        if wanted.at_end is None or not is_safe(program):
            continue
        compared += 1
        answer = relax(program, trade=trade, keep="races,assertions", wanted=wanted)
        assert isinstance(answer, RelaxedSafe)
        least = least_cost(start, is_safe)
        assert answer.cost == answer.lower_bound == least, f"seed {seed}:\n{write(program)}"
        assert is_safe(read(answer.relaxed, ""))
        assert all(one.broken.holds is False for one in answer.needed)
        cheaper += not is_right(program, "cpp20") or answer.cost < relax(program, trade=trade).cost
    return compared, cheaper


def test_no_choice_of_orders_that_keeps_the_program_safe_is_cheaper():
    compared, cheaper = compare_safety(range(200))
    assert compared > 30
    assert cheaper > 10


def test_no_choice_of_traded_orders_that_keeps_the_program_safe_is_cheaper():
    compared, _ = compare_safety(range(200, 300), trade=True)
    assert compared > 5


@pytest.mark.slow
@pytest.mark.parametrize("first", range(1000, 4000, 500))
def test_no_choice_of_orders_that_keeps_the_program_safe_is_cheaper_by_the_thousand(first):
    compare_safety(range(first, first + 500))


def test_a_program_that_is_safe_but_not_robust_can_be_relaxed_if_that_is_all_it_keeps():
    program = read(SB, "sb.tpl")
    with pytest.raises(InputError, match="there is nothing to keep"):
        relax(program, keep="races,assertions")
    asserted = read(SB.replace("y.load(sc);", "y.load(sc); assert(r <= 1);", 1), "sb.tpl")
    answer = relax(asserted, keep="races,assertions")
    assert isinstance(answer, RelaxedSafe)
    assert (answer.cost, answer.criterion, answer.exit_code) == (0, "safe", 0)
    assert relax(asserted).cost == 20


def test_what_the_file_forbids_is_kept(tmp_path):
    file = tmp_path / "sb.tpl"
    file.write_text("// assert: !(left.r == 0 && right.r == 0)\n" + SB, encoding="utf-8")
    result = CliRunner().invoke(command, [str(file), "--keep", "races,assertions"])
    assert result.exit_code == 0, result.output
    assert "safe under cpp20 with other orders at 4 places (cost 20 instead of 40)" in result.output
    assert "which is all that was asked: it need not be robust" in " ".join(result.output.split())
    assert "Deadlocks were not looked for." in result.output


def test_a_program_that_goes_wrong_is_not_relaxed(tmp_path):
    file = tmp_path / "racy.tpl"
    file.write_text("max_value 1; na d; fn t[2] { d.nastore(1); }\n", encoding="utf-8")
    result = CliRunner().invoke(command, [str(file), "--keep", "races,assertions"])
    assert result.exit_code == 1
    assert "unsafe under cpp20" in result.output
    assert "Nothing is relaxed: the program goes wrong as it is." in result.output
    told = CliRunner().invoke(command, [str(file), "--keep", "races,assertions", "--json"]).output
    assert isinstance(decode(told), UnsafeToRelax)


def test_a_limit_is_no_answer_where_safety_is_kept():
    program = read(SB, "sb.tpl")
    wanted = given_property(program, asserted=["!(left.r == 0 && right.r == 0)"])
    answer = relax(program, keep="races,assertions", wanted=wanted, limits=Limits(states=2))
    assert isinstance(answer, RelaxUnknown)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(1000, 13_000, 2000))
def test_no_choice_of_orders_is_cheaper_by_the_thousand(first):
    compared, _ = compare(range(first, first + 2000))
    assert compared > 200


@pytest.mark.parametrize("seed", range(100))
def test_with_all_orders_given_back_the_program_is_what_it_was(seed):
    program = drawn(seed)
    offered, had = weakest(program, "cpp20")
    assert not any(isinstance(i, Fence) for thread in offered.program.threads for i in thread.code)
    given_back = apply(offered.program, [offered.changes[number] for number in had])
    assert given_back.program == replace(program, source=None)


def test_store_buffering_needs_its_fences_or_its_orders():
    answer = relax(read(SB, "sb.tpl"))
    assert (answer.cost_before, answer.cost) == (40, 20)
    if_fences_are_expensive = relax(read(SB, "sb.tpl"), costs={"sc-fence": 30})
    assert if_fences_are_expensive.cost == 20
    assert [one.text for one in if_fences_are_expensive.weakenings] == ["", ""]  # the fences go


def test_a_fence_that_goes_takes_its_line_with_it_unless_that_has_more():
    answer = relax(read(SB, "sb.tpl"), costs={"sc-fence": 30})
    assert answer.in_place
    assert answer.relaxed == SB.replace("fence;  // full", "// full").replace(" fence(sc);", "")
    alone = relax(read(SB.replace("  // full", ""), "sb.tpl"), costs={"sc-fence": 30})
    assert "    x.store(1, sc);\n    r = y.load(sc);" in alone.relaxed


def test_a_fence_can_become_weaker():
    text = """max_value 1; global d, f;
fn writer { d.store(1); fence(sc); f.store(1); }
fn reader { local r; wait(f, 1); fence(sc); r = d.load(); }
"""
    answer = relax(read(text, "mp.tpl"))
    assert [one.text for one in answer.weakenings] == ["fence(rel)", "fence(acq)"]
    assert [one.text for one in answer.needed] == ["", ""]


def test_a_fence_can_be_traded_for_stronger_accesses():
    text = SB.replace("x.store(1, sc)", "x.store(1, rlx)").replace("load(sc)", "load(rlx)")
    costs = {"sc-fence": 30}
    program = read(text.replace("y.store(1, sc)", "y.store(1, rlx)"), "sb.tpl")
    assert relax(program, costs=costs).cost == 60
    traded = relax(program, costs=costs, trade=True)
    assert traded.cost == 20
    assert traded.relaxed.count("seq_cst)") == 4
    assert "fence" not in traded.relaxed


def test_labels_of_a_fence_stay_where_it_was():
    text = """max_value 1; global x;
fn t { local r; r = x.load(); if (r) goto there; x.store(1);
there:
    fence;
    r = x.load(sc);
}
"""
    answer = relax(read(text, "label.tpl"))
    assert answer.cost == 0
    assert "there:\n    r = x.load(rlx);" in answer.relaxed


def test_a_failing_compare_exchange_keeps_no_order_that_it_does_not_need():
    text = """max_value 1; global l; na d;
fn t[2] { local r, v;
    do { r = CAS(l, 0, 1, sc); } while (r != 0);
    v = d.naload(); d.nastore(1 - v);
    l.store(0, sc); }
"""
    answer = relax(read(text, "lock.tpl"))
    assert [one.text for one in answer.weakenings] == [
        "r = CAS(l, 0, 1, acq, rlx, rlx)",
        "l.store(0, rel)",
    ]
    assert answer.cost == 2


def test_a_program_that_is_not_robust_or_racy_is_not_relaxed():
    not_robust = relax(
        read(SB.replace("fence;", "").replace("fence(sc);", "").replace("sc", "rlx"), "sb.tpl")
    )
    assert isinstance(not_robust, NothingToRelax)
    assert not_robust.witness is not None
    racy = relax(read("max_value 1; na d; fn t[2] { d.nastore(1); }", "racy.tpl"))
    assert isinstance(racy, NothingToRelax)
    assert racy.race is not None
    assert racy.exit_code == 1


def test_a_limit_is_no_answer():
    answer = relax(read(SB, "sb.tpl"), limits=Limits(states=2))
    assert isinstance(answer, RelaxUnknown)
    assert answer.exit_code == 3


@pytest.mark.parametrize("costs", [{}, {"sc-load": 0.5}])
def test_the_relaxed_program_is_not_stronger_anywhere(costs):
    """Nor is anything added: relaxing twice changes nothing."""
    for seed in range(40):
        program = drawn(seed)
        if is_right(program, "cpp20"):
            once = relax(program, costs=costs)
            again = relax(read(once.relaxed, ""), costs=costs)
            assert again.cost == once.cost
            assert not again.weakenings


def test_the_command_prints_what_can_be_weaker_and_why_the_rest_cannot(tmp_path):
    file = tmp_path / "sb.tpl"
    file.write_text(SB, encoding="utf-8")
    result = CliRunner().invoke(command, [str(file)])
    assert result.exit_code == 0
    assert "with other orders at 4 places (cost 20 instead of 40)" in result.output
    assert "turn `x.store(1, sc)` into `x.store(1, rlx)`" in result.output
    assert "as `fence(acq_rel)`, thread `right` can read" in result.output
    assert "+    x.store(1, rlx);" in result.output


def test_the_command_writes_the_program_and_not_over_its_file(tmp_path):
    file = tmp_path / "sb.tpl"
    file.write_text(SB, encoding="utf-8")
    refused = CliRunner().invoke(command, [str(file), "--output", str(file)])
    assert refused.exit_code == 2
    assert file.read_text(encoding="utf-8") == SB
    out = tmp_path / "relaxed.tpl"
    assert CliRunner().invoke(command, [str(file), "-q", "--output", str(out)]).exit_code == 0
    assert robust(read(out.read_text(encoding="utf-8"), "relaxed.tpl"), "cpp20").holds


def test_the_json_form_comes_back(tmp_path):
    file = tmp_path / "sb.tpl"
    file.write_text(SB, encoding="utf-8")
    told = CliRunner().invoke(command, [str(file), "--json"]).output
    assert json.loads(told)["question"] == "relax"
    assert isinstance(decode(told), Relaxed)


def test_private_accesses_need_no_order():
    answer = relax(
        read("max_value 1; global x; fn t { local r; x.store(1, sc); r = x.load(sc); }", "one.tpl")
    )
    assert answer.cost == 0
    assert not any(isinstance(i, Skip) for thread in read(answer.relaxed, "").threads for i in thread.code)
