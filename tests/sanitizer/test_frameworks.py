"""Tests of a program, each checked on its own: fp_test, GoogleTest, Catch2; and by CTest and Meson."""

from __future__ import annotations

import importlib.util
import json
import re
import shutil
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from fencepost.memory_models import EXIT_HOLDS, EXIT_VIOLATED, EXIT_WRONG_INPUT
from tests.sanitizer.building import Shell, Toolchain, with_each_compiler

_EXAMPLES = Path(__file__).parents[2] / "examples" / "frameworks"
_HAS_GOOGLE_TEST = Path("/usr/include/gtest/gtest.h").exists()
_HAS_CATCH2 = Path("/usr/include/catch2").exists()

needs_google_test = pytest.mark.skipif(not _HAS_GOOGLE_TEST, reason="GoogleTest is not installed")


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> Shell:
    shell = Shell(tmp_path_factory.mktemp("frameworks"))
    shell.ok("fencepost-cc", "--mode", "full", "-O1", _EXAMPLES / "tests.c", "-o", "tests")
    return shell


def _verdicts(shell: Shell, *words: str) -> dict[str, str]:
    lines = shell.run("fencepost", "check", "--json", *words).stdout.splitlines()
    return {answer["test"]: answer["verdict"] for answer in map(json.loads, lines)}


def test_each_test_has_an_answer_and_the_worst_decides(shell: Shell) -> None:
    done = shell.run("fencepost", "check", "-q", "./tests")
    assert done.returncode == EXIT_VIOLATED
    assert [line.partition(";")[0] for line in done.stdout.splitlines()] == [
        "./tests release_acquire: not robust: 1 finding in 3 executions, all there are",
        "./tests seq_cst: robust: all 3 executions seen",
        "./tests publication: robust: the only execution seen",
        "./tests: 3 tests: 2 robust, 1 with findings or failures",
    ]


def test_tests_are_picked_by_patterns_and_listed(shell: Shell) -> None:
    assert shell.ok("fencepost", "check", "--list-tests", "./tests").split() == [
        "release_acquire",
        "seq_cst",
        "publication",
    ]
    assert set(_verdicts(shell, "--test", "*_*", "./tests")) == {"release_acquire", "seq_cst"}
    done = shell.run("fencepost", "check", "--test", "*_cst", "--test", "publication", "./tests")
    assert done.returncode == EXIT_HOLDS
    done = shell.run("fencepost", "check", "--test", "nothing", "./tests")
    assert done.returncode == EXIT_WRONG_INPUT
    assert "no test was found in it that matches nothing" in done.stderr


def test_a_test_is_replayed_by_its_report(shell: Shell) -> None:
    report = shell.run("fencepost", "check", "--harm", "--json", "--test", "release_acquire", "./tests")
    found = json.loads(report.stdout)
    assert found["command"] == ["./tests", "release_acquire"]
    assert [one["harm"]["shown"] for one in found["findings"]] == [True]
    assert "fp_assert(entered <= 1) failed" in found["findings"][0]["harm"]["output"]
    shell.write("report.json", report.stdout)
    again = json.loads(shell.run("fencepost", "run", "--replay", "report.json", "--json").stdout)
    assert {one["id"] for one in again["findings"]} == {one["id"] for one in found["findings"]}


def test_stacks_end_with_the_test(shell: Shell) -> None:
    report = shell.run("fencepost", "check", "--json", "--test", "release_acquire", "./tests")
    for finding in json.loads(report.stdout)["findings"]:
        assert finding["access"]["stack"][-1]["function"] == "fp_test_release_acquire"


def test_answers_are_cases_of_junit_and_results_of_sarif(shell: Shell) -> None:
    shell.run("fencepost", "check", "-q", "--junit", "cases.xml", "--sarif", "log.sarif", "./tests")
    suite = ElementTree.parse(shell.directory / "cases.xml").getroot()[0]
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("3", "1", "0")
    assert [case.get("name") for case in suite if case.find("failure") is not None] == ["release_acquire"]
    (log,) = json.loads((shell.directory / "log.sarif").read_text())["runs"]
    assert len(log["results"]) == 1


def test_findings_of_the_baseline_are_not_reported(shell: Shell) -> None:
    shell.write("known.json", shell.run("fencepost", "check", "--json", "./tests").stdout)
    done = shell.run("fencepost", "check", "-q", "--baseline", "known.json", "./tests")
    assert done.returncode == EXIT_HOLDS
    assert "release_acquire: not robust: no new finding in 3 executions" in done.stdout
    assert "1 finding is in the baseline and not shown" in done.stdout


