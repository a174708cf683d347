"""The command line as a contract: exit codes, JSON, messages, and nothing written for wrong input."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from fencepost.cli.main import main
from tests.interrupting import ENDLESS, HEED_CONTROL_C, answer_within

SB = """// store buffering
global x, y;
fn t1 { local a; x.store(1); a = y.load(); }
fn t2 { local b; y.store(1); b = x.load(); }
"""
MP = """
global f;
na d;
fn writer { d.nastore(1); f.store(1, rel); }
fn reader { local a; wait(f, 1, acq); a = d.naload(); assert(a == 1); }
"""
RACY = "na d; fn t1 { d.nastore(1); } fn t2 { d.nastore(2); }"
FAILING = "global x; fn t { local r; r = x.load(); assert(r == 1); }"


@pytest.fixture
def program(tmp_path):
    def write(text, name="program.tpl"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return str(path)

    return write


def fencepost(*arguments):
    return CliRunner().invoke(main, [str(a) for a in arguments], catch_exceptions=False)


class TestExitCodes:
    def test_robust_is_0(self, program):
        assert fencepost("robust", program(MP)).exit_code == 0

    def test_not_robust_is_1(self, program):
        assert fencepost("robust", program(SB)).exit_code == 1

    def test_a_race_in_a_robust_program_is_1(self, program):
        result = fencepost("robust", program(RACY))
        assert result.exit_code == 1
        assert "robust, but it has a data race, under ra" in result.output
        quiet = fencepost("robust", "-q", program(RACY))
        assert quiet.output.endswith(": robust, but it has a data race\n")

    def test_a_failing_assertion_is_1(self, program):
        assert fencepost("robust", program(FAILING)).exit_code == 1

    def test_wrong_input_is_2(self, program):
        assert fencepost("robust", program("fn {")).exit_code == 2

    def test_wrong_usage_is_2(self, program):
        assert fencepost("robust").exit_code == 2
        assert fencepost("robust", program(SB), "--model", "c99").exit_code == 2

    def test_a_limit_reached_is_3(self, program):
        result = fencepost("robust", program(ENDLESS), "--max-states", 1000)
        assert result.exit_code == 3
        assert "the limit of 1,000 states was reached" in result.output

    def test_of_many_files_the_worst_counts(self, program):
        good, bad = program(MP, "good.tpl"), program(SB, "bad.tpl")
        open_, wrong = program(ENDLESS, "open.tpl"), program("?", "wrong.tpl")
        limit = ("--max-states", 1000, "-j", 2)
        assert fencepost("robust", good, open_, *limit).exit_code == 3
        assert fencepost("robust", good, open_, bad, *limit).exit_code == 1
        assert fencepost("robust", good, open_, bad, wrong, *limit).exit_code == 2


class TestWrongInput:
    @pytest.mark.parametrize(
        ("text", "line", "column"),
        [
            ("", 1, 1),
            ("   \n\n", 1, 1),
            ("global x;\nfn t {\n  x.store(1);\n", 3, 14),
            ("global x;\nfn t { y.store(1); }", 2, 8),
            ("global x, x;\nfn t { x.store(1); }", 1, 11),
            ("fn t { skip; }\nfn t { skip; }", 2, None),
            ("fn t { l: skip; l: skip; }", 1, 17),
            ("fn t {\n goto nowhere; }", 2, None),
            ("max_value 3;\nglobal x=4; fn t { }", 2, 10),
            (b"\x7fELF\x00\x01\x02\xff\xfe", 1, None),
            (b"global \xff;", 1, 8),
            ("global x;\nfn t { " + "(" * 100_000, 2, None),
            ("global x;\nfn t { x.store(" + "9" * 100_000 + "); }", 2, None),
        ],
    )
    def test_one_line_with_the_place_and_exit_code_2(self, program, text, line, column):
        path = program(text)
        result = fencepost("robust", path)
        assert result.exit_code == 2
        message = result.stderr.splitlines()[0]
        assert message.startswith(f"{path}:{line}:{'' if column is None else column}")
        assert result.stdout == ""
        assert "Traceback" not in result.output
        assert len(message) < 500

    def test_a_large_file_is_refused_at_once(self, program):
        path = program(b"global x; // " + b"x" * 10_000_000)
        result = fencepost("robust", path)
        assert result.exit_code == 2
        assert result.stderr.startswith(f"{path}: the file is larger than")

    def test_the_place_is_underlined(self, program):
        result = fencepost("robust", program("global x;\nfn t { x.store(1) }"))
        _, source, caret = result.stderr.splitlines()
        assert source == "    fn t { x.store(1) }"
        assert caret.index("^") == source.index(" }") + 1

    def test_a_missing_file_is_named(self, tmp_path):
        result = fencepost("robust", tmp_path / "none.tpl")
        assert result.exit_code == 2
        assert "none.tpl: cannot read the file" in result.stderr

    def test_no_picture_is_written(self, program, tmp_path):
        picture = tmp_path / "out.svg"
        assert fencepost("robust", program("fn {"), "--svg", picture).exit_code == 2
        assert not picture.exists()

    def test_an_unwritable_picture_is_an_error(self, program, tmp_path):
        result = fencepost("robust", program(SB), "--svg", tmp_path / "no" / "out.svg")
        assert result.exit_code == 2
        assert "cannot write the picture" in result.stderr

    def test_escape_sequences_do_not_reach_the_terminal(self, program):
        result = fencepost("robust", program("global x;\nfn t { x.store(1) \x1b[31m }"))
        assert "\x1b" not in result.output


class TestJson:
    def test_one_object_per_file(self, program):
        files = [program(MP, "mp.tpl"), program(SB, "sb.tpl")]
        result = fencepost("robust", *files, "--json")
        objects = [json.loads(line) for line in result.stdout.splitlines()]
        assert [o["file"] for o in objects] == files
        assert [o["verdict"] for o in objects] == ["robust", "not-robust"]
        for o in objects:
            assert o["question"] == "robust"
            assert o["model"] == "ra"
            assert set(o["stats"]) >= {"states", "transitions", "seconds", "peak_memory_mb"}
        assert objects[0]["witness"] is None
        assert objects[1]["witness"]["cycle"]

    def test_findings_are_fields_of_their_own(self, program):
        (race,) = map(json.loads, fencepost("robust", program(RACY), "--json").stdout.splitlines())
        assert race["verdict"] == "robust"
        assert race["race"]["cell"] == "d"
        (failing,) = map(json.loads, fencepost("robust", program(FAILING), "--json").stdout.splitlines())
        assert failing["assertion"]["kind"] == "assertion"

    def test_unknown_says_why(self, program):
        result = fencepost("robust", program(ENDLESS), "--json", "--max-states", 1000)
        answer = json.loads(result.stdout)
        assert answer["verdict"] == "unknown"
        assert "1,000 states" in answer["why"]


def test_the_picture_shows_the_witness(program, tmp_path):
    picture = tmp_path / "out.svg"
    assert fencepost("robust", program(SB), "--svg", picture).exit_code == 1
    assert picture.read_text().startswith("<svg")


def test_a_directory_stands_for_its_programs(program, tmp_path):
    program(MP, "a.tpl")
    program(SB, "b.tpl")
    result = fencepost("robust", tmp_path, "-q")
    assert [line.rpartition(": ")[2] for line in result.stdout.splitlines()] == ["robust", "not-robust"]


def test_show_prints_a_program_that_reads_back(program):
    shown = fencepost("show", program(MP)).stdout
    assert fencepost("show", program(shown, "again.tpl")).stdout == shown


class TestObservational:
    USED = SB.replace("y.load();", "y.load(); verify(a);").replace("x.load();", "x.load(); verify(b);")

    def test_values_that_are_not_used_may_be_stale(self, program):
        result = fencepost("robust", program(SB), "--criterion", "observational")
        assert result.exit_code == 0
        assert "observationally robust under ra" in result.output
        assert "nothing uses what the loads in lines 3, 4 read" in result.output

    def test_what_is_not_shown_is_undecided_and_has_a_run(self, program):
        result = fencepost("robust", program(self.USED), "--criterion", "observational")
        assert result.exit_code == 3
        assert "not shown to be observationally robust under ra" in result.output
        assert "▶" in result.output
        assert "makes it" not in result.output
        assert "not robust" not in result.output

    def test_one_line_for_scripts(self, program):
        files = program(SB, "a.tpl"), program(self.USED, "b.tpl")
        lines = fencepost("robust", "-q", *files, "--criterion", "observational").stdout.splitlines()
        assert [line.rpartition(": ")[2] for line in lines] == ["observationally robust", "unknown"]

    def test_json(self, program):
        result = fencepost("robust", "--json", program(self.USED), "--criterion", "observational")
        answer = json.loads(result.stdout)
        assert (answer["criterion"], answer["verdict"]) == ("observational", "unknown")
        assert answer["witness"]["kind"] == "graph"

    @pytest.mark.parametrize(
        "options", [("--model", "tso"), ("--search", "by-location")], ids=["model", "search"]
    )
    def test_what_does_not_go_together(self, program, options):
        result = fencepost("robust", program(SB), "--criterion", "observational", *options)
        assert result.exit_code == 2
        assert "--criterion observational" in result.stderr


class TestBench:
    def test_expected_verdicts_are_compared(self, program):
        program("// expect: robust ra=yes\n" + MP, "mp.tpl")
        folder = Path(program("// expect: robust ra=no\n" + SB, "sb.tpl")).parent
        assert fencepost("bench", folder, "--check-expected").exit_code == 0

    def test_a_difference_is_a_failure(self, program):
        result = fencepost("bench", program("// expect: robust ra=yes\n" + SB), "--check-expected")
        assert result.exit_code == 1
        assert "NO: robust" in result.output

    def test_a_race_that_was_not_expected_is_a_failure(self, program):
        text = "// expect: robust ra=yes\n// expect: race ra=no\n" + RACY
        assert fencepost("bench", program(text), "--check-expected").exit_code == 1

    def test_for_rocker_a_race_is_not_robust(self, program):
        not_robust = program("// ROBUSTNESS egr: not: ra.\n" + RACY, "a.tpl")
        assert fencepost("bench", not_robust, "--check-expected").exit_code == 0
        result = fencepost("bench", program("// ROBUSTNESS egr: robust: ra.\n" + RACY), "--check-expected")
        assert result.exit_code == 1
        assert "NO: egr" in result.output

    def test_several_verdicts_of_rocker(self, program):
        text = "// ROBUSTNESS egr: robust: ra. not: rlx. wegr: robust: ra. not: rlx.\n" + MP.replace(
            ", rel", ""
        )
        result = fencepost("bench", program(text), "--check-expected")
        assert result.exit_code == 0
        assert "4 with a stated verdict: 4 as expected" in result.output

    def test_observational_robustness_is_asked_where_it_is_stated(self, program):
        result = fencepost("bench", program("// expect: observational ra=yes\n" + SB), "--check-expected")
        assert result.exit_code == 0
        assert "observationally robust" in result.output
        result = fencepost("bench", program("// expect: observational ra=no\n" + SB), "--check-expected")
        assert result.exit_code == 1
        assert "NO: observational" in result.output

    def test_what_is_not_shown_is_undecided(self, program):
        used = SB.replace("load();", "load(); verify(a);", 1).replace("x.load();", "x.load(); verify(b);")
        result = fencepost("bench", program("// ROBUSTNESS wegr: not: ra.\n" + used), "--check-expected")
        assert result.exit_code == 3
        assert "1 undecided" in result.output

    def test_undecided_is_not_as_expected(self, program):
        result = fencepost(
            "bench", program("// expect: robust ra=yes\n" + ENDLESS), "--check-expected", "--max-states", 1000
        )
        assert result.exit_code == 3

    def test_measurements_are_written(self, program, tmp_path):
        out = tmp_path / "results" / "out.json"
        assert fencepost("bench", program(MP), "--output", out).exit_code == 0
        assert {row["model"] for row in json.loads(out.read_text())} >= {"ra"}


def test_ctrl_c_during_a_batch_leaves_undecided_answers(program):
    files = [program(ENDLESS, f"{i}.tpl") for i in range(4)]
    script = f"{HEED_CONTROL_C}; from fencepost.cli.main import main; main()"
    command = [sys.executable, "-c", script, "robust", *files, "--json", "-j", "2"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, env=environment, start_new_session=True
    ) as process:
        time.sleep(3)
        os.killpg(process.pid, signal.SIGINT)  # what a terminal does: the whole group gets it
        out = answer_within(process, 60)
    assert process.returncode == 3
    answers = [json.loads(line) for line in out.splitlines()]
    assert [a["verdict"] for a in answers] == ["unknown"] * 4
    assert all(a["interrupted"] for a in answers)


class TestForBuildServers:
    def test_a_baseline_leaves_what_is_new(self, program, tmp_path):
        old, new = program(SB, "old.tpl"), program(RACY, "new.tpl")
        baseline = tmp_path / "baseline.json"
        baseline.write_text(fencepost("robust", "--json", old).output)
        known = fencepost("robust", "--baseline", baseline, old)
        assert known.exit_code == 0
        assert "1 finding is in the baseline and not shown" in known.output
        both = fencepost("robust", "--baseline", baseline, old, new)
        assert both.exit_code == 1
        whole = fencepost("robust", "--json", "--baseline", baseline, old)
        assert json.loads(whole.output)["witness"] is not None

    def test_what_is_left_without_a_known_finding_decides(self, program, tmp_path):
        """The race is known. Without loops all is said then; with one, it is open what else there is. That an
        assertion fails is no finding, and never known."""
        loop = "fn t3 { local i; while (i < 5) { FADD(x, 1); i = i + 1; } }"
        failing = "fn t4 { local r; r = x.load(); assert(r == 1); }"
        baseline = tmp_path / "baseline.json"
        for more, code in (("", 0), (loop, 3), (failing, 1), (loop + failing, 1)):
            file = program(f"global x; {RACY} {more}")
            baseline.write_text(fencepost("outcomes", "--json", file).output)
            known = fencepost("outcomes", "--baseline", baseline, file)
            assert "1 finding is in the baseline and not shown" in known.output
            assert known.exit_code == code

    def test_a_wrong_baseline_is_2_before_anything_is_asked(self, program, tmp_path):
        result = fencepost("robust", "--baseline", tmp_path / "none.json", program(ENDLESS))
        assert result.exit_code == 2
        assert "cannot read the baseline" in result.output

    @pytest.mark.parametrize("command", ["robust", "persist", "fix"])
    def test_findings_as_sarif(self, program, tmp_path, command):
        path = tmp_path / "out.sarif"
        fencepost(command, program(SB), "--sarif", path)
        (run,) = json.loads(path.read_bytes())["runs"]
        assert len(run["results"]) == 1

    def test_answers_as_junit(self, program, tmp_path):
        path = tmp_path / "out.xml"
        fencepost(
            "robust", program(SB, "a.tpl"), program(MP, "b.tpl"), program("no", "c.tpl"), "--junit", path
        )
        assert 'tests="3" failures="1" errors="1"' in path.read_text()

    @pytest.mark.parametrize("option", ["--sarif", "--junit"])
    def test_a_report_that_cannot_be_written_is_2(self, program, tmp_path, option):
        result = fencepost("robust", program(MP), option, tmp_path / "none" / "out")
        assert result.exit_code == 2
        assert "cannot write the" in result.output


MUTEX = """// mutex: cs
max_value 1;
global flag[2];
fn p[2] {
    local r;
    while (1) {
        flag[tid].store(1);
        fence;
        r = flag[1 - tid].load();
        if (r == 0) { cs: flag[tid].store(0); } else { flag[tid].store(0); }
    }
}
"""
BROKEN_MUTEX = MUTEX.replace("fence;", "skip;")
TWO_WRITERS = "max_value 2; global x; fn t1 { x.store(1); } fn t2 { x.store(2); }"
# Safe under SRA, not robust, with a write/write race: what RA does is left open.
TWO_PLUS_TWO = """// bad: t1@end && t1.a == 1 && t2@end && t2.b == 1
max_value 2;
global x, y;
fn t1 { local a; x.store(1); y.store(2); a = y.load(); end: }
fn t2 { local b; y.store(1); x.store(2); b = x.load(); end: }
"""


LB = """C LB
{}
P0 (atomic_int* y, atomic_int* x) {
  int r0 = atomic_load_explicit(x, memory_order_acquire);
  atomic_store_explicit(y, 1, memory_order_release);
}
P1 (atomic_int* y, atomic_int* x) {
  int r1 = atomic_load_explicit(y, memory_order_acquire);
  atomic_store_explicit(x, 1, memory_order_release);
}
exists (0:r0=1 /\\ 1:r1=1)
"""


class TestVerify:
    def test_safe_is_0(self, program):
        result = fencepost("verify", program(MUTEX))
        assert result.exit_code == 0
        assert "safe under sra" in result.output

    def test_unsafe_is_1(self, program):
        result = fencepost("verify", program(BROKEN_MUTEX))
        assert result.exit_code == 1
        assert "Thread `p[0]` is at label `cs` (line 10) and thread `p[1]`" in result.output

    def test_a_label_that_is_not_there_is_2(self, program):
        path = program(MUTEX.replace("mutex: cs", "mutex: critical"))
        result = fencepost("verify", path)
        assert result.exit_code == 2
        assert result.stderr.startswith(f"{path}:1:11: `critical` is not a label of the program")
        assert result.stdout == ""

    @pytest.mark.parametrize(
        ("option", "text", "message"),
        [
            ("--mutex", "nowhere", "--mutex:1:1: `nowhere` is not a label"),
            ("--error-label", "nowhere", "--error-label:1:1: `nowhere` is not a label"),
            ("--bad", "p[2]@cs", "--bad:1:1: `p[2]` is not a thread"),
            ("--bad", "p[0]@cs &", "--bad:1:9: expected a formula"),
        ],
    )
    def test_a_mistake_in_an_option_is_2_and_names_it(self, program, option, text, message):
        result = fencepost("verify", program(MUTEX), option, text)
        assert result.exit_code == 2
        assert result.stderr.startswith(message)

    @pytest.mark.parametrize(
        "wrong", [["--model", "power"], ["--engine", "sideways"], ["--without", "everything"], []]
    )
    def test_wrong_usage_is_2(self, program, wrong):
        files = [program(MUTEX)] if wrong else []
        assert fencepost("verify", *files, *wrong).exit_code == 2

    def test_a_limit_reached_is_3(self, program):
        result = fencepost("verify", program(MUTEX), "--timeout", 0)
        assert result.exit_code == 3
        assert "the time limit was reached" in result.output

    def test_a_write_race_leaves_ra_open(self, program):
        path = program(TWO_PLUS_TWO)
        assert fencepost("verify", path).exit_code == 0
        result = fencepost("verify", path, "--model", "ra")
        assert result.exit_code == 3
        assert "it is safe under SRA, but it has a write/write race" in result.output

    def test_options_add_to_what_is_bad(self, program):
        path = program(MUTEX)
        assert fencepost("verify", path, "--error-label", "cs").exit_code == 1
        assert fencepost("verify", path, "--bad", "p[0].r == 1 && p[1].r == 1").exit_code == 1
        assert fencepost("verify", path, "--bad", "p[0]@cs && p[1]@cs").exit_code == 0

    def test_a_formula_before_the_end_is_not_taken_for_the_final_condition(self, program):
        path = program(LB, "lb.litmus")
        assert fencepost("verify", path).exit_code == 0
        answer = json.loads(fencepost("verify", path, "--bad", "P0.r0 == 1", "--json").stdout)
        assert answer["witness"]["bad"]["kind"] == "bad"

    def test_a_final_condition_is_a_bad_state(self, program):
        path = program(LB.replace("0:r0=1 /\\ 1:r1=1", "0:r0=1"), "lb.litmus")
        bad = json.loads(fencepost("verify", path, "--json").stdout)["witness"]["bad"]
        assert (bad["kind"], bad["places"][0]["registers"]) == ("final", {"r0": 1})

    @pytest.mark.parametrize("engine", ["portfolio", "backward", "forward"])
    def test_engines_agree_on_a_bug(self, program, engine):
        answer = json.loads(fencepost("verify", program(BROKEN_MUTEX), "--engine", engine, "--json").stdout)
        assert answer["verdict"] == "unsafe"
        assert answer["engine"] == ("forward" if engine == "portfolio" else engine)
        assert answer["witness"]["kind"] == "run-to-bad"
        assert answer["witness"]["bad"]["kind"] == "mutex"

    def test_under_sc_weak_memory_does_not_count(self, program):
        assert fencepost("verify", program(BROKEN_MUTEX), "--model", "sc").exit_code == 0

    def test_prunings_do_not_change_the_answer(self, program):
        without = [
            word for name in ("sources", "pairs", "joint", "subsumption") for word in ("--without", name)
        ]
        path = program(MUTEX)
        assert fencepost("verify", path, "--engine", "backward", *without[:6], "--timeout", 60).exit_code == 0
        assert fencepost("verify", program(BROKEN_MUTEX), "--engine", "backward", *without).exit_code == 1

    def test_the_picture_of_a_run_without_accesses(self, program, tmp_path):
        picture = tmp_path / "out.svg"
        assert fencepost("verify", program("fn t { assert(0); }"), "--svg", picture).exit_code == 1
        assert picture.read_text().startswith("<svg")

    def test_a_data_race_is_a_bad_state(self, program):
        path = program(UNGUARDED)
        for model in ("sc", "sra", "ra"):
            bad = json.loads(fencepost("verify", path, "--model", model, "--json").stdout)["witness"]["bad"]
            assert (bad["kind"], bad["cell"], len(bad["places"])) == ("data-race", "d", 2)
        result = fencepost("verify", path)
        assert result.exit_code == 1
        assert "Data race on `d`: `d.nastore(1)` (line 1) of thread `p`" in " ".join(result.output.split())
        assert fencepost("verify", path, "--ignore-races", "--assert", "d == 1").exit_code == 0
        assert fencepost("verify", path, "--ignore-races", "--assert", "q.r == 1").exit_code == 1

    def test_nothing_asked_is_2(self, program):
        for more in ([], ["--engine", "backward"], ["--model", "sc"], ["--certificate", "proof.json"]):
            result = fencepost("verify", program(TWO_WRITERS), *more)
            assert result.exit_code == 2
            assert "nothing was asked" in result.stderr
            assert "--assert" in result.stderr
        assert fencepost("verify", program(UNGUARDED), "--ignore-races").exit_code == 2

    def test_a_condition_from_outside(self, program):
        path = program(TWO_WRITERS)
        assert fencepost("verify", path, "--assert", "x != 0").exit_code == 0
        assert fencepost("verify", path, "--assert", "x != 0", "--assert", "x == 1").exit_code == 1
        assert fencepost("verify", path, "--assert", "y == 1").exit_code == 2


UNGUARDED = "na d; fn p { d.nastore(1); } fn q { local r; r = d.naload(); }"


class TestDataRaces:
    @pytest.mark.parametrize("model", ["rc20", "ra", "sra", "sc"])
    def test_racy_is_1(self, program, model):
        result = fencepost("races", program(UNGUARDED), "--model", model)
        assert result.exit_code == 1
        assert "Data race" in result.output

    def test_the_default_is_data_races_under_rc20(self, program):
        answer = json.loads(fencepost("races", program(UNGUARDED), "--json").stdout)
        assert (answer["model"], answer["criterion"]) == ("rc20", "data-race-free")
        assert fencepost("races", program(TWO_WRITERS)).exit_code == 0

    def test_what_was_not_looked_at_is_3(self, program):
        text = "na d; global x, y; fn p { local a;"
        text += " while (1) { x.store(1); a = y.load(); if (a == 0) { d.nastore(1); } } }"
        text += " fn q { local b; y.store(1); b = x.load(); if (b == 2) { b = d.naload(); } }"
        result = fencepost("races", program(text), "--max-states", "500")
        assert result.exit_code == 3
        assert "none was found in its execution graphs; but" in " ".join(result.output.split())


class TestWriteRaces:
    def test_race_free_is_0(self, program):
        assert fencepost("races", program(MUTEX), "--kind", "write-write").exit_code == 0

    def test_racy_is_1_and_names_both_writes(self, program):
        result = fencepost("races", program(TWO_WRITERS), "--kind", "write-write")
        assert result.exit_code == 1
        assert "`x.store(1)` (t1, line 1)" in result.output
        assert "`x.store(2)` (t2, line 1)" in result.output

    def test_json_has_the_ids_of_the_writes(self, program):
        witness = json.loads(
            fencepost("races", program(TWO_WRITERS), "--kind", "write-write", "--json").stdout
        )["witness"]
        assert [witness["events"][write]["kind"] for write in witness["bad"]["writes"]] == ["W", "W"]

    def test_wrong_input_is_2(self, program):
        assert fencepost("races", program("fn {")).exit_code == 2
        assert fencepost("races", program(MUTEX), "--kind", "write-write", "--model", "ra").exit_code == 2

    def test_a_limit_reached_is_3_and_is_about_races(self, program):
        result = fencepost("races", program(MUTEX), "--kind", "write-write", "--timeout", 0, "--json")
        assert result.exit_code == 3
        answer = json.loads(result.stdout)
        assert (answer["question"], answer["criterion"]) == ("races", "write-write-race-free")


class TestCertificates:
    @pytest.fixture
    def certificate(self, program, tmp_path):
        path = tmp_path / "proof.json"
        assert fencepost("verify", program(MUTEX), "--certificate", path).exit_code == 0
        return path

    def test_the_right_one_is_0(self, program, certificate):
        result = fencepost("check-certificate", program(MUTEX), certificate)
        assert result.exit_code == 0
        assert "right" in result.output

    def test_comments_do_not_count(self, program, certificate):
        path = program(MUTEX.replace("max_value 1;", "max_value 1; // 0 or 1\n"))
        assert fencepost("check-certificate", path, certificate).exit_code == 0

    def test_that_of_another_program_is_1(self, program, certificate):
        result = fencepost("check-certificate", program(BROKEN_MUTEX), certificate)
        assert result.exit_code == 1
        assert "it is the certificate of another program" in result.output

    def test_one_that_proves_too_little_is_1(self, program, certificate):
        result = fencepost("check-certificate", program(MUTEX), certificate, "--bad", "p[0]@cs")
        assert result.exit_code == 1
        assert "wrong" in result.output

    def test_one_that_ignores_races_proves_too_little(self, program, tmp_path):
        path, proof = program(UNGUARDED), tmp_path / "races.json"
        ignoring = ["--ignore-races", "--assert", "d == 1"]
        assert fencepost("verify", path, *ignoring, "--certificate", proof).exit_code == 0
        assert fencepost("check-certificate", path, proof, *ignoring).exit_code == 0
        assert fencepost("check-certificate", path, proof, "--assert", "d == 1").exit_code == 1

    def test_a_state_taken_out_is_noticed(self, program, certificate):
        proof = json.loads(certificate.read_text())
        del proof["basis"][-1]
        certificate.write_text(json.dumps(proof))
        assert fencepost("check-certificate", program(MUTEX), certificate).exit_code == 1

    @pytest.mark.parametrize(
        ("content", "message"),
        [
            (b"", ":1:1: expected a certificate of fencepost"),
            (b"{\n?", ":2:1: expected a certificate of fencepost"),
            (b"\xff\xfe", ":1:1: expected a certificate of fencepost"),
            (b"{}", ": not a certificate of fencepost: object missing required field"),
            (b"[" * 100_000, ": not a certificate of fencepost: expected `object`, got `array`"),
        ],
    )
    def test_what_is_none_is_2(self, program, tmp_path, content, message):
        path = tmp_path / "none.json"
        path.write_bytes(content)
        result = fencepost("check-certificate", program(MUTEX), path)
        assert result.exit_code == 2
        assert result.stderr.startswith(f"{path}{message}")
        assert "Traceback" not in result.output

    def test_a_missing_one_is_2(self, program, tmp_path):
        result = fencepost("check-certificate", program(MUTEX), tmp_path / "none.json")
        assert result.exit_code == 2
        assert "none.json: cannot read the certificate" in result.stderr

    def test_nothing_is_written_if_unsafe(self, program, tmp_path):
        path = tmp_path / "proof.json"
        assert fencepost("verify", program(BROKEN_MUTEX), "--certificate", path).exit_code == 1
        assert not path.exists()

    def test_nothing_is_written_if_undecided(self, program, tmp_path):
        path = tmp_path / "proof.json"
        assert fencepost("verify", program(MUTEX), "--certificate", path, "--timeout", 0).exit_code == 3
        assert not path.exists()

    def test_one_that_cannot_be_written_is_2(self, program, tmp_path):
        result = fencepost("verify", program(MUTEX), "--certificate", tmp_path / "no" / "proof.json")
        assert result.exit_code == 2
        assert "cannot write the certificate" in result.stderr

    @pytest.mark.parametrize(
        "more", [["--model", "ra"], ["--model", "sc"], ["second"], ["--engine", "forward"]]
    )
    def test_it_takes_one_program_sra_and_the_backward_search(self, program, tmp_path, more):
        files = [program(MUTEX), *([program(MUTEX, "second.tpl")] if more == ["second"] else [])]
        options = [] if more == ["second"] else more
        path = tmp_path / "proof.json"
        assert fencepost("verify", *files, *options, "--certificate", path).exit_code == 2
        assert not path.exists()

    def test_a_directory_is_not_one_program(self, program, tmp_path):
        program(MUTEX, "a.tpl")
        program(BROKEN_MUTEX, "b.tpl")
        path = tmp_path / "proof.json"
        assert fencepost("verify", tmp_path, "--certificate", path).exit_code == 2
        assert not path.exists()


class TestOutcomes:
    SB_TEST = "C SB\n{ x = 0; y = 0; }\n" + "".join(
        f"P{n}(atomic_int* x, atomic_int* y) {{ atomic_store_explicit({a}, 1, memory_order_relaxed); "
        f"int r0 = atomic_load_explicit({b}, memory_order_relaxed); }}\n"
        for n, (a, b) in enumerate(["xy", "yx"])
    )

    def test_a_possible_condition_is_1_and_an_impossible_one_0(self, program):
        asked = program(self.SB_TEST + "exists (0:r0 = 0 /\\ 1:r0 = 0)\n", "sb.litmus")
        assert fencepost("outcomes", asked).exit_code == 1
        assert fencepost("outcomes", "--model", "tso", asked).exit_code == 1
        assert fencepost("outcomes", "--model", "sc", asked).exit_code == 0

    def test_it_agrees_with_verify_about_the_exit_code(self, program):
        for condition in ("exists (0:r0 = 0)", "~exists (0:r0 = 0)", "forall (0:r0 = 0)", "forall (x = 1)"):
            asked = program(f"{self.SB_TEST}{condition}\n", "sb.litmus")
            for model in ("sc", "sra", "ra"):
                codes = {fencepost(c, "--model", model, asked).exit_code for c in ("outcomes", "verify")}
                assert len(codes) == 1, (condition, model)

    def test_without_a_condition_it_is_0(self, program):
        assert fencepost("outcomes", program(SB)).exit_code == 0

    def test_a_race_is_1(self, program):
        assert fencepost("outcomes", program(RACY)).exit_code == 1

    def test_a_failing_assertion_is_1(self, program):
        assert fencepost("outcomes", program(FAILING)).exit_code == 1

    def test_a_limit_is_3(self, program):
        result = fencepost("outcomes", "--max-states", 3, program(SB))
        assert result.exit_code == 3
        assert "the limit of 3 events was reached" in result.output

    def test_json_is_one_object_per_file(self, program):
        result = fencepost("outcomes", "--json", program(SB), program(MP, "mp.tpl"))
        first, second = map(json.loads, result.output.splitlines())
        assert first["question"] == second["question"] == "outcomes"
        assert first["verdict"] == "listed"
        assert first["names"] == ["t1:a", "t2:b", "x", "y"]
        assert first["outcomes"][0]["under"]["sc"] == "forbidden"

    def test_several_files_are_one_table(self, program):
        asked = program(self.SB_TEST + "exists (0:r0 = 0 /\\ 1:r0 = 0)\n", "sb.litmus")
        result = fencepost("outcomes", asked, program(MP))
        assert result.output.splitlines()[0].split() == [
            *("file", "outcomes", "sc", "tso", "sra", "ra", "rc20", "cpp20")
        ]
        assert "2 files: 1 possible, 1 without a condition" in result.output

    def test_a_mistake_in_one_file_is_2(self, program):
        assert fencepost("outcomes", program(SB), program("fn", "wrong.tpl")).exit_code == 2

    def test_explain_is_about_one_file(self, program):
        result = fencepost("outcomes", "--explain", 1, program(SB), program(MP, "mp.tpl"))
        assert result.exit_code == 2
        assert "--explain takes exactly one program" in result.output

    def test_an_outcome_that_is_not_there_is_2(self, program):
        assert fencepost("outcomes", "--explain", 9, program(SB)).exit_code == 2

    def test_any_number_of_threads_needs_a_number(self, program):
        counter = program("global x; fn t[*] { FADD(x, 1); }")
        assert fencepost("outcomes", counter).exit_code == 2
        assert fencepost("outcomes", "--instances", 2, counter).exit_code == 0

    def test_reports_are_written(self, program, tmp_path):
        names = {kind: tmp_path / f"out.{kind}" for kind in ("html", "svg", "sarif", "junit")}
        options = [word for kind, path in names.items() for word in (f"--{kind}", path)]
        result = fencepost("outcomes", "--explain", 1, *options, program(SB))
        assert result.exit_code == 0
        assert all(path.stat().st_size > 0 for path in names.values())

    def test_control_c_leaves_it_unknown(self, program):
        stores = "".join(f"x.store({n}); " for n in range(1, 6))
        large = program("global x; " + "".join(f"fn t{n} {{ {stores} }} " for n in range(5)))
        code = f"{HEED_CONTROL_C}\nfrom fencepost.cli.main import main; main()"
        process = subprocess.Popen([sys.executable, "-c", code, "outcomes", large], stdout=subprocess.PIPE)
        time.sleep(2)
        process.send_signal(signal.SIGINT)
        assert "interrupted" in answer_within(process, 60).decode()
        assert process.returncode == 3


class TestVerifyUnderAllModels:
    def test_the_table_has_all_models_and_the_default_counts(self, program):
        result = fencepost("verify", program(BROKEN_MUTEX))
        assert result.exit_code == 1
        assert "unsafe under sra" in result.output
        assert [line.split()[:2] for line in result.output.splitlines() if "  safe" in line] == [
            ["sc", "safe"]
        ]

    def test_what_is_required_counts(self, program):
        path = program(BROKEN_MUTEX)
        assert fencepost("verify", path, "--require", "sc").exit_code == 0
        assert fencepost("verify", path, "--require", "sc,tso").exit_code == 1
        assert fencepost("verify", path, "--require", "sra").exit_code == 1

    def test_json_stays_one_object_with_all_verdicts(self, program):
        answer = json.loads(
            fencepost("verify", program(BROKEN_MUTEX), "--require", "sc,rc20", "--json").stdout
        )
        assert answer["model"] == "rc20"
        assert answer["verdict"] == "unsafe"
        assert {one["model"]: one["required"] for one in answer["models"]} == {
            "sc": True,
            "tso": False,
            "sra": False,
            "ra": False,
            "rc20": True,
        }

    def test_one_model_alone_has_no_table(self, program):
        answer = json.loads(fencepost("verify", program(BROKEN_MUTEX), "--model", "sra", "--json").stdout)
        assert "models" not in answer

    def test_models_that_do_not_take_the_program_are_not_asked(self, program):
        path = program("global x; fn t { local r; x.store(1, sc); r = x.load(sc); assert(r == 1); }")
        answer = json.loads(fencepost("verify", path, "--json").stdout)
        assert answer["model"] == "cpp20"
        assert {one["model"] for one in answer["models"] if one["verdict"] == "not-asked"} == {"sra", "ra"}
        assert fencepost("verify", path, "--require", "ra").exit_code == 2

    def test_who_takes_relaxed_accesses_for_more_is_named(self, program):
        path = program("global x, y; fn t { x.store(1, rlx); y.store(1, rel); assert(1); }")
        answer = json.loads(fencepost("verify", path, "--json").stdout)
        assert answer["warnings"] == [
            "sra and ra take relaxed accesses as acquire and release, first in line 1; "
            "`--model rc20` takes the modes as they are written"
        ]

    @pytest.mark.parametrize(
        "wrong",
        [
            ["--require", "power"],
            ["--require", "sc", "--model", "sc"],
            ["--require", "sc", "--engine", "forward"],
        ],
    )
    def test_wrong_usage_is_2(self, program, wrong):
        assert fencepost("verify", program(BROKEN_MUTEX), *wrong).exit_code == 2

    def test_deadlocks_are_not_asked_of_all(self, program):
        path = program("global x; fn t { wait(x, 1); }")
        answer = json.loads(fencepost("verify", path, "--deadlocks", "--json").stdout)
        assert answer["verdict"] == "unsafe"
        assert {one["model"] for one in answer["models"] if one["verdict"] == "not-asked"} == {"rc20"}
