"""The commands that docs/trust.md names are there, and take what they are given; those that run for minutes
with less of it."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys

import pytest

from tests.docs.pages import ROOT, code_words

PAGE = ROOT / "docs" / "trust.md"
COMMANDS = sorted({word for word in code_words(PAGE) if re.match(r"(make|python -m) ", word)})
# What is run instead; None: nothing, for it needs what is not here, or takes minutes before it says anything.
INSTEAD = {
    "python -m tests.engine.rules_fired 800": "python -m tests.engine.rules_fired 2",
    "python -m tests.fuzz.campaign 60 --jobs 2 --inputs 1000000": (
        "python -m tests.fuzz.campaign 5 formulas --jobs 2 --inputs 10"
    ),
    "python -m tests.mutants.run --fresh": "python -m tests.mutants.run --fresh --help",
    "python -m tests.fuzz.coverage_guided tpl -max_total_time=60": None,
    "python -m tests.faults.out_of_memory QUESTION 1 1": None,  # tests/faults/test_out_of_memory.py does
}


def test_the_page_names_commands() -> None:
    assert len(COMMANDS) > 10
    assert set(COMMANDS) >= set(INSTEAD)


@pytest.mark.parametrize("command", [word for word in COMMANDS if word.startswith("python")])
def test_modules_take_what_the_page_gives_them(command: str) -> None:
    module = command.split()[2]
    assert importlib.util.find_spec(module) is not None
    instead = INSTEAD[command]
    if instead is None:
        return
    done = subprocess.run(
        [sys.executable, *instead.split()[1:]], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout


@pytest.mark.parametrize("command", [word for word in COMMANDS if word.startswith("make")])
def test_make_knows_what_the_page_asks_for(command: str) -> None:
    """All the commands it would run are printed, and none is run."""
    done = subprocess.run(
        [*command.split(), "--dry-run"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
