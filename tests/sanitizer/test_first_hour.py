"""Programs that a new user writes in the first hour: what each mode says of them, as their heads expect."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.sanitizer.building import PROGRAMS, Shell, Toolchain, head_of, with_each_compiler

SOURCES = sorted((PROGRAMS / "first_hour").iterdir())
SCHEDULES = ("--schedule", "random", "--runs", "20")
# The default build is under a schedule what mode full is, and else what mode races is.
RUNS = {"atomics": ("atomics", SCHEDULES), "full": ("all", SCHEDULES), "races": ("all", ("--runs", "20"))}


@with_each_compiler
@pytest.mark.parametrize("mode", RUNS)
@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.stem)
def test_the_answer_is_what_the_head_expects(
    tmp_path: Path, source: Path, mode: str, toolchain: Toolchain
) -> None:
    head = head_of(source)
    shell = Shell(tmp_path, toolchain)
    shell.write(source.name, source.read_text(encoding="utf-8"))
    compiler = "fencepost-c++" if source.suffix == ".cpp" else "fencepost-cc"
    flags = head.get("flags", "").split()
    built_in, options = RUNS[mode]
    shell.ok(compiler, "--mode", built_in, *flags, "-O1", source.name, "-o", "program")
    done = shell.run("fencepost", "run", *options, "./program")
    answer = " ".join(done.stdout.split())
    seen = next(verdict for verdict in expected(head, mode) if verdict in done.stdout.splitlines()[-1])
    assert done.returncode == (0 if seen == "nothing seen" else 1)
    for inner in ("_Invoker", "_M_invoke", "libsanitizer", "tsan_interceptors", "native/sanitizer"):
        assert inner not in answer
    if seen == "nothing seen":
        assert ("Not watched: plain accesses" in answer) is (mode == "atomics")
        assert ("--mode atomics" in answer) is (mode == "atomics")
        return
    assert head["repair"] in answer
    assert ("Harmless? It can be" in answer) is (seen == "not robust")
    assert "      > " in done.stdout


def expected(head: dict[str, str], mode: str) -> list[str]:
    """Mode full finds what one of the others finds."""
    if mode != "full":
        return head[mode].split(" or ")
    return [head["atomics"] if head["atomics"] != "nothing seen" else head["races"]]
