"""Is every robust program of `examples/c` silent in many runs, and is every other one found?

Builds each program as the Makefile there does, and runs it under each schedule, in parts side by side. What
is expected stands in the programs. Leaves a table in `benchmarks/results/examples_c.md`; exits with 1 if a
program is not as it says of itself.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from fencepost.formats.headers import expectations

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "examples" / "c"
RESULTS = ROOT / "benchmarks" / "results" / "examples_c.md"
SCHEDULES = ("os", "random", "pct")
PART = 250
"""Runs of one call. Seeds go on from part to part, and so what is seen does not depend on the parts."""


class Part(NamedTuple):
    program: Path
    schedule: str
    first: int
    """Seed of its first run."""
    runs: int


class Seen(NamedTuple):
    runs: int
    findings: frozenset[str]
    """Their ids."""
    deadlocks: int
    troubles: tuple[str, ...]
    """Runs that did not end as they should, and warnings."""
    seconds: float

    def and_in(self, other: Seen) -> Seen:
        return Seen(
            self.runs + other.runs,
            self.findings | other.findings,
            self.deadlocks + other.deadlocks,
            self.troubles + other.troubles,
            self.seconds + other.seconds,
        )

    @property
    def is_silent(self) -> bool:
        return not (self.findings or self.deadlocks or self.troubles)


def is_robust(source: Path) -> bool:
    expected = expectations(source.read_text(encoding="utf-8"), source.name)
    return expected.get(("robust", "cpp20"), expected.get(("robust", "rc20"), False))


def build(sources: Sequence[Path], directory: Path, jobs: int) -> None:
    targets = [str(directory / source.stem) for source in sources]
    command = ["make", "--silent", f"-j{jobs}", "-C", str(EXAMPLES), f"BUILD={directory}", *targets]
    subprocess.run(command, check=True)


def run(part: Part, executable: Path) -> Seen:
    begin = time.perf_counter()
    options = ["--schedule", part.schedule, "--runs", str(part.runs), "--seed", str(part.first)]
    command = ["fencepost", "run", "--json", "--timeout", "60", *options, str(executable)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1, 3):
        sys.exit(f"{' '.join(command)} exits with {done.returncode}: {done.stderr}")
    answer: dict[str, Any] = json.loads(done.stdout)
    return Seen(
        answer["runs"],
        frozenset(finding["id"] for finding in answer["findings"]),
        len(answer["deadlocks"]),
        tuple(map(str, [*answer["troubles"], *answer["warnings"]])),
        time.perf_counter() - begin,
    )


def parts(sources: Sequence[Path], runs: int) -> list[Part]:
    return [
        Part(source, schedule, first, min(PART, runs + 1 - first))
        for schedule in SCHEDULES  # those of the system take longest
        for source in sources
        for first in range(1, runs + 1, PART)
    ]


def run_all(sources: Sequence[Path], directory: Path, runs: int, jobs: int) -> dict[tuple[Path, str], Seen]:
    seen: dict[tuple[Path, str], Seen] = {}
    todo = parts(sources, runs)
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        answers = pool.map(lambda part: run(part, directory / part.program.stem), todo)
        for part, one in zip(todo, answers, strict=True):
            key = (part.program, part.schedule)
            seen[key] = seen[key].and_in(one) if key in seen else one
            print(f"{part.program.name} {part.schedule} {part.first}: {one}", file=sys.stderr)
    return seen


def faults(sources: Sequence[Path], seen: dict[tuple[Path, str], Seen], runs: int) -> Iterator[str]:
    for source in sources:
        of_program = {schedule: seen[source, schedule] for schedule in SCHEDULES}
        for schedule, one in of_program.items():
            if one.runs != runs:
                yield f"{source.name}, {schedule}: {one.runs} of {runs} runs"
            if is_robust(source) and not one.is_silent:
                yield f"{source.name}, {schedule}: it is robust, but {one}"
        if not is_robust(source) and not any(one.findings for one in of_program.values()):
            yield f"{source.name} is not robust, and nothing was found"


def table(sources: Sequence[Path], seen: dict[tuple[Path, str], Seen]) -> Iterator[str]:
    yield "| program | robust | " + " | ".join(f"{schedule}, findings" for schedule in SCHEDULES) + " |"
    yield "|---|---|" + "--:|" * len(SCHEDULES)
    for source in sources:
        counts = " | ".join(str(len(seen[source, schedule].findings)) for schedule in SCHEDULES)
        yield f"| {source.stem} | {'yes' if is_robust(source) else 'no'} | {counts} |"


def report(
    sources: Sequence[Path], seen: dict[tuple[Path, str], Seen], runs: int, wrong: Sequence[str]
) -> Iterator[str]:
    version = subprocess.run(["gcc", "--version"], capture_output=True, text=True, check=True).stdout
    robust = Counter(map(is_robust, sources))
    yield f"{version.splitlines()[0]}, {os.cpu_count()} cores. {robust[True]} robust programs and"
    yield f"{robust[False]} others, {runs:,} runs of each under each schedule."
    yield ""
    yield from table(sources, seen)
    yield ""
    for schedule in SCHEDULES:
        silent = [seen[source, schedule] for source in sources if is_robust(source)]
        found = [seen[source, schedule] for source in sources if not is_robust(source)]
        yield (
            f"- {schedule}: {sum(one.runs for one in silent):,} runs of robust programs, "
            f"{sum(one.is_silent for one in silent)} of {len(silent)} programs silent; "
            f"{sum(bool(one.findings) for one in found)} of {len(found)} others found; "
            f"{sum(one.seconds for one in (*silent, *found)):.0f} s of all calls together"
        )
    yield ""
    yield from (f"- WRONG: {line}" for line in wrong)
    if not wrong:
        yield "Every program is as it says of itself."


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--runs", type=int, default=1000, metavar="N", help="of each under each schedule")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, metavar="N", help="calls at a time")
    parser.add_argument("--result", type=Path, default=RESULTS, metavar="PATH", help="where the table goes")
    parser.add_argument("programs", nargs="*", help="their names; all")
    asked = parser.parse_args()
    sources = [
        source
        for source in sorted([*EXAMPLES.glob("*.c"), *EXAMPLES.glob("*.cpp")])
        if not asked.programs or source.stem in asked.programs
    ]
    with tempfile.TemporaryDirectory() as name:
        build(sources, Path(name), asked.jobs)
        seen = run_all(sources, Path(name), asked.runs, asked.jobs)
    wrong = list(faults(sources, seen, asked.runs))
    text = "\n".join(report(sources, seen, asked.runs, wrong)) + "\n"
    asked.result.write_text(f"# Many runs of the programs of examples/c\n\n{text}", encoding="utf-8")
    print(text, end="")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
