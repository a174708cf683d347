"""How a load comes after a write if that was long ago, or came by way of many threads."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.sanitizer.building import INSTALLED, PROGRAMS, Shell

PROGRAM = PROGRAMS / "long_chains.c"
FORGOTTEN = "Repair: None was tried, because it is not known how the write comes before this access"


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path, INSTALLED[0])


def build(shell: Shell, *defined: str) -> None:
    shell.ok("fencepost-cc", "-std=gnu11", "-O1", "-pthread", *defined, PROGRAM, "-o", "program")


def only_finding(shell: Shell, runs: int) -> dict[str, Any]:
    command = ("fencepost", "run", "--schedule", "random", "--runs", str(runs), "--json", "./program")
    (finding,) = json.loads(shell.run(*command).stdout)["findings"]
    return dict(finding)


@pytest.mark.parametrize(
    ("defined", "links"),
    [("-DROUNDS=3000", 2), ("-DROUNDS=40000", 2), ("-DRELAYS=14", 15), ("-DMEETING=12", 3)],
)
def test_every_finding_has_a_chain_and_a_repair(shell: Shell, defined: str, links: int) -> None:
    build(shell, defined)
    finding = only_finding(shell, 3)
    assert len(finding["chain"]) == 2 * links
    assert finding["chain"][0]["what"] == "write passed[0]"
    assert finding["repair"]
    assert finding["tried"] == finding["occurrences"]


def test_a_run_of_its_own_says_how_to_remember_more(shell: Shell) -> None:
    build(shell, "-DROUNDS=3000")
    settings = "schedule=random:exitcode=0"
    assert FORGOTTEN in " ".join(shell.run("./program", FENCEPOST_OPTIONS=settings).stderr.split())
    said = shell.run("./program", FENCEPOST_OPTIONS=f"{settings}:history=65536").stderr
    assert "Repair: In thread" in said
    assert FORGOTTEN[:20] not in said
