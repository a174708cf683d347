"""`fix` against trying all sets of changes, and the answers it gives."""

from pathlib import Path
from random import Random

import msgspec
import pytest

from fencepost.analyses.repair.changes import (
    DEFAULT_COSTS,
    Change,
    Kind,
    candidates,
    kinds_for,
    strengthened,
)
from fencepost.analyses.repair.checks import FixProgress
from fencepost.analyses.repair.costs import Prices
from fencepost.analyses.repair.edits import edits_of
from fencepost.analyses.repair.fix import fix
from fencepost.engine.search import Limits
from fencepost.formats import load, tpl
from fencepost.program import CellAccess, Fence, Instruction, Mode, Position, Program, access_modes
from fencepost.report.export.as_json import encode
from fencepost.report.html.page import page
from fencepost.report.text.repair import render
from fencepost.verdicts.repair import Edit, NotRepairable, Repaired, RepairUnknown, StillFragile
from tests.analyses.repair.repairing import (
    cost_of,
    is_right,
    is_robust,
    minima_by_trying_all,
    programs_to_repair,
    repaired_programs,
)
from tests.strategies import random_program

SB = """max_value 1; global x, y;
fn left  { local r; x.store(1); r = y.load(); }
fn right { local r; y.store(1); r = x.load(); }
"""
MP = """max_value 1; global data, flag;
fn producer { data.store(1); flag.store(1); }
fn consumer { local f, d; f = flag.load(); d = data.load(); }
"""
TWO_PLUS_TWO_W = """max_value 2; global x, y;
fn left { x.store(1); y.store(2); }
fn right { y.store(1); x.store(2); }
"""
PETERSON = """max_value 1; global flag0, flag1, turn;
fn t0 {
    local f, t;
    flag0.store(1);
    turn.store(1);
    f = flag1.load();
    t = turn.load();
    while (f == 1 && t == 1) {
        f = flag1.load();
        t = turn.load();
    }
    flag0.store(0);
}
fn t1 {
    local f, t;
    flag1.store(1);
    turn.store(0);
    f = flag0.load();
    t = turn.load();
    while (f == 1 && t == 0) {
        f = flag0.load();
        t = turn.load();
    }
    flag1.store(0);
}
"""
DEKKER = """max_value 1; global flag0, flag1, turn;
fn t0 {
    local f, t;
start:
    flag0.store(1);
    f = flag1.load();
    while (f == 1) {
        t = turn.load();
        if (t != 0) { flag0.store(0); wait(turn, 0); flag0.store(1); }
        f = flag1.load();
    }
    turn.store(1);
    flag0.store(0);
    goto start;
}
fn t1 {
    local f, t;
start:
    flag1.store(1);
    f = flag0.load();
    while (f == 1) {
        t = turn.load();
        if (t != 1) { flag1.store(0); wait(turn, 1); flag1.store(1); }
        f = flag0.load();
    }
    turn.store(0);
    flag1.store(0);
    goto start;
}
"""
# Robust, but with SC fences in the gaps of `first` and `second` it is not any more.
HURT_BY_FENCES = """max_value 1; global x, y, z, w;
fn first { x.store(1, rel); z.store(1, rel); }
fn second { local q, r; q = w.load(acq); r = y.load(acq); }
fn third { local s; y.store(1, rel); s = x.load(acq); }
fn others { local s; w.store(1, rel); s = z.load(acq); }
"""
BIG = """max_value 3; global a, b, c, d;
fn p[3] { local r, i; while (i < 3) {
    a.store(tid); r = b.load(); b.store(tid); r = c.load(); c.store(tid); r = d.load(); d.store(tid);
    r = a.load(); i = i + 1; } }
"""


def read(text: str) -> Program:
    return tpl.read(text, "test.tpl")


def done(edits: tuple[Edit, ...] | None) -> list[tuple[int, str]]:
    assert edits is not None
    return [(edit.line, edit.text) for edit in edits]


