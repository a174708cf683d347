"""`fencepost fix` on the command line."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import fencepost
from fencepost.analyses.repair.checks import FixProgress
from fencepost.cli.commands.fix import fix
from fencepost.engine.search import Progress
from fencepost.formats import tpl
from fencepost.report.text.progress import ProgressLine
from tests.interrupting import HEED_CONTROL_C, answer_within

SB = """// store buffering
max_value 1;
global x, y;
fn left {
    local r;
    x.store(1);
    r = y.load(); // the other's
}
fn right {
    local r;
    y.store(1);
    r = x.load();
}
"""
SLOW = """max_value 3; global a, b, c, d, e;
fn p[4] { local r; while (1) {
    a.store(tid); r = b.load(); b.store(r + 1); r = c.load(); c.store(r + tid); r = d.load();
    d.store(r + 1); r = e.load(); e.store(r); r = a.load(); } }
"""


@pytest.fixture
def sb(tmp_path: Path) -> Path:
    file = tmp_path / "sb.tpl"
    file.write_text(SB, encoding="utf-8")
    return file


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(fix, [str(argument) for argument in arguments])


def test_the_report_has_the_changes_the_diff_and_the_proof(sb: Path) -> None:
    result = run(sb)
    assert result.exit_code == 0
    assert f"{sb}: robust under ra after changing 2 places (cost 20)" in result.output
    assert "insert `fence;` before `r = y.load()`" in result.output
    assert "\n     x.store(1);\n+    fence;\n     r = y.load(); // the other's\n" in result.output
    assert "The repaired program, checked once more: " in result.output


def test_all_lists_every_minimum(sb: Path) -> None:
    result = run(sb, "--all", "--cost", "exchange=0")
    assert "No other repair costs as little." in result.output
    two = sb.with_name("2+2w.tpl")
    two.write_text(
        "max_value 2; global x, y; fn a { x.store(1); y.store(2); } fn b { y.store(1); x.store(2); }"
    )
    result = run(two, "--all")
    assert "repairs cost 8, and none costs less." in result.output
    assert "Repair 1\n" in result.output
    assert "Repair 2\n" in result.output


def test_a_robust_program_needs_no_change(tmp_path: Path) -> None:
    file = tmp_path / "one.tpl"
    file.write_text("global x; fn t { x.store(1); }")
    result = run(file, "--output", tmp_path / "two.tpl")
    assert result.exit_code == 0
    assert f"{file}: robust under ra as it is" in result.output
    assert (tmp_path / "two.tpl").read_text() == file.read_text()


def test_what_cannot_be_repaired_is_shown(sb: Path, tmp_path: Path) -> None:
    result = run(sb, "--without", "sc-fence", "--output", tmp_path / "out.tpl")
    assert result.exit_code == 1
    assert "No set of the allowed changes makes the program robust." in result.output
    assert "can read the initial value" in result.output
    assert not (tmp_path / "out.tpl").exists()


def test_quiet_prints_verdict_and_cost(sb: Path) -> None:
    assert run(sb, "-q").output == f"{sb}: robust, cost 20\n"
    assert run(sb, "-q", "--cost", "sc-fence=0.5").output == f"{sb}: robust, cost 1\n"


def test_json(sb: Path) -> None:
    answer = json.loads(run(sb, "--json", "--model", "rc20").output)
    assert (answer["question"], answer["model"], answer["verdict"]) == ("fix", "rc20", "robust")
    assert [edit["line"] for edit in answer["edits"]] == [7, 12]
    assert answer["proof"]["states"] > 0


def test_output_is_a_program_that_needs_no_repair(sb: Path, tmp_path: Path) -> None:
    repaired = tmp_path / "repaired.tpl"
    assert run(sb, "--output", repaired).exit_code == 0
    assert repaired.read_text(encoding="utf-8").startswith("// store buffering\n")
    assert run(repaired, "-q").output == f"{repaired}: robust, cost 0\n"


def test_the_input_is_only_overwritten_by_force(sb: Path) -> None:
    result = run(sb, "--output", sb)
    assert result.exit_code == 2
    assert "--force" in result.output
    assert sb.read_text(encoding="utf-8") == SB
    assert run(sb, "--output", sb, "--force").exit_code == 0
    assert len(tpl.read(sb.read_text(encoding="utf-8")).threads[0].code) == 3


def test_an_output_that_cannot_be_written_is_told(sb: Path, tmp_path: Path) -> None:
    result = run(sb, "--output", tmp_path / "no" / "such" / "directory.tpl")
    assert result.exit_code == 2
    assert "cannot write the program" in result.output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--cost", "sc-fence"], "as in `sc-fence=10`"),
        (["--cost", "fence=1"], "there is no change `fence`; expected one of: sc-fence, "),
        (["--cost", "sc-fence=x"], "the cost of sc-fence is `x`; expected a number"),
        (["--cost", "sc-fence=-1"], "between 0 and 1000"),
        (["--cost", "sc-fence=nan"], "between 0 and 1000"),
        (["--cost", "sc-fence=inf"], "between 0 and 1000"),
        (["--cost", "sc-fence="], "expected a number"),
        (["--without", "fences"], "there is no change `fences`"),
        (["--model", "sra"], "sra"),
        (["--criterion", "persistent"], "goes with --model tso"),
        (["--loop-weight", "0"], "--loop-weight"),
        (["--timeout", "-1"], "-1"),
    ],
)
def test_wrong_usage_is_told(sb: Path, arguments: list[str], message: str) -> None:
    result = run(sb, *arguments)
    assert result.exit_code == 2
    assert message in " ".join(result.output.split())


def test_a_mistake_in_the_file_is_told_with_its_place(tmp_path: Path) -> None:
    file = tmp_path / "typo.tpl"
    file.write_text("global x;\nfn t { x.stor(1); }\n")
    result = run(file)
    assert result.exit_code == 2
    assert f"{file}:2:10:" in result.output
    assert run(tmp_path / "missing.tpl").exit_code == 2


def test_a_limit_gives_exit_code_3(tmp_path: Path) -> None:
    file = tmp_path / "slow.tpl"
    file.write_text(SLOW)
    result = run(file, "--timeout", "0.5", "--output", tmp_path / "out.tpl")
    assert result.exit_code == 3
    assert "Not decided: the time limit of 0.5 s was reached." in result.output
    assert "costs less than" in result.output


def test_control_c_gives_what_is_known(tmp_path: Path) -> None:
    file = tmp_path / "slow.tpl"
    file.write_text(SLOW)
    start = (
        f"{HEED_CONTROL_C}; import sys; from fencepost.cli.commands.fix import fix; "
        "import fencepost.analyses.repair.fix, highspy; print('ready', flush=True); fix(sys.argv[1:])"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(fencepost.__file__).parents[2])}
    with subprocess.Popen(
        [sys.executable, "-c", start, str(file), "--json"], stdout=subprocess.PIPE, env=environment
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(2)
        process.send_signal(signal.SIGINT)
        output = answer_within(process, 60)
    assert process.returncode == 3
    answer = json.loads(output)
    assert answer["verdict"] == "unknown"
    assert answer["interrupted"]
    assert "interrupted" in answer["why"]


def test_the_progress_line_tells_sets_bound_and_best() -> None:
    stream = io.StringIO()
    line = ProgressLine(stream, 1)
    line._started -= 10  # nothing is shown in the first second
    assert not line.repairing(FixProgress(7, 20, None, 3.2))
    assert not line.repairing(FixProgress(12, 37.5, 48, 4.0, Progress(123, 0, 0, 0.0, 0.5)))
    line.close()
    assert "7 sets tried, lower bound 20, best so far none yet, 3 s" in stream.getvalue()
    assert (
        "12 sets tried, lower bound 37.5, best so far 48; checking one, 123 states, 4 s" in stream.getvalue()
    )
