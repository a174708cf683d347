"""Figure 16 of persist-2015 with fencepost: how the time to prove persistence grows with the threads.

Takes the eight families of the figure, each with the fences that it needs (a fragile program is found out at
once, whatever its size), and proves its members persistent: once by a search through all states, once with
flattening. A family is left at the first member that takes longer than the limit. `--limit SECONDS` is 60 by
default, `--most N` is the largest number of threads, 10 by default. Leaves a table and a plot in
`benchmarks/results/tso_scaling.md` and `.svg`.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from log_plot import Point, svg

import fencepost
from fencepost.formats.automata import read

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results"
MEMORY_MB = 8000

FAMILIES = {
    "partial Dekker": "simdekker",
    "Burns": "burns",
    "Dijkstra": "dijkstra",
    "Szymanski": "szymanski",
    "double-checked locking": "dc-lock",
    "increasing sequence": "incsequence",
    "pgsql": "pgsql",
    "seqlock": "seqlock",
}
# How many steps of the other threads flattening keeps; None is the search through all states.
WAYS = {"all states": None, "flattening": 2}

Measured = dict[str, list[Point]]


def member(name: str, threads: int) -> fencepost.Program:
    script = ROOT / "examples" / "tso" / "generate.py"
    command = [sys.executable, str(script), name, str(threads), "--fenced"]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return read(text, f"{name} {threads}")


def measure(name: str, most: int, limit: float) -> Measured:
    """For each way, a point for 2, 3, … threads, the last one where the limit was reached."""
    lines: Measured = {way: [] for way in WAYS}
    for threads in range(2, most + 1):
        program = member(name, threads)
        for way, k in WAYS.items():
            if not lines[way] or lines[way][-1].seconds is not None:
                lines[way].append(Point(threads, seconds(program, k, limit)))
                print(f"{program.file}, {way}: {lines[way][-1].seconds or 'limit'}", file=sys.stderr)
    return lines


def seconds(program: fencepost.Program, k: int | None, limit: float) -> float | None:
    """How long a proof takes, at best of three where it is short; None if it takes longer than the limit."""
    limits = fencepost.Limits(seconds=limit, memory_mb=MEMORY_MB)
    best = limit
    for _ in range(3):
        started = time.perf_counter()
        answer = fencepost.persist(program, flatten=k, limits=limits)
        taken = time.perf_counter() - started
        assert answer.holds is not False, f"{program.file} is fragile"
        if answer.holds is None or taken > limit:
            return None
        best = min(best, taken)
        if taken > 1:
            break
    return best


def table(measured: dict[str, Measured], most: int) -> Iterator[str]:
    threads = range(2, most + 1)
    yield f"| family | way | {' | '.join(map(str, threads))} |"
    yield f"|---|---|{'--:|' * len(threads)}"
    for family, lines in measured.items():
        for way, points in lines.items():
            seconds = {p.x: "limit" if p.seconds is None else f"{p.seconds:.3f}" for p in points}
            yield f"| {family} | {way} | {' | '.join(seconds.get(n, '') for n in threads)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--limit", type=float, default=60.0, help="seconds for each member of a family")
    parser.add_argument("--most", type=int, default=10, help="the largest number of threads")
    options = parser.parse_args()
    measured = {family: measure(name, options.most, options.limit) for family, name in FAMILIES.items()}
    head = (
        "Seconds to prove a program persistent with its fences, by threads; `limit`: not within "
        f"{options.limit:g} s or {MEMORY_MB} MB."
    )
    text = "\n".join([head, "", *table(measured, options.most)]) + "\n"
    print(text, end="")
    RESULTS.mkdir(parents=True, exist_ok=True)
    (RESULTS / "tso_scaling.md").write_text(text, encoding="utf-8")
    picture = svg(measured, "Time to prove persistence", "threads", options.limit)
    (RESULTS / "tso_scaling.svg").write_text(picture, encoding="utf-8")


if __name__ == "__main__":
    main()
