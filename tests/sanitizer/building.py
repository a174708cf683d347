"""The wrappers as a user finds them: programs in a directory of PATH, over each compiler of this machine."""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

import fencepost

_ENTRY_POINTS = {
    "fencepost": ("fencepost.cli.start", "main"),
    "fencepost-cc": ("fencepost.sanitizer.build.compiler", "cc"),
    "fencepost-c++": ("fencepost.sanitizer.build.compiler", "cxx"),
}
_SOURCES = Path(fencepost.__file__).parents[1]
PROGRAMS = Path(__file__).parent / "programs"


class Toolchain(NamedTuple):
    """A compiler for C and the one for C++ beside it."""

    cc: str
    cxx: str


def named(cc: str) -> Toolchain:
    return Toolchain(cc, cc.replace("gcc", "g++").replace("clang", "clang++"))


# The usual ones, or others to be tried: FENCEPOST_TEST_COMPILERS="clang-15 clang-19" pytest tests/sanitizer
ALL = tuple(map(named, os.environ.get("FENCEPOST_TEST_COMPILERS", "gcc clang").split()))
INSTALLED = [toolchain for toolchain in ALL if all(map(shutil.which, toolchain))]

# Each test runs with each compiler. One may be missing, but not both.
with_each_compiler = pytest.mark.parametrize(
    "toolchain",
    [
        pytest.param(
            toolchain,
            id=toolchain.cc,
            marks=pytest.mark.skipif(
                bool(INSTALLED) and toolchain not in INSTALLED, reason=f"{toolchain.cc} is not installed"
            ),
        )
        for toolchain in ALL
    ],
)


def head_of(source: Path) -> dict[str, str]:
    """The lines `// NAME: VALUE` in the comment that a program begins with."""
    lines = source.read_text(encoding="utf-8").splitlines()
    comment = itertools.takewhile(lambda line: line.startswith("//"), lines)
    return {name: value for name, colon, value in (line[3:].partition(": ") for line in comment) if colon}


class Shell:
    """A directory to work in, with the wrappers in PATH."""

    def __init__(self, directory: Path, toolchain: Toolchain | None = None) -> None:
        self.directory = directory / "work"
        self.directory.mkdir()
        self.programs = directory / "bin"
        self.programs.mkdir()
        for name, (module, function) in _ENTRY_POINTS.items():
            self.add_program(
                name,
                f"#!{sys.executable}\nimport sys\nsys.path.insert(0, {str(_SOURCES)!r})\n"
                f"from {module} import {function}\nsys.exit({function}())\n",
            )
        self.environment = {
            **{
                k: v
                for k, v in os.environ.items()
                if not k.startswith("FENCEPOST_") or k == "FENCEPOST_MUTANT"
            },
            "PATH": f"{self.programs}{os.pathsep}{os.environ['PATH']}",
            "NO_COLOR": "1",
            "COLUMNS": "100",
        }
        if toolchain is not None:
            self.environment |= {"FENCEPOST_CC": toolchain.cc, "FENCEPOST_CXX": toolchain.cxx}

    def add_program(self, name: str, text: str) -> Path:
        path = self.programs / name
        path.write_text(text, encoding="utf-8")
        path.chmod(0o755)
        return path

    def write(self, name: str, text: str) -> Path:
        path = self.directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def run(
        self, *command: str | Path, input: str = "", **environment: str
    ) -> subprocess.CompletedProcess[str]:
        return self._run(command, input, {**self.environment, **environment})

    def ok(self, *command: str | Path, input: str = "", **environment: str) -> str:
        """What a command prints that must succeed."""
        done = self.run(*command, input=input, **environment)
        assert done.returncode == 0, f"{command} exits with {done.returncode}\n{done.stdout}{done.stderr}"
        return done.stdout

    def _run(
        self, command: Sequence[str | Path], text: str, environment: Mapping[str, str]
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(word) for word in command],
            cwd=self.directory,
            env=environment,
            input=text,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=300,
            check=False,
        )
