"""The workflows and the action for other repositories, as far as they can be tested here.

What the action runs is run, with this package in place of the one that it installs.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

import fencepost
from fencepost.cli.main import COMMANDS
from tests.packaging.wheels import ROOT

WORKFLOWS = {
    path.stem: yaml.safe_load(path.read_text(encoding="utf-8"))
    for path in (ROOT / ".github" / "workflows").glob("*.yml")
}
WHEELS = WORKFLOWS["wheels"]
JOBS = [job for workflow in WORKFLOWS.values() for job in workflow["jobs"].values()]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
STEPS = [step for job in JOBS for step in job["steps"]]


def test_jobs_wait_for_jobs_that_exist():
    for workflow in WORKFLOWS.values():
        jobs = workflow["jobs"]
        for job in jobs.values():
            needed = job.get("needs", [])
            assert {needed} <= set(jobs) if isinstance(needed, str) else set(needed) <= set(jobs)


def test_every_job_says_where_it_runs_and_may_change_nothing():
    assert all(job["runs-on"] for job in JOBS)
    assert all(workflow["permissions"] == {"contents": "read"} for workflow in WORKFLOWS.values())
    assert "secrets." not in json.dumps(WORKFLOWS)


def test_what_the_workflow_runs_exists():
    lines = "\n".join(step.get("run", "") for step in STEPS)
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    made = [word for words in re.findall(r"\bmake ([\w ]+)", lines) for word in words.split()]
    assert set(made) - {"TESTS"} <= targets
    assert {"test", "lint", "docs", "vscode"} <= set(made)
    tests = [name for names in re.findall(r'TESTS="?([^"\n]+)', lines) for name in names.split()]
    assert all((ROOT / name).exists() for name in tests)
    assert set(re.findall(r"^\s*fencepost (\w+)", lines, re.MULTILINE)) <= set(COMMANDS)
    named = re.findall(r"(?<!/)\b(?:examples|editor)/[\w+./-]+", lines)
    assert named
    assert all((ROOT / name).exists() or name == "editor/vendor" for name in named)


def test_every_version_of_python_is_tested_on_both_architectures():
    matrix = WHEELS["jobs"]["test"]["strategy"]["matrix"]
    assert matrix["python"] == ["3.11", "3.12", "3.13", "3.14"]
    assert matrix["arch"] == WHEELS["jobs"]["wheels"]["strategy"]["matrix"]["arch"] == ["x86_64", "aarch64"]


def test_only_a_tag_is_published_and_without_a_password():
    publish = WHEELS["jobs"]["publish"]
    assert publish["if"] == "startsWith(github.ref, 'refs/tags/v')"
    assert publish["permissions"] == {"id-token": "write"}
    assert set(publish["needs"]) == {"wheels", "test", "sdist"}


def test_every_input_of_the_action_is_used():
    steps = json.dumps(ACTION["runs"])
    assert all(f"inputs.{name}" in steps for name in ACTION["inputs"])
    scripts = "".join(step.get("run", "") for step in ACTION["runs"]["steps"])
    assert "${{" not in scripts  # values reach scripts by their environment, where they are no code


@pytest.fixture
def ask(tmp_path):
    """Runs what the action runs; gives the exit code of the step and what it says to the next ones."""
    step = next(step for step in ACTION["runs"]["steps"] if step.get("id") == "ask")
    start = "import sys; sys.argv[0] = 'fencepost'; from fencepost.cli.start import main; main()"
    program = tmp_path / "fencepost" / "bin" / "fencepost"
    program.parent.mkdir(parents=True)
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -c "{start}" "$@"\n', encoding="utf-8")
    program.chmod(0o755)

    def run(**inputs: str) -> tuple[int, dict[str, str]]:
        values = {name: one.get("default", "") for name, one in ACTION["inputs"].items()} | inputs
        given = {
            name: values[value.removeprefix("${{ inputs.").removesuffix(" }}")]
            for name, value in step["env"].items()
        }
        said = tmp_path / "output"
        said.write_text("", encoding="utf-8")
        environment = {
            **os.environ,
            **given,
            "PYTHONPATH": str(Path(fencepost.__file__).parents[1]),
            "RUNNER_TEMP": str(tmp_path),
            "GITHUB_OUTPUT": str(said),
        }
        command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
        done = subprocess.run(
            command, cwd=ROOT / "examples", env=environment, check=False, capture_output=True
        )
        outputs = dict(line.split("=", 1) for line in said.read_text(encoding="utf-8").splitlines())
        return done.returncode, outputs

    return run


def test_findings_are_written_as_sarif_and_judged_later(ask):
    code, outputs = ask(paths="tutorial/sb.tpl tutorial/publish.tpl", model="rc20")
    assert (code, outputs["exit-code"]) == (0, "1")
    (run,) = json.loads(Path(outputs["sarif"]).read_text(encoding="utf-8"))["runs"]
    assert [result["ruleId"] for result in run["results"]] == ["not-robust"]


def test_what_holds_ends_with_0(ask):
    code, outputs = ask(paths="tutorial/publish.tpl", question="races")
    assert (code, outputs["exit-code"]) == (0, "0")


def test_wrong_input_ends_the_step(ask):
    code, outputs = ask(paths="tutorial/publish.tpl", question="verify", arguments="--mutex no-such-label -q")
    assert (code, outputs["exit-code"]) == (2, "2")


def test_inputs_are_not_run(ask, tmp_path):
    touched = tmp_path / "touched"
    code, _ = ask(paths=f"$(touch {touched}) ; touch {touched}", model="ra")
    assert code == 2
    assert not touched.exists()
