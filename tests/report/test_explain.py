import msgspec
import pytest

from fencepost.report.cycle import condensed, unrolled, worth_showing
from fencepost.report.explain import claim, explain_assertion, explain_cycle, explain_race
from fencepost.verdicts import Edge
from tests.report.witnesses import (
    BOTH_INSIDE,
    FAILED_CAS,
    HOSTILE,
    IRIW,
    MP_RACE,
    NO_POSITIONS,
    ONE_FENCE_SHORT,
    PETERSON,
    PETERSON_40,
    SB,
    STALE_RMW,
    STALE_WAIT,
    TSO_DETOUR,
    TSO_HOSTILE,
    TSO_RMW,
    TSO_SB,
    TSO_SB_ROBUSTNESS,
    TSO_SEVERAL,
    TSO_TRIANGULAR,
    TWO_PLUS_TWO_W,
    Step,
    peterson_rounds,
    witness,
)


def test_a_load_can_read_the_initial_value():
    assert claim(SB) == (
        "Thread `t2` can read the initial value 0 of `x` with `b = x.load()` (line 12), although `t1` has "
        "set it to 1 (line 5), because nothing orders line 11 before line 12, nor line 5 before line 6. If "
        "the threads took turns, one access at a time, it would find 1 there."
    )


def test_an_old_write_is_named_with_its_place():
    assert "the old value 0 of `flag0` from `flag0.store(0)` (left, line 17)" in claim(PETERSON_40)


def test_a_store_can_come_before_a_newer_write():
    assert claim(TWO_PLUS_TWO_W) == (
        "Thread `t2` sets `x` to 2 with `x.store(2)` (line 10) after `t1` has set it to 1 (line 4), but the "
        "two writes can take effect in the other order and leave the 1 of `t1`, because nothing orders line "
        "9 before line 10, nor line 4 before line 5. If the threads took turns, one access at a time, `x` "
        "would hold the 2 of `t2`."
    )


def test_an_update_can_work_on_an_old_value():
    assert claim(STALE_RMW).startswith(
        "Thread `worker[1]` can apply `FADD(x, 1)` (line 11) to the initial value 0 of `x`, although "
        "`worker[0]` has set it to 5 (line 5)"
    )
    assert claim(STALE_RMW).endswith("one access at a time, it would find 5 there.")


def test_a_cas_can_fail_on_an_old_value():
    assert claim(FAILED_CAS).startswith(
        "In thread `t2`, `b = CAS(x, 0, 2)` (line 11) can fail on the old value 1 of `x` from `BCAS(x, 0, "
        "1)` (t1, line 4), although `t1` has set it to 0 (line 5)"
    )


def test_a_wait_can_end_with_an_old_value_that_was_written_again():
    assert claim(STALE_WAIT).startswith(
        "Thread `t2` can leave `wait(x, 1)` (line 11) with the initial value 1 of `x`, although `t1` has set "
        "it to 1 again (line 5)"
    )
    assert claim(STALE_WAIT).endswith("it would find the newer 1 there.")


def test_without_source_positions_no_line_is_named():
    assert "line" not in claim(NO_POSITIONS).replace("interleaving", "")
    assert "line" not in explain_cycle(NO_POSITIONS).replace("interleaving", "")


def test_each_kind_of_edge_has_its_words():
    assert explain_cycle(IRIW) == (
        "No interleaving of the threads does this. "
        "`x.store(1, rel)` (writer_x, line 4) is read by `a = x.load(acq)` (reader_1, line 9). "
        "`a = x.load(acq)` (line 9) comes before `b = y.load(acq)` (line 10) in thread `reader_1`. "
        "`b = y.load(acq)` (reader_1, line 10) reads a value, 0, that `y.store(1, rel)` (writer_y, line 21) "
        "then overwrites. "
        "`y.store(1, rel)` (writer_y, line 21) is read by `c = y.load(acq)` (reader_2, line 15). "
        "`c = y.load(acq)` (line 15) comes before `d = x.load(acq)` (line 16) in thread `reader_2`. "
        "`d = x.load(acq)` (reader_2, line 16) reads a value, 0, that `x.store(1, rel)` (writer_x, line 4) "
        "then overwrites. "
        "So `x.store(1, rel)` would have to come before itself."
    )
    assert "`y.store(2)` (t1, line 5) is overwritten by `y.store(1)` (t2, line 9)." in explain_cycle(
        TWO_PLUS_TWO_W
    )


def test_fences_are_ordered_not_read():
    assert "`fence` (t1, line 6) comes before `fence` (t2, line 11) in the order of all SC fences." in (
        explain_cycle(ONE_FENCE_SHORT)
    )


def test_a_path_along_a_thread_is_one_step():
    assert len(unrolled(PETERSON)) == 5
    assert [edge.relation for edge in condensed(PETERSON)] == ["po", "mo", "po", "fr"]
    assert "`turn.store(0)` (line 23) comes before `f = flag0.load()` (line 25)" in explain_cycle(PETERSON)