def compare_with_trying_all(seeds: range, most_changes: int, models: tuple[str, ...] = ("ra", "rc20")) -> int:
    """How many programs were compared."""
    compared = 0
    for number, (program, model) in enumerate(programs_to_repair(seeds, models)):
        source = Random(number)
        without: list[Kind] = []
        kinds = list(kinds_for(model))
        source.shuffle(kinds)
        while len(offered := candidates(program, model, set(kinds) - set(without))) > most_changes:
            without.append(kinds[len(without)])
        answer = fix(program, model, without=without, find_all=True)
        expected = minima_by_trying_all(program, model, offered)
        prices = Prices({})
        assert set(answer.minima) == {
            edits_of(program, sorted(minimum, key=offered.index), prices) for minimum in expected
        }
        assert isinstance(answer, Repaired if expected else NotRepairable)
        if expected:
            assert answer.cost == answer.lower_bound == cost_of(list(next(iter(expected))))
        compared += 1
    return compared


def test_minima_are_those_found_by_trying_all_sets() -> None:
    assert compare_with_trying_all(range(250), most_changes=8) > 50


@pytest.mark.slow
def test_minima_are_those_found_by_trying_all_sets_of_more_changes() -> None:
    assert compare_with_trying_all(range(1000, 4000), most_changes=9) > 700
    assert compare_with_trying_all(range(1000, 4000), most_changes=9, models=("cpp20",)) > 500


def test_minima_under_cpp20_are_those_found_by_trying_all_sets() -> None:
    assert compare_with_trying_all(range(60), most_changes=8, models=("cpp20",)) > 12


def changes_in(program: Program, model: str, edits: tuple[Edit, ...] | None) -> list[Change]:
    """The changes that the edits consist of; statements are told apart by their places."""
    sides = {"insert-before": "before", "replace": None, "insert-after": "after"}
    assert edits is not None
    made = {
        (edit.line, edit.column, sides[edit.action], kind, edit.function)
        for edit in edits
        for kind in edit.kinds
    }

    def place(change: Change) -> tuple[int, int, str | None, str, str]:
        thread = program.threads[change.threads[0]]
        at: Position = thread.code[change.pc].at
        return at.line, at.column, change.side, change.kind, thread.family

    return [change for change in candidates(program, model) if place(change) in made]


def test_every_change_of_a_minimum_is_needed() -> None:
    for program, model, answer in repaired_programs(range(300, 450)):
        changes = changes_in(program, model, answer.edits)
        assert answer.cost == cost_of(changes)
        assert is_right(program, model, changes)
        for change in changes:
            assert not is_right(program, model, [other for other in changes if other != change])


def test_the_repaired_text_is_right() -> None:
    for _, model, answer in repaired_programs(range(500, 560)):
        assert answer.repaired is not None
        assert is_right(tpl.read(answer.repaired), model)


@pytest.mark.parametrize("model", ["ra", "rc20"])
def test_store_buffering_takes_two_sc_fences(model: str) -> None:
    answer = fix(read(SB), model)
    assert isinstance(answer, Repaired)
    assert done(answer.edits) == [(2, "fence"), (3, "fence")]
    assert answer.cost == answer.lower_bound == 20
    assert answer.exit_code == 0
    assert answer.proof is not None
    assert answer.proof.states > 0


def test_only_the_weak_store_of_dekker_becomes_seq_cst() -> None:
    text = """max_value 1; global x, y;
fn a { local r; x.store(1, rel); r = y.load(sc); }
fn b { local r; y.store(1, sc); r = x.load(sc); }
"""
    answer = fix(read(text))
    assert answer.model == "cpp20"
    assert done(answer.edits) == [(2, "x.store(1, seq_cst)")]
    assert answer.repaired == text.replace("x.store(1, rel)", "x.store(1, seq_cst)")
    assert done(fix(read(text), without=["sc-store", "exchange"]).edits) == [(2, "fence")]


def test_message_passing_takes_a_release_store_and_an_acquire_load() -> None:
    answer = fix(read(MP), "rc20", find_all=True)
    assert done(answer.edits) == [(2, "flag.store(1, rel)"), (3, "f = flag.load(acq)")]
    assert len(answer.minima) == 1


def test_the_two_sides_of_message_passing_are_priced_separately() -> None:
    answer = fix(read(MP), "rc20", costs={"acquire-load": 3, "release-store": 2}, find_all=True)
    assert answer.cost == 4
    assert {tuple(done(minimum)) for minimum in answer.minima} == {
        ((2, "flag.store(1, rel)"), (3, "fence(acq)")),
        ((2, "fence(rel)"), (3, "fence(acq)")),
    }


