"""Which changes are offered, where fences go, and what the changed program is."""

from contextlib import suppress
from itertools import pairwise
from random import Random

import pytest

from fencepost.analyses.repair.changes import (
    DEFAULT_COSTS,
    Change,
    Kind,
    Offered,
    Origin,
    apply,
    candidates,
    kinds_for,
    strengthened,
)
from fencepost.analyses.repair.violation_replay import ReplayedViolation
from fencepost.cheapest.hitting_set import Conflict
from fencepost.engine.search import Limits, explore
from fencepost.errors import InputError
from fencepost.formats import tpl
from fencepost.program import CellAccess, CompareExchange, Instruction, Mode, Program, Store
from fencepost.static.fence_places import AccessFlow, FencePlace
from fencepost.static.flow import loop_depths
from tests.analyses.repair.repairing import is_robust, programs_to_repair
from tests.strategies import random_program, wide_program


def code_of(body: str, *, thread: str = "t") -> tuple[Instruction, ...]:
    program = tpl.read(f"max_value 3; global x, y, z; fn {thread} {{ local r, s; {body} }}")
    return program.threads[0].code


def places(body: str) -> list[tuple[str, str]]:
    """The places for fences, as side and statement."""
    code = code_of(body)
    flow = AccessFlow(code, lambda instruction: isinstance(instruction, CellAccess))
    return [(place.side, tpl.format_instruction(code[place.pc])) for place in flow.places()]


def test_a_fence_after_an_access_that_comes_round_is_not_one_before_it() -> None:
    """The first time nothing comes before it."""
    assert places("again: x.store(1); goto again;") == [("before", "x.store(1)"), ("after", "x.store(1)")]


def test_between_two_accesses_there_is_one_place() -> None:
    assert places("x.store(1); r = 1; r = y.load(); skip;") == [("before", "r = y.load()")]


def test_before_the_first_and_after_the_last_access_there_is_none() -> None:
    assert places("r = 2; x.store(1);") == []


def test_where_control_flow_splits_there_is_a_place_before_it_splits() -> None:
    assert places("x.store(1); if (r) { y.store(1); } else { z.store(1); }") == [
        ("after", "x.store(1)"),
        ("before", "y.store(1)"),
        ("before", "z.store(1)"),
    ]


def test_where_control_flow_joins_there_is_a_place_behind() -> None:
    assert places("if (r) { y.store(1); } else { z.store(1); } x.store(1);") == [
        ("after", "y.store(1)"),
        ("after", "z.store(1)"),
        ("before", "x.store(1)"),
    ]


def test_the_first_access_of_a_loop_has_places_on_both_ways_to_it() -> None:
    assert places("x.store(1); while (r == 0) { r = y.load(); }") == [
        ("after", "x.store(1)"),
        ("before", "r = y.load()"),
        ("after", "r = y.load()"),
    ]


def test_an_access_that_is_alone_in_a_loop_has_a_place() -> None:
    assert ("before", "r = y.load()") in places("while (r == 0) { r = y.load(); }")


def test_where_an_sc_fence_is_on_every_way_there_is_no_place() -> None:
    assert places("x.store(1); fence; r = y.load();") == []
    assert places("x.store(1); if (r) { fence; } r = y.load();") == [("before", "r = y.load()")]
    assert places("x.store(1); fence(rel); r = y.load();") == [("before", "r = y.load()")]


def test_only_accesses_that_count_make_places() -> None:
    code = code_of("x.store(1); y.store(1); z.store(1);")
    flow = AccessFlow(code, lambda i: isinstance(i, CellAccess) and i.cell.name != "y")
    assert list(flow.places()) == [FencePlace(2, "before")]


def test_loops_inside_loops_are_counted() -> None:
    code = code_of("skip; while (r) { skip; while (s) { x.store(1); } y.store(1); } z.store(1);")
    depth = {
        tpl.format_instruction(i): d
        for i, d in zip(code, loop_depths(code), strict=True)
        if isinstance(i, CellAccess)
    }
    assert depth == {"x.store(1)": 2, "y.store(1)": 1, "z.store(1)": 0}


# --- what is offered


def offered(text: str, model: str) -> list[tuple[str, str]]:
    program = tpl.read(text)
    return [
        (change.kind, tpl.format_instruction(program.threads[change.threads[0]].code[change.pc]))
        for change in candidates(program, model)
    ]


MP = """global x, y; fn a { x.store(1); y.store(1); } fn b { local r, s; r = y.load(); s = x.load(); }"""


def test_release_acquire_offers_sc_fences_and_exchanges() -> None:
    assert offered(MP, "ra") == [
        ("sc-fence", "y.store(1)"),
        ("exchange", "x.store(1)"),
        ("exchange", "y.store(1)"),
        ("sc-fence", "s = x.load()"),
    ]


