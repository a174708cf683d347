"""The wrappers in place of the compiler: in make, CMake and configure scripts, and by hand."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from pathlib import Path

import pytest

from fencepost.sanitizer.build import compiler, instrumentation
from fencepost.sanitizer.build.compiler import real_command
from fencepost.sanitizer.build.toolchain import CannotBuildError
from tests.sanitizer.building import Shell, Toolchain, with_each_compiler

LOADS = """#include <stdatomic.h>
atomic_int x;
int main(void) { return atomic_load_explicit(&x, memory_order_acquire); }
"""
LIBRARY = """#include <stdatomic.h>
#ifdef __cplusplus
extern "C"
#endif
int get(atomic_int *x);
int get(atomic_int *x) { return atomic_load(x); }
"""
CLIENT = """#include <stdatomic.h>
#include <stdio.h>
int get(atomic_int *x);
int main(void) { static atomic_int x; atomic_store(&x, 7); printf("%d\\n", get(&x)); return 0; }
"""
CPLUSPLUS = """#include <atomic>
#include <iostream>
#include <thread>
std::atomic<int> x;
int main() { std::thread t([] { x = 7; }); t.join(); std::cout << x << std::endl; }
"""


@pytest.mark.parametrize(("entry", "wrapper"), [("cc", "fencepost-cc"), ("cxx", "fencepost-c++")])
def test_help_is_about_the_wrapper_first(
    entry: str, wrapper: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", [wrapper, "--help"])
    monkeypatch.setattr("os.execvp", lambda *command: pytest.fail("the compiler was started"))
    monkeypatch.setenv("FENCEPOST_CC", "true --some")
    with pytest.raises(SystemExit) as ended:
        getattr(compiler, entry)()
    text = capsys.readouterr().out
    assert ended.value.code == 0
    assert text.startswith(f"Usage: {wrapper} ")
    assert text.index("--mode races") < text.index("the compiler's:")


# What build systems and people come up with; some of it is a mistake.
ODD_COMMANDS = (
    "-c a.c f.c",
    "-### a.c",
    "-M a.c",
    "-MM -MP a.c",
    "-E - -o -",
    "-v -E -x c /dev/null",
    "-dM -E -x c++ /dev/null",
    "-x c-header h.h -o h.pch",
    "h.h",
    "-flto -c a.c",
    "-flto a.c f.c -o out",
    "-static-libgcc a.c -o out",
    "-static-libgcc -static-libstdc++ b.cpp -o out",
    "a.c -nodefaultlibs -lc -o out",
    "-nostdlib -r a.c f.c -o out.o",
    "-nostartfiles -shared -fPIC f.c -o f.so",
    "-std=c89 -pedantic-errors -Wall -Wextra -Werror -c f.c",
    "--coverage a.c -o out",
    "-pg a.c -o out",
    "-s -O3 -march=native a.c -o out",
    "-fno-pic -no-pie a.c -o out",
    "-fstack-protector-all -D_FORTIFY_SOURCE=2 -O2 a.c -o out",
    "-Wl,--gc-sections -Wl,--as-needed -Wl,-z,relro,-z,now a.c -o out",
    "-Wl,--version",
    "-print-file-name=libc.so",
    "-print-libgcc-file-name",
    "--help",
    "@options",
    "@missing a.c",
    "missing.c",
    "-lm",
    "a.c -o",
    "-fno-such-option -c a.c",
)


@pytest.fixture
def shell(tmp_path: Path, toolchain: Toolchain) -> Shell:
    return Shell(tmp_path, toolchain)


def calls_the_library(shell: Shell, file: str) -> bool:
    return "__tsan_atomic32_load" in shell.ok("nm", file)


@with_each_compiler
class TestByHand:
    def test_an_object_calls_the_library_at_each_atomic(self, shell: Shell) -> None:
        shell.write("a.c", LOADS)
        shell.ok("fencepost-cc", "-Wall", "-Wextra", "-Werror", "-c", "a.c")
        assert calls_the_library(shell, "a.o")

    @pytest.mark.parametrize("option", ["-O0", "-O3", "-flto", "-save-temps", "-pipe", "-no-pie"])
    def test_compiling_and_linking_in_one_command(self, shell: Shell, option: str) -> None:
        shell.write("a.c", LOADS)
        shell.ok("fencepost-cc", "--mode", "atomics", option, "a.c", "-o", "a")
        shell.ok("./a")
        assert calls_the_library(shell, "a")
        assert "tsan" not in shell.ok("ldd", "a")

    def test_compiling_and_linking_apart(self, shell: Shell) -> None:
        shell.write("get.c", LIBRARY)
        shell.write("main.c", CLIENT)
        shell.ok("fencepost-cc", "-c", "get.c", "main.c")
        shell.ok("fencepost-cc", "-o", "main", "get.o", "main.o")
        assert shell.ok("./main") == "7\n"

    def test_several_sources_at_once(self, shell: Shell) -> None:
        shell.write("get.c", LIBRARY)
        shell.write("main.c", CLIENT)
        shell.ok("fencepost-cc", "get.c", "main.c", "-omain")
        assert shell.ok("./main") == "7\n"

    def test_cplusplus(self, shell: Shell) -> None:
        shell.write("main.cpp", CPLUSPLUS)
        shell.ok("fencepost-c++", "-std=c++20", "-O1", "main.cpp", "-o", "main")
        assert shell.ok("./main") == "7\n"

    def test_the_language_from_an_option_and_the_source_from_the_input(self, shell: Shell) -> None:
        shell.ok("fencepost-c++", "-x", "c++", "-", "-o", "main", input=CPLUSPLUS)
        assert shell.ok("./main") == "7\n"

    def test_a_shared_object_takes_the_library_from_the_program(self, shell: Shell) -> None:
        shell.write("get.c", LIBRARY)
        shell.write("main.c", CLIENT)
        shell.ok("fencepost-cc", "-shared", "-fPIC", "-Wl,-z,defs", "get.c", "-o", "libget.so")
        shell.ok("fencepost-cc", "main.c", "-L.", "-lget", "-Wl,-rpath,$ORIGIN", "-o", "main")
        assert shell.ok("./main") == "7\n"
        assert shell.ok("./main", FENCEPOST_OPTIONS="schedule=random") == "7\n"
        assert " U __wrap___tsan_atomic32_load" in shell.ok("nm", "-D", "libget.so")
        assert " T __wrap___tsan_atomic32_load" in shell.ok("nm", "-D", "main")
        assert "tsan" not in shell.ok("ldd", "libget.so")

    def test_a_relocatable_object_stays_without_the_library(self, shell: Shell) -> None:
        shell.write("get.c", LIBRARY)
        shell.write("main.c", CLIENT)
        shell.ok("fencepost-cc", "-r", "-nostdlib", "get.c", "main.c", "-o", "both.o")
        assert " U __tsan_atomic32_load" in shell.ok("nm", "both.o")
        shell.ok("fencepost-cc", "both.o", "-o", "main")
        assert shell.ok("./main") == "7\n"

    def test_response_files(self, shell: Shell) -> None:
        shell.write("with blank.c", LOADS)
        shell.write("inner.rsp", '-c "with blank.c"\n')
        shell.write("outer.rsp", "@inner.rsp -o with\\ blank.o\n")
        shell.ok("fencepost-cc", "@outer.rsp")  # would not link: there is no library for `-c`
        assert calls_the_library(shell, "with blank.o")
        shell.write("link.rsp", "'with blank.o' -o a")
        shell.ok("fencepost-cc", "@link.rsp")
        shell.ok("./a")

    def test_stopping_early(self, shell: Shell) -> None:
        shell.write("a.c", LOADS)
        assert "__SANITIZE_THREAD__" in shell.ok("fencepost-cc", "-E", "-dM", "-") or "clang" in shell.ok(
            "fencepost-cc", "--version"
        )
        assert "#define __FENCEPOST__ 1" in shell.ok("fencepost-cc", "-E", "-dM", "-")
        assert "__tsan_atomic32_load" in shell.ok("fencepost-cc", "-S", "-o", "-", "a.c")
        assert shell.ok("fencepost-cc", "-MM", "a.c").startswith("a.o: a.c")
        assert shell.ok("fencepost-cc", "-fsyntax-only", "a.c") == ""

    def test_dependencies_while_compiling(self, shell: Shell) -> None:
        shell.write("a.c", LOADS)
        shell.ok("fencepost-cc", "-MMD", "-MF", "a.d", "-MT", "target", "-c", "a.c", "-o", "a.o")
        assert (shell.directory / "a.d").read_text().startswith("target: a.c")

    def test_assembly_is_no_cause_for_a_warning(self, shell: Shell) -> None:
        shell.write("a.s", ".section .note.GNU-stack\n")
        done = shell.run("fencepost-cc", "-Werror", "-c", "a.s")
        assert (done.returncode, done.stderr) == (0, "")

    def test_a_precompiled_header_is_no_cause_for_a_warning(self, shell: Shell) -> None:
        shell.write("a.h", "extern int a;\n")
        done = shell.run("fencepost-cc", "-Werror", "a.h", "-o", "a.pch")
        assert (done.returncode, done.stderr) == (0, "")

    def test_the_linker_has_nothing_to_warn_of(self, shell: Shell) -> None:
        shell.write("a.c", LOADS)
        shell.ok("fencepost-cc", "-Wl,--fatal-warnings", "a.c", "-o", "a")

    def test_undefined_behaviour_can_be_watched_too(self, shell: Shell) -> None:
        shell.write("a.c", LOADS.replace("return", "int i = 0x7fffffff; i += !x; return"))
        shell.ok("fencepost-cc", "-fsanitize=undefined", "a.c", "-o", "a")
        assert "signed integer overflow" in shell.run("./a").stderr
        assert calls_the_library(shell, "a")

    def test_the_header_of_the_annotations_is_found(self, shell: Shell) -> None:
        shell.write("a.c", "#include <fencepost.h>\n" + LOADS)
        shell.ok("fencepost-cc", "-Wall", "-Wextra", "-Werror", "a.c", "-o", "a")

    def test_the_compiler_speaks_for_itself(self, shell: Shell, toolchain: Toolchain) -> None:
        for question in ("--version", "-dumpmachine", "-dumpversion", "-print-search-dirs", "-v"):
            for wrapper, real in (("fencepost-cc", toolchain.cc), ("fencepost-c++", toolchain.cxx)):
                ours, theirs = shell.run(wrapper, question), shell.run(real, question)
                assert (ours.stdout, ours.returncode) == (theirs.stdout, theirs.returncode)

    @pytest.mark.parametrize("command", ODD_COMMANDS)
    def test_odd_commands_end_as_with_the_compiler(
        self, shell: Shell, toolchain: Toolchain, command: str
    ) -> None:
        for name, text in (("a.c", LOADS), ("b.cpp", CPLUSPLUS), ("f.c", "int f(void) { return 1; }\n")):
            shell.write(name, text)
        shell.write("h.h", "static inline int g(int x) { return x; }\n")
        shell.write("options", "-O2 '-DTEXT=\"x y\"' a.c -o\nout\n")
        plus = "b.cpp" in command
        real = toolchain.cxx if plus else toolchain.cc
        ours = shell.run("fencepost-c++" if plus else "fencepost-cc", *command.split(), input="int x;")
        theirs = shell.run(real, *command.split(), input="int x;")
        assert ours.returncode == theirs.returncode, ours.stderr
        if (shell.directory / "out").exists():
            shell.run("./out")

    def test_mistakes_are_the_compilers_to_tell(self, shell: Shell, toolchain: Toolchain) -> None:
        shell.write("a.c", "int main(void) { return x; }\n")
        ours, theirs = (shell.run(compiler, "a.c") for compiler in ("fencepost-cc", toolchain.cc))
        assert ours.returncode == theirs.returncode == 1
        assert ours.stderr == theirs.stderr
        assert shell.run("fencepost-cc").returncode == 1


@with_each_compiler
class TestBuildSystems:
    def test_make(self, shell: Shell) -> None:
        shell.write("get.c", LIBRARY)
        shell.write("main.c", CLIENT)
        shell.write(
            "Makefile", "CFLAGS = -O2 -Wall -Werror\nmain: main.o libget.a\nlibget.a: libget.a(get.o)\n"
        )
        shell.ok("make", "CC=fencepost-cc", "main")
        assert shell.ok("./main") == "7\n"
        assert calls_the_library(shell, "libget.a")

    @pytest.mark.skipif(not shutil.which("cmake"), reason="cmake is not installed")
    def test_cmake(self, shell: Shell) -> None:
        shell.write("get.c", LIBRARY)
        shell.write("main.c", CLIENT)
        shell.write("plus.cpp", CPLUSPLUS)
        shell.write(
            "CMakeLists.txt",
            """cmake_minimum_required(VERSION 3.20)