@with_each_compiler
def test_tests_in_c_and_cpp_have_a_main_unless_the_program_has_one(
    tmp_path: Path, toolchain: Toolchain
) -> None:
    shell = Shell(tmp_path, toolchain)
    strict = ("-Wall", "-Wextra", "-Werror", "-O1")
    test = "#include <fencepost.h>\nfp_test({0}) {{ fp_thread {{ }} fp_check {{ fp_assert(1); }} }}\n"
    shell.write("first.c", test.format("first"))
    shell.write("second.cpp", test.format("second"))
    shell.write("main.c", "int main(void) { return 7; }\n")
    shell.ok("fencepost-cc", *strict, "-std=c11", "-c", "first.c")
    shell.ok("fencepost-c++", *strict, "-c", "second.cpp")
    shell.ok("fencepost-c++", "first.o", "second.o", "-o", "both")
    assert sorted(shell.ok("./both", "--list").split()) == ["first", "second"]
    assert shell.ok("./both", "second") == ""
    assert shell.run("./both", "third").returncode == EXIT_WRONG_INPUT
    shell.ok("fencepost-cc", *strict, "first.o", "main.c", "-o", "own")
    assert shell.run("./own").returncode == 7


def test_tests_run_without_the_sanitizer_too(tmp_path: Path) -> None:
    shell = Shell(tmp_path, Toolchain("gcc", "g++"))
    include = shell.ok("fencepost", "flags", "--include").split()
    source = _EXAMPLES / "tests.c"
    shell.ok("gcc", "-Wall", "-Wextra", "-Werror", "-DFP_TEST_MAIN", *include, source, "-o", "t", "-pthread")
    assert shell.ok("./t", "seq_cst", "publication") == ""


def test_a_program_without_main_and_tests_says_so(tmp_path: Path) -> None:
    shell = Shell(tmp_path)
    shell.write("empty.c", "int nothing;\n")
    done = shell.run("fencepost-cc", "empty.c", "-o", "empty")
    assert done.returncode != 0
    assert "no_main_and_no_fp_test" in done.stderr


@needs_google_test
def test_google_test(shell: Shell) -> None:
    source = _EXAMPLES / "googletest.cpp"
    shell.ok("fencepost-c++", "-O1", source, "-lgtest", "-lgtest_main", "-o", "googletest")
    assert _verdicts(shell, "--framework", "gtest", "./googletest") == {
        "Entering.ReleaseAcquire": "not-robust",
        "Entering.SeqCst": "robust",
    }


@pytest.mark.slow  # compiles for half a minute
@pytest.mark.skipif(not _HAS_CATCH2, reason="Catch2 is not installed")
def test_catch2(shell: Shell) -> None:
    libraries = ("-lCatch2Main", "-lCatch2") if Path("/usr/include/catch2/catch_all.hpp").exists() else ()
    shell.ok("fencepost-c++", "-O1", _EXAMPLES / "catch2.cpp", *libraries, "-o", "catch2")
    assert _verdicts(shell, "--framework", "catch2", "./catch2") == {
        "entering, release and acquire": "not-robust",
        "entering, seq_cst": "robust",
    }


@pytest.mark.skipif(shutil.which("cmake") is None, reason="CMake is not installed")
@with_each_compiler
def test_ctest(tmp_path: Path, toolchain: Toolchain) -> None:
    shell = Shell(tmp_path)
    compilers = {"CC": toolchain.cc, "CXX": toolchain.cxx}
    shell.ok("cmake", "-S", _EXAMPLES, "-B", "build", **compilers)
    shell.ok("cmake", "--build", "build", "--target", "tests")
    done = shell.run("ctest", "--test-dir", "build", "-V", "-R", "check.tests")
    assert "/tests release_acquire: not robust: 1 finding (harm shown: 1 of 1)" in done.stdout
    assert "3 tests: 2 robust, 1 with findings or failures" in done.stdout
    assert done.returncode != 0


def _meson() -> list[str] | None:
    if shutil.which("ninja") is None:
        return None
    if found := shutil.which("meson"):
        return [found]
    return [sys.executable, "-m", "mesonbuild.mesonmain"] if importlib.util.find_spec("mesonbuild") else None


@pytest.mark.skipif(_meson() is None, reason="Meson or Ninja is not installed")
def test_meson(tmp_path: Path) -> None:
    shell = Shell(tmp_path)
    meson = _meson() or []
    shell.ok(*meson, "setup", "build", _EXAMPLES, CC="fencepost-cc")
    output = shell.run(*meson, "test", "-C", "build").stdout
    outcomes = re.findall(r"^\d/3 (?:frameworks:)?(\S+) +(OK|FAIL)", output, re.MULTILINE)
    assert sorted(set(outcomes)) == [
        ("check.publication", "OK"),
        ("check.release_acquire", "FAIL"),
        ("check.seq_cst", "OK"),
    ]
