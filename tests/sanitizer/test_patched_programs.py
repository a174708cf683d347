"""`fix` of compiled programs: the patch as a diff, as fixes in SARIF, and written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.report.sarif_schema import checked_run
from tests.sanitizer.building import INSTALLED, Shell

pytest.importorskip("clang.cindex", reason="libclang is not installed")

SB = """#include "access.h"
#include <pthread.h>

static atomic_int x, y;
static int a, b;

static void *left(void *unused) {
  x = 1;
  a = READ(&y);
  return unused;
}

static void *right(void *unused) {
  atomic_store_explicit(&y, 1, memory_order_relaxed);
  b = READ(&x);
  return unused;
}

int main(void) {
  pthread_t one, two;
  pthread_create(&one, 0, left, 0);
  pthread_create(&two, 0, right, 0);
  pthread_join(one, 0);
  pthread_join(two, 0);
  return a + b > 2;
}
"""
ACCESS = """#include <stdatomic.h>
#define READ(p) atomic_load_explicit(p, memory_order_relaxed)
"""


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    shell = Shell(tmp_path, INSTALLED[0])
    shell.write("access.h", ACCESS)
    shell.write("sb.c", SB)
    shell.ok("fencepost-cc", "--mode", "full", "-O1", "-Wall", "-Wextra", "-Werror", "sb.c", "-o", "sb")
    return shell


def with_fixes(shell: Shell, result: dict[str, Any]) -> dict[str, str]:
    """The files with the replacements of a result, as a code host would make them."""
    (fix,) = result["fixes"]
    texts = {}
    for change in fix["artifactChanges"]:
        name = change["artifactLocation"]["uri"]
        lines = (shell.directory / name).read_text(encoding="utf-8").splitlines(keepends=True)
        for one in sorted(change["replacements"], key=lambda one: -one["deletedRegion"]["startLine"]):
            region = one["deletedRegion"]
            start, end = region["startLine"] - 1, region["endLine"] - 1
            first = lines[start][: region["startColumn"] - 1]
            last = lines[end][region["endColumn"] - 1 :]
            lines[start : end + 1] = [first + one["insertedContent"]["text"] + last]
        texts[name] = "".join(lines)
    return texts


def test_the_fixes_in_sarif_are_the_patch_that_is_written(shell: Shell) -> None:
    done = shell.ok("fencepost", "fix", "--sarif", "sb.sarif", "./sb")
    (result,) = checked_run((shell.directory / "sb.sarif").read_bytes())["results"]
    assert "To repair it, at the least cost: " in result["message"]["text"]
    texts = with_fixes(shell, result)
    assert texts
    assert set(texts) <= {"sb.c", "access.h"}
    assert "--- a/" in done
    before = {name: (shell.directory / name).read_text(encoding="utf-8") for name in texts}
    shell.ok("fencepost", "fix", "--write", "--yes", "./sb")
    after = {name: (shell.directory / name).read_text(encoding="utf-8") for name in texts}
    assert after == texts != before
    # The program that was built is not the patched one: its sources have changed.
    again = shell.run("fencepost", "fix", "./sb")
    assert "has changed since the program was built" in " ".join(again.stdout.split())
    shell.ok("fencepost-cc", "--mode", "full", "-O1", "-Wall", "-Wextra", "-Werror", "sb.c", "-o", "sb")
    assert "sb: robust" in shell.ok("fencepost", "check", "./sb")
    assert "Nothing needs to be changed" in " ".join(shell.ok("fencepost", "fix", "./sb").split())


def test_nothing_is_written_if_a_source_has_changed(shell: Shell) -> None:
    text = SB + "\n"
    shell.write("sb.c", text)
    done = shell.run("fencepost", "fix", "--write", "--yes", "./sb")
    assert done.returncode == 2
    assert "nothing was written: sb.c has changed since the program was built" in done.stderr
    assert (shell.directory / "sb.c").read_text(encoding="utf-8") == text
    assert (shell.directory / "access.h").read_text(encoding="utf-8") == ACCESS
