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


def test_nothing_is_written_if_a_header_has_changed(shell: Shell) -> None:
    shell.write("access.h", ACCESS + "\n")
    done = shell.run("fencepost", "fix", "--write", "--yes", "./sb")
    assert done.returncode == 2
    assert "nothing was written: access.h has changed since the program was built" in done.stderr
    assert (shell.directory / "sb.c").read_text(encoding="utf-8") == SB


# With these options the repair is two fences, which are new lines: what stands below them moves.
_BY_FENCES = ("--cost", "sc-fence=1", "--without", "sc-store")
_LATE = len(SB.splitlines()) + 1  # the line behind the program


def refused(shell: Shell, text: str) -> str:
    """Why the patch of this program is not written."""
    shell.write("sb.c", text)
    shell.ok("fencepost-cc", "--mode", "full", "-O1", "sb.c", "-o", "sb")
    done = shell.run("fencepost", "fix", *_BY_FENCES, "--write", "--yes", "./sb")
    assert done.returncode == 2
    assert "+  atomic_thread_fence(memory_order_seq_cst);" in done.stdout
    assert (shell.directory / "sb.c").read_text(encoding="utf-8") == text
    assert (shell.directory / "access.h").read_text(encoding="utf-8") == ACCESS
    return " ".join(done.stderr.split())


def test_nothing_is_written_if_the_patch_does_not_compile(shell: Shell) -> None:
    why = refused(shell, SB + f'_Static_assert(__LINE__ == {_LATE}, "it has moved");\n')
    assert "nothing was written: the patched program cannot be built here" in why
    assert "it has moved" in why


def test_nothing_is_written_if_the_patched_program_shows_something(shell: Shell) -> None:
    """Only this one is to be blamed: where the line has moved, two more accesses are relaxed."""
    declared = f"""#if __LINE__ == {_LATE}
#define MOVED memory_order_seq_cst
#else
#define MOVED memory_order_relaxed
#endif
static atomic_int u, v;
static void *more(void *which) {{
  atomic_store_explicit(which ? &u : &v, 1, MOVED);
  return atomic_load_explicit(which ? &v : &u, MOVED) ? which : 0;
}}
static void with_more(void) {{
  pthread_t one, two;
  pthread_create(&one, 0, more, &u);
  pthread_create(&two, 0, more, 0);
  pthread_join(one, 0);
  pthread_join(two, 0);
}}
"""
    text = "static void with_more(void);\n" + SB.replace(
        "return a + b > 2", "with_more();\n  return a + b > 2"
    )
    why = refused(shell, text + declared.replace(str(_LATE), str(len(text.splitlines()) + 1)))
    assert "nothing was written: the patched program still shows a finding" in why


def test_nothing_is_written_if_the_patched_program_fails(shell: Shell) -> None:
    main = next(number for number, line in enumerate(SB.splitlines(), 1) if "return a + b" in line)
    why = refused(shell, SB.replace("a + b > 2", f"__LINE__ != {main}"))
    assert "the patched program fails, as it did not before: an execution exited with code 1" in why
