"""Where an access stands and what it accesses, in the words of the source: lines, callers, names of data."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.sanitizer.building import PROGRAMS, Shell, Toolchain, head_of, with_each_compiler

HERE = PROGRAMS / "places"
# Of functions, as the head of a file says it.
LINES = re.compile(r"^// lines of (\w+): (\d+) to (\d+)$", re.MULTILINE)


def built(shell: Shell, name: str, *options: str) -> Path:
    source = HERE / name
    compiler = "fencepost-cc" if source.suffix == ".c" else "fencepost-c++"
    shell.ok(compiler, "--mode", "atomics", *options, source, "-o", source.stem)
    return shell.directory / source.stem


def findings_of(shell: Shell, program: Path, *arguments: str, schedule: str = "os") -> list[dict[str, Any]]:
    done = shell.run("fencepost", "run", "--schedule", schedule, "--json", program, *arguments)
    findings: list[dict[str, Any]] = json.loads(done.stdout)["findings"]
    return findings


def lines_in(findings: list[dict[str, Any]]) -> set[tuple[int, int]]:
    return {
        (one["access"]["stack"][0]["line"], one["missed"]["stack"][0]["line"])
        for one in findings
        if one["kind"] == "robustness"
    }


def lines_said(source: Path, how: str = "") -> set[tuple[int, int]]:
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
        findings = findings_of(shell, program, *arguments, schedule="random")
        assert lines_in(findings) == lines_said(HERE / "equal_branches.c", how)


@with_each_compiler
def test_an_access_that_was_made_of_two_is_near_a_line(tmp_path: Path, toolchain: Toolchain) -> None:
    """The line is one of its function; clang has none for the access itself."""
    shell = Shell(tmp_path, toolchain)
    source = HERE / "merged_accesses.c"
    shell.ok("fencepost-cc", "-O2", source, "-o", "merged")
    findings = findings_of(shell, shell.directory / "merged", schedule="random")
    accesses = [one[side]["stack"][0] for one in findings for side in ("access", "missed")]
    lines = {name: range(int(first), int(last)) for name, first, last in LINES.findall(source.read_text())}
    assert {frame["function"].partition(".")[0] for frame in accesses} == {"write_one", "read_one"}
    for frame in accesses:
        assert frame["line"] in lines[frame["function"].partition(".")[0]]
        assert frame["near"] == (toolchain.cc != "gcc")
    said = shell.run("fencepost", "run", "--schedule", "random", "./merged").stdout
    assert ("#0 write_one near " in said) == (toolchain.cc != "gcc")


@with_each_compiler
def test_a_chain_is_known_after_many_threads_have_ended(tmp_path: Path, toolchain: Toolchain) -> None:
    shell = Shell(tmp_path, toolchain)
    source = HERE / "many_ended_threads.c"
    findings = findings_of(shell, built(shell, source.name, "-O1"))
    assert lines_in(findings) == lines_said(source)
    said = re.findall(r"^// repair: (\w+) (\d+)$", source.read_text(encoding="utf-8"), re.MULTILINE)
    assert {(one["order"], str(one["at"]["line"])) for one in findings[0]["repair"]} == set(said)


@pytest.mark.parametrize("options", [("-O0",), ("-O2",), ("-O1", "-gdwarf-4"), ("-O1", "-gz")], ids=" ".join)
@with_each_compiler
def test_elements_fields_and_function_statics_have_names(
    tmp_path: Path, toolchain: Toolchain, options: tuple[str, ...]
) -> None:
    shell = Shell(tmp_path, toolchain)
    source = HERE / "names.cpp"
    names = {one["location"]["name"] for one in findings_of(shell, built(shell, source.name, *options))}
    said = re.findall(r"^// named: (.*)$", source.read_text(encoding="utf-8"), re.MULTILINE)
    assert names == set(said)


@with_each_compiler
def test_a_wrapper_is_named_with_its_caller(tmp_path: Path, toolchain: Toolchain) -> None:
    shell = Shell(tmp_path, toolchain)
    for name in ("relaxed.h", "wrapped.c"):
        shell.write(name, (HERE / name).read_text(encoding="utf-8"))
    shell.ok("fencepost-cc", "--mode", "atomics", "-O1", "wrapped.c", "-o", "wrapped")
    text = (HERE / "wrapped.c").read_text(encoding="utf-8")
    for said in re.findall(r"^// says: (.*)$", text, re.MULTILINE):
        assert without_columns(said) in without_columns(shell.run("fencepost", "run", "./wrapped").stdout)
        assert without_columns(said) in without_columns(shell.run("./wrapped").stderr)


def without_columns(text: str) -> str:
    """On one line; addr2line knows no columns."""
    return re.sub(r"(\.[ch]:\d+):\d+", r"\1", " ".join(text.split()))


@with_each_compiler
def test_a_block_that_was_freed_is_still_known(tmp_path: Path, toolchain: Toolchain) -> None:
    shell = Shell(tmp_path, toolchain)
    source = HERE / "freed_block.c"
    program = built(shell, source.name, "-O1")
    (found,) = findings_of(shell, program)
    assert found["location"]["kind"] == "heap"
    line = head_of(source)["allocated"]
    assert line in [str(frame["line"]) for frame in found["location"]["stack"]]
    allocation = shell.run(program).stderr.partition("allocated at:")[2].partition("\n\n")[0]
    assert f"freed_block.c:{line}" in allocation
