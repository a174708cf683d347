"""What the total order S of seq_cst accesses and SC fences costs the sanitizer, in instructions.

Before it knew S, the run-time library took a seq_cst access for one with an SC fence before it. That library
is built from the history of this repository, and linked with the same objects as today's. Both run under
callgrind, which counts instructions and lets one thread run at a time: with long turns, or with turns that
end after a few accesses. So the ratios do not depend on the machine or on what else it does.

Leaves its table in `benchmarks/results/sanitizer_seq_cst.md` and in `docs/sanitizer.md`. It needs the
repository with its history, cmake and valgrind. The ratios depend a little on the compiler of the program:
FENCEPOST_CXX names it.
"""

from __future__ import annotations

import argparse
import io
import os
import re
import statistics
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import page_block

from fencepost.sanitizer.build.instrumentation import LIBRARIES, compile_options, link_options
from fencepost.sanitizer.build.toolchain import chosen_compiler

ROOT = Path(__file__).parents[1]
STRESS = ROOT / "benchmarks" / "sanitizer_stress.cpp"
RESULTS = ROOT / "benchmarks" / "results" / "sanitizer_seq_cst.md"
PAGE = ROOT / "docs" / "sanitizer.md"

BEFORE = "35716eb5"
"""The commit before S came into the library."""
OPERATIONS = 400_000
SHORT = 16
"""Accesses of a short turn."""
TOP = """\
cmake_minimum_required(VERSION 3.20)
project(library LANGUAGES C CXX)
set(CMAKE_BUILD_TYPE Release)
set(PROJECT_SOURCE_DIR {tree})
find_package(Threads REQUIRED)
add_subdirectory({tree}/native/sanitizer sanitizer)
"""


class Program(NamedTuple):
    shape: str
    what: str
    threads: int
    locations: int
    turn: int
    """0: as long as callgrind lets it."""

    @property
    def arguments(self) -> tuple[str, ...]:
        numbers = (self.threads, self.locations, OPERATIONS, self.turn)
        return (self.shape, *map(str, numbers))


SHAPES = {
    "locks": "relaxed, under locks",
    "seq_cst": "seq_cst",
    "fences": "release and acquire, each after an SC fence",
}
PROGRAMS = [
    Program(shape, what, threads, locations, turn)
    for shape, what in SHAPES.items()
    for threads in (4, 8)
    for locations in (10, 1_000)
    for turn in (0, SHORT)
]


class Counted(NamedTuple):
    program: Program
    before: int
    now: int

    @property
    def ratio(self) -> float:
        return self.now / self.before


def library_before(directory: Path) -> Path:
    """The sources as they were."""
    archive = ["git", "-C", str(ROOT), "archive", BEFORE, "native"]
    done = subprocess.run(archive, capture_output=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{ROOT} has no history with {BEFORE}: {done.stderr.decode().strip()}")
    with tarfile.open(fileobj=io.BytesIO(done.stdout)) as packed:
        packed.extractall(directory / "tree", filter="data")
    return build_library(directory / "tree", directory / "before")


def build_library(tree: Path, directory: Path) -> Path:
    """That of mode atomics."""
    directory.mkdir()
    (directory / "CMakeLists.txt").write_text(TOP.format(tree=tree), encoding="utf-8")
    subprocess.run(["cmake", "-S", directory, "-B", directory / "build"], check=True, stdout=sys.stderr)
    target = ["--target", "fencepost_atomics", "-j", str(os.cpu_count())]
    subprocess.run(["cmake", "--build", directory / "build", *target], check=True, stdout=sys.stderr)
    return directory / "build" / "sanitizer" / "libfencepost_atomics.a"


def build_program(compiled: Path, library: Path, executable: Path) -> Path:
    compiler = chosen_compiler("c++", os.environ)
    linking = [
        word.replace(LIBRARIES["atomics"], str(library)) for word in link_options("atomics", compiler.family)
    ]
    subprocess.run([*compiler.words, str(compiled), "-o", str(executable), *linking], check=True)
    return executable


def compile_program(directory: Path) -> Path:
    compiler = chosen_compiler("c++", os.environ)
    compiling = compile_options("atomics", compiler.family)
    compiled = directory / "stress.o"
    command = [*compiler.words, *compiling, "-std=c++20", "-O2", "-pthread", "-c", str(STRESS)]
    subprocess.run([*command, "-o", str(compiled)], check=True)
    return compiled


def instructions(executable: Path, arguments: Sequence[str]) -> int:
    """In user mode. Threads take their turns in the same order each time."""
    valgrind = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", "--fair-sched=yes"]
    environment = {**os.environ, "FENCEPOST_OPTIONS": "quiet=1:exitcode=0"}
    done = subprocess.run(
        [*valgrind, str(executable), *arguments], env=environment, capture_output=True, text=True, check=True
    )
    counted = re.search(r"Collected : (\d+)", done.stderr)
    if counted is None:
        sys.exit(f"callgrind has not counted anything:\n{done.stderr}")
    return int(counted[1])


def measure(before: Path, now: Path) -> Iterator[Counted]:
    for program in PROGRAMS:
        counted = Counted(
            program, instructions(before, program.arguments), instructions(now, program.arguments)
        )
        print(f"{' '.join(program.arguments)}: {counted.ratio:.2f}", file=sys.stderr)
        yield counted


def table(rows: Sequence[Counted]) -> Iterator[str]:
    yield "| accesses | threads | locations | turns | instructions each, before | now | ratio |"
    yield "|---|--:|--:|---|--:|--:|--:|"
    for program, before, now in rows:
        turns = f"{program.turn} {'entries' if program.shape == 'locks' else 'accesses'}"
        each = (f"{count / OPERATIONS:.0f}" for count in (before, now))
        cells = (program.what, program.threads, f"{program.locations:,}", turns if program.turn else "long")
        yield f"| {' | '.join(map(str, cells))} | {' | '.join(each)} | {now / before:.2f} |"


def report(rows: Sequence[Counted]) -> Iterator[str]:
    command = [*chosen_compiler("c++", os.environ).words, "--version"]
    version = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    yield f"The program is compiled by {version.splitlines()[0]}, both libraries by the compiler of cmake."
    yield ""
    yield from table(rows)
    yield ""
    for shape, what in SHAPES.items():
        ratios = [row.ratio for row in rows if row.program.shape == shape]
        mean = statistics.geometric_mean(ratios)
        yield f"- {what}: {min(ratios):.2f} to {max(ratios):.2f}, geometric mean {mean:.2f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        compiled = compile_program(directory)
        before = build_program(compiled, library_before(directory), directory / "with_before")
        now = build_program(compiled, build_library(ROOT, directory / "now"), directory / "with_now")
        rows = list(measure(before, now))
    text = "\n".join(report(rows)) + "\n"
    print(text, end="")
    RESULTS.write_text(f"# What the order S costs\n\n{text}", encoding="utf-8")
    page_block.write(PAGE, "order S", text)


if __name__ == "__main__":
    main()
