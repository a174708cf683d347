"""Builds the engine with all mutants in it, each behind a switch, and C++ test programs of the sanitizer.

The sources are copied to `build/mutants/tree` with the switches in them (listed.py), and installed from
there into `build/mutants/site`. Which mutant is in force is said by the variable `fencepost_mutant` of the
module; it starts with what FENCEPOST_MUTANT says, or 0: none.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.mutants.listed import ROOT, Mutant, with_switches
from tests.native.building import linked_files

PLACE = ROOT / "build" / "mutants"
MANY_PROCESSORS = 8
TREE, SITE, WATCHING_SITE = PLACE / "tree", PLACE / "site", PLACE / "watching"
COPIED = ["CMakeLists.txt", "pyproject.toml", "README.md", "LICENSE", "native", "src", "examples", "editor"]
SWITCH = """#pragma once
#include <cstdlib>
extern "C" {
[[gnu::visibility("default"), gnu::weak, gnu::used]] int fencepost_mutant =
    std::getenv("FENCEPOST_MUTANT") ? std::atoi(std::getenv("FENCEPOST_MUTANT")) : 0;
}
constexpr bool mutant(int number) {
    return !__builtin_is_constant_evaluated() && __builtin_expect(fencepost_mutant == number, 0);
}
"""


def copy_with_switches(listed: list[Mutant]) -> None:
    """Only files that have changed are written, so that little is compiled again."""
    texts = {"native/mutant.hpp": SWITCH}
    for file in {mutant.file for mutant in listed if not mutant.is_python}:
        changes = [mutant for mutant in listed if mutant.file == file]
        texts[file] = '#include "mutant.hpp"\n' + with_switches((ROOT / file).read_text(), changes)
    texts["CMakeLists.txt"] = (ROOT / "CMakeLists.txt").read_text().replace("-Werror", "-w")
    # The switch must be found in the module.
    texts["CMakeLists.txt"] = texts["CMakeLists.txt"].replace("-Wl,--exclude-libs,ALL", "")
    if (os.cpu_count() or 1) >= MANY_PROCESSORS:  # each source by itself: more work, but sooner done
        texts["CMakeLists.txt"] = texts["CMakeLists.txt"].replace("UNITY_BUILD ON", "UNITY_BUILD OFF")
    for name in COPIED:
        for path in [ROOT / name] if (ROOT / name).is_file() else (ROOT / name).rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts and path.suffix != ".pyi":
                file = str(path.relative_to(ROOT))
                texts.setdefault(file, "")
    for file, text in texts.items():
        to = TREE / file
        data = text.encode() if text else (ROOT / file).read_bytes()
        if to.exists() and to.read_bytes() == data:
            continue
        to.parent.mkdir(parents=True, exist_ok=True)
        to.write_bytes(data)
    for path in [path for path in (TREE / "native").rglob("*") if path.is_file()]:
        if str(path.relative_to(TREE)) not in texts:
            path.unlink()


def install(site: Path) -> None:
    """With the run-time library only where that is watched: it takes long to build."""
    watching = site == WATCHING_SITE
    options = [f"FENCEPOST_RUNTIME={'ON' if watching else 'OFF'}", "FENCEPOST_EDITOR=OFF"]
    there = all(importlib.util.find_spec(name) for name in ("scikit_build_core", "nanobind", "lark"))
    here = ["--no-build-isolation"] if there else []
    shutil.rmtree(site, ignore_errors=True)
    subprocess.run(
        [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(site), *here]
        + [f"--config-settings=cmake.define.{option}" for option in options]
        + [f"--config-settings=build-dir={PLACE / ('cmake-watching' if watching else 'cmake')}", str(TREE)],
        check=True,
    )
    if not watching:  # a part of the run-time library that patches of sources need
        include = "sanitizer/include"
        shutil.copytree(TREE / "native" / include, site / "fencepost" / include)


def native_program(test: str) -> Path:
    """A test program below tests/native, with the mutants; built unless it is there and new enough."""
    source = ROOT / "tests" / "native" / test
    program = PLACE / "native" / source.with_suffix("").name
    if program.exists() and not TREE.exists():  # made on another machine
        return program
    program.parent.mkdir(parents=True, exist_ok=True)
    files = [source, *(TREE / "native" / name for name in linked_files(source))]
    headers = [*(TREE / "native").rglob("*.hpp"), *source.parent.parent.rglob("*.hpp")]
    newest = max(file.stat().st_mtime for file in (*files, *headers))
    if not program.exists() or program.stat().st_mtime < newest:
        command = ["g++", "-std=gnu++20", "-mcx16", "-pthread", "-O1", "-w", f"-I{TREE / 'native'}"]
        environment = {**os.environ, "CCACHE_DISABLE": "1"}
        unfinished = program.with_suffix(f".{os.getpid()}")
        command += [f"-I{ROOT}", *map(str, files), "-o", str(unfinished)]
        subprocess.run(command, check=True, env=environment)
        unfinished.rename(program)
    return program
