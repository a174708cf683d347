"""Fences and exchanges are put into the user's own text of automata, on the transition that is meant."""

from __future__ import annotations

import random

from fencepost.analyses.repair.changes import Change, Kind, apply, candidates
from fencepost.analyses.repair.edits import repaired_text
from fencepost.errors import InputError
from fencepost.formats import automata, tpl
from fencepost.formats.edits import changed_text
from fencepost.models.explore import LimitReachedError
from fencepost.program import Program
from fencepost.static.fence_places import Side
from tests.formats.automata.test_automata_semantics import Drawing, changes_of, text_of


def change(
    program: Program, line: int, side: Side | None, kind: Kind = "sc-fence", thread: int = 0
) -> Change:
    """The change at the first instruction that stands in that line."""
    code = program.threads[thread].code
    pc = next(pc for pc, instruction in enumerate(code) if instruction.at.line == line)
    return Change(kind, (thread,), pc, side)


def edited(text: str, *changes: tuple[int, Side]) -> str:
    """The text with a fence before or after what stands in each of these lines."""
    program = automata.read(text, "f.aut")
    return repaired_text(program, [change(program, line, side) for line, side in changes]).text


TEXT = """# two threads
thread t
    initial q0
    transition q0 q1 write 1 0    # tell the other
    transition q1 q2 read r 1
    transition q2 q1 check == r 0
    transition q2 q3 check != r 0
    transition q3 q0 write 0 0
end
"""


def test_a_fence_before_a_transition_comes_between_its_state_and_it() -> None:
    assert edited(TEXT, (5, "before")) == TEXT.replace(
        "    transition q1 q2 read r 1\n",
        "    transition q1 q1_f mfence\n    transition q1_f q2 read r 1\n",
    )


def test_a_fence_after_a_transition_keeps_its_comment() -> None:
    assert edited(TEXT, (4, "after")) == TEXT.replace(
        "    transition q0 q1 write 1 0    # tell the other\n",
        "    transition q0 q0_f write 1 0    # tell the other\n    transition q0_f q1 mfence\n",
    )


def test_fences_on_both_sides() -> None:
    assert edited(TEXT, (8, "before"), (8, "after")) == TEXT.replace(
        "    transition q3 q0 write 0 0\n",
        "    transition q3 q3_f mfence\n"
        "    transition q3_f q3_f2 write 0 0\n"
        "    transition q3_f2 q0 mfence\n",
    )


def test_a_fence_before_a_branch_is_before_all_that_leave_the_state() -> None:
    assert edited(TEXT, (6, "before")) == TEXT.replace(
        "    transition q2 q1 check == r 0\n    transition q2 q3 check != r 0\n",
        "    transition q2 q2_f mfence\n"
        "    transition q2_f q1 check == r 0\n"
        "    transition q2_f q3 check != r 0\n",
    )


def test_new_states_do_not_meet_old_ones() -> None:
    text = TEXT.replace("q3", "q1_f")
    assert "transition q1 q1_f2 mfence\n    transition q1_f2 q2 read r 1\n" in edited(text, (5, "before"))


def test_transitions_on_one_line_stay_there() -> None:
    text = "thread t initial a transition a b write 1 0 transition b c read r 1 end"
    program = automata.read(text)
    changed = repaired_text(program, [Change("sc-fence", (0,), 1, "before")]).text
    assert changed == text.replace("transition b c", "transition b b_f mfence transition b_f c")
    changed = repaired_text(program, [Change("sc-fence", (0,), 0, "after")]).text
    assert changed == text.replace("a b write 1 0", "a a_f write 1 0 transition a_f b mfence")


def test_all_copies_are_changed_at_once() -> None:
    program = automata.read(TEXT.replace("thread t", "thread t 2"))
    fence = Change("sc-fence", (0, 1), 1, "before")
    found = repaired_text(program, [fence])
    assert "transition q1 q1_f mfence" in found.text
    assert found.diff.count("\n+") == 3


def test_a_write_becomes_an_exchange() -> None:
    program = automata.read(TEXT, "f.aut")
    assert repaired_text(program, [change(program, 4, None, "exchange")]).text == TEXT.replace(
        "    transition q0 q1 write 1 0    # tell the other\n",
        "    transition q0 q0_f lock\n"
        "    transition q0_f q0_f2 write 1 0    # tell the other\n"
        "    transition q0_f2 q1 unlock\n",
    )


SECTION = """thread t
    initial a
    transition a b lock
    transition b c read r 0
    transition c d write + r 1 0
    transition d e unlock
    transition e f write r 1
end
"""


def test_fences_around_a_section() -> None:
    assert edited(SECTION, (3, "before")) == SECTION.replace(
        "transition a b lock", "transition a a_f mfence\n    transition a_f b lock"
    )
    assert edited(SECTION, (3, "after")) == SECTION.replace(
        "transition d e unlock", "transition d d_f unlock\n    transition d_f e mfence"
    )


def test_what_cannot_be_edited_in_place_is_written_anew_in_automata() -> None:
    text = TEXT.replace("    transition q3 q0 write 0 0\n", "    transition q3 q0 write 0 0\n" + 2 * "\n")
    program = automata.read(text)
    fence = change(program, 5, "before")
    changed = apply(program, [fence]).program
    found = changed_text(program, changed, {})  # without saying where
    assert not found.in_place
    assert found.before == automata.write(program)
    assert found.after == automata.write(changed)


def test_what_automata_cannot_say_is_written_in_tpl() -> None:
    program = automata.read(TEXT)
    found = repaired_text(program, [change(program, 5, None, "acquire-load")])
    assert "r = mem[1].load(acq);" in found.text
    assert tpl.read(found.text).threads[0].code[1] != program.threads[0].code[1]


def test_random_fences_are_put_into_random_texts() -> None:
    in_place = tried = 0
    for seed in range(150):
        text = text_of(Drawing(seed).threads())
        try:
            program = automata.read(text)
        except InputError:
            continue
        offered = candidates(program, "tso")
        if not offered:
            continue
        fences = random.Random(seed).sample(offered, min(2, len(offered)))
        changed = apply(program, fences).program
        found = automata.read(repaired_text(program, fences).text)
        tried += 1
        in_place += [thread.code for thread in found.threads] == [thread.code for thread in changed.threads]
        try:
            assert changes_of(found) == changes_of(changed), text
        except LimitReachedError:
            continue
    assert tried > 80
    assert in_place > 0.7 * tried