project(client LANGUAGES C CXX)
include(CheckCCompilerFlag)
check_c_compiler_flag(-Wshadow HAS_SHADOW)
check_c_compiler_flag(-fno-such-thing-at-all HAS_NONSENSE)
if(NOT HAS_SHADOW OR HAS_NONSENSE)
  message(FATAL_ERROR "probing does not work")
endif()
find_package(Threads REQUIRED)
include(CheckCSourceRuns)
check_c_source_runs("#include <stdatomic.h>
atomic_int x; int main(void) { return atomic_load(&x); }" ATOMICS_RUN)
include(CheckLibraryExists)
check_library_exists(pthread pthread_create "" HAS_PTHREAD)
if(NOT ATOMICS_RUN OR NOT HAS_PTHREAD)
  message(FATAL_ERROR "running what was probed does not work")
endif()
add_library(get SHARED get.c)
add_executable(main main.c)
target_link_libraries(main get)
add_library(objects OBJECT plus.cpp)
target_precompile_headers(objects PRIVATE <atomic> <thread>)
add_executable(plus $<TARGET_OBJECTS:objects>)
target_link_libraries(plus Threads::Threads)
add_library(archive STATIC get.c)
add_executable(other main.c)
target_link_libraries(other archive)
install(TARGETS main get other DESTINATION .)
""",
        )
        shell.ok("cmake", "-B", "build", CC="fencepost-cc", CXX="fencepost-c++")
        shell.ok("cmake", "--build", "build")
        assert shell.ok("build/main") == shell.ok("build/plus") == "7\n"
        shell.ok("cmake", "--install", "build", "--prefix", "installed")
        assert shell.ok("installed/other") == "7\n"
        assert shell.ok("installed/main", LD_LIBRARY_PATH="installed") == "7\n"

    def test_a_configure_script(self, shell: Shell) -> None:
        """What those of autotools do: compile, link, run, ask for functions that are and are not there."""
        shell.write(
            "configure",
            r"""set -e
$CC --version > /dev/null
$CC -v > /dev/null 2>&1
$CC -dumpmachine > machine
echo 'int main(void) { return 0; }' > conftest.c
$CC -o conftest -g -O2 conftest.c
./conftest
$CC -c -Werror conftest.c 2> conftest.err
test ! -s conftest.err
$CC -E conftest.c > conftest.i
for function in pthread_create no_such_function sem_init; do
  printf 'char %s(void);\nint main(void) { return %s(); }\n' $function $function > conftest.c
  if $CC -o conftest conftest.c 2> /dev/null; then echo "$function yes"; else echo "$function no"; fi
done
echo 'int f(void) { return 0; }' > conftest.c
$CC -fPIC -shared -Wl,-soname,libconftest.so -o libconftest.so conftest.c
$CC -print-prog-name=ld > /dev/null
$CC -Wl,--version 2>&1 | grep -qi ' ld'
""",
        )
        answers = shell.ok("sh", "./configure", CC="fencepost-cc").splitlines()
        assert answers == ["pthread_create yes", "no_such_function no", "sem_init yes"]

    def test_flags_for_other_build_systems(self, shell: Shell, toolchain: Toolchain) -> None:
        """As make uses them: the options for compiling stand in the command that links, too."""
        compiling = shlex.split(shell.ok("fencepost", "flags", "--compile"))
        linking = shlex.split(shell.ok("fencepost", "flags", "--link"))
        shell.write("a.c", LOADS)
        shell.ok(toolchain.cc, *compiling, "-c", "a.c")
        shell.ok(toolchain.cc, *compiling, "a.o", *linking, "-o", "a")
        shell.ok("./a")
        assert calls_the_library(shell, "a")

    def test_the_header_in_a_build_without_the_sanitizer(self, shell: Shell, toolchain: Toolchain) -> None:
        shell.write("a.c", "#include <fencepost.h>\n" + LOADS)
        include = shlex.split(shell.ok("fencepost", "flags", "--include"))
        shell.ok(toolchain.cc, *include, "a.c", "-o", "a")
        assert "tsan" not in shell.ok("nm", "a")


def command(*arguments: str, language: str = "c", **environment: str) -> list[str]:
    """The command that the wrapper becomes."""
    everywhere = {"PATH": os.environ["PATH"], **environment}
    return real_command("c++" if language == "c++" else "c", arguments, everywhere)


@pytest.fixture
def compilers(tmp_path: Path) -> str:
    """A PATH in which every compiler is there, by name."""
    for name in (
        "gcc",
        "g++",
        "clang",
        "clang++",
        "clang-19",
        "clang++-19",
        "gcc-12",
        "g++-12",
        "ccache",
        "odd",
    ):
        path = tmp_path / name
        path.write_text("#!/bin/sh\necho 'odd (Debian) Free Software Foundation'\n", encoding="utf-8")
        path.chmod(0o755)
    (tmp_path / "cc").symlink_to(tmp_path / "gcc-12")
    return str(tmp_path)


class TestWhichCompiler:
    def test_clang_comes_first(self, compilers: str) -> None:
        assert command("--version", PATH=compilers)[0] == "clang"
        assert command("--version", language="c++", PATH=compilers)[0] == "clang++"

    def test_gcc_where_there_is_no_clang(self, compilers: str, tmp_path: Path) -> None:
        for name in ("clang", "clang++", "clang-19", "clang++-19"):
            (tmp_path / name).unlink()
        assert command("--version", PATH=compilers)[0] == "gcc"

    @pytest.mark.parametrize(
        ("cc", "cxx"),
        [
            ("clang-19", "clang++-19"),
            ("gcc-12", "g++-12"),
            ("ccache gcc -m64", "ccache g++ -m64"),
            ("cc", "c++"),
        ],
    )
    def test_one_that_is_named_names_the_other(
        self, compilers: str, tmp_path: Path, cc: str, cxx: str
    ) -> None:
        (tmp_path / "c++").symlink_to(tmp_path / "g++")
        c = command("--version", FENCEPOST_CC=cc, PATH=compilers)
        assert c == [*cc.split(), "--version"]
        plus = command("--version", language="c++", FENCEPOST_CC=cc, PATH=compilers)
        assert plus == [*cxx.split(), "--version"]
        assert command("--version", FENCEPOST_CXX=cxx, PATH=compilers) == c

    def test_a_link_is_followed_and_an_odd_name_asked(self, compilers: str) -> None:
        for name in ("cc", "odd"):
            words = command("-c", "a.c", FENCEPOST_CC=name, PATH=compilers)
            assert words[0] == name
            assert any(word.startswith("-specs=") for word in words)


class TestRefusals:
    """One message that says what to do."""

    def refusal(self, *arguments: str, **environment: str) -> str:
        with pytest.raises(CannotBuildError) as caught:
            command(*arguments, **environment)
        return str(caught.value)

    def test_no_compiler_at_all(self) -> None:
        assert "apt install" in self.refusal("a.c", PATH="/nowhere")

    @pytest.mark.parametrize(
        ("name", "package"), [("clang-17", "clang-17"), ("clang++-17", "clang-17"), ("gcc-9", "gcc-9")]
    )
    def test_a_compiler_that_is_not_there(self, name: str, package: str) -> None:
        message = self.refusal("a.c", FENCEPOST_CC=name, PATH="/nowhere")
        assert f"`{name}`" in message
        assert f"apt install {package})" in message

    def test_a_wrapper_in_place_of_the_compiler(self, tmp_path: Path) -> None:
        shell = Shell(tmp_path)
        assert "names a wrapper" in self.refusal("a.c", FENCEPOST_CC=str(shell.programs / "fencepost-cc"))

    @pytest.mark.parametrize("option", ["-static", "--static", "-static-pie"])
    def test_static_linking(self, option: str) -> None:
        assert f"`{option}` cannot be used" in self.refusal("a.c", option, "-o", "a")
        assert option in command("-c", "a.c", option)  # no harm where nothing is linked

    @pytest.mark.parametrize("options", [["-m32"], ["--target=arm-none-eabi"], ["-target", "i686-linux-gnu"]])
    def test_another_target(self, options: list[str]) -> None:
        assert f"`{options[-1].removeprefix('--target=')}` is not" in self.refusal("-c", "a.c", *options)

    @pytest.mark.parametrize("name", ["address", "thread", "memory"])
    def test_another_sanitizer(self, name: str) -> None:
        assert f"`-fsanitize={name}` cannot be combined" in self.refusal("-c", "a.c", f"-fsanitize={name}")
        assert command("-c", "a.c", "-fsanitize=undefined")
        assert command("-c", "a.c", f"-fsanitize={name}", f"-fno-sanitize={name}")
        assert command("-c", "a.c", f"-fsanitize={name}", "-fno-sanitize=all")

    def test_a_mode_that_is_none(self) -> None:
        assert "expected all, atomics, full or races" in self.refusal("--mode", "some", "-c", "a.c")
        assert "expected all, atomics, full or races" in self.refusal("-c", "a.c", FENCEPOST_MODE="x")

    @pytest.mark.parametrize(
        ("name", "version", "package"),
        [
            ("gcc-12", "12", "libgcc-12-dev"),
            ("clang-15", "15.0.6", "libclang-common-15-dev"),  # of another name in Debian 12
            ("clang-19", "19.1.7", "libclang-rt-19-dev"),
        ],
    )
    def test_races_without_thread_sanitizer(
        self, tmp_path: Path, name: str, version: str, package: str
    ) -> None:
        compiler = tmp_path / name
        answers = f"case $1 in -dumpversion) echo {version};; -print*) echo ${{1#*=}};; esac"
        compiler.write_text(f"#!/bin/sh\n{answers}\n", encoding="utf-8")
        compiler.chmod(0o755)
        message = self.refusal("--mode=races", "a.c", FENCEPOST_CC=str(compiler))
        assert f"apt install {package})" in message

    def test_a_run_time_library_that_was_not_built(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(instrumentation.LIBRARIES, "all", "/none/libfencepost_races.a")
        message = self.refusal("a.c")
        assert "/none/libfencepost_races.a is missing" in message
        assert "apt install g++" in message
        assert command("-c", "a.c")  # no harm where nothing is linked

    def test_what_hides_in_a_response_file(self, tmp_path: Path) -> None:
        (tmp_path / "options").write_text("-O2 -static\n", encoding="utf-8")
        assert "`-static` cannot be used" in self.refusal("a.c", f"@{tmp_path}/options")

    def test_what_is_refused_exits_with_2_and_one_line(self, tmp_path: Path) -> None:
        done = Shell(tmp_path).run("fencepost-cc", "-static", "a.c")
        assert done.returncode == 2
        assert done.stderr.startswith("fencepost-cc: `-static` cannot be used")
        assert done.stderr.count("\n") == 1


def test_the_wrapper_imports_nothing_heavy() -> None:
    """A build starts it for each file."""
    import subprocess

    code = (
        "import sys; import fencepost.sanitizer.build.compiler; "
        "heavy = {'click', 'msgspec', 'rich', 'subprocess', "
        "'dataclasses', 'shutil', 'pathlib', 'inspect'}; print(*heavy & set(sys.modules))"
    )
    source = str(Path(__file__).parents[2] / "src")
    done = subprocess.run(
        [sys.executable, "-S", "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": source},
    )
    assert done.stdout.strip() == ""
