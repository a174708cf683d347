"""The wheel is complete, runs on other Linux machines, and works where there is no compiler, or gcc alone."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import fencepost
from tests.packaging.wheels import ROOT, Environment, sources, wheel_of_make
from tests.playground.serving import Playground, wait_until

# Debian 12 has glibc 2.36; a wheel for a newer one would not run on the machine that builds it.
_NEWEST_GLIBC = (2, 36)


@pytest.fixture(scope="module")
def repaired(tmp_path_factory):
    """The wheel as `make wheel` publishes it."""
    wheel = wheel_of_make()
    folder = tmp_path_factory.mktemp("repaired")
    tools = os.path.dirname(sys.executable)
    subprocess.run(
        [sys.executable, "-m", "auditwheel", "repair", "--wheel-dir", folder, wheel],
        env={**os.environ, "PATH": f"{tools}:{os.environ['PATH']}"},
        check=True,
        capture_output=True,
    )
    (result,) = folder.glob("*.whl")
    return result


@pytest.fixture(scope="module")
def installed(repaired, tmp_path_factory):
    environment = Environment(tmp_path_factory.mktemp("fresh"))
    environment.install(f"{repaired}[web,lsp]")
    return environment


def test_the_wheel_runs_on_any_linux_with_a_glibc_of_the_last_years(repaired):
    tag = re.search(r"-manylinux_(\d+)_(\d+)_x86_64\.whl$", repaired.name)
    assert tag is not None, repaired.name
    assert (int(tag[1]), int(tag[2])) <= _NEWEST_GLIBC
    with zipfile.ZipFile(repaired) as wheel:  # nothing of this machine was put in
        assert not [name for name in wheel.namelist() if "fencepost.libs/" in name]


def test_the_wheel_has_everything_that_the_package_needs(repaired):
    with zipfile.ZipFile(repaired) as wheel:
        names = {item.filename: item.external_attr >> 16 for item in wheel.infolist()}
        facts = json.loads(wheel.read("fencepost/build_facts.json"))
    lib = "fencepost/sanitizer/lib"
    wanted = {
        *(f"{lib}/libfencepost_{mode}.a" for mode in ("atomics", "full", "races", "main")),
        f"{lib}/fencepost_chooser.o",
        "fencepost/sanitizer/include/fencepost.h",
        "fencepost/sanitizer/cmake/FencepostTest.cmake",
        *(
            f"fencepost/formats/{name}.tables.json"
            for name in ("tpl/tpl", "litmus/litmus", "automata/automata")
        ),
        "fencepost/engine/_native.pyi",
        "fencepost/playground/examples/rocker/peterson-sc.tpl",
        *(path.relative_to(ROOT / "src").as_posix() for path in sources("src/fencepost")),
    }
    assert wanted <= names.keys()
    linkers = [name for name in names if name.startswith(f"{lib}/both/ld")]
    assert linkers
    assert all(names[name] & 0o111 for name in linkers)
    assert "GNU" in facts["compiler"] or "Clang" in facts["compiler"]
    if (Path(fencepost.__file__).parent / "playground" / "vendor").exists():  # npm could be reached
        assert "fencepost/playground/vendor/codemirror-view.js" in names


class TestWithoutACompiler:
    """What was installed by pip alone, where nothing but Python can be found."""

    def test_it_says_what_it_consists_of(self, installed):
        said = installed.run("fencepost", "--version")
        assert said.startswith(f"fencepost {fencepost.__version__}\n")
        assert "modes all, atomics, full, races" in said
        assert re.search(r"^extra lsp: pygls \d", said, re.MULTILINE)
        assert re.search(r"^extra cluster: not installed \(pip install", said, re.MULTILINE)

    def test_it_answers_questions(self, installed):
        shutil.copy(ROOT / "examples" / "tutorial" / "sb.tpl", installed.work)
        answer = json.loads(installed.run("fencepost", "robust", "--json", "sb.tpl", exit_code=1))
        assert answer["verdict"] == "not-robust"
        installed.run("fencepost", "fix", "--output", "fixed.tpl", "sb.tpl")
        installed.run("fencepost", "robust", "fixed.tpl")
        shutil.copy(ROOT / "examples" / "sra" / "peterson-fences.tpl", installed.work / "lock.tpl")
        installed.run("fencepost", "verify", "--certificate", "proof.json", "lock.tpl")
        installed.run("fencepost", "check-certificate", "lock.tpl", "proof.json")

    def test_c_programs_need_a_compiler_and_are_told_so(self, installed, tmp_path):
        nothing = {"PATH": str(tmp_path)}
        (installed.work / "empty.c").write_text("int main(void) { return 0; }\n")
        words = [installed.bin / "python", installed.bin / "fencepost-cc", "empty.c"]
        done = subprocess.run(
            words, cwd=installed.work, env=nothing, capture_output=True, text=True, check=False
        )
        assert done.returncode == 2
        assert "compiler" in done.stderr

    def test_it_opens_the_playground(self, installed):
        command = [installed.bin / "python", "-u", installed.bin / "fencepost", "serve", "--port", "0"]
        process = subprocess.Popen(command, env=installed.environment(), stdout=subprocess.PIPE, text=True)
        try:
            port = re.search(r"http://127\.0\.0\.1:(\d+)/", process.stdout.readline())
            serving = Playground(process, int(port[1]))
            wait_until(serving.answers)
            text = (ROOT / "examples" / "tutorial" / "sb.tpl").read_text(encoding="utf-8")
            assert serving.answer(text)["verdict"] == "not robust"
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(30)
            process.stdout.close()


def test_with_gcc_alone_c_programs_are_watched(installed):
    installed.link("gcc", "as", "ld", "addr2line")  # gcc cannot be without binutils
    for file in [*(ROOT / "examples" / "c").glob("dekker*.c"), *(ROOT / "examples" / "c").glob("*.h")]:
        shutil.copy(file, installed.work)
    installed.run("fencepost-cc", "dekker-acq-rel.c", "-o", "dekker")
    said = installed.run("fencepost", "run", "--schedule", "random", "--runs", "3", "./dekker", exit_code=1)
    assert "not robust" in said
    assert "dekker.c:" in said
