"""What the sanitizer costs: time against ThreadSanitizer's, memory, and scheduled steps.

Builds the programs of `examples/c` and `sanitizer_stress.cpp` with one compiler as they are, with
ThreadSanitizer, and with fencepost in each mode, and runs the builds in turn, so that what else the machine
does meets all alike. Time is measured by the clock, and as the processor time of the process, user and
system: a thread that sleeps takes none of that, but may be waited for. Each is the least of several runs.
Leaves its tables in `benchmarks/results/sanitizer.md`, and all but the longest in `docs/sanitizer.md`.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from functools import reduce
from pathlib import Path
from typing import NamedTuple

import page_block

from fencepost.sanitizer.build.instrumentation import INCLUDE, LIBRARIES

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "examples" / "c"
STRESS = ROOT / "benchmarks" / "sanitizer_stress.cpp"
RESULTS = ROOT / "benchmarks" / "results" / "sanitizer.md"
PAGE = ROOT / "docs" / "sanitizer.md"

COMPILERS = {"clang": ("clang", "clang++"), "gcc": ("gcc", "g++")}
ROUNDS = 100_000  # of the examples
OPERATIONS = 2_000_000  # of a stress program
# These wait without giving the processor away: what they cost is how long the system lets them.
SPINNING = {"rcu", "rcu-relaxed", "ticket-lock-wait"}

SHAPES = ("locks", "fences", "seq_cst", "free")
THREADS = (2, 4, 8, 16)
LOCATIONS = (10, 1_000, 100_000)
WRITES = (10_000, 100_000, 1_000_000, 10_000_000)

BASELINE = "tsan"
ENVIRONMENT = {**os.environ, "FENCEPOST_OPTIONS": "quiet=1:exitcode=0"}
TIME_LIMIT = 300


class Program(NamedTuple):
    """Something to measure: a source with its options, and the arguments it is run with."""

    group: str
    name: str
    source: Path
    options: tuple[str, ...] = ()
    arguments: tuple[str, ...] = ()


class Cost(NamedTuple):
    """In seconds."""

    clock: float
    processor: float

    def least(self, other: Cost) -> Cost:
        return Cost(*map(min, self, other))

    def ratio(self, other: Cost) -> Cost:
        return Cost(self.clock / other.clock, self.processor / other.processor)


class Measured(NamedTuple):
    program: Program
    costs: dict[str, Cost]
    """By variant."""

    def ratio(self, variant: str) -> Cost:
        return self.costs[variant].ratio(self.costs[BASELINE])


# Programs


def stress(shape: str, threads: int, locations: int, operations: int = OPERATIONS) -> Program:
    arguments = (shape, str(threads), str(locations), str(operations))
    return Program(f"stress, {shape}", f"{threads} × {locations:,}", STRESS, (), arguments)


def examples() -> Iterator[Program]:
    for source in sorted([*EXAMPLES.glob("*.c"), *EXAMPLES.glob("*.cpp")]):
        if source.stem not in SPINNING:
            yield Program("examples", source.stem, source, (f"-DROUNDS={ROUNDS}",))


def stress_suite() -> Iterator[Program]:
    for shape in SHAPES:
        for threads in THREADS:
            for locations in LOCATIONS:
                yield stress(shape, threads, locations)


# Building and running


class Builder:
    """Builds each source once per variant, with one compiler."""

    def __init__(self, compiler: str, directory: Path) -> None:
        self.cc, self.cxx = COMPILERS[compiler]
        self.directory = directory
        self.variants = ["plain", BASELINE, "atomics"]
        if os.path.exists(LIBRARIES["races"]):
            self.variants.append("races")

    def build(self, program: Program, variant: str) -> Path:
        path = self.directory / f"{program.source.stem}.{variant}"
        if not path.exists():
            language = ("-std=gnu11",) if program.source.suffix == ".c" else ("-std=c++20",)
            command = [*self._compiler(program, variant), *language, "-O2", "-g", "-pthread"]
            command += [*program.options, str(program.source), "-o", str(path)]
            environment = {**os.environ, "FENCEPOST_CC": self.cc, "FENCEPOST_CXX": self.cxx}
            subprocess.run(command, env=environment, check=True)
        return path

    def _compiler(self, program: Program, variant: str) -> list[str]:
        is_c = program.source.suffix == ".c"
        if variant in LIBRARIES:
            entry = "cc" if is_c else "cxx"
            call = f"from fencepost.sanitizer.build.compiler import {entry}; {entry}()"
            return [sys.executable, "-c", call, f"--mode={variant}"]
        words = [self.cc if is_c else self.cxx, "-isystem", INCLUDE]
        return [*words, "-fsanitize=thread", "-w"] if variant == BASELINE else words


def run(command: Sequence[str], options: str = "") -> Cost:
    """Runs a program, which may say that weak memory has broken it."""
    environment = {**ENVIRONMENT, "FENCEPOST_OPTIONS": ENVIRONMENT["FENCEPOST_OPTIONS"] + options}
    quiet = [(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_WRONLY, 0) for fd in (1, 2)]
    limited = ["timeout", str(TIME_LIMIT), *command]
    start = time.perf_counter()
    _, status, usage = os.wait4(os.posix_spawnp("timeout", limited, environment, file_actions=quiet), 0)
    elapsed = time.perf_counter() - start
    code = os.waitstatus_to_exitcode(status)
    if code not in (0, 1):
        sys.exit(f"{' '.join(command)} exits with {code}")
    return Cost(elapsed, usage.ru_utime + usage.ru_stime)


def measure(builder: Builder, program: Program, repeat: int) -> Measured:
    commands = {v: [str(builder.build(program, v)), *program.arguments] for v in builder.variants}
    runs: dict[str, list[Cost]] = {variant: [] for variant in commands}
    for _ in range(repeat):
        for variant, command in commands.items():
            runs[variant].append(run(command))
    measured = Measured(program, {variant: reduce(Cost.least, seen) for variant, seen in runs.items()})
    times = "  ".join(f"{variant} {cost.clock:.3f}" for variant, cost in measured.costs.items())
    print(f"{program.group}: {program.name}: {times}", file=sys.stderr)
    return measured


def peak_kb(builder: Builder, program: Program, variant: str) -> int:
    """The largest resident size of a stress program, which says it itself."""
    command = [str(builder.build(program, variant)), *program.arguments]
    done = subprocess.run(
        command, env=ENVIRONMENT, capture_output=True, text=True, timeout=TIME_LIMIT, check=True
    )
    return int(done.stdout)


class Scheduled(NamedTuple):
    program: Program
    schedule: str
    steps: int
    rate: float
    """Steps per second of processor time."""


def steps_per_second(builder: Builder, program: Program, schedule: str, repeat: int) -> tuple[int, float]:
    """The steps of a scheduled run, and how many there are in a second of processor time."""
    events = builder.directory / "events.jsonl"
    command = [str(builder.build(program, "atomics")), *program.arguments]
    options = f":schedule={schedule}:steps=1000000000:json={events}"
    cost = min(run(command, options).processor for _ in range(repeat))
    end = json.loads(events.read_text(encoding="utf-8").splitlines()[-1])
    return end["steps"], end["steps"] / cost


# Tables


def geometric_mean(numbers: Sequence[float]) -> float:
    return math.exp(statistics.fmean(map(math.log, numbers)))


def mean_ratio(rows: Sequence[Measured], variant: str) -> Cost:
    ratios = [row.ratio(variant) for row in rows]
    return Cost(*map(geometric_mean, zip(*ratios, strict=True)))


def both(ratio: Cost) -> str:
    return f"{ratio.clock:.2f} ({ratio.processor:.2f})"


def summary(rows: Sequence[Measured], variants: Sequence[str]) -> Iterator[str]:
    yield "| group | programs | " + " | ".join(variants) + " |"
    yield "|---|--:|" + "--:|" * len(variants)
    groups = list(dict.fromkeys(row.program.group for row in rows))
    for group in [*groups, "all"]:
        chosen = [row for row in rows if group in ("all", row.program.group)]
        means = (both(mean_ratio(chosen, variant)) for variant in variants)
        yield f"| {group} | {len(chosen)} | " + " | ".join(means) + " |"


def each(rows: Sequence[Measured], variants: Sequence[str]) -> Iterator[str]:
    yield f"| group | program | {BASELINE}, seconds | " + " | ".join(variants) + " |"
    yield "|---|---|--:|" + "--:|" * len(variants)
    for row in rows:
        ratios = " | ".join(both(row.ratio(variant)) for variant in variants)
        program = row.program
        yield f"| {program.group} | {program.name} | {row.costs[BASELINE].clock:.3f} | {ratios} |"


def memory(peaks: dict[str, list[int]]) -> Iterator[str]:
    yield "| writes | " + " | ".join(f"{variant}, MB" for variant in peaks) + " |"
    yield "|--:|" + "--:|" * len(peaks)
    for writes, row in zip(WRITES, zip(*peaks.values(), strict=True), strict=True):
        yield f"| {writes:,} | " + " | ".join(f"{peak / 1024:.1f}" for peak in row) + " |"


def schedules(rates: Sequence[Scheduled]) -> Iterator[str]:
    yield "| program | schedule | steps | million steps per second |"
    yield "|---|---|--:|--:|"
    for program, schedule, steps, rate in rates:
        yield f"| {program.group}, {program.name} | {schedule} | {steps:,} | {rate / 1e6:.1f} |"


class Results(NamedTuple):
    repeat: int
    compiler: str
    variants: list[str]
    """Other than the baseline."""
    rows: list[Measured]
    many: Measured
    """25 threads, 60,000 locations."""
    peaks: dict[str, list[int]]
    """In kB, by variant and number of writes."""
    rates: list[Scheduled]

    def mean(self, variant: str) -> str:
        return both(mean_ratio(self.rows, variant))


def measure_all(builder: Builder, repeat: int) -> Results:
    programs = (*examples(), *stress_suite())
    for program in programs:  # so that no compiler has just had the caches and the memory
        for variant in builder.variants:
            builder.build(program, variant)
    version = subprocess.run([builder.cxx, "--version"], capture_output=True, text=True, check=True).stdout
    return Results(
        repeat=repeat,
        compiler=version.splitlines()[0],
        variants=[variant for variant in builder.variants if variant != BASELINE],
        rows=[measure(builder, program, repeat) for program in programs],
        many=measure(builder, stress("fences", 25, 60_000), repeat),
        peaks={
            variant: [peak_kb(builder, stress("messages", 2, 2, writes), variant) for writes in WRITES]
            for variant in builder.variants
        },
        rates=[
            Scheduled(program, schedule, *steps_per_second(builder, program, schedule, repeat))
            for program in (stress(shape, 4, 1_000, 10 * OPERATIONS) for shape in ("locks", "fences"))
            for schedule in ("random", "pct")
        ],
    )


def targets(results: Results) -> Iterator[str]:
    growth = max(results.peaks["atomics"]) / min(results.peaks["atomics"])
    slowest = min(results.rates, key=lambda scheduled: scheduled.rate)
    yield "| what | aim | measured |"
    yield "|---|--:|--:|"
    yield f"| mode atomics, all programs | below 1, if possible 0.5 | {results.mean('atomics')} |"
    if "races" in results.variants:
        yield f"| mode races, all programs | at most 1.5 | {results.mean('races')} |"
    many = both(results.many.ratio("atomics"))
    yield f"| mode atomics, 25 threads, 60,000 locations, many SC fences | at most 10 | {many} |"
    yield f"| memory after 10,000 to 10,000,000 writes, largest by smallest | 1 | {growth:.2f} |"
    yield f"| million scheduled steps per second, 4 threads | 10 | {slowest.rate / 1e6:.1f} |"


def report(results: Results) -> Iterator[str]:
    yield f"{results.compiler}, `-O2`, {os.cpu_count()} cores, {platform.machine()}; the least of"
    yield f"{results.repeat} runs. Times are multiples of ThreadSanitizer's, by the clock and, in brackets,"
    yield "of the processor; means are geometric."
    yield ""
    yield from targets(results)
    yield ""
    yield f"Stress programs do nothing but {OPERATIONS:,} atomic operations, in 2 to 16 threads on 10 to"
    yield "100,000 locations: relaxed ones under spin locks; release and acquire, each after an SC fence;"
    yield "seq_cst ones; release and acquire without fences, where nearly every access is a finding."
    yield ""
    yield from summary(results.rows, results.variants)
    yield ""
    yield "Largest resident size of a program with one writer and one reader (message passing):"
    yield ""
    yield from memory(results.peaks)
    yield ""
    yield "Scheduled steps per second of processor time, mode atomics, checks included:"
    yield ""
    yield from schedules(results.rates)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--compiler", choices=sorted(COMPILERS), default="clang")
    parser.add_argument("--repeat", type=int, default=3, metavar="N", help="runs per program and variant")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        builder = Builder(asked.compiler, Path(directory))
        results = measure_all(builder, asked.repeat)
    text = "\n".join(report(results)) + "\n"
    print(text, end="")
    single = "\n".join(each(results.rows, results.variants)) + "\n"
    whole = f"# What the sanitizer costs\n\n{text}\n## Each program\n\n{single}"
    RESULTS.write_text(whole, encoding="utf-8")
    page_block.write(PAGE, "sanitizer", text)


if __name__ == "__main__":
    main()
