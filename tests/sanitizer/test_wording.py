"""A finding reads the same whether the program was started directly or by `fencepost run`."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import pytest

from tests.sanitizer.building import PROGRAMS, Shell, Toolchain, with_each_compiler

_ELEMENT = re.compile(r"\[(\d+)\]")
# Where a line that is not part of a sentence begins.
_BLOCKS = re.compile(r"^ *((WARNING|Why|Repair|And|SUMMARY): |Harmless\?)", re.MULTILINE)

# In different order by two threads, one of them a std::thread, so that its stack has inner parts of that.
_INVERSION = """#include <mutex>
#include <thread>
static std::mutex first, second;
static void transfer(std::mutex &from, std::mutex &to) {
    std::lock_guard<std::mutex> a(from);
    std::lock_guard<std::mutex> b(to);
}
int main() {
    std::thread other([] { transfer(second, first); });
    transfer(first, second);
    other.join();
}
"""


def sentences(report: str) -> list[list[str]]:
    """Of each finding the title, why, how to judge it, the repairs and the summary, on one line each."""
    findings = []
    for text in report.split("==================\n"):
        if not text.startswith("WARNING: "):
            continue
        starts = [match.start() for match in _BLOCKS.finditer(text)]
        blocks = [text[a:b] for a, b in zip(starts, [*starts[1:], len(text)], strict=True)]
        title = blocks[0].splitlines()[0]
        findings.append([title, *(" ".join(block.partition("\n\n")[0].split()) for block in blocks[1:])])
    return sorted(findings)


def counted_in_bytes(report: str) -> str:
    """Elements as a program that was started directly names them: only `run` reads debug information."""
    return _ELEMENT.sub(lambda index: f"+{4 * int(index[1])}" if index[1] != "0" else "", report)


@with_each_compiler
@pytest.mark.parametrize("symboliser", ["llvm-symbolizer", "addr2line"])
@pytest.mark.parametrize("name", ["every_access.cpp", "passing_on.c"])
def test_a_finding_reads_the_same_started_directly_or_by_run(
    tmp_path: Path, name: str, symboliser: str, toolchain: Toolchain
) -> None:
    source = (PROGRAMS / "wording" / name).read_text(encoding="utf-8")
    expected = re.findall(r"^// reported: (.*)$", source, re.MULTILINE)
    shell = Shell(tmp_path, toolchain)
    shell.write(name, source)
    compiler = "fencepost-c++" if name.endswith("pp") else "fencepost-cc"
    shell.ok(compiler, "--mode", "atomics", "-O1", name, "-o", "program")
    path = only(shell, symboliser, "setarch")
    # Addresses of the heap are the same only without randomisation.
    direct = sentences(shell.run("setarch", "-R", "./program", PATH=path).stderr)
    by_run = shell.run("setarch", "-R", "fencepost", "run", "./program", PATH=path).stdout
    assert [title for title, *_ in direct] == sorted(f"WARNING: fencepost: {title}" for title in expected)
    assert direct == sentences(counted_in_bytes(by_run))
    for finding in direct:
        assert sum(block.startswith("Harmless? It can be: see ") for block in finding) == 1
        assert any(block.startswith("Repair: ") for block in finding)


@with_each_compiler
@pytest.mark.parametrize("symboliser", ["llvm-symbolizer", "addr2line"])
def test_a_deadlock_reads_the_same_and_names_the_calls_and_the_holders(
    tmp_path: Path, symboliser: str, toolchain: Toolchain
) -> None:
    shell = Shell(tmp_path, toolchain)
    shell.write("dead.cpp", _INVERSION)
    shell.ok("fencepost-c++", "-O1", "dead.cpp", "-o", "dead")
    path = only(shell, symboliser)
    for seed in range(1, 20):
        options = f"schedule=random:seed={seed}"
        direct = shell.run("./dead", PATH=path, FENCEPOST_OPTIONS=options)
        if direct.returncode:
            break
    command = ("fencepost", "run", "--schedule", "random", "--runs", "1", "--seed", str(seed), "./dead")
    by_run = shell.run(*command, PATH=path).stdout
    report = direct.stderr.split("==================\n")[1]
    until = report.index("\n\nSUMMARY")
    assert report[:until] == by_run.split("==================\n")[1][:until]
    assert "  Main thread waits for the mutex `second`, which thread T1 holds:\n" in report
    assert "  Thread T1 waits for the mutex `first`, which main thread holds:\n" in report
    assert report.count("\n      > 6 |     std::lock_guard<std::mutex> b(to);\n") == 2
    assert not re.search("_Invoker|_State_impl|__invoke|std_thread|sanitizer|libc", report)


def only(shell: Shell, *tools: str) -> str:
    """A PATH with no programs but ours and these; a test that needs another one is skipped."""
    directory = shell.directory / "tools"
    directory.mkdir()
    for tool in tools:
        found = shutil.which(tool) or pytest.skip(f"{tool} is not installed")
        (directory / tool).symlink_to(found)
    return f"{shell.programs}{os.pathsep}{directory}"
