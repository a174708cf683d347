"""The tests in a program, by the framework that they were written with: their names, and the arguments that
run one of them alone.

`fp` stands for `fp_test` of <fencepost.h>. The names of these tests are in a section of the program, so it is
known without running it that there are some. The others are asked for by running the program.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from typing import Literal, NamedTuple, get_args

from fencepost.errors import InputError
from fencepost.sanitizer.answer.elf_file import UNREADABLE, read_elf
from fencepost.sanitizer.run.starting import cannot_start

Framework = Literal["fp", "gtest", "catch2"]
FRAMEWORKS: tuple[Framework, ...] = get_args(Framework)

_SECONDS_FOR_A_LIST = 60
_NAMES = "fp_test_names"  # the section


class Test(NamedTuple):
    """`arguments` come after those of the program."""

    name: str
    arguments: tuple[str, ...]


def tests_of(command: Sequence[str], framework: Framework | None) -> list[Test] | None:
    """The tests of the program; None if it is to be run as it is.

    Unless a framework is named, it is to be run as it is if it has arguments or no `fp_test`.
    """
    if framework is None and len(command) > 1:
        return None
    if framework in (None, "fp"):
        return list(_from_fp(command[0])) or (None if framework is None else [])
    return list(_from_gtest(command) if framework == "gtest" else _from_catch2(command))


def chosen(tests: Sequence[Test], patterns: Sequence[str]) -> list[Test]:
    """Those whose names match one of the patterns; all if there is none."""
    return [test for test in tests if not patterns or any(fnmatchcase(test.name, one) for one in patterns)]


def _from_fp(program: str) -> Iterator[Test]:
    try:
        names = read_elf(program).bytes_of(_NAMES).decode()
    except UNREADABLE:  # to start it will say why
        names = ""
    yield from (Test(name, (name,)) for name in names.split("\0") if name)


def _from_gtest(command: Sequence[str]) -> Iterator[Test]:
    """Suites stand at the left margin, tests below them; what a parameter is follows after `#`."""
    suite = ""
    for line in _listed(command, "--gtest_list_tests"):
        word = line.partition("#")[0].rstrip()
        if not word.startswith(" "):
            suite = word if word.endswith(".") else ""
        elif suite and not re.search(r"(^|\.|/)DISABLED_", name := suite + word.strip()):
            yield Test(name, (f"--gtest_filter={name}",))


def _from_catch2(command: Sequence[str]) -> Iterator[Test]:
    """Version 3 lists names alone if it is to be quiet; version 2 has an option of its own for that."""
    lines = _listed(command, "--list-tests", "--verbosity", "quiet")
    if lines and lines[0].startswith(("All available", "Matching")):
        lines = _listed(command, "--list-test-names-only")
    for line in lines:
        if name := line.strip():
            yield Test(name, (re.sub(r"([\\,\[\]*\"])", r"\\\1", name),))


def _listed(command: Sequence[str], *options: str) -> list[str]:
    try:
        done = subprocess.run(
            [*command, *options],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=_SECONDS_FOR_A_LIST,
            check=False,
        )
    except OSError as error:
        raise cannot_start(command[0], error) from None
    except subprocess.TimeoutExpired:
        raise InputError(f"it did not list its tests ({options[0]})", command[0]) from None
    return done.stdout.splitlines()