def test_a_compare_exchange_can_be_strengthened_where_it_fails_alone() -> None:
    program = read(
        """max_value 7; global x, d;
        fn a { d.store(1); x.store(1, rel); }
        fn b { local r; CAS(x, 0, 7, acq, rel, rlx); r = d.load(); }
        """
    )
    answer = fix(program, "rc20", find_all=True)
    assert answer.cost == 1
    assert [done(minimum) for minimum in answer.minima] == [[(3, "CAS(x, 0, 7, acq, rel)")]]
    assert answer.edits is not None
    assert answer.edits[0].kinds == ("acquire-failure",)
    fence = fix(program, "rc20", without=["acquire-failure"])
    assert done(fence.edits) == [(3, "fence(acq)")]


def test_fences_of_both_kinds_at_one_place_are_one_fence() -> None:
    program = read(
        """max_value 1; global x, y, z;
        fn a { x.store(1); y.store(1, rel); }
        fn b { local r; r = y.load(); z.store(1); }
        fn c { local r, s; r = z.load(acq); s = x.load(); }
        """
    )
    cheap_fences = {"acquire-load": 9, "release-store": 9, "acquire-rmw": 9, "release-rmw": 9}
    answer = fix(program, "rc20", costs=cheap_fences)
    assert done(answer.edits) == [(3, "fence(acq_rel)")]
    assert answer.cost == 4
    assert answer.edits is not None
    assert answer.edits[0].kinds == ("acquire-fence", "release-fence")


def test_writes_that_overtake_each_other_become_exchanges() -> None:
    answer = fix(read(TWO_PLUS_TWO_W), "ra")
    assert answer.cost == 8
    assert answer.edits is not None
    assert [edit.kinds for edit in answer.edits] == [("exchange",)]


def test_peterson_takes_exchanges_of_turn() -> None:
    answer = fix(read(PETERSON), "ra", find_all=True)
    assert done(answer.edits) == [(5, "exchange(turn, 1)"), (17, "exchange(turn, 0)")]
    assert answer.cost == 16
    assert len(answer.minima) == 1
    fences = fix(read(PETERSON), "ra", without=["exchange"])
    assert fences.edits is not None
    assert {edit.kinds for edit in fences.edits} == {("sc-fence",)}
    assert (fences.cost or 0) > 16


def test_a_fence_outside_a_loop_is_preferred() -> None:
    program = read(
        """max_value 1; global x, y;
        fn a {
            local r;
            x.store(1);
            while (r == 0) {
                r = y.load();
            }
        }
        fn b {
            local r;
            y.store(1);
            while (r == 0) {
                r = x.load();
            }
        }
        """
    )
    answer = fix(program, "ra")
    assert answer.edits is not None
    assert [(edit.line, edit.action) for edit in answer.edits] == [(4, "insert-after"), (11, "insert-after")]


def test_a_function_that_makes_several_threads_is_changed_once() -> None:
    program = read("max_value 1; global x[2]; fn t[2] { local r; x[tid].store(1); r = x[1 - tid].load(); }")
    answer = fix(program, "ra")
    assert done(answer.edits) == [(1, "fence")]
    assert answer.cost == 10


def test_a_robust_program_is_left_alone() -> None:
    text = "max_value 1;  global x; // as it is\nfn t { x.store(1); }\n"
    answer = fix(read(text))
    assert isinstance(answer, Repaired)
    assert (answer.edits, answer.cost, answer.diff, answer.repaired) == ((), 0, "", text)


def test_sc_fences_can_make_a_program_worse() -> None:
    """What the search has to reckon with: more is not always better."""
    program = read(HURT_BY_FENCES)
    assert is_robust(program, "ra")
    fences = [change for change in candidates(program, "ra") if change.kind == "sc-fence"]
    assert not is_robust(program, "ra", fences[:2])


def test_fences_that_hurt_are_not_inserted_even_if_they_cost_nothing() -> None:
    """Store buffering beside a part that is robust only as long as nobody inserts fences there."""
    program = read(
        HURT_BY_FENCES.replace("global ", "global u, v, ")
        + "fn l { local r; u.store(1, rel); r = v.load(acq); }"
        + "fn m { local r; v.store(1, rel); r = u.load(acq); }"
    )
    answer = fix(program, "ra", costs={"sc-fence": 0})
    assert isinstance(answer, Repaired)
    assert done(answer.edits) == [(6, "fence"), (6, "fence")]


