"""The records of how a program was built: they survive what builds do, and builds do not notice them."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from fencepost.sanitizer.sources.builds import Build, NoBuildError, builds_of
from tests.sanitizer.building import Shell, Toolchain, with_each_compiler

MAIN = """#include "get.h"
int main(void) { return get() - NUMBER; }
"""
GET = """#include "get.h"
#include <stdatomic.h>
static atomic_int x = NUMBER;
int get(void) { return atomic_load(&x); }
"""


@pytest.fixture
def shell(tmp_path: Path, toolchain: Toolchain) -> Shell:
    shell = Shell(tmp_path, toolchain)
    shell.environment["FENCEPOST_MODE"] = "atomics"  # is linked faster
    shell.write("include/get.h", "int get(void);\n#include <macros.h>\n")
    shell.write("system/macros.h", "#define NUMBER 0\n")
    shell.write("get.c", GET)
    shell.write("main.c", MAIN)
    return shell


def recorded(shell: Shell, program: str = "main") -> dict[str, Build]:
    return {build.source: build for build in builds_of(str(shell.directory / program))}


PATHS = ("-Iinclude", "-isystem", "system")


@with_each_compiler
class TestRecords:
    def check(self, shell: Shell, program: str = "main") -> None:
        builds = recorded(shell, program)
        assert set(builds) == {"get.c", "main.c"}
        for build in builds.values():
            assert build.complete
            assert build.directory == str(shell.directory)
            assert build.language == "c"
            assert {Path(path).name for path in build.files} == {build.source, "get.h"}
            assert build.changed() == []
            assert build.options[:1] == ("-Iinclude",)

    def test_compiled_and_linked_apart(self, shell: Shell) -> None:
        shell.ok("fencepost-cc", *PATHS, "-O2", "-c", "get.c")
        shell.ok("fencepost-cc", *PATHS, "-MMD", "-c", "main.c", "-o", "m.o")
        shell.ok("fencepost-cc", "-Wl,--gc-sections", "get.o", "m.o", "-o", "main")
        self.check(shell)
        assert "macros.h" not in (shell.directory / "m.d").read_text(encoding="utf-8")

    @pytest.mark.parametrize("option", ["-O1", "-save-temps", "-pipe", "-flto", "-s", "-MMD"])
    def test_compiled_and_linked_at_once(self, shell: Shell, option: str) -> None:
        shell.ok("fencepost-cc", *PATHS, option, "main.c", "get.c", "-o", "main")
        if option != "-MMD":
            self.check(shell)
        else:  # each source has a file of its own then
            assert not any(build.complete for build in recorded(shell).values())

    def test_an_archive_and_a_relocatable_object(self, shell: Shell) -> None:
        shell.ok("fencepost-cc", *PATHS, "-c", "get.c", "main.c")
        shell.ok("ar", "rcs", "libget.a", "get.o")
        shell.ok("fencepost-cc", "-r", "-nostdlib", "main.o", "-o", "part.o")
        shell.ok("fencepost-cc", "part.o", "libget.a", "-o", "main")
        self.check(shell)
        shell.ok("strip", "main")
        self.check(shell)

    def test_a_shared_library(self, shell: Shell) -> None:
        shell.ok("fencepost-cc", *PATHS, "-shared", "-fPIC", "get.c", "-o", "libget.so")
        shell.ok(
            "fencepost-cc",
            "--mode",
            "all",
            *PATHS,
            "main.c",
            "-L.",
            "-lget",
            "-Wl,-rpath,$ORIGIN",
            "-o",
            "main",
        )
        self.check(shell)

    def test_a_file_that_changes_is_noticed(self, shell: Shell) -> None:
        shell.ok("fencepost-cc", *PATHS, "main.c", "get.c", "-o", "main")
        header = shell.directory / "include/get.h"
        header.write_text(header.read_text(encoding="utf-8") + "\n", encoding="utf-8")
        assert [build.changed() for build in recorded(shell).values()] == [[str(header)]] * 2
        header.unlink()
        assert [build.changed() for build in recorded(shell).values()] == [[str(header)]] * 2

    def test_names_with_blanks_and_worse(self, shell: Shell) -> None:
        source = "a b#$:é.c"
        shell.write(source, MAIN.replace("get()", "0"))
        shell.ok("fencepost-cc", *PATHS, source, "-o", "main")
        build = recorded(shell)[source]
        assert build.complete
        assert len(build.files) == 2
        assert build.changed() == []

    def test_cplusplus_in_another_directory_and_by_option(self, shell: Shell) -> None:
        (shell.directory / "build").mkdir()
        shell.write("inc.txt", "int x;\n")
        shell.write("main.txt", '#include "inc.txt"\nint main() { return x; }\n')
        shell.ok(
            "sh", "-c", "cd build && fencepost-c++ -std=c++17 -Dx=x -x c++ -c ../main.txt -o m.o -Wall -Ifoo"
        )
        shell.ok("fencepost-c++", "build/m.o", "-o", "main")
        (build,) = builds_of(str(shell.directory / "main"))
        assert build.language == "c++"
        assert build.options == ("-std=c++17", "-Dx=x", "-Wall", "-Ifoo")
        assert build.path == str(shell.directory / "main.txt")
        assert {Path(path).name for path in build.digests} == {"main.txt", "inc.txt"}

    def test_a_program_without_records_says_what_to_do(self, shell: Shell, toolchain: Toolchain) -> None:
        shell.write("plain.c", "int main(void) { return 0; }\n")
        shell.ok(toolchain.cc, "plain.c", "-o", "plain")
        for name in ("plain", "plain.c", "missing"):
            with pytest.raises(NoBuildError, match="build it with fencepost-cc"):
                builds_of(str(shell.directory / name))

    def test_a_failed_compilation_leaves_an_old_program_alone(self, shell: Shell) -> None:
        shell.ok("fencepost-cc", *PATHS, "main.c", "get.c", "-o", "main")
        before = (shell.directory / "main").read_bytes()
        shell.write("wrong.c", "int main(void) { return x; }\n")
        assert shell.run("fencepost-cc", "wrong.c", "-c", "-o", "main").returncode == 1
        assert shell.run("fencepost-cc", "-###", "main.c", "-o", "main").returncode == 0
        assert not (shell.directory / "main").exists() or (shell.directory / "main").read_bytes() == before


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_the_compiler_and_the_wrapper(tmp_path: Path, number: signal.Signals) -> None:
    shell = Shell(tmp_path)
    compiler = shell.add_program("gcc-slow", "#!/bin/sh\necho $$ > pid\nexec sleep 1000\n")
    shell.write("a.c", "int x;\n")
    wrapper = subprocess.Popen(
        # The signal may be ignored where this test runs.
        ["env", "--default-signal", shell.programs / "fencepost-cc", "-c", "a.c"],
        cwd=shell.directory,
        env={**shell.environment, "FENCEPOST_CC": str(compiler)},
    )
    pid = shell.directory / "pid"
    while not (pid.exists() and pid.read_text(encoding="utf-8")):
        time.sleep(0.01)
    wrapper.send_signal(number)
    assert wrapper.wait(60) == -number
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid.read_text(encoding="utf-8")), 0)
