"""Patches of C and C++ sources: what becomes of each file in programs/patches, and that it compiles.

The head of a file says which sites change: a part of the line in quotes, the operation with its orders, and
what becomes of it. What the patch makes of the file is in expected/. FENCEPOST_UPDATE_PATCHES=1 writes that.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from fencepost.sanitizer.build.recording import digest_of
from fencepost.sanitizer.sources import Build, patch_sources
from fencepost.verdicts.sites import Site, SiteChange
from tests.sanitizer.building import INSTALLED, PROGRAMS

pytest.importorskip("clang.cindex", reason="libclang is not installed")

FOLDER = PROGRAMS / "patches"
SOURCES = sorted(path for path in FOLDER.glob("*.c*"))
_CHANGE = re.compile(r"// (change|by hand): `([^`]+)` ([^:]+): ([^:]+?)(?:: (.*))?")


class Case(NamedTuple):
    change: SiteChange
    advice: str  # a part of it, if the change is left to be done by hand


def cases_of(source: Path, path: str, *, columns: bool = True) -> Iterator[Case]:
    """The changes that the head of a file asks for, at `path`."""
    text = source.read_bytes().decode("utf-8-sig")
    body = text.index("\n#include")
    for found in map(_CHANGE.fullmatch, text[:body].splitlines()):
        if found is None:
            continue
        kind, part, was, becomes, advice = found.groups()
        at = text.index(part, body)
        assert part not in text[at + 1 :], f"{source}: `{part}` is not the only one"
        at += len(part) - len(part.lstrip())
        operation, *orders = was.split()
        site = Site(
            file=path,
            line=text.count("\n", 0, at) + 1,
            column=at - text.rfind("\n", 0, at) if columns else 0,
            function="all",
            operation=operation,  # type: ignore[arg-type]
            order=orders[0],  # type: ignore[arg-type]
            failure_order=orders[1] if orders[1:] else None,  # type: ignore[arg-type]
        )
        yield Case(SiteChange(site=site, **asked(becomes)), advice if kind == "by hand" else "")


def asked(text: str) -> dict[str, Any]:
    names = {"failure": "failure_order", "before": "fence_before", "after": "fence_after"}
    parts = (one.partition("=") for one in text.split())
    return {names.get(name, name): value or True for name, _, value in parts}


def build_of(source: Path, *others: Path, compiler: Sequence[str] = (), options: Sequence[str] = ()) -> Build:
    plus = source.suffix != ".c"
    toolchain = INSTALLED[0]
    return Build(
        directory=str(source.parent),
        compiler=tuple(compiler) or (toolchain.cxx if plus else toolchain.cc,),
        family="clang" if "clang" in toolchain.cc else "gcc",
        language="c++" if plus else "c",
        options=tuple(options),
        source=source.name,
        files={str(path): digest_of(path.read_bytes()) for path in (source, *others)},
        complete=True,
    )


def options_of(source: Path) -> list[str]:
    found = re.search(rb"^// options: (.*?)\r?$", source.read_bytes(), re.MULTILINE)
    return found[1].decode().split() if found else []


def compile_strictly(source: Path, options: Sequence[str] = ()) -> None:
    """With each compiler that is installed, and not a warning."""
    for toolchain in INSTALLED:
        compiler = toolchain.cc if source.suffix == ".c" else toolchain.cxx
        strict = ("-Wall", "-Wextra", "-Werror", "-Wno-unused-function", "-fsyntax-only")
        done = subprocess.run(
            [compiler, *strict, *options, str(source)], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.name)
def test_a_source_becomes_what_is_expected(source: Path, tmp_path: Path) -> None:
    copy = tmp_path / source.name
    copy.write_bytes(source.read_bytes())
    options = options_of(source)
    cases = list(cases_of(source, str(copy)))
    patch = patch_sources([case.change for case in cases], [build_of(copy, options=options)])
    left = {one.change.site: one.advice for one in patch.by_hand}
    new = patch.texts.get(str(copy), copy.read_bytes())
    expected = FOLDER / "expected" / source.name
    if os.environ.get("FENCEPOST_UPDATE_PATCHES"):
        expected.parent.mkdir(exist_ok=True)
        expected.write_bytes(new)
    assert new == expected.read_bytes()
    for case in cases:
        advice = left.get(case.change.site, "")
        assert (case.advice in advice) if case.advice else not advice, advice
    compile_strictly(copy, options)
    copy.write_bytes(new)
    compile_strictly(copy, options)