def test_without_the_changes_it_takes_a_program_cannot_be_repaired() -> None:
    answer = fix(read(SB), "ra", without=["sc-fence"])
    assert isinstance(answer, NotRepairable)
    assert answer.exit_code == 1
    assert answer.edits is None
    assert answer.witness is not None
    assert answer.witness.access.text.startswith("r = ")


RACY_SB = """max_value 1; global x, y; na d;
fn left  { local r; d.nastore(1); x.store(1); r = y.load(); }
fn right { local r; d.nastore(0); y.store(1); r = x.load(); assert(r == 1); }
"""


@pytest.mark.parametrize("model", ["ra", "rc20", "tso"])
def test_a_race_that_only_a_lock_could_repair_leaves_no_repair(model: str) -> None:
    answer = fix(read(RACY_SB), model)
    assert isinstance(answer, NotRepairable | StillFragile)
    assert answer.race is not None
    assert (answer.edits, answer.witness, answer.exit_code) == (None, None, 1)
    page = render(answer, color=False, width=100)
    assert page.startswith(f"test.tpl: not repairable under {model}, with a data race")
    assert "No set of the allowed changes" in page


def test_races_and_failing_assertions_of_the_repaired_program_are_told() -> None:
    answer = fix(read(RACY_SB), "ra", ignore_races=True)
    assert isinstance(answer, Repaired)
    assert answer.cost == 20
    assert answer.race is not None
    assert answer.assertion is not None
    assert answer.exit_code == 1


RELAXED_MESSAGE = """max_value 1; global flag; na d;
fn producer { d.nastore(1); flag.store(1); }
fn consumer { local r; wait(flag, 1); r = d.naload(); }
"""


def test_a_race_is_repaired_where_a_message_is_passed() -> None:
    program = read(RELAXED_MESSAGE)
    assert is_robust(program, "rc20")
    answer = fix(program, "rc20", find_all=True)
    assert isinstance(answer, Repaired)
    assert done(answer.edits) == [(2, "flag.store(1, rel)"), (3, "wait(flag, 1, acq)")]
    assert (answer.cost, answer.race, answer.exit_code, len(answer.minima)) == (2, None, 0, 1)
    fences = fix(program, "rc20", without=["acquire-load", "release-store"])
    assert done(fences.edits) == [(2, "fence(rel)"), (3, "fence(acq)")]
    assert fix(program, "rc20", ignore_races=True).edits == ()


def test_nothing_needs_to_be_changed_is_never_said_of_a_race() -> None:
    racy = fix(read("na d; fn a { d.nastore(1); } fn b { d.nastore(2); }"), "ra", ignore_races=True)
    assert racy.edits == ()
    assert "Nothing needs to be changed" not in page(racy)
    assert "robust, but it has a data race" in page(racy)
    assert "Nothing needs to be changed" in page(fix(read("global x; fn a { x.store(1); }"), "ra"))


def test_what_is_repaired_for_ra_is_robust_under_rc20_if_all_accesses_carry_modes() -> None:
    repaired = 0
    for seed in range(300):
        program = random_program(Random(seed), loop_free=seed % 3 > 0, threads=(2, 3), modes=seed % 2 > 0)
        repaired += is_repaired_for_rc20_too(program)
    assert repaired > 50


def test_so_is_what_is_repaired_in_the_examples() -> None:
    folder = Path(__file__).parents[3] / "examples" / "litmus"
    assert sum(is_repaired_for_rc20_too(load(str(path))) for path in sorted(folder.glob("*.tpl"))) > 10


def is_repaired_for_rc20_too(program: Program) -> bool:
    """Whether `fix` changed the program with all its modes made strong."""
    answer = fix(with_all_modes(program), "ra", ignore_races=True)
    assert isinstance(answer, Repaired)
    assert answer.repaired is not None
    assert is_robust(tpl.read(answer.repaired), "rc20")
    return bool(answer.edits)


def with_all_modes(program: Program) -> Program:
    """Every atomic access acquires and releases, every fence is an SC fence."""

    def strong(instruction: Instruction) -> Instruction:
        if isinstance(instruction, Fence):
            return msgspec.structs.replace(instruction, mode=Mode.SC)
        if not isinstance(instruction, CellAccess) or Mode.NA in access_modes(instruction):
            return instruction
        kinds: list[Kind] = ["acquire-load", "release-store", "acquire-rmw", "release-rmw"]
        return strengthened(instruction, kinds)

    threads = tuple(
        msgspec.structs.replace(thread, code=tuple(map(strong, thread.code))) for thread in program.threads
    )
    return msgspec.structs.replace(program, threads=threads)


