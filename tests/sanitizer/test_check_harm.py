"""`fencepost check --harm`: which findings break the program in weak executions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fencepost.memory_models import EXIT_VIOLATED, EXIT_WRONG_INPUT
from tests.sanitizer.building import PROGRAMS, Shell, head_of


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> Shell:
    return Shell(tmp_path_factory.mktemp("harm"))


def _checked(shell: Shell, source: Path, *options: str) -> dict[str, Any]:
    build = head_of(source).get("build", "-O1").split()
    shell.ok("fencepost-cc", "-g", *build, source, "-o", source.stem)
    done = shell.run("fencepost", "check", "--harm", "--json", *options, f"./{source.stem}")
    assert done.returncode == EXIT_VIOLATED, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def _word(harm: dict[str, Any]) -> str:
    if not harm["executions"]:
        return "unknown"
    return "shown" if harm["shown"] else "none"


@pytest.mark.parametrize("source", sorted((PROGRAMS / "harm").glob("*.c")), ids=lambda source: source.stem)
def test_harm_is_that_of_the_head(shell: Shell, source: Path) -> None:
    """By the location of each finding; `why` is part of how the program fails."""
    head = head_of(source)
    findings = [one for one in _checked(shell, source)["findings"] if one["kind"] == "robustness"]
    assert (
        ", ".join(sorted(f"{one['location']['name']} {_word(one['harm'])}" for one in findings))
        == (head["harm"])
    )
    for one in findings:
        assert head.get("why", "") in one["harm"]["why"]
        assert (one["harm"]["schedule"] is not None) == one["harm"]["shown"]


def test_findings_with_harm_come_first_and_are_errors(shell: Shell) -> None:
    answer = _checked(shell, PROGRAMS / "harm" / "two_kinds.c", "--sarif", "log.sarif")
    assert [one["harm"]["shown"] for one in answer["findings"]] == [True, False, False, False]
    (log,) = json.loads((shell.directory / "log.sarif").read_text())["runs"]
    assert [one["level"] for one in log["results"]] == ["error", "note", "note", "note"]


def test_the_run_that_shows_harm_can_be_replayed(shell: Shell) -> None:
    source = PROGRAMS / "weak" / "publication.c"
    answer = _checked(shell, source)
    (finding,) = answer["findings"]
    assert finding["harm"]["schedule"]["departure"]["old_reads"] == 1
    shell.write("report.json", json.dumps(answer))
    again = json.loads(shell.run("fencepost", "run", "--replay", "report.json", "--json").stdout)
    assert [one["why"] for one in again["troubles"]] == [finding["harm"]["why"]] == ["was killed by SIGABRT"]
    assert "Assertion" in finding["harm"]["output"]


def test_the_text_says_in_how_many_executions_no_harm_was_found(shell: Shell) -> None:
    shell.ok("fencepost-cc", "-g", "-O1", PROGRAMS / "harm" / "two_kinds.c", "-o", "text")
    done = shell.run("fencepost", "check", "--harm", "--weak-runs", "20", "./text")
    assert "(harm shown: 1 of 4)" in done.stdout
    assert "Harm: shown. In a weak execution in which the load missed that write, the program was" in (
        done.stdout
    )
    assert done.stdout.count("Harm: none found in") == 3


def test_weak_runs_go_with_harm(shell: Shell) -> None:
    done = shell.run("fencepost", "check", "--weak-runs", "20", "./text")
    assert done.returncode == EXIT_WRONG_INPUT
    assert "--weak-runs goes with --harm" in done.stderr


def test_a_race_that_is_suppressed_is_no_harm(shell: Shell) -> None:
    shell.write("suppressions", "race:inside\n")
    source = PROGRAMS / "harm" / "race.c"
    answer = _checked(shell, source, "--suppressions", "suppressions")
    assert [_word(one["harm"]) for one in answer["findings"]] == ["none", "none"]
