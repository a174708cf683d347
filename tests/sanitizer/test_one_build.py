"""One build for everything: under a schedule what mode full is, without one what mode races is."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.sanitizer.building import PROGRAMS, Shell, Toolchain, with_each_compiler
from tests.sanitizer.test_races import BOTH

EXAMPLES = Path(__file__).parents[2] / "examples" / "c"
SCHEDULES = ("os", "random", "pct")
OWN_MALLOC = PROGRAMS / "survival/an_instrumented_malloc.c"
OWN_MUNMAP = """#include <stddef.h>
int munmap(void *begin, size_t bytes);
int munmap(void *begin, size_t bytes) { (void)begin; (void)bytes; return 0; }
int main(void) { return 3; }
"""

pytestmark = with_each_compiler


@pytest.fixture
def shell(tmp_path: Path, toolchain: Toolchain) -> Shell:
    return Shell(tmp_path, toolchain)


def built(shell: Shell, text: str, *options: str) -> None:
    shell.write("program.c", text)
    shell.ok("fencepost-cc", *options, "-O1", "program.c", "-o", "program")


def answer(shell: Shell, *command: str | Path) -> dict[str, Any]:
    result: dict[str, Any] = json.loads(shell.run("fencepost", *command).stdout)
    return result


class TestBothImages:
    def test_data_races_are_found_however_the_program_is_started(self, shell: Shell) -> None:
        built(shell, BOTH)
        for options in (
            ("run",),
            ("run", "--schedule", "random"),
            ("run", "--schedule", "pct"),
            ("check",),
        ):
            seen = answer(shell, *options, "--json", "./program")
            assert (seen["mode"], seen["plain"]) == ("all", "all"), options
            race = next(one for one in seen["findings"] if one["kind"] == "race")
            assert race["location"]["name"] == "plain", options
            lines = {race["access"]["stack"][0]["line"], race["missed"]["stack"][0]["line"]}
            assert lines == {8, 14}, options

    def test_a_direct_start_prints_names_and_lines(self, shell: Shell) -> None:
        built(shell, BOTH)
        for schedule in SCHEDULES:
            done = shell.run("setarch", "-R", "./program", FENCEPOST_OPTIONS=f"schedule={schedule}")
            assert done.returncode == 66, schedule
            assert re.search(r"#0 \w+ .*program\.c:14", done.stderr), schedule
            assert "'plain'" in done.stderr, schedule

    def test_without_a_schedule_it_has_the_instructions_of_mode_races(self, shell: Shell) -> None:
        built(shell, BOTH)
        ours = instructions(shell)
        built(shell, BOTH, "--mode", "races")
        theirs = instructions(shell)
        common = ours.keys() & theirs.keys()
        assert {"main", "__wrap___tsan_atomic32_load", "pthread_mutex_lock"} <= common
        assert {name: ours[name] for name in common} == {name: theirs[name] for name in common}

    @pytest.mark.parametrize("name", ["dekker-acq-rel.c", "ms-queue.cpp"])
    def test_under_a_schedule_it_is_what_mode_full_is(self, shell: Shell, name: str) -> None:
        compiler = ("fencepost-c++", "-std=c++20") if name.endswith("pp") else ("fencepost-cc",)
        shell.ok(*compiler, "-O1", EXAMPLES / name, "-o", "all")
        shell.ok(*compiler, "-O1", "--mode", "full", EXAMPLES / name, "-o", "full")
        assert asked(shell, "./all") == asked(shell, "./full")


def instructions(shell: Shell) -> dict[str, list[str]]:
    """The operations of each function that the program or its run-time library has, without the operands:
    addresses are others. Functions that share a name are left out, and what aligns code."""
    listing = shell.ok("objdump", "-d", "--no-show-raw-insn", "program")
    found: dict[str, list[str]] = {}
    repeated: set[str] = set()
    for text in re.split(r"\n\n", listing):
        head, _, body = text.strip().partition("\n")
        name = head.partition("<")[2].removesuffix(">:")
        operations = re.findall(r"^ +[0-9a-f]+:\t(\w+)", body, re.MULTILINE)
        repeated |= {name} & set(found)
        found[name] = [
            one for one in operations if one not in ("nop", "nopw", "nopl", "data16", "cs", "xchg")
        ]
    ours = ("main", "__wrap_", "__tsan_", "_ZN9fencepost", "pthread_")
    found.pop("__tsan_default_suppressions", None)  # at the start
    return {name: code for name, code in found.items() if name.startswith(ours) and name not in repeated}


def asked(shell: Shell, program: str) -> list[Any]:
    """What does not depend on addresses, of some runs."""
    facts: list[Any] = []
    for schedule in ("random", "pct"):
        seen = answer(shell, "run", "--json", "--schedule", schedule, "--runs", "3", program)
        facts += [seen["verdict"], seen["steps"], seen["atomics"], seen["plain"]]
        facts += [sorted((one["kind"], one["access"]["stack"][0]["line"]) for one in seen["findings"])]
    return facts


class TestIdentity:
    """The program is the same file, with the same name, wherever it looks."""

    @pytest.mark.parametrize(
        "options",
        [(), ("-no-pie",), ("-flto",), ("-s", "-Wl,--gc-sections"), ("-fuse-ld=gold",)],
        ids=" ".join,
    )
    def test_under_each_schedule_and_with_each_way_to_link(
        self, shell: Shell, options: Sequence[str], tmp_path: Path
    ) -> None:
        library, source = (PROGRAMS / f"single/{name}.c" for name in ("identity_library", "identity"))
        (shell.directory / "lib").mkdir()
        (shell.directory / "bin").mkdir()
        shell.ok("fencepost-cc", "-shared", "-fPIC", "-Wl,-z,defs", library, "-o", "lib/libget.so")
        where = ("-Llib", "-lget", "-Wl,-rpath,$ORIGIN/../lib")
        done = shell.run("fencepost-cc", *options, source, *where, "-o", "bin/identity")
        assert (done.returncode, done.stderr) == (0, "")
        program = shell.directory / "bin" / "identity"
        expected = [str(program), "identity", "bin/identity", str(shell.directory), "own 7"]
        for schedule in SCHEDULES:
            environment = {"FENCEPOST_OPTIONS": f"schedule={schedule}", "OF_ITS_OWN": "own"}
            done = shell.run("bin/identity", "x y", **environment)
            assert (done.returncode, done.stderr) == (5, "")
            assert done.stdout.splitlines() == ["bin/identity", "x y", *expected], schedule
            again = shell.run("bin/identity", "again", **environment).stdout.splitlines()
            assert again[:3] == ["renamed", "once more", str(program)], schedule
        moved = tmp_path / "work" / "bin" / "moved"
        shutil.copy(program, moved)
        shell.ok("strip", moved)
        assert shell.run(moved, FENCEPOST_OPTIONS="schedule=random", OF_ITS_OWN="own").returncode == 5

    def test_options_for_other_build_systems_make_both(self, shell: Shell, toolchain: Toolchain) -> None:
        shell.write("program.c", BOTH)
        compiling = shlex.split(shell.ok("fencepost", "flags", "--compile"))
        linking = shlex.split(shell.ok("fencepost", "flags", "--link"))
        shell.ok(toolchain.cc, *compiling, "-c", "program.c")
        shell.ok(toolchain.cc, *compiling, "program.o", *linking, "-o", "program")
        for schedule in SCHEDULES:
            seen = answer(shell, "run", "--schedule", schedule, "--json", "./program")
            assert (seen["mode"], seen["plain"]) == ("all", "all"), schedule


class TestWhatCannotBeBoth:
    """One sentence says what is left out, and the answers say it again."""

    @pytest.mark.parametrize(
        ("source", "why"),
        [
            (
                OWN_MALLOC.read_text(encoding="utf-8").replace('"all.h"', f'"{OWN_MALLOC.parent}/all.h"'),
                "has a malloc",
            ),
            (OWN_MUNMAP, "cannot be linked in mode races"),
        ],
        ids=["malloc", "munmap"],
    )
    def test_a_program_that_thread_sanitizer_cannot_serve(self, shell: Shell, source: str, why: str) -> None:
        shell.write("program.c", source)
        done = shell.run("fencepost-cc", "-fno-builtin", "-w", "program.c", "-o", "program")
        assert done.returncode == 0
        assert done.stderr.count("\n") == 1
        assert "program watches plain accesses under a schedule only, because it " + why in done.stderr
        assert answer(shell, "run", "--json", "./program")["plain"] == "none"
        seen = answer(shell, "run", "--schedule", "random", "--json", "./program")
        assert (seen["mode"], seen["plain"]) == ("full", "all")

    def test_a_compiler_without_thread_sanitizer(self, shell: Shell, toolchain: Toolchain) -> None:
        answers = f'-print-file-name=*) echo "${{1#*=}}";; *) exec {toolchain.cc} "$@";;'
        compiler = shell.add_program(f"bare-{toolchain.cc}", f"#!/bin/sh\ncase $1 in {answers} esac\n")
        shell.write("program.c", BOTH)
        shell.ok("fencepost-cc", "-c", "program.c", FENCEPOST_CC=str(compiler))
        done = shell.run("fencepost-cc", "program.o", "-o", "program", FENCEPOST_CC=str(compiler))
        assert done.returncode == 0
        assert done.stderr.startswith("fencepost: plain accesses will be watched under a schedule only")
        assert done.stderr.count("\n") == 1
        assert answer(shell, "run", "--schedule", "random", "--json", "./program")["mode"] == "full"

    def test_a_mistake_is_told_once_in_the_linkers_words(self, shell: Shell, toolchain: Toolchain) -> None:
        shell.write("program.c", "int other(void);\nint main(void) { return other(); }\n")
        ours = shell.run("fencepost-cc", "program.c", "-o", "program")
        assert ours.returncode == 1
        assert ours.stderr.count("undefined reference") == 1
        assert "fencepost:" not in ours.stderr


class TestSettingsWithoutASchedule:
    """What holds for findings of our own holds for those of ThreadSanitizer, which it prints itself."""

    def run(self, shell: Shell, settings: str, **environment: str) -> subprocess.CompletedProcess[str]:
        return shell.run(
            "setarch", "-R", "./program", FENCEPOST_OPTIONS=f"schedule=os:{settings}", **environment
        )

    def test_quiet_says_nothing_and_keeps_the_exit_code(self, shell: Shell) -> None:
        built(shell, BOTH)
        done = self.run(shell, "quiet=1")
        assert (done.returncode, done.stdout, done.stderr) == (66, "", "")

    def test_a_log_has_all_reports(self, shell: Shell) -> None:
        built(shell, BOTH)
        done = self.run(shell, "log_path=log-%p")
        assert (done.returncode, done.stderr) == (66, "")
        (log,) = shell.directory.glob("log-*")
        assert "WARNING: fencepost: not robust" in log.read_text()
        assert "WARNING: ThreadSanitizer: data race" in log.read_text()

    def test_a_log_of_its_own_wins(self, shell: Shell) -> None:
        built(shell, BOTH)
        self.run(shell, "log_path=ours", TSAN_OPTIONS="log_path=theirs")
        assert "data race" not in (shell.directory / "ours").read_text()
        (theirs,) = shell.directory.glob("theirs.*")
        assert "WARNING: ThreadSanitizer: data race" in theirs.read_text()

    def test_findings_beyond_the_limit_are_only_counted(self, shell: Shell) -> None:
        built(shell, BOTH)
        done = self.run(shell, "max_findings=0")
        assert done.returncode == 66
        assert "WARNING" not in done.stderr

    def test_suppressions_are_those_of_all_findings(self, shell: Shell) -> None:
        built(shell, BOTH)
        shell.write(
            "suppressions", "# as of `run`\nrobustness:^x$\nrobustness:^y$\n  race:^plain$\nthreads:main\n"
        )
        done = self.run(shell, "suppressions=suppressions")
        assert (done.returncode, done.stderr) == (3, "")  # its own
        shell.write("suppressions", "robustness:*\nrace:^other$\n")
        done = self.run(shell, "suppressions=suppressions")
        assert done.returncode == 66
        assert "WARNING: ThreadSanitizer: data race" in done.stderr
        assert "fencepost: not robust" not in done.stderr