def test_an_exchange_for_ra_carries_modes_if_the_program_does() -> None:
    text = PETERSON.replace(".load()", ".load(acq)").replace("(1);", "(1, rel);").replace("(0);", "(0, rel);")
    answer = fix(read(text), "ra")
    assert done(answer.edits) == [(5, "exchange(turn, 1, acq, rel)"), (17, "exchange(turn, 0, acq, rel)")]
    assert is_robust(read(answer.repaired or ""), "rc20")


@pytest.mark.parametrize("model", ["ra", "rc20"])
def test_a_state_limit_ends_in_unknown(model: str) -> None:
    answer = fix(read(BIG), model, limits=Limits(states=3000))
    assert isinstance(answer, RepairUnknown)
    assert "3,000 states" in answer.why
    assert answer.exit_code == 3


def test_a_time_limit_ends_in_unknown() -> None:
    answer = fix(read(BIG), "rc20", limits=Limits(seconds=0.3))
    assert isinstance(answer, RepairUnknown)
    assert answer.why == "the time limit of 0.3 s was reached"
    assert answer.stats.seconds < 10


def test_stopped_by_its_watcher_it_gives_the_best_known() -> None:
    def watch(progress: FixProgress) -> bool:
        return progress.best is not None and progress.best > progress.lower_bound

    answer = fix(read(DEKKER), "ra", watcher=watch)
    assert isinstance(answer, RepairUnknown)
    assert answer.interrupted
    assert answer.cost is not None
    assert answer.lower_bound < answer.cost
    assert is_robust(read(answer.repaired or ""), "ra")


def test_stopped_early_it_knows_no_repair() -> None:
    answer = fix(read(DEKKER), "rc20", watcher=lambda progress: progress.checks > 1)
    assert isinstance(answer, RepairUnknown)
    assert (answer.edits, answer.cost, answer.diff, answer.repaired) == (None, None, "", None)


def test_dekker_is_told_meanwhile_how_far_the_search_is() -> None:
    told: list[FixProgress] = []
    answer = fix(read(DEKKER), "rc20", watcher=lambda progress: bool(told.append(progress)))
    assert isinstance(answer, Repaired)
    assert [progress.checks for progress in told] == sorted(progress.checks for progress in told)
    bounds = [progress.lower_bound for progress in told]
    assert bounds == sorted(bounds)
    assert bounds[-1] == answer.cost


def test_the_minimum_follows_the_costs() -> None:
    source = Random(7)
    for program, model, usual in repaired_programs(range(700, 780)):
        costs: dict[str, float] = {kind: source.choice([0.25, 1, 2.5, 7]) for kind in DEFAULT_COSTS}
        answer = fix(program, model, costs=costs)
        changes = changes_in(program, model, answer.edits)
        assert answer.cost == sum(costs[change.kind] for change in changes)
        default = changes_in(program, model, usual.edits)
        assert answer.cost <= sum(costs[change.kind] for change in default)


@pytest.mark.parametrize(
    ("costs", "message"),
    [
        ({"fence": 1}, "no change `fence`"),
        ({"sc-fence": -1}, "between 0 and 1000"),
        ({"sc-fence": 1001}, "between 0 and 1000"),
        ({"sc-fence": 0.125}, "two decimals"),
        ({"sc-fence": float("nan")}, "between 0 and 1000"),
    ],
)
def test_wrong_costs_are_refused(costs: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        fix(read(SB), costs=costs)


def test_unknown_models_and_kinds_are_refused() -> None:
    with pytest.raises(ValueError, match="unknown model"):
        fix(read(SB), "sra")
    with pytest.raises(ValueError, match="no change `fences`"):
        fix(read(SB), without=["fences"])


@pytest.mark.parametrize("without", [[], ["sc-fence"]])
def test_an_answer_has_a_json_form(without: list[str]) -> None:
    answer = fix(read(SB), without=without)
    decoded = msgspec.json.decode(encode(answer))
    assert decoded["question"] == "fix"
    assert decoded["verdict"] == answer.verdict
    assert msgspec.convert(decoded, Repaired | NotRepairable | RepairUnknown) == answer