def test_rc20_offers_every_kind_where_it_can_help() -> None:
    assert offered(MP, "rc20") == [
        ("sc-fence", "y.store(1)"),
        ("acquire-fence", "y.store(1)"),
        ("release-fence", "y.store(1)"),
        ("exchange", "x.store(1)"),
        ("acquire-rmw", "x.store(1)"),
        ("exchange", "y.store(1)"),
        ("release-store", "y.store(1)"),
        ("sc-fence", "s = x.load()"),
        ("acquire-fence", "s = x.load()"),
        ("acquire-load", "r = y.load()"),
    ]


@pytest.mark.parametrize(
    ("modes", "kinds"),
    [
        ("", ["acquire-rmw"]),
        (", rlx, rlx, acq", ["acquire-rmw"]),
        (", acq, rlx, rlx", ["acquire-failure"]),  # alone
        (", acq", []),
    ],
)
def test_the_read_of_a_compare_exchange_is_strengthened_where_it_is_relaxed(
    modes: str, kinds: list[str]
) -> None:
    reader = f"fn a {{ local r; CAS(y, 0, 1{modes}); r = x.load(); }}"
    text = f"global x, y; {reader} fn b {{ x.store(1); y.store(1); }}"
    strengthenings = [kind for kind, at in offered(text, "rc20") if "CAS" in at and "fence" not in kind]
    assert strengthenings == kinds


def test_weak_fences_are_offered_where_ways_meet_and_part() -> None:
    program = tpl.read(
        """max_value 1; global x, y, z;
        fn a {
            local r, s;
            if (s) { r = x.load(); } else { r = y.load(); }
            if (z.load(acq)) { x.store(1); } else { y.store(1); }
        }
        fn b { x.store(1); y.store(1); z.store(1); }"""
    )
    middle = next(
        pc for pc, i in enumerate(program.threads[0].code) if isinstance(i, CellAccess) and i.cell.name == "z"
    )
    offered = {(c.kind, c.side) for c in candidates(program, "rc20") if (c.threads, c.pc) == ((0,), middle)}
    assert ("acquire-fence", "before") in offered
    assert ("release-fence", "after") in offered


def test_what_one_thread_has_for_itself_is_left_alone() -> None:
    text = "global x, y, z, c; fn a { local r; x.store(1); r = c.load(); y.store(1); z.store(1); }"
    both = offered(f"{text} fn b {{ local r; r = x.load(); r = z.load(); r = c.load(); }}", "rc20")
    assert {statement for _, statement in both} == {
        "x.store(1)",
        "z.store(1)",
        "r = x.load()",
        "r = z.load()",
    }


def test_kinds_can_be_left_out() -> None:
    program = tpl.read(MP)
    assert {c.kind for c in candidates(program, "rc20", {"exchange", "sc-fence"})} == {"exchange", "sc-fence"}
    assert candidates(program, "ra", {"acquire-load"}) == ()


def test_copies_of_a_function_are_changed_together() -> None:
    program = tpl.read("global x[2]; fn t[2] { local r; x[tid].store(1); r = x[1 - tid].load(); }")
    fence, *_ = candidates(program, "ra")
    assert fence.threads == (0, 1)
    first, second = apply(program, [fence]).program.threads
    assert first.code == second.code
    assert len(first.code) == 3


@pytest.mark.slow
def test_what_is_not_offered_would_not_be_cheaper() -> None:
    from fencepost.analyses.repair.fix import fix

    for number, (program, model) in enumerate(programs_to_repair(range(2000, 3000))):
        source = Random(number)
        without = [kind for kind in DEFAULT_COSTS if source.random() < 0.2]
        costs = {kind: source.randint(1, 9) for kind in DEFAULT_COSTS}
        answer = fix(program, model, without=without, costs=costs)
        everything = [c for c in every_change(program, model) if c.kind not in without]
        assert answer.cost == cheapest(program, model, everything, costs)


def every_change(program: Program, model: str) -> list[Change]:
    """A fence on either side of every access, and every access as strong as can be."""
    fences: list[Kind] = ["sc-fence", "acquire-fence", "release-fence"]
    rest: list[Kind] = [kind for kind in DEFAULT_COSTS if kind not in fences]
    changes = []
    for number, thread in enumerate(program.threads):
        if thread.copies is not None and thread.tid > 0:
            continue
        threads = tuple(range(number, number + (thread.copies or 1)))
        for pc, instruction in enumerate(thread.code):
            if isinstance(instruction, CellAccess):
                for kind in fences:
                    changes.append(Change(kind, threads, pc, "before"))
                    changes.append(Change(kind, threads, pc, "after"))
                if program.location_named[instruction.cell.name].atomic:
                    changes += [Change(kind, threads, pc) for kind in rest if _fits(kind, instruction)]
    return [change for change in changes if change.kind in kinds_for(model)]


