"""Where an access stands and what it accesses, in the words of the source: lines, callers, names of data."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.sanitizer.building import PROGRAMS, Shell, Toolchain, with_each_compiler

HERE = PROGRAMS / "places"


def built(shell: Shell, name: str, *options: str) -> Path:
    source = HERE / name
    compiler = "fencepost-cc" if source.suffix == ".c" else "fencepost-c++"
    shell.ok(compiler, *options, source, "-o", source.stem)
    return shell.directory / source.stem


def findings_of(shell: Shell, program: Path, *arguments: str) -> list[dict[str, Any]]:
    done = shell.run("fencepost", "run", "--schedule", "random", "--json", program, *arguments)
    findings: list[dict[str, Any]] = json.loads(done.stdout)["findings"]
    return findings


def lines_said(source: Path, how: str) -> set[tuple[int, int]]:
    """The lines of the accesses and of the writes that they miss, as the head of the file says it."""
    text = source.read_text(encoding="utf-8")
    pairs = re.findall(rf"^// reported{how}: (\d+) misses (\d+)$", text, re.MULTILINE)
    return {(int(access), int(missed)) for access, missed in pairs}


@pytest.mark.parametrize("level", ["-O1", "-O3"])
@with_each_compiler
def test_equal_branches_keep_their_lines(tmp_path: Path, toolchain: Toolchain, level: str) -> None:
    shell = Shell(tmp_path, toolchain)
    program = built(shell, "equal_branches.c", level)
    for how, arguments in (("", ()), (" with an argument", ("1",))):
        lines = {
            (one["access"]["stack"][0]["line"], one["missed"]["stack"][0]["line"])
            for one in findings_of(shell, program, *arguments)
        }
        assert lines == lines_said(HERE / "equal_branches.c", how)