@pytest.mark.parametrize("rotation", range(4))
def test_the_cycle_is_told_the_same_wherever_it_starts(rotation):
    turned = msgspec.structs.replace(SB, cycle=SB.cycle[rotation:] + SB.cycle[:rotation])
    assert explain_cycle(turned) == explain_cycle(SB)


def test_the_access_is_told_even_between_two_steps_of_the_same_kind():
    run = witness(("t",), {"x": 0}, [Step(0, "W x=1"), Step(0, "W x=2")], stale=0)
    turned = msgspec.structs.replace(run, cycle=(Edge(1, 2, "mo"), Edge(2, 1, "mo")))
    assert condensed(turned) == (Edge(1, 2, "mo"), Edge(2, 1, "mo"))


def test_a_long_run_is_shown_around_its_cycle():
    long = peterson_rounds(30)
    shown = worth_showing(long)
    assert {long.stale, long.latest, long.access.id} <= shown
    assert all(end in shown for edge in condensed(long) for end in (edge.source, edge.target))
    assert len(shown) < 15


def test_a_fragile_run_tells_who_waits_who_overtakes_and_who_shows_it():
    assert claim(TSO_SB) == (
        "`x.store(1)` of thread `t1` (line 5) can still be in the store buffer of `t1` when `t1` reads 0 "
        "from `y` with `a = y.load()` (line 6). Then `t2` sets `y` to 1 with `y.store(1)` (line 11), and "
        "this reaches memory first. In every interleaving with the writes in this order the read comes after "
        "both of them and finds 1 in `y`."
    )


def test_a_wait_can_be_left_too_early_and_an_update_can_show_it():
    assert (
        "when `left` leaves `wait(x, 0)` (line 5) with the value 0. Then `right` updates `x` from 0 to 1 "
        in (claim(TSO_RMW))
    )


def test_a_triangular_race_tells_from_which_write_the_value_comes():
    assert claim(TSO_TRIANGULAR).endswith(
        "Then `writer` sets `x` to 1 again with `x.store(1)` (line 6), and this reaches memory first. In "
        "every interleaving with the writes in this order the read comes after both of them and takes its "
        "value from `x.store(1)` (writer, line 6), not from `x.store(1)` (writer, line 5). The value is the "
        "same, 1; what differs is the write that it comes from."
    )


@pytest.mark.parametrize(
    ("run", "words"),
    [
        (
            TSO_SB_ROBUSTNESS,
            "Meanwhile `t2` writes `y` (line 11), and `b = x.load()` of thread `t2` (line 12) still reads 0 "
            "from `x`. In every interleaving of this run that read comes after `x.store(1)`.",
        ),
        (
            TSO_DETOUR,
            "Meanwhile `writer` writes `x` (line 6), and `y.store(1)` of thread `writer` (line 7) reaches "
            "memory before `y.store(2)`. In every interleaving of this run that write comes after "
            "`y.store(2)`.",
        ),
        (
            TSO_SEVERAL,
            "Meanwhile `b` writes `y` (line 12), and `FADD(x, 2)` of thread `c` (line 19) updates `x` from 0 "
            "to 2 without seeing it. In every interleaving of this run that update comes after `x.store(1)`.",
        ),
    ],
    ids=["read", "write", "update"],
)
def test_a_run_against_robustness_tells_which_access_passes_over_the_write(run, words):
    assert claim(run).endswith(words)


def test_writes_that_wait_behind_are_counted():
    assert "the store buffer of `a`, with 1 later write behind it, when `a` reads 0" in claim(TSO_SEVERAL)


def test_the_order_of_stores_has_its_words():
    assert explain_cycle(TSO_SB) == (
        "No interleaving of the threads does this. There every write reaches memory at once. `x.store(1)` "
        "(line 5) comes before `a = y.load()` (line 6) in thread `t1`. `a = y.load()` (t1, line 6) reads a "
        "value, 0, that `y.store(1)` (t2, line 11) then overwrites. `y.store(1)` (t2, line 11) reaches "
        "memory before `x.store(1)` (t1, line 5). So `x.store(1)` would have to come before itself."
    )


def test_a_race_names_both_accesses():
    assert explain_race(MP_RACE) == (
        "Thread `producer` writes the non-atomic `data` (line 6) and thread `consumer` reads it (line 13), "
        "and nothing orders the two. In C and C++ this is undefined behaviour."
    )


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("assertion", "`assert(r == 1)` (line 16) fails in thread `t2`, with r = 0, me = 1."),
        (
            "division-by-zero",
            "`assert(r == 1)` (line 16) divides by zero in thread `t2`, with r = 0, me = 1.",
        ),
        (
            "index-out-of-range",
            "`assert(r == 1)` (line 16) uses an index outside its array in thread `t2`, with r = 0, me = 1.",
        ),
    ],
)
def test_a_failure_names_its_place_and_registers(kind, words):
    said = explain_assertion(msgspec.structs.replace(BOTH_INSIDE, kind=kind))
    assert said == f"{words} This needs no weak memory: some interleaving of the threads does it."


def test_sentences_are_printable():
    for hostile in (HOSTILE, TSO_HOSTILE):
        assert (claim(hostile) + explain_cycle(hostile)).isprintable()
