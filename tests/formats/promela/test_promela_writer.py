"""How programs look in Promela, and which cannot be written in it."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest
from click.testing import CliRunner
from msgspec.structs import replace

from fencepost.cli.main import main
from fencepost.errors import InputError
from fencepost.formats import tpl, write
from fencepost.formats.promela.names import is_name
from fencepost.formats.text.names import spellings


def process(body: str, declarations: str = "max_value 3; global x, y; na d;", **options: str) -> str:
    """The text from the first label on that is written for a thread with locals r and s."""
    text = write(tpl.read(f"{declarations} fn t {{ local r, s; {body} }}"), "promela", **options)
    return text.split("goto", 1)[1].split(";\n", 1)[1]


def declared(text: str) -> list[str]:
    """The lines between the comment at the top and the first process."""
    return text.split("\n\n")[1].splitlines()


def test_a_whole_program() -> None:
    program = tpl.read(
        dedent("""\
            max_value 3;
            global next, serving;
            na owner;
            fn worker[2] {
                local ticket, now;
                ticket = FADD(next, 1);
                now = serving.load();
                while (now != ticket) { now = serving.load(); }
                owner.nastore(tid);
                now = owner.naload();
                assert(now == tid);
                serving.store(ticket + 1);
            }
            """),
        "some/where/lock.tpl",
    )
    text = write(program, "promela")
    assert text.startswith(
        dedent("""\
            /* Written by fencepost from lock.tpl: sequential consistency.
               spin -a FILE; gcc -O2 -DSAFETY -DNOREDUCE -o pan pan.c; ./pan -m1000000 */

            unsigned next_ : 2;
            unsigned serving : 2;
            unsigned owner : 1;

            active proctype worker_0() {
                unsigned ticket : 2;
                goto at_0;
            at_0:  /* line 6: ticket = FADD(next, 1) */
                if
                :: d_step {
                       ticket = next_;
                       next_ = next_ + 1 & 3
                   }
                   goto at_1
                fi;
            at_1:  /* line 7: now = serving.load() */
                if
            """)
    )
    assert text.endswith(
        dedent("""\
            at_6:  /* line 10: now = owner.naload() */
                if
                :: d_step {
                       assert(owner == 1)
                   }
                   goto at_8
                fi;
            at_8:  /* line 12: serving.store(ticket + 1) */
                if
                :: d_step {
                       serving = ticket + 1 & 3;
                       ticket = 0
                   }
                   goto ended
                fi;
            ended:
                false
            }
            """)
    )


def test_the_branches_after_an_access_are_part_of_its_step() -> None:
    text = process("r = x.load(); if (r == 2) { s = 1; } else { s = r; } y.store(s);")
    assert text.startswith(
        dedent("""\
            at_0:  /* line 1: r = x.load() */
                if
                :: d_step {
                       x == 2 ->
                       s = 1
                   }
                   goto at_5
                :: d_step {
                       x != 2 ->
                       s = x
                   }
                   goto at_5
                fi;
            """)
    )


def test_what_is_known_is_not_asked_again() -> None:
    text = process("r = CAS(x, 0, 1); if (r != 0) { y.store(1); } else { y.store(2); }")
    step = text[: text.index("at_2:")]
    assert "x == 0 ->\n           x = 1\n" in step
    assert "x != 0 ->\n           skip\n" in step
    assert step.count("d_step") == 2


def test_a_choice_has_one_option_for_each_alternative() -> None:
    text = process("x.store(1); oneof({ wait(x, 1); } { wait(x, 2); });")
    step = text[: text.index("end_at_2:")]
    assert step.count(":: d_step {\n           x = 1\n       }\n") == 2


@pytest.mark.parametrize(
    ("body", "written"),
    [
        ("wait(x, 1); exchange(x, 2);", "x == 1 ->\n           skip\n       }\n       goto at_1"),
        ("exchange(x, 2); wait(x, 1);", "x = 2"),
        ("wait(x, 1, 2);", "x == 1 || x == 2 ->\n           skip"),
        ("BCAS(x, 3, 1);", "x == 3 ->\n           x = 1"),
        ("FADD(x, 2);", "x = x + 2 & 3"),
        ("x.fetch_or(2);", "x = x | 2"),
        ("d.nastore(-1); r = d.naload(); assert(r == 3);", "d = 3"),
        ("r = d.naload(); assert(r != 1);", "assert(d != 1)"),
    ],
)
def test_accesses(body: str, written: str) -> None:
    assert f":: d_step {{\n           {written}" in process(body)


def test_where_a_thread_may_wait_for_ever_it_may_stop() -> None:
    assert "end_at_0:" in write(tpl.read("global x; fn t { wait(x, 1); }"), "promela")
    assert "end_at_0:" in write(tpl.read("global x; fn t { BCAS(x, 1, 0); }"), "promela")


def test_values_that_change_places_are_saved() -> None:
    text = process("x.store(1); r = 1; s = 2; again: r = exchange(x, r); x.store(s); goto again;")
    assert "hidden int saved_0;" in write(
        tpl.read("global x; fn t { local r; again: r = exchange(x, r); goto again; }"), "promela"
    )
    step = text[text.index("exchange") : text.index("goto at_4")]
    assert "saved_0 = r;\n           r = x;\n           x = saved_0\n" in step


def test_a_loop_without_access_is_the_end() -> None:
    text = process("wait(x, 0); x.store(1); while (1) { skip; }")
    assert "x = 1\n       }\n       goto ended" in text


def test_a_thread_starts_where_its_first_local_instructions_lead() -> None:
    text = write(
        tpl.read(
            "global x; fn t { local r, s; r = 3; s = r * 2; if (s == 6) goto l; x.store(1); l: x.store(r); }"
        ),
        "promela",
    )
    assert "unsigned r : 2 = 3;\n    goto at_4;\nat_4:" in text


def test_each_cell_of_an_array_is_a_variable_and_bad_indices_fail() -> None:
    text = write(
        tpl.read(
            "max_value 3; global a[2]={1,2}, i; fn t { local r; r = i.load(); wait(a[r], 0); i.store(2); }"
        ),
        "promela",
    )
    assert declared(text) == ["unsigned a_0 : 2 = 1;", "unsigned a_1 : 2 = 2;", "unsigned i : 2;"]
    assert "i == 1 ->\n           r = i\n       }\n       goto end_at_1_1" in text
    assert "i >= 2 ->\n           assert(0)\n       }\n       goto ended" in text


def test_cells_and_registers_that_nothing_depends_on_are_left_out() -> None:
    program = tpl.read(
        "global x, y; fn t { local r, s; x.store(1); r = x.load(); s = y.load(); y.store(s + 1); }"
    )
    assert declared(write(program, "promela")) == ["unsigned y : 8;"]


def test_the_monitor_keeps_only_what_is_asked_for() -> None:
    program = tpl.read("max_value 3; global x, y, z; fn t { local r; x.store(1); r = y.load(); z.store(2); }")
    assert declared(write(program, "promela", monitor="ra")) == [
        "hidden byte robust;     /* stays 0: asserted where a thread can leave SC */",
        "unsigned VSC_t : 2 = 3;",
        "unsigned MSC_x : 2 = 1;",
        "unsigned MSC_z : 2 = 2;",
        "unsigned C_t : 2;",
    ]


def test_sets_of_many_elements_take_several_numbers() -> None:
    names = [f"x{number}" for number in range(40)]
    stores = " ".join(f"{name}.store(1);" for name in names)
    program = tpl.read(f"global {', '.join(names)}; fn t {{ {stores} }}")
    lines = declared(write(program, "promela", monitor="ra"))
    assert "unsigned VSC_t : 31 = 2147483647;" in lines
    assert "unsigned VSC1_t : 9 = 511;" in lines
    assert "unsigned MSC_x31 : 31;" in lines
    assert "unsigned MSC1_x31 : 9 = 1;" in lines


def test_critical_values_are_told_apart() -> None:
    text = process("x.store(2); wait(y, 1); r = CAS(x, 0, 1); y.store(1); y.store(0);", monitor="ra")
    assert "stale = (x == 0 -> " in text
    assert ":: (VSC_t & 2) && (C_t & 16) -> assert(robust); goto end_at_1" in text


def test_races_are_looked_for_where_accesses_conflict() -> None:
    program = tpl.read(
        "na d; fn a { local r; r = d.naload(); d.nastore(1); } fn b { local r; r = d.naload(); }"
    )
    text = write(program, "promela", monitor="ra")
    assert text.count("race_free); goto") == 1
    assert ":: a[0]@at_1 -> assert(race_free); goto at_0" in text
    assert "race_free" not in write(program, "promela")


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("global x; fn t { local r; r = x.load(); if (4 / r == 1) { x.store(1); } }", 41, "only division by"),
        (
            "global x; fn t { local r; r = x.load(); x.store(7 % r); }",
            41,
            "only division by a constant other",
        ),
        (
            "max_value 9999999999; global x=9999999999; fn t { wait(x, 0); }",
            30,
            "values up to 9999999999",
        ),
        (
            "max_value 99999; global x; fn t { local r; r = x.load(); x.store(r * r); }",
            58,
            "can exceed the 32 bits",
        ),
        (
            "global x; fn t { local r; r = x.load(); while (r > 0) { r = r - 1; } x.store(1); }",
            41,
            "too long for one expression",
        ),
        (
            "max_value 40; global x; fn t { local r; r = x.load(); CAS(x, r, r + 1); x.store(2); }",
            22,
            "stale values to tell apart",
        ),
    ],
)
def test_what_promela_cannot_say(text: str, column: int, message: str) -> None:
    with pytest.raises(InputError) as error:
        write(tpl.read(text, "f.tpl"), "promela", monitor="ra")
    assert message in error.value.message
    assert (error.value.file, error.value.line, error.value.column) == ("f.tpl", 1, column)


def test_too_many_ways_through_local_instructions() -> None:
    branches = "".join(f"if (r == {number}) {{ s = s + {number}; }}" for number in range(14))
    with pytest.raises(InputError, match="too many ways from here"):
        process(f"r = x.load(); {branches} y.store(s);", "global x, y;")


def test_values_without_bound_are_refused() -> None:
    program = replace(tpl.read("global x; fn t { x.store(1); }"), wraps=False)
    with pytest.raises(InputError, match="have no bound"):
        write(program, "promela")


def test_names_that_are_taken_are_spelled_otherwise() -> None:
    names = ["x", "next", "int", "BASE", "C_x", "at_1", "saved_0", "ended", "a[0]", "v_next", "_z", "pptr"]
    fresh = spellings(names, is_name, ["x"])
    assert list(fresh.values()) == [
        "x_",
        "next_",
        "int_",
        "v_BASE",
        "v_C_x",
        "v_at_1",
        "v_saved_0",
        "ended_",
        "a_0",
        "v_next",
        "z",
        "pptr_",
    ]


def test_the_command(tmp_path: Path) -> None:
    run = CliRunner().invoke
    file = tmp_path / "sb.tpl"
    file.write_text("global x, y; fn a { local r; x.store(1); r = y.load(); } fn b { y.store(1); }")
    plain = run(main, ["show", str(file), "--to", "promela"])
    monitored = run(main, ["show", str(file), "--to", "promela", "--monitor", "ra"])
    wrong = run(main, ["show", str(file), "--monitor", "ra"])
    assert plain.exit_code == monitored.exit_code == 0
    assert "assert(robust)" in monitored.output
    assert "assert(robust)" not in plain.output
    assert wrong.exit_code == 2
    assert "--monitor goes with --to promela" in wrong.output