def _fits(kind: Kind, instruction: Instruction) -> bool:
    if isinstance(instruction, Store) and kind == "acquire-rmw":
        return True
    if isinstance(instruction, CompareExchange) and kind == "acquire-failure":
        return (instruction.load_mode, instruction.failure_mode) == (Mode.ACQ, Mode.RLX)
    return strengthened(instruction, {kind}) != instruction


def cheapest(program: Program, model: str, changes: list[Change], costs: dict[Kind, int]) -> int | None:
    from fencepost.cheapest.search import Fails, Holds, cheapest_repair

    offer = Offered(program, model, changes)

    def check(chosen: frozenset[int]) -> Holds | Fails:
        changed = apply(program, [changes[number] for number in chosen])
        violation = explore(changed.program, model, Limits()).violation
        if violation is None:
            return Holds()
        return Fails(tuple(ReplayedViolation(offer, chosen, changed, violation).conflicts(chosen)))

    found = cheapest_repair([costs[change.kind] for change in changes], check)
    return None if found.impossible else found.lower_bound


# --- the changed program


def test_a_jump_to_a_statement_meets_the_fence_before_it_but_not_the_one_after_the_last() -> None:
    program = tpl.read(
        """max_value 1; global x, y;
        fn a { local r; again: x.store(1); r = y.load(); if (r == 0) goto again; }
        fn b { y.store(1); x.store(0); }"""
    )
    load = Change("sc-fence", (0,), 1, "after")
    store = Change("acquire-fence", (0,), 0, "before")
    changed = apply(program, [load, store])
    assert changed.program == tpl.read(
        """max_value 1; global x, y;
        fn a { local r; again: fence(acq); x.store(1); r = y.load(); fence; if (r == 0) goto again; }
        fn b { y.store(1); x.store(0); }"""
    )
    assert changed.origins[0] == (
        Origin(0, "before"),
        Origin(0),
        Origin(1),
        Origin(1, "after"),
        Origin(2),
    )


def test_two_weak_fences_at_one_place_are_one() -> None:
    program = tpl.read("max_value 1; global x, y; fn a { local r; r = x.load(); y.store(1); }")
    kinds: tuple[Kind, ...] = ("acquire-fence", "release-fence")
    changed = apply(program, [Change(kind, (0,), 1, "before") for kind in kinds])
    assert changed.program == tpl.read(
        "max_value 1; global x, y; fn a { local r; r = x.load(); fence(acq_rel); y.store(1); }"
    )


def test_accesses_are_strengthened() -> None:
    before = "x.store(1); r = y.load(); wait(y, 1); r = FADD(x, 1); BCAS(x, 1, 2); r = CAS(y, 0, 1, acq); "
    before += "CAS(x, 0, 1); CAS(x, 0, 1, acq, rlx, rlx); CAS(x, 0, 1, acq, rlx, rlx);"
    after = (
        "exchange(x, 1, acq, rel); r = y.load(acq); wait(y, 1, acq); r = FADD(x, 1, acq, rel); "
        "BCAS(x, 1, 2, rel); r = CAS(y, 0, 1, acq, rel); "
        "CAS(x, 0, 1, acq); CAS(x, 0, 1, acq); CAS(x, 0, 1, acq, rel, rlx);"
    )
    program = tpl.read(f"global x, y; fn a {{ local r; {before} }}")
    kinds: list[list[Kind]] = [
        ["exchange", "release-store", "acquire-rmw"],
        ["acquire-load"],
        ["acquire-load"],
        ["acquire-rmw", "release-rmw"],
        ["release-rmw"],
        ["release-rmw"],
        ["acquire-rmw"],
        ["acquire-failure"],
        ["release-rmw"],
    ]
    changes = [Change(kind, (0,), pc) for pc, made in enumerate(kinds) for kind in made]
    assert apply(program, changes).program == tpl.read(f"global x, y; fn a {{ local r; {after} }}")


def test_without_changes_the_program_stays_what_it_is() -> None:
    for seed in range(50):
        program = random_program(Random(seed), loop_free=False)
        assert apply(program, []).program == program


# --- what changes do to robustness


def test_every_change_but_an_sc_fence_is_monotone() -> None:
    """Whoever makes one more change never makes a robust program not robust."""
    tried = 0
    for number, (program, model) in enumerate(programs_to_repair(range(800, 1100))):
        source = Random(number)
        changes = list(candidates(program, model))
        fences = [change for change in changes if change.kind == "sc-fence" and source.random() < 0.5]
        rest = [change for change in changes if change.kind != "sc-fence"]
        source.shuffle(rest)
        made = [is_robust(program, model, fences + rest[:count]) for count in range(len(rest) + 1)]
        assert all(after or not before for before, after in pairwise(made))
        tried += made[0] != made[-1]
    assert tried > 10


