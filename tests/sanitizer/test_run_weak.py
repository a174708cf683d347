"""`fencepost run --weak`: the program's own assertions fail where weak memory does harm."""

from __future__ import annotations

import json
from pathlib import Path

from fencepost.memory_models import EXIT_WRONG_INPUT
from tests.sanitizer.building import PROGRAMS, Shell


def _built(tmp_path: Path) -> Shell:
    shell = Shell(tmp_path)
    source = PROGRAMS / "weak" / "publication.c"
    shell.ok("fencepost-cc", "-O1", "-g", source, "-o", "publication")
    return shell


def test_an_assertion_fails_in_weak_runs_only_and_again_with_the_same_seed(tmp_path: Path) -> None:
    shell = _built(tmp_path)
    strong = json.loads(
        shell.run("fencepost", "run", "--schedule", "random", "--json", "./publication").stdout
    )
    assert strong["troubles"] == []
    weak = ("fencepost", "run", "--schedule", "random", "--weak", "--json")
    answer = json.loads(shell.run(*weak, "./publication").stdout)
    (trouble,) = answer["troubles"]
    assert trouble["why"] == "was killed by SIGABRT"
    assert trouble["schedule"]["weak"]
    seed = str(trouble["schedule"]["seed"])
    again = json.loads(shell.run(*weak, "--seed", seed, "--runs", "1", "./publication").stdout)
    assert [one["why"] for one in again["troubles"]] == [trouble["why"]]


def test_an_assertion_fails_in_weak_runs_under_pct_too(tmp_path: Path) -> None:
    weak = ("fencepost", "run", "--schedule", "pct", "--weak", "--json", "./publication")
    answer = json.loads(_built(tmp_path).run(*weak).stdout)
    assert [one["why"] for one in answer["troubles"]] == ["was killed by SIGABRT"]


def test_a_run_goes_on_weakly_from_a_finding(tmp_path: Path) -> None:
    shell = _built(tmp_path)
    events = shell.directory / "events"
    for seed in range(1, 100):
        settings = f"schedule=random:seed={seed}:quiet=1:exitcode=0:json={events}"
        shell.ok("./publication", FENCEPOST_OPTIONS=settings)
        found = [one for one in map(json.loads, events.read_text().splitlines()) if one["event"] == "finding"]
        if found:
            break
    settings += f":weak=1:weak_from={found[0]['step']}:weak_seed=7"
    assert shell.run("./publication", FENCEPOST_OPTIONS=settings).returncode != 0
    old = [one for one in map(json.loads, events.read_text().splitlines()) if one["event"] == "old-read"]
    assert [(one["step"], one["value"], one["newest"]) for one in old] == [(found[0]["step"], 0, 42)]


def test_weak_runs_need_a_schedule(tmp_path: Path) -> None:
    done = Shell(tmp_path).run("fencepost", "run", "--weak", "./publication")
    assert done.returncode == EXIT_WRONG_INPUT
    assert "--weak needs --schedule" in done.stderr
