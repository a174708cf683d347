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

from holdfast.cli import main
from interrupting import HEED_CONTROL_C, answer_within

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
# Neighbours share a counter, and count by steps of their own.
ENDLESS = "".join(
    ["global a, b, c, d;"]
    + [
        f"fn t{n} {{ while (1) {{ FADD({x}, {n}); FADD({y}, {n + 4}); }} }}"
        for n, (x, y) in enumerate(["ab", "bc", "cd", "da"])
    ]
)


@pytest.fixture
def program(tmp_path):
    def write(text, name="program.tpl"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return str(path)

    return write


def holdfast(*arguments):
    return CliRunner().invoke(main, [str(a) for a in arguments], catch_exceptions=False)


class TestExitCodes:
    def test_robust_is_0(self, program):
        assert holdfast("robust", program(MP)).exit_code == 0

    def test_not_robust_is_1(self, program):
        assert holdfast("robust", program(SB)).exit_code == 1

    def test_a_race_in_a_robust_program_is_1(self, program):
        result = holdfast("robust", program(RACY))
        assert result.exit_code == 1
        assert "robust under ra, with a data race" in result.output

    def test_a_failing_assertion_is_1(self, program):
        assert holdfast("robust", program(FAILING)).exit_code == 1

    def test_wrong_input_is_2(self, program):
        assert holdfast("robust", program("fn {")).exit_code == 2

    def test_wrong_usage_is_2(self, program):
        assert holdfast("robust").exit_code == 2
        assert holdfast("robust", program(SB), "--model", "c99").exit_code == 2

    def test_a_limit_reached_is_3(self, program):
        result = holdfast("robust", program(ENDLESS), "--max-states", 1000)
        assert result.exit_code == 3
        assert "the limit of 1,000 states was reached" in result.output

    def test_of_many_files_the_worst_counts(self, program):
        good, bad = program(MP, "good.tpl"), program(SB, "bad.tpl")
        open_, wrong = program(ENDLESS, "open.tpl"), program("?", "wrong.tpl")
        limit = ("--max-states", 1000, "-j", 2)
        assert holdfast("robust", good, open_, *limit).exit_code == 3
        assert holdfast("robust", good, open_, bad, *limit).exit_code == 1
        assert holdfast("robust", good, open_, bad, wrong, *limit).exit_code == 2


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
            ("max_value 3; global x;\nfn t { x.store(4); }", 2, 16),
            (b"\x7fELF\x00\x01\x02\xff\xfe", 1, None),
            (b"global \xff;", 1, 8),
            ("global x;\nfn t { " + "(" * 100_000, 2, None),
            ("global x;\nfn t { x.store(" + "9" * 100_000 + "); }", 2, None),
        ],
    )
    def test_one_line_with_the_place_and_exit_code_2(self, program, text, line, column):
        path = program(text)
        result = holdfast("robust", path)
        assert result.exit_code == 2
        message = result.stderr.splitlines()[0]
        assert message.startswith(f"{path}:{line}:{'' if column is None else column}")
        assert result.stdout == ""
        assert "Traceback" not in result.output
        assert len(message) < 500

    def test_a_large_file_is_refused_at_once(self, program):
        path = program(b"global x; // " + b"x" * 10_000_000)
        result = holdfast("robust", path)
        assert result.exit_code == 2
        assert result.stderr.startswith(f"{path}:1:1: the file is larger than")

    def test_the_place_is_underlined(self, program):
        result = holdfast("robust", program("global x;\nfn t { x.store(1) }"))
        _, source, caret = result.stderr.splitlines()
        assert source == "    fn t { x.store(1) }"
        assert caret.index("^") == source.index(" }") + 1

    def test_a_missing_file_is_named(self, tmp_path):
        result = holdfast("robust", tmp_path / "none.tpl")
        assert result.exit_code == 2
        assert "none.tpl:1:1: cannot read the file" in result.stderr

    def test_no_picture_is_written(self, program, tmp_path):
        picture = tmp_path / "out.svg"
        assert holdfast("robust", program("fn {"), "--svg", picture).exit_code == 2
        assert not picture.exists()

    def test_an_unwritable_picture_is_an_error(self, program, tmp_path):
        result = holdfast("robust", program(SB), "--svg", tmp_path / "no" / "out.svg")
        assert result.exit_code == 2
        assert "cannot write the picture" in result.stderr

    def test_escape_sequences_do_not_reach_the_terminal(self, program):
        result = holdfast("robust", program("global x;\nfn t { x.store(1) \x1b[31m }"))
        assert "\x1b" not in result.output


class TestJson:
    def test_one_object_per_file(self, program):
        files = [program(MP, "mp.tpl"), program(SB, "sb.tpl")]
        result = holdfast("robust", *files, "--json")
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
        (race,) = map(json.loads, holdfast("robust", program(RACY), "--json").stdout.splitlines())
        assert race["verdict"] == "robust"
        assert race["race"]["cell"] == "d"
        (failing,) = map(json.loads, holdfast("robust", program(FAILING), "--json").stdout.splitlines())
        assert failing["assertion"]["kind"] == "assertion"

    def test_unknown_says_why(self, program):
        result = holdfast("robust", program(ENDLESS), "--json", "--max-states", 1000)
        answer = json.loads(result.stdout)
        assert answer["verdict"] == "unknown"
        assert "1,000 states" in answer["why"]


def test_the_picture_shows_the_witness(program, tmp_path):
    picture = tmp_path / "out.svg"
    assert holdfast("robust", program(SB), "--svg", picture).exit_code == 1
    assert picture.read_text().startswith("<svg")


def test_a_directory_stands_for_its_programs(program, tmp_path):
    program(MP, "a.tpl")
    program(SB, "b.tpl")
    result = holdfast("robust", tmp_path, "-q")
    assert [line.rpartition(": ")[2] for line in result.stdout.splitlines()] == ["robust", "not-robust"]


def test_show_prints_a_program_that_reads_back(program):
    shown = holdfast("show", program(MP)).stdout
    assert holdfast("show", program(shown, "again.tpl")).stdout == shown


class TestBench:
    def test_expected_verdicts_are_compared(self, program):
        program("// expect: robust ra=yes\n" + MP, "mp.tpl")
        folder = Path(program("// expect: robust ra=no\n" + SB, "sb.tpl")).parent
        assert holdfast("bench", folder, "--check-expected").exit_code == 0

    def test_a_difference_is_a_failure(self, program):
        result = holdfast("bench", program("// expect: robust ra=yes\n" + SB), "--check-expected")
        assert result.exit_code == 1
        assert "NO: robust" in result.output

    def test_a_race_that_was_not_expected_is_a_failure(self, program):
        text = "// expect: robust ra=yes\n// expect: race ra=no\n" + RACY
        assert holdfast("bench", program(text), "--check-expected").exit_code == 1

    def test_undecided_is_not_as_expected(self, program):
        result = holdfast(
            "bench", program("// expect: robust ra=yes\n" + ENDLESS), "--check-expected", "--max-states", 1000
        )
        assert result.exit_code == 3

    def test_measurements_are_written(self, program, tmp_path):
        out = tmp_path / "results" / "out.json"
        assert holdfast("bench", program(MP), "--output", out).exit_code == 0
        assert {row["model"] for row in json.loads(out.read_text())} >= {"ra"}


def test_ctrl_c_during_a_batch_leaves_undecided_answers(program):
    files = [program(ENDLESS, f"{i}.tpl") for i in range(4)]
    script = f"{HEED_CONTROL_C}; from holdfast.cli import main; main()"
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