def test_sc_fences_in_every_gap_are_always_enough() -> None:
    for program, model in programs_to_repair(range(1100, 1250)):
        fences = [change for change in candidates(program, model) if change.kind == "sc-fence"]
        assert is_robust(program, model, fences)


def test_a_violation_is_left_by_every_set_that_breaks_a_conflict_learnt_from_it() -> None:
    with_fences_to_drop = 0
    for number, (program, model) in enumerate(programs_to_repair(range(1250, 1450))):
        source = Random(number)
        changes = candidates(program, model)
        for conflict in some_conflicts(source, program, model, changes):
            with_fences_to_drop += bool(conflict.drop)
            others = [n for n in range(len(changes)) if n not in conflict.add | conflict.drop]
            for share in (0.0, 0.5, 1.0):
                chosen = {n for n in others if source.random() < share} | conflict.drop
                assert not is_robust(program, model, [changes[n] for n in sorted(chosen)])
    assert with_fences_to_drop > 0


@pytest.mark.parametrize("model", ["rc20", "cpp20"])
def test_what_is_learnt_knows_of_release_sequences(model: str) -> None:
    """A release store is enough, though the message is read from an RMW of another thread."""
    program = tpl.read(
        """max_value 2; global d, f;
        fn a { d.store(1); f.store(1); }
        fn b { FADD(f, 1); }
        fn c { local r; r = f.load(acq); if (r == 2) { r = d.load(); } }"""
    )
    costs: dict[Kind, int] = {kind: int(cost) for kind, cost in DEFAULT_COSTS.items()}
    assert cheapest(program, model, every_change(program, model), costs) == 1


@pytest.mark.parametrize("model", ["rc20", "cpp20"])
def test_what_is_learnt_knows_that_nothing_comes_between_a_write_and_an_rmw(model: str) -> None:
    """Of two stale writes of 0 the compare-exchange could follow the first one only, which u can rule out."""
    program = tpl.read(
        """max_value 3; global x, y, z;
        fn t { x.store(1); y.store(1); x.store(0); FADD(x, 2); z.store(1); }
        fn u { wait(y, 1); wait(z, 1); BCAS(x, 0, 3); }"""
    )
    changes = [Change("release-store", (0,), 1), Change("acquire-load", (1,), 0)]
    assert is_robust(program, model, changes)
    assert cheapest(program, model, changes, {"release-store": 1, "acquire-load": 1}) == 2


@pytest.mark.parametrize("model", ["rc20", "cpp20"])
def test_so_it_is_where_all_accesses_can_change_in_all_ways(model: str) -> None:
    """RMWs, waits and fences anywhere, every change that fits, also those that only `relax` offers."""
    learnt = 0
    for seed in range(300):
        source = Random(seed)
        program = wide_program(source, sc_accesses=model == "cpp20")
        if len(program.threads) > 3 or is_robust(program, model):
            continue
        changes = tuple(every_change(program, model))
        with suppress(InputError):  # the orders of an RMW do not go together
            for conflict in some_conflicts(source, program, model, changes, shares=(0.0, 0.1)):
                learnt += 1
                for share in (0.0, 0.5, 1.0):
                    drawn = {n for n in range(len(changes)) if source.random() < share} - conflict.add
                    made = [changes[n] for n in sorted(drawn | conflict.drop)]
                    assert not is_robust(program, model, made), f"seed {seed}: {made}:\n{tpl.write(program)}"
    assert learnt > 10


def some_conflicts(
    source: Random,
    program: Program,
    model: str,
    changes: tuple[Change, ...],
    shares: tuple[float, float] = (0.7, 0.3),
) -> list[Conflict]:
    """What is learnt with some of the changes made: a share of the SC fences, and one of all."""
    offer = Offered(program, model, changes)
    sc_fences = frozenset(n for n, change in enumerate(changes) if change.kind == "sc-fence")
    conflicts = []
    for pool, share in zip((sc_fences, frozenset(range(len(changes)))), shares, strict=True):
        chosen = frozenset(n for n in pool if source.random() < share)
        changed = apply(program, [changes[n] for n in sorted(chosen)])
        violation = explore(changed.program, model, Limits()).violation
        if violation is not None:
            learnt = ReplayedViolation(offer, chosen, changed, violation).conflicts(chosen)
            assert learnt
            assert not any(conflict.allows(chosen) for conflict in learnt)
            conflicts += learnt
    return conflicts
